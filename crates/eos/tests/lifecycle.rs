//! What happens to things after they are made: changed, deleted, made again, withdrawn.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write as _;
use std::process::Stdio;

use support::{Run, Sandbox};

fn refused(run: &Run, exit: i32, code: &str) {
    assert_eq!(run.code, exit, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(code), "{}", run.stderr);
}

fn piped(sandbox: &Sandbox, args: &[&str], input: &str) -> Run {
    let mut child = sandbox
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::from(child.wait_with_output().unwrap())
}

#[test]
fn delete_takes_a_name_with_its_own_kind_and_nothing_else() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres", "crm"]);
    sandbox.ok(&["create", "redis"]);
    refused(&sandbox.run(&["delete", "redis", "crm"]), 3, "E0107");
    refused(&sandbox.run(&["delete", "bogus", "redis"]), 3, "E0107");
    sandbox.ok(&["delete", "postgres", "crm"]);
    assert!(sandbox.ok(&["list"]).stdout.contains("redis"));
}

#[test]
fn what_is_made_again_finds_the_secrets_of_its_data() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    sandbox.ok(&["secret", "rotate", "postgres/superuser_password"]);
    let before = sandbox.ok(&["secret", "show", "postgres/superuser_password"]).stdout;
    let said = sandbox.ok(&["delete", "postgres"]).stdout;
    assert!(said.contains("its secrets stay with it"), "{said}");
    let listed = sandbox.ok(&["secret", "list"]).stdout;
    let kept: Vec<&str> = listed.lines().filter(|line| line.contains("kept")).collect();
    assert_eq!(kept.len(), 1, "{listed}");
    assert!(kept[0].starts_with("postgres/superuser_password  2  "), "{listed}");
    let again = sandbox.ok(&["create", "postgres"]).stdout;
    assert!(!again.contains("Secrets made"), "{again}");
    assert_eq!(sandbox.ok(&["secret", "show", "postgres/superuser_password"]).stdout, before);
    assert!(sandbox.read("pillar/infrastructure/production/postgres.sls").contains("superuser_password?v=2"));
}

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
fn an_operation_stays_in_its_environment_and_can_be_withdrawn() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "stage1", "--env", "staging"]);
    refused(&sandbox.run(&["resize", "lvm", "data", "+5G", "--host", "stage1"]), 3, "E0406");
    sandbox.ok(&["resize", "lvm", "data", "+5G"]);
    let listed = sandbox.ok(&["list", "operations"]).stdout;
    assert!(listed.contains("20260921t141320-") && listed.contains("+5G"), "{listed}");
    let id = sandbox.json(&["list", "operations"])["operations"][0]["id"].as_str().unwrap().to_owned();
    sandbox.ok(&["delete", &id]);
    assert!(!sandbox.estate().join("build/production/operations").exists());
}

#[test]
fn updating_agents_is_an_operation_whether_or_not_there_is_one_of_that_name() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "wazuh-agents"]);
    let said = sandbox.ok(&["update", "wazuh-agents"]).stdout;
    assert!(said.contains("-update-wazuh-agents is recorded"), "{said}");
}

#[test]
fn an_operation_said_twice_is_two_and_the_person_is_told() {
    let sandbox = Sandbox::with_estate();
    let first = sandbox.json(&["resize", "lvm", "data", "+50G"]);
    assert_eq!(first["same_as"].as_array().unwrap().len(), 0);
    let said = sandbox.ok(&["resize", "lvm", "data", "+50G"]).stdout;
    assert!(said.contains("the same was said before, as") && said.contains("a slip? eos delete"), "{said}");
    sandbox.ok(&["resize", "lvm", "data", "+60G"]);
    let all = sandbox.json(&["list", "operations"])["operations"].as_array().unwrap().clone();
    let sizes: Vec<&str> =
        all.iter().map(|operation| operation["args"]["change"].as_str().unwrap()).collect();
    assert_eq!(sizes, ["+50G", "+50G", "+60G"], "in the order they were said");
}

