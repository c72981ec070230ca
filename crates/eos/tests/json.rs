//! `docs/json.md` against what the commands really print: no field that is not documented, none documented that is not
//! there, each of its type.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use support::Sandbox;

/// Heading of a section → path of a field → its type as written.
type Documented = BTreeMap<String, BTreeMap<String, String>>;

fn documented() -> Documented {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");
    let mut found = Documented::new();
    let mut section = "envelope".to_owned();
    for line in std::fs::read_to_string(page).unwrap().lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.to_owned();
        } else if let Some(row) = line.strip_prefix("| `") {
            let mut cells = row.split('|').map(str::trim);
            let field = cells.next().unwrap().trim_end_matches('`').to_owned();
            found.entry(section.clone()).or_default().insert(field, cells.next().unwrap().to_owned());
        }
    }
    found
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Holds a value's fields against the ones documented below `path`; says what does not fit.
fn hold(fields: &BTreeMap<String, String>, path: &str, value: &Json, wrong: &mut BTreeSet<String>) {
    let below = |field: &str| -> bool { field.starts_with(path) && field.len() > path.len() };
    let Some(object) = value.as_object() else { return };
    // Without documented fields it is a mapping with names of the estate.
    if !path.is_empty() && !fields.keys().any(|field| below(field)) {
        return;
    }
    for (key, value) in object {
        let field = format!("{path}{key}");
        let Some(types) = fields.get(&field) else {
            wrong.insert(format!("{field} ({}) is not documented", type_of(value)));
            continue;
        };
        if !types.trim_end_matches('?').split(" or ").any(|known| known == type_of(value)) {
            wrong.insert(format!("{field} is {}, documented as {types}", type_of(value)));
        }
        hold(fields, &format!("{field}."), value, wrong);
        for element in value.as_array().into_iter().flatten() {
            hold(fields, &format!("{field}[]."), element, wrong);
        }
    }
    let direct = fields.iter().filter(|(field, types)| {
        field.strip_prefix(path).is_some_and(|rest| !rest.is_empty() && !rest.contains(['.', '[']))
            && !types.ends_with('?')
    });
    for (field, _) in direct {
        if !object.contains_key(field[path.len()..].trim_end_matches('.')) {
            wrong.insert(format!("{field} is documented and missing"));
        }
    }
}

/// Sections of commands that run tofu, or need another side; `runs` and `sync` look at what those give.
const ELSEWHERE: &[&str] = &[
    "apply, rollback, destroy, drift revert, and changing commands that apply",
    "drift",
    "drift watch",
    "plan",
    "purge",
    "sync",
    "tofu",
];

#[test]
fn the_page_says_what_commands_print() {
    let documented = documented();
    let sandbox = Sandbox::new();
    let file = "build/production/grafana/main.tf.json";
    let refused: &[&str] = &["create", "grafana", "--port", "70000"];
    let dry = "Changing commands with `--dry-run`";
    let commands: &[(&str, &[&str])] = &[
        ("init", &["init", "shop"]),
        ("create host, update host", &["create", "host", "local", "--volume-group", "data-vg"]),
        ("create host, update host", &["update", "host", "local", "--address", "10.0.0.5"]),
        ("create, update", &["create", "nextcloud", "--because", "files"]),
        ("create, update", &["create", "grafana"]),
        ("create, update", &["update", "grafana", "--port", "3001"]),
        (dry, &["create", "redis", "second", "--dry-run"]),
        (dry, &["update", "grafana", "--port", "3002", "--dry-run"]),
        (dry, &["create", "host", "db1", "--dry-run"]),
        (dry, &["secret", "rotate", "grafana/admin_password", "--dry-run"]),
        (dry, &["delete", "grafana", "--dry-run"]),
        (dry, &["resize", "lvm", "data", "+5G", "--dry-run"]),
        ("verbs that act once", &["resize", "lvm", "data", "+5G"]),
        ("verbs that act once", &["resize", "lvm", "data", "+5G"]),
        ("list", &["list"]),
        ("list hosts", &["list", "hosts"]),
        ("list operations", &["list", "operations"]),
        ("show", &["show", "nextcloud"]),
        ("history", &["history"]),
        ("why", &["why", file]),
        ("why", &["why", "build/production/orchestrate.sls"]),
        ("why", &["why", "build/production/orchestrate.sls:2"]),
        ("graph", &["graph"]),
        ("compile", &["compile"]),
        ("compile", &["compile", "--check"]),
        ("secret list", &["secret", "list"]),
        ("secret show", &["secret", "show", "grafana/admin_password"]),
        ("secret rotate, secret set", &["secret", "rotate", "grafana/admin_password"]),
        ("secret recipients", &["secret", "recipients"]),
        ("secret identity", &["secret", "identity"]),
        ("catalog list", &["catalog", "list"]),
        ("catalog show", &["catalog", "show", "grafana"]),
        ("catalog check", &["catalog", "check", "grafana"]),
        ("explain", &["explain", "E0404"]),
        ("doctor", &["doctor"]),
        ("upgrade", &["upgrade", "--dry-run"]),
        ("tools list", &["tools", "list"]),
        ("completion", &["completion", "bash"]),
        ("help", &["help"]),
        ("help", &["create", "grafana", "--help"]),
        ("delete", &["delete", "grafana"]),
        ("status", &["status"]),
        ("locks", &["locks"]),
        ("unlock", &["unlock", "nextcloud", "--because", "its holder is gone"]),
        ("eject", &["eject", "../ejected"]),
    ];
    let mut wrong = BTreeSet::new();
    let mut seen = BTreeSet::from(["envelope".to_owned()]);
    let mut look = |section: &str, args: &[&str]| {
        let run = sandbox.run(&[args, &["--json"]].concat());
        let document: Json = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|e| panic!("{args:?}: {e}: {}{}", run.stdout, run.stderr));
        let mut found = BTreeSet::new();
        let mut envelope = document.clone();
        // What a command gives has a section of its own.
        if envelope["result"].is_object() {
            envelope["result"] = Json::Object(Default::default());
        }
        hold(&documented["envelope"], "", &envelope, &mut found);
        if section == "refused" {
            assert_eq!(
                (document["ok"].as_bool(), &document["result"]),
                (Some(false), &Json::Null),
                "{args:?}"
            );
        } else {
            assert_eq!(document["ok"], true, "{args:?}: {document:#}");
            hold(&documented[section], "", &document["result"], &mut found);
        }
        wrong.extend(found.into_iter().map(|problem| format!("eos {}: {problem}", args.join(" "))));
        seen.insert(section.to_owned());
    };
    commands.iter().for_each(|(section, args)| look(section, args));
    look("refused", refused);
    assert!(wrong.is_empty(), "docs/json.md:\n{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
    let tried = |section: &String| seen.contains(section) || ELSEWHERE.contains(&section.as_str());
    let forgotten: Vec<&String> = documented.keys().filter(|section| !tried(section)).collect();
    assert!(forgotten.is_empty(), "no command is tried for {forgotten:?}");
}
