//! What eos hears beside tofu.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::sync::mpsc;

use serde_json::Value as Json;

use crate::unit::{Bench, SLEEP, service};

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
    let all: Vec<Json> = heard.try_iter().collect();
    assert_eq!(all.len(), 1, "{all:?}");
    let preview = &all[0];
    assert_eq!((&preview["name"], &preview["phase"], &preview["kind"]), (&"test/side/job".into(), &"plan".into(), &"preview".into()));
    assert_eq!(preview["details"]["action"], "create");
    assert!(preview["text"].as_str().unwrap().contains("1 to start"));

    unit.apply();
    let all: Vec<Json> = heard.try_iter().collect();
    let progress: Vec<&Json> = all.iter().filter(|one| one["kind"] == "progress").collect();
    assert!(!progress.is_empty(), "{all:?}");
    assert!(progress.iter().all(|one| one["phase"] == "apply" && one["details"]["desired"] == 1), "{progress:?}");

    unit.destroy();
    let all: Vec<Json> = heard.try_iter().collect();
    assert!(all.iter().any(|one| one["text"].as_str().unwrap().contains("ending")), "{all:?}");
    unit.nothing_is_left();
}
