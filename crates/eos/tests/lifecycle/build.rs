//! What is under `build/`, and what each line of it comes from.

use super::refused;
use super::support::Sandbox;

#[test]
fn what_belongs_to_no_environment_any_more_is_noticed_and_goes() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["compile"]);
    for stray in ["build/old/redis/main.tf.json", "build/modules/bucket-0123/main.tf"] {
        sandbox.write(stray, "{}\n");
    }
    let run = sandbox.run(&["compile", "--check"]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(run.stdout.contains("of no environment any more: 2 to remove"), "{}", run.stdout);
    assert!(run.stdout.contains("build/modules/bucket-0123/main.tf"), "{}", run.stdout);
    assert_eq!(sandbox.run(&["compile", "--check", "--env", "production"]).code, 0, "one alone cannot know");
    let said = sandbox.ok(&["compile"]).stdout;
    assert!(said.contains("2 removed"), "{said}");
    assert!(!sandbox.estate().join("build/old").exists() && !sandbox.estate().join("build/modules").exists());
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 0);
}

/// A tofu run by hand that could not hand over its state leaves it there, and nowhere else.
#[test]
fn a_state_that_was_not_saved_stays() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["compile"]);
    let state = "build/production/redis/errored.tfstate";
    sandbox.write(state, "{}");
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 0);
    sandbox.ok(&["update", "redis", "--port", "7000"]);
    sandbox.ok(&["delete", "redis"]);
    sandbox.ok(&["compile"]);
    assert_eq!(sandbox.read(state), "{}");
}

#[test]
fn modules_in_use_are_no_strays() {
    let sandbox = Sandbox::with_estate();
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/own-module");
    let status =
        std::process::Command::new("cp").arg("-a").arg(case.join("estate/.")).arg(sandbox.estate()).status();
    assert!(status.unwrap().success());
    sandbox.commit_by_hand();
    for line in
        std::fs::read_to_string(case.join("commands")).unwrap().lines().filter(|l| !l.starts_with('#'))
    {
        sandbox.ok(&line.split_whitespace().collect::<Vec<_>>());
    }
    assert!(!sandbox.files("build/modules").is_empty());
    // Compiled, and then skipped since nothing changed.
    for _ in 0..2 {
        sandbox.ok(&["compile"]);
        assert!(!sandbox.files("build/modules").is_empty());
        assert_eq!(sandbox.run(&["compile", "--check"]).code, 0);
    }
}

/// What `eos why` tells of each line of a file that is more than a bracket.
fn told(sandbox: &Sandbox, path: &str) -> Vec<(String, Vec<serde_json::Value>)> {
    let told = sandbox.json(&["why", path]);
    let lines = told["lines"].as_array().unwrap();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(sandbox.read(path).lines()) {
        if line.trim_end_matches(',').ends_with(['{', '[', '}', ']']) {
            continue;
        }
        let entry = lines.iter().find(|entry| entry["line"] == number);
        let entry = entry.unwrap_or_else(|| panic!("{path}:{number} is left out: {line}"));
        found.push((line.trim().to_owned(), entry["sources"].as_array().unwrap().clone()));
    }
    found
}

#[test]
fn no_line_is_left_unexplained() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--sso", "--distributed-storage"]);
    sandbox.ok(&["create", "azure_llm"]);
    let zone = "0123456789abcdef0123456789abcdef";
    sandbox.ok(&["create", "dns", "--domain", "example.org", "--zone-id", zone]);
    sandbox.ok(&["create", "consul", "--runtime", "host"]);
    sandbox.ok(&["create", "prometheus", "--runtime", "host", "--tier", "dev"]);
    sandbox.ok(&["create", "grafana", "--sso"]);
    sandbox.ok(&["create", "user", "john.doe"]);
    sandbox.ok(&["create", "zabbix"]);
    sandbox.ok(&["resize", "lvm", "data", "+5G"]);
    let files = sandbox.files("build").into_iter();
    let files: Vec<String> = files.filter(|path| path.contains("/production/")).collect();
    assert!(files.len() > 60, "{files:?}");
    for path in files.iter().filter(|path| !path.ends_with("orchestrate.sls")) {
        for (line, sources) in told(&sandbox, path) {
            let explained =
                |source: &serde_json::Value| source["key"].is_string() || source["compiler"].is_string();
            assert!(!sources.is_empty() && sources.iter().all(explained), "{path}: {line}: {sources:?}");
            // A key is one that is there: whoever opens the file finds it on that line.
            for source in sources.iter().filter(|source| source["key"].is_string()) {
                let is_said = source["file"] != "eos.toml";
                assert!(!is_said || source["line"].is_number(), "{path}: {line}: {source}");
            }
        }
    }
}

