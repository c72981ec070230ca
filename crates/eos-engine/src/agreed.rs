//! What a person agreed to for one unit, and whether what tofu wants now is within it.
//!
//! A unit that could be planned was agreed to change by change. One below a unit that was not there yet has an
//! envelope: its compiled addresses, to be created. Resuming plans again, since the saved plan is stale once half of it
//! happened; the rest of a plan fits the plan.

use std::collections::{BTreeMap, BTreeSet};

use eos_tofu::{Action, Mode, Plan, ResourceChange};
use serde::{Deserialize, Serialize};

/// What may happen to a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Agreed {
    /// Exactly these changes, by address.
    Changes { changes: BTreeMap<String, ChangeKind> },
    /// Known only after other units: these resources may be created and, where the unit exists already, updated in
    /// place; and what was foreseen with the values there were.
    Envelope { addresses: BTreeSet<String>, updates: bool, foreseen: BTreeMap<String, ChangeKind> },
}

/// What happens to a resource, the gravest first: in this order they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Destroy,
    /// Leaves tofu's care and stays in the world.
    Forget,
    Replace,
    Update,
    Create,
    /// An existing object is taken over.
    Adopt,
}

impl ChangeKind {
    /// None for what changes nothing: no-ops, reads, moves in the state.
    pub fn of(change: &ResourceChange) -> Option<ChangeKind> {
        if change.mode != Mode::Managed {
            return None;
        }
        Some(match change.action {
            Action::Delete => ChangeKind::Destroy,
            Action::Forget => ChangeKind::Forget,
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                ChangeKind::Replace
            }
            Action::Update if change.importing.is_some() => ChangeKind::Adopt,
            Action::Update => ChangeKind::Update,
            Action::Create => ChangeKind::Create,
            Action::Import => ChangeKind::Adopt,
            Action::NoOp if change.importing.is_some() => ChangeKind::Adopt,
            Action::NoOp | Action::Read | Action::Open | Action::Move => return None,
            // An action of a newer tofu is treated as the worst.
            Action::Other(_) => ChangeKind::Destroy,
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Destroy => "destroy",
            ChangeKind::Forget => "forget",
            ChangeKind::Replace => "replace",
            ChangeKind::Update => "update",
            ChangeKind::Create => "create",
            ChangeKind::Adopt => "adopt",
        }
    }
}

impl Agreed {
    pub fn nothing() -> Agreed {
        Agreed::Changes { changes: BTreeMap::new() }
    }

    /// Addresses that may be created.
    pub(crate) fn creates(&self) -> Vec<String> {
        match self {
            Agreed::Changes { changes } => {
                let creates = |kind: &ChangeKind| matches!(kind, ChangeKind::Create | ChangeKind::Replace);
                changes.iter().filter(|(_, kind)| creates(kind)).map(|(address, _)| address.clone()).collect()
            }
            Agreed::Envelope { addresses, foreseen, .. } => {
                let goes = |kind: &ChangeKind| matches!(kind, ChangeKind::Destroy | ChangeKind::Forget);
                let stay = foreseen.iter().filter(|(_, kind)| !goes(kind)).map(|(address, _)| address);
                addresses.iter().chain(stay).cloned().collect()
            }
        }
    }

    /// Addresses whose objects may be made anew while the old ones are there.
    pub(crate) fn replaces(&self) -> BTreeSet<String> {
        match self {
            Agreed::Changes { changes } | Agreed::Envelope { foreseen: changes, .. } => {
                let replaced = changes.iter().filter(|(_, kind)| **kind == ChangeKind::Replace);
                replaced.map(|(address, _)| address.clone()).collect()
            }
        }
    }

    /// Everything that was shown to change.
    pub(crate) fn addresses(&self) -> Vec<String> {
        match self {
            Agreed::Changes { changes } | Agreed::Envelope { foreseen: changes, .. } => {
                changes.keys().cloned().collect()
            }
        }
    }

    /// Whether anything may happen to a resource, named without keys.
    pub(crate) fn touches(&self, resource: &str) -> bool {
        let is_it = |address: &String| without_keys(address) == resource;
        match self {
            Agreed::Changes { changes } => changes.keys().any(is_it),
            Agreed::Envelope { addresses, foreseen, .. } => {
                addresses.iter().chain(foreseen.keys()).any(is_it)
            }
        }
    }

