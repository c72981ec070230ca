//! `eos secret`: list, set, show and rotate secrets, and say who may read them.

use std::collections::BTreeSet;

use clap::{Arg, ArgMatches, Command};
use eos_catalog::setting::SECRET_LENGTH;
use eos_compile::intent::{self, component_path};
use eos_engine::{Applied, Layout};
use eos_model::{Diagnostic, Diagnostics, Name, SecretRef, codes, nearest::nearest};
use eos_pillar::{Change, ComponentEntry, Environment, Estate};
use eos_secrets::{Identity, RECIPIENTS_FILE, Recipient, Secret};
use serde_json::{Value as Json, json};

use super::Call;
use crate::args::spoken::quoted;
use crate::args::{self, component, weak_secret};
use crate::dry_run;
use crate::identity_place;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file::{self, Known};
use crate::recording::{self, Message, Prepared};
use crate::run::{self, flow};
use crate::views::prompt::{self, Part};
use crate::views::table::Table;
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    let path =
        || Arg::new("path").value_name("NAME/KEY").required(true).help("Such as grafana/admin_password");
    Ok(command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("Which secrets there are; never their values"))
        .subcommand(Command::new("show").about("Print one secret").arg(path()))
        .subcommand(Command::new("set").about("Give a secret a new value, from stdin or asked for").arg(path()).args(args::changing()))
        .subcommand(Command::new("rotate").about("Give a secret a new random value").arg(path()).args(args::changing()))
        .subcommand(Command::new("identity").about("Your public key, for others to add; makes your identity if there is none"))
        .subcommand(
            Command::new("recipients")
                .about("Who can read the secrets")
                .arg(Arg::new("action").value_parser(["list", "add", "remove"]).default_value("list"))
                .arg(Arg::new("recipient").value_name("age1…").help("Public key"))
                .arg(Arg::new("who").long("who").value_name("NAME").help("Whose key it is"))
                .args(args::recording()),
        )
        .after_help("Examples:\n  eos secret list\n  eos secret rotate grafana/admin_password --because \"kim left\"\n  pass show x | eos secret set grafana/admin_password\n  eos secret recipients add age1… --who kim"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    match matches.subcommand() {
        Some(("list", matches)) => list(call, matches),
        Some(("show", matches)) => show(call, matches),
        Some(("identity", _)) => identity(call),
        Some(("recipients", matches)) => recipients(call, matches),
        Some((verb, matches)) => renew(call, matches, verb == "rotate"),
        None => Ok(Outcome::default()),
    }
}

/// The references an environment uses: secret settings, and those made for needs.
pub fn used(environment: &Environment) -> Vec<(SecretRef, &'static str)> {
    let mut found = Vec::new();
    for entry in environment.components.values() {
        found.extend(in_settings(entry).map(|reference| (reference, "setting")));
        found.extend(entry.secrets.values().cloned().map(|reference| (reference, "need")));
    }
    found.sort();
    found
}

/// The references of one entry.
pub fn read_by(entry: &ComponentEntry) -> impl Iterator<Item = SecretRef> {
    in_settings(entry).chain(entry.secrets.values().cloned())
}

fn in_settings(entry: &ComponentEntry) -> impl Iterator<Item = SecretRef> {
    entry.settings.values().filter_map(|node| node.as_str()?.parse::<SecretRef>().ok())
}

/// Secrets that nothing uses, the newest of each: of names that are gone, with which data that was kept can be read again,
/// and of features that were turned off.
fn left(environment: &Environment, kept: &[SecretRef]) -> Vec<SecretRef> {
    let used: BTreeSet<(Name, Name)> =
        used(environment).into_iter().map(|(reference, _)| (reference.name, reference.key)).collect();
    let gone = |reference: &&SecretRef| {
        let is_used = used.contains(&(reference.name.clone(), reference.key.clone()));
        reference.env == environment.name && !is_used
    };
    let newest = |reference: &&SecretRef| {
        eos_secrets::newest(kept, &reference.env, &reference.name, &reference.key) == Some(*reference)
    };
    kept.iter().filter(gone).filter(newest).cloned().collect()
}

