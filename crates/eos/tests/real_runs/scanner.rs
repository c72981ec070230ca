//! Looks for planted secrets: in files, in every object of git, in texts, and in what processes show while they live.
//!
//! A secret is looked for as it is, in hex and in base64 (at each of its three offsets). What is compressed without being
//! encrypted cannot be looked into and is itself a finding.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::processes::{self, Process};

/// Files above this are programs.
const LARGEST: u64 = 8 << 20;

/// How a string begins that is something compressed in base64.
const ZIP: &str = "\"UEsDB";
const GZIP: &str = "\"H4sI";

#[derive(Clone, Default)]
pub struct Scanner {
    /// What is meant, and a form of it.
    forms: Vec<(String, String)>,
}

impl Scanner {
    pub fn add(&mut self, what: &str, secret: &str) {
        assert!(secret.len() >= 12, "too short to be told from chance");
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut forms = vec![secret.to_owned(), hex];
        for offset in 0..3 {
            let encoded = base64(format!("{}{secret}", &"   "[..offset]).as_bytes());
            // The letters at the edges depend on what is beside the secret.
            forms.push(encoded[if offset == 0 { 0 } else { 4 }..encoded.len() - 4].to_owned());
        }
        self.forms.extend(forms.into_iter().map(|form| (what.to_owned(), form)));
    }

    /// The secrets that a text has.
    pub fn text(&self, place: &str, text: &str) -> Vec<String> {
        let found = self.forms.iter().filter(|(_, form)| text.contains(form.as_str()));
        found.map(|(what, _)| format!("{what} in {place}")).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Every file below a folder, links left alone.
    pub fn files(&self, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, Ok(about)) = (entry.path(), entry.path().symlink_metadata()) else { continue };
                if about.is_dir() {
                    folders.push(path);
                } else if about.is_file() && about.len() <= LARGEST {
                    found.extend(self.file(&path));
                }
            }
        }
        found
    }

    pub fn file(&self, path: &Path) -> Vec<String> {
        let place = path.display().to_string();
        let bytes = std::fs::read(path).unwrap_or_default();
        let mut found = self.text(&place, &String::from_utf8_lossy(&bytes));
        if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(&[0x1f, 0x8b]) {
            found.push(format!("something compressed in {place}"));
        }
        // As a kept plan has those of tofu: a string of base64.
        if [ZIP, GZIP].iter().any(|begin| bytes.windows(begin.len()).any(|part| part == begin.as_bytes())) {
            found.push(format!("something compressed in a string of {place}"));
        }
        found
    }

    /// Every object of a repository, also those that nothing refers to, inflated by git itself.
    pub fn objects(&self, estate: &Path) -> Vec<String> {
        let mut git = Command::new("git");
        git.args(["cat-file", "--batch-all-objects", "--batch"]).current_dir(estate);
        let output = git.env("HOME", estate).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty());
        self.text("an object of git", &String::from_utf8_lossy(&output.stdout))
    }

    /// Looks at all processes and at the files below a folder, over and over, until it is told to end.
    pub fn watch(&self, folder: &Path, allowed: impl Fn(&Process) -> bool + Send + 'static) -> Watch {
        let (scanner, folder) = (self.clone(), folder.to_owned());
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut found = BTreeSet::new();
            let mut looks = 0;
            while !ends.load(Ordering::Relaxed) {
                for process in processes::all() {
                    found.extend(scanner.process(&process, &allowed));
                }
                if looks % 20 == 0 {
                    found.extend(scanner.files(&folder));
                }
                looks += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            (found, looks)
        });
        Watch { over, thread: Some(thread) }
    }

    fn process(&self, process: &Process, allowed: &impl Fn(&Process) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        for (part, text) in [("the words", &process.command), ("the environment", &process.environment)] {
            for what in self.text(&format!("{part} of {}", process.command), text) {
                if !allowed(process) {
                    found.push(format!("{what} (process {})", process.program.display()));
                }
            }
        }
        found
    }
}

pub struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<(BTreeSet<String>, usize)>>,
}

impl Watch {
    /// What was seen, and how often it was looked.
    pub fn end(mut self) -> (BTreeSet<String>, usize) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number =
            chunk.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { letter as char } else { '=' });
        }
    }
    text
}

/// The scanner itself: what is planted is found, wherever it is planted.
#[test]
fn a_planted_secret_is_found_everywhere() {
    const SECRET: &str = "planted-by-hand-0815";
    let mut scanner = Scanner::default();
    scanner.add("it", SECRET);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    assert_eq!(scanner.files(folder.path()), [""; 0]);
    std::fs::create_dir_all(path("a/.b")).unwrap();
    for (number, text) in [
        format!("x{SECRET}y"),
        base64(SECRET.as_bytes()),
        base64(format!("u:{SECRET}").as_bytes()),
        base64(format!("u{SECRET}u").as_bytes()),
        SECRET.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ]
    .iter()
    .enumerate()
    {
        std::fs::write(path("a/.b/c"), text).unwrap();
        assert_eq!(scanner.files(folder.path()).len(), 1, "form {number}: {text}");
    }
    std::fs::write(path("a/.b/c"), b"PK\x03\x04...").unwrap();
    has_one(&scanner.files(folder.path()), "something compressed");
    std::fs::write(path("a/.b/c"), format!("{{\"tfplan\": \"{}\"}}", base64(b"PK\x03\x04..."))).unwrap();
    has_one(&scanner.files(folder.path()), "something compressed in a string");
    std::fs::write(path("a/.b/c"), SECRET).unwrap();
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    git(&["hash-object", "-w", "a/.b/c"]);
    has_one(&scanner.objects(folder.path()), "an object of git");
    std::fs::remove_dir_all(path("a")).unwrap();
    for (place, plant) in [("the words", true), ("the environment", false)] {
        let watch = scanner.watch(folder.path(), |_| false);
        let mut shell = Command::new("sh");
        // A word that the script does not use.
        let shell = if plant {
            shell.args(["-c", "sleep 1; :", SECRET])
        } else {
            shell.args(["-c", "sleep 1; :"]).env("X", SECRET)
        };
        assert!(shell.status().unwrap().success());
        let (found, looks) = watch.end();
        assert!(
            looks > 1 && found.iter().any(|one| one.contains(place)),
            "{place}: {found:?} in {looks} looks"
        );
    }
}

#[track_caller]
fn has_one(found: &[String], what: &str) {
    assert!(found.len() == 1 && found[0].contains(what), "{found:?}");
}
