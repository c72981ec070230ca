//! The lock file of a tool from PyPI: each package it needs, one version, and the sums of its files. `locks/make` makes it.
//!
//! It is a requirements file as pip reads it, of entries such as `name==1.0 ; marker \` with a line `--hash=sha256:…` a file.

use crate::digest;

/// Of the tools of the pinned table, by name.
pub(crate) const PINNED: &[(&str, &str)] = &[
    ("aws", include_str!("../locks/aws.txt")),
    ("nats-server", include_str!("../locks/nats-server.txt")),
    ("salt", include_str!("../locks/salt.txt")),
];

#[derive(Debug, Clone, Default)]
pub(crate) struct LockFile {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    /// `name==version`, without its marker.
    package: String,
    text: String,
}

impl LockFile {
    /// Refuses what pip would take from elsewhere or without a sum: options, addresses, open versions.
    pub fn parse(text: &str) -> Result<LockFile, String> {
        let joined = text.replace("\\\n", " ");
        joined
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(Entry::parse)
            .collect::<Result<_, _>>()
            .map(|entries| LockFile { entries })
    }

    /// Whether it holds this package in this version: `salt==3008.3`.
    pub fn holds(&self, package: &str) -> bool {
        self.entries.iter().any(|entry| entry.package == package)
    }

    pub fn names(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// The entries for which `wanted` says yes to their name, as a file for pip.
    pub fn requirements(&self, wanted: impl Fn(&str) -> bool) -> String {
        self.entries.iter().filter(|entry| wanted(&entry.name)).map(|entry| entry.text.as_str()).collect()
    }
}

impl Entry {
    fn parse(line: &str) -> Result<Entry, String> {
        let mut words = line.split_whitespace();
        let package = words.next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        let name = match package.split_once("==") {
            Some((name, version))
                if [name, version].iter().all(|part| !part.is_empty() && part.chars().all(plain)) =>
            {
                name
            }
            _ => return Err(format!("the lock file has `{package}`, which is no package in one version")),
        };
        let mut sums = words.filter_map(|word| word.strip_prefix("--hash=sha256:")).peekable();
        if sums.peek().is_none() {
            return Err(format!("{package} has no sha256 in the lock file"));
        }
        if let Some(bad) = sums.find(|sum| !digest::is_sum(sum)) {
            return Err(format!("{bad} is no sha256"));
        }
        Ok(Entry { name: name.to_owned(), package: package.to_owned(), text: format!("{}\n", line.trim()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_of_a_lock_file_has_one_version_and_sums() {
        let sum = "ab".repeat(32);
        let lock = LockFile::parse(&format!(
            "a==1.0 ; python_full_version < '3.11' \\\n    --hash=sha256:{sum} \\\n    --hash=sha256:{sum}\n\
             b==2.0 \\\n    --hash=sha256:{sum}\n"
        ))
        .unwrap();
        assert!(lock.holds("a==1.0") && lock.names("b") && !lock.holds("b==1.0"));
        let only_a = lock.requirements(|name| name == "a");
        assert!(only_a.starts_with("a==1.0 ; python_full_version < '3.11'") && only_a.ends_with('\n'));
        assert_eq!((only_a.matches(&sum).count(), only_a.lines().count()), (2, 1));
        for (bad, why) in [
            (format!("a>=1.0 --hash=sha256:{sum}"), "no package in one version"),
            (format!("--index-url https://x --hash=sha256:{sum}"), "no package in one version"),
            (format!("a @ https://x/a.whl --hash=sha256:{sum}"), "no package in one version"),
            ("a==1.0".to_owned(), "a==1.0 has no sha256"),
            ("a==1.0 --hash=sha256:abc".to_owned(), "abc is no sha256"),
        ] {
            let told = LockFile::parse(&bad).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
