//! Versions as tools print them (`1.12.6`, `3008.3`, `1.13.0-beta1`, `1.10.5+ent`) and ranges of them.
//!
//! Not semver: Salt has two numbers, PyPI writes `3008.0rc1`. Trailing zeros do not matter (`2.15` = `2.15.0`), what
//! follows `+` neither. A pre-release sorts before its release and lies in no range.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A version and the text it was read from.
#[derive(Clone)]
pub struct Version {
    text: String,
    /// Without trailing zeros, so that comparing lists compares versions.
    numbers: Vec<u64>,
    pre_release: String,
}

/// A text that is no version or no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVersion {
    #[error("`{0}` is not a version such as 1.12.6")]
    Version(String),
    #[error("`{0}` is not a range such as `>=1.11, <2`")]
    Range(String),
}

impl Version {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_pre_release(&self) -> bool {
        !self.pre_release.is_empty()
    }
}

impl FromStr for Version {
    type Err = BadVersion;

    fn from_str(text: &str) -> Result<Version, BadVersion> {
        let bad = || BadVersion::Version(text.to_owned());
        let release = text.split_once('+').map_or(text, |(release, _)| release);
        let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
        let (numbers, pre_release) = release.split_at(end);
        let mut numbers = numbers
            .split('.')
            .map(|number| number.parse::<u64>().map_err(|_| bad()))
            .collect::<Result<Vec<u64>, BadVersion>>()?;
        if !pre_release.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')) {
            return Err(bad());
        }
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        let pre_release = pre_release.trim_start_matches('-').to_owned();
        Ok(Version { text: text.to_owned(), numbers, pre_release })
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| other.is_pre_release().cmp(&self.is_pre_release()))
            .then_with(|| self.pre_release.cmp(&other.pre_release))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({})", self.text)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Conditions that all hold, such as `>=1.11, <2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    text: String,
    conditions: Vec<(Comparison, Version)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    Below,
    Exactly,
}

impl Range {
    pub fn contains(&self, version: &Version) -> bool {
        !version.is_pre_release()
            && self.conditions.iter().all(|(comparison, bound)| match comparison {
                Comparison::AtLeast => version >= bound,
                Comparison::Below => version < bound,
                Comparison::Exactly => version == bound,
            })
    }
}

impl FromStr for Range {
    type Err = BadVersion;

    fn from_str(text: &str) -> Result<Range, BadVersion> {
        let conditions = text
            .split(',')
            .map(|condition| {
                let condition = condition.trim();
                let (comparison, version) = if let Some(version) = condition.strip_prefix(">=") {
                    (Comparison::AtLeast, version)
                } else if let Some(version) = condition.strip_prefix('<') {
                    (Comparison::Below, version)
                } else if let Some(version) = condition.strip_prefix('=') {
                    (Comparison::Exactly, version)
                } else {
                    return Err(BadVersion::Range(text.to_owned()));
                };
                let version = version.parse().map_err(|_| BadVersion::Range(text.to_owned()))?;
                Ok((comparison, version))
            })
            .collect::<Result<Vec<_>, BadVersion>>()?;
        Ok(Range { text: text.to_owned(), conditions })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

macro_rules! serde_as_text {
    ($type:ident) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

serde_as_text!(Version);
serde_as_text!(Range);

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(version("1.9.0") < version("1.10.0"));
        assert!(version("1.13.0-beta1") < version("1.13.0"));
        assert!(version("3008.0rc1") < version("3008.0"));
        assert_eq!(version("2.15"), version("2.15.0"));
        assert_eq!(version("1.10.5+ent"), version("1.10.5"));
        for bad in ["", "v1.2", "1..2", "latest", "1.2 3", "1.2/x", ".lock"] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_hold_releases_only() {
        let range: Range = ">=1.11, <2".parse().unwrap();
        for inside in ["1.11.0", "1.11", "1.12.6"] {
            assert!(range.contains(&version(inside)), "{inside}");
        }
        for outside in ["1.10.9", "2.0.0", "1.13.0-beta1", "2.0.0-rc1"] {
            assert!(!range.contains(&version(outside)), "{outside}");
        }
        assert!("=6.48.0".parse::<Range>().unwrap().contains(&version("6.48.0")));
        assert!("~>1.2".parse::<Range>().is_err());
    }
}
