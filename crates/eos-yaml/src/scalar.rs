//! What a plain (unquoted) scalar means to Salt 3008: the YAML 1.1 rules of PyYAML's resolver and constructor,
//! and Salt's own step before them, which drops leading zeros of an unsigned integer.
//!
//! Deliberately as odd as Salt: `0755` is 755 but `-0755` is -493, `1:30` is 90, `1e3` is text.

/// The meaning of a plain scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text,
    /// Text to Salt, but a date to others.
    Timestamp,
    /// `<<`: merges as a key, and breaks Salt anywhere else.
    Merge,
    /// `=`: text as a key, and breaks Salt anywhere else.
    Equals,
    /// An integer beyond 64 bits, which Salt reads and eos does not.
    TooLarge,
    /// It looks like an integer and has no digits (`0_`, `0x_`): Salt ends with a Python error.
    NoDigits,
}

pub(crate) fn meaning(text: &str) -> Meaning {
    let Some(first) = text.bytes().next() else { return Meaning::Null };
    match first {
        b'~' | b'n' | b'N' if matches!(text, "~" | "null" | "Null" | "NULL") => Meaning::Null,
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => boolean(text),
        b'<' if text == "<<" => Meaning::Merge,
        b'=' if text == "=" => Meaning::Equals,
        b'0'..=b'9' | b'-' | b'+' | b'.' => number(text),
        _ => Meaning::Text,
    }
}

fn boolean(text: &str) -> Meaning {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Meaning::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Meaning::Bool(false),
        _ => Meaning::Text,
    }
}

fn number(text: &str) -> Meaning {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if is_float(text, unsigned) {
        return Meaning::Float(float(text, unsigned));
    }
    if is_int(unsigned) {
        return int(text);
    }
    if is_timestamp(text) { Meaning::Timestamp } else { Meaning::Text }
}

/// The leading run of bytes that `wanted` accepts, and the rest.
fn take(text: &str, wanted: impl Fn(u8) -> bool) -> (&str, &str) {
    text.split_at(text.bytes().position(|byte| !wanted(byte)).unwrap_or(text.len()))
}

