//! The pillar tree as a snapshot of bytes, and an environment's merged pillar as Salt would render it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, Name, Place, ask_each, codes};
use eos_yaml::{FileId, Node, Sources, Value};

use crate::change::Change;
use crate::entry::{ComponentEntry, HostEntry, OperationEntry};
use crate::files;
use crate::pillar_file::PillarFile;
use crate::top::{self, PILLAR, TOP_FILE};

/// Every pillar file by its path in the estate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<Utf8PathBuf, Arc<PillarFile>>,
}

/// What one environment's pillar says.
#[derive(Debug)]
pub struct Environment {
    pub name: EnvName,
    pub components: BTreeMap<Name, ComponentEntry>,
    pub hosts: BTreeMap<HostName, HostEntry>,
    pub operations: BTreeMap<Name, OperationEntry>,
    /// Deleted names whose data stays: what it was when it went.
    pub kept: BTreeMap<Name, ComponentEntry>,
    /// Parts in common/ of components that others may have and this one does not, by name; what is to be said where nobody
    /// has them.
    pub parts: BTreeMap<String, Diagnostic>,
    /// The merged pillar, exactly what Salt renders.
    pub pillar: Node,
    pub sources: Sources,
}

fn name_is_no_text(folder: &Utf8Path) -> Diagnostic {
    Diagnostic::error(codes::NOT_UTF8, format!("a file in {folder} has a name that is not UTF-8 text"))
        .why("eos could not speak of it, and what it asks for would count as deleted")
        .fix(format!("ls -b {folder} shows it; rename it"))
}

impl Tree {
    pub fn from_files(files: impl IntoIterator<Item = (Utf8PathBuf, Vec<u8>)>) -> Tree {
        let mut tree = Tree::default();
        let numbered = numbers(FileId::default()).zip(files);
        tree.files.extend(numbered.map(|(number, (path, bytes))| (path, PillarFile::new(number, bytes))));
        tree
    }

    /// Reads `pillar/` below `root`.
    pub fn read(root: &Utf8Path) -> Result<Tree, Diagnostics> {
        let mut found = Diagnostics::new();
        let mut tree = Tree::default();
        let mut paths = Vec::new();
        let mut waiting = vec![Utf8PathBuf::from(PILLAR)];
        while let Some(folder) = waiting.pop() {
            let entries = match root.join(&folder).read_dir_utf8() {
                Ok(entries) => entries,
                Err(error) => {
                    found.push(files::cannot_read(&folder, &error));
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    // What is passed over would count as deleted.
                    Err(error) => {
                        found.push(match error.kind() {
                            std::io::ErrorKind::InvalidData => name_is_no_text(&folder),
                            _ => files::cannot_read(&folder, &error),
                        });
                        continue;
                    }
                };
                let relative = folder.join(entry.file_name());
                if entry.file_name().starts_with('.') {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => waiting.push(relative),
                    Ok(kind) if kind.is_symlink() && root.join(&relative).is_dir() => {
                        match files::stays_inside(root, &relative) {
                            Ok(()) => waiting.push(relative),
                            Err(diagnostic) => found.push(diagnostic),
                        }
                    }
                    _ if relative.extension() == Some("sls") => paths.push(relative),
                    _ => {}
                }
            }
        }
        let read = ask_each(&paths, |path| files::read(root, path));
        for (number, (path, read)) in numbers(FileId::default()).zip(paths.into_iter().zip(read)) {
            match read {
                Ok(Some(bytes)) => {
                    tree.files.insert(path, PillarFile::new(number, bytes));
                }
                Ok(None) => {}
                Err(diagnostic) => found.push(diagnostic),
            }
        }
        if found.has_errors() { Err(found) } else { Ok(tree) }
    }

