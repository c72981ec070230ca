//! Mistakes in what is asked for on the command line.

use std::process::Stdio;

use crate::case::{refused, refused_commands};
use crate::support::Sandbox;

#[test]
fn unknown_kind() {
    refused(&Sandbox::with_estate(), "unknown_kind", 3, &["create", "grafanna"]);
}

#[test]
fn unknown_kind_like_no_other() {
    refused(&Sandbox::with_estate(), "unknown_kind_like_no_other", 3, &["create", "xyzzy"]);
}

#[test]
fn unknown_setting() {
    refused(&Sandbox::with_estate(), "unknown_setting", 3, &["create", "grafana", "--prot", "3001"]);
}

#[test]
fn unknown_feature() {
    refused(&Sandbox::with_estate(), "unknown_feature", 3, &["create", "nextcloud", "--ssso"]);
}

#[test]
fn unknown_verb() {
    refused(&Sandbox::with_estate(), "unknown_verb", 3, &["crate", "grafana"]);
    refused(&Sandbox::with_estate(), "unknown_verb_like_no_other", 3, &["frobnicate"]);
}

#[test]
fn unknown_flag() {
    refused(&Sandbox::with_estate(), "unknown_flag", 3, &["compile", "--chek"]);
}

#[test]
fn a_flag_without_its_value() {
    refused(&Sandbox::with_estate(), "a_flag_without_its_value", 3, &["--json=maybe", "list"]);
    refused(&Sandbox::with_estate(), "a_word_too_many", 3, &["explain", "E0404", "E0405"]);
    refused(&Sandbox::with_estate(), "a_word_too_few", 3, &["show"]);
}

#[test]
fn a_flag_before_what_it_belongs_to() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "a_flag_before_the_kind", 3, &["create", "--port", "1", "grafana"]);
    refused(&sandbox, "a_flag_before_the_name", 3, &["update", "--port", "1", "grafana"]);
    refused(&sandbox, "a_flag_before_the_operation", 3, &["resize", "--host", "local", "lvm", "data", "+5G"]);
}

#[test]
fn an_unknown_code() {
    refused(&Sandbox::with_estate(), "an_unknown_code", 3, &["explain", "E9999"]);
}

#[test]
fn values_out_of_range_are_told_of_together() {
    let args = ["create", "postgres", "--max-connections", "5", "--port", "70000", "--shared-buffers", "1M"];
    refused(&Sandbox::with_estate(), "values_out_of_range", 3, &args);
}

#[test]
fn flags_of_a_feature_that_is_off() {
    let sandbox = Sandbox::with_estate();
    let secrets = ["--tls-certificate", "CERT-1234", "--tls-key", "KEY-12345"];
    let words = [&["create", "consul", "c1", "--https-port", "8502"], &secrets[..]].concat();
    refused(&sandbox, "flags_of_a_feature_that_is_off", 3, &words);
    sandbox.ok(&["create", "authentik"]);
    let words = ["create", "nextcloud", "--identity", "authentik"];
    refused(&sandbox, "a_need_of_a_feature_that_is_off", 3, &words);
    sandbox.ok(&["create", "grafana"]);
    let words = ["update", "grafana", "--identity", "authentik"];
    refused(&sandbox, "a_need_of_a_feature_that_is_off_later", 3, &words);
    sandbox.ok(&["update", "grafana", "--sso", "--identity", "authentik"]);
    // What the feature that goes has brought is not asked for.
    sandbox.ok(&["update", "grafana", "--no-sso"]);
}

#[test]
fn a_number_that_is_too_large() {
    let words = ["create", "redis", "--memory", "99999999999"];
    refused(&Sandbox::with_estate(), "a_number_that_is_too_large", 3, &words);
    refused(&Sandbox::with_estate(), "a_history_of_none", 3, &["history", "-n", "0"]);
}

#[test]
fn size_without_unit() {
    refused(&Sandbox::with_estate(), "size_without_unit", 3, &["create", "postgres", "--size", "20"]);
}

#[test]
fn port_taken() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    refused(&sandbox, "port_taken", 3, &["create", "postgres", "second", "--port", "5432"]);
}

