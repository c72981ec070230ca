//! Validated names. A value of one of these types is safe as a file name, a state key and a Nomad job id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadName {
    pub given: String,
    pub problem: &'static str,
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a name: {}", self.given, self.problem)
    }
}

impl std::error::Error for BadName {}

impl From<BadName> for crate::Diagnostic {
    fn from(problem: BadName) -> crate::Diagnostic {
        crate::Diagnostic::error(crate::codes::BAD_NAME, problem.to_string())
            .fix("a name like web1 or shop-db: up to 63 lower-case letters, digits, '-', '_' and '.'")
    }
}

const LONGEST: usize = 63;

/// Names of files and folders beside those that are called after a name, Salt's own and eos's in build/; and the word
/// that says of what follows that it is a host.
const RESERVED: &[&str] = &["init", "modules", "host"];

/// What all environments share lies beside them under this name.
const COMMON: &str = "common";

fn check(text: &str) -> Result<(), &'static str> {
    let mut chars = text.chars();
    match chars.next() {
        None => return Err("it is empty"),
        Some(c) if !(c.is_ascii_lowercase() || c.is_ascii_digit()) => {
            return Err("it must start with a lower-case letter or a digit");
        }
        Some(_) => {}
    }
    if !chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.')) {
        return Err("only lower-case letters, digits, '-', '_' and '.' are allowed");
    }
    if text.contains("..") || text.contains("__") || text.ends_with(['.', '-', '_']) {
        return Err("it must not contain '..' or '__' nor end in '.', '-' or '_'");
    }
    // In the name of a file a dot is "__": a._b and a_.b would share one.
    if text.contains("._") || text.contains("_.") {
        return Err("it must not have '_' beside '.'");
    }
    if RESERVED.contains(&text) || text.ends_with(".sls") {
        return Err("init, modules, host and what ends in .sls mean something else");
    }
    if text.len() > LONGEST {
        return Err("it is longer than 63 characters");
    }
    Ok(())
}

fn check_environment(text: &str) -> Result<(), &'static str> {
    check(text)?;
    if text == COMMON { Err("common is what all environments share") } else { Ok(()) }
}

macro_rules! name_type {
    ($(#[$doc:meta])* $type:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The name as a file stem: Salt reads a '.' in an sls name as a folder.
            pub fn stem(&self) -> String {
                self.0.replace('.', "__")
            }
        }

        impl FromStr for $type {
            type Err = BadName;
            fn from_str(text: &str) -> Result<$type, BadName> {
                match $check(text) {
                    Ok(()) => Ok($type(text.to_owned())),
                    Err(problem) => Err(BadName { given: text.to_owned(), problem }),
                }
            }
        }

        impl TryFrom<String> for $type {
            type Error = BadName;
            fn try_from(text: String) -> Result<$type, BadName> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name_type! {
    /// What a user calls one thing in an environment: `postgres`, `crm`, `john.doe`.
    Name, check
}
name_type! {
    /// A component of the catalogue: `postgres`.
    Kind, check
}
name_type! {
    /// An environment: `production`.
    EnvName, check_environment
}
name_type! {
    /// A declared host, which is also its Salt minion id.
    HostName, check
}

/// One root module: a name in an environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId {
    pub env: EnvName,
    pub name: Name,
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.env, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_safe_as_files_pass() {
        for good in ["postgres", "john.doe", "a", "database_volume", "node-1", "7zip"] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
    }

    #[test]
    fn names_that_could_leave_their_folder_fail() {
        for bad in [
            "", "..", "../x", "a/b", "a\\b", ".git", "A", "a..b", "a__b", "a._b", "a_.b", "-x", "a\0", "a b",
            "x.", "init", "x.sls",
        ] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
        assert!("a".repeat(64).parse::<Name>().is_err());
        assert!("common".parse::<EnvName>().is_err() && "common".parse::<Name>().is_ok());
    }

    #[test]
    fn stems_of_different_names_differ() {
        let dotted: Name = "john.doe".parse().unwrap();
        assert_eq!(dotted.stem(), "john__doe");
        let mut texts = vec!["a".to_owned()];
        let mut stems = std::collections::BTreeMap::new();
        for _ in 0..6 {
            texts =
                texts.iter().flat_map(|text| ["a", ".", "_"].map(|next| format!("{text}{next}"))).collect();
            for name in texts.iter().filter_map(|text| text.parse::<Name>().ok()) {
                assert_eq!(stems.insert(name.stem(), name.clone()), None, "{name}");
            }
        }
    }
}