    pub fn get(&self, path: &Utf8Path) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.bytes())
    }

    pub fn files(&self) -> impl Iterator<Item = (&Utf8Path, &[u8])> {
        self.files.iter().map(|(path, file)| (path.as_path(), file.bytes()))
    }

    /// The tree after a change.
    pub fn with(&self, change: &Change) -> Tree {
        let mut files = self.files.clone();
        let last = files.values().map(|file| file.number()).max().unwrap_or_default();
        let changed = change.files.iter().filter(|(path, _)| path.starts_with(PILLAR));
        for (number, (path, content)) in numbers(last).zip(changed) {
            match content {
                Some(bytes) => files.insert(path.clone(), PillarFile::new(number, bytes.clone())),
                None => files.remove(path),
            };
        }
        Tree { files }
    }

    /// One environment's pillar, merged in Salt's order and read into entries.
    pub fn environment(&self, env: &EnvName) -> Result<Environment, Diagnostics> {
        let missing = || {
            Diagnostic::error(codes::TOP_FILE, format!("{TOP_FILE} is missing"))
                .why("it says which files of the pillar count in which environment")
                .fix("bring it back: git log -- pillar/top.sls shows the last commit that had it")
        };
        self.parse_ahead();
        let top_bytes = self.get(Utf8Path::new(TOP_FILE)).ok_or_else(missing)?;
        let top = eos_yaml::parse(Utf8Path::new(TOP_FILE), top_bytes)?;
        let mut reader = Reader {
            by_sls: self.by_sls(),
            behind: self.behind(),
            sources: Sources::new(),
            found: Diagnostics::new(),
            told: HashSet::new(),
            rendered: HashSet::new(),
        };
        let mut pillar = empty();
        for pattern in top::patterns(&top, env)? {
            let matching: Vec<String> = if pattern.contains(['*', '?']) {
                reader.by_sls.keys().filter(|name| top::matches(&pattern, name)).cloned().collect()
            } else {
                vec![pattern]
            };
            for name in matching {
                if let Some(node) = reader.render(&name) {
                    pillar = reader.lay_over(pillar, node);
                }
            }
        }
        reader.refuse_what_nobody_reads(env);
        let Reader { sources, mut found, .. } = reader;
        let mut environment = Environment {
            name: env.clone(),
            components: BTreeMap::new(),
            hosts: BTreeMap::new(),
            operations: BTreeMap::new(),
            kept: BTreeMap::new(),
            parts: BTreeMap::new(),
            pillar,
            sources,
        };
        environment.read_entries(&mut found);
        if found.has_errors() { Err(found) } else { Ok(environment) }
    }

    /// Parses every file, whoever asks for it later.
    fn parse_ahead(&self) {
        let files: Vec<(&Utf8PathBuf, &Arc<PillarFile>)> = self.files.iter().collect();
        ask_each(&files, |(path, file)| file.document(path).is_ok());
    }

    /// Files by the names Salt has for them; `a.sls` comes before `a/init.sls`, as in Salt.
    fn by_sls(&self) -> BTreeMap<String, (&Utf8Path, &PillarFile)> {
        let mut found = BTreeMap::new();
        for (path, file) in &self.files {
            let (path, file) = (path.as_path(), &**file);
            if path == TOP_FILE {
                continue;
            }
            let Some(name) = path.strip_prefix(PILLAR).ok().and_then(top::sls_name) else { continue };
            if is_dotted(path) {
                found.entry(name).or_insert((path, file));
            } else {
                found.insert(name, (path, file));
            }
        }
        found
    }

    /// Files that Salt never opens, as another has the same name for it: `a/init.sls` behind `a.sls`.
    fn behind(&self) -> Vec<(&Utf8Path, &PillarFile)> {
        let first = |path: &Utf8Path| Some(Utf8PathBuf::from(format!("{}.sls", path.parent()?)));
        let files = self.files.iter().filter(|(path, _)| path.file_name() == Some("init.sls"));
        let behind =
            files.filter(|(path, _)| first(path).is_some_and(|first| self.files.contains_key(&first)));
        behind.map(|(path, file)| (path.as_path(), &**file)).collect()
    }
}

