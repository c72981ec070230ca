//! Typed responses into EC2's XML, by serde: a struct's fields are elements, a list's members are `<item>`,
//! an absent option is no element at all.
//!
//! Deliberately small: maps, tuples and data-carrying enums do not occur in EC2 answers and are refused.

use std::fmt::{self, Write as _};

use serde::ser::{self, Serialize};

/// The content of the response element.
pub fn to_content<T: Serialize>(response: &T) -> Result<String, XmlError> {
    let mut out = String::with_capacity(4096);
    response.serialize(Writer { out: &mut out })?;
    Ok(out)
}

/// Appends `text` with markup characters escaped. XML 1.0 cannot carry most control characters: they become
/// U+FFFD rather than an answer that no parser accepts.
pub fn escape(text: &str, out: &mut String) {
    // Nearly all texts are plain: they are copied as a whole.
    if is_plain(text.as_bytes()) {
        out.push_str(text);
        return;
    }
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Printable ASCII without markup, looked at eight bytes at a time: most texts are ids of some twenty.
fn is_plain(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte that is wanted; also of bytes behind one, which does not matter.
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word & HIGH;
    let has = |word: u64, byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let special = |word: u64| {
        let outside = less(word, b' ') | ((word | word.wrapping_add(ONES)) & HIGH);
        outside | has(word, b'<') | has(word, b'>') | has(word, b'&') | has(word, b'"')
    };
    let word = |bytes: &[u8; 8]| special(u64::from_le_bytes(*bytes)) == 0;
    match bytes.last_chunk() {
        Some(last) => word(last) && bytes.as_chunks().0.iter().all(word),
        None => {
            let mut padded = [b' '; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            word(&padded)
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot be written as XML: {0}")]
pub struct XmlError(String);

impl ser::Error for XmlError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        XmlError(message.to_string())
    }
}

/// Whether anything was there to write: `None` takes its element away again.
#[derive(PartialEq)]
enum Wrote {
    Nothing,
    Content,
}

fn element<T: Serialize + ?Sized>(out: &mut String, name: &str, value: &T) -> Result<(), XmlError> {
    let start = out.len();
    out.reserve(2 * name.len() + 5);
    out.push('<');
    out.push_str(name);
    out.push('>');
    if value.serialize(Writer { out })? == Wrote::Nothing {
        out.truncate(start);
        return Ok(());
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
    Ok(())
}

struct Writer<'a> {
    out: &'a mut String,
}

/// The members of a list. The first tells about how much room the others need: a long list is then not copied again and
/// again while it grows.
struct Items<'a> {
    out: &'a mut String,
    /// Behind the first.
    others: usize,
}

/// The most that is reserved for members that are not written yet.
const MOST_RESERVED: usize = 1 << 20;

/// What is written piece by piece, escaped.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

macro_rules! plain {
    ($($method:ident $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<Wrote, XmlError> {
            self.collect_str(&value)
        }
    )*};
}

fn refuse<T>(what: &str) -> Result<T, XmlError> {
    Err(XmlError(format!("{what} has no form in EC2's XML")))
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = Wrote;
    type Error = XmlError;
    type SerializeSeq = Items<'a>;
    type SerializeStruct = Self;
    type SerializeTuple = ser::Impossible<Wrote, XmlError>;
    type SerializeTupleStruct = ser::Impossible<Wrote, XmlError>;
    type SerializeTupleVariant = ser::Impossible<Wrote, XmlError>;
    type SerializeMap = ser::Impossible<Wrote, XmlError>;
    type SerializeStructVariant = ser::Impossible<Wrote, XmlError>;

    plain!(serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_f32 f32,
        serialize_f64 f64);

    fn serialize_bool(self, value: bool) -> Result<Wrote, XmlError> {
        self.serialize_str(if value { "true" } else { "false" })
    }

    fn serialize_str(self, value: &str) -> Result<Wrote, XmlError> {
        escape(value, self.out);
        Ok(Wrote::Content)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<Wrote, XmlError> {
        write!(Escaped(self.out), "{value}").map_err(ser::Error::custom)?;
        Ok(Wrote::Content)
    }

    fn serialize_char(self, value: char) -> Result<Wrote, XmlError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_none(self) -> Result<Wrote, XmlError> {
        Ok(Wrote::Nothing)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Wrote, XmlError> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Wrote, XmlError> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Wrote, XmlError> {
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items<'a>, XmlError> {
        Ok(Items { out: self.out, others: length.unwrap_or_default().saturating_sub(1) })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, XmlError> {
        Ok(self)
    }

    fn serialize_unit(self) -> Result<Wrote, XmlError> {
        Ok(Wrote::Content)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Wrote, XmlError> {
        Ok(Wrote::Content)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Wrote, XmlError> {
        refuse("bytes")
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Wrote, XmlError> {
        refuse("a variant with data")
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, XmlError> {
        refuse("a tuple")
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, XmlError> {
        refuse("a tuple struct")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, XmlError> {
        refuse("a variant with data")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, XmlError> {
        refuse("a map")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, XmlError> {
        refuse("a variant with data")
    }
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = Wrote;
    type Error = XmlError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), XmlError> {
        let start = self.out.len();
        element(self.out, "item", value)?;
        let others = std::mem::take(&mut self.others).saturating_mul(self.out.len() - start);
        self.out.reserve(others.min(MOST_RESERVED));
        Ok(())
    }

    fn end(self) -> Result<Wrote, XmlError> {
        Ok(Wrote::Content)
    }
}

impl ser::SerializeStruct for Writer<'_> {
    type Ok = Wrote;
    type Error = XmlError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), XmlError> {
        element(self.out, name, value)
    }

    fn end(self) -> Result<Wrote, XmlError> {
        Ok(Wrote::Content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Response {
        vpc_set: Vec<Vpc>,
        next_token: Option<String>,
        empty_set: Vec<String>,
    }

    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Vpc {
        vpc_id: String,
        is_default: bool,
        size: Option<u32>,
    }

    #[test]
    fn what_needs_no_escape_is_seen_wherever_it_stands() {
        let special = |byte: u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'<' | b'>' | b'&' | b'"');
        for length in 1..=20 {
            for at in 0..length {
                for byte in 0..=255 {
                    let mut bytes = vec![b'a'; length];
                    bytes[at] = byte;
                    assert_eq!(is_plain(&bytes), !special(byte), "{byte} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn lists_are_items_and_none_is_absent() {
        let vpc = Vpc { vpc_id: "a<b>&\"\u{1}".into(), is_default: true, size: None };
        let text = to_content(&Response { vpc_set: vec![vpc], next_token: None, empty_set: vec![] }).unwrap();
        assert_eq!(
            text,
            "<vpcSet><item><vpcId>a&lt;b&gt;&amp;&quot;\u{fffd}</vpcId><isDefault>true</isDefault></item></vpcSet>\
             <emptySet></emptySet>"
        );
    }
}
