//! What of a unit is asked for otherwise, in a few words: `port 3000 → 3001, cpu 200 → 400 and 3 more`.

use eos_engine::{Cause, CauseKind, Field, SettingChange};
use eos_model::SecretRef;
use eos_tofu::Shown;
use serde_json::Value as Json;

use crate::args::component;

/// What is said; the rest is counted.
const MOST: usize = 2;
/// A value that is part of the words; of a longer one they say that it changes.
const LONGEST: usize = 30;
/// What Nomad's own plan calls that of which it cannot say more; settings do.
const VAGUE: &[&str] = &["arguments", "configuration"];

/// What was changed in the pillar, and then what Nomad says beyond that.
pub fn settings(all: &[SettingChange], nomads: &str) -> String {
    let mut parts: Vec<&str> = nomads.split(", ").filter(|part| !part.is_empty()).collect();
    let told: Vec<String> = all
        .iter()
        .map(|one| {
            let mut one = one.clone();
            let new = format!(" → {}", component::shown(&one.after));
            // The same thing in Nomad's words, which know what is usual where nothing was said.
            parts.retain(|part| {
                let Some((_, old)) = part.strip_suffix(new.as_str()).and_then(|rest| rest.rsplit_once(' '))
                else {
                    return true;
                };
                let is_it = one.before.is_null() || component::shown(&one.before) == old;
                if is_it && one.before.is_null() {
                    one.before = Json::from(old);
                }
                !is_it
            });
            words(&one.name, &one.before, &one.after)
        })
        .collect();
    parts.retain(|part| !VAGUE.contains(part) && !told.iter().any(|one| one == part));
    let said = listed(&told);
    if parts.is_empty() { said } else { format!("{said}; {}", parts.join(", ")) }
}

/// The attributes of a resource that are not vague by themselves.
pub fn fields(all: &[&Field]) -> String {
    let told: Vec<String> = all
        .iter()
        .map(|field| match (&field.before, &field.after) {
            (before, after) if is_said(&field.path, before) && is_said(&field.path, after) => {
                from_to(&field.path, before, after).unwrap_or_else(|| field.path.clone())
            }
            _ => field.path.clone(),
        })
        .collect();
    if told.len() == MOST + 1 { told.join(", ") } else { listed(&told) }
}

/// Whether a value of a resource is known and no secret.
fn is_said(path: &str, value: &Json) -> bool {
    let hidden = eos_provider::is_secret(path)
        || value.as_str().is_some_and(|text| [Shown::SENSITIVE, Shown::UNKNOWN].contains(&text));
    !hidden && (value.is_string() || value.is_number() || value.is_boolean())
}

/// Why something changes of which Nomad says no more than that its arguments or its configuration do.
pub fn because(nomads: &str, causes: &[Cause]) -> String {
    let is_vague = nomads.split(", ").any(|part| VAGUE.contains(&part));
    let of = |does: CauseKind| -> Vec<String> {
        let found = causes.iter().filter(|_| is_vague).filter(|cause| cause.does == does);
        found.map(|cause| cause.unit.to_string()).collect()
    };
    let mut said = nomads.to_owned();
    for (does, word) in [(CauseKind::Comes, "for"), (CauseKind::Goes, "without"), (CauseKind::Changes, "as")]
    {
        let units = of(does);
        if !units.is_empty() {
            said.push_str(&format!(" {word} {}", listed(&units)));
        }
        if does == CauseKind::Changes && !units.is_empty() {
            said.push_str(if units.len() == 1 { " changes" } else { " change" });
        }
    }
    said
}

fn listed(all: &[String]) -> String {
    match all.len().saturating_sub(MOST) {
        0 => all.join(", "),
        more => format!("{} and {more} more", all[..MOST].join(", ")),
    }
}

fn words(name: &str, before: &Json, after: &Json) -> String {
    if [before, after].into_iter().any(is_secret) {
        return format!("secret {}", name.strip_prefix("secrets.").unwrap_or(name));
    }
    match (before, after) {
        (Json::Array(_), Json::Array(_) | Json::Null) | (Json::Null, Json::Array(_)) => {
            of_lists(name, before, after)
        }
        (Json::Null, Json::Object(_)) => format!("{name} comes"),
        (Json::Object(_), Json::Null) => format!("{name} goes"),
        _ => from_to(name, before, after).unwrap_or_else(|| format!("{name} changed")),
    }
}

fn from_to(name: &str, before: &Json, after: &Json) -> Option<String> {
    Some(format!("{name} {} → {}", value(before)?, value(after)?))
}

