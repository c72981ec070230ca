//! Which value stands on each line of a text that eos wrote.

use camino::Utf8Path;
use eos_yaml::{Node, Value};

/// The way to a value from the root of a document.
pub type Path = Vec<Step>;

/// A key of a mapping, or an element of a list, whose name is its number; and which one of them it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    pub at: usize,
}

/// For each line of a JSON text with one key, bracket or element a line, the path to what is on it; a closing bracket has
/// the path of what it closes.
pub fn json_paths(text: &str) -> Vec<Path> {
    struct Open {
        path: Path,
        next: usize,
    }
    let mut around: Vec<Open> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with(['}', ']']) {
            found.push(around.pop().map(|open| open.path).unwrap_or_default());
            continue;
        }
        let path = match around.last_mut() {
            None => Vec::new(),
            Some(open) => {
                let at = open.next;
                open.next += 1;
                let step = Step { name: key(line).unwrap_or_else(|| at.to_string()), at };
                open.path.iter().cloned().chain([step]).collect()
            }
        };
        if line.ends_with(['{', '[']) {
            around.push(Open { path: path.clone(), next: 0 });
        }
        found.push(path);
    }
    found
}

/// The line, from one, on which the value at a JSON pointer begins.
pub fn json_line_of(text: &str, pointer: &str) -> Option<u64> {
    let escaped = |step: &Step| format!("/{}", step.name.replace('~', "~0").replace('/', "~1"));
    let at = json_paths(text).iter().position(|path| path.iter().map(escaped).collect::<String>() == pointer);
    at.map(|line| line as u64 + 1)
}

/// The key a line begins with; an element of a list has none.
fn key(line: &str) -> Option<String> {
    let mut stream = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let key = stream.next()?.ok()?;
    line[stream.byte_offset()..].starts_with(": ").then_some(key)
}

/// The same for an sls. A text of several lines is one value; the renderer's line has none.
pub fn sls_paths(text: &str) -> Vec<Path> {
    let mut found: Vec<Option<Path>> = vec![None; text.lines().count()];
    if let Ok(document) = eos_yaml::parse(Utf8Path::new("sls"), text.as_bytes()) {
        note(&document.root, &mut Vec::new(), &mut found);
    }
    let mut last = Vec::new();
    let fill = |path: Option<Path>| {
        last = path.unwrap_or_else(|| last.clone());
        last.clone()
    };
    found.into_iter().map(fill).collect()
}

/// Notes the paths of what is in a node; where several begin on one line, the innermost is noted.
fn note(node: &Node, path: &mut Path, found: &mut [Option<Path>]) {
    let mut one = |name: String, at: usize, line: u32, value: &Node| {
        path.push(Step { name, at });
        if let Some(slot) = found.get_mut(line as usize - 1) {
            *slot = Some(path.clone());
        }
        note(value, path, found);
        path.pop();
    };
    match &node.value {
        Value::List(items) => {
            items.iter().enumerate().for_each(|(at, item)| one(at.to_string(), at, item.mark.line, item));
        }
        Value::Map(entries) => {
            for (at, (key, value)) in entries.iter().enumerate() {
                one(key.as_str().unwrap_or_default().to_owned(), at, key.mark.line, value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[Path]) -> String {
        let path = |path: &Path| path.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join("/");
        paths.iter().map(path).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn a_line_of_json_is_known_by_the_keys_around_it() {
        let document = serde_json::json!({"a": {"b: {": [1, {"c": "x: {"}], "d": {}}, "e": "["});
        let text = format!("{document:#}");
        let wanted = "|a|a/b: {|a/b: {/0|a/b: {/1|a/b: {/1/c|a/b: {/1|a/b: {|a/d|a|e|";
        assert_eq!(shown(&json_paths(&text)), wanted, "{text}");
        assert_eq!(json_paths(&text)[10][0].at, 1);
    }

    #[test]
    fn a_value_is_found_by_its_pointer() {
        let document = serde_json::json!({"a": {"b/c": [1, {"d": "{"}, 3], "e": {}}, "f": []});
        let text = format!("{document:#}");
        let line = |pointer| json_line_of(&text, pointer).and_then(|n| text.lines().nth(n as usize - 1));
        assert_eq!(line("/a/b~1c/0"), Some("      1,"));
        assert_eq!(line("/a/b~1c/1/d"), Some("        \"d\": \"{\""));
        assert_eq!(line("/a/b~1c/2"), Some("      3"));
        assert_eq!(line("/a/e"), Some("    \"e\": {}"));
        assert_eq!(line("/f/0"), None);
    }

    #[test]
    fn a_line_of_an_sls_is_known_by_the_innermost_on_it() {
        let text = "#!yaml\na:\n  file.managed:\n    - name: x\n    - contents: |\n        one\n        two\n    - list:\n        - 1\n";
        let managed = "a/file.managed";
        let wanted = format!(
            "|a|{managed}|{managed}/0/name|{managed}/1/contents|{managed}/1/contents|{managed}/1/contents|{managed}/2/list|{managed}/2/list/0"
        );
        assert_eq!(shown(&sls_paths(text)), wanted);
    }
}
