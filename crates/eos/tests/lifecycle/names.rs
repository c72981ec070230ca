//! Components: made, changed, deleted, made again.

use super::refused;
use super::support::Sandbox;

#[test]
fn delete_takes_a_name_with_its_own_kind_and_nothing_else() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres", "crm"]);
    sandbox.ok(&["create", "redis"]);
    refused(&sandbox.run(&["delete", "redis", "crm"]), 3, "E0409");
    refused(&sandbox.run(&["delete", "bogus", "redis"]), 3, "E0107");
    sandbox.ok(&["delete", "postgres", "crm"]);
    assert!(sandbox.ok(&["list"]).stdout.contains("redis"));
}

#[test]
fn what_was_made_before_consul_stays_with_nomad_until_it_is_told() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let job = "build/production/redis/jobs/redis.nomad.json";
    let created = sandbox.ok(&["create", "consul"]).stdout;
    assert!(created.contains("consul acl bootstrap"), "{created}");
    assert!(sandbox.read(job).contains("\"Provider\": \"nomad\""), "an unrelated thing changes nothing");
    sandbox.ok(&["update", "redis", "--memory", "600"]);
    assert!(sandbox.read(job).contains("\"Provider\": \"nomad\""), "nor does an update of something else");
    let told = sandbox.ok(&["update", "redis", "--discovery", "consul"]).stdout;
    assert!(told.contains("each Nomad client"), "{told}");
    let text = sandbox.read(job);
    assert!(text.contains("\"Provider\": \"consul\"") && text.contains("\"Type\": \"script\""), "{text}");
    assert!(sandbox.read("build/production/consul/jobs/consul.nomad.json").contains("\"nomad\""));
}

#[test]
fn a_port_that_eos_only_knows_of_is_taken_too() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "mailcow"]);
    let said = sandbox.ok(&["create", "jenkins"]).stdout;
    assert!(said.contains("port 8081, since mailcow has 8080"), "{said}");
}

#[test]
fn two_routes_cannot_have_one_host_name() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--sso"]);
    let run = sandbox.run(&["create", "nextcloud", "second", "--sso"]);
    refused(&run, 3, "E0416");
    sandbox.ok(&["create", "nextcloud", "second", "--sso", "--hostname", "second.example.org"]);
}

#[test]
fn what_is_left_for_a_person_is_said_once() {
    let sandbox = Sandbox::with_estate();
    let said = sandbox.ok(&["create", "gitea", "--sso"]).stdout;
    for left in ["gitea: the first account to register becomes", "gitea: three things are left for you"] {
        assert_eq!(said.matches(left).count(), 1, "{said}");
    }
    let again = sandbox.ok(&["update", "gitea", "--port", "3300"]).stdout;
    assert!(!again.contains("first account"), "{again}");
}

#[test]
fn two_jobs_never_share_an_id() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "umami"]);
    let clash = sandbox.run(&["create", "postgres", "umami-database", "--port", "5433"]);
    refused(&clash, 3, "E0416");
    assert!(clash.stderr.contains("Nomad job production-umami-database"), "{}", clash.stderr);
}

#[test]
fn a_host_is_not_taken_for_a_component_and_help_is_found_either_way() {
    let sandbox = Sandbox::with_estate();
    for words in [&["show", "local"][..], &["delete", "local"]] {
        let refusal = sandbox.run(words);
        refused(&refusal, 3, "E0409");
        assert!(refusal.stderr.contains("it is a host: eos list hosts"), "{}", refusal.stderr);
    }
    refused(&sandbox.run(&["history", "nosuch"]), 3, "E0409");
    let (one, other) =
        (sandbox.ok(&["help", "create", "grafana"]), sandbox.ok(&["create", "grafana", "--help"]));
    assert_eq!(one.stdout, other.stdout);
}

