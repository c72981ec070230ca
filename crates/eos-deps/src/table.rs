//! The pinned table of tools as data: what `tools.toml` holds, read strictly.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::digest;
use crate::lock_file::{self, LockFile};
use crate::version::{Range, Version};

/// Every tool by name.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Table {
    pub(crate) tools: BTreeMap<String, Tool>,
}

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the table of tools cannot be read: {0}")]
    Syntax(#[from] toml::de::Error),
    #[error("tool `{tool}`: {problem}")]
    Tool { tool: String, problem: String },
}

/// One tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    #[serde(skip)]
    pub name: String,
    pub summary: String,
    pub version: Version,
    pub accepts: Range,
    executable: String,
    /// Absent for what cannot be asked: a provider only answers tofu.
    pub read: Option<ReadVersion>,
    #[serde(default = "yes")]
    pub search_path: bool,
    #[serde(default)]
    pub sources: Vec<Recipe>,
}

/// How a tool tells its version.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadVersion {
    pub arguments: Vec<String>,
    /// What surrounds the version in the output, such as `OpenTofu v{version}`.
    pub text: String,
}

/// One way to get a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Recipe {
    Release(Release),
    Go(GoModule),
    Pypi(Pypi),
}

/// A zip of the project's own release.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    pub host: String,
    pub file: String,
    /// The release's own list of checksums.
    pub sums: String,
    /// Sums known beforehand, by `{os}-{arch}`.
    #[serde(default)]
    pub sha256: BTreeMap<String, String>,
}

/// A program built from a Go module.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoModule {
    pub module: String,
    pub module_version: String,
    pub package: String,
    /// The module's checksum as `go mod download -json` tells it. Its go.sum is inside, so it covers what it needs too.
    pub sum: Option<String>,
    /// Arguments of `go mod edit`.
    #[serde(default)]
    pub edits: Vec<String>,
    #[serde(default)]
    pub ldflags: String,
    pub free_gb: u64,
    /// How the result differs from the project's own release.
    pub note: Option<String>,
}

/// Packages installed into a venv of their own, with all they need as its lock file says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pypi {
    pub packages: Vec<String>,
    /// Those of the lock file that have no wheels.
    #[serde(default)]
    pub from_source: Vec<String>,
    /// What builds them; part of the lock file.
    #[serde(default)]
    pub build_tools: Vec<String>,
    #[serde(skip)]
    pub lock: LockFile,
}

impl Recipe {
    fn check(&self, tool: &Tool) -> Result<(), String> {
        match self {
            Recipe::Release(release) => match release.sha256.values().find(|sum| !digest::is_sum(sum)) {
                Some(bad) => Err(format!("{bad} is no sha256")),
                None => Ok(()),
            },
            Recipe::Go(GoModule { sum: Some(sum), .. }) if !sum.starts_with("h1:") => {
                Err(format!("{sum} is no sum of a Go module"))
            }
            Recipe::Go(_) => Ok(()),
            Recipe::Pypi(pypi) => pypi.check(tool),
        }
    }
}

impl Pypi {
    fn check(&self, tool: &Tool) -> Result<(), String> {
        let packages = self.packages.iter().map(|package| tool.fill(package));
        let mut missing: Vec<String> = packages.filter(|package| !self.lock.holds(package)).collect();
        let names = self.from_source.iter().chain(&self.build_tools);
        missing.extend(names.filter(|name| !self.lock.names(name)).cloned());
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("locks/{}.txt does not have {}; make it anew: locks/make", tool.name, missing.join(", ")))
    }
}

fn yes() -> bool {
    true
}

impl Table {
    /// The table this version of eos is pinned to.
    pub fn pinned() -> Result<Table, TableError> {
        Table::parse(include_str!("../tools.toml"))
    }

    pub fn parse(text: &str) -> Result<Table, TableError> {
        Table::parse_with_locks(text, lock_file::PINNED)
    }

    /// With other lock files for those of its tools that come from PyPI.
    pub fn parse_with_locks(text: &str, locks: &[(&str, &str)]) -> Result<Table, TableError> {
        let mut table: Table = toml::from_str(text)?;
        for (name, tool) in &mut table.tools {
            tool.name.clone_from(name);
            let lock = locks.iter().find(|(of, _)| of == name).map_or("", |(_, lock)| *lock);
            tool.lock(lock)
                .and_then(|()| tool.check())
                .map_err(|problem| TableError::Tool { tool: name.clone(), problem })?;
        }
        Ok(table)
    }
}