#[test]
fn a_line_leads_back_to_the_choice_that_brought_it() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana", "--tier", "dev"]);
    sandbox.ok(&["update", "grafana", "--sso", "--because", "one password"]);
    sandbox.ok(&["create", "prometheus"]);
    sandbox.ok(&["update", "grafana", "--metrics", "prometheus"]);
    let job = "build/production/grafana/jobs/grafana.nomad.json";
    let behind = |path: &str, part: &str| -> Vec<(String, String, String)> {
        let found = told(&sandbox, path);
        let (_, sources) = found.iter().find(|(line, _)| line.contains(part)).unwrap();
        let text = |json: &serde_json::Value| json.as_str().unwrap_or_default().to_owned();
        sources
            .iter()
            .map(|one| (text(&one["file"]), text(&one["key"]), text(&one["change"]["command"])))
            .collect()
    };
    let has = |found: &[(String, String, String)], file: &str, key: &str, command: &str| {
        let is = |(f, k, c): &&(String, String, String)| f.ends_with(file) && k == key && c.contains(command);
        assert!(found.iter().any(|one| is(&one)), "{file} {key} {command}: {found:#?}");
    };
    let catalog = "vendor/catalog/grafana/component.yaml";
    // A feature that a flag turned on, by a later command.
    let found = behind(job, "GF_AUTH_PROXY_ENABLED");
    has(&found, catalog, "features:sso:add:tasks:server:env:GF_AUTH_PROXY_ENABLED", "");
    has(&found, "production/grafana.sls", "eos:components:grafana:features:sso", "eos update grafana --sso");
    // One that a need turned on.
    let found = behind(job, "local/provisioning/datasources/prometheus.yaml");
    has(
        &found,
        "production/grafana.sls",
        "eos:components:grafana:needs:metrics",
        "eos update grafana --metrics",
    );
    // A plain line of the catalogue, which came when the kind was pinned.
    let found = behind(job, "GF_PATHS_PROVISIONING");
    has(&found, catalog, "tasks:server:env:GF_PATHS_PROVISIONING", "eos create grafana --tier dev");
    assert_eq!(found.len(), 1, "{found:?}");
    // The feature adds to the task and does not bring it.
    assert_eq!(behind(job, "\"Name\": \"server\"").len(), 1);
    // Sizes: the unit's own tier, and the environment's.
    has(
        &behind(job, "MemoryMB"),
        "production/grafana.sls",
        "eos:components:grafana:tier",
        "eos create grafana",
    );
    let other = "build/production/prometheus/jobs/prometheus.nomad.json";
    let found = behind(other, "MemoryMB");
    has(&found, "eos.toml", "environments:production:tier", "init shop");
    has(
        &found,
        "vendor/catalog/prometheus/component.yaml",
        "tasks:server:resources:production",
        "eos create",
    );
    // What the host runs instead.
    let found = behind("build/production/grafana/salt/volumes.sls", "/srv/eos/production/grafana/data");
    has(&found, "production/grafana.sls", "eos:components:grafana:volumes:data", "eos create grafana");
    has(&found, catalog, "storage:data", "eos create grafana");
    // What provisions a need: the offer's task, and the unit's own choice.
    let found = behind("build/production/authentik/jobs/authentik-database.nomad.json", "\"image\"");
    has(&found, "production/authentik.sls", "eos:components:authentik:needs:database", "eos update grafana");
}

