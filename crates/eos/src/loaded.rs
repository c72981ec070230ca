//! An estate with its tree and the catalogue it has pinned.

use std::collections::BTreeSet;

use camino::Utf8Path;
use eos_catalog::Catalog;
use eos_compile::{COMPILER, Claims, Compiled, Input, intent};
use eos_model::{Diagnostic, Diagnostics, EnvName, Place, SecretRef, Severity, codes, nearest::nearest};
use eos_pillar::estate_file::DEFAULT_NAMESPACE;
use eos_pillar::top::{PILLAR, TOP_FILE, how_to_give};
use eos_pillar::{Change, Environment, Estate, Tree};

use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::hints;
use crate::own_addresses;

mod pinned;

pub use pinned::pin;
use pinned::{changed, pinned_catalog};

pub struct Loaded {
    pub estate: Estate,
    pub tree: Tree,
    pub catalog: Catalog,
    /// The secrets that there is a file of, or why that cannot be told.
    secrets: Result<BTreeSet<SecretRef>, Diagnostics>,
}

impl Loaded {
    /// For commands that only look.
    pub fn open(context: &Context) -> Result<Loaded, Diagnostics> {
        Loaded::from_estate(Estate::open(&root(context)?)?)
    }

    /// For commands that change; waits for others.
    pub fn open_for_change(context: &Context) -> Result<Loaded, Diagnostics> {
        Loaded::from_estate(Estate::open_for_change(&root(context)?)?)
    }

    /// For commands that write only what can be made again; waits for others.
    pub fn open_for_build(context: &Context) -> Result<Loaded, Diagnostics> {
        Loaded::from_estate(Estate::open_for_build(&root(context)?)?)
    }

    /// The catalogue alone, for what does not look at the pillar.
    pub fn catalog(context: &Context) -> Result<Catalog, Diagnostics> {
        pinned_catalog(&Estate::open(&root(context)?)?)
    }

    fn from_estate(estate: Estate) -> Result<Loaded, Diagnostics> {
        let catalog = pinned_catalog(&estate)?;
        let tree = estate.tree()?;
        let secrets = eos_secrets::list(&estate.root).map(BTreeSet::from_iter);
        Ok(Loaded { estate, tree, catalog, secrets })
    }

    /// The secrets that there was a file of when the estate was read, sorted.
    pub fn secrets(&self) -> Result<Vec<SecretRef>, Diagnostics> {
        self.secrets.as_ref().map(|secrets| secrets.iter().cloned().collect()).map_err(Clone::clone)
    }

    /// The environment asked for, or the estate's default.
    pub fn env(&self, asked: Option<&str>) -> Result<EnvName, Diagnostics> {
        let Some(asked) = asked else { return Ok(self.estate.file.default_environment.clone()) };
        self.env_behind("--env", asked)
    }

    /// The environment that was named behind these words; where there is no such one, they are said with those there are.
    pub fn env_behind(&self, words: &str, asked: &str) -> Result<EnvName, Diagnostics> {
        if let Some((name, _)) = self.estate.file.environments.get_key_value(asked) {
            return Ok(name.clone());
        }
        let known: Vec<&str> = self.estate.file.environments.keys().map(|name| name.as_str()).collect();
        let fix = nearest(asked, known.iter().copied()).map_or_else(
            || format!("{words} {}", known.join(&format!(" or {words} "))),
            |near| format!("did you mean {words} {near}?"),
        );
        Err(Diagnostic::error(
            codes::UNKNOWN_ENVIRONMENT,
            format!("this estate has no environment {asked:?}"),
        )
        .fix(fix)
        .into())
    }

    pub fn environment(&self, env: &EnvName) -> Result<Environment, Diagnostics> {
        self.tree.environment(env).map_err(|found| self.in_environment(env, found))
    }

    /// The message about a name that an environment lacks; where another one has it, it says so.
    pub fn unknown_name(&self, environment: &Environment, name: &str) -> Diagnostic {
        let missing = intent::unknown_name(environment, name);
        let others = self.estate.file.environments.keys().filter(|env| **env != environment.name);
        let has_it = |env: &&EnvName| {
            self.tree.environment(env).is_ok_and(|environment| environment.components.contains_key(name))
        };
        match others.into_iter().find(has_it) {
            Some(env) => missing.fix(format!("{env} has it: --env {env}")),
            None => missing,
        }
    }

    /// What a command about the environment has to say; nothing for the default one.
    pub fn flag(&self, env: &EnvName) -> Option<String> {
        hints::flag(&self.estate.file, env)
    }

    /// A text whose commands act in the environment it is about.
    pub fn hint(&self, env: &EnvName, text: &str) -> String {
        hints::named(text, self.flag(env).as_deref())
    }

    /// The same for several.
    pub fn hints(&self, env: &EnvName, texts: Vec<String>) -> Vec<String> {
        texts.into_iter().map(|text| self.hint(env, &text)).collect()
    }

