//! A clone that is lost in the middle of a run: another one takes away what it was making, whether or not a state tells of it.

use test_tools::NatsServer;

use crate::killed_kinds::{POSTER, SPEAKER};
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

/// A redis whose maker is killed once Nomad has its job; gives the port.
fn lost_redis(state: &StateServer, shop: &Shop, name: &str) -> u16 {
    let (words, port) = shop.redis(name, &["--yes"]);
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let job = format!("production-{name}");
    killed_when(shop, &words, "it is registered", || shop.versions(&job) > 0);
    lost(state, shop, name);
    port
}

/// All that only the clone knew that was making a unit is gone, and so is its hold on it.
fn lost(state: &StateServer, shop: &Shop, name: &str) {
    shop.sandbox.git(&["clean", "-qxdf"]);
    shop.ok(&["compile"]);
    shop.ok(&["update", "host", "local"]);
    shop.ok(&["unlock", name, "--because", "laptop lost"]);
    let id = state.lock().1["ID"].as_str().unwrap().to_owned();
    shop.ok(&["tofu", name, "--", "force-unlock", "-force", &id]);
}

#[test]
fn what_a_lost_clone_was_making_goes_with_the_rest() {
    let (_nats, state, shop) = shared();
    let port = lost_redis(&state, &shop, "shelf");
    let folder = shop.data_folder("shelf");
    assert!(folder.exists());
    let deleted = shop.ok(&["delete", "shelf", "--yes"]);
    has(&deleted.stdout, "a run that was cut off may have made it");
    shop.nothing_is_left_of("production-shelf", port);
    assert!(folder.exists(), "data stays");
    has(&shop.ok(&["status"]).stdout, "eos purge shelf");
    shop.ok(&["purge", "shelf", "--yes"]);
    assert!(!folder.exists(), "its data was named");

    let port = lost_redis(&state, &shop, "chest");
    let folder = shop.data_folder("chest");
    assert!(folder.exists());
    shop.ok(&["destroy", "production", "--destroy-data", "chest", "--yes"]);
    shop.nothing_is_left_of("production-chest", port);
    assert!(!folder.exists(), "its data was named");
    let status = shop.sandbox.json(&["status"]);
    assert_eq!((&status["kept"], &status["units"]), (&serde_json::json!({}), &serde_json::json!([])));
}

/// Nothing of its kind is left to be asked for, and the unit stays.
const SILENT: &str = r#"#!yaml
format: 1
kind: speaker
summary: No job any more
proof: validates
settings:
  token: {type: secret, generate: 24, help: What it knew}
cloud:
  resources:
    terraform_data:
      place: {input: "@{name}"}
"#;

#[test]
fn a_job_that_is_not_asked_for_any_more_goes_though_its_unit_stays() {
    let (_nats, state, shop) = shared();
    shop.sandbox.write("catalog/speaker/component.yaml", SPEAKER);
    shop.sandbox.commit_by_hand();
    killed_when(&shop, &["create", "speaker", "lone", "--yes"], "it is registered", || {
        shop.versions("own-lone") > 0
    });
    lost(&state, &shop, "lone");
    // Whoever has planned it has its bytes, which a changed catalogue does not give.
    shop.exits(2, &["plan"]);
    shop.sandbox.write("catalog/speaker/component.yaml", SILENT);
    shop.sandbox.commit_by_hand();
    let archive = shop.sandbox.estate().join(".eos/state/archive");
    let aside = shop.sandbox.path().join("archive");
    std::fs::rename(&archive, &aside).unwrap();
    has(&shop.exits(5, &["apply", "--yes"]).stderr, "the archived bytes of production/lone");
    std::fs::remove_dir_all(&archive).ok();
    std::fs::rename(&aside, &archive).unwrap();
    has(&shop.ok(&["apply", "--yes"]).stdout, "a run that was cut off may have made it");
    assert_eq!(shop.job("own-lone"), serde_json::Value::Null, "the job is there");
    let secrets = shop.nomad.get("/v1/vars?prefix=nomad/jobs/own-lone");
    assert_eq!(secrets.as_array().map_or(0, Vec::len), 0, "{secrets}");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
}

#[test]
fn host_states_of_a_lost_clone_are_undone() {
    let (_nats, state, shop) = shared();
    shop.sandbox.write("catalog/poster/component.yaml", POSTER);
    shop.sandbox.commit_by_hand();
    let path = shop.sandbox.path().join("poster");
    let wet = shop.sandbox.path().join("poster.wet");
    std::fs::write(&wet, "").unwrap();
    let words = ["create", "poster", "--path", path.to_str().unwrap(), "--yes"];
    killed_when(&shop, &words, "it hangs", || path.exists());
    std::fs::remove_file(&wet).unwrap();
    lost(&state, &shop, "poster");
    shop.ok(&["delete", "poster", "--yes"]);
    assert!(!path.exists());
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
}
