//! What was said is what is recorded, shown and explained: no more, no less, and no secret.

use super::support::Sandbox;
use super::{piped, refused};

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nMIIBcert\n-----END CERTIFICATE-----\n";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIBkey\n-----END PRIVATE KEY-----\n";

fn with_tls(sandbox: &Sandbox, flags: [&str; 2], input: &str) -> super::Run {
    piped(sandbox, &["create", "consul", "--tls", flags[0], "-", flags[1], "-"], input)
}

/// Blocks of PEM from one pipe, in the order of their flags.
#[test]
fn several_secrets_from_one_pipe() {
    for flags in [["--tls-certificate", "--tls-key"], ["--tls-key", "--tls-certificate"]] {
        let sandbox = Sandbox::with_estate();
        let is_first = flags[0] == "--tls-certificate";
        let input = if is_first { [CERTIFICATE, KEY].concat() } else { [KEY, CERTIFICATE].concat() };
        let run = with_tls(&sandbox, flags, &input);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let shown = |key: &str| sandbox.ok(&["secret", "show", key]).stdout;
        assert_eq!(shown("consul/tls_certificate"), CERTIFICATE);
        assert_eq!(shown("consul/tls_key"), KEY);
    }
    let sandbox = Sandbox::with_estate();
    let chain = [CERTIFICATE, CERTIFICATE, KEY].concat();
    let run = with_tls(&sandbox, ["--tls-certificate", "--tls-key"], &chain);
    refused(&run, 3, "more came on stdin than was asked for");
    assert!(!run.stderr.contains("MIIB"), "{}", run.stderr);
    assert!(sandbox.files("secrets/production").is_empty());
}

#[test]
fn a_secret_that_looks_like_a_flag_is_not_shown() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    for value in ["-e5xyzSECRET", "--env=5xyzSECRET", "-C5xyzSECRET"] {
        let run = sandbox.run(&["update", "postgres", "--superuser-password", value]);
        let printed = format!("{}{}", run.stdout, run.stderr);
        assert!(!printed.contains("5xyz"), "{printed}");
        assert_eq!(run.code, 0, "{printed}");
        assert_eq!(sandbox.ok(&["secret", "show", "postgres/superuser_password"]).stdout.trim(), value);
    }
}

/// Nothing is done in an estate that may not be meant.
#[test]
fn a_folder_behind_a_flag() {
    let sandbox = Sandbox::with_estate();
    let here = sandbox.estate().to_str().unwrap().to_owned();
    sandbox.ok(&["create", "grafana", "--sso", &format!("-C{here}"), "--dry-run"]);
    let elsewhere = sandbox.run(&["create", "grafana", "--sso", "-C/nowhere/shop"]);
    refused(&elsewhere, 3, "-C stands behind a flag");
    let secret = sandbox.run(&["create", "grafana", "--admin-password", "-C/tmp"]);
    refused(&secret, 3, "-C stands behind a flag");
    assert!(!secret.stderr.contains("/tmp"), "{}", secret.stderr);
    assert!(!sandbox.estate().join("pillar/infrastructure/production/grafana.sls").exists());
}

/// Written by hand, also where the feature that it belongs to is off.
#[test]
fn a_secret_in_clear_is_not_shown() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "consul", "c3"]);
    let file = "pillar/infrastructure/production/c3.sls";
    let text = sandbox.read(file);
    for features in ["", "      features: [tls]\n"] {
        let with_key = format!("{features}      settings:\n        tls_key: CLEARTEXT\n");
        let entry = text.replace("      settings:\n", &with_key);
        assert!(entry.contains("CLEARTEXT"));
        sandbox.write(file, entry);
        for words in [
            &["show", "c3"][..],
            &["show", "c3", "--json"],
            &["show", "--pillar"],
            &["show", "--pillar", "--json"],
        ] {
            let shown = sandbox.ok(words).stdout;
            assert!(!shown.contains("CLEARTEXT"), "{words:?}: {shown}");
        }
        assert!(sandbox.ok(&["show", "--pillar"]).stdout.contains("•••"));
    }
}