/// What secrets that nothing uses are still for: a feature that may be turned on again, data that was kept, or nothing any more. The pillar remembers what
/// was deleted, and the store what an undo has left; where that cannot be asked, they are taken for needed.
fn purposes(
    loaded: &Loaded,
    environment: &Environment,
    left: Vec<SecretRef>,
) -> Vec<(SecretRef, &'static str)> {
    let in_pillar = |reference: &SecretRef| environment.kept.contains_key(&reference.name);
    let layout = Layout::new(loaded.estate.root.clone());
    let asked = || {
        run::first::refuse_missing_state(&loaded.estate, &layout).ok()?;
        let (records, _) = run::store(&loaded.estate, &layout).ok()?;
        let applied = Applied::new(records.as_ref());
        let units = applied.units(&environment.name).ok()?;
        let kept = applied.kept(&environment.name).ok()?;
        let has_kept = kept.into_iter().filter(|(_, kept)| !kept.objects.is_empty()).map(|(name, _)| name);
        Some(units.into_keys().chain(has_kept).collect::<BTreeSet<Name>>())
    };
    let is_there = |reference: &SecretRef| environment.components.contains_key(&reference.name);
    let is_known = |reference: &SecretRef| in_pillar(reference) || is_there(reference);
    let in_store = if left.iter().all(is_known) { None } else { asked() };
    let is_needed = |reference: &SecretRef| {
        in_pillar(reference) || in_store.as_ref().is_none_or(|names| names.contains(&reference.name))
    };
    let purpose = |reference: SecretRef| {
        let purpose = match is_needed(&reference) {
            // Turned on again, the feature takes it up.
            _ if is_there(&reference) => "what is off",
            true => "kept data",
            false => "nothing",
        };
        (reference, purpose)
    };
    left.into_iter().map(purpose).collect()
}

fn list(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    let kept = loaded.secrets()?;
    let mut table = Table::new(&["SECRET", "VERSION", "FOR", "FILE"]);
    let mut rows = Vec::new();
    let left = purposes(&loaded, &environment, left(&environment, &kept));
    let useless: BTreeSet<String> = left
        .iter()
        .filter(|(_, purpose)| *purpose == "nothing")
        .map(|(reference, _)| format!("eos purge {}", reference.name))
        .collect();
    for (reference, purpose) in used(&environment).into_iter().chain(left) {
        let file = eos_secrets::file_of(&reference);
        let there = kept.contains(&reference);
        let shown = if there { file.to_string() } else { "missing".to_owned() };
        table.row(vec![
            format!("{}/{}", reference.name, reference.key),
            reference.version.to_string(),
            purpose.to_owned(),
            shown,
        ]);
        rows.push(json!({"name": reference.name, "key": reference.key, "version": reference.version, "for": purpose, "file": file, "present": there}));
    }
    let mut text = if table.is_empty() {
        format!("{env} has no secrets yet.\n")
    } else {
        table.render(call.context.table_width, call.context.color_stdout)
    };
    if !useless.is_empty() {
        let commands: Vec<String> = useless.into_iter().collect();
        let said = format!("What is for nothing goes with: {}", commands.join(" && "));
        text.push_str(&below("", "", &loaded.hint(&env, &said), call.context.width, 2));
    }
    Ok(Outcome::new(text, json!({"environment": env, "secrets": rows})))
}

/// `grafana/admin_password` as name and key.
fn path(matches: &ArgMatches) -> Result<(Name, Name), Diagnostic> {
    let text = matches.get_one::<String>("path").map_or("", String::as_str);
    let parts = text.split_once('/').and_then(|(name, key)| Some((name.parse().ok()?, key.parse().ok()?)));
    parts.ok_or_else(|| {
        Diagnostic::error(codes::UNKNOWN_SECRET, format!("{text:?} is not <name>/<key>"))
            .fix("like grafana/admin_password; eos secret list shows them")
    })
}

/// The reference that is used now, or was when its name was deleted: `kept` are those that there is a file of.
fn current(
    environment: &Environment,
    kept: &[SecretRef],
    name: &Name,
    key: &Name,
) -> Result<SecretRef, Diagnostic> {
    let all: Vec<SecretRef> = used(environment)
        .into_iter()
        .map(|(reference, _)| reference)
        .chain(left(environment, kept))
        .collect();
    let found = all.iter().find(|reference| reference.name == *name && reference.key == *key);
    found.cloned().ok_or_else(|| {
        // The name first: a secret of something else is not meant, however alike their keys are.
        let of = nearest(name.as_str(), all.iter().map(|reference| reference.name.as_str()));
        let keys = all.iter().filter(|known| Some(known.name.as_str()) == of).map(|known| known.key.as_str());
        let fix = of.zip(nearest(key.as_str(), keys)).map_or_else(
            || format!("eos secret list --env {} shows them", environment.name),
            |(of, near)| format!("did you mean {of}/{near}?"),
        );
        Diagnostic::error(codes::UNKNOWN_SECRET, format!("{} has no secret {name}/{key}", environment.name))
            .fix(fix)
    })
}

