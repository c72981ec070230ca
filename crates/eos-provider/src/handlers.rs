//! From messages to resources and back: values are decoded, the resource is asked, what it says is encoded.

use eos_model::{Diagnostic, Diagnostics, codes};

use crate::call::Call;
use crate::diagnostics::all_to_wire;
use crate::guard::guarded;
use crate::protocol::{
    AttributePath, DynamicValue, ServerCapabilities, apply_resource_change, attribute_path,
    import_resource_state, move_resource_state, plan_resource_change, read_resource, upgrade_resource_state,
    validate_resource_config,
};
use crate::resource::{self, Applied, Recorded, Resource};
use crate::schema;
use crate::value::{BadValue, Object, Value};

/// The schema is the same in every process of one version, so that tofu need not ask each for it.
pub fn capabilities() -> ServerCapabilities {
    ServerCapabilities { plan_destroy: false, get_provider_schema_optional: true, move_resource_state: false }
}

fn find(type_name: &str) -> Result<&'static dyn Resource, Diagnostics> {
    resource::find(type_name).ok_or_else(|| {
        let known: Vec<&str> = resource::RESOURCES.iter().map(|resource| resource.type_name()).collect();
        Diagnostic::error(codes::PROVIDER, format!("the provider has no resource {type_name}"))
            .why(format!("it has {}", known.join(" and ")))
            .fix("the provider and the compiled unit may be of different versions: compile again")
            .into()
    })
}

fn decode(value: Option<DynamicValue>) -> Result<Option<Object>, Diagnostics> {
    let Some(DynamicValue { msgpack, json }) = value else { return Ok(None) };
    let decoded = if !msgpack.is_empty() {
        Value::from_msgpack(&msgpack)
    } else if !json.is_empty() {
        Value::from_json(&json)
    } else {
        Ok(Value::Null)
    };
    decoded.and_then(Value::into_object).map_err(unreadable)
}

fn unreadable(error: BadValue) -> Diagnostics {
    Diagnostic::error(codes::PROVIDER, "a value sent by tofu cannot be read")
        .why(error.to_string())
        .fix("take a version of tofu or terraform that eos supports: eos tools list")
        .into()
}

/// What tofu must have sent.
fn needed(object: Option<Object>) -> Result<Object, Diagnostics> {
    object.ok_or_else(|| unreadable(BadValue::Shape("an object is expected, null was sent")))
}

fn encode(type_name: &str, object: Option<Object>) -> Option<DynamicValue> {
    let value = object.map_or(Value::Null, |object| Value::Map(schema::complete(type_name, object).0));
    Some(DynamicValue { msgpack: value.to_msgpack(), json: Vec::new() })
}

pub fn validate(
    request: validate_resource_config::Request,
) -> Result<validate_resource_config::Response, Diagnostics> {
    let config = needed(decode(request.config)?)?;
    let found = find(&request.type_name)?.validate(&config);
    Ok(validate_resource_config::Response { diagnostics: all_to_wire(&found) })
}

/// There is one version of every schema so far: what a state file holds is taken as it is.
pub fn upgrade(
    request: upgrade_resource_state::Request,
) -> Result<upgrade_resource_state::Response, Diagnostics> {
    find(&request.type_name)?;
    if request.version != 0 {
        return Err(Diagnostic::error(
            codes::NEWER_FORMAT,
            format!("the state of a {} has version {}", request.type_name, request.version),
        )
        .why("it was written by a newer provider; this one knows version 0")
        .fix("take the version of eos that wrote it")
        .into());
    }
    let json = request.raw_state.unwrap_or_default().json;
    let object = Value::from_json(&json).and_then(Value::into_object).map_err(unreadable)?;
    Ok(upgrade_resource_state::Response {
        upgraded_state: encode(&request.type_name, object),
        diagnostics: Vec::new(),
    })
}

pub fn read(call: &Call, request: read_resource::Request) -> Result<read_resource::Response, Diagnostics> {
    let Some(object) = decode(request.current_state)? else { return Ok(Default::default()) };
    let recorded = Recorded { object, private: request.private };
    let now = find(&request.type_name)?.read(call, &recorded)?;
    let (object, private) = now.map_or((None, Vec::new()), |now| (Some(now.object), now.private));
    Ok(read_resource::Response {
        new_state: encode(&request.type_name, object),
        private,
        diagnostics: Vec::new(),
    })
}

pub fn plan(
    call: &Call,
    request: plan_resource_change::Request,
) -> Result<plan_resource_change::Response, Diagnostics> {
    let Some(proposed) = decode(request.proposed_new_state)? else {
        // A deletion has nothing to decide.
        return Ok(plan_resource_change::Response {
            planned_state: encode(&request.type_name, None),
            planned_private: request.prior_private,
            ..Default::default()
        });
    };
    let prior =
        decode(request.prior_state)?.map(|object| Recorded { object, private: request.prior_private });
    let planned = find(&request.type_name)?.plan(call, prior.as_ref(), &proposed)?;
    Ok(plan_resource_change::Response {
        planned_state: encode(&request.type_name, Some(planned.object)),
        planned_private: planned.private,
        requires_replace: planned.replace.into_iter().map(path_of).collect(),
        diagnostics: Vec::new(),
    })
}