#[test]
fn ports_of_a_range() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "coturn"]);
    refused(&sandbox, "port_in_a_range", 3, &["create", "redis", "--port", "49170"]);
    refused(&sandbox, "range_that_is_taken", 3, &["create", "coturn", "second", "--relay-from", "49190"]);
    let backwards = ["create", "coturn", "second", "--relay-from", "50001", "--relay-to", "50000"];
    refused(&sandbox, "range_the_wrong_way_round", 3, &backwards);
    sandbox.ok(&["create", "coturn", "second"]);
    let file = "pillar/infrastructure/production/second.sls";
    let text = sandbox.read(file);
    sandbox.write(file, text.replace("relay_from: 49201", "relay_from: 49200"));
    sandbox.commit_by_hand();
    refused(&sandbox, "ranges_that_meet", 3, &["compile"]);
    sandbox.write(file, text.replace("relay_from: 49201", "relay_from: 49301"));
    sandbox.commit_by_hand();
    refused(&sandbox, "range_the_wrong_way_round_in_the_pillar", 3, &["compile"]);
}

#[test]
fn a_program_that_is_not_there() {
    let sandbox = Sandbox::with_estate();
    let words = ["create", "redis", "--runtime", "host", "--binary", "/nowhere/redis-server"];
    refused(&sandbox, "a_program_that_is_not_there", 3, &words);
    // Of another machine nothing is known.
    sandbox.ok(&["create", "host", "db1", "--address", "192.0.2.7"]);
    sandbox.ok(&[&words[..], &["--host", "db1"]].concat());
}

#[test]
fn nothing_is_mounted_over_the_system() {
    let sandbox = Sandbox::with_estate();
    let over = ["create", "filesystem", "--path", "/usr/", "--device", "sdb1"];
    refused(&sandbox, "mounted_over_the_system", 3, &over);
    for (kind, folder) in [("filesystem", "/"), ("lvm", "/home"), ("lvm", "/var//lib"), ("cephfs", "/etc")] {
        let run = sandbox.run(&["create", kind, "--path", folder]);
        assert_eq!(run.code, 3, "{kind} {folder}: {}", run.stdout);
        assert!(run.stderr.contains("is a folder of the system"), "{}", run.stderr);
    }
    sandbox.ok(&["create", "lvm", "books", "--path", "/srv/books"]);
    sandbox.ok(&["create", "lvm", "unmounted"]);
}

#[test]
fn two_offers_for_one_need() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres", "shop-db"]);
    sandbox.ok(&["create", "postgres", "reports"]);
    refused(&sandbox, "two_offers", 3, &["create", "nextcloud"]);
}

/// What nobody is made for comes first.
#[test]
fn a_provider_that_nobody_is_made_for() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "node-exporter"]);
    let update = ["update", "node-exporter", "--scraped-by", "prometheus"];
    refused(&sandbox, "a_provider_that_is_made_first", 3, &update);
    let offered = sandbox.offered(&update);
    sandbox.type_in(offered.strip_suffix(", then this command again").unwrap());
    assert!(sandbox.ok(&update).stdout.contains("Updated"));
    // Where the name is another's, the new one has its own.
    let other = Sandbox::with_estate();
    other.ok(&["create", "node-exporter"]);
    other.ok(&["create", "memcached"]);
    let offered = other.offered(&["update", "node-exporter", "--scraped-by", "memcached"]);
    let (first, flag) = offered.split_once(", then this command with ").unwrap();
    other.type_in(first);
    other.type_in(&format!("eos update node-exporter {flag}"));
}

#[test]
fn a_name_that_is_taken() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "etcd"]);
    refused(&sandbox, "a_name_that_is_taken", 3, &["create", "etcd"]);
}

#[test]
fn drift_that_is_ignored_for_no_reason() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "drift_ignored_for_no_reason", 3, &["drift", "ignore", "redis"]);
    refused(&sandbox, "drift_of_a_name_and_what_to_do", 3, &["drift", "redis", "revert"]);
}

#[test]
fn a_provider_that_is_none() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    refused(
        &sandbox,
        "a_provider_that_offers_something_else",
        3,
        &["create", "nextcloud", "--database", "grafana"],
    );
    refused(&sandbox, "a_provider_that_is_not_there", 3, &["create", "nextcloud", "--database", "postgress"]);
}

