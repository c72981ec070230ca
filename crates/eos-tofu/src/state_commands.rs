//! Commands that change a state without changing the world.

use camino::Utf8Path;
use zeroize::Zeroizing;

use crate::files::private_folder;
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
        let state = self.readable(&file)?;
        self.exchange(self.command(&words(&["state", "push", "-no-color", "-"])), "state push", &state)?;
        std::fs::remove_file(&file).map_err(TofuError::io(format!("remove {file}")))?;
        Ok(true)
    }

    /// A state file in clear, in memory alone. Tofu leaves what it could not save encrypted and pushes only what is not:
    /// it is read here as the state of a folder of its own.
    fn readable(&self, file: &Utf8Path) -> Result<Zeroizing<Vec<u8>>, TofuError> {
        let apart = self.folder.own_data().join("unsaved");
        let failed = || TofuError::io(format!("read {file}"));
        private_folder(&apart)?;
        std::fs::copy(file, apart.join("terraform.tfstate")).map_err(failed())?;
        let mut pull = self.command(&words(&["state", "pull", "-no-color"]));
        pull.current_dir(&apart).env("TF_DATA_DIR", apart.join("data"));
        let state = self.exchange(pull, "state pull", b"")?;
        std::fs::remove_dir_all(&apart).map_err(failed())?;
        Ok(state)
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
