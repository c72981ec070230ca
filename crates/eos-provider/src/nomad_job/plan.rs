//! Planning: what the attributes become, and Nomad's own word on it.

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_nomad::Patience;
use serde_json::json;

use super::preview::preview;
use super::private::Private;
use super::spec::{Spec, differ_by_attempt, owner_of};
use super::survey::survey;
use super::there::there;
use super::{CONFIGURED, target, trouble};
use crate::call::Call;
use crate::resource::{Planned, Recorded};
use crate::value::{Object, Value};

pub fn plan(call: &Call, prior: Option<&Recorded>, proposed: &Object) -> Result<Planned, Diagnostics> {
    // The spec of an ejected job names the attempt that runs: it asks for nothing else than the one in the state.
    let same = prior.and_then(|prior| prior.object.text("spec")).filter(|before| {
        proposed.text("spec").is_some_and(|spec| spec != *before && differ_by_attempt(spec, before))
    });
    let proposed = &same.map_or_else(|| proposed.clone(), |before| proposed.clone().with("spec", before));
    if let Some(prior) = prior
        && prior.object.bool("in_sync") == Some(true)
        && CONFIGURED.iter().all(|name| prior.object.get(name) == proposed.get(name))
    {
        return Ok(Planned {
            object: prior.object.clone(),
            private: prior.private.clone(),
            replace: Vec::new(),
        });
    }
    let object = proposed.clone().with("in_sync", true).with("modify_index", Value::Unknown);
    let private = prior.map(|prior| Private::read(&prior.private)).unwrap_or_default();
    let mut planned = Planned { object, private: private.write(), replace: Vec::new() };
    // A part of the spec that only an earlier resource can tell leaves nothing to ask Nomad about.
    let Some(text) = proposed.text("spec") else { return Ok(planned) };
    let spec = Spec::parse(text)?;
    if proposed.is_unknown("namespace") {
        return Ok(planned);
    }
    let usual = call.settings.nomad.namespace.as_deref();
    if let Some(prior) = prior {
        planned.replace = replaced(&prior.object, proposed, &spec, usual)?;
    }
    let name = proposed.text("name").unwrap_or(&spec.id);
    let client = target::client(call, &spec, proposed, Patience::SHORT)?;
    let survey = match survey(&client, &spec, target::goal(proposed)) {
        Ok(survey) => survey,
        Err(error) if error.is_unreachable() && prior.is_none() => {
            let why = format!("{error}. What Nomad makes of it is known when it is applied");
            call.warn(&Diagnostic::warning(codes::NOMAD, format!("job {}: not known yet", spec.id)).why(why));
            let server = format!("Nomad at {}", client.address());
            let details = json!({"job": spec.id, "action": "unknown", "unreached": server});
            call.preview_quietly(name, "not known yet", details);
            return Ok(planned);
        }
        Err(error) => return Err(trouble::diagnostics(error)),
    };
    if let (Some(job), true) = (&survey.job, prior.is_none() || !planned.replace.is_empty()) {
        let mark = owner_of(&job.meta);
        if mark.is_none() || mark != spec.owner.as_deref() {
            return Err(trouble::not_ours(&spec.id, mark, spec.owner.as_deref()).into());
        }
    }
    let taken_over = survey.job.as_ref().is_some_and(|job| owner_of(&job.meta) != spec.owner.as_deref());
    let mut shown = preview(&spec.id, &survey, private, taken_over);
    if prior.is_some_and(|prior| prior.object.get("spec") == proposed.get("spec")) {
        // Nothing else is asked for: the job was changed by others, and somebody may want to keep that.
        shown.details["there"] = there(&client, &spec, &survey).unwrap_or_default();
    }
    if shown.is_empty {
        call.preview_quietly(name, &shown.text, shown.details);
    } else {
        call.preview(name, &format!("Nomad's plan of job {}", spec.id), &shown.text, shown.details);
    }
    Ok(planned)
}

/// A job is its id in its namespace: another of either is another job.
fn replaced(
    prior: &Object,
    proposed: &Object,
    spec: &Spec,
    usual: Option<&str>,
) -> Result<Vec<&'static str>, Diagnostics> {
    // A state that cannot be read is told by whoever must act on it.
    let Some(before) = prior.text("spec").and_then(|text| Spec::parse(text).ok()) else {
        return Ok(Vec::new());
    };
    let mut replace = Vec::new();
    if before.id != spec.id {
        replace.push("spec");
    }
    let namespace =
        |spec: &Spec, object| spec.namespace(object, usual).unwrap_or_else(|| "default".to_owned());
    if namespace(&before, prior) != namespace(spec, proposed) {
        replace.push(if prior.get("namespace") == proposed.get("namespace") { "spec" } else { "namespace" });
    }
    replace.dedup();
    Ok(replace)
}
