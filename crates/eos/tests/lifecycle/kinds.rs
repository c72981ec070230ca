//! Kinds: pinned, written by hand, changed behind one's back.

use super::refused;
use super::support::Sandbox;
use serde_json::{Value as Json, json};

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
fn more_than_a_task_has_memory_for_is_warned_of() {
    let sandbox = Sandbox::with_estate();
    let warned = |args: &[&str]| {
        let run = sandbox.ok(args);
        run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = warned(&["create", "redis", "--max-memory", "1G"]);
    assert!(said.contains("E0418") && said.contains("redis is to hold 1G in memory"), "{said}");
    assert!(said.contains("gets 512 MiB") && said.contains("eos update redis --memory 1280"), "{said}");
    // What is offered works, either of the two.
    assert_eq!(warned(&["update", "redis", "--memory", "1280"]), "");
    let tier = warned(&["create", "postgres", "--shared-buffers", "400M", "--tier", "dev"]);
    assert!(tier.contains("gets 256 MiB"), "{tier}");
    assert_eq!(warned(&["update", "postgres", "--shared-buffers", "128M"]), "");
    // Nobody chose these.
    assert_eq!(warned(&["create", "redis", "small", "--tier", "dev"]), "");
}

/// A kind of the estate's own, of which a part is replaced.
fn wiki(sandbox: &Sandbox, from: &str, to: &str) {
    let file = "catalog/wiki/component.yaml";
    let text = sandbox.read(file).replacen(from, to, 1);
    assert!(text.contains(to), "the template has no {from:?}");
    sandbox.write(file, text);
    sandbox.commit_by_hand();
    sandbox.ok(&["catalog", "check", "wiki"]);
}

#[test]
fn a_volume_keeps_the_filesystem_it_was_made_with() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "db1", "--address", "10.0.0.2", "--volume-group", "vg0"]);
    sandbox.ok(&["catalog", "new", "wiki"]);
    wiki(&sandbox, "class: files, ", "class: files, filesystem: btrfs, ");
    assert!(sandbox.ok(&["catalog", "show", "wiki"]).stdout.contains("(files, btrfs)"));
    sandbox.ok(&["create", "wiki", "--version", "1.0", "--host", "db1"]);
    let states = |name: &str| sandbox.read(&format!("build/production/{name}/salt/volumes.sls"));
    assert!(states("wiki").contains("fs_type: btrfs") && states("wiki").contains("btrfs-progs"));
    // A later catalogue means the volumes that are made from then on.
    wiki(&sandbox, "filesystem: btrfs", "filesystem: xfs");
    sandbox.ok(&["create", "wiki", "second", "--version", "1.0", "--host", "db1"]);
    assert!(states("wiki").contains("fs_type: btrfs"));
    assert!(states("second").contains("fs_type: xfs"));
    let file = "pillar/infrastructure/production/second.sls";
    sandbox.write(file, sandbox.read(file).replace("filesystem: xfs", "filesystem: fat"));
    sandbox.commit_by_hand();
    let refused = sandbox.run(&["compile"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("second: volume data has filesystem \"fat\""), "{}", refused.stderr);
}

#[test]
fn a_kind_says_how_it_is_updated_and_data_still_has_one_writer() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["catalog", "new", "wiki"]);
    let update = |sandbox: &Sandbox| {
        let job: Json =
            serde_json::from_str(&sandbox.read("build/production/wiki/jobs/wiki.nomad.json")).unwrap();
        job["Job"]["Update"].clone()
    };
    sandbox.commit_by_hand();
    sandbox.ok(&["create", "wiki", "--version", "1.0"]);
    let second = 1_000_000_000_u64;
    let usual = json!({
        "Stagger": 30 * second, "MaxParallel": 1, "Canary": 0, "AutoRevert": true, "MinHealthyTime": 10 * second,
        "HealthyDeadline": 300 * second, "ProgressDeadline": 600 * second, "HealthCheck": "checks",
    });
    assert_eq!(update(&sandbox), usual);
    let says =
        "update: {stagger: 1m, min_healthy_time: 15s, healthy_deadline: 20m, auto_revert: false}\ntasks:";
    wiki(&sandbox, "tasks:", says);
    assert!(sandbox.ok(&["catalog", "show", "wiki"]).stdout.contains("20m"));
    sandbox.ok(&["compile"]);
    let own = json!({
        "Stagger": 60 * second, "MaxParallel": 1, "Canary": 0, "AutoRevert": false, "MinHealthyTime": 15 * second,
        "HealthyDeadline": 1200 * second, "ProgressDeadline": 2400 * second, "HealthCheck": "checks",
    });
    assert_eq!(update(&sandbox), own);
    let why = sandbox.ok(&["why", "build/production/wiki/jobs/wiki.nomad.json"]).stdout;
    assert!(why.contains("update:healthy_deadline"), "{why}");
}

