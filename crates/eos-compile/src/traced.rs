//! Data on its way into an artifact, each value with where it comes from.

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::origin::Origin;

/// A value with its origins.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    pub value: TracedValue,
    pub origins: Vec<Origin>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TracedValue {
    /// Anything nothing in which has an origin of its own.
    Plain(Json),
    List(Vec<Traced>),
    /// In the order of writing. Mappings of artifacts are small: looking through one beats hashing its keys.
    Map(Vec<(Key, Traced)>),
}

/// A key of a mapping; most are words of the emitters.
pub type Key = Cow<'static, str>;

/// Lines of a written document with the origins of what is on them.
pub type Lines = Vec<(u32, Vec<Origin>)>;

impl Traced {
    pub fn scalar(value: impl Into<Json>, origins: Vec<Origin>) -> Traced {
        Traced { value: TracedValue::Plain(value.into()), origins }
    }

    pub fn list(items: Vec<Traced>) -> Traced {
        Traced { value: TracedValue::List(items), origins: Vec::new() }
    }

    pub fn map() -> Traced {
        Traced { value: TracedValue::Map(Vec::new()), origins: Vec::new() }
    }

    /// A mapping of words that the emitters know, each once.
    pub fn fields<const N: usize>(fields: [(&'static str, Traced); N]) -> Traced {
        let entries = fields.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect();
        Traced { value: TracedValue::Map(entries), origins: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        match &self.value {
            TracedValue::Plain(Json::Array(items)) => items.is_empty(),
            TracedValue::Plain(Json::Object(entries)) => entries.is_empty(),
            TracedValue::Plain(json) => json.is_null(),
            TracedValue::List(items) => items.is_empty(),
            TracedValue::Map(entries) => entries.is_empty(),
        }
    }

    /// Sets a key of a mapping; on anything else it does nothing.
    pub fn set(&mut self, key: impl Into<Key>, value: impl Into<Traced>) -> &mut Traced {
        if let TracedValue::Plain(Json::Object(entries)) = &mut self.value {
            let entries = std::mem::take(entries).into_iter();
            self.value = TracedValue::Map(entries.map(|(key, value)| (key.into(), value.into())).collect());
        }
        if let TracedValue::Map(entries) = &mut self.value {
            let (key, value) = (key.into(), value.into());
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, slot)) => *slot = value,
                None => entries.push((key, value)),
            }
        }
        self
    }

    /// [`Traced::set`] for building a mapping in one expression.
    pub fn with(mut self, key: impl Into<Key>, value: impl Into<Traced>) -> Traced {
        self.set(key, value);
        self
    }

    pub fn to_json(&self) -> Json {
        match &self.value {
            TracedValue::Plain(json) => json.clone(),
            TracedValue::List(items) => Json::Array(items.iter().map(Traced::to_json).collect()),
            TracedValue::Map(entries) => {
                Json::Object(entries.iter().map(|(k, v)| (k.clone().into_owned(), v.to_json())).collect())
            }
        }
    }

    /// Indented JSON and the lines that have origins.
    pub fn write_json(self) -> (String, Lines) {
        let mut writer = JsonWriter { text: Vec::with_capacity(4096), line: 1, lines: Vec::new() };
        writer.traced(self, 0);
        writer.text.push(b'\n');
        (String::from_utf8(writer.text).unwrap_or_default(), writer.lines)
    }

    /// Plain sls and the lines that have origins.
    pub fn write_sls(&self) -> (String, Lines) {
        let (text, places) = eos_yaml::write_with_lines(&self.to_json());
        let mut lines = Vec::new();
        // The first line is the renderer's.
        collect_lines(self, &mut places.into_iter().map(|line| line + 1), &mut lines);
        (format!("#!yaml\n{text}"), merge_lines(lines))
    }
}

impl<T: Into<Json>> From<T> for Traced {
    fn from(value: T) -> Traced {
        Traced::scalar(value, Vec::new())
    }
}

struct JsonWriter {
    text: Vec<u8>,
    line: u32,
    lines: Lines,
}

impl JsonWriter {
    fn newline(&mut self, depth: usize) {
        self.text.push(b'\n');
        self.line += 1;
        self.text.resize(self.text.len() + 2 * depth, b' ');
    }

    /// Straight into the text; writing to memory cannot fail.
    fn scalar(&mut self, value: &Json) {
        match value {
            Json::String(text) => self.string(text),
            other => {
                let _ = serde_json::to_writer(&mut self.text, other);
            }
        }
    }

    /// Most texts need no escaping.
    fn string(&mut self, text: &str) {
        if needs_escape(text) {
            let _ = serde_json::to_writer(&mut self.text, text);
        } else {
            self.text.push(b'"');
            self.text.extend_from_slice(text.as_bytes());
            self.text.push(b'"');
        }
    }

    fn traced(&mut self, traced: Traced, depth: usize) {
        if !traced.origins.is_empty() {
            self.lines.push((self.line, traced.origins));
        }
        match traced.value {
            TracedValue::Plain(json) => self.plain(&json, depth),
            TracedValue::List(items) => self.list(items.into_iter(), depth, JsonWriter::traced),
            TracedValue::Map(entries) => self.map(entries.into_iter(), depth, JsonWriter::traced),
        }
    }

