//! `make demo` from beginning to end, with the eos of these tests, in a folder of its own.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_demo_does_what_it_says_and_leaves_nothing_behind() {
    shows_it_all("tofu");
}

#[test]
#[ignore = "the demo once more: make soak"]
fn terraform_shows_the_same() {
    shows_it_all("terraform");
}

fn shows_it_all(executor: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let run = |folder: &Path| {
        let mut command = Command::new(root.join("demo/run"));
        command.env("EOS", env!("CARGO_BIN_EXE_eos")).env("DEMO_FOLDER", folder).env("EXECUTOR", executor);
        command.env_remove("NOMAD_ADDR").env_remove("EOS_APPLY").stdin(Stdio::null()).output().unwrap()
    };
    let output = run(folder.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "configuration for prometheus",
        "its job has 2 versions, so nothing was done twice.",
        "the password of redis is in 0 of their lines.",
        "Left behind: 0 jobs in Nomad, 0 files and folders of data, no process.",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(std::fs::read_to_string(folder.path().join("estate.svg")).unwrap().contains("prometheus"));
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(folder.path().to_str().unwrap()), "{mounts}");
    // What is in a folder that somebody names is theirs.
    let again = run(folder.path());
    assert_eq!(again.status.code(), Some(3));
    assert!(folder.path().join("shop/eos.toml").exists());
}
