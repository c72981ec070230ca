//! A program that comes as a Debian package: its own service is kept off, but never one that somebody uses already.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value as Json;

use crate::support::{Sandbox, tool};

#[test]
fn a_service_that_runs_already_is_not_stopped() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["init", "shop"]);
    sandbox.ok(&["create", "host", "local"]);
    let created = sandbox.ok(&["create", "memcached", "--runtime", "host"]).stdout;
    assert!(created.contains("memcached: Debian's memcached will be installed on local"), "{created}");
    let free = preview(&sandbox, "exit 3");
    assert_eq!(free["memcached-package-free"]["result"], true, "{free}");
    assert!(free["memcached-package-mark"]["result"].is_null(), "it would be written: {free}");
    let used = preview(&sandbox, "exit 0");
    let refusal = &used["memcached-package-free"];
    assert_eq!(refusal["result"], false, "{used}");
    assert!(refusal["name"].as_str().unwrap().contains("memcached runs on this host already"), "{used}");
    for state in ["memcached-package", "memcached-package-service"] {
        assert_eq!(used[state]["result"], false, "{state} must not be reached: {used}");
    }
}

/// What Salt would do where `service … status` says this; by the ids of states.
fn preview(sandbox: &Sandbox, service: &str) -> Json {
    let folder = sandbox.path().join("salt");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("minion"), format!("root_dir: {}\nid: test\n", folder.display())).unwrap();
    let program = folder.join("service");
    std::fs::write(&program, format!("#!/bin/sh\n{service}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Marks of its own: the machine's may tell of a memcached that somebody had eos install.
    let states = folder.join("states");
    std::fs::create_dir_all(&states).unwrap();
    let marks = folder.join("marks");
    let text = sandbox.read("build/production/memcached/salt/host.sls");
    assert!(text.contains("/var/lib/eos/packages"), "{text}");
    std::fs::write(states.join("host.sls"), text.replace("/var/lib/eos/packages", marks.to_str().unwrap()))
        .unwrap();
    let output = Command::new(tool("salt"))
        .args(["--local", "--out=json", "state.apply", "host", "test=True"])
        .arg(format!("--config-dir={}", folder.display()))
        .arg(format!("--file-root={}", states.display()))
        .env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.display()))
        .output()
        .unwrap();
    let said: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let states = said["local"].as_object().unwrap_or_else(|| panic!("{said}"));
    states.values().map(|state| (state["__id__"].as_str().unwrap().to_owned(), state.clone())).collect()
}
