//! Nothing that is read on a terminal goes over its edge, however long the names are.

use crate::support::{Run, Sandbox, in_terminal};

const HOST: &str = "machine-that-somebody-named-after-a-long-meeting";
const NAME: &str = "dashboards-of-the-department-of-very-long-names";

fn estate() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["-C", ".", "init", "shop"]);
    let reason = "the third floor wants to see what the second floor looks at, and said so more than once";
    let address = format!("{HOST}.example.org");
    sandbox.ok(&[
        "create",
        "host",
        HOST,
        "--address",
        &address,
        "--volume-group",
        "data",
        "--because",
        reason,
    ]);
    sandbox.ok(&[
        "create",
        "grafana",
        NAME,
        "--hostname",
        &format!("{NAME}.example.org"),
        "--because",
        reason,
    ]);
    sandbox.ok(&["create", "nextcloud", "--sso", "--because", reason]);
    sandbox.ok(&["resize", "lvm", "data_volume_of_the_department", "+50G", "--host", HOST]);
    sandbox
}

#[test]
fn every_listing_fits_a_terminal() {
    let sandbox = estate();
    let job = format!("build/production/{NAME}/jobs/{NAME}.nomad.json");
    let main = format!("build/production/{NAME}/main.tf.json");
    let orchestration =
        sandbox.files("build/production").into_iter().find(|path| path.split('/').count() == 3);
    let orchestration = orchestration.unwrap();
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["list"],
        vec!["list", "hosts"],
        vec!["list", "operations"],
        vec!["list", "--env", "staging"],
        vec!["show", NAME],
        vec!["show", "host", HOST],
        vec!["history"],
        vec!["history", NAME],
        vec!["status"],
        vec!["locks"],
        vec!["secret", "list"],
        vec!["secret", "recipients"],
        vec!["catalog", "list"],
        vec!["tools", "list"],
        vec!["doctor"],
        vec!["why", &job],
        vec!["why", &main],
        vec!["why", &orchestration],
        vec!["explain"],
        vec!["explain", "sso"],
        vec!["eject", "../plain-files-of-the-department-of-very-long-names"],
        vec!["delete", NAME, "--dry-run"],
        vec!["delete", "postgres"],
        vec!["delete", "host", HOST],
        vec!["undo"],
        vec!["resume"],
    ];
    let kinds = sandbox.json(&["catalog", "list"]);
    let kinds: Vec<String> =
        kinds["kinds"].as_array().unwrap().iter().map(|kind| text(&kind["kind"])).collect();
    commands.extend(kinds.iter().map(|kind| vec!["catalog", "show", kind]));
    let codes = sandbox.json(&["explain"]);
    let codes: Vec<String> =
        codes["codes"].as_array().unwrap().iter().map(|code| text(&code["code"])).collect();
    commands.extend(codes.iter().map(|code| vec!["explain", code]));
    let mut wide = Vec::new();
    for command in &commands {
        let Some(mut terminal) = in_terminal(&sandbox.command(command)) else { return };
        let run = Run::from(terminal.output().unwrap());
        assert!(!run.stdout.contains("error[E01"), "{command:?} is no command: {}", run.stdout);
        let mut is_code = false;
        for line in run.stdout.lines() {
            // Code is there to be copied, and so is a path or an id that is longer than a line.
            is_code ^= line.starts_with("```");
            let alone = line.split_whitespace().count() <= 1;
            if line.chars().count() > 100 && !is_code && !alone {
                wide.push(format!("{command:?}: {} columns: {line}", line.chars().count()));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}
