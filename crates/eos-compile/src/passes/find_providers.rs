//! Who meets each need: the choice written in the pillar, or the only one there is.
//!
//! Nothing is chosen here between several: a choice made now could change when an unrelated component appears.

use std::collections::BTreeSet;

use eos_catalog::Component;
use eos_catalog::component::Need;
use eos_model::{Diagnostic, Name, codes};
use eos_pillar::entry::NeedChoice;
use indexmap::IndexMap;

use crate::passes::resolve_names::hint;
use crate::work::{Provider, Unit, Work};

/// A need that stands for everything else.
pub const EVERYTHING: &str = "*";

pub fn run(work: &mut Work<'_>) {
    let mut all = Vec::new();
    let mut found = Vec::new();
    let mut unsound = Vec::new();
    for unit in work.units.values() {
        let mut needs = IndexMap::new();
        // Features may bring needs, and a met need may turn a feature on: what the pillar names is looked at too.
        let component = match crate::passes::expand_features::variant(work, unit) {
            Ok(component) => component,
            Err(diagnostics) => {
                found.extend(diagnostics.0);
                unsound.push(unit.id.name.clone());
                continue;
            }
        };
        found.extend(unknown_words(work, unit, &component));
        for (name, need) in &component.needs {
            if need.offer == EVERYTHING {
                continue;
            }
            match providers(work, unit, name, need) {
                Ok(providers) if providers.is_empty() => {}
                Ok(providers) => {
                    needs.insert(name.clone(), providers);
                }
                Err(diagnostic) => {
                    found.extend(diagnostic);
                    unsound.push(unit.id.name.clone());
                }
            }
        }
        all.push((unit.id.name.clone(), needs));
    }
    // Two that each come after everything else cannot come after each other.
    let last = |unit: &Unit<'_>| unit.component.needs.values().any(|need| need.offer == EVERYTHING);
    let everything: BTreeSet<Name> =
        work.units.values().filter(|unit| !last(unit)).map(|unit| unit.id.name.clone()).collect();
    for (name, needs) in all {
        if let Some(unit) = work.units.get_mut(&name) {
            unit.upstream = needs
                .values()
                .flatten()
                .map(|provider| provider.name.clone())
                .filter(|other| *other != name)
                .collect();
            if last(unit) {
                unit.upstream.extend(everything.iter().cloned());
            }
            unit.needs = needs;
        }
    }
    work.unsound.extend(unsound);
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// What an entry says of needs that its component does not have, and of secrets for them.
fn unknown_words(work: &Work<'_>, unit: &Unit<'_>, component: &Component) -> Vec<Diagnostic> {
    let known: Vec<&str> = component.needs.keys().map(String::as_str).collect();
    let is_for =
        |secret: &str, need: &str| secret.strip_prefix(need).is_some_and(|rest| rest.starts_with('_'));
    let needs = unit.entry.needs.keys().filter(|need| !known.contains(&need.as_str()));
    let secrets = unit.entry.secrets.keys().filter(|key| !known.iter().any(|need| is_for(key, need)));
    let told = |section: &str, what: &str, word: &String| {
        let node = unit.entry.node.get(section);
        let place =
            work.place(node.and_then(|section| section.get(word)).or(node).unwrap_or(&unit.entry.node));
        let message = format!("{} has no {what} {word:?}", unit.entry.kind);
        Diagnostic::error(codes::UNKNOWN_SETTING, message)
            .at(place)
            .why("it would be left out, and nobody would notice")
            .fix(hint(word, &known))
    };
    let needs = needs.map(|word| told("needs", "need", word));
    needs.chain(secrets.map(|word| told("secrets", "secret of a need", word))).collect()
}

/// Who meets a need, or what is wrong with that; nothing is said where it only follows from another mistake.
fn providers(
    work: &Work<'_>,
    unit: &Unit<'_>,
    name: &str,
    need: &Need,
) -> Result<Vec<Provider>, Option<Diagnostic>> {
    // An entry that is no unit has a kind that cannot be read: told by itself.
    let is_told = |provider: &Name| work.input.environment.components.contains_key(provider);
    let all_are_units = work.units.len() == work.input.environment.components.len();
    let node = unit.entry.node.get("needs").and_then(|needs| needs.get(name));
    let place = || work.place(node.unwrap_or(&unit.entry.node));
    let offers =
        |other: &Unit<'_>| other.component.offers.contains_key(&need.offer) && other.id.name != unit.id.name;
    let flag = need.each.as_deref().unwrap_or(name).replace('_', "-");
    let named = |each: &Option<String>, provider: &Name| {
        need.named_by().is_none() || each.as_deref() == Some(provider.as_str())
    };
    let check = |provider: &Name, each: Option<String>| match work.units.get(provider) {
        Some(_) if !named(&each, provider) => Err(Some(
            Diagnostic::error(
                codes::NOTHING_OFFERS,
                format!("{} has {provider} in the place of {}", unit.id.name, each.unwrap_or_default()),
            )
            .at(place())
            .why(format!("each name of --{flag} stands for itself"))
            .fix(format!("eos update {} --{flag} {provider}", unit.id.name)),
        )),
        Some(other) if offers(other) => Ok(Provider { each, name: provider.clone() }),
        Some(_) => Err(Some(
            Diagnostic::error(
                codes::NOTHING_OFFERS,
                format!("{} needs {}, which {provider} does not offer", unit.id.name, need.offer),
            )
            .at(place())
            .fix(format!("eos update {} --{flag} <name>", unit.id.name)),
        )),
        None if is_told(provider) => Err(None),
        None => Err(Some(
            Diagnostic::error(
                codes::UNKNOWN_NAME,
                format!("{} needs {provider}, which does not exist", unit.id.name),
            )
            .at(place())
            .fix(format!("eos create it first, or eos update {} --{flag} <name>", unit.id.name)),
        )),
    };
    match unit.entry.needs.get(name) {
        Some(NeedChoice::One(provider)) => Ok(vec![check(provider, None)?]),
        Some(NeedChoice::Each(choices)) => {
            choices.iter().map(|(each, provider)| check(provider, Some(each.clone()))).collect()
        }
        None if need.soft => Ok(Vec::new()),
        None => {
            let candidates: Vec<&Name> =
                work.units.values().filter(|other| offers(other)).map(|other| &other.id.name).collect();
            match candidates.as_slice() {
                [only] if need.each.is_none() => Ok(vec![Provider { each: None, name: (*only).clone() }]),
                [] if !all_are_units => Err(None),
                [] => Err(Some(
                    Diagnostic::error(
                        codes::NOTHING_OFFERS,
                        format!("{} needs {} and nothing offers it", unit.id.name, need.offer),
                    )
                    .at(place())
                    .why(format!("it is for {}", need.help))
                    .fix(need.create.as_ref().map_or_else(
                        || "eos catalog list shows what there is".to_owned(),
                        |kind| format!("eos create {kind}"),
                    )),
                )),
                several => Err(Some(two_offers(&unit.id.name, name, &need.offer, several).at(place()))),
            }
        }
    }
}

/// The message about a need that several could meet.
pub fn two_offers(unit: &Name, need: &str, offer: &str, candidates: &[&Name]) -> Diagnostic {
    let names: Vec<&str> = candidates.iter().map(|name| name.as_str()).collect();
    let first = names.first().copied().unwrap_or_default();
    Diagnostic::error(codes::TWO_OFFERS, format!("{unit} needs {offer}, which {} offer", names.join(" and ")))
        .why("eos does not guess which of them is meant")
        .fix(format!("say --{} {first}, or another of them", need.replace('_', "-")))
}
