//! Components that really run: compiled for the runtime host, set up by Salt, started by Nomad, until they are healthy.
//!
//! The programs are Debian's, unpacked into the cache; nothing is installed and nothing outside the sandbox is written.
#![allow(clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use eos_catalog::component::Proof;
use eos_catalog::{Catalog, SettingType};
use serde_json::{Value as Json, json};

use crate::salt::Salt;
use crate::support::{Sandbox, program, tool};
use test_tools::{Nomad, free_ports};

/// A program whose package brings an account, which is there on every machine.
const ERRAND: &str = r#"#!yaml
format: 1
kind: errand
summary: Errand, says who it is
proof: validates
runtimes:
  host: {package: dash, command: /bin/sh, user: nobody}
settings:
  token: {type: secret, help: What only it may read}
tasks:
  run:
    args: ["@{file.run.sh}", "@{file.token}", "@{file.url}"]
    capabilities: [net_bind_service]
    files:
      token: {format: text, content: "@{setting.token}"}
      url: {format: text, content: "http://@{setting.token|url}@here"}
      run.sh:
        format: text
        content: |
          echo "$(id -un) $(stat -c '%a %U' "$1") $(cat "$1" "$2") $(grep CapEff /proc/self/status)"
          exec sleep 600
"#;

/// A password that a file of its own rules has to quote.
const ODD: &str = r#"# a "b" \c {{d}}"#;

/// Kind, its program in the packages, the packages, and what the sandbox needs said.
pub const RUN: &[(&str, &str, &[&str], &[&str])] = &[
    ("backups", "usr/bin/restic", &["restic"], &["--paths", "/etc/hostname"]),
    ("etcd", "usr/bin/etcd", &["etcd-server"], &[]),
    ("hecate", "usr/bin/caddy", &["caddy"], &[]),
    ("memcached", "usr/bin/memcached", &["memcached", "libevent-2.1-7"], &[]),
    ("nats", "usr/sbin/nats-server", &["nats-server"], &["--stream-size", "100M", "--password", ODD]),
    ("node-exporter", "usr/bin/prometheus-node-exporter", &["prometheus-node-exporter"], &[]),
    (
        "postgres",
        "usr/lib/postgresql/15/bin/postgres",
        &["postgresql-15", "postgresql-client-15", "libpq5"],
        &["--shared-buffers", "32M"],
    ),
    ("prometheus", "usr/bin/prometheus", &["prometheus"], &[]),
    (
        "redis",
        "usr/bin/redis-server",
        &["redis-server", "redis-tools", "libjemalloc2", "liblzf1"],
        &["--password", ODD],
    ),
];

/// postgres runs as a user that may look into no cache of root's, and finds its other programs beside it.
fn program_beside(sandbox: &Sandbox, path: &str, packages: &[&str]) -> PathBuf {
    let root = program(path, packages).with_file_name("root");
    let copy = sandbox.path().join("postgres");
    assert!(Command::new("cp").arg("-a").args([&root, &copy]).status().unwrap().success());
    copy.join(path)
}