#[test]
fn sizes_are_written_as_lvm_reads_them() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["update", "host", "local", "--volume-group", "vg0"]);
    sandbox.ok(&["create", "postgres", "--size", "20 GiB"]);
    let file = "pillar/infrastructure/production/postgres.sls";
    let text = sandbox.read(file);
    assert!(text.contains("size: 20G\n") && !text.contains("20 GiB"), "{text}");
    // As an older eos wrote it.
    sandbox.write(file, text.replace("size: 20G\n", "size: 20GiB\n"));
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
    let states = sandbox.read("build/production/postgres/salt/volumes.sls");
    assert!(states.contains("- size: 20G\n"), "{states}");
    sandbox.ok(&["create", "ollama", "--keep-alive", "2d"]);
    let job = sandbox.read("build/production/ollama/jobs/ollama.nomad.json");
    assert!(job.contains("\"OLLAMA_KEEP_ALIVE\": \"172800s\""), "{job}");
}

/// What a feature brings is part of what there is.
#[test]
fn ports_of_features_are_shown() {
    let sandbox = Sandbox::with_estate();
    let run = with_tls(&sandbox, ["--tls-certificate", "--tls-key"], &[CERTIFICATE, KEY].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(sandbox.ok(&["show", "consul"]).stdout.contains("https_port"));
    assert!(sandbox.json(&["list"])["components"][0]["ports"].to_string().contains("8501"));
    assert!(sandbox.ok(&["graph"]).stdout.contains(":8501"));
    // Turned off, its secrets are kept, and told of.
    sandbox.ok(&["update", "consul", "--no-tls"]);
    let listed = sandbox.json(&["secret", "list"]);
    let of_tls: Vec<&serde_json::Value> =
        listed["secrets"].as_array().unwrap().iter().filter(|row| row["for"] == "what is off").collect();
    assert_eq!(of_tls.len(), 2, "{listed:#}");
}

/// A line that nobody committed moves nobody's lines, and is nobody's.
#[test]
fn why_tells_what_is_not_committed() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["update", "redis", "--port", "6400"]);
    let file = "pillar/infrastructure/production/redis.sls";
    let job = "build/production/redis/jobs/redis.nomad.json";
    let changes = || {
        let told = sandbox.json(&["why", job]);
        let lines = told["lines"].as_array().unwrap().clone();
        let sources = lines.iter().flat_map(|line| line["sources"].as_array().unwrap().clone());
        let port =
            sources.filter(|source| source["key"].as_str().is_some_and(|key| key.ends_with("settings:port")));
        port.map(|source| source["change"]["command"].clone()).collect::<Vec<_>>()
    };
    let before = changes();
    assert!(
        before.iter().all(|command| command.as_str().is_some_and(|text| text.contains("--port 6400"))),
        "{before:?}"
    );
    let text = sandbox.read(file);
    sandbox.write(file, text.replacen("eos:", "# mine\n# and mine\neos:", 1));
    assert_eq!(changes(), before);
    sandbox.write(file, text.replace("6400", "6401"));
    sandbox.ok(&["compile"]);
    assert!(changes().iter().all(serde_json::Value::is_null));
    assert!(sandbox.ok(&["why", job]).stdout.contains("not committed"));
}

#[test]
fn history_of_what_a_person_wrote() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "local"]);
    let both = sandbox.ok(&["history", "local"]).stdout;
    assert!(both.contains("create host local") && both.contains("create redis local"), "{both}");
    let of_host = sandbox.ok(&["history", "host", "local"]).stdout;
    assert!(of_host.contains("create host local") && !of_host.contains("create redis"), "{of_host}");
    let of_redis = sandbox.ok(&["history", "redis", "local"]).stdout;
    assert!(!of_redis.contains("create host") && of_redis.contains("create redis local"), "{of_redis}");
    let own = sandbox.read("pillar/infrastructure/production/local.sls");
    let own = own
        .replace("local:\n", "byhand:\n")
        .replace("/local/", "/byhand/")
        .replace("production/local", "production/byhand")
        .replace("6379", "6390");
    sandbox.write("pillar/infrastructure/production/mine.sls", own);
    refused(&sandbox.run(&["history", "byhand"]), 4, "no commit has");
    sandbox.commit_by_hand();
    assert!(sandbox.ok(&["history", "byhand"]).stdout.contains("by hand"));
}

#[test]
fn what_init_says_to_type_can_be_typed() {
    let sandbox = Sandbox::new();
    let said = sandbox.ok(&["-C", ".", "init", "my shöp's", "--name", "shop"]).stdout;
    assert!(said.contains("cd 'my shöp'\\''s'\n"), "{said}");
}

