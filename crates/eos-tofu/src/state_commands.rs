//! Commands that change a state without changing the world.

use crate::{Session, TofuError};

impl Session {
    /// Drops addresses from the state without touching the objects.
    pub fn state_rm(&self, addresses: &[String]) -> Result<(), TofuError> {
        if addresses.is_empty() {
            return Ok(());
        }
        let mut arguments = words(&["state", "rm", "-no-color", "--"]);
        arguments.extend_from_slice(addresses);
        self.run("state-rm", &arguments)
    }

    pub fn untaint(&self, address: &str) -> Result<(), TofuError> {
        self.run("untaint", &words(&["untaint", "-no-color", "--", address]))
    }

    /// Takes an existing object into the state.
    pub fn import(&self, address: &str, id: &str) -> Result<(), TofuError> {
        self.run("import", &words(&["import", "-no-color", "-input=false", "--", address, id]))
    }

    /// Breaks a lock. Only for one that is known to be ours. The local backend cannot: its lock ends with its holder.
    pub fn force_unlock(&self, lock_id: &str) -> Result<(), TofuError> {
        self.run("force-unlock", &words(&["force-unlock", "-no-color", "-force", "--", lock_id]))
    }

    /// Hands the backend the state that it did not take before. False when there is none. The file is removed only once
    /// the backend has it.
    pub fn push_unsaved_state(&self) -> Result<bool, TofuError> {
        let Some(file) = self.folder.unsaved_state() else { return Ok(false) };
        self.run("state-push", &words(&["state", "push", "-no-color", "--", file.as_str()]))?;
        std::fs::remove_file(&file).map_err(TofuError::io(format!("remove {file}")))?;
        Ok(true)
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
