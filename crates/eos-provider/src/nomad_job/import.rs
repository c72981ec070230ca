//! Importing: a job that runs, by its id or by `namespace/id`; with `eos.unit=<owner>;` before it only one that bears this
//! mark. `eos.spec=<spec>` is a job that was not registered any more: what is left of it are the secrets of that spec.

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_nomad::Patience;
use serde_json::Value as Json;

use super::private::Private;
use super::spec::{Spec, from_nomad};
use super::{target, trouble};
use crate::call::Call;
use crate::resource::Recorded;
use crate::value::Object;

/// The spec is Nomad's own form of the job; the next plan says in what the compiled one differs.
pub fn import(call: &Call, id: &str) -> Result<Recorded, Diagnostics> {
    if let Some(spec) = id.strip_prefix("eos.spec=") {
        return only_secrets(call, spec);
    }
    let marked = id.strip_prefix("eos.unit=").and_then(|rest| rest.split_once(';'));
    let (owner, id) = marked.map_or((None, id), |(owner, id)| (Some(owner), id));
    let (job, namespace) = find(call, id)?;
    let index = job["JobModifyIndex"].as_u64().unwrap_or_default();
    let text = from_nomad(job);
    let spec = Spec::parse(&text)?;
    if owner.is_some() && owner != spec.owner.as_deref() {
        return Err(missing(id));
    }
    let object = Object::default()
        .with("name", spec.owner.clone().unwrap_or_else(|| spec.id.clone()))
        .with("spec", text)
        .with("namespace", namespace)
        .with("in_sync", true)
        .with("modify_index", index);
    let private = Private { seen_index: Some(index), variable_index: None };
    Ok(Recorded { object, private: private.write() })
}

/// Out of sync, as [`super::read`] finds it: destroying it takes the secrets away.
fn only_secrets(call: &Call, text: &str) -> Result<Recorded, Diagnostics> {
    let spec = Spec::parse(text)?;
    let object = Object::default()
        .with("name", spec.owner.clone().unwrap_or_else(|| spec.id.clone()))
        .with("spec", text)
        .with("in_sync", false)
        .with("modify_index", 0_u64);
    let client = target::client(call, &spec, &object, Patience::SHORT)?;
    match client.variable_index(&spec.variable_path()).map_err(trouble::diagnostics)? {
        Some(_) => Ok(Recorded { object, private: Private::default().write() }),
        None => Err(missing(&spec.id)),
    }
}

/// An id may have slashes itself, so the whole is tried first. The namespace is given when it was part of the id.
fn find(call: &Call, id: &str) -> Result<(Json, Option<String>), Diagnostics> {
    let client = target::any_namespace(call, Patience::SHORT)?;
    if let Some(job) = client.job_document(id).map_err(trouble::diagnostics)? {
        return Ok((job, None));
    }
    if let Some((namespace, rest)) = id.split_once('/') {
        let client = client.in_namespace(Some(namespace));
        if let Some(job) = client.job_document(rest).map_err(trouble::diagnostics)? {
            return Ok((job, Some(namespace.to_owned())));
        }
    }
    Err(missing(id))
}

fn missing(id: &str) -> Diagnostics {
    Diagnostic::error(codes::NOMAD, format!("there is no job {id} in Nomad"))
        .why("an id is the job's own, or <namespace>/<id>")
        .fix("nomad job status -namespace '*' lists all jobs")
        .into()
}
