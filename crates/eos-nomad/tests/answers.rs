//! Faults that a real Nomad has only by chance: a server that answers as told.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use eos_nomad::{Client, Connection, Error, Goal, Limits, Outcome, Patience, Stop, Variable, watch};
use serde_json::json;

const PATIENT: Patience =
    Patience { unreachable: Duration::from_secs(20), no_leader: Duration::from_secs(20), ..Patience::LONG };

/// Gives the answers one after the other, each on a connection of its own, and tells what was asked. An empty answer is a
/// connection that breaks.
fn server(answers: Vec<(u16, &'static str)>) -> (Connection, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Some(format!("http://{}", listener.local_addr().unwrap()));
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; 64 << 10];
            let length = stream.read(&mut request).unwrap();
            sender.send(String::from_utf8_lossy(&request[..length]).into_owned()).unwrap();
            if status > 0 {
                let head =
                    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
                stream.write_all(format!("{head}X-Nomad-Index: 7\r\n\r\n{body}").as_bytes()).unwrap();
            }
        }
    });
    (Connection { address, ..Connection::default() }, asked)
}

fn client(connection: &Connection) -> Client {
    Client::new(connection, PATIENT, Stop::new()).unwrap()
}

#[test]
fn a_cluster_without_a_leader_is_waited_for_by_reads_and_writes() {
    let (connection, asked) = server(vec![(500, "No cluster leader"), (429, "slow down"), (200, "[]")]);
    assert!(client(&connection).nodes().unwrap().is_empty());
    assert_eq!(asked.iter().count(), 3);
    let (connection, asked) = server(vec![(500, "No cluster leader"), (200, "{\"EvalID\":\"e\"}")]);
    assert_eq!(client(&connection).register("a", &json!({"ID": "a"}), 0).unwrap().evaluation, "e");
    assert_eq!(asked.iter().count(), 2);
}

#[test]
fn a_broken_connection_repeats_reads_and_never_a_registration() {
    let (connection, asked) = server(vec![(0, ""), (200, "{}")]);
    client(&connection).plan_job("a", &json!({"ID": "a"})).unwrap();
    assert_eq!(asked.iter().count(), 2);
    let (connection, asked) = server(vec![(0, "")]);
    let error = client(&connection).register("a", &json!({"ID": "a"}), 0).unwrap_err();
    assert!(error.is_uncertain(), "{error}");
    assert_eq!(asked.iter().count(), 1);
}

#[test]
fn patience_ends() {
    let short = Patience::at_once(Duration::from_secs(20));
    let (connection, _asked) = server(vec![(500, "No cluster leader")]);
    let client = Client::new(&connection, short, Stop::new()).unwrap();
    assert!(matches!(client.nodes().unwrap_err(), Error::NoLeader { .. }));
    // Nobody listens there any more.
    let error = client.nodes().unwrap_err();
    assert!(error.is_unreachable() && !error.is_uncertain(), "{error}");
}

#[test]
fn a_wish_to_stop_ends_a_wait() {
    let connection = Connection { address: Some("http://127.0.0.1:1".to_owned()), ..Connection::default() };
    let stop = Stop::new();
    let patience = Patience { unreachable: Duration::from_secs(3600), ..PATIENT };
    let client = Client::new(&connection, patience, stop.clone()).unwrap();
    let waiting = std::thread::spawn(move || client.nodes());
    stop.stop();
    assert!(matches!(waiting.join().unwrap().unwrap_err(), Error::Stopped { .. }));
}

#[test]
fn what_is_asked_names_region_namespace_and_token_and_escapes_names() {
    let (mut connection, asked) =
        server(vec![(404, "job not found"), (409, "{\"Items\":{\"k\":\"hunter2\"}}")]);
    connection.region = Some("eu".to_owned());
    connection.namespace = Some("a b".to_owned());
    connection.token = Some("t0ken".to_owned().into());
    let client = client(&connection);
    assert!(client.job("x/y z?").unwrap().is_none());
    let variable = Variable { modify_index: 4, items: [("k".to_owned(), "v4lue".to_owned().into())].into() };
    let error = client.put_variable("nomad/jobs/x", &variable).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }));
    assert!(!format!("{error} {error:?} {variable:?} {connection:?}").contains("hunter2"));
    assert!(!format!("{variable:?} {connection:?}").contains("v4lue"));
    let asked: Vec<String> = asked.iter().collect();
    assert!(
        asked[0].starts_with("GET /v1/job/x/y%20z%3F?region=eu&namespace=a%20b HTTP/1.1"),
        "{}",
        asked[0]
    );
    assert!(asked[0].to_lowercase().contains("x-nomad-token: t0ken"));
    assert!(asked[1].starts_with("PUT /v1/var/nomad/jobs/x?region=eu&namespace=a%20b&cas=4 HTTP/1.1"));
}

#[test]
fn bad_settings_are_told_before_anybody_is_asked() {
    for address in ["", "nomad:4646", "unix:///run/nomad.sock", "ftp://x"] {
        let connection = Connection { address: Some(address.to_owned()), ..Connection::default() };
        let error = Client::new(&connection, PATIENT, Stop::new()).err().unwrap();
        assert!(matches!(error, Error::Setting { .. }), "{address}: {error}");
    }
    let mut connection = Connection::default();
    connection.tls.client_key = Some("/nowhere/key.pem".into());
    assert!(
        Client::new(&connection, PATIENT, Stop::new()).err().unwrap().to_string().contains("belong together")
    );
    connection.tls.client_certificate = Some("/nowhere/certificate.pem".into());
    assert!(Client::new(&connection, PATIENT, Stop::new()).err().unwrap().to_string().contains("/nowhere"));
}

/// A system job that no node takes has nothing to wait for, and nothing to be content with.
#[test]
fn a_system_job_without_a_node_is_not_healthy() {
    let outcome = |count: u64| {
        let (connection, _asked) = server(vec![(200, "[]"); 9]);
        let groups = json!([{"Name": "g", "Count": count}]);
        let job = serde_json::from_value(json!({"ID": "a", "Type": "system", "TaskGroups": groups})).unwrap();
        let limits = Limits { placed_within: Duration::ZERO, ..Limits::SERVICE };
        watch(&client(&connection), &job, None, Goal::Healthy, limits, &mut |_| {}).unwrap()
    };
    let Outcome::Failed(failure) = outcome(1) else { panic!("it is not healthy") };
    assert_eq!(failure.reason, "no node there is may take it");
    assert_eq!(outcome(0), Outcome::Reached, "none is wanted");
}
