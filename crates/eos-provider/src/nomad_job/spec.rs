//! A job's spec: JSON as `nomad job run -json` takes it, and the few things the provider must know of it.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Diagnostics, SecretRef, codes};
use serde_json::Value as Json;

use crate::value::{Object, Value};

/// The meta key that says which unit a job belongs to.
const OWNER: &str = "eos.unit";
/// What follows is the key in the job's variable; the value is a reference.
const SECRET: &str = "eos.secret.";
/// Written by the provider alone: a job whose rollout failed runs again only when something in it differs.
const ATTEMPT: &str = "eos.attempt";

#[derive(Debug, Clone)]
pub struct Spec {
    pub id: String,
    /// As written in the spec itself.
    namespace: Option<String>,
    pub kind: String,
    /// The unit the job belongs to.
    pub owner: Option<String>,
    /// By key in the job's variable.
    pub secrets: BTreeMap<String, SecretRef>,
    job: Json,
}

impl Spec {
    /// Reads a spec, or says everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Spec, Diagnostics> {
        let document: Json = serde_json::from_str(text).map_err(|error| {
            // The parser's message names line and column, not the text.
            wrong(format!("it is not JSON: {error}"))
        })?;
        let mut job = match document {
            Json::Object(mut outer) if outer.contains_key("Job") => outer.remove("Job").unwrap_or_default(),
            other => other,
        };
        // In a spec of `eos eject`, for `nomad job plan`: which attempt it is, Nomad itself is asked.
        if let Some(meta) = job.get_mut("Meta").and_then(Json::as_object_mut) {
            meta.remove(ATTEMPT);
        }
        let mut found = Diagnostics::new();
        let mut word = |key: &str| match &job[key] {
            Json::String(text) if !text.is_empty() => Some(text.clone()),
            Json::Null => None,
            _ => {
                found.extend(wrong(format!("Job.{key} is not a text")));
                None
            }
        };
        let (id, namespace, kind) = (word("ID"), word("Namespace"), word("Type"));
        if id.is_none() && found.is_empty() {
            found.extend(wrong("Job.ID is missing".to_owned()));
        }
        let secrets = secrets_of(&job, &mut found);
        found.into_result()?;
        Ok(Spec {
            id: id.unwrap_or_default(),
            namespace,
            kind: kind.unwrap_or_else(|| "service".to_owned()),
            owner: job["Meta"][OWNER].as_str().map(str::to_owned),
            secrets,
            job,
        })
    }

    /// The attribute, else what the spec says, else what the environment says.
    pub fn namespace(&self, object: &Object, usual: Option<&str>) -> Option<String> {
        object.text("namespace").or(self.namespace.as_deref()).or(usual).map(str::to_owned)
    }

    /// The path of the variable that a job can read without further rights.
    pub fn variable_path(&self) -> String {
        format!("nomad/jobs/{}", self.id)
    }

    /// For Nomad, in a namespace, marked as the n-th attempt.
    pub fn document(&self, namespace: Option<&str>, attempt: Option<u64>) -> Json {
        let mut job = self.job.clone();
        if let Some(namespace) = namespace {
            job["Namespace"] = namespace.into();
        }
        if let Some(attempt) = attempt {
            if !job["Meta"].is_object() {
                job["Meta"] = Json::Object(serde_json::Map::new());
            }
            job["Meta"][ATTEMPT] = attempt.to_string().into();
        }
        job
    }

    /// Whether the attributes beside the spec fit it.
    pub fn check(&self, object: &Object) -> Diagnostics {
        let mut found = Diagnostics::new();
        match object.get("wait") {
            Value::Text(wait)
                if wait == "complete" && !matches!(self.kind.as_str(), "batch" | "sysbatch") =>
            {
                found.push(
                    Diagnostic::error(codes::BAD_JOB, format!("a {} job is never complete", self.kind))
                        .why("wait = \"complete\" is for batch and sysbatch jobs, which end")
                        .fix("write wait = \"healthy\", or leave it out"),
                );
            }
            Value::Text(wait) if !matches!(wait.as_str(), "healthy" | "complete") => found.push(
                Diagnostic::error(codes::BAD_JOB, format!("{wait:?} is nothing to wait for"))
                    .fix("write wait = \"healthy\" or wait = \"complete\""),
            ),
            _ => {}
        }
        if let (Some(attribute), Some(own)) = (object.text("namespace"), &self.namespace)
            && attribute != own
        {
            found.push(
                Diagnostic::error(codes::BAD_JOB, "two namespaces are given for one job")
                    .why(format!("the attribute says {attribute}, the spec says {own}"))
                    .fix("leave one of them out"),
            );
        }
        found
    }
}

