//! A secret is in clear in one place only: the output of the command that shows it.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use support::{Run, Sandbox};

/// Characters that JSON, YAML, URLs and shells each write in their own way.
const FROM_STDIN: &str = "st-din \"quoted\" 'x' \\ $HOME ö/+&=? {{ @{at} 7301";
const SET_LATER: &str = "set-later%41|#: [y] 8852";
const UPDATED: &str = "up-dated<&>~`!*() 9463";
const IN_ARGV: &str = "in-argv 'hunter' 5174 ü";

/// An estate with everything that was ever printed and the secrets that must not be found.
struct Planted {
    sandbox: Sandbox,
    /// Who printed → what.
    printed: Vec<(String, String)>,
    /// Value → the one command that may show it.
    secrets: BTreeMap<String, String>,
}

impl Planted {
    fn run(&mut self, args: &[&str], stdin: Option<&str>) -> Run {
        let mut command = self.sandbox.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that reads no stdin may have ended.
        let _ = child.stdin.take().unwrap().write_all(stdin.unwrap_or_default().as_bytes());
        let run = Run::from(child.wait_with_output().unwrap());
        // The command that is given a secret in argv is known by its other words.
        let told = args.join(" ").replace(IN_ARGV, "VALUE");
        self.printed.push((told, format!("{}\n{}", run.stdout, run.stderr)));
        run
    }

    fn ok(&mut self, args: &[&str], stdin: Option<&str>) -> Run {
        let run = self.run(args, stdin);
        assert_eq!(run.code, 0, "eos {args:?}: {}{}", run.stdout, run.stderr);
        run
    }

    fn given(&mut self, value: &str) {
        self.secrets.insert(value.to_owned(), String::new());
    }

    /// Runs a command that makes secrets up, and keeps them.
    fn made(&mut self, args: &[&str]) -> Vec<String> {
        let run = self.ok(args, None);
        let result = serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["result"].clone();
        let mut values: Vec<String> = result["secrets"]
            .as_object()
            .into_iter()
            .flat_map(|made| made.values())
            .map(|value| value.as_str().unwrap().to_owned())
            .collect();
        values.extend(result["value"].as_str().map(str::to_owned));
        assert!(!values.is_empty(), "eos {args:?} makes no secret: {result}");
        for value in &values {
            self.secrets.insert(value.clone(), args.join(" "));
        }
        values
    }

    /// Where a secret was printed or is kept, in any form.
    fn search(&self) -> Vec<String> {
        let forms: Vec<(&str, String)> = self
            .secrets
            .keys()
            .flat_map(|value| forms(value).into_iter().map(move |form| (value.as_str(), form)))
            .collect();
        let mut found = Vec::new();
        for (told, text) in &self.printed {
            found.extend(
                forms
                    .iter()
                    .filter(|(value, form)| self.secrets[*value] != *told && text.contains(form.as_str()))
                    .map(|(_, form)| format!("printed by eos {told}: {form}")),
            );
        }
        let mut places = kept(self.sandbox.path());
        places.push((".git inflated".to_owned(), inflated(&self.sandbox)));
        assert!(
            places.iter().any(|(place, _)| place.ends_with("admin_password.v1.age")),
            "the estate was searched"
        );
        for (place, text) in &places {
            found.extend(
                forms
                    .iter()
                    .filter(|(_, form)| text.contains(form.as_str()))
                    .map(|(_, form)| format!("{place}: {form}")),
            );
        }
        found
    }
}

/// A value as it is, and as programs write it inside other texts.
fn forms(value: &str) -> Vec<String> {
    let quoted = serde_json::to_string(value).unwrap();
    let percent = |plain: &str| -> String {
        value
            .bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() || plain.contains(byte as char) {
                    (byte as char).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .collect()
    };
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut all = vec![
        value.to_owned(),
        quoted.trim_matches('"').to_owned(),
        value.replace('\'', "''"),
        value.replace('\'', "'\\''"),
        percent("-_.~"),
        percent("-_.~/"),
        hex.to_uppercase(),
        hex,
    ];
    // Inside a longer text base64 has one of three looks; the first and last characters depend on the neighbours.
    for shift in 0..3 {
        let padded = [&vec![b'?'; shift][..], value.as_bytes()].concat();
        let coded = base64(&padded);
        all.push(coded[(shift * 8).div_ceil(6)..(padded.len() * 8 / 6)].to_owned());
    }
    all.sort();
    all.dedup();
    all
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    bits.chunks(6)
        .map(|six| {
            LETTERS[usize::from((0..6).fold(0, |sum, at| sum << 1 | six.get(at).copied().unwrap_or(0)))]
                as char
        })
        .collect()
}

/// Every file below a folder: the estate with its git folder, .eos and build, and the home with its cache.
fn kept(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(kept(&entry.path()));
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
            found.push((entry.path().display().to_string(), format!("{}\n{text}", entry.path().display())));
        }
    }
    found
}

