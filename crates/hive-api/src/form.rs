//! `application/x-www-form-urlencoded`, as a body or a query string: bounded, strict, no surprises.

use crate::error::{ApiError, ApiResult};

/// More parameters than any real request has (a RunInstances with everything set stays under 500), few
/// enough that a hostile one costs little.
pub const MAX_PARAMETERS: usize = 4_000;

/// Splits and decodes `a=1&b=2`. Order is kept; an empty piece (`&&`) is skipped.
pub fn parse(text: &[u8]) -> ApiResult<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for piece in text.split(|byte| *byte == b'&').filter(|piece| !piece.is_empty()) {
        if pairs.len() == MAX_PARAMETERS {
            return Err(ApiError::malformed_query(format!(
                "The request has more than {MAX_PARAMETERS} parameters"
            )));
        }
        let (name, value) = match piece.iter().position(|byte| *byte == b'=') {
            Some(at) => (&piece[..at], &piece[at + 1..]),
            None => (piece, &piece[piece.len()..]),
        };
        pairs.push((decode(name)?, decode(value)?));
    }
    Ok(pairs)
}

/// Percent-decodes one piece; `+` is a space. Control characters that XML could not carry back are refused.
pub fn decode(text: &[u8]) -> ApiResult<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digit = |byte: Option<&u8>| byte.and_then(|b| (*b as char).to_digit(16));
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
                    _ => {
                        return Err(ApiError::malformed_query(
                            "A % is not followed by two hexadecimal digits",
                        ));
                    }
                }
            }
            other => bytes.push(*other),
        }
    }
    let text =
        String::from_utf8(bytes).map_err(|_| ApiError::malformed_query("A parameter is not valid UTF-8"))?;
    let cannot_be_told = |c: char| match c {
        '\t' | '\n' | '\r' => false,
        c => c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'),
    };
    if text.chars().any(cannot_be_told) {
        return Err(ApiError::malformed_query("A parameter holds a control character"));
    }
    Ok(text)
}

/// RFC 3986 encoding as SigV4 wants it: everything but unreserved characters, upper-case hexadecimal.
pub fn encode(text: &str, into: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => into.push(byte as char),
            other => {
                into.push('%');
                into.push(HEX[(other >> 4) as usize] as char);
                into.push(HEX[(other & 15) as usize] as char);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_in_order_and_keeps_empty_values() {
        let pairs = parse(b"Action=RunInstances&Name=a%20b+c&Empty=&Flag").unwrap();
        let names: Vec<_> = pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(names, [("Action", "RunInstances"), ("Name", "a b c"), ("Empty", ""), ("Flag", "")]);
    }

    #[test]
    fn refuses_what_cannot_be_text() {
        for bad in [&b"a=%"[..], b"a=%zz", b"a=%00", b"a=%ff%fe", b"%0=1"] {
            assert_eq!(parse(bad).unwrap_err().code, "MalformedQueryString", "{bad:?}");
        }
    }

    #[test]
    fn bounds_the_number_of_parameters() {
        let many = vec!["a=1"; MAX_PARAMETERS + 1].join("&");
        assert_eq!(parse(many.as_bytes()).unwrap_err().code, "MalformedQueryString");
        assert_eq!(parse(&many.as_bytes()[4..]).unwrap().len(), MAX_PARAMETERS);
    }
}
