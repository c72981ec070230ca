//! Servers that are not there, and servers that take connections and never say a word.

use std::net::TcpListener;

use test_tools::free_ports;

use crate::place::Place;
use crate::support::Run;

#[test]
fn a_backend_that_nobody_listens_on() {
    let [port] = free_ports();
    let place = Place::with_settings(|settings| {
        let http = format!("kind = \"http\"\naddress = \"http://127.0.0.1:{port}\"");
        settings.replace("kind = \"local\"", &http)
    });
    let head = place.head();
    place.says("run_backend_down", &place.exits(1, &["create", "chore", "--yes"]));
    assert_eq!(place.head(), head, "nothing was recorded");
}

/// One that takes connections and never says a word, for as long as it lives.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[test]
fn a_backend_that_takes_connections_and_says_nothing() {
    let (_listener, address) = silent();
    let place = Place::with_settings(|settings| {
        let http = format!("kind = \"http\"\naddress = \"http://{address}\"");
        settings.replace("kind = \"local\"", &http)
    });
    place.ok(&["create", "desk", "--no-apply"]);
    place.says("run_backend_silent", &place.exits(1, &["plan"]));
}

#[test]
fn a_nomad_that_takes_connections_and_says_nothing() {
    let (_listener, address) = silent();
    let place = Place::new();
    place.ok(&["create", "host", "local", "--no-apply"]);
    place.ok(&["create", "memcached", "--runtime", "host", "--no-apply"]);
    place.ok(&["create", "memcached", "second", "--runtime", "host", "--no-apply"]);
    let plan = place.command(&["plan"]).env("NOMAD_ADDR", format!("http://{address}")).output().unwrap();
    let run = Run::from(plan);
    assert_eq!(run.code, 1);
    place.says("run_nomad_silent", &run);
    // A plan that is ended lets go of the state: nobody has to unlock it by hand.
    assert_eq!(locks_below(&place.path(".eos/state/tofu")), Vec::<String>::new());
}

/// What tofu writes while it holds the lock of a local state.
fn locks_below(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => found.extend(locks_below(&path)),
            false => {
                found.extend(path.to_str().filter(|path| path.ends_with(".lock.info")).map(str::to_owned))
            }
        }
    }
    found
}

#[test]
fn a_store_that_takes_connections_and_says_nothing() {
    let (_listener, address) = silent();
    let place = Place::with_settings(|settings| {
        let http = format!("kind = \"http\"\naddress = \"http://{address}\"");
        format!("{}\n[nats]\nurl = \"nats://{address}\"\n", settings.replace("kind = \"local\"", &http))
    });
    place.ok(&["create", "desk", "--no-apply"]);
    place.says("run_store_silent", &place.exits(1, &["status"]));
    place.says("run_store_silent", &place.exits(1, &["plan"]));
}
