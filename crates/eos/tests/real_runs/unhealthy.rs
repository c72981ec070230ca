//! A job that does not become healthy, with each way to go on: what the report says of every unit is what Nomad runs.

use serde_json::Value as Json;

use crate::shop::{Shop, ask_redis, has};

/// Waits for the redis it is given, and is no job.
const TICKET: &str = r#"#!yaml
format: 1
kind: ticket
summary: A number out of a redis
proof: validates
settings:
  text: {type: string, default: first, help: What is on it}
needs:
  cache: {offer: cache, create: redis, help: where numbers come from}
cloud:
  resources:
    terraform_data:
      paper: {input: "@{setting.text} @{need.cache.port}"}
"#;

#[test]
fn the_report_is_what_nomad_says_whatever_is_done_about_a_failure() {
    std::thread::scope(|scope| {
        for policy in ["stop", "undo", "continue-independent"] {
            scope.spawn(move || fails(policy));
        }
    });
}

fn fails(policy: &str) {
    let shop = Shop::new();
    shop.sandbox.write("catalog/ticket/component.yaml", TICKET);
    shop.sandbox.commit_by_hand();
    // All of them share one Nomad.
    let short = &policy[..4];
    let (firm, frail, ticket) =
        (format!("firm-{short}"), format!("frail-{short}"), format!("ticket-{short}"));
    let ports = [&firm, &frail].map(|name| {
        let (words, port) = shop.redis(name, &["--no-apply"]);
        shop.ok(&std::iter::once("create").chain(words.iter().map(String::as_str)).collect::<Vec<_>>());
        port
    });
    shop.ok(&["create", "ticket", &ticket, "--cache", &frail, "--no-apply"]);
    shop.ok(&["apply", "--yes"]);
    let jobs = [&firm, &frail].map(|name| format!("production-{name}"));
    let before = jobs.each_ref().map(|job| shape(&shop, job));

    // There when it is asked for, and gone when it is to start.
    let program = shop.sandbox.path().join("redis-server");
    std::fs::copy("/bin/true", &program).unwrap();
    let program = program.to_str().unwrap();
    shop.ok(&["update", &frail, "--binary", program, "--no-apply"]);
    std::fs::remove_file(program).unwrap();
    shop.ok(&["update", &firm, "--max-memory", "32M", "--no-apply"]);
    shop.ok(&["update", &ticket, "--text", "second", "--no-apply"]);
    let run = shop.exits(1, &["apply", "--yes", "--on-failure", policy, "--json"]);
    let document: Json = serde_json::from_str(&run.stdout).unwrap();
    let units = &document["result"]["report"]["units"];
    let state = |name: &str| units[name]["state"].as_str().unwrap_or("missing").to_owned();
    eprintln!("{policy}: {units:#}");

    let undone = policy == "undo";
    assert_eq!(state(&frail), if undone { "undone" } else { "failed" });
    has(&run.stdout, program);
    assert_eq!(state(&firm), if undone { "undone" } else { "done" });
    // What waits for the one that failed is not begun, and nothing of it is to be taken back.
    assert_eq!(state(&ticket), "planned");
    has(&shop.ok(&["tofu", &ticket, "--", "state", "pull"]).stdout, "first");

    // Nomad went back to the old spec of the one that failed by itself; of the other it has what the report says.
    assert_eq!(shape(&shop, &jobs[1]), before[1], "{policy}");
    assert_eq!(shape(&shop, &jobs[0]) == before[0], undone, "{policy}: {}", shop.job(&jobs[0]));
    let mebibytes = if undone { 64 } else { 32 };
    for (name, port, wanted) in [(&firm, ports[0], mebibytes), (&frail, ports[1], 64)] {
        let job = format!("production-{name}");
        // The last one: the list of all of them is in the order of their ids.
        let works = || shop.nomad.get(&format!("/v1/job/{job}/deployment"))["Status"] == "successful";
        shop.nomad.until("its last deployment is a success", works);
        let password = shop.sandbox.json(&["secret", "show", &format!("{name}/password")])["value"].clone();
        let said = ask_redis(port, password.as_str().unwrap(), &["PING", "CONFIG GET maxmemory"]);
        has(&said, "+PONG");
        has(&said, &(wanted << 20).to_string());
    }
    // Once each: as it was made, as it was tried, and as it was before.
    assert_eq!(shop.versions(&jobs[1]), 3, "{policy}");
    assert_eq!(shop.versions(&jobs[0]), if undone { 3 } else { 2 }, "{policy}");

    if undone {
        has(&shop.ok(&["plan"]).stdout, "nothing to do");
    } else {
        has(&shop.ok(&["status"]).stdout, &format!("{frail}: failed"));
    }
    shop.ok(&["destroy", "production", "--yes"]);
    for (job, port) in jobs.iter().zip(ports) {
        shop.nothing_is_left_of(job, port);
    }
}

/// What of a job the changes of this test touch.
fn shape(shop: &Shop, job: &str) -> (Json, Json) {
    let task = &shop.job(job)["TaskGroups"][0]["Tasks"][0];
    (task["Config"].clone(), task["Templates"].clone())
}
