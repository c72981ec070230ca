//! Hosts and the volumes on them.

use super::refused;
use super::support::Sandbox;

#[test]
fn a_host_can_be_given_another_address() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["update", "host", "local", "--address", "10.0.0.5"]);
    let pillar = sandbox.read("pillar/hosts/local.sls");
    assert!(pillar.contains("address: 10.0.0.5") && pillar.contains("nomad_node: n1"), "{pillar}");
    refused(&sandbox.run(&["update", "host", "nobody", "--address", "10.0.0.6"]), 3, "E0409");
}

#[test]
fn two_hosts_at_one_address_are_warned_about() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["update", "host", "local", "--address", "10.0.0.5"]);
    let run = sandbox.ok(&["create", "host", "db1", "--address", "10.0.0.5"]);
    assert!(run.stderr.contains("E0417") && run.stderr.contains("host db1 and host local"), "{}", run.stderr);
    assert!(run.stderr.contains("address: 10.0.0.5"), "the line that says so is shown: {}", run.stderr);
    assert!(sandbox.ok(&["compile"]).stderr.contains("E0417"));
    sandbox.ok(&["update", "host", "db1", "--address", "10.0.0.6"]);
    assert!(!sandbox.ok(&["compile"]).stderr.contains("E0417"));
}

#[test]
fn containers_that_look_on_loopback_are_told_of_once() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud"]);
    sandbox.ok(&["create", "n8n"]);
    let said = sandbox.ok(&["compile"]).stderr;
    assert_eq!(said.matches("E0415").count(), 1, "{said}");
    assert!(said.contains("n8n, nextcloud run in containers and need postgres, redis"), "{said}");
    // Something to type as it stands; the machine was asked for its address.
    assert!(said.contains("eos update host local --address 10.0.0.5"), "{said}");
    sandbox.ok(&["update", "host", "local", "--address", "10.0.0.5"]);
    assert!(!sandbox.ok(&["compile"]).stderr.contains("E0415"));
}

#[test]
fn what_is_there_for_others_is_not_at_loopback() {
    let sandbox = Sandbox::with_estate();
    let said = sandbox.ok(&["create", "coturn"]).stderr;
    assert!(said.contains("E0415") && said.contains("coturn is for others"), "{said}");
    sandbox.ok(&["update", "host", "local", "--address", "10.0.0.5"]);
    assert!(!sandbox.ok(&["compile"]).stderr.contains("E0415"));
}

#[test]
fn two_volumes_never_share_a_device_or_a_folder() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "db1", "--address", "10.0.0.2", "--volume-group", "vg0"]);
    sandbox.ok(&["create", "postgres", "a-b", "--host", "db1", "--port", "5433"]);
    let clash = sandbox.run(&["create", "postgres", "a_b", "--host", "db1", "--port", "5434"]);
    refused(&clash, 3, "E0416");
    assert!(clash.stderr.contains("/dev/vg0/production_a_b_data"), "{}", clash.stderr);
    sandbox.ok(&["create", "postgres", "c", "--host", "db1", "--port", "5434"]);
    let path = "pillar/infrastructure/production/c.sls";
    sandbox.write(path, sandbox.read(path).replace("production/c/data", "production/a-b/data"));
    refused(&sandbox.run(&["compile", "--check"]), 3, "E0416");
}

#[test]
fn a_volume_stays_in_the_group_it_was_made_in() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "db1", "--address", "10.0.0.2", "--volume-group", "vg0"]);
    sandbox.ok(&["create", "postgres", "--host", "db1"]);
    let states = "build/production/postgres/salt/volumes.sls";
    let before = sandbox.read(states);
    assert!(before.contains("/dev/vg0/"), "{before}");
    sandbox.ok(&["update", "host", "db1", "--volume-group", "vg1"]);
    assert_eq!(sandbox.read(states), before);
    sandbox.ok(&["create", "postgres", "crm", "--host", "db1", "--port", "5433"]);
    assert!(sandbox.read("build/production/crm/salt/volumes.sls").contains("/dev/vg1/"));
}

#[test]
fn two_hosts_that_one_module_cannot_tell_apart_are_refused() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "web-1", "--address", "10.0.0.3"]);
    sandbox.ok(&["create", "host", "web_1", "--address", "10.0.0.4"]);
    let clash = sandbox.run(&["create", "user", "john", "--nodes", "web-1,web_1"]);
    refused(&clash, 3, "E0416");
    assert!(clash.stderr.contains("web-1 and web_1"), "{}", clash.stderr);
}

#[test]
fn a_host_of_another_environment_is_not_deleted() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "b1", "--env", "staging"]);
    sandbox.ok(&["create", "redis", "--env", "staging"]);
    let refusal = sandbox.run(&["delete", "host", "b1"]);
    refused(&refusal, 3, "E0409");
    assert!(refusal.stderr.contains("eos delete host b1 --env staging"), "{}", refusal.stderr);
    refused(&sandbox.run(&["delete", "host", "b1", "--env", "staging"]), 4, "E0410");
    sandbox.ok(&["compile", "--env", "staging"]);
}