fn show(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let (name, key) = path(matches)?;
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    let kept = loaded.secrets()?;
    let reference = current(&environment, &kept, &name, &key)?;
    let identity = Identity::load(&call.context.identity_file)?;
    let secret = eos_secrets::read(&loaded.estate.root, &reference, &identity)?;
    Ok(Outcome::new(
        format!("{}\n", secret.expose()),
        json!({"reference": reference, "value": secret.expose()}),
    ))
}

/// Puts one reference in the place of another; the keys of an entry that had it.
fn replaced(entry: &mut Json, before: &SecretRef, after: &SecretRef) -> Vec<String> {
    let mut keys = Vec::new();
    for section in ["settings", "secrets"] {
        let slots = entry.get_mut(section).and_then(Json::as_object_mut).into_iter().flatten();
        for (key, slot) in slots {
            if slot.as_str().and_then(|text| text.parse().ok()).as_ref() == Some(before) {
                *slot = Json::from(after.to_string());
                keys.push(key.clone());
            }
        }
    }
    keys
}

/// Where eos does not write the new version down, somebody else can: the reference then waits for its file.
fn in_own_yaml(mut found: Diagnostics, before: &SecretRef, after: &SecretRef) -> Diagnostics {
    for one in found.0.iter_mut().filter(|one| one.code == codes::NOT_OURS) {
        let file = one.place.as_ref().map_or("the pillar", |place| place.file.as_str());
        let versions = format!("?v={} in the place of ?v={}", after.version, before.version);
        let what = format!("{}/{}", before.name, before.key);
        one.fix = Some(format!(
            "write {versions} behind {what} in {file} yourself, git commit it, then this command again"
        ));
    }
    found
}