#[test]
fn a_page_that_cannot_be_guarded() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    sandbox.ok(&["create", "redis"]);
    let create = |name: &str, asked: &str| {
        refused(&sandbox, name, 3, &["create", "authentik", "--frontend-for", asked]);
    };
    create("a_guarded_page_that_is_misspelt", "mailcwo");
    create("a_guarded_page_that_is_not_there", "nosuch");
    create("a_guarded_page_that_offers_none", "grafana");
    create("a_guarded_page_of_what_has_none", "redis");
    sandbox.ok(&["create", "authentik", "--frontend-for", "mailcow"]);
    let own = ["update", "authentik", "--frontend-for", "mailcow,authentik"];
    refused(&sandbox, "a_guarded_page_of_its_own", 3, &own);
}

#[test]
fn what_cannot_change_under_data() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    sandbox.applied_elsewhere();
    refused(&sandbox, "another_major_under_data", 4, &["update", "postgres", "--version", "17.0"]);
    refused(&sandbox, "an_older_major_under_data", 4, &["update", "postgres", "--version", "15.8"]);
    refused(&sandbox, "another_runtime_under_data", 4, &["update", "postgres", "--runtime", "host"]);
    sandbox.ok(&["update", "postgres", "--version", "16.6"]);
    sandbox.ok(&["create", "grafana"]);
    sandbox.ok(&["update", "grafana", "--version", "12.0.0"]);
    refused(&sandbox, "the_version_latest", 3, &["create", "redis", "--version", "latest"]);
    refused(&sandbox, "the_version_latest_later", 3, &["update", "grafana", "--version", "latest"]);
    refused(&sandbox, "a_version_that_is_no_tag", 3, &["create", "redis", "--version", "7 $(id)"]);
    let binary = ["create", "redis", "--runtime", "host", "--binary", "../x y"];
    refused(&sandbox, "a_program_that_is_no_path", 3, &binary);
    refused(&sandbox, "a_program_beside_an_image", 3, &["create", "redis", "--binary", "/opt/redis"]);
    let version = ["create", "redis", "--runtime", "host", "--version", "7.2"];
    refused(&sandbox, "a_version_of_a_package", 3, &version);
}

#[test]
fn words_that_mean_nothing_or_too_much() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let typed = ["secret", "set", "redis/password", "hunter2hunter2"];
    refused(&sandbox, "a_secret_among_the_words", 3, &typed);
    refused(&sandbox, "a_flag_like_no_other", 3, &["create", "backups", "--offsite"]);
    refused(&sandbox, "a_flag_nearly_right", 3, &["create", "nextcloud", "--distributed-storag"]);
    refused(&sandbox, "a_name_that_means_hosts", 3, &["create", "redis", "host"]);
}

#[test]
fn an_account_of_the_system() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "a_user_root", 3, &["create", "user", "root"]);
    refused(&sandbox, "a_user_without_a_name", 3, &["create", "user"]);
    refused(&sandbox, "a_user_with_a_number_for_a_name", 3, &["create", "user", "1234"]);
    for odd in [&["a2345678901234567890123456789012x"] as &[&str], &["kim", "--full-name", "Kim\nroot::0:0"]]
    {
        let run = sandbox.run(&[&["create", "user"], odd].concat());
        assert!(run.code == 3, "{odd:?}: {}{}", run.stdout, run.stderr);
    }
    let odd = ["create", "user", "kim", "--ssh-key", "garbage", "--groups", "sudo docker"];
    refused(&sandbox, "a_user_with_an_odd_key_and_group", 3, &odd);
}

#[test]
fn a_secret_that_is_the_name() {
    let sandbox = Sandbox::with_estate();
    let kind = ["create", "grafana", "graphs", "--admin-password", "grafana"];
    refused(&sandbox, "a_secret_that_is_the_kind", 3, &kind);
    let name = ["create", "grafana", "graphs", "--admin-password", "graphs"];
    refused(&sandbox, "a_secret_that_is_the_name", 3, &name);
    sandbox.ok(&["create", "grafana", "graphs"]);
    let set = sandbox.with_stdin(&["secret", "set", "graphs/admin_password"], "graphs");
    assert_eq!(set.code, 3, "{}{}", set.stdout, set.stderr);
    assert!(set.stderr.contains("the very name"), "{}", set.stderr);
}

#[test]
fn networks_and_targets() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "a_network_with_host_bits", 3, &["create", "networking", "--cidr", "10.0.0.1/16"]);
    let elsewhere = ["create", "networking", "--cidr", "192.168.0.0/16"];
    refused(&sandbox, "a_subnet_of_another_network", 3, &elsewhere);
    sandbox.ok(&[&elsewhere[..], &["--subnet", "192.168.1.0/24"]].concat());
    refused(&sandbox, "a_target_with_a_blank", 3, &["create", "prometheus", "--targets", "foo bar"]);
    sandbox.ok(&["create", "prometheus", "--targets", "10.0.0.5:9100,[fd00::1]:9100,db1.example.org"]);
}

