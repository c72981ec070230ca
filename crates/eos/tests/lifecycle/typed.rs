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
