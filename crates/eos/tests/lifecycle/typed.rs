//! What a refusal offers to be typed is typed, and works.

use crate::support::Sandbox;

/// This machine is production's already: staging gets it under a name of its own.
#[test]
fn a_host_for_an_environment_that_has_none() {
    for refused in [
        &["create", "grafana", "--env", "staging"][..],
        &["create", "host", "local", "--env", "staging", "--nomad-node", "n1"],
    ] {
        let sandbox = Sandbox::with_estate();
        let offered = sandbox.offered(refused);
        let command = &offered[offered.find("eos ").unwrap()..];
        sandbox.type_in(command);
        sandbox.ok(&["create", "grafana", "--env", "staging"]);
        let host = sandbox.json(&["show", "host", "local-staging", "--env", "staging"]);
        let is_like_the_first = ["address", "connection", "nomad_node"].map(|key| host["entry"][key].clone());
        assert_eq!(is_like_the_first, ["127.0.0.1", "masterless", "n1"], "{host:#}");
    }
    // Where there is no other, it is the plain one.
    let sandbox = Sandbox::new();
    sandbox.ok(&["-C", ".", "init", "shop"]);
    sandbox.type_in(&sandbox.offered(&["create", "grafana", "--env", "staging"]));
    sandbox.ok(&["create", "grafana", "--env", "staging"]);
}

/// The examples of every kind's help, typed as they stand; what would be asked for on a terminal is left out.
#[test]
fn the_examples_of_every_kind() {
    let catalog = eos_catalog::Catalog::built_in();
    let sandbox = Sandbox::with_estate();
    for kind in catalog.kinds().filter(|kind| !catalog.component(kind).unwrap().only_acts()) {
        let help = sandbox.ok(&["create", kind, "--help"]).stdout;
        let examples = help.split_once("Examples:\n").unwrap().1;
        // A long one goes on in the next line.
        let joined = examples
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace(" eos create ", "\neos create ");
        let lines: Vec<&str> = joined.lines().collect();
        assert!(lines.len() >= 2, "{help}");
        let component = catalog.component(kind).unwrap();
        let image = component.runtimes.container.as_ref();
        let needs_version = image.is_some_and(|image| image.version.is_none());
        // The first is in the second, and the last is the first with a name.
        let told = lines[lines.len() - 2..lines.len() - 1].to_vec();
        for line in told.iter().filter(|line| !line.split(' ').any(|word| word == "-") && !needs_version) {
            let words = line.strip_prefix("eos ").unwrap().trim_end_matches(" --dry-run");
            let mut quoted = Vec::new();
            for (at, part) in words.split('\'').enumerate() {
                if at % 2 == 1 {
                    quoted.push(part);
                } else {
                    quoted.extend(part.split_whitespace());
                }
            }
            sandbox.ok(&[&quoted[..], &["--dry-run"]].concat());
        }
    }
    // What is nothing by itself is not offered to be made.
    assert!(!sandbox.ok(&["create", "--help"]).stdout.contains("wazuh-agents"));
    assert_eq!(sandbox.run(&["create", "wazuh-agents"]).code, 3);
}

/// What others need goes after them, and they after those that need them.
#[test]
fn deletes_in_an_order_that_works() {
    for (refused, also) in [(&["delete", "postgres"][..], ""), (&["delete", "host", "local"], "postgres")] {
        for env in ["production", "staging"] {
            let sandbox = Sandbox::with_estate();
            if env == "staging" {
                sandbox.ok(&["delete", "host", "local"]);
                sandbox.ok(&["create", "host", "local", "--env", "staging"]);
            }
            sandbox.ok(&["create", "grafana", "--sso", "--env", env]);
            let refused = [refused, &["--env", env]].concat();
            let offered = sandbox.offered(&refused);
            let (commands, _) = offered.split_once(" first").unwrap();
            assert!(commands.contains(" && eos delete ") && commands.contains(also), "{offered}");
            sandbox.type_in(commands);
            sandbox.ok(&refused);
        }
    }
}
