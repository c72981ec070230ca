//! What changes in a job, in a few words: `port http 3000 → 3001, arguments, configuration`.

use eos_nomad::{DiffKind, FieldDiff, JobDiff, ObjectDiff};

use super::preview::is_secret;

/// What is listed; the rest is counted.
const MOST: usize = 3;
/// A value that is part of the words.
const SHORT: usize = 12;

/// Of a job that is taken over `all` is listed: a person did not write what it is to become.
pub fn in_words(diff: &JobDiff, all: bool) -> String {
    let mut words = Vec::new();
    fields(&diff.fields, None, &mut words);
    objects("", diff.objects.iter(), &mut words);
    objects("group ", diff.task_groups.iter(), &mut words);
    let mut told: Vec<String> = Vec::new();
    // A port says most about what a person asked for.
    let (ports, others): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.starts_with("port "));
    for word in ports.into_iter().chain(others) {
        if !told.contains(&word) {
            told.push(word);
        }
    }
    let more = told.len().saturating_sub(if all { told.len() } else { MOST });
    told.truncate(told.len() - more);
    if more > 0 {
        told.push(format!("{more} more"));
    }
    told.join(", ")
}

/// Nomad does not say that a network changes but that one goes and another comes: where both are the same thing that is
/// one change, of what is not the same in them.
fn objects<'d>(what: &str, all: impl Iterator<Item = &'d ObjectDiff>, words: &mut Vec<String>) {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for object in all {
        match object.kind {
            DiffKind::None => {}
            DiffKind::Deleted => gone.push(object),
            DiffKind::Added => come.push(object),
            DiffKind::Edited => {
                fields(&object.fields, port(object), words);
                objects("", object.objects.iter(), words);
                objects("task ", object.tasks.iter(), words);
            }
        }
    }
    for old in gone {
        let is_it = |new: &&ObjectDiff| new.name == old.name && called(new) == called(old);
        match come.iter().position(is_it).map(|at| come.remove(at)) {
            Some(new) => {
                fields(&joined(old, new), port(old), words);
                objects("", old.objects.iter().chain(&new.objects), words);
                objects("task ", old.tasks.iter().chain(&new.tasks), words);
            }
            None => words.push(format!("{what}{} goes", title(old))),
        }
    }
    words.extend(come.into_iter().map(|new| format!("{what}{} comes", title(new))));
}

fn fields(all: &[FieldDiff], port: Option<&str>, words: &mut Vec<String>) {
    for field in all.iter().filter(|field| field.kind != DiffKind::None) {
        let inside = |outer: &str| field.name.strip_prefix(outer)?.strip_suffix(']');
        let name = match (port, field.name.as_str()) {
            (Some(label), "Value") => format!("port {label}"),
            (_, "EmbeddedTmpl") => "configuration".to_owned(),
            (_, name) if name.starts_with("args[") => "arguments".to_owned(),
            (_, name) => match (inside("Meta[eos.secret."), inside("Meta[eos."), inside("Env[")) {
                (Some(secret), ..) => format!("secret {secret}"),
                // A mark of eos's own.
                (None, Some(_), _) => continue,
                (None, None, variable) => variable.unwrap_or(name).to_owned(),
            },
        };
        let (old, new) = (field.old.as_str(), field.new.as_str());
        let is_short = |value: &str| !value.is_empty() && value.len() <= SHORT && !value.contains('\n');
        let is_list = matches!(name.as_str(), "arguments" | "configuration");
        let open = !is_list && !is_secret(&field.name) && is_short(old) && is_short(new);
        words.push(if open { format!("{name} {old} → {new}") } else { name });
    }
}

/// The fields of two forms of one thing that are not the same.
fn joined(old: &ObjectDiff, new: &ObjectDiff) -> Vec<FieldDiff> {
    let mut found: Vec<FieldDiff> = Vec::new();
    for field in old.fields.iter().chain(&new.fields).filter(|field| field.kind != DiffKind::None) {
        match found.iter_mut().find(|known| known.name == field.name) {
            Some(known) => known.new.clone_from(&field.new),
            None => found.push(field.clone()),
        }
    }
    found.retain(|field| field.old != field.new);
    found
}

