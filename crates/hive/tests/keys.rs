//! Keys that are made and taken away while a gateway runs.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use hive::{Credentials, HiveError};
use support::Gateway;
use support::client::{Answer, Client};

const OTHER: &str = "200000000002";

fn start(dir: &tempfile::TempDir) -> Gateway {
    Gateway::start(&dir.path().join("data"), &["--plain-http"])
}

fn client(gateway: &Gateway, key: usize) -> Client {
    Client::connect(&gateway.data, gateway.port(), key).unwrap()
}

fn vpcs(answer: &Answer) -> usize {
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body.matches("<vpcId>").count()
}

/// Waits for what the gateway does by itself.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn rewrite(data: &Path, change: impl FnOnce(&mut Vec<serde_json::Value>)) {
    let path = data.join("credentials.json");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(json["keys"].as_array_mut().unwrap());
    std::fs::write(&path, json.to_string()).unwrap();
}

#[test]
fn a_running_gateway_takes_up_a_new_account() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = start(&dir);
    client(&gateway, 0).action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap();
    let key = Credentials::add_account(&gateway.data, OTHER, "admin").unwrap();
    // What is handed out is let in at once.
    let variables = hive::environment::variables_of(&gateway.data, Some(OTHER)).unwrap();
    assert!(variables.contains(&("AWS_ACCESS_KEY_ID", key.access_key_id.clone())));
    let mut other = client(&gateway, 1);
    assert_eq!(vpcs(&other.action("DescribeVpcs").unwrap()), 1, "its default VPC, and nothing of others");
    other.action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap();
    // It is the same account after a restart.
    gateway.kill();
    let again = start(&dir);
    assert_eq!(vpcs(&client(&again, 1).action("DescribeVpcs").unwrap()), 2);
}

#[test]
fn a_key_that_is_taken_away_is_refused_with_its_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = start(&dir);
    let second = Credentials::add_account(&gateway.data, "100000000001", "admin").unwrap();
    assert!(hive::control::running(&gateway.data).unwrap().keys.contains(&second.access_key_id));
    // Connected and known before.
    let (mut first, mut second_client) = (client(&gateway, 0), client(&gateway, 1));
    assert_eq!(second_client.action("DescribeVpcs").unwrap().status, 200);
    let unknown = Credentials::revoke(&gateway.data, "AKIANOBODY");
    assert!(matches!(unknown, Err(HiveError::UnknownKey(_))));
    Credentials::revoke(&gateway.data, &second.access_key_id).unwrap();
    // Nobody has to ask the gateway for that.
    eventually("refused", || {
        let answer = second_client.action("DescribeVpcs").unwrap();
        assert!(answer.status == 200 || answer.element("Code") == "AuthFailure", "{}", answer.body);
        answer.status != 200
    });
    assert_eq!(first.action("DescribeVpcs").unwrap().status, 200);
}

#[test]
fn what_is_written_by_hand_counts_too() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = start(&dir);
    let mut client = client(&gateway, 0);
    let refused = |client: &mut Client| client.action("DescribeVpcs").unwrap().status != 200;
    assert!(!refused(&mut client));
    // Another secret of the same length.
    let whole = std::fs::read(gateway.data.join("credentials.json")).unwrap();
    rewrite(&gateway.data, |keys| keys[0]["secret_access_key"] = "x".repeat(40).into());
    eventually("the old secret is refused", || refused(&mut client));
    let mut new = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    assert!(!refused(&mut new));
    // Half of an edit shuts nobody out, and is said once.
    std::fs::write(gateway.data.join("credentials.json"), &whole[..40]).unwrap();
    assert_eq!(hive::control::running(&gateway.data).unwrap().keys.len(), 1);
    assert!(!refused(&mut new));
    std::fs::write(gateway.data.join("credentials.json"), &whole).unwrap();
    eventually("the old secret is let in again", || !refused(&mut client));
}

#[test]
fn two_accounts_that_are_made_at_the_same_time_are_both_there() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::thread::scope(|scope| {
        for number in 0..16 {
            let data = &data;
            scope.spawn(move || Credentials::add_account(data, &format!("2{number:011}"), "admin").unwrap());
        }
    });
    // With the one that every new directory has.
    assert_eq!(Credentials::list(&data).unwrap().len(), 17);
}

#[test]
fn the_log_says_that_keys_changed_and_names_none() {
    let dir = tempfile::tempdir().unwrap();
    let (data, log) = (dir.path().join("data"), dir.path().join("log"));
    let _gateway = Gateway::start_with_log(&data, &["--plain-http"], &log);
    let key = Credentials::add_account(&data, OTHER, "admin").unwrap();
    hive::control::running(&data).unwrap();
    let whole = std::fs::read(data.join("credentials.json")).unwrap();
    std::fs::write(data.join("credentials.json"), &whole[..100]).unwrap();
    for _ in 0..3 {
        hive::control::running(&data).unwrap();
    }
    let said = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[1].ends_with("keys changed: 1 let in from now on, 0 no more"), "{said}");
    assert!(lines[2].contains("the keys stay as they were for now: ") && lines[2].contains("cannot be read"));
    assert!(!said.contains(&key.access_key_id) && !said.contains(&key.secret_access_key));
}
