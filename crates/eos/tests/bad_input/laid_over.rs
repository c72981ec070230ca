//! Files of a pillar that are laid over each other: which of them decides, and what top.sls says of them.

use crate::case::refused;
use crate::pillar::{FILE, compile_refused, grafana, with_pillar};
use crate::support::Sandbox;

#[test]
fn a_file_of_eos_edited_by_hand() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let path = sandbox.files("pillar").into_iter().find(|path| path.contains("grafana")).unwrap();
    let text = sandbox.read(&path) + "# the port is Kim's favourite\n";
    sandbox.write(&path, text);
    sandbox.commit_by_hand();
    refused(&sandbox, "a_file_of_eos_edited_by_hand", 4, &["update", "grafana", "--port", "3001"]);
    refused(&sandbox, "a_file_of_eos_edited_by_hand_deleted", 4, &["delete", "grafana"]);
}

#[test]
fn a_component_in_a_file_of_ones_own() {
    let sandbox = with_pillar(grafana(""));
    refused(&sandbox, "a_component_in_a_file_of_ones_own", 4, &["update", "grafana", "--port", "3001"]);
}

/// An estate with a redis of eos's, and a file of somebody's own that says something of it.
fn redis_with(file: &str) -> Sandbox {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.write(file, "#!yaml\neos:\n components:\n  redis:\n    settings:\n      port: 7000\n");
    sandbox.commit_by_hand();
    sandbox
}

#[test]
fn a_value_that_a_later_file_decides() {
    let sandbox = redis_with("pillar/infrastructure/production/zz.sls");
    refused(&sandbox, "a_value_decided_by_a_later_file", 4, &["update", "redis", "--port", "7123"]);
    refused(&sandbox, "a_default_decided_by_a_later_file", 4, &["update", "redis", "--unset", "port"]);
    // What the other file does not speak of can be changed, and only that is written.
    sandbox.ok(&["update", "redis", "--max-memory", "200M"]);
    assert!(sandbox.ok(&["show", "redis"]).stdout.contains("200M"));
    let own = sandbox.read("pillar/infrastructure/production/redis.sls");
    assert!(own.contains("200M") && own.contains("6379") && !own.contains("7000"), "{own}");
}

#[test]
fn a_value_that_an_earlier_file_has_too() {
    let sandbox = redis_with("pillar/infrastructure/common/init.sls");
    sandbox.ok(&["update", "redis", "--port", "7123"]);
    let shown = sandbox.ok(&["show", "redis"]).stdout;
    assert!(shown.contains("7123") && shown.contains("common/init.sls, pillar/"), "{shown}");
    sandbox.ok(&["update", "redis", "--max-memory", "200M"]);
    sandbox.ok(&["update", "redis", "--unset", "port"]);
    assert!(sandbox.ok(&["show", "redis"]).stdout.contains("6379"));
}

#[test]
fn a_secret_that_a_later_file_decides() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let setting = "admin_password: 'secret://production/grafana/admin_password?v=1'";
    let text = format!("#!yaml\neos: {{components: {{grafana: {{settings: {{{setting}}}}}}}}}\n");
    sandbox.write("pillar/infrastructure/production/zz.sls", text);
    sandbox.commit_by_hand();
    refused(&sandbox, "a_secret_decided_by_a_later_file", 4, &["secret", "rotate", "grafana/admin_password"]);
}

#[test]
fn a_host_that_a_later_file_decides() {
    let sandbox = Sandbox::with_estate();
    let text = "#!yaml\neos:\n hosts:\n  local:\n    nomad_node: n9\n";
    sandbox.write(FILE, text);
    sandbox.commit_by_hand();
    let update = ["update", "host", "local", "--nomad-node", "n2"];
    refused(&sandbox, "a_host_decided_by_a_later_file", 4, &update);
    sandbox.ok(&["update", "host", "local", "--data-folder", "/data"]);
}

