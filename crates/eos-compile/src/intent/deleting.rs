//! Deleting: what stands in the way of it, what to type then, and what was made for a name that goes.

use std::collections::BTreeMap;

use eos_catalog::component::Need;
use eos_model::{Diagnostic, Diagnostics, Name, codes};
use eos_pillar::entry::NeedChoice;
use eos_pillar::{ComponentEntry, Environment};

use super::complete::with_features;
use super::verbs::{find, is_made_for, offering};
use crate::work::Input;

/// What was made for a name that goes, and that nothing else needs.
pub fn left_behind(environment: &Environment, name: &str) -> Vec<Name> {
    let needed_by_others = |candidate: &Name| {
        environment
            .components
            .values()
            .filter(|other| other.name.as_str() != name)
            .any(|other| needs(other, candidate))
    };
    let made_for = |entry: &&ComponentEntry| {
        entry.created_for.as_deref() == Some(name) && !needed_by_others(&entry.name)
    };
    environment.components.values().filter(made_for).map(|entry| entry.name.clone()).collect()
}

fn needs(entry: &ComponentEntry, provider: &Name) -> bool {
    entry.needs.values().any(|choice| match choice {
        NeedChoice::One(name) => name == provider,
        NeedChoice::Each(choices) => choices.values().any(|name| name == provider),
    })
}

/// The names that stand in the way of deleting one.
pub fn delete(input: &Input<'_>, name: &str) -> Result<(), Diagnostics> {
    let environment = input.environment;
    let entry = find(environment, name)?;
    let dependents: Vec<&str> = environment
        .components
        .values()
        .filter(|other| needs(other, &entry.name))
        .map(|other| other.name.as_str())
        .collect();
    if dependents.is_empty() {
        return Ok(());
    }
    let needed_by = format!("{name} is needed by {}", dependents.join(", "));
    Err(Diagnostic::error(codes::STILL_NEEDED, needed_by)
        .at(environment.place(&entry.node))
        .why("they would lose what they work with")
        .fix(ways_to_delete(input, &entry.name, &dependents))
        .into())
}

/// What to type to be rid of something that others need: all of it, in an order in which it works. First what leaves as
/// much as can be; what cannot do without goes, and what needs that.
fn ways_to_delete(input: &Input<'_>, name: &Name, dependents: &[&str]) -> String {
    let environment = input.environment;
    let whole = |commands: Vec<String>| [commands, vec![format!("eos delete {name}")]].concat().join(" && ");
    let updates: BTreeMap<&str, String> = dependents
        .iter()
        .filter_map(|user| Some((*user, without(input, &environment.components[*user], name)?)))
        .collect();
    let all = users_first(environment, dependents.iter().copied());
    let everything = whole(vec![deletes(&all)]);
    let cannot = dependents.iter().copied().filter(|user| !updates.contains_key(user));
    let go = users_first(environment, cannot);
    let mut commands: Vec<String> = go.iter().map(|user| format!("eos delete {user}")).collect();
    commands.extend(updates.iter().filter(|(user, _)| !go.contains(user)).map(|(_, update)| update.clone()));
    let kept = if go.is_empty() { "to keep them" } else { "to keep those that can do without it" };
    match commands.len() == go.len() {
        true => everything,
        false => format!("{kept}: {}; to take them away as well: {everything}", whole(commands)),
    }
}

/// Names and whatever needs them, in an order in which each can be deleted.
pub fn users_first<'a>(
    environment: &'a Environment,
    names: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut left: BTreeMap<&str, &ComponentEntry> = BTreeMap::new();
    let mut found: Vec<&str> = names.into_iter().collect();
    while let Some(entry) = found.pop().and_then(|name| environment.components.get(name)) {
        let users = environment.components.values().filter(|other| needs(other, &entry.name));
        if left.insert(entry.name.as_str(), entry).is_none() {
            found.extend(users.map(|user| user.name.as_str()));
        }
    }
    let mut order = Vec::new();
    while let Some(first) = left.keys().next().copied() {
        let is_free = |entry: &ComponentEntry| !left.values().any(|other| needs(other, &entry.name));
        // A circle is a mistake of the pillar's, told elsewhere.
        let next = left.values().find(|entry| is_free(entry)).map_or(first, |entry| entry.name.as_str());
        left.remove(next);
        order.push(next);
    }
    order
}

/// The commands that delete names, in the order that is given.
pub fn deletes(names: &[&str]) -> String {
    let commands: Vec<String> = names.iter().map(|name| format!("eos delete {name}")).collect();
    commands.join(" && ")
}

/// The command by which one that uses `provider` goes on without it, for whatever it needs it.
fn without(input: &Input<'_>, user: &ComponentEntry, provider: &Name) -> Option<String> {
    let component = with_features(input.catalog, user).ok()?;
    let uses = |choice: &NeedChoice| match choice {
        NeedChoice::One(one) => one == provider,
        NeedChoice::Each(each) => each.values().any(|one| one == provider),
    };
    let mut flags: Vec<String> = Vec::new();
    for (name, choice) in user.needs.iter().filter(|(_, choice)| uses(choice)) {
        let need = component.needs.get(name)?;
        // Its data stays where it is: another one would have nothing of it, nor would it by itself.
        let is_bound = !need.soft && (need.first_start.is_some() || is_made_for(input, need, provider));
        if is_bound {
            return None;
        }
        let given_up = giving_up(input, user, provider, (name, need), choice);
        let flag = given_up.or_else(|| turning_off(input, user, name))?;
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    (!flags.is_empty()).then(|| format!("eos update {} {}", user.name, flags.join(" ")))
}

/// The flag by which a need is met without `provider`.
fn giving_up(
    input: &Input<'_>,
    user: &ComponentEntry,
    provider: &Name,
    (name, need): (&str, &Need),
    choice: &NeedChoice,
) -> Option<String> {
    let flag = need.each.as_deref().unwrap_or(name).replace('_', "-");
    match choice {
        NeedChoice::One(_) if need.soft => Some(format!("--unset {flag}")),
        NeedChoice::One(_) => {
            let offering = offering(input, need, &user.name);
            let another = offering.into_iter().find(|name| *name != provider)?;
            Some(format!("--{flag} {another}"))
        }
        NeedChoice::Each(each) => {
            let others = each.iter().filter(|(_, one)| *one != provider);
            let others: Vec<&str> = others.map(|(element, _)| element.as_str()).collect();
            Some(match others.as_slice() {
                [] => format!("--unset {flag}"),
                others => format!("--{flag} {}", others.join(",")),
            })
        }
    }
}

/// The flag that turns the feature off which brought a need.
fn turning_off(input: &Input<'_>, user: &ComponentEntry, need: &str) -> Option<String> {
    let component = input.catalog.component(&user.kind).ok()?;
    let brings = |feature: &&String| {
        let added = component.features.get(*feature).and_then(|feature| feature.add.get("needs"));
        added.is_some_and(|needs| needs.get(need).is_some()) && !component.needs.contains_key(need)
    };
    user.features.iter().find(brings).map(|feature| format!("--no-{}", feature.replace('_', "-")))
}
