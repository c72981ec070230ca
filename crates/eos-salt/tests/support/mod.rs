//! Real Salt, and a place of its own for each test.
#![allow(dead_code, clippy::unwrap_used)]

pub mod master;

use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use eos_salt::{
    Installation, Masterless, MasterlessSettings, Pillar, Report, RunsStates as _, SaltError, StateRun,
};
use serde_json::Value as Json;

pub const SEARCH_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Salt as `make test` installs it; without it the test is skipped where people see it.
pub fn salt(test: &str) -> Option<Installation> {
    test_tools::tool("salt", test).map(|salt| Installation::at(salt.as_std_path()).unwrap())
}

/// A folder with an estate, private folders and a place for files that states make.
pub struct Place {
    folder: tempfile::TempDir,
    pub installation: Installation,
}

impl Place {
    pub fn new(test: &str) -> Option<Place> {
        let installation = salt(test)?;
        let folder = tempfile::tempdir().unwrap();
        for name in ["estate/pillar", "made", "temp"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Some(Place { folder, installation })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn made(&self, name: &str) -> PathBuf {
        self.path().join("made").join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.made(name)).unwrap()
    }

    pub fn estate(&self, name: &str, content: &str) {
        let path = self.path().join("estate").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn settings(&self) -> MasterlessSettings {
        MasterlessSettings {
            installation: self.installation.clone(),
            estate: Some(Utf8PathBuf::from_path_buf(self.path().join("estate")).unwrap()),
            temp: self.path().join("temp"),
            locks: self.path().join("locks"),
            socket: None,
            keep_warm: true,
            search_path: SEARCH_PATH.to_owned(),
            module_dirs: Vec::new(),
        }
    }

    pub fn warm(&self) -> Masterless {
        Masterless::new(self.settings())
    }

    pub fn cold(&self) -> Masterless {
        Masterless::new(MasterlessSettings { keep_warm: false, ..self.settings() })
    }

    /// Private folders that are still there.
    pub fn private_folders(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.path().join("temp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// A state that makes a file.
    pub fn file(&self, id: &str, content: &str) -> String {
        format!(
            "{id}:\n  file.managed:\n    - name: {}\n    - contents: '{content}'\n",
            self.made(id).display()
        )
    }
}

pub fn run(salt: &Masterless, sls: &str, test: bool) -> Result<Report, SaltError> {
    run_with(salt, sls, &Pillar::default(), test)
}

pub fn run_with(salt: &Masterless, sls: &str, pillar: &Pillar, test: bool) -> Result<Report, SaltError> {
    let run = StateRun { target: "local", environment: Some("production"), sls, pillar, test };
    salt.run(&run, &|| false)
}

/// A pillar whose every `secret:` text becomes what follows it, hidden.
pub fn secret_pillar(value: Json) -> Pillar {
    let mut pillar = Pillar::of(value).unwrap();
    pillar.resolve(&mut |text| Ok::<_, ()>(text.strip_prefix("secret:").map(str::to_owned))).unwrap();
    pillar
}
