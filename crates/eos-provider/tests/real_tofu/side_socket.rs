//! What eos hears beside tofu.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::unit::{Bench, SLEEP, service};

/// The next message of a kind; others are passed over.
fn next(heard: &mpsc::Receiver<Json>, wanted: impl Fn(&Json) -> bool) -> Json {
    let mut passed = Vec::new();
    loop {
        match heard.recv_timeout(Duration::from_secs(20)) {
            Ok(message) if wanted(&message) => return message,
            Ok(message) => passed.push(message),
            Err(_) => panic!("nothing more is heard after {passed:?}"),
        }
    }
}

pub fn messages(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("side");
    let listener = UnixListener::bind(&path).unwrap();
    let (sender, heard) = mpsc::channel();
    // Ends with the process: it waits for a connection that nobody makes.
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            let _ = sender.send(serde_json::from_str::<Json>(&text).unwrap());
        }
    });
    let mut unit = bench.unit(&service("side", SLEEP));
    unit.set("EOS_PREVIEW", path.to_str().unwrap());
    unit.plan_has_changes().does_not_say("Nomad's plan of job");
    let preview = next(&heard, |_| true);
    assert_eq!(
        (&preview["name"], &preview["phase"], &preview["kind"]),
        (&"test/side/job".into(), &"plan".into(), &"preview".into())
    );
    assert_eq!(preview["details"]["action"], "create");
    assert!(preview["text"].as_str().unwrap().contains("1 to start"));

    unit.apply();
    let progress = next(&heard, |one| one["kind"] == "progress");
    assert_eq!((&progress["phase"], &progress["details"]["desired"]), (&"apply".into(), &1.into()));
    unit.destroy();
    next(&heard, |one| one["text"].as_str().unwrap().contains("ending"));
    unit.nothing_is_left();
}