fn is_digit_or_underscore(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

/// A digit, then digits and underscores.
fn starts_with_digits(text: &str) -> Option<&str> {
    let (digits, rest) = take(text, is_digit_or_underscore);
    digits.starts_with(|c: char| c.is_ascii_digit()).then_some(rest)
}

/// One or more `:NN`, each below 60; the rest.
fn sixties(mut text: &str) -> Option<&str> {
    let mut some = false;
    while let Some(rest) = text.strip_prefix(':') {
        let (digits, rest) = take(rest, |byte| byte.is_ascii_digit());
        let fits = match digits.as_bytes() {
            [_] => true,
            [tens, _] => *tens <= b'5',
            _ => false,
        };
        if !fits {
            return None;
        }
        (some, text) = (true, rest);
    }
    some.then_some(text)
}

/// Nothing, or an exponent with its sign: PyYAML wants one.
fn is_exponent(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(['e', 'E'])
            .and_then(|rest| rest.strip_prefix(['-', '+']))
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_float(text: &str, unsigned: &str) -> bool {
    if let Some(rest) = unsigned.strip_prefix('.') {
        return matches!(rest, "inf" | "Inf" | "INF")
            || matches!(text, ".nan" | ".NaN" | ".NAN")
            || (text == unsigned && starts_with_digits(rest).is_some_and(is_exponent));
    }
    let Some(rest) = starts_with_digits(unsigned) else { return false };
    if let Some(rest) = rest.strip_prefix('.') {
        return is_exponent(take(rest, is_digit_or_underscore).1);
    }
    sixties(rest)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|rest| rest.bytes().all(is_digit_or_underscore))
}

fn float(text: &str, unsigned: &str) -> f64 {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let plain = unsigned.replace('_', "").to_ascii_lowercase();
    match plain.as_str() {
        ".inf" => return sign * f64::INFINITY,
        ".nan" => return f64::NAN,
        _ => {}
    }
    let (mut value, mut base) = (0.0, 1.0);
    for part in plain.rsplit(':') {
        // The shape was checked, so that this always parses.
        value += part.parse::<f64>().unwrap_or(f64::NAN) * base;
        base *= 60.0;
    }
    // The sign comes last, as in PyYAML: so -0.0 stays negative.
    sign * value
}

fn is_int(unsigned: &str) -> bool {
    let all = |text: &str, wanted: fn(u8) -> bool| !text.is_empty() && text.bytes().all(wanted);
    if let Some(rest) = unsigned.strip_prefix('0') {
        return rest.is_empty()
            || all(rest, |byte| matches!(byte, b'0'..=b'7' | b'_'))
            || rest
                .strip_prefix('b')
                .is_some_and(|bits| all(bits, |byte| matches!(byte, b'0' | b'1' | b'_')))
            || rest
                .strip_prefix('x')
                .is_some_and(|hex| all(hex, |byte| byte.is_ascii_hexdigit() || byte == b'_'));
    }
    starts_with_digits(unsigned).is_some_and(|rest| rest.is_empty() || sixties(rest) == Some(""))
}

fn int(text: &str) -> Meaning {
    // Salt's step: an unsigned number with leading zeros loses them before PyYAML looks.
    let text = match text {
        "0" => text,
        _ if text.starts_with('0') && !text.starts_with("0b") && !text.starts_with("0x") => {
            match text.trim_start_matches('0') {
                "" => "0",
                rest => rest,
            }
        }
        _ => text,
    };
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix(['-', '+']) {
        Some(rest) => (plain.starts_with('-'), rest),
        None => (false, plain.as_str()),
    };
    let (digits, radix) = match digits {
        "0" => ("0", 10),
        _ if digits.starts_with("0b") => (&digits[2..], 2),
        _ if digits.starts_with("0x") => (&digits[2..], 16),
        _ if digits.starts_with('0') => (digits, 8),
        _ => (digits, 10),
    };
    if digits.is_empty() {
        return Meaning::NoDigits;
    }
    let mut total: i128 = 0;
    for part in digits.split(':') {
        // Horner's rule; without a colon there is one part.
        let next = i128::from_str_radix(part, radix)
            .ok()
            .and_then(|part| total.checked_mul(60).and_then(|total| total.checked_add(part)));
        match next {
            Some(next) => total = next,
            None => return Meaning::TooLarge,
        }
    }
    i64::try_from(if negative { -total } else { total }).map_or(Meaning::TooLarge, Meaning::Int)
}

/// `2001-01-01`, or with one or two digits for month and day when a time follows.
fn is_timestamp(text: &str) -> bool {
    let (year, rest) = take(text, |byte| byte.is_ascii_digit());
    let Some((month, rest)) = rest.strip_prefix('-').map(|rest| take(rest, |byte| byte.is_ascii_digit()))
    else {
        return false;
    };
    let Some((day, rest)) = rest.strip_prefix('-').map(|rest| take(rest, |byte| byte.is_ascii_digit()))
    else {
        return false;
    };
    // Times are not looked at closely: this only decides whether eos quotes what it writes.
    year.len() == 4
        && matches!(month.len(), 1 | 2)
        && matches!(day.len(), 1 | 2)
        && (rest.is_empty() || rest.starts_with(['T', 't', ' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_mean_what_salt_says() {
        for (text, wanted) in [
            ("", Meaning::Null),
            ("~", Meaning::Null),
            ("nULL", Meaning::Text),
            ("yes", Meaning::Bool(true)),
            ("Off", Meaning::Bool(false)),
            ("y", Meaning::Text),
            ("0755", Meaning::Int(755)),
            ("-0755", Meaning::Int(-493)),
            ("+010", Meaning::Int(8)),
            ("000", Meaning::Int(0)),
            ("0_010", Meaning::Int(8)),
            ("089", Meaning::Text),
            ("0o7", Meaning::Text),
            ("0x_fF", Meaning::Int(255)),
            ("-0b101", Meaning::Int(-5)),
            ("1_000", Meaning::Int(1000)),
            ("1:30", Meaning::Int(90)),
            ("-190:20:30", Meaning::Int(-685_230)),
            ("1:60", Meaning::Text),
            ("9223372036854775807", Meaning::Int(i64::MAX)),
            ("-9223372036854775808", Meaning::Int(i64::MIN)),
            ("9223372036854775808", Meaning::TooLarge),
            ("0_", Meaning::NoDigits),
            ("0x_", Meaning::NoDigits),
            ("1e3", Meaning::Text),
            ("1.0e3", Meaning::Text),
            ("1.e+3", Meaning::Float(1000.0)),
            (".5", Meaning::Float(0.5)),
            ("+.5", Meaning::Text),
            ("1:30.5", Meaning::Float(90.5)),
            ("-.INF", Meaning::Float(f64::NEG_INFINITY)),
            ("-.nan", Meaning::Text),
            ("10.0.0.1", Meaning::Text),
            ("2001-01-01", Meaning::Timestamp),
            ("-", Meaning::Text),
            ("<<", Meaning::Merge),
            ("=", Meaning::Equals),
        ] {
            assert_eq!(meaning(text), wanted, "{text}");
        }
        assert!(matches!(meaning(".NaN"), Meaning::Float(number) if number.is_nan()));
        assert!(matches!(meaning("-0.0"), Meaning::Float(number) if number.is_sign_negative()));
    }
}
