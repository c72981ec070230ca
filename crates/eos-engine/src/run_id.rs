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

    /// The same, and it sorts behind `latest` also when both begin within a second.
    pub fn after(latest: Option<&RunId>, now: i64, random: u16) -> RunId {
        let fresh = RunId::new(now, random);
        let Some(latest) = latest.filter(|latest| fresh <= **latest) else { return fresh };
        // A second that is full goes on in the next one.
        for second in [now, now + 1] {
            let first = RunId::new(second, 0);
            let digits = latest.0.strip_prefix(&first.0[..first.0.len() - 4]);
            let Some(last) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else { continue };
            return match u16::MAX - last {
                0 => RunId::new(second + 1, random),
                left => RunId::new(second, last + 1 + random % left),
            };
        }
        fresh
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
    fn a_later_run_sorts_behind_an_earlier_one_of_the_same_second() {
        let mut latest = RunId::new(1_794_813_149, 0xfff0);
        for random in [0, 7, 0xffff, 3, 0x8000, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] {
            let next = RunId::after(Some(&latest), 1_794_813_149, random);
            assert!(next > latest, "{next} {latest}");
            latest = next;
        }
        assert_eq!(RunId::after(None, 0, 1), RunId::new(0, 1));
    }

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
