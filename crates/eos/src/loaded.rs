//! An estate with its tree and the catalogue it has pinned.

use std::collections::BTreeMap;

use eos_catalog::{Catalog, Folder, Origin};
use eos_compile::{COMPILER, Compiled, Input};
use eos_model::{Diagnostic, Diagnostics, EnvName, Place, codes, nearest::nearest};
use eos_pillar::lock_file::{LOCK_FILE, VENDORED_CATALOG};
use eos_pillar::{Environment, Estate, LockFile, Tree, files};

use crate::context::Context;

pub struct Loaded {
    pub estate: Estate,
    pub tree: Tree,
    pub catalog: Catalog,
}

impl Loaded {
    /// For commands that only look.
    pub fn open(context: &Context) -> Result<Loaded, Diagnostics> {
        Loaded::from_estate(Estate::open(&Estate::find_root(&context.directory)?)?)
    }

    /// For commands that change; waits for others.
    pub fn open_for_change(context: &Context) -> Result<Loaded, Diagnostics> {
        Loaded::from_estate(Estate::open_for_change(&Estate::find_root(&context.directory)?)?)
    }

    fn from_estate(estate: Estate) -> Result<Loaded, Diagnostics> {
        let catalog = pinned_catalog(&estate)?;
        let tree = estate.tree()?;
        Ok(Loaded { estate, tree, catalog })
    }

    /// The environment asked for, or the estate's default.
    pub fn env(&self, asked: Option<&str>) -> Result<EnvName, Diagnostics> {
        let Some(asked) = asked else { return Ok(self.estate.file.default_environment.clone()) };
        if let Some((name, _)) = self.estate.file.environments.get_key_value(asked) {
            return Ok(name.clone());
        }
        let known: Vec<&str> = self.estate.file.environments.keys().map(|name| name.as_str()).collect();
        let fix = nearest(asked, known.iter().copied()).map_or_else(|| format!("there are {}", known.join(", ")), |near| format!("did you mean {near}?"));
        Err(Diagnostic::error(codes::UNKNOWN_ENVIRONMENT, format!("this estate has no environment {asked:?}")).fix(fix).into())
    }

    pub fn environment(&self, env: &EnvName) -> Result<Environment, Diagnostics> {
        self.tree.environment(env)
    }

    /// What the compiler is given for an environment.
    pub fn input<'a>(&'a self, environment: &'a Environment) -> Input<'a> {
        let settings = self.estate.file.environments.get(&environment.name);
        Input {
            estate: &self.estate.file.name,
            backend: &self.estate.file.backend,
            tier: settings.map(|settings| settings.tier).unwrap_or_default(),
            environment,
            catalog: &self.catalog,
        }
    }

    /// Compiles one environment of a tree, this one's or a changed one.
    pub fn compile(&self, tree: &Tree, env: &EnvName) -> Result<Compiled, Diagnostics> {
        self.refuse_other_compiler()?;
        let environment = tree.environment(env)?;
        eos_compile::compile(&self.input(&environment))
    }

    fn refuse_other_compiler(&self) -> Result<(), Diagnostic> {
        if self.estate.lock.compiler == COMPILER {
            return Ok(());
        }
        Err(changed(format!("the estate was compiled by compiler {} and this eos has {COMPILER}", self.estate.lock.compiler)))
    }
}

fn changed(message: String) -> Diagnostic {
    Diagnostic::error(codes::CATALOG_CHANGED, message)
        .at(Place::file(LOCK_FILE))
        .why("a new eos must not change what runs before somebody has seen the difference")
        .fix("eos upgrade --dry-run shows what would change, eos upgrade does it")
}

/// Built-in components as the lock pins them, and the estate's own over them.
fn pinned_catalog(estate: &Estate) -> Result<Catalog, Diagnostics> {
    let unreadable = |path: &str, error: &std::io::Error| files::cannot_read(path.into(), error);
    let mut built_in = Folder::built_in();
    let mut pinned = BTreeMap::new();
    for (kind, digest) in &estate.lock.catalog {
        if built_in.get(kind).is_some_and(|folder| folder.digest() == *digest) {
            continue;
        }
        let path = estate.root.join(VENDORED_CATALOG).join(kind);
        let copy = if path.is_dir() { Some(Folder::read(&path).map_err(|e| unreadable(VENDORED_CATALOG, &e))?) } else { None };
        match copy.filter(|folder| folder.digest() == *digest) {
            Some(folder) => {
                built_in.remove(kind);
                pinned.insert(kind.clone(), folder);
            }
            None => return Err(changed(format!("{LOCK_FILE} pins another {kind} than this eos has, and {VENDORED_CATALOG}/{kind} is not it either")).into()),
        }
    }
    let own = Folder::below(&estate.root.join("catalog")).map_err(|e| unreadable("catalog", &e))?;
    Ok(Catalog::from_layers([(Origin::BuiltIn, built_in), (Origin::Pinned, pinned), (Origin::Estate, own)]))
}

/// The lock with a kind pinned, and the copy to keep; nothing for what is pinned already or the estate's own.
pub fn pin(catalog: &Catalog, lock: &mut LockFile, change: &mut eos_pillar::Change, kind: &str) {
    if catalog.origin(kind) != Some(Origin::BuiltIn) || lock.catalog.contains_key(kind) {
        return;
    }
    let Some(folder) = catalog.folder(kind) else { return };
    lock.catalog.insert(kind.to_owned(), folder.digest());
    for (path, bytes) in &folder.files {
        change.write(format!("{VENDORED_CATALOG}/{kind}/{path}"), bytes.to_vec());
    }
    change.write(LOCK_FILE, lock.write());
}
