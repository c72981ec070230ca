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
    sandbox.ok(&["create", "host", "stage1", "--address", "10.0.0.7", "--env", "staging"]);
    sandbox.ok(&["create", "grafana", "--env", "staging"]);
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
        vec!["secret", "rotate", "nextcloud/admin_password"],
        vec!["secret", "rotate", "-e", "staging", "grafana/admin_password"],
        vec!["delete", "-e", "staging", "host", "stage1"],
        vec!["tools", "verify"],
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
        for line in run.stdout.lines() {
            // A path or an id that is longer than a line is there to be copied.
            let alone = line.split_whitespace().count() <= 1;
            if line.chars().count() > 100 && !alone {
                wide.push(format!("{command:?}: {} columns: {line}", line.chars().count()));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// What reads a pipe takes a line for a row, and wants whole words: there nothing is broken, and nothing is cut.
#[test]
fn piped_listings_have_a_line_a_row_and_lose_nothing() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["-C", ".", "init", "shop"]);
    sandbox.ok(&["create", "host", "local", "--address", "10.0.0.5"]);
    sandbox.ok(&["create", "nextcloud", "--sso", "--distributed-storage"]);
    sandbox.ok(&["create", "authentik", "--frontend-for", "mailcow"]);
    for command in [
        &["list"][..],
        &["list", "hosts"],
        &["catalog", "list"],
        &["secret", "list"],
        &["secret", "recipients"],
        &["tools", "list"],
        &["status"],
    ] {
        let said = sandbox.ok(command).stdout;
        assert!(said.lines().all(|line| !line.starts_with(' ')), "{command:?}: {said}");
        assert!(!said.contains('…'), "{command:?}: {said}");
    }
    // Every word of a need is there, on the line of who has it.
    let listed = sandbox.ok(&["list"]).stdout;
    let rows = sandbox.json(&["list"])["components"].as_array().unwrap().clone();
    assert_eq!(listed.lines().count(), rows.len() + 1, "{listed}");
    for (line, row) in listed.lines().skip(1).zip(&rows) {
        let needs: Vec<String> = row["needs"].as_array().unwrap().iter().map(text).collect();
        assert!(line.starts_with(&text(&row["name"])) && line.contains(&needs.join(" ")), "{row}\n{line}");
    }
    // A key is for copying: whole, on a line of its own.
    let said = sandbox.ok(&["secret", "identity"]).stdout;
    let key = said.lines().next().unwrap();
    assert!(key.starts_with("age1") && key.len() == 62, "{said}");
    assert_eq!(said.lines().filter(|line| line.trim() == key).count(), 2, "{said}");
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}
