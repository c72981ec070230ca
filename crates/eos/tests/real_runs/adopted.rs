//! A job that somebody registered with nomad becomes eos's, under the id it has.

use serde_json::json;

use crate::shop::{Shop, ask_redis, has};
use crate::support::{program, without_room_for_a_journal};
use test_tools::free_ports;

/// A redis as somebody registered it with nomad: no password, a port of its own.
fn runs_an_old_redis(shop: &Shop, id: &str) -> u16 {
    let [port] = free_ports();
    let redis = program("usr/bin/redis-server", &["redis-server", "redis-tools", "libjemalloc2", "liblzf1"]);
    let before = json!({"Job": {
        "ID": id, "Name": id, "Type": "service", "Datacenters": ["*"],
        "TaskGroups": [{"Name": "cache", "Count": 1, "Tasks": [{
            "Name": "redis", "Driver": "raw_exec", "Config": {"command": redis, "args": ["--port", port.to_string(), "--save", ""]},
        }]}],
    }});
    let file = shop.sandbox.path().join("old.json");
    std::fs::write(&file, before.to_string()).unwrap();
    let registered = shop.nomad_says(&["job", "run", "-json", "-detach", file.to_str().unwrap()]);
    assert!(registered.status.success(), "{}", String::from_utf8_lossy(&registered.stderr));
    shop.nomad.until("the old redis runs", || shop.job(id)["Status"] == "running");
    port
}

#[test]
fn a_job_registered_by_hand_is_taken_over() {
    let shop = Shop::new();
    let port = runs_an_old_redis(&shop, "old-redis");

    // One that runs under another name is not touched without being asked.
    let (words, _) = shop.redis("taken", &["--yes"]);
    let at = words.iter().position(|word| word == "--port").unwrap();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let port_word = port.to_string();
    words[at + 1] = &port_word;
    let missing: Vec<&str> = ["adopt", "nomad-job/never-was"].into_iter().chain(words.clone()).collect();
    let refused = shop.run(&missing);
    assert_ne!(refused.code, 0, "{}{}", refused.stdout, refused.stderr);
    has(&refused.stderr, "never-was");
    assert_eq!(refused.stdout, "", "nothing is said as if it went well");
    assert!(!shop.sandbox.files("pillar").iter().any(|path| path.contains("taken")), "nothing was recorded");

    // Not said what it is to run with, it would become a container.
    let unsaid = shop.exits(3, &["adopt", "nomad-job/old-redis", "redis", "--yes"]).stderr;
    has(
        &unsaid.split_whitespace().collect::<Vec<_>>().join(" "),
        "old-redis runs with raw_exec, and redis would with docker",
    );

    let words: Vec<&str> = ["adopt", "nomad-job/old-redis"].into_iter().chain(words).collect();
    let later: Vec<&str> =
        words.iter().copied().filter(|word| *word != "--yes").chain(["--no-apply"]).collect();
    has(&shop.exits(3, &later).stderr, "cannot be recorded for later");
    // Recorded, and then there was no room for a journal: eos apply would find a job that is not eos's own.
    let runs = shop.sandbox.estate().join(".eos/state/runs");
    std::fs::create_dir_all(&runs).unwrap();
    let cut_off = without_room_for_a_journal(&shop.command(&[]), &runs, &words.join(" "));
    if let Some(cut_off) = &cut_off {
        has(&cut_off.stdout, "Nothing was applied: the same eos adopt again does it.");
        has(&shop.exits(1, &["plan"]).stderr, "E0803");
    }
    let adopted = shop.ok(&words);
    let recorded =
        cut_off.as_ref().unwrap_or(&adopted).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&recorded, "eos does not know where the job keeps its data: taken begins with what is in");
    has(&recorded, "Data of a job that is taken over, eos does not know where it is: taken");
    has(&adopted.stdout, "= take over");
    has(&adopted.stdout, "taken");
    let job = shop.job("old-redis");
    assert_eq!(job["Meta"]["eos.unit"], shop.mark("taken"), "{job:#}");
    assert_eq!(job["TaskGroups"][0]["Name"], "server");
    assert_eq!(shop.versions("old-redis"), 2, "changed once, in place");
    assert_eq!(shop.versions("production-taken"), 0, "there is no second job");
    let password = shop.sandbox.json(&["secret", "show", "taken/password"])["value"].clone();
    has(&ask_redis(port, password.as_str().unwrap(), &["PING"]), "+PONG");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    has(&shop.ok(&["status"]).stdout, "applied");

    // What ran before eos came is not eos's to take away.
    let undone = shop.ok(&["undo", "--yes"]).stdout;
    has(&undone.replace("\n      ", " "), "cannot be taken back: eos_nomad_job.job, it was there before eos");
    assert_eq!(shop.job("old-redis")["Status"], "running");
    has(&ask_redis(port, password.as_str().unwrap(), &["PING"]), "+PONG");
    assert!(!shop.is_asked_for("taken"), "the pillar went back");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    let status = shop.ok(&["status"]).stdout;
    assert!(!status.contains("eos_nomad_job"), "a job that was there before is no kept data: {status}");
    // The job is still at the data that was kept, which is not destroyed under it.
    has(&status, "Kept: ");
    has(&shop.exits(4, &["purge", "taken", "--yes"]).stderr, "job old-redis in Nomad still runs on the data");
    assert!(shop.data_folder("taken").exists());
    // Asked for again it is the same job, not a second one in the same folder.
    let create: Vec<&str> = ["create"].into_iter().chain(words[2..].iter().copied()).collect();
    shop.ok(&create);
    assert_eq!(shop.versions("production-taken"), 0, "there is no second job");
    assert_eq!(shop.job("old-redis")["Status"], "running");
    has(&ask_redis(port, password.as_str().unwrap(), &["PING"]), "+PONG");
    shop.ok(&["delete", "taken", "--yes"]);
    shop.nothing_is_left_of("old-redis", port);
    shop.ok(&["purge", "taken", "--yes"]);
    assert!(!shop.ok(&["status"]).stdout.contains("Kept: "));
    assert!(!shop.data_folder("taken").exists());
}

