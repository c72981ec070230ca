//! Sls text as the high data that `state.high` takes.
//!
//! `state.template_str` takes the text itself but heeds neither `test` nor `pillar`: a preview would change the minion.
//! `state.high` heeds both; in turn it passes over, without a word, what Salt's compiler would have rewritten. So this does
//! what the compiler does to one plain file: it takes `module.function` apart and numbers states in their order.

use camino::Utf8Path;
use eos_model::codes;
use serde_json::{Map, Value as Json, json};

use crate::error::SaltError;
use crate::report::{Report, StateResult};

/// Salt numbers states of a file from here; a state with an `order` of its own may come before.
const FIRST: u64 = 10_000;
/// What needs the other files of a Salt tree.
const OF_A_TREE: [&str; 3] = ["include", "extend", "exclude"];

/// The high data, and the states in it.
#[derive(Debug)]
pub(crate) struct HighData {
    pub data: Map<String, Json>,
    declared: Vec<Declared>,
}

#[derive(Debug, PartialEq, Eq)]
struct Declared {
    id: String,
    module: String,
    /// Salt makes one state of each of its `names`.
    times: usize,
}

impl HighData {
    /// The states that are not in a report, or not as often as they should be.
    pub fn left_out(&self, report: &Report) -> Vec<String> {
        let is_in = |Declared { id, module, times }: &&Declared| {
            let is_it = |state: &&StateResult| {
                state.id == *id && state.function.split('.').next() == Some(module.as_str())
            };
            report.states.iter().filter(is_it).count() >= *times
        };
        let missing = self.declared.iter().filter(|state| !is_in(state));
        missing.map(|Declared { id, module, .. }| format!("{id} ({module})")).collect()
    }
}

pub(crate) fn of(target: &str, sls: &str) -> Result<HighData, SaltError> {
    let needs = |what: String| SaltError::NeedsRenderer { target: target.to_owned(), what };
    let renderer = sls.lines().next().and_then(|line| line.strip_prefix("#!")).map_or("yaml", str::trim);
    if !["yaml", "jinja|yaml"].contains(&renderer) {
        return Err(needs(format!("the renderer {renderer}")));
    }
    let compile = |errors: Vec<String>| SaltError::Compile { target: target.to_owned(), errors };
    let document = eos_yaml::parse(Utf8Path::new("the states"), sls.as_bytes()).map_err(|found| {
        if found.0.iter().any(|found| found.code == codes::JINJA) {
            return needs("Jinja".to_owned());
        }
        compile(
            found
                .0
                .into_iter()
                .map(|found| match found.place {
                    Some(place) if place.line > 0 => format!("line {}: {}", place.line, found.message),
                    _ => found.message,
                })
                .collect(),
        )
    })?;
    let Json::Object(states) = document.root.to_json() else {
        return Err(compile(vec!["the states are not a mapping of ids".to_owned()]));
    };
    if let Some(word) = OF_A_TREE.into_iter().find(|word| states.contains_key(*word)) {
        return Err(needs(word.to_owned()));
    }
    let mut high = HighData { data: Map::new(), declared: Vec::new() };
    let mut errors = Vec::new();
    for (id, body) in states {
        match entry(&id, body, high.declared.len() as u64) {
            Ok(modules) => {
                high.declared.extend(modules.iter().map(|(module, arguments)| Declared {
                    id: id.clone(),
                    module: module.clone(),
                    times: times(arguments),
                }));
                let mut modules = modules;
                modules.insert("__sls__".to_owned(), json!("eos"));
                modules.insert("__env__".to_owned(), json!("base"));
                high.data.insert(id, Json::Object(modules));
            }
            Err(problem) => errors.push(problem),
        }
    }
    if errors.is_empty() { Ok(high) } else { Err(compile(errors)) }
}

/// How many states Salt makes of one, by its `names`.
fn times(arguments: &Json) -> usize {
    let mut names = arguments.as_array().into_iter().flatten().filter_map(|argument| argument.get("names"));
    names.next().and_then(Json::as_array).map_or(1, Vec::len)
}

