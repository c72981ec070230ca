//! Real Salt as the oracle: one Python process for all cases of a test.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock};

use eos_yaml::{Node, Value};
use serde_json::{Value as Json, json};

/// The venv that `make test` puts into the tool cache.
const DEFAULT_PYTHON: &str = ".cache/eos/tools/salt/3008.3/bin/python3";

pub struct Salt {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

fn python() -> PathBuf {
    let path = match std::env::var_os("EOS_TEST_SALT_PYTHON") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(DEFAULT_PYTHON),
    };
    assert!(
        path.exists(),
        "there is no Python with Salt at {}: run `make test`, which installs it, or set EOS_TEST_SALT_PYTHON",
        path.display()
    );
    path
}

impl Salt {
    /// The process of this test binary; started once, ended with its standard input.
    pub fn shared() -> MutexGuard<'static, Salt> {
        static SALT: OnceLock<Mutex<Salt>> = OnceLock::new();
        let salt = SALT.get_or_init(|| Mutex::new(Salt::start()));
        salt.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn start() -> Salt {
        let mut child = Command::new(python())
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/salt/reader.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Salt { child, input, output }
    }

    /// What Salt reads, tagged by type, or what it says.
    pub fn read(&mut self, text: &str, jinja: bool) -> Result<Json, String> {
        writeln!(self.input, "{}", json!({"text": text, "jinja": jinja})).expect("Python listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Python answers");
        if line.is_empty() {
            panic!("Python ended: {:?}", self.child.try_wait());
        }
        let mut answer: Json = serde_json::from_str(&line).expect("Python answers in JSON");
        match answer.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(answer["value"].take()),
        }
    }
}

/// A tree in the form that `reader.py` gives.
pub fn tagged(node: &Node) -> Json {
    match &node.value {
        Value::Null => json!(["null"]),
        Value::Bool(flag) => json!(["bool", flag]),
        Value::Int(number) => json!(["int", number.to_string()]),
        Value::Float(number) => json!(["float", number.to_string()]),
        Value::String(text) => json!(["text", text]),
        Value::List(items) => json!(["list", items.iter().map(tagged).collect::<Vec<_>>()]),
        Value::Map(entries) => {
            json!([
                "map",
                entries.iter().map(|(key, value)| json!([tagged(key), tagged(value)])).collect::<Vec<_>>()
            ])
        }
    }
}

/// A plain value in the same form.
pub fn tagged_json(value: &Json) -> Json {
    match value {
        Json::Null => json!(["null"]),
        Json::Bool(flag) => json!(["bool", flag]),
        Json::Number(number) if number.is_f64() => {
            json!(["float", number.as_f64().unwrap_or_default().to_string()])
        }
        Json::Number(number) => json!(["int", number.to_string()]),
        Json::String(text) => json!(["text", text]),
        Json::Array(items) => json!(["list", items.iter().map(tagged_json).collect::<Vec<_>>()]),
        Json::Object(map) => {
            json!([
                "map",
                map.iter().map(|(key, value)| json!([["text", key], tagged_json(value)])).collect::<Vec<_>>()
            ])
        }
    }
}

/// Salt's answer made comparable: floats in one notation, integer keys as the text that eos makes of them.
pub fn comparable(mut value: Json) -> Json {
    match value[0].as_str() {
        Some("float") => {
            let number: f64 = value[1].as_str().and_then(|text| text.parse().ok()).expect("a float");
            value[1] = json!(number.to_string());
        }
        Some("list") => {
            for item in value[1].as_array_mut().expect("items") {
                *item = comparable(item.take());
            }
        }
        Some("map") => {
            for entry in value[1].as_array_mut().expect("entries") {
                if entry[0][0] == "int" {
                    entry[0][0] = json!("text");
                }
                entry[1] = comparable(entry[1].take());
            }
        }
        _ => {}
    }
    value
}
