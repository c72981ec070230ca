//! Operations: said once, twice, withdrawn.

use super::refused;
use super::support::{Run, Sandbox};

#[test]
fn an_operation_stays_in_its_environment_and_can_be_withdrawn() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "stage1", "--env", "staging"]);
    refused(&sandbox.run(&["resize", "lvm", "data", "+5G", "--host", "stage1"]), 3, "E0406");
    sandbox.ok(&["resize", "lvm", "data", "+5G"]);
    let listed = sandbox.ok(&["list", "operations"]).stdout;
    assert!(listed.contains("20260921t141320-") && listed.contains("+5G"), "{listed}");
    let id = sandbox.json(&["list", "operations"])["operations"][0]["id"].as_str().unwrap().to_owned();
    sandbox.ok(&["delete", &id]);
    assert!(!sandbox.estate().join("build/production/operations").exists());
}

#[test]
fn updating_agents_is_an_operation_whether_or_not_there_is_one_of_that_name() {
    let sandbox = Sandbox::with_estate();
    // By hand there may be one; nothing comes of it.
    sandbox.write(
        "pillar/infrastructure/production/agents.sls",
        "#!yaml\neos:\n  components:\n    wazuh-agents: {kind: wazuh-agents}\n",
    );
    sandbox.commit_by_hand();
    let said = sandbox.ok(&["update", "wazuh-agents"]).stdout;
    assert!(said.contains("-update-wazuh-agents is recorded"), "{said}");
}

#[test]
fn an_operation_said_twice_is_two_and_the_person_is_told() {
    let sandbox = Sandbox::with_estate();
    let first = sandbox.json(&["resize", "lvm", "data", "+50G"]);
    assert_eq!(first["same_as"].as_array().unwrap().len(), 0);
    let said = sandbox.ok(&["resize", "lvm", "data", "+50G"]).stdout;
    assert!(said.contains("the same was said before, as") && said.contains("a slip? eos delete"), "{said}");
    sandbox.ok(&["resize", "lvm", "data", "+60G"]);
    let all = sandbox.json(&["list", "operations"])["operations"].as_array().unwrap().clone();
    let sizes: Vec<&str> =
        all.iter().map(|operation| operation["args"]["change"].as_str().unwrap()).collect();
    assert_eq!(sizes, ["+50G", "+50G", "+60G"], "in the order they were said");
}

#[test]
fn operations_of_two_clones_have_two_ids() {
    let sandbox = Sandbox::with_estate();
    let clone = sandbox.path().join("clone");
    sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let ours = sandbox.json(&["resize", "lvm", "data", "+5G"])["operation"].as_str().unwrap().to_owned();
    let mut theirs =
        sandbox.command(&["-C", clone.to_str().unwrap(), "resize", "lvm", "data", "+5G", "--json"]);
    let run = Run::from(theirs.env("USER", "ada").output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(!run.stdout.contains(&ours), "{}", run.stdout);
    let identity = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org"];
    let pull = ["pull", "-q", "--no-rebase", "--no-edit", clone.to_str().unwrap(), "main"];
    sandbox.git(&[identity.as_slice(), &pull].concat());
    assert_eq!(sandbox.json(&["list", "operations"])["operations"].as_array().unwrap().len(), 2);
}

/// A host may have what eos did not make; whoever mistypes a name should hear of it all the same.
#[test]
fn what_the_estate_does_not_know_is_said() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "far", "--address", "10.0.0.9", "--nomad-node", "n2"]);
    sandbox.ok(&["create", "lvm", "database_volume", "--path", "/srv/db", "--host", "far"]);
    let said = |args: &[&str]| {
        let run = sandbox.ok(args);
        run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for known in [
        &["resize", "lvm", "database_volume", "+5G", "--host", "far"][..],
        &["expand", "storage", "--path", "/srv/db/", "--host", "far"],
        &["expand", "storage", "--auto", "--host", "far"],
    ] {
        assert_eq!(said(known), "", "{known:?}");
    }
    let near = said(&["resize", "lvm", "databse_volume", "+5G", "--host", "far", "--dry-run"]);
    assert!(
        near.contains("E0409") && near.contains("eos knows no volume databse_volume on host far"),
        "{near}"
    );
    assert!(near.contains("did you mean database_volume?"), "{near}");
    let far = said(&["convert", "filesystem", "/nosuch", "btrfs", "--host", "far"]);
    assert!(
        far.contains("no mounted folder /nosuch on host far") && far.contains("eos makes /srv/db on far"),
        "{far}"
    );
    // What is on one host is not on another.
    let elsewhere = said(&["resize", "lvm", "database_volume", "+5G", "--host", "local"]);
    assert!(elsewhere.contains("eos makes no volume on local"), "{elsewhere}");
    // Agents without anything that they could report to, in one environment and not in another.
    let agents = said(&["update", "wazuh-agents", "--dry-run"]);
    assert!(agents.contains("E0409") && agents.contains("production has no wazuh"), "{agents}");
    assert!(agents.contains("eos create wazuh first"), "{agents}");
    let created =
        sandbox.with_stdin(&["create", "wazuh", "--host", "far", "--api-password", "-"], "Ahlai7.uphee\n");
    assert_eq!(created.code, 0, "{}", created.stderr);
    assert_eq!(said(&["update", "wazuh-agents", "--dry-run"]), "");
    let document = sandbox.ok(&["resize", "lvm", "nosuch", "+5G", "--host", "far", "--json"]).stdout;
    assert!(document.contains("eos knows no volume nosuch"), "{document}");
}