/// One id: `{module: [function, {argument: value}, …, {order: n}]}`.
fn entry(id: &str, body: Json, before: u64) -> Result<Map<String, Json>, String> {
    let body = match body {
        Json::Object(body) => body,
        // `id: module.function`, without arguments.
        Json::String(short) if short.contains('.') => Map::from_iter([(short, Json::Array(Vec::new()))]),
        _ => return Err(format!("id {id} is not a mapping of states")),
    };
    let mut modules = Map::new();
    for (key, arguments) in body {
        let Json::Array(mut arguments) = arguments else {
            return Err(format!("id {id}: {key} is not a list of arguments"));
        };
        let module = match key.split_once('.') {
            Some((module, function)) => {
                arguments.push(json!(function));
                module.to_owned()
            }
            None => key.clone(),
        };
        if arguments.iter().filter(|argument| argument.is_string()).count() != 1 {
            return Err(format!("id {id}: {key} does not name one function, such as {module}.present"));
        }
        let ordered = arguments.iter().any(|argument| argument.get("order").is_some());
        if !ordered {
            arguments.push(json!({"order": FIRST + before + modules.len() as u64}));
        }
        if modules.insert(module.clone(), Json::Array(arguments)).is_some() {
            return Err(format!("id {id} has two states of {module}; give one of them an id of its own"));
        }
    }
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_taken_apart_and_numbered() {
        let high = of(
            "m1",
            "#!yaml\nz:\n  file.managed:\n    - name: /z\n    - mode: '0644'\na: pkg.installed\nb:\n  cmd:\n    - run\n    - order: 1\n  file.absent: []\n",
        )
        .unwrap();
        assert_eq!(
            Json::Object(high.data),
            json!({
                "z": {"file": [{"name": "/z"}, {"mode": "0644"}, "managed", {"order": 10000}], "__sls__": "eos", "__env__": "base"},
                "a": {"pkg": ["installed", {"order": 10001}], "__sls__": "eos", "__env__": "base"},
                "b": {"cmd": ["run", {"order": 1}], "file": ["absent", {"order": 10003}], "__sls__": "eos", "__env__": "base"},
            })
        );
        let declared: Vec<String> =
            high.declared.iter().map(|state| format!("{}:{}", state.id, state.module)).collect();
        assert_eq!(declared, ["z:file", "a:pkg", "b:cmd", "b:file"]);
    }

    #[test]
    fn what_only_salt_can_work_out_is_refused() {
        for (sls, what) in [
            ("#!py\ndef run(): return {}\n", "the renderer py"),
            ("#!yaml\ninclude:\n  - other\n", "include"),
            ("a:\n  file.managed:\n    - name: {{ pillar.x }}\n", "Jinja"),
            ("extend: {a: {file: [{x: 1}]}}\n", "extend"),
        ] {
            let error = of("m1", sls).unwrap_err();
            assert!(
                matches!(&error, SaltError::NeedsRenderer { what: found, .. } if found == what),
                "{error}"
            );
        }
    }

    #[test]
    fn each_of_several_names_counts() {
        let high = of("m1", "a:\n  file.touch:\n    - names: [/x, /y]\nb: test.nop\n").unwrap();
        let state = |id: &str, function: &str| StateResult {
            id: id.to_owned(),
            name: String::new(),
            function: function.to_owned(),
            outcome: crate::report::Outcome::Changed,
            comment: String::new(),
            changes: Json::Null,
        };
        let mut report = Report { states: vec![state("a", "file.touch"), state("b", "test.nop")] };
        assert_eq!(high.left_out(&report), ["a (file)"]);
        report.states.push(state("a", "file.touch"));
        assert_eq!(high.left_out(&report), [""; 0]);
    }

    #[test]
    fn every_mistake_is_told() {
        let error = of("m1", "a: 5\nb:\n  file.managed: null\nc:\n  file: [managed, absent]\nd:\n  file.managed: []\n  file: [absent]\n").unwrap_err();
        let SaltError::Compile { errors, .. } = error else { panic!("{error}") };
        assert_eq!(
            errors,
            [
                "id a is not a mapping of states",
                "id b: file.managed is not a list of arguments",
                "id c: file does not name one function, such as file.present",
                "id d has two states of file; give one of them an id of its own",
            ]
        );
    }
}
