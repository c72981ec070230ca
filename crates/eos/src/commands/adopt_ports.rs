//! The ports that a job seems to listen on which somebody else has written: those it has Nomad hold, and those its programs
//! are told.

use std::collections::BTreeSet;

use serde_json::Value as Json;

pub fn of(job: &Json) -> BTreeSet<u16> {
    let mut found = BTreeSet::new();
    for group in list(job, "TaskGroups") {
        let tasks = list(group, "Tasks");
        let resources = tasks.iter().map(|task| &task["Resources"]);
        for network in std::iter::once(group).chain(resources).flat_map(|holder| list(holder, "Networks")) {
            let ports = list(network, "ReservedPorts").iter();
            found.extend(ports.filter_map(|port| u16::try_from(port["Value"].as_u64()?).ok()));
        }
        for task in tasks {
            let words: Vec<&str> = list(&task["Config"], "args").iter().filter_map(Json::as_str).collect();
            found.extend(told(&words));
            let variables = task["Env"].as_object().into_iter().flatten();
            let ports = variables.filter(|(key, _)| names_a_port(key));
            found.extend(ports.filter_map(|(_, value)| number(value.as_str()?)));
        }
    }
    found
}

/// `--port 6399`, `-p 6399`, `--http-port=8080`.
fn told(words: &[&str]) -> Vec<u16> {
    let behind = words.windows(2).filter(|two| names_a_port(two[0])).filter_map(|two| number(two[1]));
    let inside = words.iter().filter_map(|word| {
        let (key, value) = word.split_once('=')?;
        if names_a_port(key) { number(value) } else { None }
    });
    behind.chain(inside).collect()
}

fn names_a_port(word: &str) -> bool {
    word == "-p" || word.to_lowercase().ends_with("port")
}

fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

fn list<'j>(value: &'j Json, key: &str) -> &'j [Json] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ports_are_where_a_job_says_them() {
        let task = json!({
            "Config": {"command": "/bin/x", "args": ["--port", "6399", "--admin-port=7000", "--save", "900", "-p", "no"]},
            "Env": {"HTTP_PORT": "8080", "SIZE": "42"},
            "Resources": {"Networks": [{"ReservedPorts": [{"Label": "old", "Value": 9000}]}]},
        });
        let group =
            json!({"Networks": [{"ReservedPorts": [{"Label": "http", "Value": 80}]}], "Tasks": [task]});
        let found = of(&json!({"TaskGroups": [group, {"Tasks": null}]}));
        assert_eq!(found, BTreeSet::from([80, 6399, 7000, 8080, 9000]));
    }
}
