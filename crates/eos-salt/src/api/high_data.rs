//! Sls text as the high data that `state.high` takes.
//!
//! `state.template_str` takes the text itself but heeds neither `test` nor `pillar`: a preview would change the minion.
//! `state.high` heeds both; in turn it passes over, without a word, what Salt's compiler would have rewritten. So this does
//! what the compiler does to one plain file: it takes `module.function` apart and numbers states in their order.

use camino::Utf8Path;
use eos_model::codes;
use serde_json::{Map, Value as Json, json};

use crate::error::SaltError;

/// Salt numbers states of a file from here; a state with an `order` of its own may come before.
const FIRST: u64 = 10_000;
/// What needs the other files of a Salt tree.
const OF_A_TREE: [&str; 3] = ["include", "extend", "exclude"];

/// The high data, and the id and module of each state in it.
#[derive(Debug)]
pub(crate) struct HighData {
    pub data: Map<String, Json>,
    pub declared: Vec<(String, String)>,
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
                high.declared.extend(modules.keys().map(|module| (id.clone(), module.clone())));
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
            high.declared.iter().map(|(id, module)| format!("{id}:{module}")).collect();
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
