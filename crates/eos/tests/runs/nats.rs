//! Records and leases that clones share over NATS.

use crate::clones::Shared;
use crate::place::{Place, until};
use crate::servers::{self, StateServer};
use crate::support::Run;

#[test]
fn nats_gone_is_said_before_anything_happens() {
    let mut shared = Shared::new();
    shared.nats.kill();
    let head = shared.first.head();
    let run = shared.first.exits(1, &["create", "chore", "--yes"]);
    shared.first.says("run_nats_gone", &run);
    shared.first.exits(1, &["locks"]);
    shared.first.exits(1, &["status"]);
    let why = shared.first.ok(&["why", "build/production/desk/main.tf.json"]).stdout;
    assert!(why.contains("live   cannot be told"), "{why}");
    assert_eq!(shared.first.head(), head);
}

/// eos.toml is in git: who may enter is said by the environment alone.
#[test]
fn the_password_of_nats_is_not_in_git() {
    let (nats, state) = (servers::guarded_nats("kim", "open-sesame-0815"), StateServer::start());
    let with_url = |url: &str| {
        Place::with_settings(|settings| {
            let http = format!("kind = \"http\"\naddress = \"{}\"", state.address());
            format!("{}\n[nats]\nurl = \"{url}\"\n", settings.replace("kind = \"local\"", &http))
        })
    };
    let place = with_url(&nats.url());
    place.says("run_nats_asks_who", &place.exits(1, &["create", "chore", "--yes"]));
    let mut command = place.command(&["create", "chore", "--yes"]);
    let run = Run::from(
        command.envs([("NATS_USER", "kim"), ("NATS_PASSWORD", "open-sesame-0815")]).output().unwrap(),
    );
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let place = with_url(&nats.url().replace("//", "//kim:open-sesame-0815@"));
    place.says("run_nats_password_in_git", &place.exits(3, &["create", "chore", "--yes"]));
}

/// As many servers have what was applied and who is at work as eos.toml says; one of them may go.
#[test]
fn records_and_leases_have_copies_in_a_cluster() {
    let (mut cluster, state) = (servers::nats_cluster(), StateServer::start());
    let place = |url: String, replicas: u8| {
        Place::with_settings(|settings| {
            let http = format!("kind = \"http\"\naddress = \"{}\"", state.address());
            let settings = settings.replace("kind = \"local\"", &http);
            format!("{settings}\n[nats]\nurl = \"{url}\"\nreplicas = {replicas}\n")
        })
    };
    let alone = servers::nats();
    let too_many = place(alone.url(), 3);
    too_many.says("run_nats_too_few_servers", &too_many.exits(1, &["create", "chore", "--yes"]));
    let even = place(alone.url(), 2);
    even.says("run_nats_even_replicas", &even.exits(3, &["status"]));

    let place = place(cluster[0].url(), 3);
    // They agree first on who leads.
    until("the cluster is there", || place.run(&["status"]).code == 0);
    place.ok(&["create", "chore", "--yes"]);
    let has_all = |server: &test_tools::NatsServer| {
        ["KV_eos-shop", "KV_eos-shop-leases"]
            .iter()
            .all(|stream| server.streams().contains(&stream.to_string()))
    };
    until("each has a copy", || cluster.iter().all(has_all));
    cluster[2].kill();
    until("the others go on", || place.run(&["update", "chore", "--input", "two", "--yes"]).code == 0);
    place.is_settled();
}

/// Two estates of one name on one NATS know nothing of each other; what was kept under the name alone, before estates
/// had ids, stays its owner's.
#[test]
fn two_estates_of_one_name_share_no_records() {
    let nats = servers::nats();
    let states = [StateServer::start(), StateServer::start()];
    let estate = |state: &StateServer| {
        Place::with_settings(|settings| {
            let http = format!("kind = \"http\"\naddress = \"{}\"", state.address());
            format!("{}\n[nats]\nurl = \"{}\"\n", settings.replace("kind = \"local\"", &http), nats.url())
        })
    };
    let named = |place: &Place, id: &str| {
        let lock = std::fs::read_to_string(place.path("eos.lock")).unwrap();
        let text = lock.replacen("compiler = ", &format!("estate = \"{id}\"\ncompiler = "), 1);
        std::fs::write(place.path("eos.lock"), text).unwrap();
        place.git(&["commit", "-qam", "name the estate"]);
    };
    // Without an id, and then with one: what it has applied is known before and after.
    let old = estate(&states[0]);
    old.ok(&["create", "chore", "--yes"]);
    named(&old, "0123456789abcdef0123456789abcdef");
    old.is_settled();
    assert!(old.ok(&["status"]).stdout.contains("chore"));
    let new = estate(&states[1]);
    named(&new, "fedcba9876543210fedcba9876543210");
    new.says("run_nats_another_estate", &new.exits(4, &["create", "chore", "--yes"]));
    // Both with ids from the beginning.
    for place in [&old, &new] {
        let settings = std::fs::read_to_string(place.path("eos.toml")).unwrap();
        std::fs::write(place.path("eos.toml"), settings.replace("\"shop\"", "\"other\"")).unwrap();
        place.git(&["commit", "-qam", "call it other"]);
    }
    old.ok(&["create", "ledger", "--yes"]);
    // Under its new name nothing of it is applied yet.
    old.ok(&["apply", "--yes"]);
    assert!(!new.ok(&["status"]).stdout.contains("ledger"));
    new.ok(&["create", "chore", "--input", "two", "--yes"]);
    old.is_settled();
    new.is_settled();
}
