//! What a shell completes.

use super::support::{Run, Sandbox};

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
    assert_eq!(words(&["create", "authentik", "--frontend-for", ""]), ["mailcow"]);
    assert_eq!(words(&["create", "load_balancer", "--ports", ""]), ["80,443"]);
    assert_eq!(words(&["create", "redis", "--tier", ""]), ["dev", "staging", "production"]);
    assert_eq!(words(&["create", "redis", "--runtime", "h"]), ["host"]);
    assert_eq!(words(&["graph", "--format", "s"]), ["svg"]);
    assert_eq!(words(&["create", "host", "--vol"]), ["--volume-group"]);
    assert_eq!(words(&["create", "redis", "--max"]), ["--max-memory"]);
    // A need that it can do without can be given up, one that it cannot do without is not offered.
    sandbox.ok(&["create", "gitea"]);
    assert_eq!(words(&["update", "gitea", "--unset", "disc"]), ["discovery"]);
    assert_eq!(words(&["update", "gitea", "--unset", "data"]), [""; 0]);
    assert!(words(&["apply", "--"]).contains(&"--on-failure".to_owned()));
    assert_eq!(words(&["tofu", ""]), ["gitea", "grafana", "postgres"]);
    sandbox.ok(&["create", "host", "web1", "--address", "10.0.0.6"]);
    assert_eq!(words(&["create", "cephfs", "--nodes", "local,"]), ["local,web1"]);
    assert_eq!(words(&["create", "cephfs", "--nodes", "web1,l"]), ["web1,local"]);
    sandbox.ok(&["create", "grafana", "second"]);
    assert_eq!(words(&["update", "grafana", "s"]), ["second"]);
    let flags = words(&["update", "grafana", ""]);
    assert!(flags.contains(&"second".to_owned()) && flags.contains(&"--port".to_owned()), "{flags:?}");
    assert!(!words(&["update", "grafana", "second", ""]).contains(&"second".to_owned()));
    assert_eq!(words(&["show", "grafana", ""]), ["grafana", "second"]);
    assert!(words(&["purge", ""]).is_empty());
    sandbox.applied_elsewhere();
    sandbox.ok(&["delete", "second"]);
    assert_eq!(words(&["purge", ""]), ["second"]);
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
