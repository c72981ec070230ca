//! A job that somebody registered with nomad becomes eos's, under the id it has.

use serde_json::json;

use crate::nomad::free_ports;
use crate::shop::{Shop, ask_redis, has};
use crate::support::program;

#[test]
fn a_job_registered_by_hand_is_taken_over() {
    let shop = Shop::new();
    let [port] = free_ports();
    let redis = program("usr/bin/redis-server", &["redis-server", "redis-tools", "libjemalloc2", "liblzf1"]);
    let before = json!({"Job": {
        "ID": "old-redis", "Name": "old-redis", "Type": "service", "Datacenters": ["*"],
        "TaskGroups": [{"Name": "cache", "Count": 1, "Tasks": [{
            "Name": "redis", "Driver": "raw_exec", "Config": {"command": redis, "args": ["--port", port.to_string(), "--save", ""]},
        }]}],
    }});
    let file = shop.sandbox.path().join("old.json");
    std::fs::write(&file, before.to_string()).unwrap();
    let registered = shop.nomad_says(&["job", "run", "-json", "-detach", file.to_str().unwrap()]);
    assert!(registered.status.success(), "{}", String::from_utf8_lossy(&registered.stderr));
    shop.nomad.until("the old redis runs", || shop.job("old-redis")["Status"] == "running");

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
    assert!(!shop.sandbox.files("pillar").iter().any(|path| path.contains("taken")), "nothing was recorded");

    let words: Vec<&str> = ["adopt", "nomad-job/old-redis"].into_iter().chain(words).collect();
    let adopted = shop.ok(&words);
    has(&adopted.stdout, "= take over");
    has(&adopted.stdout, "taken");
    let job = shop.job("old-redis");
    assert_eq!(job["Meta"]["eos.unit"], "shop/production/taken", "{job:#}");
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
    assert!(!shop.sandbox.files("pillar").iter().any(|path| path.contains("taken")), "the pillar went back");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    shop.ok(&words);
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of("old-redis", port);
}
