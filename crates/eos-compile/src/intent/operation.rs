//! A one-off operation: which host, and an id that no other clone gives to another one.

use eos_catalog::SettingType;
use eos_model::{Diagnostic, Diagnostics, Name, codes, date};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::complete::Completer;
use super::request::{OperationRequest, PlannedEntry};
use crate::passes::place_units;
use crate::work::Input;

/// A planned operation, and the ones before it that said the very same.
pub struct PlannedOperation {
    pub entry: PlannedEntry,
    /// Said again it is done again: `+50G` twice is 100G. The person is told, in case it was a slip.
    pub same_as: Vec<Name>,
}

/// An operation to be done once, after every one that is there: an entry for each host that it acts on.
pub fn operation(
    input: &Input<'_>,
    request: &OperationRequest,
) -> Result<Vec<PlannedOperation>, Diagnostics> {
    if let Some(problem) = says_nothing(input, request)? {
        return Err(problem.into());
    }
    let mut planned: Vec<PlannedOperation> = Vec::new();
    for host in hosts(input, request)? {
        let before: Vec<String> = planned.iter().map(|planned| planned.entry.name.to_string()).collect();
        planned.push(on_host(input, request, &host, &before)?);
    }
    Ok(planned)
}

/// The message about an operation that was not told what to act on.
fn says_nothing(input: &Input<'_>, request: &OperationRequest) -> Result<Option<Diagnostic>, Diagnostics> {
    let component = input.catalog.component(&request.kind)?;
    let Some(operation) = component.operations.get(&request.verb) else { return Ok(None) };
    let is_said = |name: &String| match request.args.get(name) {
        None | Some(Json::Null | Json::Bool(false)) => false,
        Some(Json::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    if operation.at_least_one.is_empty() || operation.at_least_one.iter().any(is_said) {
        return Ok(None);
    }
    let flag = |name: &String| {
        let flag = name.replace('_', "-");
        let setting = operation.args.get(name);
        match setting.map(|setting| setting.kind) {
            None | Some(SettingType::Bool) => format!("--{flag}"),
            Some(kind) => format!("--{flag} <{}>", kind.as_str()),
        }
    };
    let flags: Vec<String> = operation.at_least_one.iter().map(flag).collect();
    let message = format!("{} {} was not told what to act on", request.verb, request.kind);
    Ok(Some(
        Diagnostic::error(codes::MISSING_SETTING, message)
            .why("it would be recorded, and could only fail")
            .fix(format!("{}; for example {}", flags.join(" or "), operation.example)),
    ))
}

fn on_host(
    input: &Input<'_>,
    request: &OperationRequest,
    host: &str,
    before: &[String],
) -> Result<PlannedOperation, Diagnostics> {
    let environment = input.environment;
    match environment.hosts.get(host) {
        None => return Err(place_units::undeclared(environment, host).into()),
        Some(entry) if entry.environment != environment.name.as_str() => {
            return Err(place_units::foreign(environment, entry).into());
        }
        Some(_) => {}
    }
    let entry = json!({"verb": request.verb, "kind": request.kind, "host": host, "args": request.args});
    let known = environment.operations.keys().map(|id| id.as_str());
    let known: Vec<&str> = known.chain(before.iter().map(String::as_str)).collect();
    let id: Name = id(&known, request, &entry).parse().map_err(Diagnostic::from)?;
    let args = |operation: &eos_pillar::OperationEntry| -> Json {
        operation.args.iter().map(|(key, node)| (key.clone(), node.to_json())).collect()
    };
    let same = |operation: &&eos_pillar::OperationEntry| {
        operation.verb == request.verb
            && operation.kind == request.kind
            && operation.host == host
            && args(operation) == entry["args"]
    };
    let same_as = environment.operations.values().filter(same).map(|known| known.id.clone()).collect();
    let entry = PlannedEntry { name: id, kind: request.kind.clone(), entry, is_new: true, because: None };
    Ok(PlannedOperation { entry, same_as })
}

fn hosts(input: &Input<'_>, request: &OperationRequest) -> Result<Vec<String>, Diagnostics> {
    if let Some(host) = &request.host {
        return Ok(vec![host.clone()]);
    }
    let completer = Completer::new(input, &[]);
    let component = input.catalog.component(&request.kind)?;
    let everywhere = component.operations.get(&request.verb).is_some_and(|operation| operation.everywhere);
    match completer.chooser.hosts().as_slice() {
        [only] => Ok(vec![only.clone()]),
        [] => Ok(vec![completer.chooser.host(&format!("{} {}", request.verb, request.kind))?]),
        several if everywhere => Ok(several.to_vec()),
        several => Err(Diagnostic::error(codes::NO_HOST, format!("on which of {}?", several.join(", ")))
            .why("an operation acts on one machine")
            .fix(format!("--host {}", several[0]))
            .into()),
    }
}

/// `20260921t141320-3f9a-resize-lvm`. The time comes first, since operations are done in the order of their ids; it is
/// never before that of one which is there. The rest tells apart what two people say in two clones within a second.
fn id(known: &[&str], request: &OperationRequest, entry: &Json) -> String {
    let stamp = |time: i64| date::rfc3339(time).replace(['-', ':', 'Z'], "").to_lowercase();
    let last = known.iter().filter_map(|id| id.split('-').next()).max().unwrap_or_default();
    // Several within one second are a second apart: they are few, and their order counts.
    let mut time = request.time;
    let taken = known.len() as i64;
    while stamp(time).as_str() <= last && time <= request.time + taken {
        time += 1;
    }
    let stamp = if stamp(time).as_str() > last { stamp(time) } else { format!("{last}x") };
    let mut digest = Sha256::new();
    for part in [&request.by, &known.join(" "), &entry.to_string()] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let short: String = digest.finalize().iter().take(2).map(|byte| format!("{byte:02x}")).collect();
    format!("{stamp}-{short}-{}-{}", request.verb, request.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(by: &str) -> OperationRequest {
        OperationRequest {
            kind: "lvm".into(),
            verb: "resize".into(),
            host: None,
            args: [("size".to_owned(), Json::from("+50G"))].into_iter().collect(),
            time: 1_790_000_000,
            by: by.into(),
        }
    }

    #[test]
    fn ids_are_in_the_order_they_were_said_and_differ_between_clones() {
        let entry = json!({"args": {"size": "+50G"}});
        let first = id(&[], &request("kim"), &entry);
        assert_eq!(first.split('-').next(), Some("20260921t141320"));
        let second = id(&[&first], &request("kim"), &entry);
        assert_eq!(second.split('-').next(), Some("20260921t141321"));
        assert_ne!(first, id(&[], &request("ada"), &entry), "two people in one second");
        // The ids of an older eos, and those of a clock that is ahead, stay before.
        for old in ["000007-resize-lvm", "20991231t235959-aaaa-resize-lvm"] {
            assert!(id(&[old], &request("kim"), &entry).as_str() > old, "{old}");
        }
        let many: Vec<String> = (0..5).fold(Vec::new(), |mut ids, _| {
            let known: Vec<&str> = ids.iter().map(String::as_str).collect();
            let next = id(&known, &request("kim"), &entry);
            ids.push(next);
            ids
        });
        assert!(many.is_sorted() && many.windows(2).all(|pair| pair[0] != pair[1]), "{many:?}");
    }
}
