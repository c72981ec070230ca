//! The verbs: create and update a component.

use std::cmp::Ordering;

use eos_catalog::Component;
use eos_catalog::component::{DataClass, Need};
use eos_model::{Diagnostic, Diagnostics, Name, article::with_article, codes, nearest::nearest};
use eos_pillar::entry::NeedChoice;
use eos_pillar::{ComponentEntry, Environment};
use serde_json::{Map, Value as Json, json};

use super::complete::{Completer, object, with_features};
use super::request::{Planned, Request};
use crate::passes::resolve_names::reserved_name;
use crate::work::Input;

/// A new component, with everything it pulls in.
pub fn create(input: &Input<'_>, request: &Request) -> Result<Planned, Diagnostics> {
    let environment = input.environment;
    let name = request.name.as_str();
    if let Some(entry) = environment.components.get(name) {
        // What was made for somebody else becomes the person's own when they ask for it.
        if entry.created_for.is_some() && entry.kind == request.kind {
            let mut planned = changed(input, request)?;
            planned.notes.insert(
                0,
                format!(
                    "{name} was there already, made for {}; it is now one you asked for",
                    entry.created_for.as_deref().unwrap_or_default()
                ),
            );
            return Ok(planned);
        }
        return Err(Diagnostic::error(
            codes::NAME_TAKEN,
            format!("{} has {} named {name} already", environment.name, with_article(&entry.kind)),
        )
        .at(environment.place(&entry.node))
        .fix(format!(
            "eos update {name} changes it; eos create {} <another name> makes a second one",
            request.kind
        ))
        .into());
    }
    let base = input.catalog.component(&request.kind)?;
    if let Some(problem) = only_acts(&base) {
        return Err(problem.into());
    }
    let mut completer = Completer::new(input, &request.kept);
    let wrong_name = name.parse::<Name>().err().map(Diagnostic::from);
    completer.found.0.extend(wrong_name.or_else(|| reserved_name(&base, name)));
    let entry = apply(Map::new(), request);
    completer.complete(&request.name, &request.kind, entry, request, None);
    completer.finish()
}

/// The message about a kind that can be told to do something and is nothing by itself.
fn only_acts(component: &Component) -> Option<Diagnostic> {
    let (kind, operation) = (&component.kind, component.operations.values().next()?);
    component.only_acts().then(|| {
        Diagnostic::error(codes::UNKNOWN_OPERATION, format!("there is no {kind} to create: it only acts"))
            .why(format!("nothing of it would be there afterwards; it is for this: {}", operation.help))
            .fix(operation.example.clone())
    })
}

/// A component changed. One that was made for another is the person's own from then on; where nothing changes, it stays
/// the other's.
pub fn update(input: &Input<'_>, request: &Request) -> Result<Planned, Diagnostics> {
    let mut planned = changed(input, request)?;
    let before = find(input.environment, &request.name)?;
    let (Some(user), mut asked) = (&before.created_for, before.node.to_json()) else { return Ok(planned) };
    let Some(after) = planned.entries.iter_mut().find(|entry| entry.name == before.name) else {
        return Ok(planned);
    };
    let own = asked.clone();
    asked.as_object_mut().map(|entry| entry.shift_remove("created_for"));
    if after.entry == asked {
        after.entry = own;
    } else {
        planned.notes.insert(0, format!("{} was made for {user}; it is now one you asked for", before.name));
    }
    Ok(planned)
}

