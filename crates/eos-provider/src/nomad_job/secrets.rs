//! A job's secrets: resolved from the estate in Apply only, kept in the job's Nomad Variable, blanked out of every text.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Diagnostics, SecretRef, codes};
use eos_nomad::{Client, Error, Variable};
use eos_secrets::{Identity, Secret};
use serde_json::Value as Json;

use super::spec::{Spec, secrets_of};
use super::trouble;
use crate::redact::Redact;
use crate::settings::Settings;

/// The values of a spec's references, by key in the variable.
pub struct Secrets(BTreeMap<String, Secret>);

impl Secrets {
    pub fn resolve(settings: &Settings, spec: &Spec) -> Result<Secrets, Diagnostics> {
        Secrets::read(settings, &spec.id, &spec.secrets)
    }

    /// Every reference that cannot be resolved is told.
    fn read(
        settings: &Settings,
        job: &str,
        references: &BTreeMap<String, SecretRef>,
    ) -> Result<Secrets, Diagnostics> {
        if references.is_empty() {
            return Ok(Secrets(BTreeMap::new()));
        }
        let missing = |variable: &str, what: &str| {
            Diagnostic::error(codes::NO_IDENTITY, format!("the secrets of job {job} cannot be read"))
                .why(format!("{variable} is not set: it names {what}"))
                .fix("run tofu through eos, or set both EOS_ESTATE and EOS_IDENTITY")
        };
        let estate = settings
            .estate
            .as_deref()
            .ok_or_else(|| missing("EOS_ESTATE", "the folder that has secrets/"))?;
        let identity = settings
            .identity
            .as_deref()
            .ok_or_else(|| missing("EOS_IDENTITY", "the file with the key that opens them"))?;
        let identity = Identity::load(identity)?;
        let mut found = Diagnostics::new();
        let mut values = BTreeMap::new();
        for (key, reference) in references {
            match eos_secrets::read(estate, reference, &identity) {
                Ok(value) => {
                    values.insert(key.clone(), value);
                }
                Err(problems) => found.extend(problems),
            }
        }
        found.into_result()?;
        Ok(Secrets(values))
    }

    /// What blanks their values out of a text.
    pub fn redact(&self) -> Redact {
        Redact::new(self.0.values().map(Secret::expose))
    }

    /// Puts them into the job's variable, and takes out those an older spec had. Other keys stay as they are, and a
    /// variable that is right already is not written: tasks restart when theirs changes. Gives the variable's index.
    pub fn write(&self, client: &Client, spec: &Spec, older: Option<&Spec>) -> Result<Option<u64>, Error> {
        let stale: BTreeSet<&String> = older
            .into_iter()
            .flat_map(|older| older.secrets.keys())
            .filter(|key| !self.0.contains_key(*key))
            .collect();
        if self.0.is_empty() && stale.is_empty() {
            return Ok(None);
        }
        let path = spec.variable_path();
        let mut variable = client.variable(&path)?.unwrap_or_default();
        let has = |(key, value): (&String, &Secret)| {
            variable.items.get(key).is_some_and(|item| item.as_str() == value.expose())
        };
        if self.0.iter().all(has) && !stale.iter().any(|key| variable.items.contains_key(*key)) {
            return Ok((variable.modify_index > 0).then_some(variable.modify_index));
        }
        for key in stale {
            variable.items.remove(key);
        }
        for (key, value) in &self.0 {
            variable.items.insert(key.clone(), value.expose().to_owned().into());
        }
        store(client, &path, &variable)
    }
}

/// What blanks out the secrets that these jobs, as their specs or Nomad have them, give to their tasks: for whoever
/// else shows what the tasks wrote.
pub fn redact_tasks(settings: &Settings, jobs: &[Json]) -> Result<Redact, Diagnostics> {
    let mut all = Vec::new();
    for job in jobs {
        let mut found = Diagnostics::new();
        let references = secrets_of(job, &mut found);
        found.into_result()?;
        all.push(Secrets::read(settings, job["ID"].as_str().unwrap_or_default(), &references)?);
    }
    Ok(Redact::new(all.iter().flat_map(|secrets| secrets.0.values()).map(Secret::expose)))
}

/// Takes what the estate gave to a job that is gone out of its variable: for a job that nobody destroys, since it was let
/// go of. A key that somebody has given another value since stays. Gives whether one does.
pub fn take_out_secrets(settings: &Settings, client: &Client, job: &Json) -> Result<bool, Diagnostics> {
    let spec = Spec::parse(&job.to_string())?;
    let path = spec.variable_path();
    let found = client.variable(&path).map_err(trouble::diagnostics)?;
    let Some(mut variable) =
        found.filter(|found| spec.secrets.keys().any(|key| found.items.contains_key(key)))
    else {
        return Ok(false);
    };
    let secrets = Secrets::resolve(settings, &spec)?;
    let is_ours = |key: &String, item: &str| secrets.0.get(key).is_some_and(|secret| secret.expose() == item);
    variable.items.retain(|key, item| !is_ours(key, item));
    store(client, &path, &variable).map_err(trouble::diagnostics)?;
    Ok(spec.secrets.keys().any(|key| variable.items.contains_key(key)))
}

/// Takes a spec's keys out of the job's variable, and the variable away when nothing is left in it.
pub fn remove(client: &Client, spec: &Spec) -> Result<(), Error> {
    if spec.secrets.is_empty() {
        return Ok(());
    }
    let path = spec.variable_path();
    let Some(mut variable) = client.variable(&path)? else { return Ok(()) };
    variable.items.retain(|key, _| !spec.secrets.contains_key(key));
    store(client, &path, &variable).map(|_| ())
}

/// The new index; none when the variable is empty and so removed.
fn store(client: &Client, path: &str, variable: &Variable) -> Result<Option<u64>, Error> {
    if variable.items.is_empty() {
        if variable.modify_index > 0 {
            client.delete_variable(path, variable.modify_index)?;
        }
        return Ok(None);
    }
    client.put_variable(path, variable).map(Some)
}
