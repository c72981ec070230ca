//! A program that eos did not start has a port that a plan is about to take: a person hears of it before the question.

use std::net::TcpListener;

use crate::place::Place;

/// Nobody answers there: what is planned is not carried out.
fn place() -> Place {
    let place = Place::with_settings(|text| format!("{text}\n[nomad]\naddress = \"http://127.0.0.1:9\"\n"));
    place.ok(&["create", "host", "local", "--nomad-node", "n1"]);
    place.ok(&["create", "host", "db1", "--address", "192.0.2.7"]);
    place
}

/// The warnings about ports: what they say, and what they offer.
fn taken(place: &Place, args: &[&str]) -> Vec<(String, String)> {
    let run = place.run(&[args, &["--json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let found = document["diagnostics"].as_array().unwrap().iter();
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
    let ports = found.filter(|one| one["code"] == "E0404" && one["severity"] == "warning");
    ports.map(|one| (text(one, "message"), text(one, "fix"))).collect()
}

#[test]
fn a_strangers_port_is_told_with_its_process() {
    let place = place();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let asks = ["create", "memcached", "cache", "--runtime", "container", "--host", "local", "--port", &port];
    let pid = format!("(process {})", std::process::id());
    // Not recorded yet: the flag goes with the command itself.
    let told = taken(&place, &[&asks[..], &["--yes"]].concat());
    assert_eq!(told.len(), 1, "{told:?}");
    let (message, fix) = &told[0];
    assert!(message.starts_with(&format!("port {port} of this machine is taken by ")), "{message}");
    assert!(message.contains(&pid) && message.ends_with("cache is to listen there"), "{message}");
    assert!(fix.contains("take another port: --port "), "{fix}");
    // Beside the plan, before anybody is asked.
    let said = place.exits(1, &[&asks[..], &["--yes"]].concat());
    assert!(said.stderr.find("warning[E0404]") < said.stderr.find("error["), "{}", said.stderr);

    place.ok(&[&asks[..], &["--no-apply"]].concat());
    let told = taken(&place, &["plan"]);
    assert_eq!(told.len(), 1, "{told:?}");
    let (_, command) = told[0].1.split_once("eos ").unwrap();
    let words: Vec<&str> = command.split(' ').chain(["--no-apply"]).collect();
    place.ok(&words);
    assert_eq!(taken(&place, &["plan"]), []);
    assert!(!words.contains(&port.as_str()));
}

#[test]
fn only_of_this_machine_and_only_while_somebody_listens() {
    let place = place();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    for (name, host) in [("here", "local"), ("there", "db1")] {
        place.ok(&[
            "create",
            "memcached",
            name,
            "--runtime",
            "container",
            "--host",
            host,
            "--port",
            &port,
            "--no-apply",
        ]);
    }
    let told = taken(&place, &["plan"]);
    assert!(told.len() == 1 && told[0].0.ends_with("here is to listen there"), "{told:?}");
    // A clone elsewhere: its loopback is another machine's.
    let mark = place.path(".eos/state/machines/local");
    let ours = std::fs::read(&mark).unwrap();
    std::fs::write(&mark, "another machine\n").unwrap();
    assert_eq!(taken(&place, &["plan"]), []);
    std::fs::write(&mark, ours).unwrap();
    assert_eq!(taken(&place, &["plan"]).len(), 1);
    drop(stranger);
    assert_eq!(taken(&place, &["plan"]), []);
}
