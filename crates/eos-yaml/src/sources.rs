//! Files that were read, so that a node's mark can become a place with its line's text.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostics, Place};

use crate::node::{FileId, Mark, Node};
use crate::parse::parse;

/// One file: its text and its tree.
#[derive(Debug, Clone)]
pub struct Document {
    pub file: Utf8PathBuf,
    pub source: Arc<str>,
    pub root: Node,
}

impl Document {
    /// The place of a mark of this document.
    pub fn place(&self, mark: Mark) -> Place {
        place(&self.file, &self.source, mark)
    }
}

/// The files whose nodes are mixed by [`crate::merge`].
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<(Utf8PathBuf, Arc<str>)>,
}

impl Sources {
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Reads a file whose nodes will say that they came from it. A file that cannot be read is not kept.
    pub fn parse(&mut self, file: &Utf8Path, source: &[u8]) -> Result<Node, Diagnostics> {
        Ok(self.add(parse(file, source)?))
    }

    /// Takes a document that was parsed elsewhere (on another thread, say) and gives its tree.
    pub fn add(&mut self, document: Document) -> Node {
        let Document { file, source, mut root } = document;
        // A run reads far fewer than 2^32 files; one more would only share the last number.
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push((file, source));
        if id != FileId::default() {
            root.stamp(id);
        }
        root
    }

    /// Whether a file is among those that were read.
    pub fn has(&self, path: &Utf8Path) -> bool {
        self.files.iter().any(|(file, _)| file == path)
    }

    pub fn file(&self, id: FileId) -> Option<&Utf8Path> {
        self.files.get(id.0 as usize).map(|(file, _)| file.as_path())
    }

    /// The place of a mark in one of the files; none for a file this table does not have.
    pub fn place(&self, id: FileId, mark: Mark) -> Option<Place> {
        self.files.get(id.0 as usize).map(|(file, source)| place(file, source, mark))
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
