//! A planted secret is in no plan as shown, no event, no log; a child's environment holds what it was given.

use std::os::unix::fs::PermissionsExt as _;

use eos_tofu::{Action, Output, Shown};
use serde_json::{Value, json};

use crate::support::{Estate, apply, plan, with_each_tool};

const SECRET: &str = "correct-horse-battery-staple";

fn main(version: &str) -> Value {
    json!({
        "variable": {"secret": {"sensitive": true}},
        "resource": {"terraform_data": {
            "a": {"input": {"password": "${var.secret}", "version": version}},
            "later": {"input": "${terraform_data.a.output}"},
        }},
        "output": {
            "hidden": {"value": "${var.secret}", "sensitive": true},
            "open": {"value": "plain"},
        },
    })
}

#[test]
fn a_planted_secret_is_redacted_everywhere() {
    with_each_tool("secrecy", |mut estate: Estate| {
        estate.variables.push(("TF_VAR_secret".into(), SECRET.into()));
        let session = estate.unit("web", main("1"));
        let file = session.folder.plan_file();
        let mut seen = String::new();
        for version in ["1", "2", "3"] {
            let session = estate.unit("web", main(version));
            let options = eos_tofu::PlanOptions { out: file.clone(), ..Default::default() };
            let mut events = Vec::new();
            let planned = session.plan(&options, &mut |event| events.push(event)).unwrap();
            let shown = session.show_plan(&file).unwrap();
            let applied = session.apply(&file, &mut |event| events.push(event)).unwrap();
            assert_eq!(applied.outputs["hidden"], Output::Sensitive);
            assert_eq!(applied.outputs["open"], Output::Plain("plain".into()));
            let json = serde_json::to_string(&(&shown, &events)).unwrap();
            seen.push_str(&format!("{planned:?} {shown:?} {applied:?} {events:?} {json}"));
            let a = &shown.resource_changes[0];
            let input = a.after.get("input").unwrap();
            assert_eq!(input.get("password"), Some(&Shown::Sensitive), "{input}");
            assert_eq!(input.get("version").unwrap().as_text(), Some(version));
            assert!(shown.output_changes["hidden"].sensitive && !shown.output_changes["open"].sensitive);
        }
        seen.push_str(&format!(
            "{:?} {:?} {session:?}",
            session.outputs().unwrap(),
            session.state().unwrap()
        ));
        assert_eq!(session.outputs().unwrap()["hidden"], Output::Sensitive);
        assert!(!seen.contains(SECRET), "{seen}");
        // Without encryption the state holds it, and a plan does in a form that is not searched here: nothing else may.
        let state = ".eos/state/tofu/shop/production/web.tfstate";
        let found = estate.files_with(SECRET);
        let expected = [state.to_owned(), format!("{state}.backup")];
        assert!(found.iter().all(|file| expected.contains(file)), "{found:?}");
    });
}

/// The value was shown before it became sensitive: from then on it is not.
#[test]
fn what_becomes_sensitive_is_hidden_as_it_was_before_too() {
    with_each_tool("becoming sensitive", |estate: Estate| {
        let main = |sensitive: bool| {
            json!({
                "variable": {"secret": {"sensitive": sensitive, "default": SECRET}},
                "resource": {"terraform_data": {"a": {"input": "${var.secret}"}}},
            })
        };
        let session = estate.unit("web", main(false));
        plan(&session);
        apply(&session);
        let session = estate.unit("web", main(true));
        assert!(plan(&session).changes);
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        assert_eq!(shown.resource_changes[0].action, Action::Update);
        assert!(!format!("{shown:?}").contains(SECRET), "{shown:?}");
    });
}

#[test]
fn a_childs_environment_is_built_from_nothing() {
    with_each_tool("environment", |mut estate: Estate| {
        estate.variables.push(("HCLOUD_TOKEN".into(), "given".into()));
        let file = estate.path("environment");
        let main = json!({"resource": {"terraform_data": {"a": {
            "provisioner": [{"local-exec": {"command": format!("tr '\\0' '\\n' < /proc/$PPID/environ > {file}")}}]}}}});
        let session = estate.unit("web", main);
        plan(&session);
        apply(&session);
        let text = std::fs::read_to_string(&file).unwrap();
        let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.sort_unstable();
        // The gate before an apply is a shell, which adds PWD.
        let expected = [
            "CHECKPOINT_DISABLE",
            "GOGC",
            "GOMEMLIMIT",
            "HCLOUD_TOKEN",
            "HOME",
            "PATH",
            "PWD",
            "TF_CLI_CONFIG_FILE",
            "TF_DATA_DIR",
            "TF_INPUT",
            "TF_IN_AUTOMATION",
            "TF_PLUGIN_CACHE_DIR",
            "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE",
            "TF_WORKSPACE",
            "TMPDIR",
        ];
        assert_eq!(names, expected);
        let temporary = text.lines().find_map(|line| line.strip_prefix("TMPDIR=")).unwrap();
        let mode = std::fs::metadata(temporary).unwrap().permissions().mode();
        assert!(
            temporary.starts_with(session.folder.data_dir().as_str()) && mode & 0o777 == 0o700,
            "{temporary}"
        );
        assert!(!format!("{session:?}").contains("given"));
    });
}