#[test]
fn operations_of_two_clones_have_two_ids() {
    let sandbox = Sandbox::with_estate();
    let clone = sandbox.path().join("clone");
    sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let ours = sandbox.json(&["resize", "lvm", "data", "+5G"])["operation"].as_str().unwrap().to_owned();
    let mut theirs =
        sandbox.command(&["-C", clone.to_str().unwrap(), "resize", "lvm", "data", "+5G", "--json"]);
    let run = Run::from(theirs.env("USER", "ada").output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(!run.stdout.contains(&ours), "{}", run.stdout);
    let identity = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org"];
    let pull = ["pull", "-q", "--no-rebase", "--no-edit", clone.to_str().unwrap(), "main"];
    sandbox.git(&[identity.as_slice(), &pull].concat());
    assert_eq!(sandbox.json(&["list", "operations"])["operations"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_is_recorded_on_no_branch() {
    let sandbox = Sandbox::with_estate();
    sandbox.git(&["checkout", "-q", "--detach"]);
    refused(&sandbox.run(&["create", "redis"]), 4, "E0113");
    sandbox.ok(&["list"]);
    sandbox.git(&["switch", "-q", "-"]);
    sandbox.ok(&["create", "redis"]);
}

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

#[test]
fn two_hosts_at_one_address_are_warned_about() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["update", "host", "local", "--address", "10.0.0.5"]);
    let run = sandbox.ok(&["create", "host", "db1", "--address", "10.0.0.5"]);
    assert!(run.stderr.contains("E0417") && run.stderr.contains("host db1 and host local"), "{}", run.stderr);
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
}

#[test]
fn a_shell_completes_names_of_the_estate() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    sandbox.ok(&["create", "host", "stage1", "--env", "staging"]);
    let words = |before: &[&str]| -> Vec<String> {
        let run = sandbox.ok(&[&["__complete", "--"], before].concat());
        run.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(words(&["secret", "show", ""]), ["grafana/admin_password"]);
    assert_eq!(words(&["secret", "rotate", "graf"]), ["grafana/admin_password"]);
    assert_eq!(words(&["delete", "host", ""]), ["local"]);
    assert_eq!(words(&["update", "host", "--env", "staging", ""]), ["stage1"]);
    assert_eq!(words(&["resize", "lvm", "--host", ""]), ["local"]);
    assert_eq!(words(&["create", "redis", "--host", "l"]), ["local"]);
    assert_eq!(words(&["list", "--env", ""]), ["production", "staging"]);
    assert!(words(&["delete", ""]).contains(&"grafana".to_owned()));
    assert_eq!(words(&["create", "cephfs", "--nodes", ""]), ["local"]);
    assert_eq!(words(&["create", "authentik", "--frontend-for", ""]), ["grafana"]);
    assert_eq!(words(&["create", "load_balancer", "--ports", ""]), ["80,443"]);
    assert_eq!(words(&["create", "redis", "--tier", ""]), ["dev", "staging", "production"]);
    assert_eq!(words(&["create", "redis", "--runtime", "h"]), ["host"]);
    assert_eq!(words(&["graph", "--format", "s"]), ["svg"]);
    assert_eq!(words(&["create", "host", "--vol"]), ["--volume-group"]);
    assert_eq!(words(&["create", "redis", "--max"]), ["--max-memory"]);
    assert!(words(&["apply", "--"]).contains(&"--on-failure".to_owned()));
}

/// The script itself, in the shell it is for.
#[test]
fn bash_completes_what_is_typed() {
    let sandbox = Sandbox::with_estate();
    let script = sandbox.ok(&["completion", "bash"]).stdout;
    let ask = "COMP_WORDS=(eos create graf); COMP_CWORD=2; _eos; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["--norc", "-c", &format!("{script}\n{ask}")]).current_dir(sandbox.estate()).env_clear();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_eos")).parent().unwrap();
    bash.env("HOME", sandbox.path().join("home")).env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    let said = Run::from(bash.output().unwrap());
    assert!(said.stdout.split_whitespace().any(|word| word == "grafana"), "{}{}", said.stdout, said.stderr);
}

