//! What a shell completes.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{Run, Sandbox, try_program};

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
    assert_eq!(words(&["completion", ""]), ["bash", "fish", "zsh"]);
    assert!(words(&["-C", ""]).is_empty(), "folders are the shell's");
    assert!(words(&["delete", ""]).contains(&"grafana".to_owned()));
    assert_eq!(words(&["create", "cephfs", "--nodes", ""]), ["local"]);
    assert_eq!(words(&["create", "authentik", "--frontend-for", ""]), ["mailcow"]);
    assert_eq!(words(&["create", "load_balancer", "--ports", ""]), ["80,443", "443"]);
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
    assert_eq!(words(&["drift", "r"]), ["revert"]);
    assert_eq!(words(&["drift", "g"]), ["gitea", "grafana"]);
    assert_eq!(words(&["drift", "ignore", "p"]), ["postgres"]);
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

#[test]
fn a_value_behind_an_equals_sign_is_completed() {
    let sandbox = Sandbox::with_estate();
    let words = |before: &[&str]| -> Vec<String> {
        let run = sandbox.ok(&[&["__complete", "--"], before].concat());
        run.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(words(&["create", "redis", "--tier=d"]), ["--tier=dev"]);
    assert_eq!(words(&["list", "--env="]), ["--env=production", "--env=staging"]);
    // As bash splits it: what is answered takes the place of the last word alone.
    assert_eq!(words(&["create", "redis", "--tier", "=", "d"]), ["dev"]);
    assert_eq!(words(&["create", "redis", "--tier", "="]), ["dev", "staging", "production"]);
    assert_eq!(words(&["create", "redis", "--tier", "=", "dev", "--runt"]), ["--runtime"]);
    assert_eq!(words(&["create", "redis", "--tier", "=", "dev", "--runtime", "=", "h"]), ["host"]);
}

/// The scripts themselves, in the shells they are for: a line typed up to TAB, and what then stands there.
const TYPED: [(&str, &str); 3] = [
    ("eos create graf", "eos create grafana"),
    ("eos create redis --tier=d", "eos create redis --tier=dev"),
    ("eos create redis --tier=dev --runtime h", "eos create redis --tier=dev --runtime host"),
];

/// A command that finds this eos, and nothing of the machine's own settings.
fn shell(sandbox: &Sandbox, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_eos")).parent().unwrap();
    let mut command = Command::new(program);
    command.current_dir(sandbox.estate()).env_clear().env("TERM", "dumb");
    command.env("HOME", sandbox.path().join("home"));
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    command
}

/// A shell of Debian's, unpacked; a test without it says that it is skipped.
fn unpacked(test: &str, path: &str, packages: &[&str]) -> Option<PathBuf> {
    let found = try_program(path, packages);
    if let Err(why) = &found {
        test_tools::skipped(test, why);
    }
    found.ok()
}

#[test]
fn bash_completes_what_is_typed() {
    let sandbox = Sandbox::with_estate();
    let script = sandbox.ok(&["completion", "bash"]).stdout;
    // What readline makes of a line: a word for `=`, and the last word is what gets replaced.
    for (typed, wanted) in TYPED {
        let words = typed.replace('=', " = ");
        let (count, last) = (words.split(' ').count() - 1, words.rsplit(' ').next().unwrap());
        let ask =
            format!("COMP_WORDS=({words}); COMP_CWORD={count}; _eos; printf '%s\\n' \"${{COMPREPLY[@]}}\"");
        let said = shell(&sandbox, "bash").args(["--norc", "-c", &format!("{script}\n{ask}")]).output();
        let said = Run::from(said.unwrap());
        let completed: Vec<String> = said
            .stdout
            .lines()
            .map(|found| format!("{}{found}", typed.strip_suffix(last).unwrap()))
            .collect();
        assert_eq!(completed, [wanted], "{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn fish_completes_what_is_typed() {
    let test = "fish_completes_what_is_typed";
    let Some(fish) = unpacked(test, "usr/bin/fish", &["fish", "fish-common", "libpcre2-32-0"]) else {
        return;
    };
    let sandbox = Sandbox::with_estate();
    let script = sandbox.ok(&["completion", "fish"]).stdout;
    for (typed, wanted) in TYPED {
        let ask = format!("{script}\ncomplete -C '{typed}'");
        let said = Run::from(shell(&sandbox, &fish).args(["--no-config", "-c", &ask]).output().unwrap());
        let (before, _) = typed.rsplit_once(' ').unwrap();
        let completed: Vec<String> = said
            .stdout
            .lines()
            .map(|found| format!("{before} {}", found.split('\t').next().unwrap()))
            .collect();
        assert_eq!(completed, [wanted], "{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn zsh_completes_what_is_typed() {
    let test = "zsh_completes_what_is_typed";
    let Some(zsh) = unpacked(test, "bin/zsh", &["zsh", "zsh-common"]) else { return };
    let sandbox = Sandbox::with_estate();
    let (script, out) = (sandbox.path().join("eos.zsh"), sandbox.path().join("completed"));
    std::fs::write(&script, sandbox.ok(&["completion", "zsh"]).stdout).unwrap();
    let typing = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lifecycle/tab.zsh");
    let mut command = shell(&sandbox, "timeout");
    command.arg("60").arg(&zsh).arg("-f").arg(typing).arg(zsh.with_file_name("root")).args([&script, &out]);
    let said = Run::from(command.args(TYPED.map(|(typed, _)| typed)).output().unwrap());
    let completed = std::fs::read_to_string(&out).unwrap_or_default();
    // zsh puts a space behind a word that is complete.
    let completed: Vec<&str> = completed.lines().map(str::trim_end).collect();
    assert_eq!(completed, TYPED.map(|(_, wanted)| wanted), "{}{}", said.stdout, said.stderr);
}

#[test]
fn the_arguments_of_an_operation_are_completed() {
    let sandbox = Sandbox::with_estate();
    let words = |before: &[&str]| -> Vec<String> {
        let run = sandbox.ok(&[&["__complete", "--"], before].concat());
        run.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(words(&["convert", ""]), ["filesystem"]);
    assert_eq!(words(&["convert", "filesystem", ""]), ["/data"]);
    assert_eq!(words(&["convert", "filesystem", "/data", ""]), ["btrfs"]);
    assert_eq!(words(&["convert", "filesystem", "--host", "local", "/data", "b"]), ["btrfs"]);
    let packed = ["zstd", "lzo", "zlib", "none"];
    assert_eq!(words(&["convert", "filesystem", "/data", "btrfs", "--compression", ""]), packed);
    assert_eq!(words(&["convert", "filesystem", "--compression=l"]), ["--compression=lzo"]);
    let flags = words(&["expand", "storage", "--"]);
    for flag in ["--auto", "--path", "--by", "--host", "--dry-run", "--env"] {
        assert!(flags.contains(&flag.to_owned()), "{flag}: {flags:?}");
    }
    assert_eq!(words(&["resize", "lvm", "v", "+5G", "--gr"]), ["--group"]);
    assert_eq!(words(&["resize", "lvm", "v", "+5G", "--host", ""]), ["local"]);
    assert!(words(&["resize", "redis", ""]).is_empty());
}
