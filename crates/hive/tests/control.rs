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
    let (unset, export) = shell.split_once('\n').unwrap();
    assert_eq!(export, "export NAME='it'\\''s'\n");
    let words: Vec<&str> = unset.split(' ').collect();
    // Each of these would lead a client elsewhere, whatever the variables say.
    for name in [
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_ENDPOINT_URL_EC2",
        "AWS_ENDPOINT_URL_STS",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    ] {
        assert!(words[0] == "unset" && words.contains(&name), "{unset}");
    }
    hive::control::stop(&data).unwrap();
    assert!(matches!(hive::control::running(&data), Err(HiveError::NotRunning(_))));
    assert!(!data.join("control.sock").exists());
}

#[test]
fn a_stopped_gateway_has_let_go_of_its_store() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let process = hive::control::running(&data).unwrap().process;
    // A request that is never finished: the gateway waits for it a while, and its socket is gone already.
    let mut unfinished = std::net::TcpStream::connect(("127.0.0.1", gateway.port())).unwrap();
    std::io::Write::write_all(&mut unfinished, b"POST / HTTP/1.1\r\n").unwrap();
    hive::control::stop(&data).unwrap();
    // It is a child of this test, which has not asked how it ended yet.
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    assert!(status.contains(") Z "), "{status}");
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

#[test]
fn a_folder_of_something_else_is_not_taken() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(home.join("letter"), "dear").unwrap();
    assert!(matches!(hive::DataDirectory::open(&home), Err(HiveError::Foreign(_))));
    assert_eq!(std::fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1);
    // An empty one is, and so is the same one again; nothing in it is for others.
    std::fs::remove_file(home.join("letter")).unwrap();
    for _ in 0..2 {
        drop(Gateway::start(&home, &["--plain-http"]));
    }
    for file in ["store.redb", "credentials.json", "control.sock"] {
        let mode = std::fs::symlink_metadata(home.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn someone_who_asks_nothing_keeps_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let silent: Vec<_> = (0..20)
        .map(|_| std::os::unix::net::UnixStream::connect(data.join("control.sock")).unwrap())
        .collect();
    // Each of the silent ones would be waited for longer than an answer is.
    assert_eq!(gateway.leftovers(), []);
    drop(silent);
}

#[test]
fn another_account_has_its_own_keys() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    // Looking makes nothing, not even the folder.
    assert!(hive::Credentials::list(&data).unwrap().is_empty());
    assert!(!data.exists());
    let everyone = hive::Credentials::add_account(&data, "000000000000", "admin");
    assert!(matches!(everyone, Err(HiveError::Account(..))));
    assert!(!data.exists());
    hive::Credentials::add_account(&data, "200000000002", "admin").unwrap();
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let key = |account| {
        let variables = hive::environment::variables_of(&gateway.data, account).unwrap();
        variables.into_iter().find(|(name, _)| *name == "AWS_ACCESS_KEY_ID").unwrap().1
    };
    let keys = hive::Credentials::list(&data).unwrap();
    assert_eq!(key(None), keys[0].access_key_id);
    assert_eq!(key(Some("200000000002")), keys[1].access_key_id);
    let unknown = hive::environment::variables_of(&data, Some("300000000003"));
    assert!(matches!(unknown, Err(HiveError::UnknownAccount(_))));
}

#[test]
fn names_of_regions_nodes_and_accounts() {
    assert!(
        ["us-east-1", "us-gov-west-1", "ap-southeast-12"]
            .into_iter()
            .all(|text| hive::parse_region(text).is_ok())
    );
    assert!(
        ["Foo Bar", "us-east", "", "us-east-1a", "us-1"]
            .into_iter()
            .all(|text| hive::parse_region(text).is_err())
    );
    assert!(["local", "rack-1"].into_iter().all(|text| hive::parse_node(text).is_ok()));
    assert!(
        ["", "none", "a/b", "A", &"a".repeat(64)].into_iter().all(|text| hive::parse_node(text).is_err())
    );
    assert!(hive::parse_account("100000000001").is_ok());
    assert!(["1", "10000000000a", "000000000000"].into_iter().all(|text| hive::parse_account(text).is_err()));
}

/// What the gateway for tests says when it does not start.
fn refusal(data: &std::path::Path, words: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hive"));
    let ended = command.arg("--data").arg(data).args(["--port", "0"]).args(words).output().unwrap();
    assert!(!ended.status.success());
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn records_stay_in_their_region() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    drop(Gateway::start(&data, &["--plain-http", "--region", "eu-west-1"]));
    let said = refusal(&data, &["--region", "us-east-1"]);
    assert!(said.contains("of the region eu-west-1, not us-east-1"), "{said}");
    drop(Gateway::start(&data, &["--plain-http", "--region", "eu-west-1"]));
}

#[test]
fn the_log_says_what_happened_and_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let log = dir.path().join("log");
    let gateway = Gateway::start_with_log(&data, &["--plain-http"], &log);
    let mut client = Client::connect(&data, gateway.port(), 0).unwrap();
    for _ in 0..3 {
        assert_eq!(client.action("DescribeVpcs&Colour%0Aforged.1=red").unwrap().status, 200);
    }
    hive::control::stop(&data).unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "quiet but for these: {said}");
    assert!(lines[0].contains(" answers: region us-east-1, node local"), "{said}");
    assert!(lines[1].contains("DescribeVpcs came with Colour forged"), "{said}");
    assert!(lines[2].ends_with("ends: it was asked to"), "{said}");
    let key = &hive::Credentials::list(&data).unwrap()[0];
    assert!(!said.contains(&key.secret_access_key) && !said.contains(&key.access_key_id));
}

#[test]
fn localhost_is_both_of_its_addresses() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        println!("skipped: this machine has no ::1");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--plain-http"]);
    for address in ["127.0.0.1", "::1"] {
        let mut stream = std::net::TcpStream::connect((address, gateway.port())).unwrap();
        std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut begun = [0; 8];
        std::io::Read::read_exact(&mut stream, &mut begun).unwrap();
        assert_eq!(&begun, b"HTTP/1.1", "{address}");
    }
}

#[test]
fn a_store_is_named_without_its_password() {
    let store: hive::Store = "nats://me:secret@one:4222, tls://two:4222".parse().unwrap();
    assert_eq!(store.to_string(), "nats://one:4222,tls://two:4222");
}
