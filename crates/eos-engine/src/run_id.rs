//! The name of a run: when it began and a few random digits, so that names sort by time.

use std::fmt;
use std::str::FromStr;

use eos_model::date;
use serde::{Deserialize, Serialize};

/// `20261116-071229-3f2a`
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// A text that does not name a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the name of a run, which looks like 20261116-071229-3f2a")]
pub struct BadRunId(pub String);

impl RunId {
    /// The name of a run that begins `now`, in seconds since 1970.
    pub fn new(now: i64, random: u16) -> RunId {
        let digits: String = date::rfc3339(now).chars().filter(char::is_ascii_digit).collect();
        let (day, time) = digits.split_at(8);
        RunId(format!("{day}-{time}-{random:04x}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = BadRunId;
    fn from_str(text: &str) -> Result<RunId, BadRunId> {
        let is = |part: Option<&str>, length: usize, of: fn(&char) -> bool| {
            part.is_some_and(|part| part.len() == length && part.chars().all(|c| of(&c)))
        };
        let mut parts = text.split('-');
        let good = is(parts.next(), 8, char::is_ascii_digit)
            && is(parts.next(), 6, char::is_ascii_digit)
            && is(parts.next(), 4, char::is_ascii_hexdigit)
            && parts.next().is_none();
        if good { Ok(RunId(text.to_owned())) } else { Err(BadRunId(text.to_owned())) }
    }
}

impl TryFrom<String> for RunId {
    type Error = BadRunId;
    fn try_from(text: String) -> Result<RunId, BadRunId> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> String {
        run.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_read_back() {
        let early = RunId::new(1_794_803_400, 0xffff);
        let late = RunId::new(1_794_803_401, 0);
        assert_eq!(early.as_str(), "20261116-043000-ffff");
        assert!(early < late);
        assert_eq!(late.as_str().parse::<RunId>(), Ok(late.clone()));
        for bad in ["", "../../etc", "20261116-043000", "20261116-043000-ffff-1", "20261116-043000-ffzz"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }
}
