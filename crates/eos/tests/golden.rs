//! Golden cases: command lines in, the pillar and the build they give out. One folder a case under `tests/golden/`.
//!
//! `commands` has one eos command a line: `#` starts a comment, `!3 ` in front expects that exit code, ` < text` behind
//! gives it that text on stdin. `estate/` (optional) is laid over a new estate and committed by hand before. `units`
//! (optional) names the units the case is about; without it they are those that the last command changed.
//! With a file `applied` the case is about an estate that was applied, by another clone: what was made keeps its data.
//! `expected.txt` is what came out; `UPDATE_GOLDEN=1` writes it, and a person reads the difference before committing.
//!
//! Two things are left out on purpose: `provenance.json`, which is as long as all the rest, but where a case has a file
//! `with-provenance`; and the digests in manifests, which would change every case for a comment in a catalogue file.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use similar::TextDiff;
use support::{Run, Sandbox};

/// The commands that eos was first described by, as far as compiling covers them.
const SEED_COMMANDS: &[&str] = &[
    "create grafana --admin-password - --port 3000",
    "create nextcloud --sso --distributed-storage",
    "create authentik --frontend-for mailcow",
    "create user john.doe",
    "create cephfs --nodes node1,node2,node3",
    "resize lvm database_volume +50G",
    "convert filesystem /data btrfs --compression zstd",
    "expand storage --auto",
    "update wazuh-agents",
];

/// Declared before a case's own commands, unless they declare hosts themselves.
const HOST: &[&str] = &["create", "host", "local", "--nomad-node", "n1"];

type Files = BTreeMap<String, String>;

struct Line {
    expected: i32,
    words: Vec<String>,
    stdin: Option<String>,
    text: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn cases() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn lines(case: &Path) -> Vec<Line> {
    let text =
        std::fs::read_to_string(case.join("commands")).unwrap_or_else(|e| panic!("{}: {e}", case.display()));
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(line).collect()
}

fn line(text: &str) -> Line {
    let (expected, rest) = match text.strip_prefix('!').and_then(|rest| rest.split_once(' ')) {
        Some((code, rest)) => (code.parse().unwrap(), rest),
        None => (0, text),
    };
    let (rest, stdin) = match rest.split_once(" < ") {
        Some((command, stdin)) => (command, Some(stdin.to_owned())),
        None => (rest, None),
    };
    Line { expected, words: words(rest), stdin, text: text.to_owned() }
}

/// Words apart by blanks; single quotes keep blanks together.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, part) in text.split('\'').enumerate() {
        if at % 2 == 1 {
            found.push(part.to_owned());
        } else {
            found.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    found
}

fn read(sandbox: &Sandbox, folder: &str) -> Files {
    sandbox.files(folder).into_iter().map(|path| (path.clone(), sandbox.read(&path))).collect()
}

fn run(sandbox: &Sandbox, line: &Line) -> Result<(), String> {
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    let mut command = sandbox.command(&words);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    if let (Some(text), Some(mut stdin)) = (&line.stdin, child.stdin.take()) {
        stdin.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    }
    let run = Run::from(child.wait_with_output().map_err(|e| e.to_string())?);
    if run.code == line.expected {
        return Ok(());
    }
    Err(format!(
        "eos {}\nended with {}, not {}\n{}{}",
        line.text, run.code, line.expected, run.stdout, run.stderr
    ))
}

/// Runs a case and gives what came out.
fn outcome(case: &Path) -> Result<String, String> {
    let lines = lines(case);
    let sandbox = Sandbox::new();
    sandbox.ok(&["init", "shop", "--executor", "tofu"]);
    let mut known = read(&sandbox, "pillar");
    let by_hand = lay_over(&sandbox, &case.join("estate"));
    known.extend(by_hand);
    if case.join("applied").exists() {
        sandbox.applied_elsewhere();
    }
    if !lines.iter().any(|line| line.words.starts_with(&["create".to_owned(), "host".to_owned()])) {
        sandbox.ok(HOST);
        known.insert("pillar/hosts/local.sls".to_owned(), sandbox.read("pillar/hosts/local.sls"));
    }
    let mut before = Files::new();
    for (at, line) in lines.iter().enumerate() {
        if at + 1 == lines.len() {
            before = read(&sandbox, "build");
        }
        run(&sandbox, line)?;
    }
    for secret in lines.iter().filter_map(|line| line.stdin.as_deref()) {
        not_in_clear(&sandbox, secret)?;
    }
    let after = read(&sandbox, "build");
    let units = std::fs::read_to_string(case.join("units"))
        .map(|text| text.lines().map(str::to_owned).collect())
        .unwrap_or_else(|_| changed(&before, &after));
    let mut out = String::new();
    for (path, content) in
        read(&sandbox, "pillar").iter().filter(|(path, content)| known.get(*path) != Some(content))
    {
        show(&mut out, path, content);
    }
    let provenance = case.join("with-provenance").exists();
    let about = |path: &str| {
        unit(path).is_some_and(|unit| units.contains(&unit))
            && (provenance || !path.ends_with("/provenance.json"))
    };
    for (path, content) in after.iter().filter(|(path, _)| about(path)) {
        show(&mut out, path, content);
    }
    for path in before.keys().filter(|path| about(path) && !after.contains_key(*path)) {
        let _ = writeln!(out, "==> {path} is gone");
    }
    Ok(out)
}

/// Lays a case's own files over the estate and commits them as a person does.
fn lay_over(sandbox: &Sandbox, from: &Path) -> Files {
    let mut laid = Files::new();
    let mut waiting = vec![from.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                waiting.push(entry.path());
                continue;
            }
            let content = std::fs::read_to_string(entry.path()).unwrap();
            let path = entry.path().strip_prefix(from).unwrap().to_string_lossy().into_owned();
            sandbox.write(&path, &content);
            laid.insert(path, content);
        }
    }
    if !laid.is_empty() {
        sandbox.commit_by_hand();
    }
    laid
}

