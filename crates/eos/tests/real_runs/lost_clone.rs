//! A clone that is lost in the middle of a run: another one takes away what it was making, whether or not a state tells of it.

use test_tools::NatsServer;

use crate::servers::{self, StateServer};
use crate::shop::{Shop, has, killed_when};

/// Leases and records in NATS, state at an http backend.
fn shared() -> (NatsServer, StateServer, Shop) {
    let (nats, state) = (servers::nats(), StateServer::start());
    let shop = Shop::with_settings("tofu", |settings| {
        let http = format!("kind = \"http\"\naddress = \"{}\"", state.address());
        let settings = settings.replace("kind = \"local\"", &http);
        format!("{settings}\n[nats]\nurl = \"{}\"\nlease_seconds = 4\n", nats.url())
    });
    shop.ok(&["apply", "--yes"]);
    (nats, state, shop)
}

/// A redis whose maker is killed once Nomad has its job, with all that only its clone knew; gives the port.
fn lost(state: &StateServer, shop: &Shop, name: &str) -> u16 {
    let (words, port) = shop.redis(name, &["--yes"]);
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let job = format!("production-{name}");
    killed_when(shop, &words, "it is registered", || shop.versions(&job) > 0);
    shop.sandbox.git(&["clean", "-qxdf"]);
    shop.ok(&["compile"]);
    shop.ok(&["update", "host", "local"]);
    shop.ok(&["unlock", name, "--because", "laptop lost"]);
    let id = state.lock().1["ID"].as_str().unwrap().to_owned();
    shop.ok(&["tofu", name, "--", "force-unlock", "-force", &id]);
    port
}

#[test]
fn what_a_lost_clone_was_making_goes_with_the_rest() {
    let (_nats, state, shop) = shared();
    let port = lost(&state, &shop, "shelf");
    let folder = shop.data_folder("shelf");
    assert!(folder.exists());
    let deleted = shop.ok(&["delete", "shelf", "--yes"]);
    has(&deleted.stdout, "a run that was cut off may have made it");
    shop.nothing_is_left_of("production-shelf", port);
    assert!(folder.exists(), "data stays");
    has(&shop.ok(&["status"]).stdout, "eos purge shelf");
    shop.ok(&["purge", "shelf", "--yes"]);
    assert!(!folder.exists(), "its data was named");

    let port = lost(&state, &shop, "chest");
    let folder = shop.data_folder("chest");
    assert!(folder.exists());
    shop.ok(&["destroy", "production", "--destroy-data", "chest", "--yes"]);
    shop.nothing_is_left_of("production-chest", port);
    assert!(!folder.exists(), "its data was named");
    let status = shop.sandbox.json(&["status"]);
    assert_eq!((&status["kept"], &status["units"]), (&serde_json::json!({}), &serde_json::json!([])));
}
