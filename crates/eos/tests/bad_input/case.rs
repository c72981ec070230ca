//! What every refusal must keep: its exit code, an empty stdout, lines that fit, valid JSON, and the estate as it was.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Run, Sandbox};

/// Runs eos, expects it to refuse with `exit`, and compares what it said with the snapshot `name`.
pub fn refused(sandbox: &Sandbox, name: &str, exit: i32, args: &[&str]) {
    let mut with_json = args.to_vec();
    with_json.push("--json");
    refused_commands(sandbox, name, exit, sandbox.command(args), sandbox.command(&with_json));
}

/// The same for commands that are run in a way of their own; the second one has `--json`.
pub fn refused_commands(
    sandbox: &Sandbox,
    name: &str,
    exit: i32,
    mut plain: Command,
    mut with_json: Command,
) {
    let before = condition(sandbox);
    let run = Run::from(plain.output().unwrap());
    assert_eq!(run.code, exit, "{name}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
    assert_eq!(run.stdout, "", "stdout is for data");
    assert_same(&before, &condition(sandbox), name);
    let run_json = Run::from(with_json.output().unwrap());
    assert_eq!(run_json.code, exit, "{name} with --json\n{}{}", run_json.stdout, run_json.stderr);
    assert_same(&before, &condition(sandbox), name);
    assert_tells_the_same(&run, &run_json);
    check(sandbox, name, &run);
}

/// The document has the three fields, and the codes of the text in the same order.
fn assert_tells_the_same(plain: &Run, with_json: &Run) {
    let document: serde_json::Value =
        serde_json::from_str(&with_json.stdout).unwrap_or_else(|e| panic!("{e}: {}", with_json.stdout));
    assert_eq!(document["ok"], false);
    assert!(document.get("result").is_some());
    let codes: Vec<&str> =
        document["diagnostics"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap()).collect();
    let shown: Vec<&str> = plain
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("error[").or(line.strip_prefix("warning[")))
        .map(|rest| &rest[..5])
        .collect();
    assert_eq!(codes, shown, "{}", plain.stderr);
}

/// Compares what was said with the snapshot, after looking at it as a person would.
pub fn check(sandbox: &Sandbox, name: &str, run: &Run) {
    for line in run.stderr.lines().chain(run.stdout.lines()) {
        let shown = line.replace(sandbox.path().to_str().unwrap(), "/tmp");
        assert!(shown.chars().count() <= 100, "{name}: {} columns: {line}", shown.chars().count());
        assert!(
            !line.chars().any(char::is_control),
            "{name}: a control character reaches the terminal: {line:?}"
        );
    }
    for block in run.stderr.split("\n\n").filter(|block| block.starts_with("error[")) {
        assert!(block.contains("\n  try: "), "{name}: nothing is said about what to type next:\n{block}");
    }
    snapshot(sandbox, name, &format!("exit {}\n{}{}", run.code, run.stdout, run.stderr));
}

pub fn snapshot(sandbox: &Sandbox, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(&regex_of(sandbox.path().to_str().unwrap()), "[SANDBOX]");
    settings.add_filter(r"\b[0-9a-f]{40}\b", "[COMMIT]");
    settings.add_filter(r"\b[0-9a-f]{10}\b", "[SHORT]");
    settings.add_filter(r"age1[0-9a-z]{20,}", "age1[KEY]");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn regex_of(path: &str) -> String {
    path.replace('.', r"\.")
}

/// Everything a refused command must leave alone.
pub struct Condition {
    head: String,
    status: String,
    files: BTreeMap<PathBuf, (u32, u64, Vec<u8>)>,
}

pub fn condition(sandbox: &Sandbox) -> Condition {
    let mut files = BTreeMap::new();
    let root = if sandbox.estate().is_dir() { sandbox.estate() } else { sandbox.path().to_owned() };
    gather(&root, &root, &mut files);
    let git = |args: &[&str]| if root.join(".git").is_dir() { sandbox.git(args) } else { String::new() };
    // --no-optional-locks: looking must not refresh the index.
    Condition {
        head: git(&["rev-parse", "HEAD"]),
        status: git(&["--no-optional-locks", "status", "--porcelain", "--ignored"]),
        files,
    }
}

/// Files by path with mode, length and content; git's own folder, the cache and the lock file aside.
fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, (u32, u64, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let relative = path.strip_prefix(root).unwrap().to_owned();
        if [".git", ".eos/cache", ".eos/state/lock"].iter().any(|own| relative == Path::new(own)) {
            continue;
        }
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            gather(root, &path, files);
            continue;
        }
        let content = if metadata.is_symlink() {
            std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if metadata.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            // A pipe has no end that could be waited for.
            Vec::new()
        };
        files.insert(relative, (metadata.mode(), metadata.len(), content));
    }
}

pub fn assert_same(before: &Condition, after: &Condition, name: &str) {
    assert_eq!(before.head, after.head, "{name}: HEAD moved");
    assert_eq!(before.status, after.status, "{name}: git status differs");
    let paths = |condition: &Condition| condition.files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(before), paths(after), "{name}: files came or went");
    for (path, content) in &before.files {
        assert!(after.files[path] == *content, "{name}: {} was changed", path.display());
    }
}
