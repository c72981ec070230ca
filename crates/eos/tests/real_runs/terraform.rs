//! The same with terraform in tofu's place.

use std::process::Command;

use crate::lifecycle::{mode, set_mode};
use crate::scanner::Scanner;
use crate::shop::{Shop, ask_redis, has};

/// The folder terraform is in: `make test` gets it. Whoever runs this test alone may have none.
fn terraform() -> Option<String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_eos")).args(["tools", "path", "terraform"]).output().unwrap();
    let path = String::from_utf8(output.stdout).unwrap();
    output.status.success().then(|| path.trim().rsplit_once('/').unwrap().0.to_owned())
}

#[test]
fn terraform_does_the_same() {
    let Some(folder) = terraform() else {
        eprintln!(
            "SKIPPED terraform_does_the_same: there is no terraform here (eos tools install terraform)"
        );
        return;
    };
    let mut shop = Shop::applied_by("terraform");
    shop.variables.push(("PATH".into(), format!("{folder}:/usr/bin:/bin")));
    let (port, created) = shop.create_redis("terra", "terra-password");
    has(&created.stdout, &format!("127.0.0.1:{port}"));
    has(&ask_redis(port, "terra-password", &["PING"]), "+PONG");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    has(&shop.run(&["doctor"]).stdout, "its state is not encrypted");
    assert_eq!(mode(&shop.sandbox.estate().join(".eos/state")), 0o700, "it is its owner's alone");

    shop.ok(&["update", "terra", "--max-memory", "32M", "--no-apply"]);
    shop.exits(2, &["plan", "--out", "kept.plan"]);
    // Terraform's own plan is a zip in clear: in what is kept it is encrypted, and what is shown is sealed with it.
    let kept = shop.sandbox.read("kept.plan");
    assert!(kept.contains("\"tfplan\""), "{kept}");
    let in_clear = Scanner::default().file(&shop.sandbox.estate().join("kept.plan"));
    assert!(in_clear.is_empty(), "{in_clear:?}");
    shop.sandbox.write("edited.plan", kept.replace("\"update\"", "\"create\""));
    has(&shop.exits(4, &["apply", "edited.plan", "--yes"]).stderr, "E0907");
    has(&shop.ok(&["apply", "kept.plan", "--yes"]).stdout, "~ change  terra");
    has(&ask_redis(port, "terra-password", &["CONFIG GET maxmemory"]), &(32 << 20).to_string());
    assert_eq!(shop.versions("production-terra"), 2);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");

    let data = shop.data_folder("terra");
    let before = mode(&data);
    set_mode(&data, 0o700);
    assert!(
        shop.nomad_says(&["job", "scale", "-detach", "production-terra", "server", "0"]).status.success()
    );
    let found = shop.exits(2, &["drift"]).stdout;
    has(&found, "eos_nomad_job.job");
    has(&found, "eos_salt_state.volumes");
    shop.ok(&["drift", "revert", "--yes"]);
    assert_eq!((mode(&data), &shop.job("production-terra")["TaskGroups"][0]["Count"]), (before, &1.into()));
    has(&shop.ok(&["drift"]).stdout, "Nothing in production differs");

    let listed = shop.ok(&["tofu", "terra", "--", "version"]).stdout;
    has(&listed, "Terraform v1.");
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of("production-terra", port);
    assert!(data.is_dir(), "its data is kept");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    let kept = shop.ok(&["status"]).stdout.replace("\n  ", " ");
    has(&kept, &format!("Kept: eos_salt_state.volumes of terra (database): {} on local", data.display()));
    has(&shop.ok(&["purge", "terra", "--yes"]).stdout, "1 kept object is destroyed for good");
    assert!(!data.exists(), "and gone it is");
    assert!(!shop.ok(&["status"]).stdout.contains("Kept:"));
    let states = shop.sandbox.files(".eos/state/tofu");
    for unit in states.iter().filter(|path| path.ends_with(".tfstate")) {
        let state = shop.sandbox.read(unit);
        assert!(!state.contains("\"mode\": \"managed\""), "{unit} has something still: {state}");
    }
}