    /// What is said of an environment, with commands that act there.
    pub fn in_environment(&self, env: &EnvName, mut found: Diagnostics) -> Diagnostics {
        hints::name(&mut found, self.flag(env).as_deref());
        found
    }

    /// What the compiler is given for an environment.
    pub fn input<'a>(&'a self, environment: &'a Environment) -> Input<'a> {
        let settings = self.estate.file.environments.get(&environment.name);
        Input {
            estate: &self.estate.file.name,
            estate_id: self.estate.lock.estate.as_deref(),
            state_key: self.estate.state_key(),
            backend: &self.estate.file.backend,
            tier: settings.map(|settings| settings.tier).unwrap_or_default(),
            namespace: Some(self.estate.file.namespace()).filter(|name| *name != DEFAULT_NAMESPACE),
            environment,
            catalog: &self.catalog,
            others: &[],
            secrets: None,
        }
    }

    /// What the other environments of a tree have taken; one that cannot be read says so itself.
    pub fn others(&self, tree: &Tree, env: &EnvName) -> Vec<Claims> {
        let environments = self.beside(tree, env).flatten();
        environments.map(|environment| Claims::of(&self.input(&environment))).collect()
    }

    /// The other environments of a tree, as far as they can be read.
    fn beside(&self, tree: &Tree, env: &EnvName) -> impl Iterator<Item = Result<Environment, Diagnostics>> {
        let others = self.estate.file.environments.keys().filter(move |other| *other != env);
        others.map(move |other| tree.environment(other))
    }

    /// Whether another environment has a component of this name; one that cannot be read may have any.
    pub fn is_elsewhere(&self, env: &EnvName, name: &str) -> bool {
        self.beside(&self.tree, env).any(|other| has(&other, name))
    }

    /// Compiles one environment of a tree, this one's or a changed one.
    pub fn compile(&self, tree: &Tree, env: &EnvName) -> Result<Compiled, Diagnostics> {
        let environment = self.environment_of(tree, env)?;
        self.compile_environment(tree, &environment, self.secrets.as_ref().ok())
    }

    /// Compiles one environment as it would be after a change.
    pub fn compile_after(&self, change: &Change, env: &EnvName) -> Result<Compiled, Diagnostics> {
        let tree = self.tree.with(change);
        let environment = self.environment_of(&tree, env)?;
        self.compile_environment(&tree, &environment, self.secrets_after(change).as_ref())
    }

    /// The secrets that there would be a file of after a change.
    fn secrets_after(&self, change: &Change) -> Option<BTreeSet<SecretRef>> {
        let mut secrets = self.secrets.clone().ok()?;
        for (path, content) in &change.files {
            match (eos_secrets::at(path), content) {
                (Some(reference), Some(_)) => secrets.insert(reference),
                (Some(reference), None) => secrets.remove(&reference),
                (None, _) => false,
            };
        }
        Some(secrets)
    }

    /// Compiles one environment with a change that is to be recorded. What the change writes must be read back: else
    /// success would be told of something that nothing comes of.
    pub fn compile_with(&self, change: &Change, env: &EnvName) -> Result<Compiled, Diagnostics> {
        let tree = self.tree.with(change);
        let environment = self.environment_of(&tree, env)?;
        let written = change.files.iter().filter(|(_, content)| content.is_some()).map(|(path, _)| path);
        let unread = written.filter(|path| path.starts_with(PILLAR) && !environment.sources.has(path));
        let unread = Diagnostics(unread.map(|path| not_given(path, env)).collect());
        if unread.has_errors() {
            return Err(unread);
        }
        self.compile_environment(&tree, &environment, self.secrets_after(change).as_ref())
    }

    /// Whether a change that does not compile mends something all the same: it gets further than what is there, or leaves
    /// fewer of the same mistakes, of all that are told or of those that keep it from getting further.
    pub fn mends(&self, change: &Change, env: &EnvName) -> bool {
        let errors = |found: &[Diagnostic]| -> Vec<String> {
            let errors = found.iter().filter(|one| one.severity == Severity::Error);
            errors.map(|error| error.message.clone()).collect()
        };
        let mistakes = |tree: &Tree| -> Option<(usize, Vec<String>, Vec<String>)> {
            let environment = self.environment_of(tree, env).ok()?;
            let others = self.others(tree, env);
            let (reached, found) = eos_compile::mistakes(&self.input(&environment).among(&others));
            Some((reached.passes, errors(&found.0[..reached.found]), errors(&found.0)))
        };
        let (Some((before, first, there)), Some((after, first_left, left))) =
            (mistakes(&self.tree), mistakes(&self.tree.with(change)))
        else {
            return false;
        };
        let fewer =
            |left: &[String], of: &[String]| left.len() < of.len() && left.iter().all(|one| of.contains(one));
        !there.is_empty()
            && (after > before || (after == before && (fewer(&first_left, &first) || fewer(&left, &there))))
    }

