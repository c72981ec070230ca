//! What is left of a name that is deleted, and what one made again under it finds.

use super::support::Sandbox;
use super::{piped, refused};

#[test]
fn what_is_made_again_finds_the_secrets_of_its_data() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["secret", "rotate", "redis/password"]);
    let before = sandbox.ok(&["secret", "show", "redis/password"]).stdout;
    sandbox.applied_elsewhere();
    let said = sandbox.ok(&["delete", "redis"]).stdout;
    assert!(said.contains("its secrets stay with it"), "{said}");
    let listed = sandbox.ok(&["secret", "list"]).stdout;
    let kept: Vec<&str> = listed.lines().filter(|line| line.contains("kept")).collect();
    assert_eq!(kept.len(), 1, "{listed}");
    assert!(kept[0].starts_with("redis/password  2  "), "{listed}");
    let again = sandbox.ok(&["create", "redis"]).stdout;
    assert!(!again.contains("Secrets made"), "{again}");
    assert_eq!(sandbox.ok(&["secret", "show", "redis/password"]).stdout, before);
    assert!(sandbox.read("pillar/infrastructure/production/redis.sls").contains("password?v=2"));
}

#[test]
fn of_what_was_never_applied_nothing_goes_on_running() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let deleted = sandbox.ok(&["delete", "redis"]).stdout;
    assert!(deleted.contains("it never was") && !deleted.contains("goes on running"), "{deleted}");
}

/// A program of one's own wrote the data: Debian's, of another version, may not read it.
#[test]
fn one_made_again_is_run_by_the_program_it_had() {
    let sandbox = Sandbox::with_estate();
    let [first, other] = ["redis-server", "redis-server-8"].map(|name| {
        let program = sandbox.path().join(name);
        std::fs::copy("/bin/true", &program).unwrap();
        program.to_str().unwrap().to_owned()
    });
    sandbox.ok(&["create", "redis", "--runtime", "host", "--binary", &first]);
    sandbox.applied_elsewhere();
    sandbox.ok(&["delete", "redis"]);
    let said = sandbox.ok(&["create", "redis"]).stdout;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("run by {first} as before")), "{said}");
    assert_eq!(sandbox.json(&["show", "redis"])["entry"]["binary"], first.as_str());
    // Another one is taken where it is named.
    sandbox.ok(&["delete", "redis"]);
    let said = sandbox.ok(&["create", "redis", "--binary", &other]).stdout;
    assert!(!said.contains("run by"), "{said}");
    assert_eq!(sandbox.json(&["show", "redis"])["entry"]["binary"], other.as_str());
}

/// Whoever dials it finds it where it was; where others are by now it goes elsewhere and says so.
#[test]
fn one_made_again_has_what_was_chosen_for_it() {
    let sandbox = Sandbox::with_estate();
    let create: &[&str] = &["create", "redis", "--port", "6390", "--max-memory", "64M", "--memory", "300"];
    sandbox.ok(create);
    sandbox.applied_elsewhere();
    let again = |words: &[&str]| {
        sandbox.ok(&["delete", "redis"]);
        let said = sandbox.ok(words).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        (said, sandbox.json(&["show", "redis"])["entry"].clone())
    };
    let (said, entry) = again(&["create", "redis"]);
    assert!(said.contains("redis: memory 300, port 6390, max_memory 64M as before"), "{said}");
    assert_eq!((&entry["settings"]["port"], &entry["memory"]), (&6390.into(), &300.into()), "{entry}");
    let (said, entry) = again(&["create", "redis", "--port", "6391"]);
    assert!(said.contains("memory 300, max_memory 64M as before"), "{said}");
    assert_eq!(entry["settings"]["port"], 6391, "{entry}");
    sandbox.ok(&["delete", "redis"]);
    sandbox.ok(&["create", "memcached", "--port", "6391"]);
    let said = sandbox.ok(&["create", "redis"]).stdout;
    assert!(said.contains("since memcached has 6391 on local") && !said.contains("port 6391"), "{said}");
}

