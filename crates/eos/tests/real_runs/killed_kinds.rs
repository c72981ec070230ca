//! kill -9 of eos and tofu while they make what a kind of the estate's own describes, and undo: nothing is left in Nomad, and
//! what was done on the host is taken back by the states that undo it.

use crate::shop::{Shop, has, killed_when};

/// Its spec is part of the resource, and it takes a while until it is called healthy.
pub const SPEAKER: &str = r#"#!yaml
format: 1
kind: speaker
summary: A job of our own that knows a secret
proof: validates
settings:
  token: {type: secret, generate: 24, help: What it knows}
cloud:
  providers:
    eos: {source: eos.local/eos/eos, version: 0.1.0}
  resources:
    eos_nomad_job:
      job:
        name: production/@{name}/job
        spec: '{"Job": {"ID": "own-@{name}", "Name": "own-@{name}", "Type": "service", "Datacenters": ["dc1"], "Meta": {"eos.unit": "production/@{name}", "eos.secret.token": "secret://production/@{name}/token?v=1"}, "TaskGroups": [{"Name": "g", "Count": 1, "Update": {"MinHealthyTime": 8000000000, "HealthyDeadline": 60000000000, "ProgressDeadline": 90000000000, "HealthCheck": "task_states", "MaxParallel": 1}, "Tasks": [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["1000"]}, "Resources": {"CPU": 20, "MemoryMB": 16}}]}]}}'
"#;

/// A file on the host, and then a wait.
pub const POSTER: &str = r#"#!yaml
format: 1
kind: poster
summary: A file that takes a while
proof: validates
settings:
  path: {type: string, default: /nowhere, fixed: true, help: Where it hangs}
cloud:
  providers:
    eos: {source: eos.local/eos/eos, version: 0.1.0}
  resources:
    eos_salt_state:
      poster:
        name: production/@{name}/poster
        target: local
        via: masterless
        sls: '{"hang": {"file.managed": [{"name": "@{setting.path}"}, {"contents": "open"}]}, "dry": {"cmd.run": [{"name": "while test -e @{setting.path}.wet; do sleep 0.1; done"}, {"require": [{"file": "hang"}]}]}}'
        on_destroy: '{"away": {"file.absent": [{"name": "@{setting.path}"}]}}'
"#;

#[test]
fn a_job_of_ones_own_kind_leaves_nothing_when_it_is_taken_back() {
    let shop = Shop::new();
    shop.ok(&["apply", "--yes"]);
    shop.sandbox.write("catalog/speaker/component.yaml", SPEAKER);
    shop.sandbox.commit_by_hand();
    // Also where the secret is there and the job is not yet, as between the two.
    for (name, purged) in [("loud", false), ("mute", true)] {
        let job = format!("own-{name}");
        killed_when(&shop, &["create", "speaker", name, "--yes"], "it is registered", || {
            shop.versions(&job) > 0
        });
        if purged {
            assert!(shop.nomad_says(&["job", "stop", "-purge", "-detach", &job]).status.success());
        }
        let secrets = || shop.nomad.get(&format!("/v1/vars?prefix=nomad/jobs/{job}"));
        assert_eq!(secrets().as_array().unwrap().len(), 1);
        let undone = shop.ok(&["undo", "--yes"]);
        has(&undone.stdout, "as it was before");
        assert_eq!(shop.job(&job), serde_json::Value::Null, "{name}: the job is there");
        assert_eq!(secrets().as_array().map_or(0, Vec::len), 0, "{name}: {}", secrets());
        has(&shop.ok(&["plan"]).stdout, "nothing to do");
    }
}

#[test]
fn host_states_that_were_cut_off_are_taken_back() {
    let shop = Shop::new();
    shop.ok(&["apply", "--yes"]);
    shop.sandbox.write("catalog/poster/component.yaml", POSTER);
    shop.sandbox.commit_by_hand();
    let path = shop.sandbox.path().join("poster");
    let wet = shop.sandbox.path().join("poster.wet");
    std::fs::write(&wet, "").unwrap();
    let words = ["create", "poster", "--path", path.to_str().unwrap(), "--yes"];
    killed_when(&shop, &words, "it hangs", || path.exists());
    std::fs::remove_file(&wet).unwrap();
    let undone = shop.ok(&["undo", "--yes"]);
    has(&undone.stdout, "as it was before");
    assert!(!path.exists(), "{}", undone.stdout);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
}
