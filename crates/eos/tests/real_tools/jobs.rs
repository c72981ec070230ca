//! What Nomad makes of an estate's jobs: it accepts each, and keeps every field.
#![allow(clippy::unwrap_used)]

use serde_json::Value as Json;

use crate::support::{Sandbox, tool};
use crate::{built, each, none, read_json};
use test_tools::Nomad;

pub fn nomad_accepts_and_keeps_every_field(sandbox: &Sandbox) {
    let nomad = Nomad::server(&tool("nomad"));
    let jobs = built(sandbox, ".nomad.json");
    let wrong =
        each(&jobs, |path| nomad.validate(path).err().map(|said| format!("{}: {said}", path.display())));
    none(wrong, "jobs by nomad job validate -json");
    // Nomad ignores what it does not know, so a misspelt field would be lost without a word: what it has stored must
    // have every field and value that was sent.
    let wrong = each(&jobs, |path| {
        let sent = read_json(path);
        let id = sent["Job"]["ID"].as_str().unwrap().to_owned();
        if let Err(problem) = nomad.put("/v1/jobs", &sent) {
            return Some(format!("{}: {problem}", path.display()));
        }
        let lost = lost_fields(&sent["Job"], &nomad.get(&format!("/v1/job/{id}")));
        (!lost.is_empty()).then(|| format!("{}: {}", path.display(), lost.join(", ")))
    });
    none(wrong, "jobs as Nomad has stored them");
}

/// The fields of a job that Nomad did not keep.
fn lost_fields(sent: &Json, stored: &Json) -> Vec<String> {
    let mut sent = sent.clone();
    let mut lost = Vec::new();
    // Nomad hands the job's strategy down to its groups and keeps it there.
    if let Some(update) = sent.as_object_mut().and_then(|job| job.remove("Update")) {
        for group in stored["TaskGroups"].as_array().into_iter().flatten() {
            missing("Update", &update, &group["Update"], &mut lost);
        }
    }
    missing("Job", &sent, stored, &mut lost);
    for task in sent["TaskGroups"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|group| group["Tasks"].as_array().into_iter().flatten())
    {
        let known: &[&str] = match task["Driver"].as_str() {
            Some("docker") => &["args", "cap_add", "command", "entrypoint", "image", "ports", "volumes"],
            Some("raw_exec") => &["args", "command"],
            _ => &[],
        };
        // A driver's own words pass through Nomad unseen until a task starts.
        let config = task["Config"].as_object().unwrap();
        lost.extend(
            config
                .keys()
                .filter(|key| !known.contains(&key.as_str()))
                .map(|key| format!("{} has no {key}", task["Driver"])),
        );
    }
    lost
}

fn missing(path: &str, sent: &Json, stored: &Json, lost: &mut Vec<String>) {
    match (sent, stored) {
        (Json::Object(a), Json::Object(b)) => a.iter().for_each(|(key, value)| {
            missing(&format!("{path}.{key}"), value, b.get(key).unwrap_or(&Json::Null), lost)
        }),
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(at, (a, b))| missing(&format!("{path}[{at}]"), a, b, lost))
        }
        _ if sent == stored => {}
        _ => lost.push(format!("{path}: sent {sent}, stored {stored}")),
    }
}