/// Whether a spec that names the attempt asks for the same job as another that may not.
pub fn differ_by_attempt(spec: &str, other: &str) -> bool {
    spec.contains(ATTEMPT)
        && matches!((Spec::parse(spec), Spec::parse(other)), (Ok(one), Ok(other)) if one.job == other.job)
}

/// The owner a job in Nomad is marked with.
pub fn owner_of(meta: &BTreeMap<String, String>) -> Option<&str> {
    meta.get(OWNER).map(String::as_str)
}

/// Which attempt a job in Nomad is.
pub fn attempt_of(meta: &BTreeMap<String, String>) -> Option<u64> {
    meta.get(ATTEMPT).and_then(|text| text.parse().ok())
}

/// A spec with the attempt that runs, by the meta of the job in Nomad; none when that is the first.
pub fn as_registered(spec: &str, meta: &BTreeMap<String, String>) -> Option<String> {
    let attempt = meta.get(ATTEMPT)?;
    let mut document: Json = serde_json::from_str(spec).ok()?;
    let job = if document.get("Job").is_some() { &mut document["Job"] } else { &mut document };
    job.get_mut("Meta")?.as_object_mut()?.insert(ATTEMPT.to_owned(), attempt.as_str().into());
    Some(format!("{document:#}\n"))
}

/// A job as Nomad has it, as a spec: without what Nomad itself keeps about it.
pub fn from_nomad(mut job: Json) -> String {
    const KEPT_BY_NOMAD: &[&str] = &[
        "CreateIndex",
        "Dispatched",
        "DispatchIdempotencyToken",
        "JobModifyIndex",
        "ModifyIndex",
        "NomadTokenID",
        "Payload",
        "Stable",
        "Status",
        "StatusDescription",
        "Stop",
        "SubmitTime",
        "Version",
        "VersionTag",
    ];
    drop_nulls(&mut job);
    if let Some(fields) = job.as_object_mut() {
        fields.retain(|key, _| !KEPT_BY_NOMAD.contains(&key.as_str()));
    }
    if let Some(meta) = job.get_mut("Meta").and_then(Json::as_object_mut) {
        meta.remove(ATTEMPT);
    }
    let mut document = serde_json::Map::new();
    document.insert("Job".to_owned(), job);
    format!("{:#}", Json::Object(document))
}