fn path_of(attribute: &str) -> AttributePath {
    let selector = attribute_path::step::Selector::AttributeName(attribute.to_owned());
    AttributePath { steps: vec![attribute_path::Step { selector: Some(selector) }] }
}

/// Whatever goes wrong, a panic too, the answer says what is there: tofu forgets an object that the answer leaves out.
pub fn apply(call: &Call, request: apply_resource_change::Request) -> apply_resource_change::Response {
    let before = request.prior_state.clone();
    let private = request.planned_private.clone();
    let type_name = request.type_name.clone();
    let outcome = guarded(|| apply_decoded(call, request)).and_then(|result| result);
    let (applied, gone) = match outcome {
        Ok(outcome) => outcome,
        Err(diagnostics) => (Applied { recorded: None, diagnostics }, false),
    };
    let (new_state, private) = match applied.recorded {
        Some(recorded) => (encode(&type_name, Some(recorded.object)), recorded.private),
        None if gone => (encode(&type_name, None), Vec::new()),
        None => (before.or_else(|| encode(&type_name, None)), private),
    };
    apply_resource_change::Response { new_state, private, diagnostics: all_to_wire(&applied.diagnostics) }
}

/// What was done, and whether the object is gone by it.
fn apply_decoded(
    call: &Call,
    request: apply_resource_change::Request,
) -> Result<(Applied, bool), Diagnostics> {
    let resource = find(&request.type_name)?;
    let (prior, planned) = (decode(request.prior_state)?, decode(request.planned_state)?);
    let recorded = |object| Recorded { object, private: request.planned_private };
    Ok(match (prior, planned) {
        (None, Some(planned)) => (resource.create(call, &recorded(planned)), false),
        (Some(prior), Some(planned)) => (resource.update(call, &prior, &recorded(planned)), false),
        (Some(prior), None) => {
            resource.delete(call, &prior)?;
            (Applied::default(), true)
        }
        (None, None) => (Applied::default(), true),
    })
}

pub fn import(
    call: &Call,
    request: import_resource_state::Request,
) -> Result<import_resource_state::Response, Diagnostics> {
    let recorded = find(&request.type_name)?.import(call, &request.id)?;
    let imported = import_resource_state::ImportedResource {
        state: encode(&request.type_name, Some(recorded.object)),
        private: recorded.private,
        type_name: request.type_name,
    };
    Ok(import_resource_state::Response { imported_resources: vec![imported], diagnostics: Vec::new() })
}

pub fn move_state(
    request: move_resource_state::Request,
) -> Result<move_resource_state::Response, Diagnostics> {
    let (from, to) = (request.source_type_name, request.target_type_name);
    Err(Diagnostic::error(codes::PROVIDER, format!("a {from} cannot become a {to}"))
        .why("the two are different things at their target")
        .fix("remove the moved block; import the object instead")
        .into())
}

#[cfg(test)]
mod tests {
    use eos_nomad::Stop;

    use super::*;
    use crate::settings::Settings;
    use crate::side_socket::Phase;

    fn message(object: Object) -> Option<DynamicValue> {
        encode("eos_nomad_job", Some(object))
    }

    /// tofu drops what an answer leaves out: a failed update or deletion must answer with what was.
    #[test]
    fn what_could_not_be_changed_is_still_in_the_answer() {
        let (settings, stop) = (Settings::default(), Stop::new());
        let call = Call::new(&settings, &stop, Phase::Apply);
        let prior = message(Object::default().with("spec", "not a job"));
        for planned in [
            Some(DynamicValue { msgpack: vec![0xd9], json: Vec::new() }),
            message(Object::default().with("spec", "{")),
            encode("eos_nomad_job", None),
        ] {
            let request = apply_resource_change::Request {
                type_name: "eos_nomad_job".to_owned(),
                prior_state: prior.clone(),
                planned_state: planned,
                planned_private: b"{}".to_vec(),
                ..Default::default()
            };
            let answer = apply(&call, request);
            assert_eq!(answer.diagnostics.len(), 1, "{answer:?}");
            assert_eq!((answer.new_state, answer.private), (prior.clone(), b"{}".to_vec()));
        }
    }

    #[test]
    fn a_state_file_is_read_and_a_newer_one_refused() {
        let request = |version| upgrade_resource_state::Request {
            type_name: "eos_nomad_job".to_owned(),
            version,
            raw_state: Some(crate::protocol::RawState {
                json: br#"{"name":"a","modify_index":12,"data_classes":["x"],"gone":1}"#.to_vec(),
                flatmap: Default::default(),
            }),
        };
        let state = decode(upgrade(request(0)).unwrap().upgraded_state).unwrap().unwrap();
        assert_eq!((state.text("name"), state.get("modify_index")), (Some("a"), &12.into()));
        assert_eq!(state.get("data_classes"), &Value::List(vec!["x".into()]));
        assert!(!state.0.contains_key("gone"));
        assert!(upgrade(request(1)).unwrap_err().to_string().starts_with("E0104"));
    }

    #[test]
    fn a_resource_nobody_has_is_an_error_and_so_is_a_move() {
        let request = validate_resource_config::Request {
            type_name: "eos_other".to_owned(),
            config: message(Object::default()),
        };
        assert!(validate(request).unwrap_err().to_string().contains("no resource eos_other"));
        assert!(move_state(Default::default()).is_err());
    }
}
