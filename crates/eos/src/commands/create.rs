//! `eos create`: a component with everything it needs, or a host.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use clap::{Arg, ArgMatches, Command};
use eos_catalog::{Catalog, Component, Setting, SettingType};
use eos_compile::intent::{self, Planned, PlannedEntry};
use eos_engine::{Layout, runs};
use eos_model::{Diagnostic, Diagnostics, EnvName, codes};
use eos_secrets::Secret;
use serde_json::{Value as Json, json};

use super::{Call, adopt, catalog_here, host};
use crate::args::component::Said;
use crate::args::{self, component, spoken};
use crate::build_folder;
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{self, Drafted, Message, Prepared};
use crate::run;
use crate::run::flow::{self, Wanted};
use crate::run::this_machine;
use crate::views::style::Style;
use crate::views::wrap::below;

pub fn command(command: Command, call: &Call<'_>) -> Result<Command, Diagnostics> {
    let command = command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("KIND")
        .override_usage("eos create <KIND> [NAME] [FLAGS]");
    let catalog = catalog_here(call.context)?;
    match spoken::bare_words(call.words).get(1) {
        None => {
            let mut list = String::from("Kinds:\n");
            for kind in catalog.kinds() {
                if let Some(found) = catalog.component(kind).ok().filter(|found| !found.only_acts()) {
                    list.push_str(&format!("  {kind:<15} {}\n", found.summary));
                }
            }
            list.push_str(&format!(
                "  {:<15} {}\n\neos create <KIND> --help shows a kind's own settings.",
                "host", "A machine that may be configured"
            ));
            Ok(command.subcommand(Command::new("host").hide(true)).after_help(list))
        }
        Some(&"host") => Ok(command.subcommand(host::create_command())),
        Some(word) => Ok(command.subcommand(kind_command(&catalog, word)?)),
    }
}

/// A kind with its own settings.
pub fn kind_command(catalog: &Catalog, word: &str) -> Result<Command, Diagnostics> {
    let kind = catalog.resolve(word)?;
    let (widest, base) = (component::widest(catalog, kind)?, catalog.component(kind)?);
    Ok(Command::new(word.to_owned())
        .about(base.summary.clone())
        .arg(Arg::new("NAME").help("What to call it; the kind's name if not given"))
        .args(component::flags(&widest, &base, false))
        .args(args::changing())
        .after_help(examples(&base)))
}

