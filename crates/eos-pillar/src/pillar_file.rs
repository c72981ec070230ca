//! One pillar file: its bytes, and its document once somebody asks.
//!
//! A changed tree shares the files that did not change, so each is parsed once however many trees look at it, and has
//! a number of its own in all of them.

use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use eos_model::Diagnostics;
use eos_yaml::{Document, FileId};

#[derive(Debug)]
pub struct PillarFile {
    number: FileId,
    bytes: Vec<u8>,
    parsed: OnceLock<Result<Document, Diagnostics>>,
}

impl PillarFile {
    pub fn new(number: FileId, bytes: Vec<u8>) -> Arc<PillarFile> {
        Arc::new(PillarFile { number, bytes, parsed: OnceLock::new() })
    }

    pub fn number(&self) -> FileId {
        self.number
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn document(&self, path: &Utf8Path) -> &Result<Document, Diagnostics> {
        let parse = || Ok(eos_yaml::parse(path, &self.bytes)?.numbered(self.number));
        self.parsed.get_or_init(parse)
    }
}

impl PartialEq for PillarFile {
    fn eq(&self, other: &PillarFile) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PillarFile {}
