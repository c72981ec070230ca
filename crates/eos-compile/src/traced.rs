//! Data on its way into an artifact, each value with where it comes from.

use indexmap::IndexMap;
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
    /// Neither list nor mapping.
    Scalar(Json),
    List(Vec<Traced>),
    Map(IndexMap<String, Traced>),
}

/// Lines of a written document with the origins of what is on them.
pub type Lines = Vec<(u32, Vec<Origin>)>;

impl Traced {
    pub fn scalar(value: impl Into<Json>, origins: Vec<Origin>) -> Traced {
        Traced { value: TracedValue::Scalar(value.into()), origins }
    }

    pub fn list(items: Vec<Traced>) -> Traced {
        Traced { value: TracedValue::List(items), origins: Vec::new() }
    }

    pub fn map() -> Traced {
        Traced { value: TracedValue::Map(IndexMap::new()), origins: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        match &self.value {
            TracedValue::Scalar(json) => json.is_null(),
            TracedValue::List(items) => items.is_empty(),
            TracedValue::Map(entries) => entries.is_empty(),
        }
    }

    /// Sets a key of a mapping; on anything else it does nothing.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Traced>) -> &mut Traced {
        if let TracedValue::Map(entries) = &mut self.value {
            entries.insert(key.into(), value.into());
        }
        self
    }

    /// [`Traced::set`] for building a mapping in one expression.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Traced>) -> Traced {
        self.set(key, value);
        self
    }

    pub fn to_json(&self) -> Json {
        match &self.value {
            TracedValue::Scalar(json) => json.clone(),
            TracedValue::List(items) => Json::Array(items.iter().map(Traced::to_json).collect()),
            TracedValue::Map(entries) => {
                Json::Object(entries.iter().map(|(k, v)| (k.clone(), v.to_json())).collect())
            }
        }
    }

    /// Indented JSON and the lines that have origins.
    pub fn write_json(&self) -> (String, Lines) {
        let mut writer = JsonWriter { text: Vec::new(), line: 1, lines: Vec::new() };
        writer.value(self, 0);
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
        fn from_json(value: Json) -> Traced {
            match value {
                Json::Array(items) => Traced::list(items.into_iter().map(from_json).collect()),
                Json::Object(entries) => Traced {
                    value: TracedValue::Map(entries.into_iter().map(|(k, v)| (k, from_json(v))).collect()),
                    origins: Vec::new(),
                },
                scalar => Traced::scalar(scalar, Vec::new()),
            }
        }
        from_json(value.into())
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
        self.text.extend(std::iter::repeat_n(b' ', 2 * depth));
    }

    /// Straight into the text; writing to memory cannot fail.
    fn json(&mut self, value: &(impl serde::Serialize + ?Sized)) {
        let _ = serde_json::to_writer(&mut self.text, value);
    }

    fn value(&mut self, traced: &Traced, depth: usize) {
        if !traced.origins.is_empty() {
            self.lines.push((self.line, traced.origins.clone()));
        }
        match &traced.value {
            TracedValue::Scalar(json) => self.json(json),
            TracedValue::List(items) if items.is_empty() => self.text.extend(b"[]"),
            TracedValue::Map(entries) if entries.is_empty() => self.text.extend(b"{}"),
            TracedValue::List(items) => {
                self.text.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index, depth + 1);
                    self.value(item, depth + 1);
                }
                self.newline(depth);
                self.text.push(b']');
            }
            TracedValue::Map(entries) => {
                self.text.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.separate(index, depth + 1);
                    self.json(key);
                    self.text.extend(b": ");
                    self.value(value, depth + 1);
                }
                self.newline(depth);
                self.text.push(b'}');
            }
        }
    }

    fn separate(&mut self, index: usize, depth: usize) {
        if index > 0 {
            self.text.push(b',');
        }
        self.newline(depth);
    }
}

/// Walks a value as the writer did, a value before those in it.
fn collect_lines(traced: &Traced, places: &mut impl Iterator<Item = u32>, lines: &mut Lines) {
    let line = places.next().unwrap_or_default();
    if !traced.origins.is_empty() {
        lines.push((line, traced.origins.clone()));
    }
    match &traced.value {
        TracedValue::Scalar(_) => {}
        TracedValue::List(items) => items.iter().for_each(|item| collect_lines(item, places, lines)),
        TracedValue::Map(entries) => entries.values().for_each(|value| collect_lines(value, places, lines)),
    }
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
    use super::*;

    #[test]
    fn json_lines_are_the_lines_the_values_are_on() {
        let origin = Origin::default_of("x", "port");
        let document = Traced::map()
            .with("a", 1)
            .with("b", Traced::list(vec![Traced::scalar(80, vec![origin.clone()])]));
        let (text, lines) = document.write_json();
        assert_eq!(text, "{\n  \"a\": 1,\n  \"b\": [\n    80\n  ]\n}\n");
        assert_eq!(lines, [(4, vec![origin.clone()])]);
        let (sls, lines) = document.write_sls();
        assert_eq!(sls.lines().nth(lines[0].0 as usize - 1).unwrap().trim(), "- 80");
    }
}
