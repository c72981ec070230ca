//! A tool that is there, and what is known about one that may not be.

use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::version::{Range, Version};

/// Where a tool came from. All but the search path are copies in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    SearchPath,
    Bundle,
    Release,
    GoModule,
    Pypi,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Source::SearchPath => "search path",
            Source::Bundle => "offline bundle",
            Source::Release => "official release",
            Source::GoModule => "Go module",
            Source::Pypi => "PyPI",
        })
    }
}

/// A tool that can be run now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    pub name: String,
    pub version: Version,
    pub source: Source,
    /// The executable.
    pub path: Utf8PathBuf,
    /// What its bytes were checked against; nothing vouches for what was on the search path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
}

/// A row of the list of tools.
#[derive(Debug, Clone, Serialize)]
pub struct ToolStatus {
    pub name: String,
    pub summary: String,
    pub pinned: Version,
    pub range: Range,
    pub found: Option<Found>,
    /// What was looked at and not taken, and why.
    pub problems: Vec<String>,
}