/// What opens the data stays with a job that an undo let go of, and goes with the data.
#[test]
fn a_purge_takes_the_secrets_of_a_job_that_was_let_go_of() {
    let stopped = |job: &str| ["job", "stop", "-purge", "-detach", job].map(str::to_owned).to_vec();
    let as_before = |job: &str| ["job", "revert", "-detach", job, "0"].map(str::to_owned).to_vec();
    lent_and_purged("lent-redis", stopped("lent-redis"));
    lent_and_purged("back-redis", as_before("back-redis"));
}

/// Adopted, let go of, and its data purged once Nomad was told this.
fn lent_and_purged(job: &str, told: Vec<String>) {
    let shop = Shop::new();
    let port = runs_an_old_redis(&shop, job);
    let (words, new) = shop.redis("lent", &["--yes"]);
    let object = format!("nomad-job/{job}");
    let words: Vec<&str> = ["adopt", &object].into_iter().chain(words.iter().map(String::as_str)).collect();
    let adopted = shop.ok(&words).stdout;
    let flat = adopted.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, &format!("{job}: port {port} → {new}; whoever connects to {port} finds nobody there"));
    has(&flat, &format!("--port {port} keeps it"));
    // All that changes, not the first three and a number.
    has(&flat, "group server comes");
    let path = &format!("nomad/jobs/{job}");
    let variable = || shop.nomad.get(&format!("/v1/vars?prefix={path}"))[0].clone();
    assert_eq!(variable()["Path"], path.as_str());
    let undone = shop.ok(&["undo", "--yes"]).stdout;
    let flat = undone.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, &format!("and so does Nomad's variable {path} with its secrets; nomad job history"));
    has(&flat, &format!("nomad job revert {job} <VERSION> brings that back"));
    assert!(!flat.contains("brings that back, stays"), "{flat}");
    // The job that goes on reads it.
    assert_eq!(variable()["Path"], path.as_str());
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    assert!(shop.nomad_says(&told).status.success());
    // Somebody else's key stays.
    let items = shop.nomad.get(&format!("/v1/var/{path}"))["Items"].clone();
    let items =
        items.as_object().unwrap().iter().map(|(key, item)| format!("{key}={}", item.as_str().unwrap()));
    let items: Vec<String> = items.chain(["theirs=yes".to_owned()]).collect();
    assert_eq!(items.len(), 2, "a password and theirs");
    let put: Vec<&str> =
        ["var", "put", "-force", path].into_iter().chain(items.iter().map(String::as_str)).collect();
    assert!(shop.nomad_says(&put).status.success());
    shop.ok(&["purge", "lent", "--yes"]);
    let left = shop.nomad.get(&format!("/v1/var/{path}"));
    assert_eq!(left["Items"], json!({"theirs": "yes"}));
}

/// Two estates of one name on one Nomad: the job of the first is not the second's to create.
#[test]
fn a_job_of_another_estate_of_the_same_name_is_left_alone() {
    let (first, second) = (Shop::new(), Shop::new());
    let (port, _) = first.create_redis("twins", "first-password");
    let before = first.job("production-twins");
    assert_eq!(before["Meta"]["eos.unit"], first.mark("twins"));
    let words = second.redis_at(port, "twins", &["--yes"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let create: Vec<&str> = ["create"].into_iter().chain(words.clone()).collect();
    let refused = second.exits(1, &create);
    has(&refused.stderr, "E0803");
    has(&refused.stderr, &format!("it belongs to {}", first.mark("twins")));
    let flat = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let (safe, grave) = flat.split_once("only if that estate is given up for good").expect(&flat);
    has(safe, "choose another name here, or a namespace of your own");
    has(grave, "eos adopt nomad-job/production-twins");
    assert!(
        !second.sandbox.files("pillar").iter().any(|path| path.contains("twins")),
        "nothing was recorded"
    );
    assert_eq!(first.job("production-twins")["JobModifyIndex"], before["JobModifyIndex"]);

    // On purpose it is taken over, and then the first estate's no more.
    let adopt: Vec<&str> = ["adopt", "nomad-job/production-twins"].into_iter().chain(words).collect();
    second.ok(&adopt);
    assert_eq!(first.job("production-twins")["Meta"]["eos.unit"], second.mark("twins"));
    let refused = first.exits(1, &["destroy", "production", "--yes"]);
    has(&refused.stderr, "E0803");
    second.ok(&["destroy", "production", "--yes"]);
    second.nothing_is_left_of("production-twins", port);
}
