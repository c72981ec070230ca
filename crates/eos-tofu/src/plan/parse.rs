//! Reads `show -json` of a plan. The document holds secrets in clear: only what is redacted leaves this file, and no error
//! quotes it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::raw::{RawChange, RawCheck, RawModule, RawPlan, RawResourceChange, RawState};
use super::{Action, AttributeChange, Check, CheckStatus, OutputChange, Plan, PriorResource, ResourceChange};
use crate::redact::{differences, redact, union};
use crate::secrets_seen::SecretsSeen;
use crate::{Path, PathStep, Shown, TofuError};

pub(crate) fn parse(bytes: &[u8]) -> Result<Plan, TofuError> {
    let unreadable = |reason: String| TofuError::Unreadable { what: "the plan".into(), reason };
    // Serde's own message could quote the text.
    let raw: RawPlan = serde_json::from_slice(bytes)
        .map_err(|error| unreadable(format!("{:?} error in column {}", error.classify(), error.column())))?;
    if raw.format_version.split('.').next() != Some("1") {
        return Err(unreadable(format!("its format is {}, and 1 is known", raw.format_version)));
    }
    let secrets = secrets_of(&raw);
    // An object's sensitive parts as the plan knows them; the state from before may not know yet.
    let masks: BTreeMap<String, Value> =
        raw.resource_changes.iter().map(|change| (change.address.clone(), change.change.mask())).collect();
    let mut prior_resources = Vec::new();
    if let Some(root) = raw.prior_state.and_then(RawState::root) {
        collect(root, &masks, &mut prior_resources);
    }
    let mut plan = Plan {
        format_version: raw.format_version,
        tool_version: raw.terraform_version,
        resource_changes: raw.resource_changes.into_iter().map(ResourceChange::from).collect(),
        resource_drift: raw.resource_drift.into_iter().map(ResourceChange::from).collect(),
        output_changes: raw.output_changes.into_iter().map(|(name, change)| (name, change.into())).collect(),
        prior_resources,
        checks: raw.checks.into_iter().map(Check::from).collect(),
        errored: raw.errored,
        complete: raw.complete.unwrap_or(true),
        applyable: false,
    };
    plan.applyable = raw.applyable.unwrap_or_else(|| would_do_something(&plan));
    hide(&mut plan, &secrets);
    Ok(plan)
}

/// Every text that is marked sensitive anywhere in the document.
fn secrets_of(raw: &RawPlan) -> SecretsSeen {
    let mut secrets = SecretsSeen::default();
    let changes = raw.resource_changes.iter().chain(&raw.resource_drift).map(|change| &change.change);
    for change in changes.chain(raw.output_changes.values()) {
        secrets.note(&change.before, change.before_sensitive.as_ref());
        secrets.note(&change.after, change.after_sensitive.as_ref());
    }
    let root = raw.configuration.as_ref().and_then(|configuration| configuration.root_module.as_ref());
    for (name, variable) in root.iter().flat_map(|root| &root.variables) {
        if let Some(given) = raw.variables.get(name).filter(|_| variable.sensitive) {
            secrets.note_all(&given.value);
        }
    }
    let mut modules: Vec<&RawModule> = Vec::new();
    modules.extend(raw.prior_state.as_ref().and_then(|state| state.values.as_ref()?.root_module.as_ref()));
    while let Some(module) = modules.pop() {
        for resource in &module.resources {
            secrets.note(&resource.values, resource.sensitive_values.as_ref());
        }
        modules.extend(&module.child_modules);
    }
    secrets
}

fn hide(plan: &mut Plan, secrets: &SecretsSeen) {
    for change in plan.resource_changes.iter_mut().chain(&mut plan.resource_drift) {
        secrets.hide(&mut change.before);
        secrets.hide(&mut change.after);
        for attribute in &mut change.attributes {
            secrets.hide(&mut attribute.before);
            secrets.hide(&mut attribute.after);
        }
        change.importing.take_if(|id| secrets.reveals(id));
    }
    for output in plan.output_changes.values_mut() {
        secrets.hide(&mut output.before);
        secrets.hide(&mut output.after);
    }
    plan.prior_resources.iter_mut().for_each(|resource| secrets.hide(&mut resource.values));
    for problem in plan.checks.iter_mut().flat_map(|check| &mut check.problems) {
        if secrets.reveals(problem) {
            *problem = Shown::SENSITIVE.to_owned();
        }
    }
}

