//! The patterns of filters: `*` and `?` are wildcards, a backslash takes their meaning away.

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
pub fn matches(pattern: &str, text: &str) -> bool {
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
    use super::matches;

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
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