#[test]
fn a_kind_names_the_setting_with_its_hosts() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "web1", "--address", "10.0.0.2"]);
    let kind = "#!yaml\nformat: 1\nkind: motd\nsummary: A word of the day\nproof: validates\nsettings:\n  machines: {type: list, of: host, default: [], help: Where it is}\nstates_on: machines\nstates:\n  motd:\n    file.managed: [{name: /etc/motd}, {contents: hello}]\n";
    sandbox.write("catalog/motd/component.yaml", kind);
    sandbox.commit_by_hand();
    sandbox.ok(&["catalog", "check", "motd"]);
    let said = sandbox.ok(&["create", "motd"]).stdout;
    assert!(said.contains("motd: on local, web1"), "{said}");
    let main = sandbox.read("build/production/motd/main.tf.json");
    assert!(main.contains("\"target\": \"local\"") && main.contains("\"target\": \"web1\""), "{main}");
    let refused = sandbox.run(&["delete", "host", "web1"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("eos update motd --machines local"), "{}", refused.stderr);
    assert_eq!(sandbox.run(&["update", "motd", "--machines", "nowhere"]).code, 3);
    sandbox.ok(&["update", "motd", "--machines", "local"]);
    sandbox.ok(&["delete", "host", "web1"]);
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

#[test]
fn what_a_feature_offers_is_offered() {
    let sandbox = Sandbox::with_estate();
    let offers = "offers: {api: {help: An interface, generates: [token], outputs: {url: \"http://@{address}:@{port.http}\"}}}";
    let feature = format!("features:\n  api: {{help: Has an interface, add: {{{offers}}}}}\ntasks:");
    sandbox.ok(&["catalog", "new", "wiki"]);
    wiki(&sandbox, "tasks:", &feature);
    sandbox.ok(&["catalog", "new", "client"]);
    let file = "catalog/client/component.yaml";
    let needs = "needs:\n  interface: {offer: api, help: Pages}\ntasks:";
    let told = sandbox.read(file).replacen("tasks:", needs, 1).replacen(
        "    env:\n",
        "    env:\n      URL: \"@{need.interface.url}\"\n      TOKEN: \"@{need.interface.token}\"\n",
        1,
    );
    sandbox.write(file, &told);
    sandbox.commit_by_hand();
    sandbox.ok(&["catalog", "check", "client"]);
    sandbox.ok(&["create", "wiki", "--version", "1.0"]);
    let create = ["create", "client", "--version", "1.0", "--interface", "wiki"];
    let offered = sandbox.offered(&create);
    assert_eq!(offered, "eos update wiki --api, then this command again");
    // Nor is one made where the name is taken by one that could.
    sandbox.write(file, told.replace("offer: api,", "offer: api, create: wiki,"));
    sandbox.commit_by_hand();
    assert_eq!(sandbox.offered(&create[..4]), offered);
    let checked = sandbox.run(&["catalog", "check", "client"]);
    refused(&checked, 3, "with --api only");
    sandbox.write(file, told);
    sandbox.commit_by_hand();
    sandbox.ok(&["update", "wiki", "--api"]);
    sandbox.ok(&create);
    let entry = sandbox.read("pillar/infrastructure/production/client.sls");
    assert!(entry.contains("interface: wiki") && entry.contains("interface_token"), "{entry}");
    let completed = sandbox.ok(&["__complete", "--", "create", "client", "--interface", ""]).stdout;
    assert_eq!(completed.split('\t').next(), Some("wiki"), "{completed}");
    // Left alone it is found as well.
    sandbox.ok(&["create", "client", "second", "--version", "1.0"]);
}