/// What was chosen before stays.
fn changed(input: &Input<'_>, request: &Request) -> Result<Planned, Diagnostics> {
    let environment = input.environment;
    let before = find(environment, &request.name)?;
    let mut found = Diagnostics::new();
    let component = with_features(input.catalog, before)?;
    if !request.never_applied {
        found.0.extend(fixed_settings(environment, before, &component, request));
        found.0.extend(kept_providers(input, before, &component, request));
        if component.storage.values().any(|volume| volume.class != DataClass::Cache) {
            found.0.extend(under_data(before, &component, request));
        }
        let kept = request.secrets.iter().filter_map(|name| kept_secret(before, &component, name));
        found.0.extend(kept.map(|refusal| refusal.at(environment.place(&before.node))));
    }
    found.0.extend(request.unset.iter().filter_map(|need| hard_need(input, before, &component, need)));
    if found.has_errors() {
        return Err(found);
    }
    let mut entry = before.node.to_json().as_object().cloned().unwrap_or_default();
    entry.shift_remove("created_for");
    if request.never_applied {
        let host = request.common.get("host").and_then(Json::as_str);
        if host.is_some_and(|host| before.host.as_deref() != Some(host)) {
            forget_places(environment, before, &mut entry);
        }
    }
    let mut completer = Completer::new(input, &request.kept);
    let kind = before.kind.clone();
    completer.complete(before.name.as_str(), &kind, apply(entry, request), request, None);
    let mut planned = completer.finish()?;
    let after = planned.entries.iter_mut().find(|entry| entry.name == before.name);
    let after = after.and_then(|entry| entry.entry.get_mut("settings")?.as_object_mut());
    let after = after.map(|settings| in_order(before, settings)).unwrap_or_default();
    planned.notes.extend(request.unset.iter().filter_map(|name| {
        if before.needs.contains_key(name) {
            return Some(format!("{}: does without {name} from now on", before.name));
        }
        let default = component.settings.get(name)?.default.as_ref()?;
        // A port that somebody else has is not had again; what was chosen instead is told as a choice.
        if after.get(name).is_some_and(|chosen| chosen != default) {
            return None;
        }
        let shown = match default {
            Json::String(text) => text.clone(),
            Json::Array(items) if items.is_empty() => "nothing".to_owned(),
            other => other.to_string(),
        };
        Some(format!("{}: {name} is the default again: {shown}", before.name))
    }));
    Ok(planned)
}

/// Settings stand where they stood: one that was unset and comes out as it was is no change.
fn in_order(before: &ComponentEntry, settings: &mut Map<String, Json>) -> Map<String, Json> {
    let known = before.settings.keys().filter_map(|name| settings.shift_remove_entry(name));
    let mut ordered: Map<String, Json> = known.collect();
    ordered.append(settings);
    settings.clone_from(&ordered);
    ordered
}

/// Settings that cannot change after creation, where they would.
fn fixed_settings(
    environment: &Environment,
    before: &ComponentEntry,
    component: &Component,
    request: &Request,
) -> Vec<Diagnostic> {
    let unset = request.unset.iter().filter_map(|name| {
        let default = component.settings.get(name)?.default.clone().unwrap_or_default();
        Some((name, default))
    });
    let said = request.settings.iter().map(|(name, value)| (name, value.clone())).chain(unset);
    let is_fixed = |name: &str| component.settings.get(name).is_some_and(|setting| setting.fixed);
    let changes =
        |name: &str, value: &Json| before.settings.get(name).is_none_or(|node| node.to_json() != *value);
    said.filter(|(name, value)| is_fixed(name) && changes(name, value))
        .map(|(name, _)| {
            Diagnostic::error(
                codes::FIXED_CHOICE,
                format!("{name} of {} cannot be changed after creation", before.name),
            )
            .at(environment.place(before.settings.get(name).unwrap_or(&before.node)))
            .fix("create another one beside it, move the data, delete the old one")
        })
        .collect()
}

/// Who provides a need and stays it: where it is read at the first start only, and where data was made for it.
fn kept_providers(
    input: &Input<'_>,
    before: &ComponentEntry,
    component: &Component,
    request: &Request,
) -> Vec<Diagnostic> {
    let environment = input.environment;
    let mut found = Vec::new();
    for (need_name, asked) in &request.needs {
        let Some(need) = component.needs.get(need_name).filter(|need| need.each.is_none()) else { continue };
        let Some(is) = provider_of(input, before, need_name, need).filter(|is| is.as_str() != asked) else {
            continue;
        };
        let (name, kind) = (&before.name, &before.kind);
        let refusal = |message: String| {
            Diagnostic::error(codes::FIXED_CHOICE, message).at(environment.place(&before.node))
        };
        if let Some(instead) = &need.first_start {
            found.push(
                refusal(format!("{name} was told at its first start that its {need_name} is {is}"))
                    .why(format!("it would stay with {is}, and eos would show {asked}"))
                    .fix(instead.clone()),
            );
        } else if is_made_for(input, need, &is) {
            let flag = need_name.replace('_', "-");
            found.push(
                refusal(format!("{name} keeps data in {is}, its {need_name}, and cannot simply move"))
                    .why(format!("{asked} would have nothing of it: {name} would start empty"))
                    .fix(format!(
                        "eos create {kind} <another name> --{flag} {asked}, move the data, eos delete {name}"
                    )),
            );
        }
    }
    found
}