impl Tool {
    fn lock(&mut self, text: &str) -> Result<(), String> {
        for recipe in &mut self.sources {
            if let Recipe::Pypi(pypi) = recipe {
                pypi.lock = LockFile::parse(text)?;
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !plain(&self.name) {
            return Err("a name has letters, digits, - and _ only: it is a directory".to_owned());
        }
        if !self.accepts.contains(&self.version) {
            return Err(format!("the pin {} is not in its own range {}", self.version, self.accepts));
        }
        if self.read.as_ref().is_some_and(|read| !read.text.contains("{version}")) {
            return Err("read.text does not say where the {version} is".to_owned());
        }
        if self.search_path && self.read.is_none() {
            return Err("a tool that cannot tell its version cannot be taken from the search path".to_owned());
        }
        self.sources.iter().try_for_each(|recipe| recipe.check(self))
    }

    /// The file name of its executable.
    pub fn executable(&self, version: &Version) -> String {
        fill(&self.executable, version)
    }

    /// A text of the table with the pin and this machine's platform put in.
    pub fn fill(&self, template: &str) -> String {
        fill(template, &self.version)
    }

    /// Its file in an offline bundle.
    pub fn bundle_file(&self) -> String {
        format!("{}-{}-{}-{}.xz", self.name, self.version, os(), arch())
    }

    /// Whether the tool is a set of files that belong to one place.
    pub fn is_venv(&self) -> bool {
        !self.sources.is_empty() && self.sources.iter().all(|recipe| matches!(recipe, Recipe::Pypi(_)))
    }
}

fn fill(template: &str, version: &Version) -> String {
    template.replace("{version}", version.as_str()).replace("{os}", os()).replace("{arch}", arch())
}

/// The operating system as Go and the releases spell it.
pub(crate) fn os() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// The processor as Go and the releases spell it.
pub(crate) fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pinned_table_is_sound_and_sorted() {
        let table = Table::pinned().unwrap();
        for needed in
            ["aws", "nats-server", "nomad", "salt", "terraform", "terraform-provider-hcloud", "tofu"]
        {
            assert!(table.tools.contains_key(needed), "{needed}");
        }
        let lines = include_str!("../tools.toml").lines();
        let headers = lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        let headers: Vec<&str> = headers.filter(|header| !header.starts_with('[')).collect();
        assert!(headers.windows(2).all(|pair| pair[0] < pair[1]), "{headers:?}");
    }

    #[test]
    fn texts_of_the_table_are_filled_in() {
        let table = Table::pinned().unwrap();
        for tool in table.tools.values() {
            assert!(!tool.executable(&tool.version).contains('{'), "{}", tool.name);
            for recipe in &tool.sources {
                if let Recipe::Release(release) = recipe {
                    assert!(release.host.starts_with("https://"), "{}", tool.name);
                    assert!(!tool.fill(&release.file).contains('{') && release.file.ends_with(".zip"));
                    assert!(!tool.fill(&release.sums).contains('{'));
                }
            }
        }
    }

    #[test]
    fn a_pin_outside_its_range_or_an_unknown_key_is_refused() {
        let tool = "[x]\nsummary = \"s\"\nversion = \"1.0\"\naccepts = \">=2\"\nexecutable = \"x\"\nsearch_path = false\n";
        assert!(Table::parse(tool).unwrap_err().to_string().contains("not in its own range"));
        assert!(Table::parse(&format!("{}pin = 1\n", tool.replace(">=2", ">=1"))).is_err());
        assert!(Table::parse(&tool.replace(">=2", ">=1")).is_ok());
    }

    #[test]
    fn a_sum_that_is_none_or_a_package_that_is_not_locked_is_refused() {
        let sum = "ab".repeat(32);
        let lock = format!("a==1.0 --hash=sha256:{sum}\nb==1 --hash=sha256:{sum}\n");
        let table = |source: &str| {
            Table::parse_with_locks(
                &format!(
                    "[x]\nsummary = \"s\"\nversion = \"1.0\"\naccepts = \">=1\"\nexecutable = \"x\"\n\
                     search_path = false\n[[x.sources]]\n{source}"
                ),
                &[("x", &lock)],
            )
        };
        let refused = |source: &str| table(source).unwrap_err().to_string();
        let go = "kind = \"go\"\nmodule = \"m\"\nmodule_version = \"v1\"\npackage = \".\"\nfree_gb = 1\n";
        assert!(table(&format!("{go}sum = \"h1:x=\"")).is_ok());
        assert!(refused(&format!("{go}sum = \"{sum}\"")).contains("no sum of a Go module"));
        assert!(table("kind = \"pypi\"\npackages = [\"a=={version}\"]\nfrom_source = [\"b\"]").is_ok());
        let told = refused("kind = \"pypi\"\npackages = [\"a==2\", \"b==1\"]\nbuild_tools = [\"c\"]");
        assert!(told.contains("locks/x.txt does not have a==2, c; make it anew: locks/make"), "{told}");
    }
}
