//! The program that is driven: which one it is and which version.

use std::collections::BTreeMap;
use std::fmt;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::files::{identity, private_folder, put};
use crate::{Places, TofuError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavor {
    /// OpenTofu: encrypts state and plans.
    Tofu,
    /// Terraform: has no encryption of its own.
    Terraform,
}

/// `1.12.6`, or `1.13.0-beta1` with its suffix kept for showing only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolVersion {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pub suffix: String,
}

/// A tofu or terraform that was asked for its version and is new enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tofu {
    pub(crate) binary: Utf8PathBuf,
    pub(crate) flavor: Flavor,
    pub(crate) version: ToolVersion,
}

/// What was found out about a binary, by its identity.
#[derive(Default, Serialize, Deserialize)]
struct KnownTools(BTreeMap<String, String>);

impl Tofu {
    /// Runs `version` once: the words are needed, its JSON does not tell tofu from terraform. The path must be absolute.
    pub fn detect(binary: &Utf8Path) -> Result<Tofu, TofuError> {
        Tofu::from_words(binary, &ask(binary)?)
    }

    /// The same without running it again as long as the file is the same.
    pub fn detect_once(binary: &Utf8Path, places: &Places) -> Result<Tofu, TofuError> {
        let file = places.known_tools();
        let identity = identity(binary);
        let known: KnownTools = std::fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        if let Some(words) = known.0.get(&identity) {
            return Tofu::from_words(binary, words);
        }
        let words = ask(binary)?;
        let tofu = Tofu::from_words(binary, &words)?;
        private_folder(&places.staging())?;
        let known = KnownTools([(identity, words)].into());
        let bytes = serde_json::to_vec(&known).unwrap_or_default();
        put(&file, &bytes, &places.staging())?;
        Ok(tofu)
    }

    fn from_words(binary: &Utf8Path, words: &str) -> Result<Tofu, TofuError> {
        let unsupported = || TofuError::Unsupported { binary: binary.to_owned(), said: words.to_owned() };
        let (name, version) = words.split_once(" v").ok_or_else(unsupported)?;
        let flavor = match name {
            "OpenTofu" => Flavor::Tofu,
            "Terraform" => Flavor::Terraform,
            _ => return Err(unsupported()),
        };
        let version = ToolVersion::parse(version).ok_or_else(unsupported)?;
        if (version.major, version.minor) < (1, 11) || version.major > 1 {
            return Err(unsupported());
        }
        Ok(Tofu { binary: binary.to_owned(), flavor, version })
    }

    pub fn binary(&self) -> &Utf8Path {
        &self.binary
    }

    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    pub fn version(&self) -> &ToolVersion {
        &self.version
    }
}

/// The first line of `version`.
fn ask(binary: &Utf8Path) -> Result<String, TofuError> {
    let failed = |reason: String| TofuError::NotInstalled { binary: binary.to_owned(), reason };
    let output = Command::new(binary)
        .arg("version")
        .current_dir("/")
        .env_clear()
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().next() {
        Some(line) if output.status.success() => Ok(line.trim().to_owned()),
        _ => Err(failed(format!("`version` ended with {}", output.status))),
    }
}

impl Flavor {
    /// `tofu` or `terraform`, as one types it.
    pub fn command(self) -> &'static str {
        match self {
            Flavor::Tofu => "tofu",
            Flavor::Terraform => "terraform",
        }
    }

    pub fn encrypts(self) -> bool {
        self == Flavor::Tofu
    }
}

impl ToolVersion {
    fn parse(text: &str) -> Option<ToolVersion> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, suffix) = text.split_at(end);
        let mut numbers = numbers.split('.').map(|number| number.parse::<u64>());
        let version = ToolVersion {
            major: numbers.next()?.ok()?,
            minor: numbers.next()?.ok()?,
            patch: numbers.next()?.ok()?,
            suffix: suffix.to_owned(),
        };
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for ToolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}{}", self.major, self.minor, self.patch, self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavour_and_version_come_from_the_words() {
        let binary = Utf8Path::new("/x/tofu");
        let tofu = Tofu::from_words(binary, "OpenTofu v1.12.6").unwrap();
        assert_eq!((tofu.flavor(), tofu.version().to_string()), (Flavor::Tofu, "1.12.6".to_owned()));
        let beta = Tofu::from_words(binary, "Terraform v1.13.0-beta1").unwrap();
        assert_eq!(
            (beta.flavor(), beta.version().to_string()),
            (Flavor::Terraform, "1.13.0-beta1".to_owned())
        );
        for words in [
            "Terraform v1.10.5",
            "OpenTofu v0.99.1",
            "OpenTofu v2.0.0",
            "Bash v5.1.1",
            "OpenTofu",
            "OpenTofu v1",
        ] {
            let error = Tofu::from_words(binary, words).unwrap_err();
            assert!(matches!(error, TofuError::Unsupported { .. }), "{words}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_installed() {
        let error = Tofu::detect(Utf8Path::new("/nowhere/tofu")).unwrap_err();
        assert!(matches!(error, TofuError::NotInstalled { .. }), "{error}");
    }
}