#[test]
fn one_machine_serves_two_environments_under_two_names() {
    let sandbox = Sandbox::with_estate();
    let refusal = sandbox.run(&["create", "host", "local", "--env", "staging"]);
    refused(&refusal, 3, "E0408");
    assert!(refusal.stderr.contains("eos create host local-staging --env staging"), "{}", refusal.stderr);
    sandbox.ok(&["create", "host", "local-staging", "--env", "staging"]);
    sandbox.ok(&["create", "redis", "--env", "staging"]);
}

#[test]
fn a_port_of_a_machine_is_one_environments() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let offered = sandbox.offered(&["create", "redis", "--env", "staging"]);
    assert!(offered.starts_with("eos create host local-staging"), "{offered}");
    let words: Vec<&str> = offered.split_whitespace().skip(1).collect();
    let declared = sandbox.ok(&words).stderr;
    assert!(!declared.contains("E0417"), "it was offered: {declared}");
    let created = sandbox.ok(&["create", "redis", "--env", "staging"]);
    assert!(created.stdout.contains("since redis of production has 6379"), "{}", created.stdout);
    let path = "pillar/infrastructure/staging/redis.sls";
    let chosen = sandbox.read(path);
    assert!(chosen.contains("port: 6380"), "{chosen}");
    let asked = sandbox.run(&["update", "redis", "--env", "staging", "--port", "6379"]);
    refused(&asked, 3, "E0404");
    // What was written by hand is checked, from both sides.
    sandbox.write(path, chosen.replace("6380", "6379"));
    sandbox.commit_by_hand();
    for env in ["production", "staging"] {
        let clash = sandbox.run(&["compile", "--env", env]);
        refused(&clash, 3, "E0404");
        let said = clash.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("on one machine, the hosts local"), "{said}");
        assert!(!said.contains("E0417"), "{said}");
    }
    // And there is a way out.
    sandbox.ok(&["update", "redis", "--env", "staging", "--port", "6380"]);
    sandbox.ok(&["compile"]);
}

#[test]
fn two_environments_never_have_one_nomad_job() {
    let sandbox = Sandbox::with_estate();
    sandbox.write(
        "eos.toml",
        format!("{}\n[environments.production-eu]\ntier = \"production\"\n", sandbox.read("eos.toml")),
    );
    let top = sandbox.read("pillar/top.sls");
    let more = "  'environment:production-eu':\n    - match: grain\n    - ignore_missing: True\n    - infrastructure.production-eu\n    - infrastructure.production-eu.*\n    - operations.production-eu.*\n";
    sandbox.write("pillar/top.sls", format!("{top}{more}"));
    sandbox.commit_by_hand();
    sandbox.ok(&["create", "redis", "eu-redis"]);
    sandbox.ok(&["create", "host", "far", "--env", "production-eu", "--address", "10.0.0.9"]);
    let clash = sandbox.run(&["create", "redis", "--env", "production-eu"]);
    refused(&clash, 3, "E0416");
    let said = clash.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("eu-redis of production and redis both have a Nomad job production-eu-redis"),
        "{said}"
    );
    sandbox.ok(&["create", "redis", "cache", "--env", "production-eu"]);
}

#[test]
fn a_host_with_operations_is_kept_and_the_way_out_works() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "cephfs", "--nodes", "local"]);
    for change in ["+5G", "+6G"] {
        sandbox.ok(&["resize", "lvm", "data", change]);
    }
    let refusal = sandbox.run(&["delete", "host", "local"]);
    refused(&refusal, 4, "E0410");
    let said = refusal.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    assert!(said.contains("carries cephfs and has 2 recorded operations"), "{said}");
    let typed = said.split("eos delete ").skip(1);
    let names: Vec<&str> = typed.filter_map(|rest| rest.split([' ', ';']).next()).collect();
    assert_eq!(names.len(), 3, "{said}");
    names.into_iter().for_each(|name| drop(sandbox.ok(&["delete", name])));
    sandbox.ok(&["delete", "host", "local"]);
}

#[test]
fn a_machine_that_is_not_this_one_is_told_when_it_is_declared() {
    let sandbox = Sandbox::with_estate();
    let said =
        sandbox.ok(&["create", "host", "far", "--connection", "masterless", "--address", "192.0.2.7"]).stderr;
    assert!(said.contains("192.0.2.7 is no address of this machine"), "{said}");
    let said = sandbox
        .ok(&["create", "host", "near", "--connection", "masterless", "--address", "127.0.0.2"])
        .stderr;
    assert!(!said.contains("no address of this machine"), "{said}");
}

/// Told apart by what was asked for, one machine would be two, and one port of it given twice.
#[test]
fn a_machine_of_another_environment_is_declared_as_it_is_there() {
    let sandbox = Sandbox::with_estate();
    let there = ["--address", "10.0.0.9", "--nomad-node", "vm"];
    sandbox.ok(&[&["create", "host", "local2", "--env", "staging"] as &[&str], &there].concat());
    sandbox.ok(&["create", "redis", "--env", "staging", "--host", "local2"]);
    let offered = sandbox.offered(&["create", "host", "local2"]);
    let (_, command) = offered.split_once(": ").unwrap();
    assert!(command.contains("--address 10.0.0.9") && command.contains("--nomad-node vm"), "{offered}");
    sandbox.type_in(command);
    let taken = sandbox.run(&["create", "redis", "--host", "local2-production", "--port", "6379"]);
    refused(&taken, 3, "E0404");
}
