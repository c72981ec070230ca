//! Fixtures: a private cache and search path, small tools as shell scripts, a release server on loopback.
#![allow(dead_code)] // each test file uses its part

pub mod server;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use eos_deps::{Settings, Source, Step, Table, Tools};
use eos_model::{Code, Diagnostics};
use sha2::{Digest, Sha256};

/// Where the pinned table expects tofu's release.
pub const TOFU_RELEASE: &str = "/opentofu/opentofu/releases/download/v1.12.6/";

/// Tools by the built-in table without its sums of releases: what a test serves is not what these are of.
pub fn without_sums(settings: Settings) -> Tools {
    let text = include_str!("../../tools.toml").lines();
    let text: Vec<&str> = text
        .filter(|line| !line.starts_with("sha256.linux-") && !line.starts_with("sha256.darwin-"))
        .collect();
    Tools::with_table(settings, Table::parse(&text.join("\n")).unwrap())
}

/// What a test owns; deleted with it.
pub struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        let place = Place { directory: tempfile::tempdir().unwrap() };
        for name in ["cache", "bundle", "path"] {
            fs_err::create_dir(place.join(name)).unwrap();
        }
        place
    }

    pub fn join(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.directory.path()).unwrap().join(name)
    }

    pub fn settings(&self) -> Settings {
        Settings {
            cache: self.join("cache"),
            bundle: Some(self.join("bundle")),
            search_path: vec![self.join("path")],
            // Nothing answers there: a test that wants a release brings its own server.
            release_base: Some("http://127.0.0.1:1".to_owned()),
            offline: false,
        }
    }

    pub fn tools(&self) -> Tools {
        Tools::new(self.settings()).unwrap()
    }

    /// Puts a program on the search path.
    pub fn program(&self, name: &str, script: &str) -> Utf8PathBuf {
        let path = self.join("path").join(name);
        write_script(&path, script);
        path
    }

    /// Puts a tool into the bundle, compressed, and returns its sum.
    pub fn bundle(&self, file_name: &str, content: &str) -> String {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(content.as_bytes()).unwrap();
        let bytes = encoder.finish().unwrap();
        fs_err::write(self.join("bundle").join(file_name), &bytes).unwrap();
        sum(&bytes)
    }

    pub fn bundle_sums(&self, lines: &[(&str, &str)]) {
        let text: String = lines.iter().map(|(sum, name)| format!("{sum}  {name}\n")).collect();
        fs_err::write(self.join("bundle/SHA256SUMS"), text).unwrap();
    }

    /// What is in a tool's directory of the cache, but the lock.
    pub fn cached(&self, tool: &str) -> Vec<String> {
        let Ok(entries) = self.join("cache/tools").join(tool).read_dir_utf8() else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().to_owned());
        names.filter(|name| name != ".lock").collect()
    }
}

pub fn write_script(path: &Utf8Path, script: &str) {
    fs_err::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A tool that tells a version and does nothing else.
pub fn tofu_script(version: &str) -> String {
    format!("#!/bin/sh\necho OpenTofu v{version}\necho on linux_amd64\n")
}

pub fn tofu_bundle_file() -> String {
    format!("tofu-1.12.6-{}.xz", platform("-"))
}

pub fn tofu_zip_file() -> String {
    format!("tofu_1.12.6_{}.zip", platform("_"))
}

fn platform(separator: &str) -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("{os}{separator}{arch}")
}

/// A zip such as a release has: some text beside the executable.
pub fn zip_with(executable: &str, content: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    writer.start_file("README.md", options).unwrap();
    writer.write_all(b"read me").unwrap();
    writer.start_file(executable, options).unwrap();
    writer.write_all(content.as_bytes()).unwrap();
    writer.finish().unwrap().into_inner()
}

pub fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The codes of a failure, and the whole of it as text to look into.
pub fn codes(diagnostics: &Diagnostics) -> (Vec<Code>, String) {
    (diagnostics.0.iter().map(|diagnostic| diagnostic.code).collect(), format!("{diagnostics:#?}"))
}

/// The sources tried, in order, with an `!` where one failed.
pub fn tried(tools: &Tools, name: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let _ = tools.install(name, &mut |step: Step<'_>| match step {
        Step::Started { source, .. } => steps.push(source.to_string()),
        Step::Failed { source, .. } => steps.push(format!("!{source}")),
        _ => {}
    });
    steps
}

pub fn assert_runs(found: &eos_deps::Found, source: Source, output: &str) {
    assert_eq!(found.source, source);
    let ran = std::process::Command::new(&found.path).output().unwrap();
    assert!(String::from_utf8(ran.stdout).unwrap().contains(output));
}
