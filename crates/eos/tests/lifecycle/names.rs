//! Components: made, changed, deleted, made again.

use super::support::Sandbox;
use super::{piped, refused};

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
fn of_what_was_never_applied_nothing_goes_on_running() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let deleted = sandbox.ok(&["delete", "redis"]).stdout;
    assert!(deleted.contains("it never was") && !deleted.contains("goes on running"), "{deleted}");
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