pub fn create(
    sandbox: &Sandbox,
    catalog: &Catalog,
    (kind, path, packages, flags): &(&str, &str, &[&str], &[&str]),
) {
    let program =
        if *kind == "postgres" { program_beside(sandbox, path, packages) } else { program(path, packages) };
    let mut words =
        ["create", kind, "--runtime", "host", "--tier", "dev", "--binary", program.to_str().unwrap()]
            .map(str::to_owned)
            .to_vec();
    for (name, _) in catalog
        .component(kind)
        .unwrap()
        .settings
        .iter()
        .filter(|(_, setting)| setting.kind == SettingType::Port)
    {
        let [port] = free_ports();
        words.extend([format!("--{}", name.replace('_', "-")), port.to_string()]);
    }
    words.extend(flags.iter().map(|flag| (*flag).to_owned()));
    sandbox.ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Puts the data below the sandbox: the pillar says where it is, and a person may say otherwise.
pub fn move_data_into(sandbox: &Sandbox) {
    let below = sandbox.path().join("srv");
    for path in sandbox.files("pillar") {
        let text = sandbox.read(&path);
        sandbox.write(&path, text.replace("/srv/eos", below.to_str().unwrap()));
    }
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
}

/// What the provider does in Apply: the secrets a job names become its Nomad variable.
fn give_secrets(sandbox: &Sandbox, nomad: &Nomad, job: &Json) {
    let mut items = serde_json::Map::new();
    for (key, reference) in job["Meta"].as_object().unwrap() {
        let Some(key) = key.strip_prefix("eos.secret.") else { continue };
        let path = reference
            .as_str()
            .unwrap()
            .strip_prefix("secret://production/")
            .unwrap()
            .split('?')
            .next()
            .unwrap();
        items.insert(key.to_owned(), sandbox.json(&["secret", "show", path])["value"].take());
    }
    let path = format!("nomad/jobs/{}", job["ID"].as_str().unwrap());
    if !items.is_empty() {
        // A server that has only just begun has a leader before it has a keyring.
        nomad.until("the variable is there", || {
            nomad.put(&format!("/v1/var/{path}"), &json!({"Path": path, "Items": items})).is_ok()
        });
    }
}

/// The job as compiled, asked for its health sooner and for less time: a test does not watch for minutes.
fn hurried(mut document: Json) -> Json {
    const SECOND: u64 = 1_000_000_000;
    document["Job"]["Update"]["MinHealthyTime"] = json!(SECOND);
    for group in document["Job"]["TaskGroups"].as_array_mut().unwrap() {
        for check in group["Services"]
            .as_array_mut()
            .into_iter()
            .flatten()
            .flat_map(|service| service["Checks"].as_array_mut().into_iter().flatten())
        {
            check["Interval"] = json!(SECOND);
        }
    }
    document
}

fn register(sandbox: &Sandbox, nomad: &Nomad, unit: &str, job: &str) -> String {
    let document: Json =
        serde_json::from_str(&sandbox.read(&format!("build/production/{unit}/jobs/{job}.nomad.json")))
            .unwrap();
    give_secrets(sandbox, nomad, &document["Job"]);
    let batch = document["Job"]["Type"] == "batch";
    nomad.put("/v1/jobs", &if batch { document.clone() } else { hurried(document.clone()) }).unwrap();
    document["Job"]["ID"].as_str().unwrap().to_owned()
}

/// What the tasks of a job have said and how they ended, for a test that fails.
fn words_of(nomad: &Nomad, job: &str) -> String {
    let mut text = String::new();
    for allocation in nomad.get(&format!("/v1/job/{job}/allocations")).as_array().into_iter().flatten() {
        for (task, state) in allocation["TaskStates"].as_object().into_iter().flatten() {
            for event in state["Events"].as_array().into_iter().flatten() {
                text.push_str(&format!("  {task}: {} {}\n", event["Type"], event["DisplayMessage"]));
            }
            for stream in ["stdout", "stderr"] {
                let path = nomad
                    .folder()
                    .join("data/alloc")
                    .join(allocation["ID"].as_str().unwrap())
                    .join(format!("alloc/logs/{task}.{stream}.0"));
                let said = std::fs::read_to_string(path).unwrap_or_default();
                text.extend(
                    said.lines()
                        .rev()
                        .take(15)
                        .collect::<Vec<_>>()
                        .into_iter()
                        .rev()
                        .map(|line| format!("  {stream}: {line}\n")),
                );
            }
        }
    }
    text
}

#[test]
fn nine_kinds_run_as_host_processes_and_are_found_healthy() {
    let clock = std::time::Instant::now();
    let told = |what: &str| eprintln!("{:>6.1} s  {what}", clock.elapsed().as_secs_f32());
    let catalog = Catalog::built_in();
    let sandbox = Sandbox::with_estate();
    std::fs::set_permissions(sandbox.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.write("catalog/errand/component.yaml", ERRAND);
    sandbox.commit_by_hand();
    RUN.iter().for_each(|kind| create(&sandbox, &catalog, kind));
    sandbox.ok(&["create", "errand", "--token", "a+b c/d%"]);
    // Its database is provisioned by a job of its own; nextcloud itself is a container and stays where it is.
    sandbox.ok(&["create", "nextcloud"]);
    move_data_into(&sandbox);
    told("compiled");
    let volumes: Vec<PathBuf> = RUN
        .iter()
        .map(|(kind, ..)| sandbox.estate().join(format!("build/production/{kind}/salt/volumes.sls")))
        .filter(|path| path.is_file())
        .collect();
    for (id, state) in Salt::start(&tool("salt")).apply(&volumes) {
        assert_eq!(state["result"], true, "{id}: {state:#}");
    }
    told("set up by Salt");
    let nomad = Nomad::runner(&tool("nomad"), "n1");
    let jobs: Vec<String> = RUN.iter().map(|(kind, ..)| register(&sandbox, &nomad, kind, kind)).collect();
    let errand = register(&sandbox, &nomad, "errand", "errand");
    let mut waiting = jobs.clone();
    let healthy = |job: &String| nomad.get(&format!("/v1/job/{job}/deployment"))["Status"] == "successful";
    let start = std::time::Instant::now();
    while !waiting.is_empty() {
        waiting.retain(|job| !healthy(job));
        if start.elapsed().as_secs() > 120 {
            let words: Vec<String> = waiting
                .iter()
                .map(|job| format!("{job} did not become healthy\n{}", words_of(&nomad, job)))
                .collect();
            panic!("{}", words.join("\n"));
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    told("healthy");
    // As the account that its package brings: the secret's file is the account's, and it has no right but the one named.
    let url = "http://a%2Bb%20c%2Fd%25@here";
    let said = format!("nobody 600 nobody a+b c/d%{url} CapEff:\t0000000000000400");
    nomad.until("the errand has said who it is", || words_of(&nomad, &errand).contains("stdout"));
    assert!(words_of(&nomad, &errand).contains(&said), "{said}: {}", words_of(&nomad, &errand));
    // Twice, since it has to be safe to repeat.
    for _ in 0..2 {
        let job = register(&sandbox, &nomad, "nextcloud", "nextcloud-database");
        nomad.until("the database is provisioned", || {
            let summary = &nomad.get(&format!("/v1/job/{job}/summary"))["Summary"]["provision"];
            assert_eq!(summary["Failed"].as_u64().unwrap_or(0), 0, "{}", words_of(&nomad, &job));
            summary["Complete"].as_u64().unwrap_or(0) > 0
        });
        nomad.purge(&job);
    }
    told("provisioned");
    assert_eq!(query(&sandbox, "wrong"), None);
    assert_eq!(
        query(&sandbox, &secret_of(&sandbox, "nextcloud", "nextcloud", "_database_password")),
        Some("nextcloud".to_owned())
    );
    // A new password of the superuser counts from the next start, one that has to be quoted too; what is in it stays.
    let before = secret_of(&sandbox, "postgres", "postgres", "superuser_password");
    assert_eq!(superuser(&sandbox, &before), Some("postgres".to_owned()));
    let job = &jobs[RUN.iter().position(|(kind, ..)| *kind == "postgres").unwrap()];
    let odd = r"it's \a $(b) `c` ''d";
    assert_eq!(sandbox.with_stdin(&["secret", "set", "postgres/superuser_password"], odd).code, 0);
    register(&sandbox, &nomad, "postgres", "postgres");
    nomad.until("postgres has the new password", || superuser(&sandbox, odd).is_some());
    nomad.until("postgres is healthy again", || healthy(job));
    assert_eq!(superuser(&sandbox, &before), None);
    assert!(!words_of(&nomad, job).contains("it's"), "{}", words_of(&nomad, job));
    let password = secret_of(&sandbox, "nextcloud", "nextcloud", "_database_password");
    assert_eq!(query(&sandbox, &password), Some("nextcloud".to_owned()));
    told("rotated");
    assert!(redis_says(&sandbox, "wrong").starts_with("-WRONGPASS"));
    assert_eq!(secret_of(&sandbox, "redis", "redis", "redis_password"), ODD);
    assert!(redis_says(&sandbox, ODD).starts_with("+OK\r\n+PONG"));
}

/// What the database says to a superuser with this password.
fn superuser(sandbox: &Sandbox, password: &str) -> Option<String> {
    answer(sandbox, "postgres", "postgres", password)
}

/// The value behind a reference in a job's meta.
fn secret_of(sandbox: &Sandbox, unit: &str, job: &str, ending: &str) -> String {
    let document: Json =
        serde_json::from_str(&sandbox.read(&format!("build/production/{unit}/jobs/{job}.nomad.json")))
            .unwrap();
    let meta = document["Job"]["Meta"].as_object().unwrap();
    let (_, reference) = meta
        .iter()
        .find(|(key, _)| key.starts_with("eos.secret.") && key.ends_with(ending))
        .unwrap_or_else(|| panic!("{meta:?}"));
    let path =
        reference.as_str().unwrap().strip_prefix("secret://production/").unwrap().split('?').next().unwrap();
    sandbox.json(&["secret", "show", path])["value"].as_str().unwrap().to_owned()
}

fn port_of(sandbox: &Sandbox, name: &str) -> String {
    sandbox.json(&["show", name])["settings"]["port"]["value"].to_string()
}

/// What the provisioned database answers to the role it was made for.
fn query(sandbox: &Sandbox, password: &str) -> Option<String> {
    answer(sandbox, "nextcloud", "nextcloud", password)
}

fn answer(sandbox: &Sandbox, user: &str, database: &str, password: &str) -> Option<String> {
    let mut psql = Command::new(sandbox.path().join("postgres/usr/lib/postgresql/15/bin/psql"));
    psql.args([
        "-h",
        "127.0.0.1",
        "-p",
        &port_of(sandbox, "postgres"),
        "-U",
        user,
        "-d",
        database,
        "-At",
        "-c",
        "select current_user",
    ]);
    let output = psql.env("PGPASSWORD", password).output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

fn redis_says(sandbox: &Sandbox, password: &str) -> String {
    let mut stream =
        std::net::TcpStream::connect(format!("127.0.0.1:{}", port_of(sandbox, "redis"))).unwrap();
    let auth = format!("*2\r\n$4\r\nAUTH\r\n${}\r\n{password}\r\n", password.len());
    stream.write_all(format!("{auth}PING\r\nQUIT\r\n").as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// What is for a provider that no test has is not said to validate.
#[test]
fn the_catalogue_claims_validation_only_where_there_is_a_provider_to_ask() {
    let catalog = Catalog::built_in();
    let unasked = |kind: &&str| {
        let component = catalog.component(kind).unwrap();
        component.cloud.providers.keys().any(|provider| provider != "hcloud")
    };
    let only_compiles = |kind: &&str| catalog.component(kind).unwrap().proof == Proof::Compiles;
    let kinds = || catalog.kinds();
    assert_eq!(
        kinds().filter(only_compiles).collect::<Vec<_>>(),
        kinds().filter(unasked).collect::<Vec<_>>()
    );
}

/// The catalogue may say `proof: runs` of exactly the kinds that the test above has run.
#[test]
fn the_catalogue_claims_no_more_than_was_run() {
    let catalog = Catalog::built_in();
    let claimed: Vec<&str> =
        catalog.kinds().filter(|kind| catalog.component(kind).unwrap().proof == Proof::Runs).collect();
    assert_eq!(claimed, RUN.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>());
}