/// Whether a provider makes something for whoever has the need, such as a database, where data collects.
pub(super) fn is_made_for(input: &Input<'_>, need: &Need, provider: &Name) -> bool {
    let provider = input.environment.components.get(provider);
    let component = provider.and_then(|provider| with_features(input.catalog, provider).ok());
    let offer = component.as_ref().and_then(|component| component.offers.get(&need.offer));
    offer.is_some_and(|offer| offer.provision.is_some())
}

/// Who meets a need: the one the pillar names, or the only one that offers it.
fn provider_of(input: &Input<'_>, entry: &ComponentEntry, name: &str, need: &Need) -> Option<Name> {
    match entry.needs.get(name) {
        Some(NeedChoice::One(provider)) => return Some(provider.clone()),
        Some(NeedChoice::Each(_)) => return None,
        None if need.soft => return None,
        None => {}
    }
    match offering(input, need, &entry.name).as_slice() {
        [only] => Some((*only).clone()),
        _ => None,
    }
}

/// Who could meet a need of `user`.
pub(super) fn offering<'i>(input: &Input<'i>, need: &Need, user: &Name) -> Vec<&'i Name> {
    let offers = |other: &&ComponentEntry| {
        let component = with_features(input.catalog, other);
        other.name != *user && component.is_ok_and(|c| c.offers.contains_key(&need.offer))
    };
    input.environment.components.values().filter(offers).map(|other| &other.name).collect()
}

/// The message about a need that cannot be given up, if it is one.
fn hard_need(
    input: &Input<'_>,
    before: &ComponentEntry,
    component: &Component,
    name: &str,
) -> Option<Diagnostic> {
    let need = component.needs.get(name).filter(|need| !need.soft)?;
    let provider = provider_of(input, before, name, need);
    let stays =
        need.first_start.is_some() || provider.is_some_and(|provider| is_made_for(input, need, &provider));
    let flag = name.replace('_', "-");
    let fix = match stays {
        true => format!("eos delete {} takes it away as a whole", before.name),
        false => format!("eos update {} --{flag} <name> lets another provide it", before.name),
    };
    let message = format!("{} cannot do without {name}", before.name);
    Some(Diagnostic::error(codes::STILL_NEEDED, message).why(format!("it is for {}", need.help)).fix(fix))
}

/// Volumes where eos put them are chosen anew on another host; a path of somebody's own stays.
fn forget_places(environment: &Environment, before: &ComponentEntry, entry: &mut Map<String, Json>) {
    object(entry, "volumes").retain(|volume, choice| {
        let chosen = format!("/{}/{}/{volume}", environment.name, before.name);
        !choice.get("path").and_then(Json::as_str).is_some_and(|path| path.ends_with(&chosen))
    });
}

/// What cannot change under data that is there: its host, the way it runs, and a version that could not read it.
pub fn under_data(before: &ComponentEntry, component: &Component, request: &Request) -> Vec<Diagnostic> {
    let asked = |key: &str, is: Option<&str>| {
        request.common.get(key).and_then(Json::as_str).filter(|asked| is != Some(*asked)).map(str::to_owned)
    };
    let refusal = |message: String| Diagnostic::error(codes::FIXED_CHOICE, message);
    let (name, kind) = (&before.name, &before.kind);
    let mut found = Vec::new();
    if before.volumes.is_empty() {
        return found;
    }
    if asked("host", before.host.as_deref()).is_some() {
        let host = before.host.as_deref().unwrap_or("?");
        found.push(
            refusal(format!("{name} keeps data on host {host} and cannot simply move"))
                .why("its new host would start with empty volumes")
                .fix("create another one there, move the data, delete the old one"),
        );
    }
    if let Some(runtime) = asked("runtime", before.runtime.as_deref()) {
        let is = before.runtime.as_deref().unwrap_or("?");
        found.push(
            refusal(format!(
                "{name} keeps data as runtime {is} and cannot go on as runtime {runtime} with it"
            ))
            .why("the other program may be of another version and another user, and not read the data")
            .fix(format!(
                "eos create {kind} <another name> --runtime {runtime}, move the data, eos delete {name}"
            )),
        );
    }
    let Some(version) = asked("version", before.version.as_deref()) else { return found };
    if let (Some(is), Some(wanted)) = (before.version.as_deref().and_then(major), major(&version)) {
        let fixed = component.runtimes.container.as_ref().is_some_and(|container| container.fixed_major);
        let why = match wanted.cmp(&is) {
            Ordering::Greater if fixed => {
                format!("{kind} {wanted} does not start on the data of {kind} {is}")
            }
            Ordering::Less => "no program promises to read what a newer one wrote".to_owned(),
            _ => return found,
        };
        found.push(
            refusal(format!("{name} keeps data of version {is} and cannot become {version} with it"))
                .why(why)
                .fix(format!(
                    "eos create {kind} <another name> --version {version}, move the data, eos delete {name}"
                )),
        );
    }
    found
}

