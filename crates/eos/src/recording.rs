//! Recording an intent: files, secrets and the lock become one change, compiled before it is committed.

use std::collections::BTreeMap;

use clap::ArgMatches;
use eos_compile::Compiled;
use eos_compile::intent::{Planned, SecretSource, component_path};
use eos_model::{Diagnostic, Diagnostics, EnvName, SecretRef};
use eos_pillar::{Change, Environment, Trailers};
use eos_secrets::{Recipients, Secret};

use crate::build_folder::{self, Difference};
use crate::commands::Call;
use crate::context::Context;
use crate::loaded::{Loaded, pin};
use crate::mending::Mending;
use crate::own_file::{self, Known};
use crate::views::wrap::below;

/// A change that compiles, not yet committed.
pub struct Prepared {
    pub change: Change,
    pub compiled: Compiled,
    /// Secrets made up for the user, shown when they are recorded.
    pub made: Vec<(SecretRef, Secret)>,
}

/// What a recorded change did.
pub struct Recorded {
    /// None when the estate was like that already.
    pub commit: Option<String>,
    pub difference: Difference,
}

impl Recorded {
    /// The last lines of a command that stops after recording; `then` is what it leaves to be done.
    pub fn told(&self, then: &str, width: usize) -> String {
        match &self.commit {
            Some(commit) => {
                let told = format!("Recorded as {}. Nothing was applied: {then}", &commit[..10]);
                below("", "", &told, width, 2)
            }
            None => "Nothing to change: the estate says so already.\n".to_owned(),
        }
    }
}

/// "postgres crm", but not "postgres postgres".
pub fn what(kind: &str, name: &str) -> String {
    if kind == name { name.to_owned() } else { format!("{kind} {name}") }
}

/// What became of a change that was compiled.
pub enum Drafted {
    Compiles(Prepared),
    /// It does not compile, and neither did what was there; it takes mistakes away.
    Mends(Mending),
}

/// Compiles a change that is to be recorded.
pub fn draft(
    loaded: &Loaded,
    env: &EnvName,
    change: Change,
    made: Vec<(SecretRef, Secret)>,
) -> Result<Drafted, Diagnostics> {
    match loaded.compile_with(&change, env) {
        Ok(compiled) => Ok(Drafted::Compiles(Prepared { change, compiled, made })),
        Err(left) if loaded.mends(&change, env) => Ok(Drafted::Mends(Mending { change, made, left })),
        Err(found) => Err(found),
    }
}

/// Turns planned entries into a change. `given` are the secrets the user brought.
pub fn prepare(
    loaded: &Loaded,
    env: &EnvName,
    environment: &Environment,
    planned: &Planned,
    given: &mut BTreeMap<String, Secret>,
) -> Result<Drafted, Diagnostics> {
    let mut change = Change::default();
    let mut lock = loaded.estate.lock.clone();
    for entry in &planned.entries {
        let path = component_path(env, &entry.name);
        let name = entry.name.as_str();
        if let Some(before) = environment.components.get(&entry.name) {
            let known = Known { section: "components", name, node: &before.node, path };
            own_file::rewrite(loaded, environment, &known, &entry.entry, &mut change)?;
        } else {
            own_file::write_new(loaded, "components", name, path, &entry.entry, &mut change)?;
        }
        pin(&loaded.catalog, &mut lock, &mut change, &entry.kind);
    }
    let made = make_secrets(loaded, planned, given, &mut change)?;
    draft(loaded, env, change, made).map_err(|found| only_commands_that_work(found, planned))
}

/// A refused change leaves nothing behind: what it would have created cannot be updated. The flag goes with this very
/// command then; for what only comes along, with one that creates it first.
pub fn only_commands_that_work(mut found: Diagnostics, planned: &Planned) -> Diagnostics {
    for entry in planned.entries.iter().filter(|entry| entry.is_new) {
        let update = format!("eos update {} --", entry.name);
        let create = match entry.because {
            None => "--".to_owned(),
            Some(_) => format!("before this, eos create {} --", what(&entry.kind, entry.name.as_str())),
        };
        for fix in found.0.iter_mut().filter_map(|one| one.fix.as_mut()) {
            *fix = fix.replace(&update, &create);
        }
    }
    found
}