    fn plain(&mut self, json: &Json, depth: usize) {
        match json {
            Json::Array(items) => self.list(items.iter(), depth, JsonWriter::plain),
            Json::Object(entries) => self.map(entries.iter(), depth, JsonWriter::plain),
            scalar => self.scalar(scalar),
        }
    }

    fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        depth: usize,
        write: fn(&mut JsonWriter, T, usize),
    ) {
        let is_empty = items.len() == 0;
        self.text.push(b'[');
        for (index, item) in items.enumerate() {
            self.separate(index, depth + 1);
            write(self, item, depth + 1);
        }
        if !is_empty {
            self.newline(depth);
        }
        self.text.push(b']');
    }

    fn map<T>(
        &mut self,
        entries: impl ExactSizeIterator<Item = (impl AsRef<str>, T)>,
        depth: usize,
        write: fn(&mut JsonWriter, T, usize),
    ) {
        let is_empty = entries.len() == 0;
        self.text.push(b'{');
        for (index, (key, value)) in entries.enumerate() {
            self.separate(index, depth + 1);
            self.string(key.as_ref());
            self.text.extend_from_slice(b": ");
            write(self, value, depth + 1);
        }
        if !is_empty {
            self.newline(depth);
        }
        self.text.push(b'}');
    }

    fn separate(&mut self, index: usize, depth: usize) {
        if index > 0 {
            self.text.push(b',');
        }
        self.newline(depth);
    }
}

/// Whether JSON writes a text otherwise than it is.
pub fn needs_escape(text: &str) -> bool {
    text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
}

/// Walks a value as the writer did, a value before those in it.
fn collect_lines(traced: &Traced, places: &mut impl Iterator<Item = u32>, lines: &mut Lines) {
    match &traced.value {
        TracedValue::Plain(json) => {
            let line = skip(json, places);
            if !traced.origins.is_empty() {
                lines.push((line, traced.origins.clone()));
            }
        }
        TracedValue::List(items) => {
            collect_own(traced, places, lines);
            items.iter().for_each(|item| collect_lines(item, places, lines));
        }
        TracedValue::Map(entries) => {
            collect_own(traced, places, lines);
            entries.iter().for_each(|(_, value)| collect_lines(value, places, lines));
        }
    }
}

fn collect_own(traced: &Traced, places: &mut impl Iterator<Item = u32>, lines: &mut Lines) {
    let line = places.next().unwrap_or_default();
    if !traced.origins.is_empty() {
        lines.push((line, traced.origins.clone()));
    }
}

/// Passes over the places of a value without origins of its own, and gives its line.
fn skip(json: &Json, places: &mut impl Iterator<Item = u32>) -> u32 {
    let line = places.next().unwrap_or_default();
    match json {
        Json::Array(items) => items.iter().for_each(|item| {
            skip(item, places);
        }),
        Json::Object(entries) => entries.values().for_each(|value| {
            skip(value, places);
        }),
        _ => {}
    }
    line
}

fn merge_lines(mut lines: Lines) -> Lines {
    lines.sort();
    let mut merged: Lines = Vec::new();
    for (line, origins) in lines {
        match merged.last_mut() {
            Some((last, known)) if *last == line => known.extend(origins),
            _ => merged.push((line, origins)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_lines_are_the_lines_the_values_are_on() {
        let origin = Origin::default_of("x", "port");
        let document = Traced::map()
            .with("a", 1)
            .with("b", Traced::list(vec![Traced::scalar(80, vec![origin.clone()])]));
        let (text, lines) = document.clone().write_json();
        assert_eq!(text, "{\n  \"a\": 1,\n  \"b\": [\n    80\n  ]\n}\n");
        assert_eq!(lines, [(4, vec![origin.clone()])]);
        let (sls, lines) = document.write_sls();
        assert_eq!(sls.lines().nth(lines[0].0 as usize - 1).unwrap().trim(), "- 80");
    }

    #[test]
    fn plain_data_is_written_as_serde_writes_it_and_counted_like_the_rest() {
        let origin = Origin::default_of("x", "port");
        let plain = json!({"a": [], "b": {"c": [1, {"d": "e\n\"f"}], "g": {}}});
        let document =
            Traced::map().with("plain", plain.clone()).with("port", Traced::scalar(80, vec![origin.clone()]));
        let (text, lines) = document.clone().write_json();
        assert_eq!(text, format!("{:#}\n", json!({"plain": plain, "port": 80})));
        let line = |text: &str, line: u32| text.lines().nth(line as usize - 1).unwrap().trim().to_owned();
        assert_eq!((lines.len(), line(&text, lines[0].0)), (1, "\"port\": 80".to_owned()));
        let (sls, lines) = document.write_sls();
        assert_eq!((lines.len(), line(&sls, lines[0].0)), (1, "port: 80".to_owned()));
    }

    #[test]
    fn a_key_is_set_once_in_plain_data_too() {
        let mut traced = Traced::from(json!({"a": 1, "b": 2}));
        traced.set("a", 3).set("c", 4);
        assert_eq!(traced.to_json(), json!({"a": 3, "b": 2, "c": 4}));
    }
}