#[test]
fn undeclared_host() {
    refused(&Sandbox::with_estate(), "undeclared_host", 3, &["create", "grafana", "--host", "web9"]);
}

#[test]
fn no_host_at_all() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["init", "shop"]);
    refused(&sandbox, "no_host_at_all", 3, &["create", "grafana"]);
}

#[test]
fn path_traversal_in_a_name() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "path_traversal_in_a_name", 3, &["create", "grafana", "../../etc/cron.d/x"]);
    refused(&sandbox, "path_traversal_in_a_host", 3, &["create", "host", "../web1"]);
    refused(&sandbox, "path_traversal_in_a_kind", 3, &["catalog", "new", "../wiki"]);
    refused(&sandbox, "path_traversal_in_a_secret", 3, &["secret", "show", "../identity/key"]);
    refused(&sandbox, "path_traversal_in_a_unit", 3, &["show", "../../pillar"]);
}

#[test]
fn wrong_environment() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "wrong_environment", 3, &["create", "grafana", "--env", "prodution"]);
    refused(&sandbox, "wrong_environment_like_no_other", 3, &["list", "--env", "../x"]);
}

#[test]
fn name_taken() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    refused(&sandbox, "name_taken", 3, &["create", "grafana"]);
    refused(&sandbox, "host_taken", 3, &["create", "host", "local"]);
}

#[test]
fn unknown_name() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    refused(&sandbox, "unknown_name", 3, &["update", "grafanna", "--port", "3001"]);
    refused(&sandbox, "unknown_name_deleted", 3, &["delete", "grafanna"]);
    refused(&sandbox, "unknown_host_deleted", 3, &["delete", "host", "web9"]);
    refused(&sandbox, "unknown_name_shown", 3, &["show", "postgres"]);
    refused(&sandbox, "unknown_artifact", 3, &["why", "build/production/nothing/main.tf.json:3"]);
}

#[test]
fn something_needed_is_not_deleted() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud"]);
    refused(&sandbox, "delete_something_needed", 4, &["delete", "postgres"]);
    refused(&sandbox, "delete_a_host_in_use", 4, &["delete", "host", "local"]);
}

#[test]
fn what_a_need_keeps_to() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud"]);
    sandbox.ok(&["create", "gitea"]);
    sandbox.ok(&["create", "postgres", "db2"]);
    refused(&sandbox, "a_need_given_up_that_is_hard", 4, &["update", "gitea", "--unset", "database"]);
    sandbox.applied_elsewhere();
    let another = |name| ["update", name, "--database", "db2"];
    refused(&sandbox, "another_provider_after_the_first_start", 4, &another("nextcloud"));
    refused(&sandbox, "another_provider_of_data", 4, &another("gitea"));
}

#[test]
fn what_would_come_to_nothing() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "create_what_only_acts", 3, &["create", "wazuh-agents"]);
    refused(&sandbox, "an_operation_on_nothing", 3, &["expand", "storage"]);
    refused(&sandbox, "replicas_that_are_dialled", 3, &["create", "umami", "u2", "--replicas", "2", "--sso"]);
    sandbox.ok(&["create", "jenkins"]);
    refused(&sandbox, "a_port_that_eos_cannot_move", 3, &["create", "mailcow"]);
    let along = ["create", "authentik", "--frontend-for", "mailcow"];
    refused(&sandbox, "a_port_that_eos_cannot_move_along", 3, &along);
    sandbox.ok(&["create", "nextcloud"]);
    refused(&sandbox, "a_feature_on_and_off", 3, &["update", "nextcloud", "--sso", "--no-sso"]);
}

#[test]
fn a_secret_is_not_repeated_in_a_refusal() {
    let sandbox = Sandbox::with_estate();
    let secret = ["create", "grafana", "g3", "--admin-password", "hunter2hunter2"];
    refused(&sandbox, "a_secret_typed_twice", 3, &[&secret[..], &["hunter2hunter2"]].concat());
    refused(&sandbox, "a_secret_in_two_words", 3, &[&secret[..], &["correct"]].concat());
    refused(&sandbox, "a_secret_as_a_port", 3, &[&secret[..], &["--port", "hunter2hunter2"]].concat());
}