#[test]
fn a_kind_may_stand_before_the_name() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    sandbox.ok(&["create", "postgres", "crm", "--size", "20G"]);
    let own = "pillar/infrastructure/production/postgres.sls";
    let before = sandbox.read(own);
    sandbox.ok(&["update", "postgres", "crm", "--size", "30G"]);
    assert!(sandbox.read("pillar/infrastructure/production/crm.sls").contains("30G"));
    sandbox.ok(&["update", "postgres", "--size", "31G", "crm"]);
    assert!(sandbox.read("pillar/infrastructure/production/crm.sls").contains("31G"));
    assert_eq!(sandbox.read(own), before, "the other one stays as it was");
    // The value of a flag is no name, and one's own name is one like any other.
    sandbox.ok(&["update", "postgres", "--size", "40G"]);
    sandbox.ok(&["update", "postgres", "postgres", "--size", "50G"]);
    assert!(sandbox.read(own).contains("50G"));
    assert_eq!(sandbox.ok(&["show", "postgres", "crm"]).stdout, sandbox.ok(&["show", "crm"]).stdout);
    let host = sandbox.ok(&["show", "host", "local"]).stdout;
    assert!(host.contains("127.0.0.1") && host.contains("crm, postgres"), "{host}");
    for verb in ["update", "show", "delete"] {
        let other = sandbox.run(&[verb, "redis", "crm"]);
        refused(&other, 3, "E0409");
        assert!(other.stderr.contains("crm is a postgres, not a redis"), "{}", other.stderr);
        assert!(other.stderr.contains(&format!("try: eos {verb} crm")), "{}", other.stderr);
        refused(&sandbox.run(&[verb, "postgres", "crn"]), 3, "E0409");
    }
    refused(&sandbox.run(&["update", "postgres", "crm", "--sze", "30G"]), 3, "E0107");
}

#[test]
fn what_is_fixed_may_be_said_until_it_is_applied() {
    let sandbox = Sandbox::with_estate();
    let said = sandbox.ok(&["create", "nextcloud", "--sso"]).stdout.replace("\n    ", " ");
    let hint = said.lines().find(|line| line.contains("admin@example.org")).expect("a hint").to_owned();
    assert!(hint.contains("eos update authentik --admin-email <yours>"), "{hint}");
    sandbox.ok(&["create", "authentik", "--frontend-for", "mailcow"]);
    sandbox.ok(&["update", "authentik", "--admin-email", "kim@shop.example"]);
    assert!(sandbox.ok(&["show", "authentik"]).stdout.contains("kim@shop.example"));
}

#[test]
fn a_default_port_that_another_has_is_not_said_to_be_back() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["create", "redis", "second"]);
    let said = sandbox.ok(&["update", "second", "--unset", "port"]).stdout;
    assert!(said.contains("second: port 6380, since redis has 6379 on local"), "{said}");
    assert!(said.contains("Nothing to change") && !said.contains("default again"), "{said}");
    sandbox.ok(&["delete", "redis"]);
    let said = sandbox.ok(&["update", "second", "--unset", "port"]).stdout;
    assert!(said.contains("second: port is the default again: 6379") && !said.contains("6380"), "{said}");
}

#[test]
fn a_soft_need_is_given_up_and_stays_given_up() {
    let sandbox = Sandbox::with_estate();
    let file = "pillar/infrastructure/production/redis.sls";
    sandbox.ok(&["create", "consul"]);
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["create", "memcached"]);
    assert!(sandbox.read(file).contains("discovery: consul"));
    let refusal = sandbox.run(&["delete", "consul"]);
    refused(&refusal, 4, "E0410");
    let said = refusal.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in ["redis", "memcached"] {
        assert!(said.contains(&format!("eos update {name} --unset discovery")), "{said}");
        sandbox.ok(&["update", name, "--unset", "discovery"]);
    }
    sandbox.ok(&["update", "redis", "--memory", "600"]);
    assert!(!sandbox.read(file).contains("discovery"), "{}", sandbox.read(file));
    sandbox.ok(&["delete", "consul"]);
    // A need that it cannot do without is told apart.
    sandbox.ok(&["create", "gitea"]);
    let refusal = sandbox.run(&["update", "gitea", "--unset", "database"]);
    refused(&refusal, 4, "E0410");
    assert!(refusal.stderr.contains("gitea cannot do without database"), "{}", refusal.stderr);
    let both = ["update", "gitea", "--unset", "discovery", "--discovery", "consul"];
    refused(&sandbox.run(&both), 3, "contradict");
}

#[test]
fn a_soft_need_is_declined_from_the_beginning() {
    let sandbox = Sandbox::with_estate();
    let file = "pillar/infrastructure/production/redis.sls";
    sandbox.ok(&["create", "consul"]);
    sandbox.ok(&["create", "redis", "--unset", "discovery"]);
    sandbox.ok(&["update", "redis", "--memory", "600"]);
    assert!(!sandbox.read(file).contains("discovery"), "{}", sandbox.read(file));
    refused(&sandbox.run(&["create", "gitea", "--unset", "database"]), 3, "discovery");
    let both = ["create", "gitea", "--unset", "discovery", "--discovery", "consul"];
    refused(&sandbox.run(&both), 3, "contradict");
}

