//! How a text is written on one line: plain where nothing could take it for something else, else quoted.

use crate::scalar::{Meaning, meaning};

/// Jinja's openings, and the text is not to hold any when Salt renders the file.
pub(crate) fn has_jinja(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|opening| text.contains(opening))
}

/// A character that may stand unescaped inside single quotes or a block.
pub(crate) fn is_printable(character: char) -> bool {
    matches!(character,
        ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// The text on one line, as a key or a value.
pub(crate) fn inline(text: &str) -> String {
    if is_safe_plain(text) {
        text.to_owned()
    } else if text.chars().all(is_printable) && !has_jinja(text) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        double_quoted(text)
    }
}

/// Conservative: what is not surely text to every reader is quoted.
fn is_safe_plain(text: &str) -> bool {
    let mut characters = text.chars();
    let starts_well = characters.next().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_'));
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, ' ' | '/' | '_' | '-' | '.' | '+' | '@' | ':' | '=' | ',' | '(' | ')' | '~')
    };
    starts_well
        && characters.all(plain)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && meaning(text) == Meaning::Text
        && !means_more_elsewhere(text)
}

/// Text to Salt, but not to every reader of YAML 1.1 or 1.2.
fn means_more_elsewhere(text: &str) -> bool {
    text.parse::<f64>().is_ok()
        || text.starts_with("0o")
        || matches!(text, "y" | "Y" | "n" | "N" | "nan" | "inf")
        // Dates and times of any kind.
        || (text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(':'))
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Jinja reads the source and sees no opening; YAML gives the brace back.
            '{' if matches!(rest.peek(), Some('{' | '%' | '#')) => out.push_str("\\x7B"),
            _ if is_printable(character) => out.push(character),
            _ => match u32::from(character) {
                code @ 0..=0xff => out.push_str(&format!("\\x{code:02X}")),
                code @ 0x100..=0xffff => out.push_str(&format!("\\u{code:04X}")),
                code => out.push_str(&format!("\\U{code:08X}")),
            },
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_could_be_taken_for_something_else_are_quoted() {
        for (text, wanted) in [
            ("postgres", "postgres"),
            ("http://localhost:8080/x", "http://localhost:8080/x"),
            ("10.0.0.1", "10.0.0.1"),
            ("yes", "'yes'"),
            ("0755", "'0755'"),
            ("1:30", "'1:30'"),
            ("1e3", "'1e3'"),
            ("0o7", "'0o7'"),
            ("2001-01-01", "'2001-01-01'"),
            ("", "''"),
            ("it's", "'it''s'"),
            ("a: b", "'a: b'"),
            ("a #b", "'a #b'"),
            (" a", "' a'"),
            ("-", "'-'"),
            ("{{ x }}", "\"\\x7B{ x }}\""),
            ("{{{", "\"\\x7B\\x7B{\""),
            ("a\nb", "\"a\\nb\""),
            ("\u{2028}", "\"\\u2028\""),
            ("\u{7f}", "\"\\x7F\""),
        ] {
            assert_eq!(inline(text), wanted);
        }
    }
}
