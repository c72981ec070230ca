//! `eos hive` on a NATS server: two gateways in the background, one state.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::servers::Nats;
use crate::support::{Sandbox, tool};

/// A gateway in the background; stopped when dropped.
struct Gateway<'a> {
    sandbox: &'a Sandbox,
    data: PathBuf,
}

impl<'a> Gateway<'a> {
    fn start(sandbox: &'a Sandbox, name: &str, store: &str) -> Gateway<'a> {
        let gateway = Gateway { sandbox, data: sandbox.path().join(name) };
        let data = gateway.data.to_str().unwrap();
        sandbox.ok(&["hive", "up", "--detach", "--port", "0", "--store", store, "--data", data]);
        gateway
    }

    fn leftovers(&self) -> serde_json::Value {
        let data = self.data.to_str().unwrap();
        self.sandbox.json(&["hive", "leftovers", "--data", data])["leftovers"].clone()
    }

    /// The aws CLI with exactly what `eos hive env` says.
    fn aws(&self, program: &Path, words: &[&str]) -> String {
        let variables = self.sandbox.json(&["hive", "env", "--data", self.data.to_str().unwrap()]);
        let variables = variables.as_object().unwrap().iter();
        let output = Command::new(program)
            .args(["ec2", "--output", "text"])
            .args(words)
            .env_clear()
            .env("HOME", self.sandbox.path().join("home"))
            .envs(variables.map(|(name, value)| (name, value.as_str().unwrap())))
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Gateway<'_> {
    fn drop(&mut self) {
        let _ = self.sandbox.run(&["hive", "down", "--data", self.data.to_str().unwrap()]);
    }
}

#[test]
fn two_gateways_on_one_nats_server_share_a_state() {
    let (sandbox, nats, aws) = (Sandbox::new(), Nats::start(), tool("aws"));
    let first = Gateway::start(&sandbox, "first", &nats.url());
    let second = Gateway::start(&sandbox, "second", &nats.url());
    let create = ["create-internet-gateway", "--query", "InternetGateway.InternetGatewayId"];
    let made = first.aws(&aws, &create);
    // Each has keys of its own; the account is the same.
    let seen = second.aws(&aws, &["describe-internet-gateways", "--internet-gateway-ids", &made]);
    assert!(seen.contains(&made), "{seen}");
    assert_eq!(second.leftovers()[0]["id"], made.as_str());
    second.aws(&aws, &["delete-internet-gateway", "--internet-gateway-id", &made]);
    assert_eq!(first.leftovers(), serde_json::json!([]));
}

#[test]
fn a_nats_server_that_is_not_there_is_said_so() {
    let (sandbox, mut nats) = (Sandbox::new(), Nats::start());
    let url = nats.url();
    nats.kill();
    let data = sandbox.path().join("hive");
    let run = sandbox.run(&["hive", "up", "--port", "0", "--store", &url, "--data", data.to_str().unwrap()]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("cannot be reached") && run.stderr.contains("--store"), "{}", run.stderr);
}