/// The numbers of files that come after another.
fn numbers(last: FileId) -> impl Iterator<Item = FileId> {
    (last.0 + 1..).map(FileId)
}

/// Whether Salt would look for the file elsewhere: it takes a dot in an sls name for a folder.
fn is_dotted(path: &Utf8Path) -> bool {
    path.as_str().strip_suffix(".sls").is_some_and(|stem| stem.contains('.'))
}

fn empty() -> Node {
    let mark = eos_yaml::Mark { line: 1, column: 1 };
    Node { value: Value::map(Vec::new()), mark, file: eos_yaml::FileId::default() }
}

struct Reader<'a> {
    by_sls: BTreeMap<String, (&'a Utf8Path, &'a PillarFile)>,
    behind: Vec<(&'a Utf8Path, &'a PillarFile)>,
    sources: Sources,
    found: Diagnostics,
    /// Files whose mistakes were told: once is enough, however often one is included.
    told: HashSet<String>,
    rendered: HashSet<String>,
}

/// A value that stands where other files have a mapping.
fn empties(keys: &[String], place: Option<Place>, value: &Node) -> Diagnostic {
    let name = keys.join(":");
    let file = place.as_ref().map_or(PILLAR, |place| place.file.as_str());
    let is = if value.is_null() { "empty".to_owned() } else { value.kind_name().to_owned() };
    let message = format!("{name} is {is} in {file}, and other files have something there");
    let fix = format!("take {name} out of {file}; {{}} behind it adds nothing and takes nothing away");
    Diagnostic::error(codes::WRONG_SHAPE, message)
        .at(place)
        .why("in Salt it takes the place of all that they say there, which would count as deleted")
        .fix(fix)
}

