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
