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

/// What a filter looks at.
enum Subject<T> {
    Tag(String),
    TagKey,
    TagValue,
    Row(fn(&T, &Account) -> Vec<String>),
}

/// The filters of one request, checked and looked up once for all items.
pub struct Matcher<'a, T>(Vec<(Subject<T>, &'a [String])>);

impl<'a, T: Listed> Matcher<'a, T> {
    pub fn new(filters: &'a [Filter], known: &[FilterRow<T>]) -> ApiResult<Self> {
        let invalid = |message: String| ApiError::client("InvalidParameterValue", message);
        let mut subjects = Vec::with_capacity(filters.len());
        for Filter { name, value } in filters {
            let subject = match (name.as_str(), name.strip_prefix("tag:")) {
                ("tag-key", _) => Subject::TagKey,
                ("tag-value", _) => Subject::TagValue,
                (_, Some(key)) => Subject::Tag(key.to_owned()),
                (name, None) => match known.iter().find(|(known, _)| *known == name) {
                    Some((_, values)) => Subject::Row(*values),
                    None => return Err(invalid(format!("The filter '{name}' is invalid"))),
                },
            };
            if value.is_empty() {
                return Err(invalid(format!("The filter '{name}' has no values")));
            }
            subjects.push((subject, value.as_slice()));
        }
        Ok(Self(subjects))
    }

    pub fn matches(&self, item: &T, account: &Account) -> bool {
        self.0.iter().all(|(subject, patterns)| {
            let any = |value: &str| patterns.iter().any(|pattern| wildcard(pattern, value));
            let mut tags = item.tags().into_iter().flat_map(|tags| tags.iter());
            match subject {
                Subject::TagKey => tags.any(|(key, _)| any(key)),
                Subject::TagValue => tags.any(|(_, value)| any(value)),
                Subject::Tag(key) => item.tags().and_then(|tags| tags.get(key)).is_some_and(any),
                Subject::Row(values) => values(item, account).iter().any(|value| any(value)),
            }
        })
    }
}

const WILDCARDS: [char; 3] = ['*', '?', '\\'];

/// What every text begins with that matches; None if the pattern means nothing but itself.
pub fn literal_beginning(pattern: &str) -> Option<&str> {
    pattern.find(WILDCARDS).and_then(|end| pattern.get(..end))
}

/// Whether a filter's value means more than itself.
pub fn is_pattern(value: &str) -> bool {
    value.contains(WILDCARDS)
}

/// Whether `text` matches `pattern`; a star is tried again at most once for each character, and nothing is copied.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let Some(beginning) = literal_beginning(pattern) else { return pattern == text };
    // What stands before the first wildcard decides most cases.
    let Some(text) = text.strip_prefix(beginning) else { return false };
    let pattern = &pattern[beginning.len()..];
    // One star and nothing else: by far the most patterns.
    if let Some(end) = pattern.strip_prefix('*').filter(|end| !is_pattern(end)) {
        return text.ends_with(end);
    }
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Behind the last star, and where in the text it was tried.
    let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut rest = pattern.clone();
        let wanted = match rest.next() {
            Some('*') => {
                star = Some((rest.clone(), text.clone()));
                pattern = rest;
                continue;
            }
            None if text.as_str().is_empty() => return true,
            // A star at the end takes the rest.
            None if star.as_ref().is_some_and(|(after, _)| after.as_str().is_empty()) => return true,
            None => None,
            Some('?') => Some(None),
            Some('\\') => Some(Some(rest.next().unwrap_or('\\'))),
            Some(other) => Some(Some(other)),
        };
        let mut further = text.clone();
        let fits = match (wanted, further.next()) {
            (Some(None), Some(_)) => true,
            (Some(Some(wanted)), Some(found)) => wanted == found,
            _ => false,
        };
        if fits {
            (pattern, text) = (rest, further);
            continue;
        }
        let Some((after, tried)) = &mut star else { return false };
        if tried.next().is_none() {
            return false;
        }
        (pattern, text) = (after.clone(), tried.clone());
    }
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
            ("*ab", "aab", true),
            ("*b", "ba", false),
            ("*?", "", false),
            ("a*?", "aé", true),
            ("é?*x", "éüx", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-c-b", false),
            (r"a*\*", "ab*", true),
            (r"a*\*", "ab", false),
            ("a\\", "a\\", true),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }
}
