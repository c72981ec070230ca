//! A unit from nothing to nothing: what each step says is what the next one sees.

use eos_tofu::{Action, CheckStatus, Event, Mode, Output, PlanOptions, Refresh, Shown, TofuError, UnitFiles};
use serde_json::json;

use crate::support::{Estate, actions, apply, plan, plan_and_apply, plan_with, quietly, with_each_tool};

fn main_with(input: &str, trigger: &str) -> serde_json::Value {
    json!({
        "resource": {"terraform_data": {
            "a": {"input": input},
            "b": {"input": {"from": "${terraform_data.a.output}"}, "triggers_replace": trigger},
        }},
        "output": {"address": {"value": "${terraform_data.a.output}"}},
    })
}

#[test]
fn a_unit_is_created_left_alone_changed_replaced_and_destroyed() {
    with_each_tool("lifecycle", |estate: Estate| {
        let session = estate.unit("web", main_with("one", "t1"));
        let file = session.folder.plan_file();
        assert!(session.state().unwrap().is_empty());

        let planned = plan(&session);
        assert!(planned.changes);
        assert_eq!(
            actions(&planned),
            [("terraform_data.a", &Action::Create), ("terraform_data.b", &Action::Create)]
        );
        assert_eq!(planned.counts.add, 2);
        let shown = session.show_plan(&file).unwrap();
        assert!(shown.applyable && shown.complete && !shown.errored);
        let a = &shown.resource_changes[0];
        assert_eq!(
            (a.address.as_str(), a.kind.as_str(), a.mode),
            ("terraform_data.a", "terraform_data", Mode::Managed)
        );
        assert_eq!((a.provider.as_str(), &a.action), ("terraform.io/builtin/terraform", &Action::Create));
        assert_eq!(a.before, Shown::Null);
        assert_eq!(a.after.get("input").unwrap().as_text(), Some("one"));
        assert_eq!(a.after.get("output"), Some(&Shown::Unknown));
        assert_eq!(shown.output_changes["address"].after, Shown::Unknown);
        assert!(shown.prior_resources.is_empty());

        let mut events = Vec::new();
        let applied = session.apply(&file, &mut |event| events.push(event)).unwrap();
        assert_eq!((applied.counts.add, applied.counts.change, applied.counts.remove), (2, 0, 0));
        assert_eq!(applied.outputs["address"], Output::Plain("one".into()));
        let started = |event: &Event| matches!(event, Event::ApplyStart { action: Action::Create, .. });
        let completed = |event: &Event| matches!(event, Event::ApplyComplete { id: Some(_), .. });
        assert_eq!(events.iter().filter(|event| started(event)).count(), 2, "{events:?}");
        assert_eq!(events.iter().filter(|event| completed(event)).count(), 2, "{events:?}");
        assert_eq!(session.outputs().unwrap(), applied.outputs);
        assert_eq!(session.state_list().unwrap(), ["terraform_data.a", "terraform_data.b"]);

        let planned = plan(&session);
        assert!(!planned.changes && planned.planned.is_empty(), "{planned:?}");

        let session = estate.unit("web", main_with("two", "t2"));
        plan(&session);
        let shown = session.show_plan(&file).unwrap();
        let [a, b] = &shown.resource_changes[..] else { panic!("{shown:?}") };
        assert_eq!((&a.action, &b.action), (&Action::Update, &Action::DeleteThenCreate));
        let changed: Vec<String> = a
            .attributes
            .iter()
            .map(|change| format!("{}: {} -> {}", change.path, change.before, change.after))
            .collect();
        assert_eq!(changed, [r#"input: "one" -> "two""#, r#"output: "one" -> (known after apply)"#]);
        assert_eq!(
            b.replace_paths.iter().map(|path| path.to_string()).collect::<Vec<_>>(),
            ["triggers_replace"]
        );
        let forcing =
            b.attributes.iter().find(|change| change.path.to_string() == "triggers_replace").unwrap();
        assert!(forcing.forces_replacement && !a.attributes[0].forces_replacement);
        assert_eq!(shown.prior_resources.len(), 2);
        assert_eq!(apply(&session).counts.change, 1);

        let planned = plan_with(
            &session,
            PlanOptions { replace: vec!["terraform_data.a".into()], ..Default::default() },
        );
        assert!(actions(&planned).contains(&("terraform_data.a", &Action::DeleteThenCreate)), "{planned:?}");
        let only =
            PlanOptions { targets: vec!["terraform_data.b".into()], destroy: true, ..Default::default() };
        assert_eq!(actions(&plan_with(&session, only)), [("terraform_data.b", &Action::Delete)]);
        for refresh in [Refresh::No, Refresh::Only] {
            assert!(!plan_with(&session, PlanOptions { refresh, ..Default::default() }).changes);
        }

        let planned = plan_with(&session, PlanOptions { destroy: true, ..Default::default() });
        assert_eq!(planned.counts.remove, 2);
        assert_eq!(apply(&session).counts.remove, 2);
        assert!(session.state().unwrap().is_empty());
        assert!(session.outputs().unwrap().is_empty());
    });
}

#[test]
fn replacing_in_the_other_order_is_told_apart() {
    with_each_tool("replace order", |estate: Estate| {
        let main = |trigger: &str| {
            json!({"resource": {"terraform_data": {
                "a": {"triggers_replace": trigger, "lifecycle": {"create_before_destroy": true}}}}})
        };
        plan_and_apply(&estate.unit("web", main("1")));
        let session = estate.unit("web", main("2"));
        plan(&session);
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        assert_eq!(shown.resource_changes[0].action, Action::CreateThenDelete);
        assert_eq!(shown.resource_changes[0].reason.as_deref(), Some("replace_because_cannot_update"));
    });
}

#[test]
fn a_removed_block_that_keeps_its_object_is_a_forget() {
    with_each_tool("forget", |estate: Estate| {
        plan_and_apply(&estate.unit("web", main_with("one", "t1")));
        let session = estate.unit(
            "web",
            json!({
                "resource": {"terraform_data": {"b": {"input": {"from": "one"}, "triggers_replace": "t1"}}},
                "removed": [{"from": "terraform_data.a", "lifecycle": {"destroy": false}}],
            }),
        );
        let planned = plan(&session);
        assert!(planned.changes);
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        let a = shown.resource_changes.iter().find(|change| change.address == "terraform_data.a").unwrap();
        assert_eq!(a.action, Action::Forget, "{shown:?}");
        assert!(a.action.forgets() && !a.action.destroys());
        apply(&session);
        assert_eq!(session.state_list().unwrap(), ["terraform_data.b"]);
    });
}

#[test]
fn state_commands_change_the_state_and_nothing_else() {
    with_each_tool("state commands", |estate: Estate| {
        let session = estate.unit("web", main_with("one", "t1"));
        plan_and_apply(&session);
        quietly(&session, &["taint", "terraform_data.a"]);
        let tainted = |name: &str| {
            let state = session.state().unwrap();
            state.instances().find(|instance| instance.address == name).unwrap().tainted
        };
        assert!(tainted("terraform_data.a") && !tainted("terraform_data.b"));
        plan(&session);
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        assert_eq!(shown.resource_changes[0].reason.as_deref(), Some("replace_because_tainted"));
        session.untaint("terraform_data.a").unwrap();
        assert!(!tainted("terraform_data.a"));
        let again = session.untaint("terraform_data.a").unwrap_err();
        assert!(
            matches!(&again, TofuError::Failed { failure } if failure.to_string().contains("not tainted")),
            "{again}"
        );

        let before = session.state().unwrap();
        let id = before.instances().next().unwrap().id.clone().unwrap();
        assert_eq!(before.resources[0].provider, "terraform.io/builtin/terraform");
        session.state_rm(&["terraform_data.a".into()]).unwrap();
        assert_eq!(session.state_list().unwrap(), ["terraform_data.b"]);
        session.import("terraform_data.a", &id).unwrap();
        let after = session.state().unwrap();
        assert_eq!(after.lineage, before.lineage);
        assert_eq!(after.serial, before.serial + 2);
        assert_eq!(after.instances().next().unwrap().id.as_deref(), Some(id.as_str()));
        let missing = session.state_rm(&["terraform_data.nowhere".into()]).unwrap_err();
        assert!(matches!(missing, TofuError::Failed { .. }), "{missing}");
        // Its words go to the test's own output, so they are few.
        assert_eq!(session.passthrough(&["state".into(), "list".into()]).unwrap().code(), Some(0));
        let missing = ["state", "show", "-no-color", "terraform_data.nowhere"].map(String::from);
        assert_eq!(session.passthrough(&missing).unwrap().code(), Some(1));
    });
}

#[test]
fn an_error_says_what_and_where() {
    with_each_tool("errors", |estate: Estate| {
        let bad = json!({"resource": {"terraform_data": {"a": {"input": "${local.nowhere}"}}}});
        let session = estate.unit("web", bad);
        let out = session.folder.plan_file();
        let error = session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
        let failure = error.failure().unwrap();
        assert!(matches!(error, TofuError::Failed { .. }), "{error}");
        let said = &failure.diagnostics[0];
        assert_eq!((said.file.as_deref(), said.is_error()), (Some("main.tf.json"), true), "{said:?}");
        assert!(said.line.is_some() && said.detail.contains("nowhere"), "{said:?}");

        let failing = json!({"resource": {"terraform_data": {"a": {
            "provisioner": [{"local-exec": {"command": "echo on fire >&2; exit 7"}}]}}}});
        let session = estate.unit("web", failing);
        plan(&session);
        let error = session.apply(&session.folder.plan_file(), &mut |_| ()).unwrap_err();
        let failure = error.failure().unwrap();
        assert_eq!(failure.diagnostics[0].address.as_deref(), Some("terraform_data.a"), "{failure:?}");
        assert!(error.to_string().contains("on fire"), "{error}");
        assert!(session.state().unwrap().instances().next().unwrap().tainted);

        // A missing plan is text for people, even with -json.
        let error = session.apply(&estate.path("no-such-plan"), &mut |_| ()).unwrap_err();
        assert!(!error.failure().unwrap().diagnostics.is_empty(), "{error:?}");
    });
}

#[test]
fn a_failed_check_is_a_warning_and_a_check() {
    with_each_tool("checks", |estate: Estate| {
        let session = estate.unit(
            "web",
            json!({
                "resource": {"terraform_data": {"a": {"input": "one"}}},
                "check": {"health": {"assert": [{"condition": "${terraform_data.a.input == \"two\"}", "error_message": "It is not well."}]}},
            }),
        );
        let planned = plan(&session);
        assert!(planned.warnings.iter().any(|said| said.detail.contains("not well")), "{planned:?}");
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        let check = &shown.checks[0];
        assert_eq!((check.address.as_str(), check.status), ("check.health", CheckStatus::Fail));
        assert_eq!(check.problems, ["It is not well."]);
    });
}

#[test]
fn a_unit_may_call_a_module_of_its_estate() {
    with_each_tool("modules", |estate: Estate| {
        let main = json!({
            "terraform": {"backend": {"local": {}}},
            "module": {"m": {"source": "../../modules/d1", "value": "deep"}},
            "output": {"o": {"value": "${module.m.o}"}},
        });
        let module = json!({
            "variable": {"value": {}},
            "resource": {"terraform_data": {"inner": {"for_each": "${toset([\"k\"])}", "input": "${var.value}"}}},
            "output": {"o": {"value": "${terraform_data.inner[\"k\"].output}"}},
        });
        let mut files = UnitFiles::new();
        files.insert("main.tf.json".into(), main.to_string().into_bytes());
        files.insert("modules/d1/main.tf.json".into(), module.to_string().into_bytes());
        let backend = estate.local("web");
        let session = estate.filled_with("web", &files, &backend);
        session.init(&estate.installation(), &backend).unwrap();
        let applied = plan_and_apply(&session);
        assert_eq!(applied.outputs["o"], Output::Plain("deep".into()));
        assert_eq!(session.state_list().unwrap(), [r#"module.m.terraform_data.inner["k"]"#]);
        plan(&session);
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        assert_eq!(shown.prior_resources[0].address, r#"module.m.terraform_data.inner["k"]"#);
    });
}
