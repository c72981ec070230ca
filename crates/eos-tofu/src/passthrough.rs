//! Any command of tofu, as a person types it.

use std::process::{ExitStatus, Output, Stdio};

use crate::{Session, TofuError};

impl Session {
    /// Runs any command of tofu with our own standard streams, in our own process group: the terminal's Ctrl-C reaches it,
    /// so the caller must outlive one itself.
    pub fn passthrough(&self, arguments: &[String]) -> Result<ExitStatus, TofuError> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::inherit()).env_remove("TF_INPUT").env_remove("TF_IN_AUTOMATION");
        command.status().map_err(|source| self.not_run(arguments, source))
    }

    /// The same, but what it prints is given back; warnings and errors are still ours to see.
    pub fn passthrough_kept(&self, arguments: &[String]) -> Result<Output, TofuError> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        command.output().map_err(|source| self.not_run(arguments, source))
    }

    fn not_run(&self, arguments: &[String], source: std::io::Error) -> TofuError {
        match source.kind() {
            std::io::ErrorKind::NotFound if self.folder.dir().is_dir() => {
                TofuError::NotInstalled { binary: self.tofu.binary().to_owned(), reason: source.to_string() }
            }
            _ => TofuError::Io { operation: format!("run {}", self.name_of(arguments)), source },
        }
    }
}