#[test]
fn a_number_is_one_port_whatever_the_protocol() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "zabbix", "--snmp", "--trap-port", "6379"]);
    let said = sandbox.ok(&["create", "redis"]).stdout;
    assert!(said.contains("port 6380, since zabbix has 6379"), "{said}");
    refused(&sandbox.run(&["update", "redis", "--port", "6379"]), 3, "E0404");
}

#[test]
fn who_provides_data_stays_once_it_is_applied() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud"]);
    sandbox.ok(&["create", "gitea"]);
    sandbox.ok(&["create", "postgres", "db2"]);
    sandbox.ok(&["create", "redis", "cache2"]);
    sandbox.ok(&["update", "nextcloud", "--database", "db2"]);
    sandbox.applied_elsewhere();
    refused(&sandbox.run(&["update", "nextcloud", "--database", "postgres"]), 4, "E0414");
    refused(&sandbox.run(&["update", "gitea", "--database", "db2"]), 4, "E0414");
    // The same one again, and one that keeps nothing, may be said.
    sandbox.ok(&["update", "gitea", "--database", "postgres"]);
    sandbox.ok(&["update", "nextcloud", "--cache", "cache2"]);
}

#[test]
fn what_a_feature_brings_and_is_fixed_is_fixed() {
    let sandbox = Sandbox::with_estate();
    let given = ["--ssh-key", "ssh-ed25519 AAAA kim", "--image-version", "22.04.202410020"];
    let create = ["create", "azure_llm", "--gpu-server", "--model-version", "2024-08-06"];
    sandbox.ok(&[&create[..], &given[..]].concat());
    sandbox.ok(&["update", "azure_llm", "--gpu-cidr", "10.101.0.0/24"]);
    sandbox.applied_elsewhere();
    refused(&sandbox.run(&["update", "azure_llm", "--gpu-cidr", "10.102.0.0/24"]), 4, "E0414");
}

#[test]
fn hints_act_in_the_environment_they_are_about() {
    let sandbox = Sandbox::with_estate();
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    sandbox.ok(&["create", "host", "far", "--address", "10.0.0.9", "--env", "staging"]);
    let said = flat(sandbox.ok(&["create", "nextcloud", "--env", "staging"]).stdout);
    assert!(said.contains("eos update --env staging nextcloud --hostname"), "{said}");
    assert!(said.contains("eos apply --env staging does that"), "{said}");
    let needed = sandbox.run(&["-e", "staging", "delete", "postgres"]);
    assert!(
        flat(needed.stderr)
            .contains("eos delete --env staging nextcloud && eos delete --env staging postgres")
    );
    sandbox.ok(&["create", "redis", "spare", "--env", "staging"]);
    let needed = sandbox.run(&["-e", "staging", "delete", "redis"]);
    assert!(flat(needed.stderr).contains("eos update --env staging nextcloud --cache spare"));
    let purged = sandbox.run(&["purge", "redis", "--env=staging"]);
    assert!(flat(purged.stderr).contains("eos delete --env staging redis --destroy-data redis"));
    // Of all environments, each with its own.
    let file = "pillar/infrastructure/staging/nextcloud.sls";
    sandbox.write(file, sandbox.read(file).replace("database: postgres", "database: nobody"));
    sandbox.commit_by_hand();
    let compiled = sandbox.run(&["compile"]);
    assert!(flat(compiled.stderr).contains("eos update --env staging nextcloud --database <name>"));
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let said = flat(sandbox.ok(&["delete", "nextcloud", "--env", "staging"]).stdout);
    assert!(said.contains("eos delete --env staging postgres takes that away too"), "{said}");
    // Typed as told it acts there.
    sandbox.ok(&["delete", "--env", "staging", "postgres"]);
    // In the default one nothing has to be said.
    assert!(sandbox.ok(&["create", "redis"]).stdout.contains("eos apply does that"));
}

#[test]
fn a_wrong_kind_is_listed_with_its_place_among_the_others() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.write(
        "pillar/infrastructure/production/mine.sls",
        "#!yaml\neos:\n  components:\n    graphs:\n      kind: grafanna\n",
    );
    sandbox.commit_by_hand();
    let listed = sandbox.run(&["list"]);
    refused(&listed, 3, "E0301");
    assert!(listed.stderr.contains("mine.sls:5:13"), "{}", listed.stderr);
    assert!(listed.stdout.contains("redis") && listed.stdout.contains("graphs"), "{}", listed.stdout);
}