/// What a thing goes by among its like.
fn called(object: &ObjectDiff) -> Option<&str> {
    let value = |name: &str| {
        let field = object.fields.iter().find(|field| field.name == name)?;
        let values = [field.old.as_str(), field.new.as_str()];
        values.into_iter().find(|value| !value.is_empty())
    };
    ["Label", "DestPath", "Destination", "Name"].into_iter().find_map(value)
}

fn port(object: &ObjectDiff) -> Option<&str> {
    called(object).filter(|_| matches!(object.name.as_str(), "Static Port" | "Dynamic Port"))
}

fn title(object: &ObjectDiff) -> String {
    match (port(object), called(object)) {
        (Some(label), _) => format!("port {label}"),
        (None, Some(name)) => format!("{} {name}", object.name),
        (None, None) => object.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn field(kind: &str, name: &str, old: &str, new: &str) -> Json {
        json!({"Type": kind, "Name": name, "Old": old, "New": new})
    }

    fn words(group: Json) -> String {
        let mut group = group;
        (group["Type"], group["Name"]) = (json!("Edited"), json!("server"));
        in_words(&serde_json::from_value(json!({"Type": "Edited", "TaskGroups": [group]})).unwrap(), false)
    }

    #[test]
    fn a_change_is_told_in_a_few_words() {
        let edited = |name: &str, old: &str, new: &str| field("Edited", name, old, new);
        let few = json!([
            edited("Count", "1", "2"),
            edited("Env[API_TOKEN]", "a", "b"),
            edited("EmbeddedTmpl", "a\nb", "c")
        ]);
        assert_eq!(words(json!({"Fields": few})), "Count 1 → 2, API_TOKEN, configuration");
        let marks = json!([
            edited("Meta[eos.unit]", "shop/a", "shop/b"),
            edited("Meta[eos.secret.password]", "secret://p/n/password?v=1", "secret://p/n/password?v=2")
        ]);
        let tasks = json!([{"Type": "Added", "Name": "backup", "Fields": [field("Added", "Driver", "", "raw_exec")]}]);
        assert_eq!(words(json!({"Fields": marks, "Tasks": tasks})), "secret password, task backup comes");
        let many: Vec<Json> = (0..5).map(|n| edited(&format!("F{n}"), "", "x")).collect();
        assert_eq!(words(json!({"Fields": many.clone()})), "F0, F1, F2, 2 more");
        assert_eq!(in_words(&JobDiff::default(), false), "");
        let group = json!({"Type": "Edited", "Name": "server", "Fields": many});
        let diff = serde_json::from_value(json!({"Type": "Edited", "TaskGroups": [group]})).unwrap();
        assert_eq!(in_words(&diff, true), "F0, F1, F2, F3, F4");
    }

    /// As Nomad 1.10 tells it: the whole network goes, and another comes.
    #[test]
    fn another_port_is_a_change_of_the_port() {
        let network = |kind: &str, ports: &[(&str, &str)]| {
            let side = |name: &str, value: &str| match kind {
                "Added" => field(kind, name, "", value),
                _ => field(kind, name, value, ""),
            };
            let port = |(label, value): &(&str, &str)| {
                let fields = [("HostNetwork", "default"), ("Label", label), ("To", "0"), ("Value", value)];
                let fields: Vec<Json> = fields.iter().map(|(name, value)| side(name, value)).collect();
                json!({"Type": kind, "Name": "Static Port", "Fields": fields})
            };
            let ports: Vec<Json> = ports.iter().map(port).collect();
            json!({"Type": kind, "Name": "Network", "Fields": [side("MBits", "0")], "Objects": ports})
        };
        let task = json!({"Type": "Edited", "Name": "server", "Objects": [{"Type": "Edited", "Name": "Config", "Fields": [
            field("Edited", "args[1]", "3000", "3001"), field("Edited", "args[3]", "3000", "3001")
        ]}]});
        let change = json!({
            "Objects": [
                network("Added", &[("admin", "9000"), ("http", "3001"), ("metrics", "9100")]),
                network("Deleted", &[("admin", "9000"), ("http", "3000")])
            ],
            "Tasks": [task],
        });
        assert_eq!(words(change), "port http 3000 → 3001, port metrics comes, arguments");
    }
}
