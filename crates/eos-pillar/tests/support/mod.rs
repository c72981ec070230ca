//! An estate in a temporary folder, and git itself as a witness.
#![allow(dead_code, clippy::unwrap_used)]

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostics, codes::Code};
use eos_pillar::{Change, Estate, EstateFile, LockFile, Trailers};

pub struct Place {
    _folder: tempfile::TempDir,
    pub root: Utf8PathBuf,
}

/// A file that every test may change.
pub const FILE: &str = "pillar/infrastructure/production/redis.sls";

pub fn trailers(subject: &str) -> Trailers {
    Trailers {
        subject: subject.to_owned(),
        command: format!("eos {subject}"),
        user: "kim".to_owned(),
        author: ("Kim".to_owned(), "kim@example.org".to_owned()),
        time: 1_790_000_000,
        reason: None,
    }
}

pub fn change(files: &[(&str, Option<&str>)]) -> Change {
    let mut change = Change::default();
    for (path, content) in files {
        match content {
            Some(content) => change.write(*path, *content),
            None => change.remove(*path),
        }
    }
    change
}

pub fn codes(found: &Diagnostics) -> Vec<Code> {
    found.0.iter().map(|diagnostic| diagnostic.code).collect()
}

impl Place {
    pub fn empty() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap().join("shop");
        fs_err::create_dir(&root).unwrap();
        Place { _folder: folder, root }
    }

    pub fn init(&self) -> Result<Estate, Diagnostics> {
        Estate::init(
            &self.root,
            &EstateFile::new("shop", "tofu"),
            &LockFile::new(1, Default::default()),
            Change::default(),
            &trailers("make the estate shop"),
        )
    }

    /// With an estate in which [`FILE`] says `old`.
    pub fn with_estate() -> Place {
        let place = Place::empty();
        place.init().unwrap();
        place.commit("create redis", &[(FILE, Some("old: 1\n"))]);
        place
    }

    /// Changes files as a command does.
    pub fn commit(&self, subject: &str, files: &[(&str, Option<&str>)]) -> Option<String> {
        Estate::open_for_change(&self.root).unwrap().commit(&change(files), &trailers(subject)).unwrap()
    }

    pub fn git_in(&self, folder: &Utf8Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=Lee", "-c", "user.email=lee@example.org"])
            .args(args)
            .current_dir(folder);
        let output = command.env("HOME", &self.root).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "git {args:?} complains");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root, args)
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs_err::read_to_string(self.root.join(path)).ok()
    }

    pub fn write(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    /// Nothing of a command is left, and git agrees with the files.
    pub fn is_tidy(&self) {
        assert_eq!(self.git(&["status", "--porcelain", "--ignored"]), "!! .eos/");
        let state: Vec<String> = self
            .root
            .join(".eos/state")
            .read_dir_utf8()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
        assert_eq!(state, ["lock"]);
        for lock in ["index.lock", "refs/heads/main.lock", "HEAD.lock", "eos-index", "eos-branch"] {
            assert!(!self.root.join(".git").join(lock).exists(), "{lock}");
        }
        self.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
    }
}