/// What a file of the build belongs to: `production/grafana`, `production/orchestrate.sls`, `modules/bucket-….`
fn unit(path: &str) -> Option<String> {
    let mut parts = path.split('/').skip(1);
    Some(format!("{}/{}", parts.next()?, parts.next()?))
}

fn changed(before: &Files, after: &Files) -> BTreeSet<String> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .filter_map(|path| unit(path))
        .collect()
}

/// A file under its name; a template inside a job is written out, so that a person can read how it changed.
fn show(out: &mut String, path: &str, content: &str) {
    let _ = writeln!(out, "==> {path}");
    for line in content.lines() {
        if let Some((start, digest)) =
            line.split_once("\"sha256:").filter(|_| path.ends_with("/manifest.json"))
        {
            let _ = writeln!(
                out,
                "{start}\"sha256:…{}",
                digest.trim_start_matches(|c: char| c.is_ascii_hexdigit())
            );
        } else if let Some((start, text)) =
            line.split_once("\"EmbeddedTmpl\": ").filter(|_| path.ends_with(".nomad.json"))
        {
            let text: String = serde_json::from_str(text.trim_end_matches(',')).unwrap();
            let _ = writeln!(out, "{start}\"EmbeddedTmpl\":");
            text.split('\n').for_each(|line| {
                let _ = writeln!(out, "{start}| {line}");
            });
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
}

/// A secret given on stdin is in no file of the estate, git's objects aside (they are packed copies of these files).
fn not_in_clear(sandbox: &Sandbox, secret: &str) -> Result<(), String> {
    for path in sandbox.files("") {
        let bytes = std::fs::read(sandbox.estate().join(&path)).unwrap_or_default();
        if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
            return Err(format!("{path} holds the secret in clear"));
        }
    }
    Ok(())
}

/// Compares a case with what is expected, or rewrites that.
fn check(case: &Path) -> Result<(), String> {
    let got = outcome(case)?;
    if got.is_empty() {
        return Err("shows nothing: name its units".to_owned());
    }
    let file = case.join("expected.txt");
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    if got == expected {
        return Ok(());
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return std::fs::write(file, got).map_err(|e| e.to_string());
    }
    Err(TextDiff::from_lines(&expected, &got)
        .unified_diff()
        .context_radius(4)
        .header("expected.txt", "what came out")
        .to_string())
}

#[test]
fn every_case_gives_what_is_expected() {
    let waiting = Mutex::new(cases());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(8, |cores| 4 * usize::from(cores)) {
            scope.spawn(|| {
                while let Some(case) = { waiting.lock().unwrap().pop() } {
                    if let Err(problem) = check(&case) {
                        failed
                            .lock()
                            .unwrap()
                            .push(format!("── {}\n{problem}", case.file_name().unwrap().to_string_lossy()));
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort();
    assert!(
        failed.is_empty(),
        "{}\n{} cases differ; if that is meant: UPDATE_GOLDEN=1 cargo test -p eos --test golden",
        failed.join("\n"),
        failed.len()
    );
}

#[test]
fn the_seed_commands_are_among_the_cases() {
    let cases = cases();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    let said: BTreeSet<String> =
        cases.iter().flat_map(|case| lines(case)).map(|line| line.words.join(" ")).collect();
    let missing: Vec<&&str> = SEED_COMMANDS.iter().filter(|command| !said.contains(**command)).collect();
    assert!(missing.is_empty(), "no case says {missing:?}");
}