/// What can be typed as it stands: with what must be said, with a setting of its own, and a second one.
fn examples(base: &Component) -> String {
    let kind = &base.kind;
    // Where the kind's own name cannot be taken, one has to be said.
    let named = if base.reserved_names.contains(kind) { " mine" } else { "" };
    let typed = |name: &str, setting: &Setting| {
        let value = match setting.kind {
            SettingType::Secret => "-".to_owned(),
            _ => component::shown(setting.example.as_ref().or(setting.default.as_ref())?),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@+".contains(c);
        let value = if value.chars().all(is_plain) { value } else { format!("'{value}'") };
        Some(format!(" --{} {value}", component::flag(name)))
    };
    let must_be_said = |setting: &Setting| {
        setting.required || (setting.kind == SettingType::Secret && setting.generate == Some(0))
    };
    let said: String = base
        .settings
        .iter()
        .filter(|(_, setting)| must_be_said(setting))
        .filter_map(|(name, setting)| typed(name, setting))
        .collect();
    // A host or a name in an example is of somebody else's estate.
    let says_more = |setting: &Setting| {
        let names =
            setting.names_hosts() || [Some(setting.kind), setting.of].contains(&Some(SettingType::Name));
        !names && setting.example.is_some() && setting.example != setting.default
    };
    let own = base.settings.iter().find(|(_, setting)| says_more(setting) && !must_be_said(setting));
    let own = own.and_then(|(name, setting)| typed(name, setting));
    let own = own.map(|own| format!("\n  eos create {kind}{named}{said}{own}")).unwrap_or_default();
    format!("Examples:\n  eos create {kind}{named}{said}{own}\n  eos create {kind} second{said} --dry-run")
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let Some((word, matches)) = matches.subcommand() else { return Ok(Outcome::default()) };
    if word == "host" {
        return host::create(call, matches);
    }
    create(call, matches, word, None)
}

/// What is wrong with the settings' values.
pub fn wrong(call: &Call<'_>, matches: &ArgMatches) -> Diagnostics {
    let Some((word, matches)) = matches.subcommand() else { return Diagnostics::new() };
    if word == "host" {
        return host::wrong(matches);
    }
    let widest = catalog_here(call.context).and_then(|catalog| {
        let kind = catalog.resolve(word)?.to_owned();
        component::widest(&catalog, &kind)
    });
    widest.map(|widest| component::wrong_values(matches, &widest)).unwrap_or_default()
}

/// Asks for a component; `job` is the Nomad job that runs already and becomes its own.
pub fn create(
    call: &Call<'_>,
    matches: &ArgMatches,
    word: &str,
    job: Option<&str>,
) -> Result<Outcome, Diagnostics> {
    let outside = catalog_here(call.context)?;
    let kind = outside.resolve(word)?.to_owned();
    let (widest, base) = (component::widest(&outside, &kind)?, outside.component(&kind)?);
    let name = matches.get_one::<String>("NAME").cloned().unwrap_or_else(|| kind.clone());
    // Secrets are read before the estate is locked: a person may take a while to type.
    let mut said = component::read(matches, &widest, &base, &kind, &name, &call.line);
    let wrong = std::mem::take(&mut said.wrong);
    let with_wrong = |found| Said::with_wrong(&wrong, found);
    let mut loaded = Loaded::open_for_change(call.context).map_err(with_wrong)?;
    let job = job.map(|job| adopt::own_job(&loaded.estate.file, job)).transpose();
    let job = job.map_err(|found| with_wrong(found.into()))?;
    if let Some(job) = job {
        said.request.common.insert("job".to_owned(), Json::from(job));
    }
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str)).map_err(with_wrong)?;
    let environment = loaded.environment(&env).map_err(with_wrong)?;
    if let Some(job) = job
        && !wrong.has_errors()
        && adopt::is_recorded(&loaded, &environment, &kind, &name, job)
    {
        return adopt::go_on(call, matches, &mut loaded, &env, &name, job);
    }
    said.request.kept = loaded.secrets()?;
    let is_there = environment.components.contains_key(name.as_str());
    said.request.never_applied = (environment.kept.contains_key(name.as_str())
        || (is_there && said.request.meets_what_stays(&*component::every(&outside, &kind)?)))
        && (run::never_applied(&loaded.estate, &env, &name)
            || run::holds_nothing(call.context, &loaded, &environment, &name));
    let others = loaded.others(&loaded.tree, &env);
    let mut planned = intent::create(&loaded.input(&environment).among(&others), &said.request)
        .map_err(|found| match job {
            Some(job) if is_there => adopt::under_another_name(found, &kind, job),
            _ => found,
        })
        .map_err(|found| if is_there { resume_first(&loaded, &env, &name, found) } else { found })
        .map_err(with_wrong)?;
    if wrong.has_errors() {
        return Err(wrong);
    }
    planned.notes = loaded.hints(&env, planned.notes);
    planned.notes.extend(job.and_then(|_| adopt::about_data(&planned, &name)));
    let subject = format!("create {} in {env}", recording::what(&kind, &name));
    let message = Message::new(call, matches, subject);
    let mut secrets = said.secrets;
    let prepared = match recording::prepare(&loaded, &env, &environment, &planned, &mut secrets)? {
        Drafted::Compiles(prepared) => prepared,
        Drafted::Mends(mending) => {
            let mended = mending.record(call, matches, &mut loaded, &env, message)?;
            return Ok(mended.with_warnings(said.warnings));
        }
    };
    if let Some(job) = job
        && !said.request.common.contains_key("runtime")
    {
        adopt::refuse_other_driver(call, &loaded, &env, &prepared, (&name, job))?;
    }
    planned
        .notes
        .extend(job.iter().flat_map(|job| adopt::about_ports(call, &loaded, &prepared, (&name, job))));
    let adopt = job.map(|job| (name.clone(), adopt::import_id(&loaded.estate.file, job)));
    let intent = Intent { planned: &planned, prepared: &prepared, message, adopt, warnings: said.warnings };
    record(call, matches, &mut loaded, &env, intent)
}

