//! kill -9 in the middle of many writes: every answer that was given is true after the restart.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::Gateway;
use support::client::Client;

const WRITERS: usize = 8;
const WRITES: usize = 10_000;

#[test]
fn every_acknowledged_write_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    // Killed after a quarter, a half and three quarters of the writes, then left to finish.
    for (round, stop_at) in [WRITES / 4, WRITES / 2, WRITES * 3 / 4, usize::MAX].into_iter().enumerate() {
        let gateway = Gateway::start(&data, &["--plain-http"]);
        let done = Arc::new(AtomicUsize::new(acknowledged.len()));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (done, data, port) = (Arc::clone(&done), data.clone(), gateway.port());
                std::thread::spawn(move || {
                    let mut names = Vec::new();
                    let Ok(mut client) = Client::connect(&data, port, 0) else { return names };
                    for number in 0.. {
                        if done.load(Ordering::Relaxed) >= WRITES {
                            break;
                        }
                        let name = format!("pg-{round}-{writer}-{number}");
                        match client
                            .action(&format!("CreatePlacementGroup&GroupName={name}&Strategy=cluster"))
                        {
                            Ok(answer) if answer.status == 200 => {
                                done.fetch_add(1, Ordering::Relaxed);
                                names.push(name);
                            }
                            _ => break,
                        }
                    }
                    names
                })
            })
            .collect();
        while done.load(Ordering::Relaxed) < stop_at.min(WRITES) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        gateway.kill();
        for writer in writers {
            acknowledged.extend(writer.join().unwrap());
        }
    }
    assert!(acknowledged.len() >= WRITES, "only {} writes were acknowledged", acknowledged.len());
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let answer =
        Client::connect(&data, gateway.port(), 0).unwrap().action("DescribePlacementGroups").unwrap();
    let found: BTreeSet<&str> = answer
        .body
        .split("<groupName>")
        .skip(1)
        .filter_map(|rest| rest.split("</groupName>").next())
        .collect();
    let lost: Vec<_> = acknowledged.iter().filter(|name| !found.contains(name.as_str())).take(5).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}