#[test]
fn a_volume_does_not_shrink() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres", "--size", "50G"]);
    sandbox.applied_elsewhere();
    refused(&sandbox, "shrink_a_volume", 4, &["update", "postgres", "--size", "20G"]);
}

#[test]
fn replicas_of_what_keeps_data() {
    refused(
        &Sandbox::with_estate(),
        "replicas_of_what_keeps_data",
        3,
        &["create", "postgres", "--replicas", "2"],
    );
}

#[test]
fn control_characters() {
    let sandbox = Sandbox::with_estate();
    refused(
        &sandbox,
        "control_characters_in_a_value",
        3,
        &["create", "grafana", "--hostname", "a\u{1b}[31mb\u{7}"],
    );
    refused(&sandbox, "control_characters_in_a_name", 3, &["create", "grafana", "a\nb"]);
    refused(&sandbox, "control_characters_in_a_kind", 3, &["create", "gra\u{1b}[2Jfana"]);
    refused(&sandbox, "control_characters_in_a_verb", 3, &["li\u{1b}[2Jst"]);
    refused(&sandbox, "control_characters_in_a_flag", 3, &["list", "--js\u{1b}[2Jon"]);
}

#[test]
fn a_huge_argument() {
    let sandbox = Sandbox::with_estate();
    let huge = "x".repeat(100_000);
    refused(&sandbox, "a_huge_name", 3, &["create", "grafana", &huge]);
    refused(&sandbox, "a_huge_kind", 3, &["create", &huge]);
    refused(&sandbox, "a_huge_value", 3, &["create", "grafana", "--admin-user", &huge]);
    refused(&sandbox, "a_huge_flag", 3, &["list", &format!("--{huge}")]);
}

#[test]
fn a_host_with_an_odd_address() {
    refused(
        &Sandbox::with_estate(),
        "a_host_with_an_odd_address",
        3,
        &["create", "host", "db1", "--address", "10.0.0.5; rm -rf /"],
    );
}

#[test]
fn an_operation_with_a_bad_argument() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "an_operation_with_a_bad_argument", 3, &["resize", "lvm", "database_volume", "lots"]);
    refused(&sandbox, "an_operation_of_another_kind", 3, &["resize", "grafana", "x", "1G"]);
}

#[test]
fn outside_of_an_estate() {
    let sandbox = Sandbox::new();
    for (name, args) in [
        ("outside_of_an_estate", &["list"] as &[&str]),
        ("outside_of_an_estate_create", &["create", "grafana"]),
    ] {
        refused(&sandbox, name, 3, args);
    }
    refused(&sandbox, "in_a_folder_that_is_not_there", 3, &["-C", "nowhere", "list"]);
}

#[test]
fn a_folder_beside_or_above_the_estate_is_outside_of_it() {
    let sandbox = Sandbox::with_estate();
    let other = sandbox.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::create_dir(sandbox.estate().join("inside")).unwrap();
    // The folder above a link is the one above where it leads to.
    std::os::unix::fs::symlink(&other, sandbox.estate().join("inside/link")).unwrap();
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    for folder in
        ["..", "../other", "inside/../../other", "inside/link", "inside/link/..", "nowhere", "nowhere/.."]
    {
        for args in [
            &["create", "memcached", "zz"] as &[&str],
            &["list"],
            &["history"],
            &["compile"],
            &["catalog", "new", "thing"],
        ] {
            let run = sandbox.run(&[&["-C", folder], args].concat());
            assert!(
                run.code == 3 && run.stderr.contains("error[E0101]"),
                "{folder} {args:?}: {}{}",
                run.stdout,
                run.stderr
            );
        }
    }
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(sandbox.git(&["status", "--porcelain"]).trim(), "?? inside/");
    for folder in ["inside", "inside/..", "../other/../shop", "inside/link/../shop"] {
        let run = sandbox.ok(&["-C", folder, "list", "--json"]);
        assert_eq!(run.stdout, sandbox.ok(&["list", "--json"]).stdout, "{folder}");
    }
}

#[test]
fn an_estate_in_an_estate() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "an_estate_that_is_there", 3, &["-C", "..", "init", "shop"]);
    // What lies in a folder may be anything: it takes a word to make an estate of it.
    refused(&sandbox, "init_in_a_full_folder", 3, &["-C", "..", "init"]);
    refused(&sandbox, "an_estate_with_a_bad_name", 3, &["init", "../x y"]);
}