    fn environment_of(&self, tree: &Tree, env: &EnvName) -> Result<Environment, Diagnostics> {
        self.refuse_other_compiler()?;
        let told = |found| self.only_places_that_are(tree, self.in_environment(env, found));
        let environment = tree.environment(env).map_err(told)?;
        let nobodys = self.nobodys_parts(tree, &environment);
        if nobodys.has_errors() { Err(told(nobodys)) } else { Ok(environment) }
    }

    /// What common/ says of names that no environment has; one that cannot be read may have any.
    fn nobodys_parts(&self, tree: &Tree, environment: &Environment) -> Diagnostics {
        if environment.parts.is_empty() {
            return Diagnostics::new();
        }
        let others: Vec<_> = self.beside(tree, &environment.name).collect();
        let is_somebodys = |name: &str| others.iter().any(|other| has(other, name));
        let parts = environment.parts.iter().filter(|(name, _)| !is_somebodys(name));
        Diagnostics(parts.map(|(_, told)| told.clone()).collect())
    }

    fn compile_environment(
        &self,
        tree: &Tree,
        environment: &Environment,
        secrets: Option<&BTreeSet<SecretRef>>,
    ) -> Result<Compiled, Diagnostics> {
        let others = self.others(tree, &environment.name);
        let input = Input { secrets, ..self.input(environment).among(&others) };
        match eos_compile::compile(&input) {
            Ok(mut compiled) => {
                let warnings = own_addresses::offer(compiled.warnings);
                compiled.warnings = self.in_environment(&environment.name, warnings);
                Ok(compiled)
            }
            Err(found) => {
                let found = self.in_environment(&environment.name, own_addresses::offer(found));
                Err(self.only_places_that_are(tree, found))
            }
        }
    }

    /// Compiles one environment as it is, with warnings about kinds that are not pinned.
    pub fn compile_here(&self, env: &EnvName) -> Result<Compiled, Diagnostics> {
        let environment = self.environment_of(&self.tree, env)?;
        let mut compiled = self.compile_environment(&self.tree, &environment, self.secrets.as_ref().ok())?;
        compiled.warnings.extend(self.unpinned(&environment));
        Ok(compiled)
    }

    /// A digest of everything that compiling an environment depends on.
    pub fn inputs_digest(&self) -> String {
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        add(&COMPILER.to_be_bytes());
        add(self.estate.file.write().as_bytes());
        add(self.estate.lock.estate.as_deref().unwrap_or_default().as_bytes());
        add(self.estate.state_key().as_bytes());
        for kind in self.catalog.kinds() {
            add(kind.as_bytes());
            add(self.catalog.digest(kind).unwrap_or_default().as_bytes());
        }
        for (path, bytes) in self.tree.files() {
            add(path.as_str().as_bytes());
            add(bytes);
        }
        for reference in self.secrets.iter().flatten() {
            add(reference.to_string().as_bytes());
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A refused change leaves no file behind: a place in one it would have written is a place nobody can look at.
    fn only_places_that_are(&self, tree: &Tree, mut found: Diagnostics) -> Diagnostics {
        for diagnostic in &mut found.0 {
            diagnostic.place =
                diagnostic.place.take().filter(|place| tree.get(&place.file) == self.tree.get(&place.file));
        }
        found
    }

    fn refuse_other_compiler(&self) -> Result<(), Diagnostic> {
        if self.estate.lock.compiler == COMPILER {
            return Ok(());
        }
        let changed = changed(format!(
            "the estate was compiled by compiler {} and this eos has {COMPILER}",
            self.estate.lock.compiler
        ));
        Err(if self.estate.lock.compiler > COMPILER {
            changed.fix("use the newer eos that compiled it")
        } else {
            changed
        })
    }
}

/// Whether an environment has a component; one that cannot be read may have any.
fn has(environment: &Result<Environment, Diagnostics>, name: &str) -> bool {
    environment.as_ref().map_or(true, |environment| environment.components.contains_key(name))
}

/// The root of the estate one is in.
pub fn root(context: &Context) -> Result<camino::Utf8PathBuf, Diagnostic> {
    context.refuse_unnamed_directory()?;
    if !context.directory.is_dir() {
        return Err(Diagnostic::error(codes::NO_ESTATE, format!("there is no folder {}", context.directory))
            .fix("look at what follows -C: it is a folder of an estate"));
    }
    Estate::find_root(&context.directory)
}

fn not_given(path: &Utf8Path, env: &EnvName) -> Diagnostic {
    Diagnostic::error(codes::TOP_FILE, format!("{TOP_FILE} gives {path} to nobody in {env}"))
        .at(Place::file(TOP_FILE))
        .why("it would be written and never read")
        .fix(how_to_give(env, path))
}