/// Compiled as Salt merges it, nothing would be left of what eos was asked for.
#[test]
fn an_empty_section_over_others() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "--port", "7777"]);
    let file = "pillar/infrastructure/production/zz.sls";
    sandbox.write(file, "eos:\n  components:\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "a_section_that_empties_others", 3, &["compile"]);
    refused(&sandbox, "a_section_that_empties_others_created", 3, &["create", "redis"]);
    sandbox.write(file, "eos:\n  hosts:\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "hosts_that_are_emptied", 3, &["create", "grafana"]);
    // What it says to write instead, and an empty one with nothing to take away.
    sandbox.write(file, "eos:\n  components: {}\n  kept:\n");
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
    assert_eq!(sandbox.json(&["show", "redis"])["settings"]["port"]["value"], 7777);
}

/// The file that eos would write is somebody's own, and speaks of something else.
#[test]
fn a_file_of_ones_own_where_a_host_would_be_written() {
    let sandbox = Sandbox::with_estate();
    let host = "{environment: production, address: 10.0.0.6, connection: minion}";
    sandbox.write("pillar/hosts/web.sls", format!("#!yaml\neos: {{hosts: {{db: {host}}}}}\n"));
    sandbox.commit_by_hand();
    refused(&sandbox, "a_host_over_a_file_of_ones_own", 4, &["create", "host", "web"]);
    sandbox.ok(&["create", "host", "web2"]);
}

#[test]
fn only_a_part_of_a_component() {
    let sandbox = redis_with("pillar/infrastructure/common/init.sls");
    // It counts where the component is; an environment without it has nothing to do with that.
    let common = "pillar/infrastructure/common/init.sls";
    sandbox.write(common, sandbox.read(common) + "      max_memory: 123M\n");
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
    assert_eq!(sandbox.json(&["show", "redis"])["settings"]["max_memory"]["value"], "123M");
    assert!(!sandbox.ok(&["list", "--env", "staging"]).stdout.contains("redis"));
    refused(&sandbox, "a_part_of_a_component_deleted", 4, &["delete", "redis"]);
    sandbox.ok(&["create", "host", "stage1", "--env", "staging", "--address", "10.0.0.9"]);
    sandbox.ok(&["create", "redis", "--env", "staging"]);
    sandbox.ok(&["delete", "redis", "--env", "staging"]);
    sandbox.git(&["mv", common, "pillar/infrastructure/staging/aa.sls"]);
    sandbox.commit_by_hand();
    refused(&sandbox, "a_part_of_a_component", 3, &["compile"]);
    sandbox.git(&["mv", "pillar/infrastructure/staging/aa.sls", common]);
    sandbox.write(common, sandbox.read(common).replace("redis:", "reddis:"));
    sandbox.commit_by_hand();
    refused(&sandbox, "a_part_of_what_nobody_has", 3, &["compile"]);
    // What the message says to do leads out of it.
    sandbox.write(common, sandbox.read(common).replace("reddis:", "redis:"));
    sandbox.git(&["mv", common, "pillar/infrastructure/production/aa.sls"]);
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
    std::fs::remove_file(sandbox.estate().join("pillar/infrastructure/production/aa.sls")).unwrap();
    sandbox.commit_by_hand();
    sandbox.ok(&["delete", "redis"]);
}

#[test]
fn top_file() {
    let sandbox = Sandbox::with_estate();
    std::fs::remove_file(sandbox.estate().join("pillar/top.sls")).unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "no_top_file", 3, &["compile"]);
    sandbox.write("pillar/top.sls", "#!yaml\nbase:\n  'web*': [infrastructure.production]\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "a_top_file_eos_cannot_follow", 3, &["compile"]);
}

/// Targets that Salt matches: eos follows them, or says that it cannot. It never takes what they give for deleted.
#[test]
fn targets_of_the_top_file() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["compile"]);
    let top = sandbox.read("pillar/top.sls");
    let with_target = |target: &str, kind: &str| {
        let before = "'environment:production':\n    - match: grain\n";
        assert!(top.contains(before));
        sandbox.write("pillar/top.sls", top.replace(before, &format!("'{target}':\n    - match: {kind}\n")));
        sandbox.commit_by_hand();
    };
    for (target, kind) in [("G@environment:production", "compound"), ("environment:prod*", "grain")] {
        with_target(target, kind);
        assert_eq!(sandbox.run(&["compile", "--check"]).code, 0, "{target}");
    }
    with_target("G@environment:production and web*", "compound");
    refused(&sandbox, "a_target_that_eos_cannot_judge", 3, &["compile"]);
    with_target("role:web", "pillar");
    refused(&sandbox, "what_no_target_gives", 3, &["compile"]);
    // The lines it offers, put where it says, are what was missing.
    let told = sandbox.run(&["compile"]).stderr;
    let (_, lines) = told.split_once("commit it:\n").unwrap();
    let lines: String =
        lines.lines().take_while(|line| !line.is_empty()).map(|line| format!("{}\n", &line[7..])).collect();
    sandbox.write("pillar/top.sls", sandbox.read("pillar/top.sls") + &lines);
    sandbox.commit_by_hand();
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 0, "{lines}");
}

/// Declaring a host would come to nothing, and what it says leads out of it.
#[test]
fn a_top_file_without_hosts() {
    let sandbox = Sandbox::with_estate();
    let top = sandbox.read("pillar/top.sls");
    sandbox.write("pillar/top.sls", top.replace("    - hosts.*\n", ""));
    sandbox.commit_by_hand();
    refused(&sandbox, "a_top_file_without_hosts", 3, &["create", "host", "web"]);
    let told = sandbox.run(&["create", "host", "web"]).stderr;
    let (_, lines) = told.split_once("commit it:\n").unwrap();
    let lines: String =
        lines.lines().take_while(|line| !line.is_empty()).map(|line| format!("{}\n", &line[7..])).collect();
    assert!(top.contains(&lines), "{lines}");
}

/// `redis/init.sls` is what Salt would open if there were no `redis.sls`.
#[test]
fn a_file_behind_another_of_the_same_name() {
    let sandbox = Sandbox::with_estate();
    let own = "pillar/infrastructure/production/redis/init.sls";
    sandbox.write(own, grafana(""));
    sandbox.write("secrets/production/grafana/admin_password.v1.age", "");
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
    refused(&sandbox, "a_file_that_one_of_eos_would_hide", 3, &["create", "redis"]);
    sandbox.git(&["mv", own, "pillar/infrastructure/production/own.sls"]);
    sandbox.commit_by_hand();
    sandbox.ok(&["create", "redis"]);
    // What says nothing to eos may lie there.
    sandbox.write(own, "mine: 1\n");
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
}

/// The way to another version of a secret that an entry of somebody's own has.
#[test]
fn a_secret_of_an_entry_of_ones_own() {
    let sandbox = with_pillar(grafana(""));
    let rotate = ["secret", "rotate", "grafana/admin_password"];
    refused(&sandbox, "a_secret_of_ones_own_yaml_rotated", 4, &rotate);
    sandbox.write(FILE, sandbox.read(FILE).replace("?v=1", "?v=2"));
    sandbox.commit_by_hand();
    sandbox.ok(&rotate);
    assert!(sandbox.ok(&["secret", "list"]).stdout.contains("admin_password.v2.age"));
}

#[test]
fn an_include_that_is_no_list() {
    compile_refused("an_include_that_is_no_list", "#!yaml\ninclude: infrastructure.common\n");
}