/// The first number of a tag, if it begins with one.
fn major(tag: &str) -> Option<u64> {
    let tag = tag.strip_prefix('v').unwrap_or(tag);
    tag.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Why a secret of an entry takes no new value, if so.
pub fn kept_secret(entry: &ComponentEntry, component: &Component, key: &str) -> Option<Diagnostic> {
    let refusal = |message: String| Diagnostic::error(codes::FIXED_CHOICE, message);
    let setting = component.settings.get(key);
    if setting.is_some_and(|setting| setting.fixed) {
        return Some(
            refusal(format!("{key} of {} cannot be changed after creation", entry.name))
                .why("what was written with the old one could not be read with a new one")
                .fix(format!("create another {} beside it, move the data, delete the old one", entry.kind)),
        );
    }
    let given_by = |need: &str| key.strip_prefix(need).is_some_and(|rest| rest.starts_with('_'));
    let instead = match setting {
        Some(setting) => setting.first_start.as_ref(),
        None => {
            component.needs.iter().find(|(need, _)| given_by(need)).and_then(|(_, n)| n.first_start.as_ref())
        }
    };
    Some(
        refusal(format!("{} reads {key} at its first start only", entry.name))
            .why("it would go on with the old one, and eos would show one that opens nothing")
            .fix(instead?.clone()),
    )
}

/// Puts what was said into an entry.
fn apply(mut entry: Map<String, Json>, request: &Request) -> Map<String, Json> {
    for key in &request.unset {
        entry.shift_remove(key);
        object(&mut entry, "settings").shift_remove(key);
        object(&mut entry, "needs").shift_remove(key);
    }
    for (key, value) in &request.common {
        entry.insert(key.clone(), value.clone());
    }
    for (key, value) in &request.settings {
        object(&mut entry, "settings").insert(key.clone(), value.clone());
    }
    let mut features: Vec<String> = entry
        .get("features")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(str::to_owned)
        .collect();
    features.extend(request.features.iter().cloned());
    features.retain(|feature| !request.without.contains(feature));
    features.sort();
    features.dedup();
    entry.insert("features".to_owned(), json!(features));
    entry
}

pub(super) fn find<'e>(environment: &'e Environment, name: &str) -> Result<&'e ComponentEntry, Diagnostic> {
    environment.components.get(name).ok_or_else(|| unknown_name(environment, name))
}

/// What `eos <verb> <kind> <name>` speaks of.
pub fn of_kind<'e>(
    input: &Input<'e>,
    kind: &str,
    name: &str,
    verb: &str,
) -> Result<&'e ComponentEntry, Diagnostics> {
    let entry = find(input.environment, name)?;
    if input.catalog.resolve(kind)? == entry.kind {
        return Ok(entry);
    }
    let message = format!("{name} is {}, not {}", with_article(&entry.kind), with_article(kind));
    Err(Diagnostic::error(codes::UNKNOWN_NAME, message).fix(format!("eos {verb} {name}")).into())
}

/// The message about a name nobody has.
pub fn unknown_name(environment: &Environment, name: &str) -> Diagnostic {
    let near = nearest(name, environment.components.keys().map(|name| name.as_str()));
    let fix = match near {
        _ if environment.hosts.contains_key(name) => {
            format!(
                "it is a host: eos list hosts, eos show host {name}, eos update host {name}, eos delete host {name}"
            )
        }
        _ if environment.kept.contains_key(name) => {
            let kind = &environment.kept[name].kind;
            format!(
                "it was deleted and its data kept: eos create {kind} {name} takes it up again, eos purge {name} destroys it"
            )
        }
        Some(near) => format!("did you mean {near}? eos list shows all"),
        None => "eos list shows the names there are".to_owned(),
    };
    Diagnostic::error(codes::UNKNOWN_NAME, format!("{} has nothing named {name:?}", environment.name))
        .fix(fix)
}
