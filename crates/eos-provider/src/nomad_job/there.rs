//! What a job in Nomad has where its spec says something else: for a person who would rather keep it.

use eos_nomad::{Client, Error};
use serde_json::{Value as Json, json};

use super::spec::{Spec, attempt_of};
use super::survey::Survey;

/// Values of the spec that are others in Nomad, by JSON pointer; null when the job differs in more than those.
pub fn there(client: &Client, spec: &Spec, survey: &Survey) -> Result<Json, Error> {
    let Some(job) = survey.job.as_ref().filter(|job| !job.stop && !survey.plan.diff.is_empty()) else {
        return Ok(Json::Null);
    };
    let Some(present) = client.job_document(&spec.id)? else { return Ok(Json::Null) };
    let mut document = spec.document(client.namespace(), attempt_of(&job.meta));
    let mut found = Vec::new();
    compare(&document, &present, "", &mut found);
    // Nomad moves what is said of all groups into each of them; what it does not call different is not.
    let changed = survey.plan.diff.changed();
    found.retain(|(pointer, _)| changed.iter().any(|field| is_named(pointer, &field.name)));
    for (pointer, value) in &found {
        if let Some(place) = document.pointer_mut(pointer) {
            *place = value.clone();
        }
    }
    // With them the spec must be the job: Nomad itself is asked.
    if !client.plan_job(&spec.id, &document)?.diff.is_empty() {
        return Ok(Json::Null);
    }
    Ok(found.into_iter().map(|(pointer, value)| json!({"pointer": pointer, "value": value})).collect())
}

/// Whether Nomad's name of a field (`CPU`, `Env[PORT]`, `args[0]`) can be that of what a pointer points at.
fn is_named(pointer: &str, field: &str) -> bool {
    let key = pointer.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default();
    let key = key.replace("~1", "/").replace("~0", "~");
    field.split(['[', ']']).any(|part| part == key)
}

/// Only what the spec says is looked at: Nomad fills in the rest.
fn compare(spec: &Json, job: &Json, pointer: &str, found: &mut Vec<(String, Json)>) {
    match (spec, job) {
        (Json::Object(fields), Json::Object(_)) => {
            for (key, value) in fields {
                let key_text = key.replace('~', "~0").replace('/', "~1");
                compare(value, &job[key.as_str()], &format!("{pointer}/{key_text}"), found);
            }
        }
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                compare(item, other, &format!("{pointer}/{index}"), found);
            }
        }
        _ if spec == job || (says_nothing(spec) && says_nothing(job)) => {}
        _ => found.push((pointer.to_owned(), job.clone())),
    }
}

/// What Nomad writes for a thing that is not set depends on the thing.
fn says_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Number(value) => value.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_spec_says_is_compared() {
        let spec =
            json!({"ID": "a", "Groups": [{"Count": 1, "Env": {"a/b": "x"}, "Stop": false}], "Args": ["1"]});
        let job = json!({"ID": "a", "Priority": 50, "Groups": [{"Count": 2, "Env": {"a/b": "y"}, "Stop": null}], "Args": ["1", "2"]});
        let mut found = Vec::new();
        compare(&spec, &job, "", &mut found);
        let wanted =
            [("/Args", json!(["1", "2"])), ("/Groups/0/Count", json!(2)), ("/Groups/0/Env/a~1b", json!("y"))];
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, wanted.map(|(pointer, value)| (pointer.to_owned(), value)));
    }

    #[test]
    fn a_field_is_known_by_nomads_name_for_it() {
        let is = |pointer, field| is_named(pointer, field);
        assert!(
            is("/TaskGroups/0/Count", "Count")
                && is("/T/0/Env/a~1b", "Env[a/b]")
                && is("/C/args/0", "args[0]")
        );
        assert!(!is("/Update/AutoRevert", "Count") && !is("/T/0/Env/a", "Env[b]"));
    }
}