#[test]
fn what_was_made_before_consul_stays_with_nomad_until_it_is_told() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let job = "build/production/redis/jobs/redis.nomad.json";
    sandbox.ok(&["create", "consul"]);
    assert!(sandbox.read(job).contains("\"Provider\": \"nomad\""), "an unrelated thing changes nothing");
    sandbox.ok(&["update", "redis", "--discovery", "consul"]);
    let text = sandbox.read(job);
    assert!(text.contains("\"Provider\": \"consul\"") && text.contains("\"Type\": \"script\""), "{text}");
    assert!(sandbox.read("build/production/consul/jobs/consul.nomad.json").contains("\"nomad\""));
}

/// Every line of every module: traced to a setting, or explained.
#[test]
fn no_line_of_a_module_is_left_unexplained() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--sso", "--distributed-storage"]);
    sandbox.ok(&["create", "azure_llm"]);
    let zone = "0123456789abcdef0123456789abcdef";
    sandbox.ok(&["create", "dns", "--domain", "example.org", "--zone-id", zone]);
    sandbox.ok(&["resize", "lvm", "data", "+5G"]);
    let modules = sandbox.files("build").into_iter().filter(|path| path.ends_with("/main.tf.json"));
    for path in modules.collect::<Vec<_>>() {
        let told = sandbox.json(&["why", &path]);
        let lines = told["lines"].as_array().unwrap();
        for (number, line) in (1..).zip(sandbox.read(&path).lines()) {
            if line.trim_end_matches(',').ends_with(['{', '[', '}', ']']) {
                continue;
            }
            let entry = lines.iter().find(|entry| entry["line"] == number);
            let sources =
                entry.unwrap_or_else(|| panic!("{path}:{number} is left out: {line}"))["sources"].clone();
            let explained =
                |source: &serde_json::Value| source["key"].is_string() || source["compiler"].is_string();
            assert!(sources.as_array().unwrap().iter().all(explained), "{path}:{number} {line}: {sources}");
        }
    }
}

#[test]
fn a_secret_of_several_lines_is_kept_whole() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let text = "first line\nsecond line";
    let run = piped(&sandbox, &["secret", "set", "redis/password"], &format!("{text}\n"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(sandbox.ok(&["secret", "show", "redis/password"]).stdout, format!("{text}\n"));
}

#[test]
fn a_secret_that_opens_data_is_not_rotated() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "backups", "--target", "sftp:backup@example.org:/srv/restic"]);
    refused(&sandbox.run(&["secret", "rotate", "backups/password"]), 4, "E0414");
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
fn a_port_that_eos_only_knows_of_is_taken_too() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "mailcow"]);
    let said = sandbox.ok(&["create", "jenkins"]).stdout;
    assert!(said.contains("port 8081, since mailcow has 8080"), "{said}");
}

#[test]
fn a_commit_says_who_when_and_why() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "--because", "sessions"]);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    for trailer in [
        "Eos-Command: eos create redis --because sessions",
        "Eos-User: kim",
        "Eos-Time: 2026-09-21T14:13:20Z",
        "Eos-Reason: sessions",
    ] {
        assert!(message.lines().any(|line| line == trailer), "{trailer} is not in\n{message}");
    }
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
fn doctor_sees_a_changed_copy_of_a_pinned_kind() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let copy = "vendor/catalog/redis/component.yaml";
    sandbox.write(copy, sandbox.read(copy) + "# changed\n");
    sandbox.commit_by_hand();
    let run = sandbox.run(&["doctor"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("vendor/catalog/redis is not what eos.lock pins"), "{}", run.stdout);
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
fn what_is_left_for_a_person_is_said_once() {
    let sandbox = Sandbox::with_estate();
    let said = sandbox.ok(&["create", "gitea", "--sso"]).stdout;
    for left in ["gitea: the first account to register becomes", "gitea: two things are left for you"] {
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
fn two_hosts_that_one_module_cannot_tell_apart_are_refused() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "web-1", "--address", "10.0.0.3"]);
    sandbox.ok(&["create", "host", "web_1", "--address", "10.0.0.4"]);
    let clash = sandbox.run(&["create", "user", "john", "--nodes", "web-1,web_1"]);
    refused(&clash, 3, "E0416");
    assert!(clash.stderr.contains("web-1 and web_1"), "{}", clash.stderr);
}

