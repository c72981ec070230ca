//! `docs/by-hand.md` as it is written: every command of the page, in order, in an estate that has what it speaks of.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use eos_catalog::Catalog;

use crate::running::{RUN, create, move_data_into};
use crate::support::{Sandbox, tool};
use test_tools::Nomad;

/// The lines of the page's code blocks.
fn commands() -> Vec<String> {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/by-hand.md")).unwrap();
    page.split("```")
        .skip(1)
        .step_by(2)
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.is_empty())
        .collect()
}

/// A folder with the programs under the names the page has for them; Salt keeps its own files in the sandbox.
fn programs(sandbox: &Sandbox) -> String {
    let folder = sandbox.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    for (name, path) in
        [("nomad", tool("nomad")), ("tofu", tool("tofu")), ("eos", env!("CARGO_BIN_EXE_eos").into())]
    {
        std::os::unix::fs::symlink(path, folder.join(name)).unwrap();
    }
    let config = sandbox.path().join("salt");
    std::fs::create_dir(&config).unwrap();
    std::fs::write(config.join("minion"), format!("root_dir: {}\nid: test\n", config.display())).unwrap();
    let script = format!(
        "#!/bin/sh\nexec '{}' --config-dir '{}' --retcode-passthrough \"$@\"\n",
        tool("salt").display(),
        config.display()
    );
    std::fs::write(folder.join("salt-call"), script).unwrap();
    std::fs::set_permissions(folder.join("salt-call"), std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn the_page_on_running_by_hand_runs() {
    let commands = commands();
    assert!(commands.len() >= 7, "{commands:?}");
    let sandbox = Sandbox::with_estate();
    std::fs::set_permissions(sandbox.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let catalog = Catalog::built_in();
    for row in RUN.iter().filter(|(kind, ..)| ["prometheus", "redis"].contains(kind)) {
        create(&sandbox, &catalog, row);
    }
    move_data_into(&sandbox);
    let path = programs(&sandbox);
    let nomad = Nomad::runner(&tool("nomad"), "n1");
    for line in commands {
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", &line]).current_dir(sandbox.estate()).env_clear();
        shell.env("PATH", &path).env("HOME", sandbox.path().join("home")).env("NOMAD_ADDR", nomad.address());
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}\n{said}");
    }
    for job in ["production-prometheus", "production-redis"] {
        nomad.until(&format!("{job} runs"), || nomad.get(&format!("/v1/job/{job}"))["Status"] == "running");
    }
}