/// What is not set; Nomad writes it out all the same.
fn drop_nulls(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Json::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The references that a job gives to its tasks, by key in its variable.
pub fn secrets_of(job: &Json, found: &mut Diagnostics) -> BTreeMap<String, SecretRef> {
    let mut secrets = BTreeMap::new();
    for (name, value) in job["Meta"].as_object().into_iter().flatten() {
        let Some(key) = name.strip_prefix(SECRET) else { continue };
        match value.as_str().map(str::parse) {
            Some(Ok(reference)) => {
                secrets.insert(key.to_owned(), reference);
            }
            // Not the value: somebody may have written the secret itself.
            _ => found.extend(wrong(format!(
                "Meta {name}: expected secret://<environment>/<name>/<key>?v=<version>"
            ))),
        }
    }
    secrets
}

fn wrong(why: String) -> Diagnostics {
    Diagnostic::error(codes::BAD_JOB, "the spec is not a Nomad job that can be used")
        .why(why)
        .fix("nomad job validate -json <file> says what Nomad thinks of it")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_with_and_without_the_outer_job() {
        let inner = r#"{"ID":"redis","Type":"batch","Meta":{"eos.unit":"p/redis","eos.secret.k":"secret://p/redis/k?v=2"}}"#;
        for text in [inner.to_owned(), format!("{{\"Job\":{inner}}}")] {
            let spec = Spec::parse(&text).unwrap();
            assert_eq!((spec.id.as_str(), spec.kind.as_str()), ("redis", "batch"));
            assert_eq!(spec.owner.as_deref(), Some("p/redis"));
            assert_eq!(spec.secrets["k"].version, 2);
            assert_eq!(spec.variable_path(), "nomad/jobs/redis");
            let document = spec.document(Some("apps"), Some(3));
            assert_eq!(
                (&document["Namespace"], &document["Meta"]["eos.attempt"]),
                (&"apps".into(), &"3".into())
            );
        }
    }

    #[test]
    fn everything_wrong_is_said_at_once_and_no_value_is_shown() {
        let text = r#"{"ID":7,"Meta":{"eos.secret.a":"hunter2","eos.secret.b":1}}"#;
        let found = Spec::parse(text).unwrap_err();
        assert_eq!(found.0.len(), 3);
        assert!(!format!("{found:?}").contains("hunter2"));
        assert!(Spec::parse("{}").unwrap_err().0[0].why.as_deref().unwrap().contains("Job.ID"));
        assert!(Spec::parse("{").is_err() && Spec::parse("[]").is_err());
    }

    #[test]
    fn attributes_must_fit_the_spec() {
        let spec = Spec::parse(r#"{"ID":"a","Namespace":"x"}"#).unwrap();
        let object =
            |wait: &str, namespace: &str| Object::default().with("wait", wait).with("namespace", namespace);
        assert!(spec.check(&object("healthy", "x")).is_empty());
        assert_eq!(spec.check(&object("complete", "y")).0.len(), 2);
        assert_eq!(spec.check(&object("done", "x")).0.len(), 1);
    }

    #[test]
    fn an_attempt_in_a_spec_makes_no_other_job() {
        let named = r#"{"Job":{"ID":"a","Meta":{"b":"c","eos.attempt":"2"}}}"#;
        let plain = r#"{"Job": {"ID": "a", "Meta": {"b": "c"}}}"#;
        assert!(differ_by_attempt(named, plain));
        let meta = |key: &str| BTreeMap::from([(key.to_owned(), "2".to_owned())]);
        let written = as_registered(plain, &meta("eos.attempt")).unwrap();
        assert!(
            differ_by_attempt(&written, plain) && written.contains("\"eos.attempt\": \"2\""),
            "{written}"
        );
        assert_eq!(as_registered(plain, &meta("eos.unit")), None, "the first attempt has no number");
        assert!(!differ_by_attempt(named, r#"{"Job": {"ID": "a", "Meta": {"b": "d"}}}"#));
        assert!(
            !differ_by_attempt(r#"{"Job":{"ID":"a"}}"#, r#"{"Job": {"ID": "a"}}"#),
            "no attempt is named"
        );
        let document = Spec::parse(named).unwrap().document(None, None);
        assert!(document["Meta"].get("eos.attempt").is_none(), "which one it is, Nomad says");
    }

    #[test]
    fn an_imported_job_loses_what_nomad_keeps_about_it() {
        let job = serde_json::json!({"ID": "a", "Version": 3, "Stop": false, "Periodic": null, "Meta": {"eos.attempt": "2", "b": "c"}});
        let spec: Json = serde_json::from_str(&from_nomad(job)).unwrap();
        assert_eq!(spec, serde_json::json!({"Job": {"ID": "a", "Meta": {"b": "c"}}}));
    }
}
