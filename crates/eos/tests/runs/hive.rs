//! `eos hive` on a NATS server: two gateways in the background, one state.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::servers;
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
    let (sandbox, nats, aws) = (Sandbox::new(), servers::nats(), tool("aws"));
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
    let (sandbox, mut nats) = (Sandbox::new(), servers::nats());
    let url = nats.url();
    nats.kill();
    let data = sandbox.path().join("hive");
    let run = sandbox.run(&["hive", "up", "--port", "0", "--store", &url, "--data", data.to_str().unwrap()]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("cannot be reached") && run.stderr.contains("--store"), "{}", run.stderr);
}

/// `hive up --detach` on a folder; what it says.
fn up(sandbox: &Sandbox, data: &str, more: &[&str]) -> crate::support::Run {
    let words = ["hive", "up", "--detach", "--plain-http", "--port", "0", "--data", data];
    sandbox.run(&[&words[..], more].concat())
}

#[test]
fn what_to_type_next_names_the_folder_and_the_region() {
    let sandbox = Sandbox::new();
    let data = sandbox.path().join("it's hive");
    let data = data.to_str().unwrap();
    // Looking makes no keys, and no folder to put them in.
    let listed = sandbox.json(&["hive", "accounts", "--data", data]);
    assert_eq!(listed["accounts"], serde_json::json!([]));
    assert!(!Path::new(data).exists());
    let refused = sandbox.run(&["hive", "accounts", "--add", "000000000000", "--data", data]);
    assert!(refused.code != 0 && refused.stderr.contains("take another"), "{}", refused.stderr);
    assert!(!Path::new(data).exists());

    let quoted = format!("--data '{}'", data.replace('\'', "'\\''"));
    for verb in ["env", "leftovers"] {
        let refused = sandbox.run(&["hive", verb, "--data", data]);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("eos hive up --detach {quoted}")), "{}", refused.stderr);
    }

    let started = up(&sandbox, data, &["--region", "eu-west-1"]);
    assert_eq!(started.code, 0, "{}{}", started.stdout, started.stderr);
    // The gateway takes up what is made while it runs, and lets go of what is taken away.
    let made = sandbox.ok(&["hive", "accounts", "--add", "200000000002", "--data", data]);
    assert!(made.stdout.contains("The running gateway lets the new key in."), "{}", made.stdout);
    let variables = sandbox.json(&["hive", "env", "--account", "200000000002", "--data", data]);
    let key = variables["AWS_ACCESS_KEY_ID"].as_str().unwrap();
    let taken = sandbox.ok(&["hive", "accounts", "--revoke", key, "--data", data]);
    assert!(taken.stdout.contains("The running gateway refuses it from now on."), "{}", taken.stdout);
    let again = sandbox.run(&["hive", "accounts", "--revoke", key, "--data", data]);
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert!(
        again.stderr.contains(&format!("try: eos hive accounts {quoted} lists them")),
        "{}",
        again.stderr
    );
    assert!(started.stdout.contains(&format!("eval \"$(eos hive env {quoted})\"")), "{}", started.stdout);
    let printed = sandbox.ok(&["hive", "env", "--data", data]);
    assert!(printed.stdout.contains("AWS_ENDPOINT_URL_EC2"), "{}", printed.stdout);
    assert!(sandbox.ok(&["hive", "down", "--data", data]).stdout.contains("Hive is stopped"));
    // Stopped already is what was asked for.
    let again = sandbox.ok(&["hive", "down", "--data", data]);
    assert_eq!(again.stdout, format!("No Hive runs on {data}: nothing to stop.\n"));
    assert_eq!(sandbox.json(&["hive", "down", "--data", data])["stopped"], false);
    let log = std::fs::read_to_string(Path::new(data).join("gateway.log")).unwrap();
    assert!(log.contains("region eu-west-1") && log.contains("ends: it was asked to"), "{log}");

    let words = ["hive", "up", "--plain-http", "--port", "0", "--data", data, "--region", "us-east-1"];
    let refused = sandbox.run(&words);
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("eos hive up --region eu-west-1"), "{}", refused.stderr);
}

#[test]
fn coverage_is_a_summary_an_action_or_all() {
    let sandbox = Sandbox::new();
    let summary = sandbox.ok(&["hive", "coverage"]).stdout;
    assert!(summary.lines().count() < 24 && summary.contains("eos hive coverage RunInstances"), "{summary}");
    let one = sandbox.ok(&["hive", "coverage", "RunInstances"]).stdout;
    assert!(one.starts_with("## ec2 RunInstances") && one.lines().count() < 24, "{one}");
    let all = sandbox.ok(&["hive", "coverage", "--full"]).stdout;
    assert!(all.contains(one.trim_end()), "the page has the same of it");
    assert_eq!(sandbox.run(&["hive", "coverage", "NoSuchAction"]).code, 3);
}

#[test]
fn a_gateway_that_runs_is_no_answer_to_who_asks_for_another() {
    let sandbox = Sandbox::new();
    let gateway = Gateway::start(&sandbox, "one", "embedded");
    let data = gateway.data.to_str().unwrap();
    let again = ["hive", "up", "--detach", "--data", data];
    assert!(sandbox.ok(&again).stdout.contains("already"));
    sandbox.ok(&[&again[..], &["--port", "0", "--region", "us-east-1"]].concat());
    for (more, what) in [
        (&["--region", "eu-west-1"][..], "--region eu-west-1 (it has us-east-1)"),
        (&["--strict"], "--strict true (it has false)"),
        (&["--limit", "vpcs=50"], "--limit vpcs=50 (it has none)"),
    ] {
        let refused = sandbox.run(&[&again[..], more].concat());
        assert_ne!(refused.code, 0, "{more:?}");
        let said = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(what) && said.contains("eos hive down"), "{said}");
    }
}

#[test]
fn a_store_that_is_shared_is_as_durable_as_its_server() {
    let sandbox = Sandbox::new();
    let data = sandbox.path().join("hive");
    for detach in [&[][..], &["--detach"]] {
        let words = ["hive", "up", "--data", data.to_str().unwrap(), "--store", "nats://127.0.0.1:1"];
        let refused = sandbox.run(&[&words[..], &["--durability", "relaxed"], detach].concat());
        assert_eq!(refused.code, 3, "{}{}", refused.stdout, refused.stderr);
        assert!(
            refused.stderr.contains("--durability relaxed is of the embedded store"),
            "{}",
            refused.stderr
        );
    }
    assert!(!data.exists());
}
