//! Kinds: pinned, written by hand, changed behind one's back.

use super::refused;
use super::support::Sandbox;

#[test]
fn a_kind_written_by_hand_is_warned_about_until_it_is_pinned() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let entry = sandbox
        .read("pillar/infrastructure/production/redis.sls")
        .replace("redis:\n      kind", "other:\n      kind")
        .replace("production/redis/data", "production/other/data")
        .replace("6379", "6380");
    sandbox.write("pillar/infrastructure/production/other.sls", entry);
    sandbox.write(
        "eos.lock",
        sandbox
            .read("eos.lock")
            .lines()
            .filter(|line| !line.starts_with("redis ="))
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
    sandbox.commit_by_hand();
    let run = sandbox.ok(&["compile"]);
    assert!(run.stderr.contains("E0112") && run.stderr.contains("other uses redis"), "{}", run.stderr);
    sandbox.ok(&["upgrade"]);
    assert!(!sandbox.ok(&["compile"]).stderr.contains("E0112"));
}

#[test]
fn a_kind_of_ones_own_that_takes_a_place_is_said() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let marked = |sandbox: &Sandbox| {
        let listed = sandbox.ok(&["catalog", "list"]).stdout;
        listed.lines().filter(|line| line.contains(" * ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(marked(&sandbox).is_empty());
    assert!(!sandbox.ok(&["doctor"]).stdout.contains("in place of"));
    let copy = sandbox.read("vendor/catalog/redis/component.yaml");
    sandbox.write("catalog/redis/component.yaml", copy.replace("memory: 512", "memory: 513"));
    sandbox.commit_by_hand();
    assert!(matches!(marked(&sandbox).as_slice(), [line] if line.starts_with("redis *")));
    assert!(sandbox.ok(&["catalog", "show", "redis"]).stdout.contains("in place of"));
    assert!(sandbox.ok(&["doctor"]).stdout.contains("redis is the estate's own, in place of"));
    let kinds = sandbox.json(&["catalog", "list"])["kinds"].as_array().unwrap().clone();
    let in_place: Vec<_> = kinds.iter().filter(|kind| kind["in_place"] == true).collect();
    assert!(matches!(in_place.as_slice(), [kind] if kind["kind"] == "redis"));
    // Once for what was compiled anew, to stderr; scripts find the same on stdout and the same exit.
    let compiled = sandbox.ok(&["compile"]);
    assert_eq!(compiled.stderr.matches("warning[E0311]").count(), 1, "{}", compiled.stderr);
    assert!(!compiled.stdout.contains("E0311"));
    assert_eq!(sandbox.ok(&["compile"]).stderr, "");
    let created = sandbox.ok(&["create", "redis", "second"]);
    assert_eq!(created.stderr.matches("warning[E0311]").count(), 1, "{}", created.stderr);
    assert_eq!(sandbox.ok(&["update", "second", "--max-memory", "200M"]).stderr, "");
    assert_eq!(sandbox.ok(&["create", "memcached"]).stderr, "");
}

#[test]
fn doctor_sees_a_changed_copy_of_a_pinned_kind() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let copy = "vendor/catalog/redis/component.yaml";
    sandbox.write(copy, sandbox.read(copy) + "# changed\n");
    sandbox.commit_by_hand();
    let run = sandbox.run(&["doctor"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("vendor/catalog/redis is not what eos.lock pins"), "{}", run.stdout);
    sandbox.ok(&["compile"]);
}

#[test]
fn a_kind_behind_a_link_out_of_the_estate_is_refused() {
    let sandbox = Sandbox::with_estate();
    let outside = sandbox.path().join("mykind");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("component.yaml"), "format: 1\n").unwrap();
    std::fs::create_dir(sandbox.estate().join("catalog")).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.estate().join("catalog/mykind")).unwrap();
    refused(&sandbox.run(&["catalog", "list"]), 3, "E0206");
}

#[test]
fn the_advice_about_a_new_kind_works() {
    let sandbox = Sandbox::with_estate();
    let said = sandbox.ok(&["catalog", "new", "wiki"]).stdout;
    sandbox.commit_by_hand();
    let advice: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("eos ")).collect();
    assert_eq!(advice.len(), 2, "{said}");
    for line in advice {
        sandbox.ok(&line.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn a_kind_s_other_word_is_known_where_its_name_is() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "hera"]);
    assert_eq!(sandbox.json(&["show", "hera"])["name"], "authentik");
    assert_eq!(sandbox.json(&["show", "hera", "authentik"])["kind"], "authentik");
}
