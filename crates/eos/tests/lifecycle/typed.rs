//! What a refusal offers to be typed is typed, and works.

use super::refused;
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
            // A host may be kept for others: what goes first is told, and then the host itself can.
            let (commands, is_all) = offered
                .split_once(" first")
                .map_or((offered.as_str(), true), |(commands, _)| (commands, false));
            assert!(commands.contains(" && eos delete ") && commands.contains(also), "{offered}");
            sandbox.type_in(commands);
            if is_all {
                assert!(sandbox.run(&refused).stderr.contains("E0409"), "it is gone by then: {offered}");
            } else {
                sandbox.ok(&refused);
            }
        }
    }
}

/// What can do without is offered to be kept, all of it, and the last command is the one that was refused.
#[test]
fn a_way_to_delete_what_several_use() {
    for (way, left) in [("to keep them: ", true), ("to take them away as well: ", false)] {
        let sandbox = Sandbox::with_estate();
        let names = ["alpha", "beta", "gamma", "delta"];
        for name in names {
            sandbox.ok(&[
                "create",
                "prometheus",
                name,
                "--proxy",
                "--hostname",
                &format!("{name}.example.org"),
            ]);
        }
        let offered = sandbox.offered(&["delete", "hecate"]);
        let (_, rest) = offered.split_once(way).unwrap_or_else(|| panic!("{offered}"));
        let commands = rest.split(';').next().unwrap();
        sandbox.type_in(commands);
        let listed = sandbox.ok(&["list"]).stdout;
        assert!(!listed.contains("hecate"), "{listed}");
        for name in names {
            assert_eq!(listed.contains(name), left, "{listed}");
        }
    }
    // Where some cannot do without, they go, and the others stay.
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "authentik", "--frontend-for", "mailcow"]);
    sandbox.ok(&["create", "grafana", "--sso"]);
    let offered = sandbox.offered(&["delete", "authentik"]);
    let commands = offered.split(';').next().unwrap();
    sandbox.type_in(&commands[commands.find("eos ").unwrap()..]);
    assert!(!sandbox.ok(&["list"]).stdout.contains("authentik"), "{offered}");
}

#[test]
fn a_name_in_place_of_a_command_is_known() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "memcached", "cash"]);
    let said = sandbox.run(&["cash"]);
    refused(&said, 3, "there is no command \"cash\"");
    assert!(said.stderr.contains("cash is a name: eos show cash"), "{}", said.stderr);
    assert!(sandbox.run(&["cush"]).stderr.contains("eos --help lists the commands"));
}
