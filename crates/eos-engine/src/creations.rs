//! The plan of a unit that is only created, from what tofu says while it plans: a line for each creation has all that the
//! screen, the check of data and the run ask of it. `tofu show`, which starts the unit's providers once more, is left out.
//!
//! Wherever the lines could leave something open - another action, a resource of a foreign provider, a module, a host that
//! an expression names - there is no such plan, and the saved one is shown.

use std::collections::BTreeMap;

use eos_tofu::{Action, ChangeCounts, Mode, OutputChange, Plan, Planned, ResourceChange, Shown};
use serde_json::Value as Json;

use crate::agreed::without_keys;

/// Kinds of which a creation has no price, and nothing to tell but its host.
const KNOWN: [(&str, &str); 3] = [
    ("eos_nomad_job", "eos.local/eos/eos"),
    ("eos_salt_state", "eos.local/eos/eos"),
    ("terraform_data", "terraform.io/builtin/terraform"),
];

/// What a plan does, when all of it is creations that `main` tells enough about.
pub(crate) fn plan_of(main: &Json, planned: &Planned) -> Option<Plan> {
    let only = ChangeCounts { add: planned.planned.len() as u64, ..ChangeCounts::default() };
    if planned.planned.is_empty() || !planned.drift.is_empty() || planned.counts != only {
        return None;
    }
    let changes = planned.planned.iter().map(|(address, action)| creation(main, address, action));
    let output = |sensitive: bool| OutputChange {
        action: Action::Create,
        before: Shown::Null,
        after: if sensitive { Shown::Sensitive } else { Shown::Unknown },
        sensitive,
    };
    Some(Plan {
        format_version: String::new(),
        tool_version: String::new(),
        resource_changes: changes.collect::<Option<_>>()?,
        resource_drift: Vec::new(),
        output_changes: planned
            .outputs
            .iter()
            .map(|(name, it)| (name.clone(), output(it.sensitive)))
            .collect(),
        prior_resources: Vec::new(),
        checks: Vec::new(),
        errored: false,
        complete: true,
        applyable: true,
    })
}

fn creation(main: &Json, address: &str, action: &Action) -> Option<ResourceChange> {
    let plain = without_keys(address);
    let (kind, name) = plain.split_once('.').filter(|(_, name)| !name.contains('.'))?;
    let (_, provider) = KNOWN.into_iter().find(|(known, _)| *known == kind)?;
    let body = main.get("resource")?.get(kind)?.get(name)?;
    let target = match body.get("target") {
        None => None,
        Some(Json::String(target)) if !target.contains("${") && !target.contains("%{") => Some(target),
        Some(_) => return None,
    };
    let after = target.map(|target| ("target".to_owned(), Shown::Text(target.clone())));
    (*action == Action::Create).then(|| ResourceChange {
        address: address.to_owned(),
        previous_address: None,
        mode: Mode::Managed,
        kind: kind.to_owned(),
        name: name.to_owned(),
        provider: provider.to_owned(),
        deposed: None,
        action: Action::Create,
        reason: None,
        before: Shown::Null,
        after: Shown::Map(BTreeMap::from_iter(after)),
        attributes: Vec::new(),
        replace_paths: Vec::new(),
        importing: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn planned(changes: &[(&str, Action)]) -> Planned {
        Planned {
            changes: true,
            planned: changes
                .iter()
                .map(|(address, action)| ((*address).to_owned(), action.clone()))
                .collect(),
            counts: ChangeCounts { add: changes.len() as u64, ..ChangeCounts::default() },
            ..Planned::default()
        }
    }

    #[test]
    fn creations_that_hide_nothing_need_not_be_shown() {
        let main = json!({"resource": {
            "eos_salt_state": {"volumes": {"target": "web1"}, "elsewhere": {"target": "${var.host}"}},
            "eos_nomad_job": {"job": {}},
            "terraform_data": {"many": {"count": 2}},
            "hcloud_volume": {"disk": {}},
        }});
        let made = planned(&[
            ("eos_salt_state.volumes", Action::Create),
            ("eos_nomad_job.job", Action::Create),
            (r#"terraform_data.many["a.b"]"#, Action::Create),
        ]);
        let plan = plan_of(&main, &made).unwrap();
        let told: Vec<_> = plan.resource_changes.iter().map(|it| (it.address.as_str(), &it.action)).collect();
        assert_eq!(told, made.planned.iter().map(|(a, b)| (a.as_str(), b)).collect::<Vec<_>>());
        assert_eq!(plan.resource_changes[0].after.get("target").and_then(Shown::as_text), Some("web1"));

        let job = ("eos_nomad_job.job", Action::Create);
        let doubtful: [&[(&str, Action)]; 6] = [
            &[],
            &[job.clone(), ("terraform_data.many[0]", Action::Update)],
            &[job.clone(), ("eos_salt_state.elsewhere", Action::Create)],
            &[job.clone(), ("hcloud_volume.disk", Action::Create)],
            &[job.clone(), ("module.net.terraform_data.many", Action::Create)],
            &[job.clone(), ("data.terraform_data.many", Action::Read)],
        ];
        for changes in doubtful {
            assert_eq!(plan_of(&main, &planned(changes)), None, "{changes:?}");
        }
        let one = planned(&[job]);
        let drifted = Planned { drift: one.planned.clone(), ..one.clone() };
        assert_eq!(plan_of(&main, &drifted), None);
        let importing = Planned { counts: ChangeCounts { import: 1, ..one.counts }, ..one };
        assert_eq!(plan_of(&main, &importing), None);
    }
}
