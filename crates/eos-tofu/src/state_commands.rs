//! Commands that change a state without changing the world.

use camino::Utf8Path;
use zeroize::Zeroizing;

use crate::apply::PUSHED;
use crate::files::private_folder;
use crate::{Session, TofuError, UnsavedState};

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

    /// Hands the backend the state that it did not take before. False when there is none that is whole. The file is removed
    /// only once the backend has it.
    pub fn push_unsaved_state(&self) -> Result<bool, TofuError> {
        let unsaved = self.folder.unsaved_state().filter(|unsaved| unsaved.is_whole);
        let Some(UnsavedState { file, .. }) = unsaved else { return Ok(false) };
        let pushed = self.folder.own_data().join(PUSHED);
        // Cut off right after it was handed over: the backend would refuse it now.
        if !pushed.exists() {
            self.push(&file)?;
            std::fs::write(&pushed, "").map_err(TofuError::io(format!("write {pushed}")))?;
        }
        std::fs::remove_file(&file).map_err(TofuError::io(format!("remove {file}")))?;
        Ok(true)
    }

    fn push(&self, file: &Utf8Path) -> Result<(), TofuError> {
        let refused = |error: TofuError| match error {
            TofuError::Failed { failure } => TofuError::StateRefused { reason: failure.to_string() },
            other => other,
        };
        let state = self.readable(file).map_err(refused)?;
        // Tofu compares histories; the first state of a unit has none, and would replace any other.
        if lineage(&state).is_empty() && !self.state()?.is_empty() {
            let reason = "it is the first of its unit, and the backend has one by now".to_owned();
            return Err(TofuError::StateRefused { reason });
        }
        let push = self.command(&words(&["state", "push", "-no-color", "-"]));
        self.exchange(push, "state push", &state).map_err(refused)?;
        Ok(())
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

fn lineage(state: &[u8]) -> String {
    #[derive(Default, serde::Deserialize)]
    struct Lineage {
        #[serde(default)]
        lineage: String,
    }
    serde_json::from_slice::<Lineage>(state).unwrap_or_default().lineage
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
