//! References to secrets lead to a secret of the environment, and to a file that is there.
//!
//! What an offer makes a secret for has a reference to it. One without a file is warned about and not refused: a person writes the reference first and sets the value then.

use eos_catalog::SettingType;
use eos_model::{Diagnostic, SecretRef, codes};
use eos_yaml::Node;

use crate::work::{Unit, Work};

pub fn run(work: &mut Work<'_>) {
    let mut found = Vec::new();
    for unit in work.units.values() {
        for (reference, node) in references(unit) {
            let wrong = elsewhere(unit, &reference).or_else(|| without_file(work, &reference));
            found.extend(wrong.map(|wrong| wrong.at(work.place(node))));
        }
    }
    for unit in work.sound() {
        found.extend(not_referred_to(work, unit));
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// What a unit reads, with where that is written.
fn references<'u>(unit: &'u Unit<'_>) -> Vec<(SecretRef, &'u Node)> {
    let is_secret = |name: &str| {
        unit.component.settings.get(name).is_some_and(|setting| setting.kind == SettingType::Secret)
    };
    let entry = unit.entry;
    let settings = entry.settings.iter().filter(|(name, _)| is_secret(name));
    let settings = settings.filter_map(|(_, node)| Some((node.as_str()?.parse().ok()?, node)));
    let made = entry.secrets.iter().map(|(key, reference)| {
        let node = entry.node.get("secrets").and_then(|secrets| secrets.get(key));
        (reference.clone(), node.unwrap_or(&entry.node))
    });
    settings.chain(made).collect()
}

fn elsewhere(unit: &Unit<'_>, reference: &SecretRef) -> Option<Diagnostic> {
    let own = &unit.id.env;
    (reference.env != *own).then(|| {
        let SecretRef { env, name, key, .. } = reference;
        let message = format!("{} of {own} reads a secret of {env}: {reference}", unit.id.name);
        Diagnostic::error(codes::UNKNOWN_SECRET, message)
            .why(format!("whoever changes or deletes {name} of {env} would break what is in {own}"))
            .fix(format!(
                "write secret://{own}/{name}/{key}?v=1 there and commit, then eos secret set {name}/{key}"
            ))
    })
}

fn without_file(work: &Work<'_>, reference: &SecretRef) -> Option<Diagnostic> {
    let known = work.input.secrets?;
    (!known.contains(reference)).then(|| {
        let SecretRef { name, key, .. } = reference;
        Diagnostic::warning(codes::UNKNOWN_SECRET, format!("{reference} has no file"))
            .why("what reads it cannot be applied without")
            .fix(format!("eos secret set {name}/{key}; eos secret list shows which there are"))
    })
}

/// The secrets that the offers a unit uses open themselves with, and that its entry does not name.
fn not_referred_to(work: &Work<'_>, unit: &Unit<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (need, providers) in &unit.needs {
        let Some(spec) = unit.component.needs.get(need).filter(|spec| spec.each.is_none()) else { continue };
        for provider in providers.iter().filter_map(|provider| work.units.get(&provider.name)) {
            let offer = provider.component.offers.get(&spec.offer);
            let keys = offer.into_iter().flat_map(|offer| &offer.generates);
            let keys = keys.map(|secret| format!("{need}_{secret}"));
            for key in keys.filter(|key| !unit.entry.secrets.contains_key(key)) {
                let (env, name) = (&unit.id.env, &unit.id.name);
                let fix = match work.is_by_hand(unit) {
                    true => format!(
                        "write into {name}: secrets: {{{key}: 'secret://{env}/{name}/{key}?v=1'}}, git commit it, then eos secret rotate {name}/{key}"
                    ),
                    false => format!("eos update {name} makes one"),
                };
                let message = format!("{name} does not say which secret is its {key}");
                found.push(
                    Diagnostic::error(codes::MISSING_SETTING, message)
                        .at(work.place(&unit.entry.node))
                        .why(format!("{} lets it in with that alone", provider.id.name))
                        .fix(fix),
                );
            }
        }
    }
    found
}