/// Whoever repeats a create that was cut off wants it to go on: a name that is taken says which run would do that.
fn resume_first(loaded: &Loaded, env: &EnvName, name: &str, mut found: Diagnostics) -> Diagnostics {
    let (open, _) = runs::open(&Layout::new(loaded.estate.root.clone())).unwrap_or_default();
    let mut left = open.iter().filter(|known| known.run.begun.env == *env && !known.in_progress);
    let Some(known) = left.find(|known| known.run.units.contains_key(name)) else { return found };
    let (run, command) = (&known.run.begun.run, &known.run.begun.command);
    for taken in found.0.iter_mut().filter(|problem| problem.code == codes::NAME_TAKEN) {
        taken.why = Some(format!("run {run} ({command}) is about it and did not come to its end"));
        let otherwise = taken.fix.take().map(|fix| format!("; otherwise {fix}")).unwrap_or_default();
        taken.fix = Some(format!("eos resume {run} goes on with that run{otherwise}"));
    }
    found
}

/// A change about to be recorded, for `create` and `update` alike.
pub struct Intent<'a> {
    pub planned: &'a Planned,
    pub prepared: &'a Prepared,
    pub message: Message,
    /// A name and the Nomad job that becomes its own.
    pub adopt: Option<(String, String)>,
    /// About the command as it was typed.
    pub warnings: Diagnostics,
}

/// Shows or records the change and tells the person what happened.
pub fn record(
    call: &Call<'_>,
    matches: &ArgMatches,
    loaded: &mut Loaded,
    env: &EnvName,
    intent: Intent<'_>,
) -> Result<Outcome, Diagnostics> {
    refuse_missing_program(call, matches, loaded, env, intent.planned)?;
    let prepared = intent.prepared;
    let mut warnings = own_warnings(intent.planned, prepared);
    let new = intent.planned.entries.iter().filter(|entry| entry.is_new);
    warnings.extend(loaded.in_place(new.map(|entry| entry.kind.as_str())));
    warnings.extend(intent.warnings);
    if matches.get_flag("dry-run") {
        let shown = dry_run::show(call.context, loaded, env, prepared, &intent.planned.notes);
        return Ok(shown.with_warnings(warnings));
    }
    if !args::stops_after_recording(call.context, matches)? {
        let notes = said(intent.planned);
        let mut wanted =
            Wanted::new(env, &prepared.compiled, prepared.change.clone(), intent.message, matches)?;
        if let Some((name, job)) = intent.adopt
            && let Ok(name) = name.parse()
        {
            wanted.adopt.insert(name, adopt::address(job));
        }
        (wanted.warnings, wanted.planned) = (warnings, Some(intent.planned));
        return flow::record_and_apply_as(call, loaded, prepared, wanted, &notes);
    }
    let recorded = recording::commit(call.context, loaded, env, prepared, intent.message)?;
    let style = Style(call.context.color_stdout);
    let mut text = String::new();
    if recorded.commit.is_none() {
        text.push_str("Nothing to change: the estate says so already.\n");
    }
    for entry in intent.planned.entries.iter().rev() {
        let why =
            entry.because.as_ref().map(|because| style.dim(&format!("  ({because})"))).unwrap_or_default();
        if recorded.commit.is_some() {
            let done = style.green(if entry.is_new { "Created" } else { "Updated" });
            let name = style.bold(entry.name.as_str());
            let kind =
                if entry.kind == entry.name.as_str() { String::new() } else { format!("{} ", entry.kind) };
            text.push_str(&format!("{done} {kind}{name} in {env}{why}\n"));
        }
    }
    for note in &intent.planned.notes {
        text.push_str(&below("  ", "  ", note, call.context.width, 4));
    }
    text.push_str(&loaded.hint(env, &recording::secrets_text(&prepared.made)));
    if let Some(commit) = &recorded.commit {
        let compiled = match recorded.difference.count() {
            0 => format!("build/{env} stays as it is"),
            1 => format!("1 file written under build/{env}"),
            count => format!("{count} files written under build/{env}"),
        };
        text.push_str(&format!("Recorded as {}; {compiled}.\n", &commit[..10]));
        text.push_str(&loaded.hint(env, "Nothing was applied: eos apply does that.\n"));
    }
    let json = document(intent.planned, &prepared.made, recorded.commit.as_deref(), &recorded.difference);
    Ok(Outcome::new(text, json).with_warnings(warnings))
}

