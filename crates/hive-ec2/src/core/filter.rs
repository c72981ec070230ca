//! Filters: `Filter.N.Name` and `Filter.N.Value.M`, matched the same way for every Describe.
//!
//! All filters must match, any value of a filter may. `*` and `?` are wildcards, a backslash takes their
//! meaning away. `tag:KEY`, `tag-key` and `tag-value` work on everything that has tags. A filter that a
//! Describe does not know is an error, never ignored: ignoring it would answer with too much.

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

use super::table::Listed;
use crate::model::account::Account;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Filter {
    pub name: String,
    #[serde(default)]
    pub value: Vec<String>,
}

/// A filter's name and the values that an item has under it.
pub type FilterRow<T> = (&'static str, fn(&T, &Account) -> Vec<String>);

pub fn names<T>(known: &'static [FilterRow<T>]) -> Vec<&'static str> {
    known.iter().map(|(name, _)| *name).collect()
}

/// The values of a filter on something that is always there.
pub fn one(value: impl ToString) -> Vec<String> {
    vec![value.to_string()]
}

/// The values of a filter on something that may be absent.
pub fn maybe(value: Option<impl ToString>) -> Vec<String> {
    value.map(|value| value.to_string()).into_iter().collect()
}

pub fn check<T>(filters: &[Filter], known: &[FilterRow<T>]) -> ApiResult<()> {
    for filter in filters {
        let name = filter.name.as_str();
        let tag = name.starts_with("tag:") || matches!(name, "tag-key" | "tag-value");
        if !tag && !known.iter().any(|(known, _)| *known == name) {
            return Err(ApiError::client("InvalidParameterValue", format!("The filter '{name}' is invalid")));
        }
        if filter.value.is_empty() {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("The filter '{name}' has no values"),
            ));
        }
    }
    Ok(())
}

pub fn matches<T: Listed>(item: &T, account: &Account, filters: &[Filter], known: &[FilterRow<T>]) -> bool {
    filters.iter().all(|filter| {
        let any = |value: &str| filter.value.iter().any(|pattern| wildcard(pattern, value));
        let tags = item.tags();
        match filter.name.as_str() {
            "tag-key" => tags.is_some_and(|tags| tags.iter().any(|(key, _)| any(key))),
            "tag-value" => tags.is_some_and(|tags| tags.iter().any(|(_, value)| any(value))),
            name => match name.strip_prefix("tag:") {
                Some(key) => tags.and_then(|tags| tags.get(key)).is_some_and(any),
                None => known
                    .iter()
                    .find(|(known, _)| *known == name)
                    .is_some_and(|(_, values)| values(item, account).iter().any(|value| any(value))),
            },
        }
    })
}

/// Whether a filter's value means more than itself.
pub fn is_pattern(value: &str) -> bool {
    value.contains(['*', '?', '\\'])
}

/// Whether `text` matches `pattern`; linear in time for any pattern (one step back at most per star).
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let Some(literal) = pattern.find(['*', '?', '\\']) else { return pattern == text };
    // What stands before the first wildcard decides most cases.
    let (Some(text), Some(pattern)) = (text.strip_prefix(&pattern[..literal]), pattern.get(literal..)) else {
        return false;
    };
    if pattern == "*" {
        return true;
    }
    #[derive(PartialEq, Clone, Copy)]
    enum Piece {
        Any,
        One,
        Is(char),
    }
    let mut pieces = Vec::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        pieces.push(match c {
            '*' => Piece::Any,
            '?' => Piece::One,
            '\\' => Piece::Is(characters.next().unwrap_or('\\')),
            other => Piece::Is(other),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pieces.get(p) {
            Some(Piece::Any) => {
                star = Some((p, t));
                p += 1;
            }
            Some(Piece::One) => {
                p += 1;
                t += 1;
            }
            Some(Piece::Is(c)) if *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pieces[p..].iter().all(|piece| *piece == Piece::Any)
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn wildcards() {
        for (pattern, text, expected) in [
            ("amzn2-ami-*", "amzn2-ami-minimal", true),
            ("*-ami-*-ebs", "amzn2-ami-x-ebs", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            (r"a\*c", "a*c", true),
            (r"a\*c", "abc", false),
            ("*", "", true),
            ("", "x", false),
            ("Name", "name", false),
            ("**b*", "aab", true),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }
}