fn renew(call: &Call<'_>, matches: &ArgMatches, random: bool) -> Result<Outcome, Diagnostics> {
    let (name, key) = path(matches)?;
    let given = if random {
        None
    } else {
        Some(prompt::secret(&format!("{name}/{key}"), &format!("eos secret set {name}/{key}"), Part::Whole)?)
    };
    let mut loaded = Loaded::open_for_change(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    // What nothing uses has nobody to give a new value to.
    let before = current(&environment, &[], &name, &key)?;
    // A reference without its file, as one written by hand is at first, gets the file and stays as it is.
    let awaited = !loaded.secrets()?.contains(&before);
    let after = SecretRef { version: before.version + u32::from(!awaited), ..before.clone() };
    let mut change = Change::default();
    let mut length = SECRET_LENGTH;
    let mut runs = false;
    let mut kind = "";
    // Whoever reads it, under whatever name: a name may have been changed by hand.
    for entry in environment.components.values() {
        let mut json = entry.node.to_json();
        let slots = replaced(&mut json, &before, &after);
        if slots.is_empty() {
            continue;
        }
        if !awaited {
            let path = component_path(&env, &entry.name);
            let known = Known { section: "components", name: entry.name.as_str(), node: &entry.node, path };
            own_file::rewrite(&loaded, &environment, &known, &json, &mut change)
                .map_err(|found| in_own_yaml(found, &before, &after))?;
        }
        kind = &entry.kind;
        let widest = component::widest(&loaded.catalog, kind)?;
        let is_there = !awaited && !run::never_applied(&loaded.estate, &env, entry.name.as_str());
        runs |= is_there;
        for slot in &slots {
            if let Some(refusal) = intent::kept_secret(entry, &widest, slot).filter(|_| is_there) {
                return Err(refusal.at(environment.place(&entry.node)).into());
            }
            length = widest.settings.get(slot).and_then(|setting| setting.generate).unwrap_or(length);
        }
    }
    let secret: Secret = match given {
        Some(secret) => {
            weak_secret::refuse(&format!("{name}/{key}"), &secret, kind, name.as_str())?;
            secret
        }
        None if length == 0 => {
            return Err(Diagnostic::error(
                codes::BAD_VALUE,
                format!("{name}/{key} cannot be made up by eos"),
            )
            .why("it comes from somewhere else: a certificate, a token, a key of another system")
            .fix(format!("eos secret set {name}/{key} < file"))
            .into());
        }
        None => eos_secrets::generate(length.into()),
    };
    let recipients = eos_secrets::read_recipients(&loaded.estate.root)?;
    recording::write_secret(&mut change, &after, &secret, &recipients)?;
    let compiled = loaded.compile_with(&change, &env)?;
    let prepared = Prepared { change, compiled, made: Vec::new() };
    if matches.get_flag("dry-run") {
        let notes = [format!("{name}/{key} would be version {}", after.version)];
        return Ok(dry_run::show(call.context, &loaded, &env, &prepared, &notes));
    }
    let verb = if random { "rotate" } else { "set" };
    let message = Message::new(call, matches, format!("{verb} secret {name}/{key} in {env}"));
    if !args::stops_after_recording(call.context, matches)? {
        let notes = [format!("{name}/{key} becomes version {}", after.version)];
        let made = if random { vec![(after, secret)] } else { Vec::new() };
        let prepared = Prepared { made, ..prepared };
        return flow::record_and_apply(call, matches, &mut loaded, &env, &prepared, message, &notes);
    }
    let recorded = recording::commit(call.context, &mut loaded, &env, &prepared, message)?;
    let mut text = format!("{name}/{key} is now version {}.\n", after.version);
    let mut result = json!({"reference": after, "commit": recorded.commit});
    if random {
        text.push_str(&format!("The new value: {}\n", secret.expose()));
        result["value"] = Json::from(secret.expose());
    }
    let then = match runs {
        true => "what runs has the old one until eos apply.",
        false => "nothing runs with it yet; eos apply does that.",
    };
    text.push_str(&recorded.told(&loaded.hint(&env, then), call.context.width));
    Ok(Outcome::new(text, result))
}

fn recipients(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let action = matches.get_one::<String>("action").map_or("list", String::as_str);
    if action == "list" {
        let loaded = Loaded::open(call.context)?;
        let all = eos_secrets::read_recipients(&loaded.estate.root)?;
        let mut table = Table::new(&["RECIPIENT", "WHO"]);
        let mut rows = Vec::new();
        for (recipient, who) in all.with_owners() {
            table.row(vec![recipient.to_string(), who.unwrap_or("-").to_owned()]);
            rows.push(json!({"recipient": recipient.to_string(), "who": who}));
        }
        return Ok(Outcome::new(
            table.render(call.context.table_width, call.context.color_stdout),
            json!({ "recipients": rows }),
        ));
    }
    let Some(wanted) = matches.get_one::<String>("recipient") else {
        return Err(Diagnostic::error(codes::USAGE, format!("{action} whom? A public key must follow"))
            .fix(format!("eos secret recipients {action} age1…"))
            .into());
    };
    let recipient: Recipient = wanted.parse::<Recipient>()?;
    let mut loaded = Loaded::open_for_change(call.context)?;
    let mut all = eos_secrets::read_recipients(&loaded.estate.root)?;
    let identity = Identity::load(&call.context.identity_file)?;
    if action == "add" {
        all.add(recipient, matches.get_one::<String>("who").map_or("", String::as_str))?;
    } else {
        all.remove(&recipient)?;
    }
    let mut change = Change::default();
    change.write(RECIPIENTS_FILE, all.format());
    let files = eos_secrets::reencrypt_all(&loaded.estate.root, &identity, &all)?;
    let count = files.len();
    for (path, bytes) in files {
        change.write(path, bytes);
    }
    if matches.get_flag("dry-run") {
        return Ok(Outcome::new(
            format!("Dry run: {count} secret(s) would be encrypted again. Nothing was written.\n"),
            json!({"dry_run": true, "secrets": count}),
        ));
    }
    let message = Message::new(call, matches, format!("{action} a recipient of secrets"));
    let said = message.trailers(call.context, loaded.estate.git.identity());
    let commit = loaded.estate.commit(&change, &said)?;
    let mut text = format!("{count} secret(s) encrypted again for {} recipient(s).\n", all.iter().count());
    if let Some(commit) = &commit {
        text.push_str(&format!("Recorded as {}.\n", &commit[..10]));
    }
    if action == "remove" {
        text.push_str("Whoever was removed may have kept a copy: rotate what they could read.\n");
    }
    Ok(Outcome::new(text, json!({"secrets": count, "recipients": all.iter().count(), "commit": commit})))
}

/// The references of an environment that no file answers.
pub fn missing(environment: &Environment, kept: &[SecretRef]) -> Vec<SecretRef> {
    used(environment)
        .into_iter()
        .map(|(reference, _)| reference)
        .filter(|reference| !kept.contains(reference))
        .collect()
}

/// The person's own public key; their identity is made when there is none.
fn identity(call: &Call<'_>) -> Result<Outcome, Diagnostics> {
    let path = &call.context.identity_file;
    if let Ok(root) = Estate::find_root(&call.context.directory) {
        identity_place::refuse_inside(&root, call.context)?;
    }
    let (identity, made) = super::init::identity(call.context)?;
    let public = identity.public();
    // In two lines: a key in one with all the rest goes over the edge of a terminal, and must not be cut.
    let text = format!(
        "{public}\n{}Kept at {path}.\nSomebody who can read the secrets lets you in:\n  eos secret recipients add --who {} \\\n    {public}\n",
        if made { "Made just now; back it up. " } else { "" },
        quoted(&call.context.user)
    );
    Ok(Outcome::new(text, json!({"recipient": public.to_string(), "file": path, "made": made})))
}
