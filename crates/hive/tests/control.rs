//! What `eos hive env`, `leftovers` and `down` ask of a running gateway.

#![allow(clippy::unwrap_used)]

mod support;

use hive::HiveError;
use support::Gateway;
use support::client::Client;

#[test]
fn a_gateway_says_where_it_is_and_ends_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    assert!(matches!(hive::control::running(&data), Err(HiveError::NotRunning(_))));
    assert!(matches!(hive::environment::variables(&data), Err(HiveError::NotRunning(_))));
    let gateway = Gateway::start(&data, &[]);
    let running = hive::control::running(&data).unwrap();
    assert_eq!(running.endpoint, gateway.endpoint);
    let variables = hive::environment::variables(&data).unwrap();
    let value = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str());
    assert_eq!(value("AWS_ENDPOINT_URL"), Some(gateway.endpoint.as_str()));
    assert!(std::path::Path::new(value("AWS_CA_BUNDLE").unwrap()).exists());
    let shell = hive::environment::shell(&[("NAME", "it's".to_owned())]);
    assert_eq!(
        shell.split_once('\n').unwrap(),
        ("unset AWS_SESSION_TOKEN AWS_PROFILE AWS_DEFAULT_PROFILE", "export NAME='it'\\''s'\n")
    );
    hive::control::stop(&data).unwrap();
    assert!(matches!(hive::control::running(&data), Err(HiveError::NotRunning(_))));
    assert!(!data.join("control.sock").exists());
}

#[test]
fn leftovers_name_what_is_there_beyond_the_default_vpc() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let gateway = Gateway::start(&data, &["--plain-http"]);
    assert_eq!(gateway.leftovers(), []);
    let mut client = Client::connect(&data, gateway.port(), 0).unwrap();
    let vpc = client.action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap().element("vpcId").to_owned();
    let left = gateway.leftovers();
    assert!(left.iter().any(|left| left.kind == "vpc" && left.id == vpc), "{left:?}");
    // Its companions count too: a VPC that was deleted halfway would show.
    assert_eq!(left.len(), 4, "{left:?}");
    client.action(&format!("DeleteVpc&VpcId={vpc}")).unwrap();
    assert_eq!(gateway.leftovers(), []);
}

#[test]
fn one_data_directory_has_one_gateway() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_hive"))
        .arg("--data")
        .arg(&data)
        .args(["--port", "0"])
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("another gateway runs"), "{second:?}");
    // The first one still answers, also on its socket.
    assert_eq!(hive::control::running(&data).unwrap().endpoint, gateway.endpoint);
}
