//! The pillar tree as a snapshot of bytes, and an environment's merged pillar as Salt would render it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, Name, codes};
use eos_yaml::{Node, Sources, Value};

use crate::change::Change;
use crate::entry::{ComponentEntry, HostEntry, OperationEntry};
use crate::files;
use crate::top::{self, PILLAR, TOP_FILE};

/// Every pillar file by its path in the estate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<Utf8PathBuf, Arc<[u8]>>,
}

/// What one environment's pillar says.
#[derive(Debug)]
pub struct Environment {
    pub name: EnvName,
    pub components: BTreeMap<Name, ComponentEntry>,
    pub hosts: BTreeMap<HostName, HostEntry>,
    pub operations: BTreeMap<Name, OperationEntry>,
    /// The merged pillar, exactly what Salt renders.
    pub pillar: Node,
    pub sources: Sources,
}

impl Tree {
    pub fn from_files(files: impl IntoIterator<Item = (Utf8PathBuf, Vec<u8>)>) -> Tree {
        Tree { files: files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect() }
    }

    /// Reads `pillar/` below `root`.
    pub fn read(root: &Utf8Path) -> Result<Tree, Diagnostics> {
        let mut found = Diagnostics::new();
        let mut tree = Tree::default();
        let mut waiting = vec![Utf8PathBuf::from(PILLAR)];
        while let Some(folder) = waiting.pop() {
            let entries = match root.join(&folder).read_dir_utf8() {
                Ok(entries) => entries,
                Err(error) => {
                    found.push(files::cannot_read(&folder, &error));
                    continue;
                }
            };
            for entry in entries.flatten() {
                let relative = folder.join(entry.file_name());
                if entry.file_name().starts_with('.') {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => waiting.push(relative),
                    Ok(kind) if kind.is_symlink() && root.join(&relative).is_dir() => match files::stays_inside(root, &relative) {
                        Ok(()) => waiting.push(relative),
                        Err(diagnostic) => found.push(diagnostic),
                    },
                    _ if relative.extension() == Some("sls") => match files::read(root, &relative) {
                        Ok(Some(bytes)) => {
                            tree.files.insert(relative, bytes.into());
                        }
                        Ok(None) => {}
                        Err(diagnostic) => found.push(diagnostic),
                    },
                    _ => {}
                }
            }
        }
        if found.has_errors() { Err(found) } else { Ok(tree) }
    }

    pub fn get(&self, path: &Utf8Path) -> Option<&[u8]> {
        self.files.get(path).map(|bytes| &**bytes)
    }

    pub fn files(&self) -> impl Iterator<Item = (&Utf8Path, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_path(), &**bytes))
    }

    /// The tree after a change.
    pub fn with(&self, change: &Change) -> Tree {
        let mut files = self.files.clone();
        for (path, content) in change.files.iter().filter(|(path, _)| path.starts_with(PILLAR)) {
            match content {
                Some(bytes) => files.insert(path.clone(), bytes.as_slice().into()),
                None => files.remove(path),
            };
        }
        Tree { files }
    }

    /// One environment's pillar, merged in Salt's order and read into entries.
    pub fn environment(&self, env: &EnvName) -> Result<Environment, Diagnostics> {
        let missing = || Diagnostic::error(codes::TOP_FILE, format!("{TOP_FILE} is missing")).fix("restore it: git checkout pillar/top.sls");
        let top_bytes = self.get(Utf8Path::new(TOP_FILE)).ok_or_else(missing)?;
        let top = eos_yaml::parse(Utf8Path::new(TOP_FILE), top_bytes)?;
        let mut reader = Reader { by_sls: self.by_sls(), sources: Sources::new(), found: Diagnostics::new(), seen: HashSet::new() };
        let mut pillar = empty();
        for pattern in top::patterns(&top, env)? {
            let matching: Vec<String> = if pattern.contains(['*', '?']) {
                reader.by_sls.keys().filter(|name| top::matches(&pattern, name)).cloned().collect()
            } else {
                vec![pattern]
            };
            for name in matching {
                if let Some(node) = reader.render(&name) {
                    pillar = eos_yaml::merge(pillar, node);
                }
            }
        }
        let Reader { sources, mut found, .. } = reader;
        let mut environment = Environment {
            name: env.clone(),
            components: BTreeMap::new(),
            hosts: BTreeMap::new(),
            operations: BTreeMap::new(),
            pillar,
            sources,
        };
        environment.read_entries(&mut found);
        if found.has_errors() { Err(found) } else { Ok(environment) }
    }

    fn by_sls(&self) -> BTreeMap<String, (&Utf8Path, &[u8])> {
        self.files()
            .filter(|(path, _)| *path != TOP_FILE)
            .filter_map(|(path, bytes)| Some((top::sls_name(path.strip_prefix(PILLAR).ok()?)?, (path, bytes))))
            .collect()
    }
}

fn empty() -> Node {
    let mark = eos_yaml::Mark { line: 1, column: 1 };
    Node { value: Value::Map(Vec::new()), mark, file: eos_yaml::FileId::default() }
}

struct Reader<'a> {
    by_sls: BTreeMap<String, (&'a Utf8Path, &'a [u8])>,
    sources: Sources,
    found: Diagnostics,
    seen: HashSet<String>,
}

impl Reader<'_> {
    /// A file with its includes merged below it; each file is rendered once, as in Salt.
    fn render(&mut self, name: &str) -> Option<Node> {
        if !self.seen.insert(name.to_owned()) {
            return None;
        }
        // top.sls says ignore_missing, so a name without a file is nothing at all.
        let (path, bytes) = *self.by_sls.get(name)?;
        let mut node = match self.sources.parse(path, bytes) {
            Ok(node) => node,
            Err(diagnostics) => {
                self.found.extend(diagnostics);
                return None;
            }
        };
        let includes = match &mut node.value {
            Value::Map(entries) => {
                let at = entries.iter().position(|(key, _)| key.as_str() == Some("include"));
                at.map(|at| entries.remove(at).1)
            }
            Value::Null => return None,
            _ => {
                let place = self.sources.place_of(&node);
                self.found.push(
                    Diagnostic::error(codes::WRONG_SHAPE, format!("{path} is {}, not a mapping", node.kind_name())).at(place),
                );
                return None;
            }
        };
        let Some(includes) = includes else { return Some(node) };
        let mut merged = empty();
        for include in includes.as_list().unwrap_or_default() {
            match include.as_str() {
                Some(other) if self.by_sls.contains_key(other) => {
                    if let Some(included) = self.render(other) {
                        merged = eos_yaml::merge(merged, included);
                    }
                }
                _ => self.found.push(
                    Diagnostic::error(codes::TOP_FILE, format!("{path} includes something eos cannot follow"))
                        .at(self.sources.place_of(include))
                        .why("only plain names of pillar files can be included here")
                        .fix("name the file as in top.sls, for example infrastructure.common"),
                ),
            }
        }
        Some(eos_yaml::merge(merged, node))
    }
}
