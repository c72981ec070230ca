//! One form of a key that is safe as the name of a file and as part of a NATS subject.
//!
//! Letters, digits, `-` and `_` stay as they are; every other byte becomes `=` and two hexadecimal digits. Two
//! keys never share a name, and the name gives the key back.

/// A path's longest form: a NATS server reads no line longer than 4096 bytes.
const LONGEST_PATH: usize = 1_000;
/// File systems allow 255 bytes to a name; what a store appends must fit too.
const LONGEST: usize = 240;

pub fn encode(key: &str) -> Result<String, &'static str> {
    if key.is_empty() {
        return Err("it is empty");
    }
    let mut name = String::with_capacity(key.len() + 8);
    escape(key, &mut name);
    if name.len() > LONGEST { Err("it is too long") } else { Ok(name) }
}

/// As [`encode`], with each `/` as a `.` that NATS can filter by. A part that is empty becomes a lone `=`.
pub fn encode_path(key: &str) -> Result<String, &'static str> {
    if key.is_empty() {
        return Err("it is empty");
    }
    let mut name = String::with_capacity(key.len() + 8);
    for (number, part) in key.split('/').enumerate() {
        if number > 0 {
            name.push('.');
        }
        if part.is_empty() {
            name.push('=');
        }
        escape(part, &mut name);
    }
    if name.len() > LONGEST_PATH { Err("it is too long") } else { Ok(name) }
}

pub fn decode_path(name: &str) -> Option<String> {
    let parts = name.split('.').map(|part| if part == "=" { Some(String::new()) } else { unescape(part) });
    let key = parts.collect::<Option<Vec<_>>>()?.join("/");
    (encode_path(&key).as_deref() == Ok(name)).then_some(key)
}

fn escape(part: &str, name: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => {
                let digits = [byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)]));
                name.push('=');
                name.extend(digits);
            }
        }
    }
}

/// None for what [`encode`] never makes.
pub fn decode(name: &str) -> Option<String> {
    let key = unescape(name)?;
    (encode(&key).as_deref() == Ok(name)).then_some(key)
}

fn unescape(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'=' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_path, encode, encode_path};

    #[test]
    fn a_path_keeps_its_parts() {
        for (key, name) in [("a/b.c", "a.b=2ec"), ("a//", "a.=.="), ("=", "=3d"), ("v/ä", "v.=c3=a4")] {
            assert_eq!(encode_path(key).as_deref(), Ok(name));
            assert_eq!(decode_path(name).as_deref(), Some(key));
        }
        assert!(decode_path("==writer.x").is_none() && decode_path("a..b").is_none());
    }

    #[test]
    fn a_name_gives_its_key_back() {
        for key in ["prod/grafana", "a.b", "=2f", "ä ö", "..", ".", "x"] {
            let name = encode(key).unwrap_or_default();
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b)), "{name}");
            assert_eq!(decode(&name).as_deref(), Some(key));
        }
        assert!(encode("").is_err() && encode(&"x".repeat(241)).is_err());
        assert!(decode("a/b").is_none() && decode("=2F").is_none() && decode("=2").is_none());
    }
}