fn make_secrets(
    loaded: &Loaded,
    planned: &Planned,
    given: &mut BTreeMap<String, Secret>,
    change: &mut Change,
) -> Result<Vec<(SecretRef, Secret)>, Diagnostics> {
    let mut made = Vec::new();
    if planned.secrets.is_empty() {
        return Ok(made);
    }
    let recipients = eos_secrets::read_recipients(&loaded.estate.root)?;
    for wanted in &planned.secrets {
        let secret = match wanted.source {
            SecretSource::Generate(length) => eos_secrets::generate(length.into()),
            SecretSource::Given => match given.remove(wanted.reference.key.as_str()) {
                Some(secret) => secret,
                None => continue,
            },
            SecretSource::Kept => continue,
        };
        write_secret(change, &wanted.reference, &secret, &recipients)?;
        if let SecretSource::Generate(_) = wanted.source {
            made.push((wanted.reference.clone(), secret));
        }
    }
    Ok(made)
}

/// Generated secrets. They are shown here without being asked for, and nowhere else.
pub fn secrets_text(made: &[(SecretRef, Secret)]) -> String {
    if made.is_empty() {
        return String::new();
    }
    let mut text = String::from("Secrets made (eos secret show <name>/<key> shows one again):\n");
    for (reference, secret) in made {
        text.push_str(&format!("  {}/{}  {}\n", reference.name, reference.key, secret.expose()));
    }
    text
}

/// Adds an encrypted secret to a change.
pub fn write_secret(
    change: &mut Change,
    reference: &SecretRef,
    secret: &Secret,
    recipients: &Recipients,
) -> Result<(), Diagnostics> {
    change.write(eos_secrets::file_of(reference), eos_secrets::encrypt(secret, recipients)?);
    Ok(())
}

/// What a commit says of the command that made it: what, the command as typed, and why.
pub struct Message {
    subject: String,
    line: String,
    retry: String,
    reason: Option<String>,
}

impl Message {
    pub fn new(call: &Call<'_>, matches: &ArgMatches, subject: String) -> Message {
        let reason = matches.try_get_one::<String>("because").ok().flatten();
        let reason = reason.map(|reason| call.without_secrets(reason));
        Message { reason, ..Message::about(call, subject) }
    }

    /// Of a command without a reason of its own.
    pub fn about(call: &Call<'_>, subject: String) -> Message {
        Message { subject, line: call.line.clone(), retry: call.retry.clone(), reason: None }
    }

    /// The command as typed, secrets left out.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The command as it can be typed again.
    pub fn retry(&self) -> &str {
        &self.retry
    }

    /// Who, when and why, for a commit. Without an identity of git's the account's name stands for one.
    pub fn trailers(self, context: &Context, identity: Option<(String, String)>) -> Trailers {
        let nobody = || (context.user.clone(), format!("{}@{}", context.user, context.machine));
        Trailers {
            subject: self.subject,
            command: self.line,
            user: context.user.clone(),
            author: identity.unwrap_or_else(nobody),
            time: context.now,
            reason: self.reason,
        }
    }
}

/// Commits a prepared change and brings the build folder up to date.
pub fn commit(
    context: &Context,
    loaded: &mut Loaded,
    env: &EnvName,
    prepared: &Prepared,
    message: Message,
) -> Result<Recorded, Diagnostics> {
    let trailers = message.trailers(context, loaded.estate.git.identity());
    let commit = loaded.estate.commit(&prepared.change, &trailers)?;
    let difference =
        build_folder::sync(&loaded.estate.root, env, &prepared.compiled.files).map_err(|problem| {
            only_build_is_behind(problem, env, commit.as_deref(), !prepared.made.is_empty())
        })?;
    Ok(Recorded { commit, difference })
}

/// The commit stands when build/ cannot be written: running the command again would be wrong.
pub fn only_build_is_behind(
    problem: Diagnostic,
    env: &EnvName,
    commit: Option<&str>,
    made_secrets: bool,
) -> Diagnostic {
    let Some(commit) = commit else { return problem };
    let secrets = if made_secrets {
        "; eos secret list, then eos secret show <name>/<key>, gives the secrets that were made"
    } else {
        ""
    };
    problem
        .why(format!("the change itself is recorded, as {}: only build/{env} is behind", &commit[..10]))
        .fix(format!("make room there, then eos compile --env {env}, not this command again{secrets}"))
}