    /// What a plan does beyond what was agreed: address and kind.
    pub fn exceeded_by(&self, plan: &Plan) -> Vec<(String, ChangeKind)> {
        let mut beyond: Vec<_> = plan
            .resource_changes
            .iter()
            .filter_map(|change| Some((change, ChangeKind::of(change)?)))
            .filter(|(change, kind)| !self.allows(change, *kind))
            .map(|(change, kind)| (change.address.clone(), kind))
            .collect();
        beyond.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        beyond
    }

    fn allows(&self, change: &ResourceChange, kind: ChangeKind) -> bool {
        match self {
            Agreed::Changes { changes } => {
                let agreed = changes.get(&change.address).copied();
                agreed.is_some_and(|agreed| rest_of(agreed, kind, made_by_us(change)))
            }
            Agreed::Envelope { addresses, updates, foreseen } => {
                let agreed = foreseen.get(&change.address).copied();
                if agreed.is_some_and(|agreed| rest_of(agreed, kind, made_by_us(change))) {
                    return true;
                }
                let known = addresses.contains(&without_keys(&change.address));
                let kind_fits = match kind {
                    ChangeKind::Create | ChangeKind::Adopt => true,
                    ChangeKind::Update => *updates,
                    // A half-made one of this very run is made again.
                    ChangeKind::Replace => made_by_us(change),
                    ChangeKind::Destroy | ChangeKind::Forget => false,
                };
                known && kind_fits
            }
        }
    }
}

/// Tainted: created by an apply that did not finish.
fn made_by_us(change: &ResourceChange) -> bool {
    change.reason.as_deref() == Some("replace_because_tainted")
}

/// Whether `now` can be what is left of an agreed change after a part of it happened.
fn rest_of(agreed: ChangeKind, now: ChangeKind, tainted: bool) -> bool {
    use ChangeKind::*;
    match (agreed, now) {
        (agreed, now) if agreed == now => true,
        // The old one is gone already, or the new one is half made.
        (Replace, Create | Destroy | Update) => true,
        (Create | Adopt, Update) => true,
        (Create | Adopt, Replace) => tainted,
        (Adopt, Create) | (Create, Adopt) => true,
        _ => false,
    }
}

/// `module.web["a"].aws_instance.node[0]` → `module.web.aws_instance.node`
pub(crate) fn without_keys(address: &str) -> String {
    let mut plain = String::with_capacity(address.len());
    let mut in_key = false;
    let mut in_text = false;
    let mut escaped = false;
    for c in address.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' if in_key => in_text = !in_text,
            '[' if !in_text => in_key = true,
            ']' if !in_text => in_key = false,
            _ if in_key => {}
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_keys_are_dropped_whatever_is_in_them() {
        assert_eq!(without_keys("a.b"), "a.b");
        assert_eq!(without_keys("a.b[0]"), "a.b");
        assert_eq!(without_keys(r#"module.web["x].y\"["].a.b["k"]"#), "module.web.a.b");
    }

    #[test]
    fn what_is_foreseen_to_go_is_not_created() {
        let foreseen =
            [("a.new", ChangeKind::Replace), ("a.old", ChangeKind::Destroy), ("a.data", ChangeKind::Forget)];
        let agreed = Agreed::Envelope {
            addresses: BTreeSet::from(["a.later".to_owned()]),
            updates: true,
            foreseen: foreseen.map(|(address, kind)| (address.to_owned(), kind)).into(),
        };
        assert_eq!(agreed.creates(), ["a.later", "a.new"]);
        assert_eq!(agreed.replaces(), BTreeSet::from(["a.new".to_owned()]));
    }

    #[test]
    fn a_create_may_end_as_an_update_and_never_as_a_destroy() {
        assert!(rest_of(ChangeKind::Create, ChangeKind::Update, false));
        assert!(rest_of(ChangeKind::Replace, ChangeKind::Create, false));
        assert!(!rest_of(ChangeKind::Update, ChangeKind::Replace, false));
        assert!(!rest_of(ChangeKind::Update, ChangeKind::Replace, true));
        assert!(rest_of(ChangeKind::Create, ChangeKind::Replace, true));
        assert!(!rest_of(ChangeKind::Create, ChangeKind::Destroy, false));
        assert!(!rest_of(ChangeKind::Forget, ChangeKind::Destroy, false));
    }
}