#[test]
fn what_is_left_to_do_is_said_whenever_it_begins() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "authentik"]);
    let said = sandbox.ok(&["update", "authentik", "--frontend-for", "mailcow"]).stdout;
    assert!(said.contains("domain is example.org, a placeholder"), "{said}");
    assert_eq!(said.matches("eos explain sso").count(), 1, "{said}");
    let said = sandbox.ok(&["update", "authentik", "--port", "9001"]).stdout;
    assert!(!said.contains("placeholder") && !said.contains("explain sso"), "only once: {said}");
    let plain = sandbox.ok(&["create", "vault"]).stdout;
    assert!(plain.contains("without --tls"), "{plain}");
    let words = ["create", "vault", "v2", "--tls", "--tls-certificate", "cert", "--tls-key", "key9"];
    let said = sandbox.ok(&words).stdout;
    assert!(said.contains("it starts sealed") && !said.contains("without --tls"), "{said}");
    assert!(said.contains("vault audit enable"), "{said}");
    let subjects = sandbox.git(&["log", "-4", "--format=%s"]);
    assert!(
        subjects.starts_with("create vault v2 in production\ncreate vault in production\n"),
        "{subjects}"
    );
}

#[test]
fn replicas_have_no_host_and_no_port_of_their_own() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "umami", "--replicas", "2"]);
    let listed = sandbox.ok(&["list"]).stdout;
    let line = listed.lines().find(|line| line.starts_with("umami")).unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>()[2..5],
        ["any", "container", "dynamic"],
        "{listed}"
    );
    assert!(!sandbox.read("build/production/umami/main.tf.json").contains("\"output\""));
    // One alone has both.
    sandbox.ok(&["update", "umami", "--unset", "replicas"]);
    assert!(sandbox.read("build/production/umami/main.tf.json").contains("http://127.0.0.1:3000"));
}

#[test]
fn a_piped_table_is_never_cut() {
    let sandbox = Sandbox::with_estate();
    let name = "a".repeat(60);
    sandbox.ok(&["create", "redis", &name]);
    let listed = sandbox.ok(&["secret", "list"]).stdout;
    assert!(listed.contains(&format!("secrets/production/{name}/password.v1.age")), "{listed}");
    assert!(!listed.contains('…'), "{listed}");
}

#[test]
fn a_name_of_another_environment_is_told_with_its_flag() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "stage1", "--address", "10.0.0.9", "--env", "staging"]);
    sandbox.ok(&["create", "redis", "--env", "staging"]);
    for words in [&["delete", "redis"][..], &["update", "redis", "--port", "6380"], &["show", "redis"]] {
        refused(&sandbox.run(words), 3, "staging has it: --env staging");
    }
    sandbox.ok(&["delete", "redis", "--env", "staging"]);
}

/// In the name of a file a dot is "__".
#[test]
fn no_two_names_have_one_file() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "a.b"]);
    for name in ["a._b", "a_.b"] {
        refused(&sandbox.run(&["create", "redis", name]), 3, "E0411");
    }
}

#[test]
fn a_file_with_another_name_inside_is_not_written_over() {
    let sandbox = Sandbox::with_estate();
    let file = "pillar/infrastructure/production/redis.sls";
    sandbox.ok(&["create", "redis"]);
    let renamed = sandbox.read(file).replace("    redis:\n", "    cache:\n");
    sandbox.write(file, &renamed);
    sandbox.commit_by_hand();
    assert!(sandbox.ok(&["list"]).stdout.contains("cache"));
    refused(&sandbox.run(&["create", "redis"]), 4, "E0209");
    assert_eq!(sandbox.read(file), renamed);
}

#[test]
fn a_file_with_two_names_goes_with_neither() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["create", "memcached"]);
    let (one, other) =
        ("pillar/infrastructure/production/redis.sls", "pillar/infrastructure/production/memcached.sls");
    let moved = sandbox.read(other);
    let (_, entry) = moved.split_once("  components:\n").unwrap();
    sandbox.write(one, sandbox.read(one) + entry);
    std::fs::remove_file(sandbox.estate().join(other)).unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox.run(&["delete", "redis"]), 4, "E0209");
    refused(&sandbox.run(&["update", "redis", "--memory", "600"]), 4, "E0209");
    assert!(sandbox.ok(&["list"]).stdout.contains("memcached"));
}
