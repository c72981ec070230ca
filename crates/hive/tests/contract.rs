//! The contract with real clients: boto3 over TLS, every action, every answer held against botocore's model.

#![allow(clippy::unwrap_used)]

mod support;

use support::{Gateway, python, script, succeed};

#[test]
fn boto3_finds_the_contract_kept() {
    let Some(python) = python("contract::boto3") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--strict"]);
    let rows = hive::coverage::rows();
    let actions: Vec<&str> = rows.iter().map(|row| row.action).collect();
    let mut command = gateway.command(&python);
    command
        .env("HIVE_ACTIONS", actions.join(" "))
        .env("HIVE_COVERAGE", serde_json::to_string(&rows).unwrap());
    succeed(command.arg(script("contract.py")));
    assert_eq!(gateway.leftovers(), []);
}
