//! A cloud's token where a unit needs it: that unit's tofu and its provider have it, and nobody else.
//!
//! The provider is Hetzner's own; the cloud is a few lines here, since the real one is far away.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use crate::lifecycle::NOTE;
use crate::processes::Process;
use crate::scanner::Scanner;
use crate::secrets_stay::{given_to_eos, said};
use crate::shop::{Shop, has};
use crate::support::tool;

/// As long as the cloud's own are.
const TOKEN: &str = "planted-cloud-token-1c94d3-that-a-provider-needs-and-nobody-else";
/// What the estate says that the provider reads as well.
const MARK: &str = "planted-mark-77ab02-of-a-variable-that-the-estate-names";
const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKdGVzdGtleXRlc3RrZXl0ZXN0a2V5dGVzdGtleXRl kim";

const DOOR: &str = r#"#!yaml
format: 1
kind: door
summary: A key that servers at the cloud accept
proof: validates
settings:
  label: {type: string, default: front, help: What it is for}
  key: {type: string, default: none, fixed: true, help: The public key}
cloud:
  providers:
    hcloud: {source: hetznercloud/hcloud, version: "~> 1.45"}
  resources:
    hcloud_ssh_key:
      main:
        name: "@{setting.label}"
        public_key: "@{setting.key}"
"#;

/// What the cloud has: one key, or none.
#[derive(Default)]
struct Cloud {
    key: Json,
    calls: usize,
    strangers: usize,
}

fn cloud() -> (String, Arc<Mutex<Cloud>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let cloud = Arc::new(Mutex::new(Cloud::default()));
    let theirs = Arc::clone(&cloud);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &mut theirs.lock().unwrap());
        }
    });
    (address, cloud)
}

/// One request; the connection is closed after it.
fn answer(stream: TcpStream, cloud: &mut Cloud) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let all = lines.iter().filter_map(|line| line.split_once(": "));
        all.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let mut body = vec![0; header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body: Json = serde_json::from_slice(&body).unwrap_or_default();
    cloud.calls += 1;
    if header("authorization").as_deref() != Some(&format!("Bearer {TOKEN}")) {
        cloud.strangers += 1;
    }
    let status = match (lines.first()?.split(' ').next()?, cloud.key.is_null()) {
        ("POST", _) => {
            cloud.key = json!({"id": 7, "fingerprint": "b7:2f", "created": "2026-11-16T10:00:00+00:00", "labels": {},
                "name": body["name"], "public_key": body["public_key"]});
            "201 Created"
        }
        (_, true) => "404 Not Found",
        ("PUT", _) => {
            cloud.key["name"] = body["name"].clone();
            "200 OK"
        }
        ("DELETE", _) => {
            cloud.key = Json::Null;
            "204 No Content"
        }
        _ => "200 OK",
    };
    let said = match status {
        "404 Not Found" => {
            json!({"error": {"code": "not_found", "message": "there is no such key"}}).to_string()
        }
        "204 No Content" => String::new(),
        _ => json!({"ssh_key": cloud.key}).to_string(),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        said.len()
    );
    let mut stream = stream;
    stream.write_all((head + &said).as_bytes()).ok()
}

#[test]
fn a_clouds_token_is_with_the_unit_that_needs_it_alone() {
    tool("terraform-provider-hcloud");
    let mut shop = Shop::new();
    let (address, cloud) = cloud();
    let temporary = shop.sandbox.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    for (name, value) in [
        ("HCLOUD_TOKEN", TOKEN),
        ("HCLOUD_ENDPOINT", &address),
        ("DOOR_MARK", MARK),
        ("TMPDIR", temporary.to_str().unwrap()),
    ] {
        shop.variables.push((name.into(), value.into()));
    }
    shop.sandbox.write("catalog/door/component.yaml", DOOR);
    shop.sandbox.write("catalog/note/component.yaml", NOTE);
    let settings = shop.sandbox.read("eos.toml");
    let named = "[credentials]\n\"registry.opentofu.org/hetznercloud/hcloud\" = [\"DOOR_MARK\"]";
    shop.sandbox.write("eos.toml", format!("{settings}\n{named}\n"));
    shop.sandbox.commit_by_hand();
    let mut scanner = Scanner::default();
    scanner.add("the cloud's token", TOKEN);
    scanner.add("what the estate names", MARK);
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = Arc::clone(&seen);
    let watch = scanner.watch(shop.sandbox.path(), move |process| {
        let needs_it = works_for_the_door(process);
        if needs_it && process.environment.contains(MARK) {
            theirs.lock().unwrap().insert(process.program.file_name().unwrap_or_default().to_owned());
        }
        needs_it || given_to_eos(process)
    });

    let note = shop.sandbox.path().join("note");
    let mut outputs = vec![shop.ok(&["create", "note", "--path", note.to_str().unwrap(), "--yes"])];
    outputs.push(shop.ok(&["create", "door", "--key", KEY, "--yes"]));
    assert_eq!(cloud.lock().unwrap().key["name"], "front");
    outputs.push(shop.ok(&["update", "door", "--label", "back", "--yes"]));
    assert_eq!(cloud.lock().unwrap().key["name"], "back");
    cloud.lock().unwrap().key["name"] = "by hand".into();
    std::fs::write(&note, "closed\n").unwrap();
    outputs.push(shop.exits(2, &["drift"]));
    has(&outputs[3].stdout, "hcloud_ssh_key.main");
    outputs.push(shop.ok(&["drift", "revert", "--yes"]));
    assert_eq!(cloud.lock().unwrap().key["name"], "back");
    outputs.push(shop.ok(&["plan", "--json"]));
    // What is gone from the cloud is made again.
    cloud.lock().unwrap().key = Json::Null;
    outputs.push(shop.ok(&["apply", "--yes"]));
    outputs.push(shop.ok(&["destroy", "production", "--yes"]));
    assert_eq!(cloud.lock().unwrap().key, Json::Null);

    let mut found: BTreeSet<String> = BTreeSet::new();
    for run in &outputs {
        found.extend(scanner.text("what eos said", &said(run)));
    }
    let (watched, looks) = watch.end();
    assert!(looks > 20, "{looks} looks");
    found.extend(watched);
    found.extend(scanner.files(shop.sandbox.path()));
    found.extend(scanner.objects(&shop.sandbox.estate()));
    assert!(found.is_empty(), "{found:#?}");
    let seen = seen.lock().unwrap();
    assert!(
        seen.iter().any(|program| program.to_string_lossy().contains("hcloud")),
        "the provider was given the token, and seen with it: {seen:?}"
    );
    let cloud = cloud.lock().unwrap();
    assert!(
        cloud.calls > 5 && cloud.strangers == 0,
        "{} calls, {} without the token",
        cloud.calls,
        cloud.strangers
    );
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The tofu of the unit, and what it starts: its provider, and eos for the state's key. All have the unit's own folder in
/// their environment, and the token there and not among their words.
fn works_for_the_door(process: &Process) -> bool {
    let name = process.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let data =
        process.environment.lines().find_map(|line| line.strip_prefix("TF_DATA_DIR=")).unwrap_or_default();
    // The shell in which eos starts it, for as long as it waits to be replaced.
    let becoming_tofu =
        process.command.starts_with("/bin/sh -c read -r go") && process.command.contains("/tofu ");
    let for_the_key = name == "eos" && process.command.contains("__state-key");
    (name == "tofu" || becoming_tofu || for_the_key || name.starts_with("terraform-provider-hcloud"))
        && data.split('/').any(|part| part == "door")
        && !process.command.contains(TOKEN)
}
