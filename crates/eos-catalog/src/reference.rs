//! References in catalogue texts: `@{setting.port}`, `@{setting.nodes|join ,}`.

use std::fmt;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    Text(String),
    Reference(Reference),
}

/// A reference to a value: a root word, the rest of its path, and a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub root: String,
    /// Everything behind the first dot; file names have dots of their own.
    pub rest: String,
    pub filter: Option<Filter>,
}

/// What is done to a value before it is put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    Bytes,
    Join(String),
    Json,
    Megabytes,
    Seconds,
    Url,
}

/// A text whose references cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadText(pub String);

impl fmt::Display for BadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadText {}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{{{}", self.root)?;
        if !self.rest.is_empty() {
            write!(f, ".{}", self.rest)?;
        }
        f.write_str("}")
    }
}

/// Splits a text into its pieces.
pub fn parse(text: &str) -> Result<Vec<Segment>, BadText> {
    let mut segments = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("@{") {
        if rest[..at].ends_with('@') {
            literal.push_str(&rest[..at - 1]);
            literal.push_str("@{");
            rest = &rest[at + 2..];
            continue;
        }
        literal.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let end = inner.find('}').ok_or_else(|| BadText(format!("a reference is not closed in {text:?}")))?;
        if !literal.is_empty() {
            segments.push(Segment::Text(std::mem::take(&mut literal)));
        }
        segments.push(Segment::Reference(parse_reference(&inner[..end])?));
        rest = &inner[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() || segments.is_empty() {
        segments.push(Segment::Text(literal));
    }
    Ok(segments)
}

fn parse_reference(inner: &str) -> Result<Reference, BadText> {
    let (path, filter) = match inner.split_once('|') {
        None => (inner, None),
        Some((path, filter)) => (path, Some(parse_filter(filter)?)),
    };
    let (root, rest) = path.split_once('.').unwrap_or((path, ""));
    if root.is_empty() || path.contains(char::is_whitespace) {
        return Err(BadText(format!("@{{{inner}}} is not a reference")));
    }
    Ok(Reference { root: root.to_owned(), rest: rest.to_owned(), filter })
}

fn parse_filter(text: &str) -> Result<Filter, BadText> {
    match text {
        "bytes" => Ok(Filter::Bytes),
        "json" => Ok(Filter::Json),
        "megabytes" => Ok(Filter::Megabytes),
        "seconds" => Ok(Filter::Seconds),
        "url" => Ok(Filter::Url),
        other => match other.strip_prefix("join ") {
            Some(separator) => Ok(Filter::Join(separator.to_owned())),
            None => Err(BadText(format!(
                "unknown filter {other:?}; there are bytes, join, json, megabytes, seconds, url"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(root: &str, rest: &str, filter: Option<Filter>) -> Segment {
        Segment::Reference(Reference { root: root.into(), rest: rest.into(), filter })
    }

    #[test]
    fn texts_split_into_pieces() {
        assert_eq!(parse("plain").unwrap(), [Segment::Text("plain".into())]);
        assert_eq!(parse("").unwrap(), [Segment::Text(String::new())]);
        assert_eq!(parse("@{setting.port}").unwrap(), [reference("setting", "port", None)]);
        assert_eq!(
            parse("--x=@{file.a.yml} @@{y}").unwrap(),
            [Segment::Text("--x=".into()), reference("file", "a.yml", None), Segment::Text(" @{y}".into())]
        );
        assert_eq!(
            parse("@{setting.a|join ,}").unwrap(),
            [reference("setting", "a", Some(Filter::Join(",".into())))]
        );
    }

    #[test]
    fn broken_references_are_refused() {
        for bad in ["@{", "@{}", "@{setting.x", "@{a b}", "@{setting.x|shout}"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