/// A program of one's own has to be there, where that can be seen: on this machine.
fn refuse_missing_program(
    call: &Call<'_>,
    matches: &ArgMatches,
    loaded: &Loaded,
    env: &EnvName,
    planned: &Planned,
) -> Result<(), Diagnostics> {
    let given = matches.try_get_one::<String>("binary").ok().flatten();
    let Some(binary) = given.filter(|binary| binary.starts_with('/')) else { return Ok(()) };
    let says = |entry: &&PlannedEntry| entry.entry.get("binary").and_then(Json::as_str) == Some(binary);
    let Some(entry) = planned.entries.iter().find(says) else { return Ok(()) };
    let environment = loaded.environment(env)?;
    let host = entry.entry.get("host").and_then(Json::as_str).and_then(|host| environment.hosts.get(host));
    let Some(host) = host.filter(|host| this_machine::is_it(call.context, &loaded.estate, host)) else {
        return Ok(());
    };
    let is_program = fs_err::metadata(binary)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if is_program {
        return Ok(());
    }
    let message = format!("--binary: there is no program {binary} on {}, which is this machine", host.name);
    Err(Diagnostic::error(codes::BAD_VALUE, message)
        .why(format!("Nomad would start {} over and over and find nothing", entry.name))
        .fix("put it there and make it executable first, or name another; left out, Debian's package is installed")
        .into())
}

/// Warnings about what the command touched; `eos compile` shows those about the rest.
fn own_warnings(planned: &Planned, prepared: &Prepared) -> Diagnostics {
    let touched = |message: &str| {
        planned
            .entries
            .iter()
            .any(|entry| message.split([' ', ',', ':']).any(|word| word == entry.name.as_str()))
    };
    Diagnostics(
        prepared.compiled.warnings.0.iter().filter(|warning| touched(&warning.message)).cloned().collect(),
    )
}

/// What is said before the plan: what comes along, and what was chosen.
fn said(planned: &Planned) -> Vec<String> {
    let along = planned.entries.iter().rev().filter_map(|entry| {
        let because = entry.because.as_ref()?;
        Some(format!("{} comes along: {because}", entry.name))
    });
    along.chain(planned.notes.iter().cloned()).collect()
}

fn document(
    planned: &Planned,
    made: &[(eos_model::SecretRef, Secret)],
    commit: Option<&str>,
    difference: &build_folder::Difference,
) -> Json {
    let entries: Vec<Json> = planned.entries.iter().map(|entry| json!({"name": entry.name, "kind": entry.kind, "entry": entry.entry, "because": entry.because})).collect();
    let secrets: BTreeMap<String, &str> =
        made.iter().map(|(reference, secret)| (reference.to_string(), secret.expose())).collect();
    json!({"entries": entries, "notes": planned.notes, "secrets": secrets, "commit": commit, "applied": false,
           "build": {"added": difference.added, "changed": difference.changed, "removed": difference.removed}})
}
