//! The pinned table of tools as data: what `tools.toml` holds, read strictly.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::digest;
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

/// Packages installed into a venv of their own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pypi {
    pub packages: Vec<String>,
    /// Package → the sums of its files, a wheel or a source; of every package or of none.
    #[serde(default)]
    pub sha256: BTreeMap<String, Vec<String>>,
    /// Versions of whatever they need in turn.
    #[serde(default)]
    pub constraints: Vec<String>,
}

impl Recipe {
    fn check(&self) -> Result<(), String> {
        let sums: Vec<&String> = match self {
            Recipe::Release(release) => release.sha256.values().collect(),
            Recipe::Pypi(pypi) => pypi.sha256.values().flatten().collect(),
            Recipe::Go(_) => Vec::new(),
        };
        if let Some(bad) = sums.into_iter().find(|sum| !digest::is_sum(sum)) {
            return Err(format!("{bad} is no sha256"));
        }
        match self {
            Recipe::Go(GoModule { sum: Some(sum), .. }) if !sum.starts_with("h1:") => {
                Err(format!("{sum} is no sum of a Go module"))
            }
            Recipe::Pypi(pypi) if !pypi.sha256.is_empty() => {
                let bare = pypi.packages.iter().find(|package| pypi.sums(package).is_empty());
                bare.map_or(Ok(()), |package| Err(format!("{package} has no sha256, and others have")))
            }
            _ => Ok(()),
        }
    }
}

impl Pypi {
    /// The sums of a package, which is named as pip wants it: `salt==3008.3`.
    pub fn sums(&self, package: &str) -> &[String] {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = package.split(|c| !is_name(c)).next().unwrap_or_default();
        self.sha256.get(name).map(Vec::as_slice).unwrap_or_default()
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
        let mut table: Table = toml::from_str(text)?;
        for (name, tool) in &mut table.tools {
            tool.name.clone_from(name);
            tool.check().map_err(|problem| TableError::Tool { tool: name.clone(), problem })?;
        }
        Ok(table)
    }
}

impl Tool {
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
        self.sources.iter().try_for_each(Recipe::check)
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
    fn a_sum_that_is_none_or_pins_only_some_packages_is_refused() {
        let table = |source: &str| {
            Table::parse(&format!(
                "[x]\nsummary = \"s\"\nversion = \"1.0\"\naccepts = \">=1\"\nexecutable = \"x\"\n\
                 search_path = false\n[[x.sources]]\n{source}"
            ))
        };
        let refused = |source: &str| table(source).unwrap_err().to_string();
        let sum = "ab".repeat(32);
        let go = "kind = \"go\"\nmodule = \"m\"\nmodule_version = \"v1\"\npackage = \".\"\nfree_gb = 1\n";
        assert!(table(&format!("{go}sum = \"h1:x=\"")).is_ok());
        assert!(refused(&format!("{go}sum = \"{sum}\"")).contains("no sum of a Go module"));
        let pypi = "kind = \"pypi\"\npackages = [\"a==1\", \"b==1\"]\n";
        assert!(table(&format!("{pypi}sha256 = {{ a = [\"{sum}\"], b = [\"{sum}\"] }}")).is_ok());
        assert!(refused(&format!("{pypi}sha256 = {{ a = [\"{sum}\"] }}")).contains("b==1 has no sha256"));
        assert!(refused(&format!("{pypi}sha256 = {{ a = [\"abc\"], b = [] }}")).contains("abc is no sha256"));
    }
}
