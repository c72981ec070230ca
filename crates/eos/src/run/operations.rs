//! What a plan says of one-off operations: tofu sees host states with a trigger, a person wants to know what they do.

use std::collections::BTreeMap;

use eos_catalog::component::OperationFate;
use eos_compile::OperationNote;
use eos_engine::{ChangeKind, OneOff, RunPlan, Touch, Verdict};

/// Puts the words of operations that are to be carried out into a plan.
pub fn tell(plan: &mut RunPlan, notes: &BTreeMap<String, OperationNote>) {
    for unit in plan.units.values_mut() {
        let (Verdict::Changes { changes, .. } | Verdict::Envelope { foreseen: changes, .. }) =
            &mut unit.verdict
        else {
            continue;
        };
        let done = |kind: ChangeKind| matches!(kind, ChangeKind::Create | ChangeKind::Replace);
        for change in changes.iter_mut().filter(|change| done(change.kind)) {
            change.operation = notes.get(&change.address).map(one_off);
        }
    }
}

fn one_off(note: &OperationNote) -> OneOff {
    let data = match note.data.as_ref().map(|data| data.fate) {
        None => Touch::Unknown,
        Some(OperationFate::Untouched) => Touch::Untouched,
        Some(OperationFate::Stays) => Touch::Stays,
        Some(OperationFate::AtRisk) => Touch::AtRisk,
    };
    let because = note.data.as_ref().and_then(|data| data.because.clone());
    OneOff { words: note.words.clone(), data, because }
}
