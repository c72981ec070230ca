//! A change that takes away one of several mistakes. It is recorded although the pillar does not compile yet: mistakes
//! that came together, by hand or from two clones, can only be mended one after the other. `build/` stays as it is.

use clap::ArgMatches;
use eos_model::{Diagnostics, EnvName, SecretRef, Severity};
use eos_pillar::Change;
use eos_secrets::Secret;
use serde_json::json;

use crate::commands::Call;
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{Message, secrets_text};

/// A change and the mistakes it leaves.
pub struct Mending {
    pub change: Change,
    /// Secrets made up for the user, shown when they are recorded.
    pub made: Vec<(SecretRef, Secret)>,
    pub left: Diagnostics,
}

impl Mending {
    /// Shows or records the change, with what is left to mend as warnings.
    pub fn record(
        mut self,
        call: &Call<'_>,
        matches: &ArgMatches,
        loaded: &mut Loaded,
        env: &EnvName,
        message: Message,
    ) -> Result<Outcome, Diagnostics> {
        self.left.0.retain(|one| one.severity == Severity::Error);
        self.left.0.iter_mut().for_each(|one| one.severity = Severity::Warning);
        let count = self.left.0.len();
        let left = match count {
            1 => "one mistake is left".to_owned(),
            count => format!("{count} mistakes are left"),
        };
        if matches.get_flag("dry-run") {
            let mut text = String::new();
            let (pillar, files) = dry_run::changes(call.context, loaded, &self.change, &mut text);
            text.push_str(&format!("Dry run: it would be recorded, and {left}. Nothing was written.\n"));
            let document = json!({"dry_run": true, "pillar": pillar, "files": files, "mistakes_left": count});
            return Ok(Outcome::new(text, document).with_warnings(self.left));
        }
        let trailers = message.trailers(call.context, loaded.estate.git.identity());
        let commit = loaded.estate.commit(&self.change, &trailers)?;
        let mut text = commit.as_ref().map(|id| format!("Recorded as {}.\n", &id[..10])).unwrap_or_default();
        text.push_str(&loaded.hint(env, &secrets_text(&self.made)));
        text.push_str(&format!("Nothing was applied and build/{env} stays as it was: {left}.\n"));
        let document = json!({"commit": commit, "applied": false, "mistakes_left": count});
        Ok(Outcome::new(text, document).with_warnings(self.left))
    }
}