#[test]
fn what_nothing_would_read_is_not_recorded() {
    let sandbox = Sandbox::with_estate();
    let settings = sandbox.read("eos.toml");
    sandbox.write("eos.toml", format!("{settings}\n[environments.production-eu]\ntier = \"production\"\n"));
    sandbox.commit_by_hand();
    sandbox.ok(&["create", "host", "eu1", "--address", "10.9.0.1", "--env", "production-eu"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let unread = sandbox.run(&["create", "redis", "--env", "production-eu"]);
    refused(&unread, 3, "E0210");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    let lines = unread.stderr.lines().skip_while(|line| !line.contains("'environment:production-eu'"));
    assert!(lines.clone().any(|line| line.contains("- infrastructure.production-eu.*")), "{}", unread.stderr);
    for name in ["init", "operations", "orchestrate.sls"] {
        refused(&sandbox.run(&["create", "redis", name]), 3, "E0411");
    }
    refused(&sandbox.run(&["create", "host", "init"]), 3, "E0411");
}

#[test]
fn a_value_may_be_attached_to_a_short_flag() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "stage1", "--address", "10.0.0.7", "-estaging"]);
    sandbox.ok(&["create", "redis", "-estaging"]);
    sandbox.ok(&["update", "redis", "-estaging", "--port", "6380"]);
    assert!(sandbox.read("pillar/infrastructure/staging/redis.sls").contains("6380"));
    let two = sandbox.path().join("two");
    sandbox.ok(&["-C..", "init", "two"]);
    sandbox.ok(&["-C../two", "create", "host", "in-two", "--address", "10.0.0.8"]);
    assert!(two.join("pillar/hosts/in-two.sls").exists());
}

#[test]
fn a_secret_of_a_hand_written_entry_is_set_without_a_second_entry() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let own = "pillar/infrastructure/production/grafana.sls";
    let entry = sandbox.read(own).replace("#!yaml\n", "#!yaml\n# ours\n");
    sandbox.write("pillar/infrastructure/production/init.sls", entry.replace("?v=1", "?v=7"));
    std::fs::remove_file(sandbox.estate().join(own)).unwrap();
    sandbox.commit_by_hand();
    let set = piped(&sandbox, &["secret", "set", "grafana/admin_password"], "hunter2");
    assert_eq!(set.code, 0, "{}", set.stderr);
    assert!(!sandbox.estate().join(own).exists());
    assert_eq!(sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout, "hunter2\n");
}

#[test]
fn an_empty_or_unreadable_secret_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::with_estate();
    refused(&sandbox.run(&["create", "grafana", "--admin-password="]), 3, "E0303");
    refused(&sandbox.run(&["create", "redis", "--version", ""]), 3, "E0107");
    let memory = sandbox.run(&["create", "redis", "--memory", "512M"]);
    refused(&memory, 3, "E0107");
    assert!(memory.stderr.contains("without a unit"), "{}", memory.stderr);
    refused(&sandbox.run(&["catalog", "new", "redis"]), 3, "E0408");
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let run = sandbox.command(&["create", "grafana", "--admin-password"]).arg(odd).output().unwrap();
    refused(&Run::from(run), 3, "E0107");
    assert!(!sandbox.estate().join("pillar/infrastructure/production/grafana.sls").exists());
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
fn doctor_tells_an_open_identity_and_other_tools_than_were_recorded() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::with_estate();
    let lock = sandbox.read("eos.lock");
    let line = lock.lines().find(|line| line.starts_with("nomad = ")).unwrap();
    sandbox.write("eos.lock", lock.replace(line, "nomad = \"1.0.0\""));
    let identity = sandbox.path().join("home/.config/eos/identity.txt");
    std::fs::set_permissions(&identity, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = sandbox.run(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.stdout);
    assert!(said.stdout.contains("open to others (mode 644)"), "{}", said.stdout);
    assert!(said.stdout.contains("eos.lock has nomad 1.0.0"), "{}", said.stdout);
}
