//! Writes a value as YAML that Salt reads back as the same value.
//!
//! Block style, two spaces a level, keys in the order given, no line folded: the same value always gives the
//! same bytes. No line holds an opening of Jinja, so that the text survives a file without `#!yaml` too.

use serde_json::{Number, Value};

use crate::quote::{has_jinja, inline, is_printable};

/// Longer keys are written with `? `: readers look for the colon within 1024 characters.
const LONGEST_SIMPLE_KEY: usize = 512;

/// The text so far, and where in it each value began: a value before the values in it.
struct Out {
    text: String,
    starts: Vec<usize>,
}

/// The value as a block, each line ended.
pub fn write(value: &Value) -> String {
    written(value).text
}

/// The value as a block, and the line each value begins on: a value before those in it, in their order.
pub fn write_with_lines(value: &Value) -> (String, Vec<u32>) {
    let Out { text, starts } = written(value);
    let mut lines = Vec::with_capacity(starts.len());
    let (mut line, mut counted) = (1, 0);
    for start in starts {
        line += text.as_bytes()[counted..start].iter().filter(|byte| **byte == b'\n').count() as u32;
        counted = start;
        lines.push(line);
    }
    (text, lines)
}

fn written(value: &Value) -> Out {
    let mut out = Out { text: String::new(), starts: vec![0] };
    match value {
        Value::Object(map) if !map.is_empty() => entries(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => list(&mut out, items, 0),
        // A block of text at the root is read differently by different readers.
        Value::String(text) => out.text = inline(text) + "\n",
        _ => {
            leaf(&mut out, value, 0);
            out.text.push('\n');
        }
    }
    out
}

fn indent(out: &mut Out, level: usize) {
    out.text.extend(std::iter::repeat_n("  ", level));
}

/// The entries of a mapping; the first one stands where the writer is, the others on lines of their own.
fn entries(out: &mut Out, map: &serde_json::Map<String, Value>, level: usize) {
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 {
            indent(out, level);
        }
        let key = inline(key);
        if key.chars().count() > LONGEST_SIMPLE_KEY {
            out.text.push_str("? ");
            out.text.push_str(&key);
            out.text.push('\n');
            indent(out, level);
        } else {
            out.text.push_str(&key);
        }
        out.text.push(':');
        after_key(out, value, level);
    }
}

fn after_key(out: &mut Out, value: &Value, level: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.text.push('\n');
            indent(out, level + 1);
            out.starts.push(out.text.len());
            entries(out, map, level + 1);
        }
        Value::Array(items) if !items.is_empty() => {
            out.text.push('\n');
            indent(out, level + 1);
            out.starts.push(out.text.len());
            list(out, items, level + 1);
        }
        _ => {
            out.text.push(' ');
            out.starts.push(out.text.len());
            leaf(out, value, level + 1);
            out.text.push('\n');
        }
    }
}

fn list(out: &mut Out, items: &[Value], level: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(out, level);
        }
        out.text.push_str("- ");
        out.starts.push(out.text.len());
        match item {
            Value::Object(map) if !map.is_empty() => entries(out, map, level + 1),
            Value::Array(items) if !items.is_empty() => list(out, items, level + 1),
            _ => {
                leaf(out, item, level + 1);
                out.text.push('\n');
            }
        }
    }
}

/// A scalar or an empty collection, without the line end.
fn leaf(out: &mut Out, value: &Value, level: usize) {
    match value {
        Value::Null => out.text.push_str("null"),
        Value::Bool(true) => out.text.push_str("true"),
        Value::Bool(false) => out.text.push_str("false"),
        Value::Number(number) => out.text.push_str(&written_number(number)),
        Value::String(text) if is_literal(text) => literal(out, text, level),
        Value::String(text) => out.text.push_str(&inline(text)),
        Value::Array(_) => out.text.push_str("[]"),
        Value::Object(_) => out.text.push_str("{}"),
    }
}

/// PyYAML takes for a float only what has a dot, and an exponent only with its sign.
fn written_number(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    let text = format!("{float:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let dot = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{dot}e{sign}{exponent}")
}

/// Whether a literal block gives exactly this text back, whatever the reader.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines_are_plain = body
        .split('\n')
        .all(|line| line.chars().all(is_printable) && (line.is_empty() || !line.ends_with(' ')));
    text.contains('\n')
        && !body.is_empty()
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && lines_are_plain
        && !has_jinja(text)
}

fn literal(out: &mut Out, text: &str, level: usize) {
    let (body, header) = match text.strip_suffix('\n') {
        Some(body) => (body, "|"),
        None => (text, "|-"),
    };
    out.text.push_str(header);
    for line in body.split('\n') {
        out.text.push('\n');
        if !line.is_empty() {
            indent(out, level);
            out.text.push_str(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{write, write_with_lines};

    #[test]
    fn lines_are_those_the_values_begin_on() {
        let value = json!({"a": 1, "b": {"c": [1, {"d": "x\ny\n"}]}, "e": []});
        let (text, lines) = write_with_lines(&value);
        assert_eq!(text, write(&value));
        let first = |line: u32| text.lines().nth(line as usize - 1).unwrap().trim();
        let shown: Vec<&str> = lines.iter().map(|line| first(*line)).collect();
        assert_eq!(shown, ["a: 1", "a: 1", "c:", "- 1", "- 1", "- d: |", "- d: |", "e: []"]);
    }

    #[test]
    fn a_tree_is_written_as_a_person_would() {
        let value = json!({
            "name": "grafana", "count": 2, "ratio": 1e-9, "on": true, "none": null, "port": "0755",
            "hosts": ["a", {"name": "b", "tags": []}, [1, [2.0]]],
            "script": "set -e\n\n  echo # hi\n", "end": "a\nb", "deep": {"er": {}},
        });
        let wanted = "\
name: grafana
count: 2
ratio: 1.0e-9
'on': true
none: null
port: '0755'
hosts:
  - a
  - name: b
    tags: []
  - - 1
    - - 2.0
script: |
  set -e

    echo # hi
end: |-
  a
  b
deep:
  er: {}
";
        assert_eq!(write(&value), wanted);
        assert_eq!(write(&json!({})), "{}\n");
        assert_eq!(write(&json!("a\nb\n")), "\"a\\nb\\n\"\n");
    }
}