#[test]
fn a_secret_from_stdin_that_says_nothing() {
    let sandbox = Sandbox::with_estate();
    refused(&sandbox, "a_secret_from_an_empty_stdin", 4, &["create", "grafana", "--admin-password", "-"]);
    sandbox.ok(&["create", "grafana"]);
    refused(&sandbox, "a_secret_set_from_an_empty_stdin", 4, &["secret", "set", "grafana/admin_password"]);
    let closed = |flag: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args([
            "-c",
            &format!("exec '{}' secret set grafana/admin_password {flag} <&-", env!("CARGO_BIN_EXE_eos")),
        ]);
        shell.current_dir(sandbox.estate()).env("HOME", sandbox.path().join("home")).stdin(Stdio::null());
        shell
    };
    refused_commands(&sandbox, "a_secret_set_from_a_closed_stdin", 4, closed(""), closed("--json"));
}

#[test]
fn every_wrong_flag_and_value_at_once() {
    let sandbox = Sandbox::with_estate();
    let words = ["--size", "100X", "--prot", "5433", "--port", "abc", "--cpu", "0", "--memory=2G"];
    let create: Vec<&str> = ["create", "postgres", "crm"].into_iter().chain(words).collect();
    refused(&sandbox, "several_wrong_flags", 3, &create);
    sandbox.ok(&["create", "postgres"]);
    let update: Vec<&str> = ["update", "postgres"].into_iter().chain(words).collect();
    refused(&sandbox, "several_wrong_flags_of_an_update", 3, &update);
}

/// A wrong value hides nothing that is wrong about the estate.
#[test]
fn wrong_values_and_what_the_estate_lacks_at_once() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let create = |name: &str, words: &str| {
        let words: Vec<&str> =
            words.split(' ').map(|word| if word == "a_b" { "a b" } else { word }).collect();
        refused(&sandbox, name, 3, &[&["create"], &words[..]].concat());
    };
    create("a_wrong_size_on_no_host", "nextcloud --size 5 --host nowhere");
    create("wrong_values_and_needs", "nextcloud --database foo --cache bar --port 6379 --hostname a_b");
    create("a_wrong_name_and_value_on_no_host", "user a_b --groups a_b --host nowhere");
    create("wrong_words_of_a_host", "host a --address a_b --volume-group - --connection foo");
    create("wrong_words_of_a_host_that_is_there", "host local --address a_b --volume-group -");
    // What was given a wrong value is neither missed nor found a value for.
    create("wrong_values_of_what_must_be_said", "dns --domain a_b --zone-id a_b --host nowhere");
    create("a_wrong_port_of_what_eos_does_not_start", "mailcow --port 99999999999999999999 --host nowhere");
    let update = ["update", "redis", "--max-memory", "lots", "--host", "nowhere"];
    refused(&sandbox, "a_wrong_update_on_no_host", 3, &update);
}

/// The superuser would get the password of the one that asks, who would become the superuser.
#[test]
fn a_name_that_is_the_providers_own() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres", "db1"]);
    refused(&sandbox, "the_name_of_a_superuser", 3, &["create", "gitea", "postgres"]);
    refused(&sandbox, "a_name_that_a_database_refuses", 3, &["create", "gitea", "pg_crm"]);
    // Postgres itself may be called that: nobody gives it a role.
    sandbox.ok(&["create", "postgres"]);
}

#[test]
fn names_of_hosts_that_are_none() {
    let sandbox = Sandbox::with_estate();
    let long = format!("{}.example.org", "a".repeat(64));
    for name in ["a..b", "a.-b.org", &long] {
        let run = sandbox.run(&["create", "grafana", "--hostname", name]);
        assert!(run.code == 3 && run.stderr.contains("E0303"), "{name}: {}{}", run.stdout, run.stderr);
    }
    sandbox.ok(&["create", "grafana", "--sso", "--hostname", "App.example.com"]);
    let same = ["create", "umami", "--sso", "--hostname", "app.example.com"];
    refused(&sandbox, "a_name_of_a_host_in_capitals", 3, &same);
}

#[test]
fn a_port_of_several() {
    let sandbox = Sandbox::with_estate();
    let both = ["create", "umami", "--replicas", "2", "--port", "3333"];
    refused(&sandbox, "a_port_of_several", 3, &both);
}