/// `features +sso -ldap`.
fn of_lists(name: &str, before: &Json, after: &Json) -> String {
    let items = |list: &Json| -> Vec<String> {
        list.as_array().into_iter().flatten().map(component::shown).collect()
    };
    let (before, after) = (items(before), items(after));
    let come = after.iter().filter(|item| !before.contains(item)).map(|item| format!(" +{item}"));
    let go = before.iter().filter(|item| !after.contains(item)).map(|item| format!(" -{item}"));
    let difference: String = come.chain(go).collect();
    match difference.chars().count() {
        0 => format!("{name} in another order"),
        1..=LONGEST => format!("{name}{difference}"),
        _ => format!("{name} changed"),
    }
}

/// A value as one types it, where it is short enough for a line.
fn value(value: &Json) -> Option<String> {
    let text = match value {
        Json::Null => "unset".to_owned(),
        Json::String(text) if text.is_empty() => "\"\"".to_owned(),
        value => component::shown(value),
    };
    (text.chars().count() <= LONGEST && !text.contains('\n')).then_some(text)
}

fn is_secret(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text == crate::in_clear::HIDDEN || text.parse::<SecretRef>().is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(name: &str, before: Json, after: Json) -> SettingChange {
        SettingChange { name: name.to_owned(), before, after }
    }

    #[test]
    fn a_changed_setting_is_told_with_its_values_and_a_secret_without() {
        let port = change("port", json!(3000), json!(3001));
        let told = |one: SettingChange, nomads: &str| settings(&[one], nomads);
        assert_eq!(told(port.clone(), "port http 3000 → 3001, arguments"), "port 3000 → 3001");
        assert_eq!(told(port, "Count 1 → 2, configuration"), "port 3000 → 3001; Count 1 → 2");
        // Nomad knows what the tier gave where nobody said anything.
        assert_eq!(told(change("cpu", Json::Null, json!(400)), "CPU 200 → 400"), "cpu 200 → 400");
        assert_eq!(told(change("cpu", Json::Null, json!(400)), "arguments"), "cpu unset → 400");
        let reference = |version: u8| json!(format!("secret://production/crm/password?v={version}"));
        let secret = change("password", reference(1), reference(2));
        assert_eq!(told(secret, "secret password, configuration"), "secret password");
        assert_eq!(told(change("password", json!("•••"), Json::Null), ""), "secret password");
        let lists = change("features", json!(["sso", "ldap"]), json!(["sso", "tls"]));
        assert_eq!(told(lists, ""), "features +tls -ldap");
        assert_eq!(told(change("features", Json::Null, json!(["sso"])), ""), "features +sso");
        assert_eq!(told(change("routes", json!([1, 2]), json!([2, 1])), ""), "routes in another order");
        assert_eq!(told(change("motd", json!("a"), json!("b\nc")), ""), "motd changed");
        assert_eq!(told(change("motd", json!("a"), json!("b".repeat(99))), ""), "motd changed");
        assert_eq!(told(change("volumes.data", Json::Null, json!({"size": "1G"})), ""), "volumes.data comes");
        let many: Vec<SettingChange> =
            (0..5).map(|n| change(&format!("s{n}"), json!(n), json!(n + 1))).collect();
        assert_eq!(settings(&many, "arguments"), "s0 0 → 1, s1 1 → 2 and 3 more");
    }

    #[test]
    fn what_changes_by_others_says_by_whom() {
        let cause = |unit: &str, does| Cause { unit: unit.parse().unwrap(), does };
        let causes = [cause("prometheus", CauseKind::Comes), cause("grafana", CauseKind::Goes)];
        assert_eq!(because("configuration", &causes), "configuration for prometheus without grafana");
        assert_eq!(because("Count 1 → 2", &causes), "Count 1 → 2");
        assert_eq!(because("arguments", &[cause("crm", CauseKind::Changes)]), "arguments as crm changes");
    }

    #[test]
    fn attributes_are_told_with_values_that_are_known_and_open() {
        let field = |path: &str, before: Json, after: Json| Field {
            path: path.to_owned(),
            before,
            after,
            forces_replacement: false,
        };
        let all = [
            field("size", json!(20), json!(40)),
            field("token", json!(Shown::SENSITIVE), json!(Shown::SENSITIVE)),
            field("id", json!("a"), json!(Shown::UNKNOWN)),
        ];
        assert_eq!(fields(&all.iter().collect::<Vec<_>>()), "size 20 → 40, token, id");
    }
}
