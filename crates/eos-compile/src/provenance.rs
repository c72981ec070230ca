//! A unit's `provenance.json`: file → line → where what is on it comes from.
//!
//! Neither commit nor time is in it: those are joined when somebody asks. It is the largest file of a unit and written
//! as text at once; as a tree of values first it was a fifth of a compilation.

use crate::traced::{Lines, needs_escape};

const FORMAT: u32 = 1;

/// The document in the making.
pub struct Provenance {
    text: String,
    is_empty: bool,
}

impl Provenance {
    pub fn new() -> Provenance {
        Provenance { text: format!("{{\n  \"format\": {FORMAT},\n  \"files\": {{"), is_empty: true }
    }

    /// The lines of one file that have origins; files are added in the order they are written.
    pub fn add(&mut self, path: &str, lines: &Lines) {
        self.text.push_str(if self.is_empty { "\n    " } else { ",\n    " });
        self.is_empty = false;
        self.string(path);
        self.text.push_str(if lines.is_empty() { ": {}" } else { ": {" });
        // A line may be there twice when a value and one inside it begin on it: the later one stands.
        let last = |(at, line): (usize, &u32)| lines.get(at + 1).is_none_or(|(next, _)| next != line);
        let mut first = true;
        for (at, (line, origins)) in lines.iter().enumerate() {
            if !last((at, line)) {
                continue;
            }
            self.text.push_str(if first { "\n      \"" } else { ",\n      \"" });
            first = false;
            self.text.push_str(&line.to_string());
            self.text.push_str("\": [");
            let mut texts: Vec<&str> = origins.iter().map(|origin| origin.text()).collect();
            texts.sort_unstable();
            texts.dedup();
            for (index, text) in texts.into_iter().enumerate() {
                self.text.push_str(if index == 0 { "\n        " } else { ",\n        " });
                self.string(text);
            }
            self.text.push_str("\n      ]");
        }
        if !lines.is_empty() {
            self.text.push_str("\n    }");
        }
    }

    pub fn finish(mut self) -> String {
        self.text.push_str(if self.is_empty { "}\n}\n" } else { "\n  }\n}\n" });
        self.text
    }

    fn string(&mut self, text: &str) {
        // Those that need escaping are rare enough to go through a value.
        if needs_escape(text) {
            self.text.push_str(&serde_json::Value::from(text).to_string());
        } else {
            self.text.push('"');
            self.text.push_str(text);
            self.text.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::origin::Origin;

    #[test]
    fn it_is_the_json_that_serde_would_write() {
        let origin = |key: &str| Origin::catalog("x", key);
        let mut provenance = Provenance::new();
        provenance.add(
            "main.tf.json",
            &vec![(3, vec![origin("b"), origin("a"), origin("b")]), (7, vec![origin("\"c")])],
        );
        provenance.add("salt/host.sls", &Vec::new());
        let text = provenance.finish();
        let wanted = json!({"format": 1, "files": {
            "main.tf.json": {
                "3": ["catalog/x/component.yaml#a", "catalog/x/component.yaml#b"],
                "7": ["catalog/x/component.yaml#\"c"],
            },
            "salt/host.sls": {},
        }});
        assert_eq!(text, format!("{wanted:#}\n"));
        let empty = Provenance::new().finish();
        assert_eq!(serde_json::from_str::<Json>(&empty).unwrap(), json!({"format": 1, "files": {}}));
        assert_eq!(empty, format!("{:#}\n", json!({"format": 1, "files": {}})));
    }
}