/// Tofu does not say; terraform does.
fn would_do_something(plan: &Plan) -> bool {
    let changes = plan.resource_changes.iter().map(|change| &change.action);
    let outputs = plan.output_changes.values().map(|change| &change.action);
    !plan.errored
        && (changes.chain(outputs).any(|action| !action.is_no_op()) || !plan.resource_drift.is_empty())
}

fn collect(module: RawModule, masks: &BTreeMap<String, Value>, found: &mut Vec<PriorResource>) {
    for resource in module.resources {
        let mask = match (resource.sensitive_values, masks.get(&resource.address)) {
            (Some(own), Some(planned)) => Some(union(Some(&own), Some(planned))),
            (own, _) => own,
        };
        found.push(PriorResource {
            values: redact(Some(&resource.values), mask.as_ref(), None),
            address: resource.address,
            mode: resource.mode,
            kind: resource.kind,
            name: resource.name,
            provider: resource.provider_name,
            tainted: resource.tainted,
            deposed: resource.deposed_key,
        });
    }
    for child in module.child_modules {
        collect(child, masks, found);
    }
}

impl From<RawResourceChange> for ResourceChange {
    fn from(raw: RawResourceChange) -> ResourceChange {
        let change = raw.change;
        let mask = change.mask();
        let unknown = if change.after_unknown.is_null() { Value::Bool(false) } else { change.after_unknown };
        let replace_paths: Vec<Path> = change.replace_paths.iter().map(|steps| path(steps)).collect();
        let mut attributes = Vec::new();
        differences(
            &change.before,
            &change.after,
            &mask,
            &unknown,
            &mut Vec::new(),
            &mut |path, before, after| {
                let forces_replacement = replace_paths.iter().any(|forced| {
                    forced.0.starts_with(&path.0) || (!forced.0.is_empty() && path.0.starts_with(&forced.0))
                });
                attributes.push(AttributeChange { path, before, after, forces_replacement });
            },
        );
        ResourceChange {
            address: raw.address,
            previous_address: raw.previous_address,
            mode: raw.mode,
            kind: raw.kind,
            name: raw.name,
            provider: raw.provider_name,
            deposed: raw.deposed,
            action: Action::from_list(&change.actions),
            reason: raw.action_reason,
            before: redact(Some(&change.before), Some(&mask), None),
            after: redact(Some(&change.after), Some(&mask), Some(&unknown)),
            attributes,
            replace_paths,
            importing: change.importing.and_then(|importing| importing.id),
        }
    }
}

impl From<RawChange> for OutputChange {
    fn from(raw: RawChange) -> OutputChange {
        let mask = raw.mask();
        OutputChange {
            action: Action::from_list(&raw.actions),
            before: redact(Some(&raw.before), Some(&mask), None),
            after: redact(
                Some(&raw.after),
                Some(&mask),
                Some(&raw.after_unknown).filter(|mask| !mask.is_null()),
            ),
            sensitive: mask == Value::Bool(true),
        }
    }
}

impl From<RawCheck> for Check {
    fn from(raw: RawCheck) -> Check {
        let status = match raw.status.as_str() {
            "pass" => CheckStatus::Pass,
            "fail" => CheckStatus::Fail,
            "error" => CheckStatus::Error,
            _ => CheckStatus::Unknown,
        };
        let problems = raw.instances.into_iter().flat_map(|instance| instance.problems);
        Check {
            address: raw.address.to_display,
            status,
            problems: problems.map(|problem| problem.message).collect(),
        }
    }
}

/// Steps are texts and numbers.
fn path(steps: &[Value]) -> Path {
    let step = |step: &Value| match (step.as_u64(), step.as_str()) {
        (Some(index), _) => PathStep::Index(index as usize),
        (None, Some(key)) => PathStep::Key(key.to_owned()),
        (None, None) => PathStep::Key(step.to_string()),
    };
    Path(steps.iter().map(step).collect())
}

#[cfg(test)]
mod tests;
