//! One pillar file: its bytes, and its document once somebody asks.
//!
//! A changed tree shares the files that did not change, so each is parsed once however many trees look at it.

use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use eos_model::Diagnostics;
use eos_yaml::Document;

#[derive(Debug)]
pub struct PillarFile {
    bytes: Vec<u8>,
    parsed: OnceLock<Result<Document, Diagnostics>>,
}

impl PillarFile {
    pub fn new(bytes: Vec<u8>) -> Arc<PillarFile> {
        Arc::new(PillarFile { bytes, parsed: OnceLock::new() })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn document(&self, path: &Utf8Path) -> &Result<Document, Diagnostics> {
        self.parsed.get_or_init(|| eos_yaml::parse(path, &self.bytes))
    }
}

impl PartialEq for PillarFile {
    fn eq(&self, other: &PillarFile) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PillarFile {}
