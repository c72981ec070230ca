//! The same with terraform in tofu's place.

use std::process::Command;

use crate::shop::{Shop, ask_redis, has};

/// The folder terraform is in. It is not free software any more and is gotten by nobody's `make`: it is here or not.
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
    let listed = shop.ok(&["tofu", "terra", "--", "version"]).stdout;
    has(&listed, "Terraform v1.");
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of("production-terra", port);
    assert!(shop.data_folder("terra").is_dir());
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
}
