//! Wildcards mean what the plain definition says, whatever the pattern.
#![no_main]

use hive_api::pattern::matches;
use libfuzzer_sys::fuzz_target;

/// The definition: slow, and easy to believe.
fn means(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|from| means(rest, &text[from..])),
        ['?', rest @ ..] => !text.is_empty() && means(rest, &text[1..]),
        ['\\', c, rest @ ..] => text.first() == Some(c) && means(rest, &text[1..]),
        [c, rest @ ..] => text.first() == Some(c) && means(rest, &text[1..]),
    }
}

fuzz_target!(|input: (String, String)| {
    let (pattern, text) = input;
    let answer = matches(&pattern, &text);
    let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // The definition takes exponential time; the answer above did not.
    if p.iter().filter(|c| **c == '*').count() <= 4 && t.len() <= 24 && p.len() <= 24 {
        assert_eq!(answer, means(&p, &t), "{pattern:?} {text:?}");
    }
});