fn inflated(sandbox: &Sandbox) -> String {
    let mut command = std::process::Command::new("git");
    let output = command
        .args(["cat-file", "--batch-all-objects", "--batch"])
        .current_dir(sandbox.estate())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.len() > 1_000);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn no_secret_is_in_clear_anywhere_but_where_it_is_shown() {
    let mut planted =
        Planted { sandbox: Sandbox::with_estate(), printed: Vec::new(), secrets: BTreeMap::new() };
    for value in [FROM_STDIN, SET_LATER, UPDATED, IN_ARGV] {
        planted.given(value);
    }
    planted.ok(&["create", "grafana", "--admin-password", "-"], Some(&format!("{FROM_STDIN}\n")));
    planted.ok(&["create", "grafana", "second", "--admin-password", "-", "--json"], Some(FROM_STDIN));
    let argv = planted.ok(&["create", "grafana", "third", "--admin-password", IN_ARGV], None);
    assert!(argv.stderr.contains("--admin-password was given on the command line"), "{}", argv.stderr);
    let repeated = format!("it is {IN_ARGV} for now");
    let inside = format!("--admin-password={IN_ARGV}");
    planted.ok(&["create", "grafana", "fourth", &inside, "--because", &repeated, "--json"], None);
    planted.made(&["create", "nextcloud", "--sso", "--json"]);
    planted.ok(
        &["secret", "set", "grafana/admin_password", "--because", "kim left"],
        Some(&format!("{SET_LATER}\n")),
    );
    planted.ok(&["secret", "set", "second/admin_password", "--json"], Some(SET_LATER));
    planted.made(&["secret", "rotate", "third/admin_password", "--json"]);
    planted.ok(&["update", "second", "--admin-password", "-", "--port", "3999"], Some(UPDATED));
    planted.ok(&["update", "third", "--admin-password", IN_ARGV, "--dry-run"], None);
    planted.ok(&["create", "grafana", "fifth", "--admin-password", "-", "--dry-run"], Some(FROM_STDIN));
    // Mistakes are told without repeating what came with them.
    for mistake in [
        &["create", "grafana", "sixth", "--admin-password", IN_ARGV, "--port", "none"][..],
        &["create", "grafana", "--admin-password", IN_ARGV],
        &["update", "nobody", "--admin-password", IN_ARGV],
        &["create", "grafana", "sixth", "--admin-password", IN_ARGV, "--no-such-flag"],
        &["create", "grafana", "sixth", "--admin-pasword", IN_ARGV],
    ] {
        assert_ne!(planted.run(mistake, None).code, 0, "{mistake:?}");
    }
    let looking: &[&[&str]] = &[
        &["list"],
        &["show", "grafana"],
        &["show", "nextcloud"],
        &["show", "second"],
        &["graph"],
        &["graph", "--format", "svg"],
        &["history"],
        &["history", "third"],
        &["why", "build/production/grafana/main.tf.json"],
        &["why", "build/production/nextcloud/main.tf.json"],
        &["compile"],
        &["compile", "--check"],
        &["secret", "list"],
        &["secret", "recipients"],
        &["doctor"],
        &["catalog", "show", "grafana"],
        &["update", "grafana", "--port", "3777", "--dry-run"],
        &["delete", "third", "--dry-run"],
        &["upgrade", "--dry-run"],
    ];
    for args in looking {
        planted.run(args, None);
        planted.run(&[args, &["--json"][..]].concat(), None);
    }
    planted.ok(&["delete", "third"], None);
    planted.ok(&["delete", "fourth", "--json"], None);
    planted.ok(&["history"], None);
    assert_eq!(planted.search(), Vec::<String>::new());

    // The search can find: what is asked for is shown, and a copy of it in the estate is seen.
    let shown = planted.sandbox.ok(&["secret", "show", "second/admin_password"]);
    assert_eq!(shown.stdout, format!("{UPDATED}\n"));
    let history = planted.sandbox.ok(&["history", "--json"]).stdout;
    assert!(history.contains("eos create grafana third --admin-password ***"), "{history}");
    assert!(
        history
            .contains("eos create grafana fourth --admin-password=*** --because 'it is *** for now' --json"),
        "{history}"
    );
    for (at, form) in forms(SET_LATER).into_iter().enumerate() {
        let copy = format!("build/copy{at}");
        planted.sandbox.write(&copy, format!("x{form}x"));
        assert_ne!(planted.search(), Vec::<String>::new(), "{form} is not found");
        std::fs::remove_file(planted.sandbox.estate().join(copy)).unwrap();
    }
}

/// What a process list shows of everybody, and the environment of one process.
fn processes(of: u32) -> Vec<(String, String)> {
    let folders = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let files = folders.chain([Path::new("/proc").join(of.to_string()).join("environ")]);
    files
        .filter_map(|file| {
            Some((
                file.display().to_string(),
                String::from_utf8_lossy(&std::fs::read(&file).ok()?).into_owned(),
            ))
        })
        .collect()
}

fn asleep(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('S')
}

