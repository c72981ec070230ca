//! What an estate has to have before its first run: the name of its local state, and the key of state and plans.

use std::ops::Deref;

use eos_engine::{Layout, guard};
use eos_model::{Diagnostic, Diagnostics, EnvName, codes};
use eos_pillar::estate_file::Backend;
use eos_pillar::lock_file::LOCK_FILE;
use eos_pillar::{Change, Estate, LockFile};
use eos_secrets::{Identity, STATE_KEY_FILE, encrypt, new_state_key, read_recipients, read_state_key};

use crate::context::Context;

/// Refuses a clone that lacks the state the estate names. What was applied is in `.eos/state` unless NATS has it, also
/// when tofu's own state is at a backend.
pub fn refuse_missing_state(estate: &Estate, layout: &Layout) -> Result<(), Diagnostics> {
    if estate.file.nats.is_some() {
        return Ok(());
    }
    let here = guard::local_state(layout)?;
    let judged = guard::refuse_missing_state(estate.lock.state.as_deref(), here.as_deref());
    Ok(judged.map_err(|problem| match estate.file.backend {
        Backend::Local => problem,
        Backend::Http { .. } => Diagnostic::error(
            problem.code,
            "another clone of this estate applied it, and what it applied is known there alone",
        )
        .why("tofu's state is shared by [backend], leases and what was applied are not: two clones take back each other's work")
        .fix("run eos where it was applied, bring .eos/state here as a whole, or share both with [nats] in eos.toml"),
    })?)
}

/// Adds to `change` what a run of this estate needs and does not have yet.
pub fn prepare(estate: &Estate, layout: &Layout, change: &mut Change) -> Result<(), Diagnostics> {
    if estate.file.nats.is_none() && estate.lock.state.is_none() {
        let mut random = [0; 16];
        getrandom::fill(&mut random).expect("the operating system gives random bytes");
        let name = guard::name_local_state(layout, random)?;
        // The change may have pinned a kind in the same file.
        let text = change.files.get(camino::Utf8Path::new(LOCK_FILE)).and_then(|file| file.clone());
        let mut lock = match text.and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => LockFile::parse(&text)?,
            None => estate.lock.clone(),
        };
        lock.state = Some(name);
        change.write(LOCK_FILE, lock.write());
    }
    Ok(())
}

/// The change that gives an estate its key, when an older eos made it without one.
pub fn missing_key(estate: &Estate) -> Result<Option<Change>, Diagnostics> {
    if estate.root.join(STATE_KEY_FILE).exists() {
        return Ok(None);
    }
    let mut change = Change::default();
    change.write(STATE_KEY_FILE, encrypt(&new_state_key(), &read_recipients(&estate.root)?)?);
    Ok(Some(change))
}

/// The key of kept plans: it binds what one shows to what it does, and conceals what is sensitive.
pub fn plan_key(
    context: &Context,
    estate: &Estate,
) -> Result<impl Deref<Target = [u8; 32]> + use<>, Diagnostics> {
    let key = read_state_key(&estate.root, &Identity::load(&context.identity_file)?)?;
    key.ok_or_else(|| {
        Diagnostic::error(
            codes::PLAN_STALE,
            format!("there is no {STATE_KEY_FILE}, which every kept plan is sealed with"),
        )
        .why("no plan of this estate was kept yet, or the key was taken away")
        .fix("eos plan --out FILE keeps one, and makes the key where there is none")
        .into()
    })
}

/// The subject of the commit when nothing else changes.
pub fn subject(env: &EnvName) -> String {
    format!("name the state of {env}'s first run")
}
