//! Files that were read, so that a node's mark can become a place with its line's text.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::Place;

use crate::node::{FileId, Mark, Node};

/// One file: its text and its tree.
#[derive(Debug, Clone)]
pub struct Document {
    pub file: Utf8PathBuf,
    pub source: Arc<str>,
    pub root: Node,
}

impl Document {
    /// The same with a number, which its nodes keep wherever they are mixed with others.
    pub fn numbered(mut self, file: FileId) -> Document {
        self.root.stamp(file);
        self
    }

    /// The place of a mark of this document.
    pub fn place(&self, mark: Mark) -> Place {
        place(&self.file, &self.source, mark)
    }
}

/// The files whose nodes are mixed by [`crate::merge`].
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: BTreeMap<FileId, (Utf8PathBuf, Arc<str>)>,
}

impl Sources {
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Takes a document that has a number of its own, and gives its tree.
    pub fn add(&mut self, document: &Document) -> Node {
        let Document { file, source, root } = document;
        self.files.insert(root.file, (file.clone(), Arc::clone(source)));
        root.clone()
    }

    /// Whether a file is among those that were read.
    pub fn has(&self, path: &Utf8Path) -> bool {
        self.files.values().any(|(file, _)| file == path)
    }

    pub fn file(&self, id: FileId) -> Option<&Utf8Path> {
        self.files.get(&id).map(|(file, _)| file.as_path())
    }

    pub fn text(&self, id: FileId) -> Option<&str> {
        self.files.get(&id).map(|(_, source)| &**source)
    }

    /// The place of a mark in one of the files; none for a file this table does not have.
    pub fn place(&self, id: FileId, mark: Mark) -> Option<Place> {
        self.files.get(&id).map(|(file, source)| place(file, source, mark))
    }

    pub fn place_of(&self, node: &Node) -> Option<Place> {
        self.place(node.file, node.mark)
    }
}

pub(crate) fn place(file: &Utf8Path, source: &str, mark: Mark) -> Place {
    let line = mark.line as usize;
    let text = source.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    Place { file: file.to_owned(), line, column: mark.column as usize, text: text.to_owned() }
}