#[test]
fn nothing_is_written_or_removed_through_a_link_in_build() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let outside = sandbox.path().join("outside");
    std::fs::create_dir_all(outside.join("production/x")).unwrap();
    std::fs::write(outside.join("production/x/precious"), "precious").unwrap();
    std::fs::remove_dir_all(sandbox.estate().join("build")).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.estate().join("build")).unwrap();
    refused(&sandbox.run(&["compile"]), 3, "E0206");
    assert_eq!(std::fs::read_to_string(outside.join("production/x/precious")).unwrap(), "precious");

    std::fs::remove_file(sandbox.estate().join("build")).unwrap();
    sandbox.ok(&["compile"]);
    let main = sandbox.estate().join("build/production/redis/main.tf.json");
    std::fs::remove_file(&main).unwrap();
    std::os::unix::fs::symlink(outside.join("production/x/precious"), &main).unwrap();
    refused(&sandbox.run(&["compile"]), 3, "E0206");
    assert_eq!(std::fs::read_to_string(outside.join("production/x/precious")).unwrap(), "precious");
}

#[test]
fn an_edit_that_hides_its_time_is_noticed() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["compile"]);
    let file = sandbox.estate().join("build/production/redis/main.tf.json");
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("redis", "radis", 1)).unwrap();
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 2);
}

#[test]
fn why_does_not_explain_what_does_not_compile() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let path = "build/production/redis/main.tf.json";
    let text = sandbox.read(path);
    let edited: String = text.replacen("\"wait\": ", "\"wait\": \"never\", \"was\": ", 1);
    assert_ne!(text, edited);
    let number = 1 + text.lines().zip(edited.lines()).position(|(a, b)| a != b).unwrap();
    sandbox.write(path, &edited);
    for asked in [path.to_owned(), format!("{path}:{number}")] {
        let told = sandbox.json(&["why", &asked]);
        let line = told["lines"].as_array().unwrap().iter().find(|line| line["line"] == number).unwrap();
        assert_eq!(line["sources"], serde_json::json!([{"edited": true}]), "{asked}");
    }
    let said = sandbox.ok(&["why", &format!("{path}:{number}")]).stdout;
    assert!(said.contains("edited by hand") && said.contains("eos compile puts it back"), "{said}");
    // Every other line is told as before, wherever it now stands.
    sandbox.write(path, format!("\n\n{text}"));
    let moved = sandbox.json(&["why", path]);
    sandbox.ok(&["compile"]);
    let sources = |told: &serde_json::Value| -> Vec<serde_json::Value> {
        let lines = told["lines"].as_array().unwrap().iter();
        lines.filter(|line| line["text"] != "").map(|line| line["sources"].clone()).collect()
    };
    assert_eq!(sources(&moved), sources(&sandbox.json(&["why", path])));
    // The pillar moved on and nobody compiled it.
    let pillar = "pillar/infrastructure/production/redis.sls";
    sandbox.write(pillar, sandbox.read(pillar).replace("6379", "6390"));
    let job = sandbox.ok(&["why", "build/production/redis/jobs/redis.nomad.json"]).stdout;
    assert!(job.contains("not what compiles now") && !job.contains("by hand"), "{job}");
}

#[test]
fn why_knows_the_manifest_and_the_orchestration() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let said = sandbox.ok(&["why", "build/production/redis/manifest.json"]).stdout;
    for choice in ["redis:host", "redis:volumes:data:path"] {
        assert!(said.contains(choice), "{choice}: {said}");
    }
    let orchestration = "build/production/orchestrate.sls";
    for asked in [orchestration.to_owned(), format!("{orchestration}:2")] {
        let said = sandbox.ok(&["why", &asked]).stdout.replace("\n      ", "");
        assert!(said.contains("salt-run state.orchestrate applies the units by it"), "{asked}: {said}");
    }
    refused(&sandbox.run(&["why", "build/production/other.sls"]), 3, "E0");
}