#[test]
fn a_secret_from_stdin_is_in_no_process_list_and_holds_up_nobody() {
    let secret = format!("proc-{}-8841", std::process::id());
    let sandbox = Sandbox::with_estate();
    let mut child = sandbox
        .command(&["create", "grafana", "--admin-password", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !asleep(&child) {
        std::thread::yield_now();
    }
    // It waits for the secret without holding the estate.
    sandbox.ok(&["create", "redis"]);
    let mut samples = processes(child.id());
    assert!(
        samples.iter().any(|(_, text)| text.contains("--admin-password\0-")),
        "the waiting command is among them"
    );
    child.stdin.take().unwrap().write_all(secret.as_bytes()).unwrap();
    while child.try_wait().unwrap().is_none() {
        samples.extend(processes(child.id()));
    }
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let seen: Vec<&String> = samples
        .iter()
        .filter(|(_, text)| forms(&secret).iter().any(|form| text.contains(form.as_str())))
        .map(|(place, _)| place)
        .collect();
    assert_eq!(seen, Vec::<&String>::new());
    assert_eq!(sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout.trim_end(), secret);
}

#[test]
fn the_identity_is_its_owners_alone() {
    let sandbox = Sandbox::with_estate();
    let mode = |path: &str| {
        std::fs::metadata(sandbox.path().join("home").join(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(".config/eos/identity.txt"), 0o600);
    assert_eq!(mode(".config/eos"), 0o700);
    sandbox.ok(&["create", "grafana", "--json"]);
    let identity = std::fs::read_to_string(sandbox.path().join("home/.config/eos/identity.txt")).unwrap();
    let key = identity.lines().find(|line| line.starts_with("AGE-SECRET-KEY-")).unwrap();
    let places = kept(&sandbox.estate());
    assert!(places.iter().all(|(_, text)| !text.contains(key)), "the key is not in the estate");
    assert!(!inflated(&sandbox).contains(key));
    std::fs::set_permissions(
        sandbox.path().join("home/.config/eos/identity.txt"),
        std::fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    let refused = sandbox.run(&["secret", "show", "grafana/admin_password"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("chmod 600") && !refused.stderr.contains(key), "{}", refused.stderr);
}

#[test]
fn whoever_is_no_recipient_reads_nothing() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let other = Sandbox::new();
    other.ok(&["init", "shop"]);
    let stranger = other.path().join("home/.config/eos/identity.txt");
    let refused = Run::from(
        sandbox
            .command(&["secret", "show", "grafana/admin_password"])
            .env("EOS_IDENTITY", stranger)
            .output()
            .unwrap(),
    );
    assert_ne!(refused.code, 0);
    assert_eq!(refused.stdout, "");
    assert!(refused.stderr.contains("E0502"), "{}", refused.stderr);
}

/// `eos create grafana --admin-password -` at a terminal, with what is waited for and typed then.
fn at_a_terminal(sandbox: &Sandbox, answers: &[(&str, &str)]) -> serde_json::Value {
    let eos = sandbox.command(&["create", "grafana", "--admin-password", "-"]);
    let mut terminal = std::process::Command::new("python3");
    terminal.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/terminal.py"));
    terminal.arg(serde_json::to_string(answers).unwrap()).arg(eos.get_program()).args(eos.get_args());
    terminal.current_dir(eos.get_current_dir().unwrap()).env_clear();
    terminal.envs(eos.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = terminal.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["left"], serde_json::json!([]), "not everything was asked: {told:#}");
    assert_eq!(told["as_before"], true, "the terminal is not as it was: {told:#}");
    assert!(!told["shown"].as_str().unwrap().contains("hunter"), "what was typed is seen: {told:#}");
    told
}

#[test]
fn a_secret_typed_at_a_terminal_is_never_seen() {
    let sandbox = Sandbox::with_estate();
    let (first, again) = ("admin_password: ", "the same again: ");
    let told = at_a_terminal(&sandbox, &[(first, "hunter2\r"), (again, "hunter2\r")]);
    assert_eq!(told["code"], 0, "{told:#}");
    assert_eq!(sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout.trim_end(), "hunter2");
}

#[test]
fn a_prompt_that_is_left_or_answered_twice_otherwise_records_nothing() {
    let sandbox = Sandbox::with_estate();
    let (first, again) = ("admin_password: ", "the same again: ");
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let files = sandbox.files(".");
    for (answers, code, said) in [
        (&[(first, "hunter2\r"), (again, "hunter3\r")][..], 3, "the two are not the same"),
        (&[(first, "hunt\u{3}")], 1, "stopped by Ctrl-C"),
        (&[(first, "hunter2\r"), (again, "\u{3}")], 1, "stopped by Ctrl-C"),
    ] {
        let told = at_a_terminal(&sandbox, answers);
        assert_eq!(told["code"], code, "{told:#}");
        assert!(told["shown"].as_str().unwrap().contains(said), "{told:#}");
        assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
        assert_eq!(sandbox.files("."), files, "a file is left");
    }
}