impl Reader<'_> {
    /// A file with its includes merged below it. An include of what was rendered before is its own content only, and a
    /// file that top.sls names is rendered in its place whether it was included before or not: both as in Salt.
    fn render(&mut self, name: &str) -> Option<Node> {
        let (own, includes) = self.read(name)?;
        self.rendered.insert(name.to_owned());
        if includes.is_empty() {
            return Some(own);
        }
        let mut merged = empty();
        for include in &includes {
            let Some(other) = include.as_str().filter(|other| self.by_sls.contains_key(*other)) else {
                let place = self.sources.place_of(include);
                self.found.push(
                    Diagnostic::error(
                        codes::TOP_FILE,
                        format!("{} includes something eos cannot follow", self.by_sls[name].0),
                    )
                    .at(place)
                    .why("only plain names of pillar files can be included here")
                    .fix("name the file as in top.sls, for example infrastructure.common"),
                );
                continue;
            };
            let included = if self.rendered.contains(other) {
                self.read(other).map(|(own, _)| own)
            } else {
                self.render(other)
            };
            if let Some(included) = included {
                merged = self.lay_over(merged, included);
            }
        }
        Some(self.lay_over(merged, own))
    }

    /// Laid over each other as Salt does it. What would take all away that other files say to eos, without a word, is told
    /// of instead.
    fn lay_over(&mut self, base: Node, over: Node) -> Node {
        let Reader { sources, found, .. } = self;
        eos_yaml::merge_unless(base, over, &mut |keys, key, value| {
            // Below an entry one form may stand for another: a need is met by one name, or by one for each.
            let is_entry = keys.len() <= 3;
            if keys.first().is_none_or(|root| root != "eos") || !(is_entry || value.is_null()) {
                return false;
            }
            found.push(empties(keys, sources.place_of(key), value));
            true
        })
    }

    /// What says something to eos in the environment's own folders has to be read there: it would count as deleted.
    fn refuse_what_nobody_reads(&mut self, env: &EnvName) {
        let speaks = |path: &Utf8Path, file: &PillarFile| {
            file.document(path).as_ref().is_ok_and(|document| document.root.get("eos").is_some())
        };
        for (path, file) in &self.behind {
            let name = path.strip_prefix(PILLAR).ok().and_then(top::sls_name).unwrap_or_default();
            if !self.rendered.contains(&name) || !speaks(path, file) {
                continue;
            }
            let (read, _) = self.by_sls[&name];
            let message = format!("{path} is never read: {read} has the same name for Salt, and comes first");
            let wrong = Diagnostic::error(codes::TOP_FILE, message).at(Place::file(path));
            let wrong = wrong.why("what it says would count as deleted");
            self.found.push(
                wrong.fix(format!("git mv {path} to a name of its own in the folder above, or delete it")),
            );
        }
        let unread = self.by_sls.iter().filter(|(name, (path, file))| {
            top::is_own(name, env)
                && !self.rendered.contains(*name)
                && !self.told.contains(*name)
                && speaks(path, file)
        });
        let unread: Vec<&Utf8Path> = unread.map(|(_, (path, _))| *path).collect();
        let Some(first) = unread.first() else { return };
        let more = if unread.len() > 1 { format!(" and {} more", unread.len() - 1) } else { String::new() };
        self.found.push(
            Diagnostic::error(codes::TOP_FILE, format!("{TOP_FILE} does not give {first}{more} to {env}"))
                .at(Place::file(TOP_FILE))
                .why("what is never read would count as deleted")
                .fix(top::how_to_give(env, first)),
        );
    }

    /// What a file says itself, and its includes; its mistakes are told once.
    fn read(&mut self, name: &str) -> Option<(Node, Vec<Node>)> {
        if self.told.contains(name) {
            return None;
        }
        let before = self.found.0.len();
        let read = self.read_file(name);
        if self.found.0.len() > before {
            self.told.insert(name.to_owned());
        }
        read
    }

    fn read_file(&mut self, name: &str) -> Option<(Node, Vec<Node>)> {
        // top.sls says ignore_missing, so a name without a file is nothing at all.
        let (path, file) = *self.by_sls.get(name)?;
        if is_dotted(path) {
            self.found.push(
                Diagnostic::error(codes::TOP_FILE, format!("Salt cannot find {path}"))
                    .at(Place::file(path))
                    .why("it takes a dot in the name of a pillar file for a folder, and fails the whole pillar")
                    .fix("rename it without the dot"),
            );
            return None;
        }
        let mut node = match file.document(path) {
            Ok(document) => self.sources.add(document),
            Err(diagnostics) => {
                self.found.extend(diagnostics.clone());
                return None;
            }
        };
        let includes = match &mut node.value {
            Value::Map(entries) => {
                let at = entries.iter().position(|(key, _)| key.as_str() == Some("include"));
                at.map(|at| Arc::make_mut(entries).remove(at).1)
            }
            Value::Null => return None,
            _ => {
                let place = self.sources.place_of(&node);
                self.found.push(
                    Diagnostic::error(
                        codes::WRONG_SHAPE,
                        format!("{path} is {}, not a mapping", node.kind_name()),
                    )
                    .at(place)
                    .why("Salt lays the files of a pillar over each other, key by key")
                    .fix("write it as keys with values, such as eos: {components: {…}}"),
                );
                return None;
            }
        };
        let includes = match includes {
            None => Vec::new(),
            Some(list) => match list.as_list() {
                Some(items) => items.to_vec(),
                None => {
                    let place = self.sources.place_of(&list);
                    let message = format!("include of {path} is {}, not a list", list.kind_name());
                    self.found.push(
                        Diagnostic::error(codes::WRONG_SHAPE, message)
                            .at(place)
                            .why("Salt fails the whole pillar over it")
                            .fix("write a list, a line each: - infrastructure.common"),
                    );
                    return None;
                }
            },
        };
        Some((node, includes))
    }
}