#[test]
fn one_made_again_comes_back_to_its_data_and_says_so() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "other", "--address", "10.0.0.9", "--nomad-node", "n9"]);
    sandbox.ok(&["create", "postgres", "crm", "--size", "30G", "--runtime", "host", "--host", "local"]);
    let password = sandbox.ok(&["secret", "show", "crm/superuser_password"]).stdout;
    sandbox.ok(&["create", "redis", "--host", "local"]);
    sandbox.applied_elsewhere();
    sandbox.ok(&["delete", "crm"]);
    // The estate says where the data is to whoever asks for the name.
    let unknown = sandbox.run(&["show", "crm"]);
    assert!(unknown.stderr.contains("eos create postgres crm takes it up again"), "{}", unknown.stderr);
    refused(&sandbox.run(&["create", "postgres", "crm", "--host", "other"]), 4, "E0414");
    refused(&sandbox.run(&["create", "postgres", "crm", "--runtime", "container"]), 4, "E0414");
    refused(&sandbox.run(&["create", "postgres", "crm", "--size", "20G"]), 4, "E0414");
    refused(&sandbox.run(&["create", "redis", "crm"]), 3, "E0408");
    let said = sandbox.ok(&["create", "postgres", "crm"]).stdout;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words
            .contains("crm: back on host local, with the data that was kept in /srv/eos/production/crm/data"),
        "{said}"
    );
    assert!(words.contains("crm/superuser_password: as before"), "{said}");
    assert_eq!(sandbox.ok(&["secret", "show", "crm/superuser_password"]).stdout, password);
    let entry = &sandbox.json(&["show", "crm"])["entry"];
    assert_eq!(
        (&entry["host"], &entry["runtime"], &entry["settings"]["size"]),
        (&"local".into(), &"host".into(), &"30G".into())
    );
    // Of a host that is gone there is nothing to come back to, and nothing may forget it by the way.
    sandbox.ok(&["create", "redis", "far", "--host", "other"]);
    sandbox.ok(&["delete", "far"]);
    let said = sandbox.ok(&["delete", "host", "other"]).stdout;
    assert!(said.contains("the data that was kept of far stays there"), "{said}");
    refused(&sandbox.run(&["create", "redis", "far"]), 4, "kept on host other, which is not declared");
    assert!(sandbox.read("pillar/infrastructure/production/far.sls").contains("kept:"));
    let said = sandbox.ok(&["create", "redis", "far", "--host", "local"]).stdout;
    assert!(said.contains("its data was kept on host other, which is not declared"), "{said}");
}

/// Of every kind: a secret that its data was made with, or that is read at the first start only, is no other when the name
/// is made again.
#[test]
fn kept_data_keeps_the_secret_that_opens_it() {
    for (create, flag) in [
        (vec!["create", "backups"], "--password"),
        (vec!["create", "postgres"], "--superuser-password"),
        (vec!["create", "gitea"], "--secret-key"),
    ] {
        let sandbox = Sandbox::with_estate();
        let name = create[1];
        sandbox.ok(&create);
        let secret = format!("{name}/{}", flag.trim_start_matches("--").replace('-', "_"));
        let before = sandbox.ok(&["secret", "show", &secret]).stdout;
        sandbox.applied_elsewhere();
        sandbox.ok(&["delete", name]);
        let again = piped(&sandbox, &["create", name, flag, "-"], "another-one-1");
        refused(&again, 4, "E0414");
        assert!(again.stderr.contains(&format!("leave out {flag}")), "{}", again.stderr);
        sandbox.ok(&create);
        assert_eq!(sandbox.ok(&["secret", "show", &secret]).stdout, before);
    }
}

#[test]
fn what_was_never_applied_is_forgotten() {
    let sandbox = Sandbox::with_estate();
    let file = "pillar/infrastructure/production/redis.sls";
    sandbox.ok(&["create", "redis"]);
    let said = sandbox.ok(&["delete", "redis"]).stdout;
    assert!(!said.contains("its data stays"), "{said}");
    assert!(!sandbox.estate().join(file).exists());
    assert!(!sandbox.estate().join("secrets/production/redis").exists());
    refused(&sandbox.run(&["purge", "redis"]), 3, "E0409");
    // An older eos kept it all the same.
    sandbox.ok(&["create", "redis"]);
    let kept = sandbox.read(file).replace("components:", "kept:");
    let keep = || {
        sandbox.write(file, &kept);
        sandbox.commit_by_hand();
    };
    keep();
    sandbox.ok(&["create", "redis", "--runtime", "host"]);
    assert!(sandbox.read(file).contains("runtime: host"));
    keep();
    sandbox.ok(&["purge", "redis"]);
    assert!(!sandbox.estate().join(file).exists());
}

#[test]
fn what_was_never_applied_keeps_no_data_and_may_change() {
    let sandbox = Sandbox::with_estate();
    let file = "pillar/infrastructure/production/redis.sls";
    sandbox.ok(&["create", "host", "two", "--address", "10.0.0.2", "--data-folder", "/data"]);
    sandbox.ok(&["create", "redis", "--host", "local", "--size", "5G"]);
    sandbox.ok(&["update", "redis", "--size", "1G", "--host", "two", "--runtime", "host"]);
    let text = sandbox.read(file);
    for part in ["size: 1G", "host: two", "runtime: host", "path: /data/production/redis/data"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A clone that does not know what was made says no.
    sandbox.applied_elsewhere();
    for change in [["--size", "500M"], ["--host", "local"], ["--runtime", "container"]] {
        refused(&sandbox.run(&[&["update", "redis"], &change[..]].concat()), 4, "E0414");
    }
    assert!(
        sandbox.ok(&["delete", "redis"]).stdout.contains("its data stays at /data/production/redis/data")
    );
}