/// The state's key is in what is compiled.
#[test]
fn another_state_key_is_compiled() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["compile"]);
    let toml = sandbox.read("eos.toml");
    let shared = "kind = \"http\"\naddress = \"https://state.example.org/tofu/\"";
    sandbox.write("eos.toml", toml.replace("kind = \"local\"", shared));
    sandbox.ok(&["compile"]);
    let lock = sandbox.read("eos.lock");
    let (head, rest) = lock.split_once("\n[tools]").unwrap();
    for more in ["state_key = \"shop-0123\"\n", "estate = \"0123456789\"\n"] {
        sandbox.write("eos.lock", format!("{head}{more}\n[tools]{rest}"));
        assert_eq!(sandbox.run(&["compile", "--check"]).code, 2, "{more}");
        sandbox.ok(&["compile"]);
        assert_eq!(sandbox.run(&["compile", "--check"]).code, 0, "{more}");
    }
}

/// The size of its tasks is a choice as any other.
#[test]
fn a_size_that_was_chosen_is_shown() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "memcached", "--memory", "99", "--cpu", "150"]);
    let shown = sandbox.ok(&["show", "memcached"]).stdout;
    let has = |key: &str, value: &str| {
        shown
            .lines()
            .any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == format!("{key} {value}"))
    };
    assert!(has("memory", "99 MiB") && has("cpu", "150 MHz"), "{shown}");
}

/// A setting that comes to nothing is kept, and what would make something of it is said.
#[test]
fn a_setting_of_a_feature_that_is_off() {
    let sandbox = Sandbox::with_estate();
    let name = ["--hostname", "metrics.example.com"];
    let said = sandbox.ok(&[&["create", "prometheus"], &name[..]].concat()).stdout;
    assert!(
        said.contains("--hostname does nothing without --proxy: eos update prometheus --proxy"),
        "{said}"
    );
    sandbox.type_in("eos update prometheus --proxy");
    let said = sandbox.ok(&["update", "prometheus", "--hostname", "other.example.com"]).stdout;
    assert!(!said.contains("does nothing"), "{said}");
    for args in [
        &["create", "prometheus", "second", "--proxy", "--hostname", "second.example.com"][..],
        &["create", "grafana", "--port", "3001", "--size", "9G"],
        // It is a name of its own page's as well.
        &["create", "nextcloud", "--hostname", "cloud.example.com", "--sso"],
    ] {
        let said = sandbox.ok(args).stdout;
        assert!(!said.contains("does nothing"), "{said}");
    }
}

#[test]
fn a_filesystem_on_no_device() {
    let sandbox = Sandbox::with_estate();
    let said = sandbox.ok(&["create", "filesystem"]).stdout;
    assert!(said.contains("without --device it only installs"), "{said}");
    let shown = sandbox.ok(&["show", "filesystem"]).stdout;
    assert!(shown.contains("none  (default)"), "{shown}");
    let said = sandbox.ok(&["create", "filesystem", "disk", "--device", "/dev/sdb1"]).stdout;
    assert!(!said.contains("without --device"), "{said}");
}

/// Nothing runs with what was never applied; where that cannot be known, it may.
#[test]
fn what_never_ran_does_not_go_on_running() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let rotate = ["secret", "rotate", "grafana/admin_password"];
    let operation = || {
        let made = sandbox.json(&["resize", "lvm", "data", "+5G"]);
        sandbox.ok(&["delete", made["operation"].as_str().unwrap()]).stdout
    };
    let host = || {
        sandbox.ok(&["create", "host", "web", "--address", "10.0.0.9"]);
        sandbox.ok(&["delete", "host", "web"]).stdout
    };
    for (said, never) in [
        (sandbox.ok(&rotate).stdout, "nothing runs with it yet"),
        (operation(), "it never was, so nothing is left to do"),
        (host(), "nothing runs there, so nothing is left to do"),
    ] {
        assert!(said.contains(never) && !said.contains("what runs"), "{said}");
    }
    sandbox.applied_elsewhere();
    for (said, maybe) in [
        (sandbox.ok(&rotate).stdout, "what runs has the old one until eos apply"),
        (operation(), "was it carried out already, that stays done"),
        (host(), "what runs goes on running until eos apply"),
    ] {
        assert!(said.contains(maybe), "{said}");
    }
}
