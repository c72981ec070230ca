//! `eos doctor`: is this machine fit, is this estate sound?

use clap::{ArgMatches, Command};
use eos_catalog::Folder;
use eos_deps::TERRAFORM_INSTEAD;
use eos_engine::{Applied, Layout, Outcome as Ending, runs};
use eos_model::{Diagnostic, Diagnostics, Severity, codes};
use eos_pillar::lock_file::{LOCK_FILE, VENDORED_CATALOG};
use eos_secrets::Identity;
use serde_json::json;

use super::{Call, doctor_nomad, tools};
use crate::exit_code;
use crate::identity_place;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::run::{self, undoing};
use crate::views::runs::how;
use crate::views::style::Style;
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command.after_help("Checks tools, the identity for secrets and, inside an estate, that everything compiles, that no run is\nunfinished, and that Nomad can start what the estate asks for.\nExit 1 when something is wrong.\n\nExample:\n  eos doctor"))
}

pub enum Finding {
    Good(String),
    /// Something is missing that may not be needed.
    Note(String, String),
    Bad(String, String),
}

pub fn run(call: &Call<'_>, _: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut findings = Vec::new();
    let loaded = Loaded::open(call.context);
    // Without an estate: what eos init would choose.
    let executor = match &loaded {
        Ok(loaded) => loaded.estate.file.executor.clone(),
        Err(_) => tools::tools(call.context)?.executor()?.to_owned(),
    };
    machine(call, &executor, &mut findings)?;
    match loaded {
        Ok(loaded) => estate(call, &loaded, &mut findings)?,
        Err(found) if found.0.iter().all(|d| d.code == codes::NO_ESTATE) => {
            findings.push(Finding::Note("not inside an estate".to_owned(), "eos init shop".to_owned()))
        }
        Err(found) => findings.extend(found.0.into_iter().map(bad)),
    }
    let style = Style(call.context.color_stdout);
    let mut text = String::new();
    let mut documents = Vec::new();
    let mut bad = 0;
    for finding in &findings {
        let (mark, level, message, fix) = match finding {
            Finding::Good(message) => (style.green("ok  "), "good", message, None),
            Finding::Note(message, fix) => (style.yellow("note"), "note", message, Some(fix)),
            Finding::Bad(message, fix) => {
                bad += 1;
                (style.red("bad "), "bad", message, Some(fix))
            }
        };
        let width = call.context.width;
        text.push_str(&below("ok    ", &format!("{mark}  "), message, width, 6));
        if let Some(fix) = fix.filter(|fix| !fix.is_empty()) {
            text.push_str(&below("      try: ", &format!("      {} ", style.cyan("try:")), fix, width, 11));
        }
        documents.push(json!({"level": level, "message": message, "fix": fix}));
    }
    Ok(Outcome::new(text, json!({ "findings": documents })).exits(if bad > 0 {
        exit_code::FAILED
    } else {
        0
    }))
}

pub fn bad(problem: Diagnostic) -> Finding {
    let place = problem.place.as_ref().map(|place| match place.line {
        0 if problem.message.contains(place.file.as_str()) => String::new(),
        0 => format!(", in {}", place.file),
        line => format!(", at {}:{line}:{}", place.file, place.column),
    });
    let message = format!("{}: {}{}", problem.code, problem.message, place.unwrap_or_default());
    Finding::Bad(message, problem.fix.unwrap_or_default())
}

fn machine(call: &Call<'_>, executor: &str, findings: &mut Vec<Finding>) -> Result<(), Diagnostics> {
    let tools = tools::tools(call.context)?;
    for tool in
        tools.list().into_iter().filter(|tool| [executor, "nomad", "salt"].contains(&tool.name.as_ref()))
    {
        findings.push(match tool.found {
            Some(found) => Finding::Good(format!("{} {} ({})", tool.name, found.version, found.source)),
            None if tools.stand_in(&tool.name).is_some() => Finding::Note(
                format!("{0} is not here, and eos.toml says that {0} applies this estate", tool.name),
                format!("eos tools install {}; or {TERRAFORM_INSTEAD}", tool.name),
            ),
            None => Finding::Note(
                format!("{} is not here; compiling does not need it", tool.name),
                format!("eos tools install {}", tool.name),
            ),
        });
    }
    findings.push(match Identity::load(&call.context.identity_file) {
        Ok(_) if let Err(inside) = identity_place::refuse_here(call.context) => bad(inside),
        Ok(_) => Finding::Good(format!("identity for secrets at {}", call.context.identity_file)),
        Err(_) if !call.context.identity_file.exists() => Finding::Note(
            "no identity for secrets yet".to_owned(),
            "eos secret identity makes one".to_owned(),
        ),
        Err(found) => found.0.into_iter().next().map_or_else(
            || Finding::Bad("the identity for secrets cannot be read".to_owned(), String::new()),
            bad,
        ),
    });
    Ok(())
}

fn estate(call: &Call<'_>, loaded: &Loaded, findings: &mut Vec<Finding>) -> Result<(), Diagnostics> {
    let dirty = loaded.estate.git.dirty()?;
    findings.push(match dirty.len() {
        0 => Finding::Good(format!("estate {}: all that eos reads is committed", loaded.estate.file.name)),
        count => Finding::Note(
            format!("{count} file(s) with changes that are not committed, {} among them", dirty[0]),
            "git status".to_owned(),
        ),
    });
    if let (Ok(identity), Ok(recipients)) =
        (Identity::load(&call.context.identity_file), eos_secrets::read_recipients(&loaded.estate.root))
    {
        findings.push(if recipients.contains(&identity.public()) {
            Finding::Good("you can read this estate's secrets".to_owned())
        } else {
            Finding::Bad(
                "you are not among the recipients of this estate's secrets".to_owned(),
                format!("somebody who is: eos secret recipients add {}", identity.public()),
            )
        });
    }
    if loaded.estate.file.executor == "terraform" {
        findings.push(Finding::Note(
            "terraform applies this estate: its state is not encrypted, and may hold secrets".to_owned(),
            "keep it where nobody else can read it; executor = \"tofu\" in eos.toml encrypts it".to_owned(),
        ));
    }
    for covered in loaded.in_place(loaded.catalog.kinds()).0 {
        findings.push(Finding::Note(covered.message, covered.fix.unwrap_or_default()));
    }
    let checked = tools::pinned_versions(call.context, &loaded.estate.file.executor);
    for (name, version) in checked.iter().filter(|(name, version)| {
        loaded.estate.lock.tools.get(*name).is_some_and(|recorded| recorded != *version)
    }) {
        findings.push(Finding::Note(
            format!(
                "{LOCK_FILE} has {name} {}, and this eos is checked with {version}",
                loaded.estate.lock.tools[name]
            ),
            "eos upgrade records it".to_owned(),
        ));
    }
    for (kind, digest) in &loaded.estate.lock.catalog {
        let copy = Folder::read(&loaded.estate.root.join(VENDORED_CATALOG).join(kind));
        if !copy.is_ok_and(|folder| folder.digest() == *digest) {
            findings.push(Finding::Bad(
                format!(
                    "{VENDORED_CATALOG}/{kind} is not what {LOCK_FILE} pins; a newer eos could not compile it"
                ),
                format!("git log -- {VENDORED_CATALOG}/{kind} shows who changed it; bring it back"),
            ));
        }
    }
    let kept = loaded.secrets()?;
    if !kept.is_empty() && Identity::load(&call.context.identity_file).is_err() {
        findings.push(Finding::Bad(
            format!("the estate has {} secret(s) and you have no identity to read them with", kept.len()),
            "bring back your backup of it, or eos secret identity and let somebody add you".to_owned(),
        ));
    }
    let mut jobs = Vec::new();
    for env in loaded.estate.file.environments.keys() {
        match loaded.compile(&loaded.tree, env) {
            Ok(compiled) => {
                jobs.extend(doctor_nomad::jobs(env, &compiled.files));
                findings.push(Finding::Good(format!("{env} compiles: {} unit(s)", compiled.order.len())))
            }
            Err(found) => {
                let errors = found.0.into_iter().filter(|d| d.severity == Severity::Error);
                findings.extend(errors.map(|d| match bad(d) {
                    Finding::Bad(message, fix) => Finding::Bad(format!("{env}: {message}"), fix),
                    other => other,
                }))
            }
        }
        if let Ok(environment) = loaded.environment(env) {
            for reference in super::secret::missing(&environment, &kept) {
                findings.push(Finding::Bad(
                    format!(
                        "{env}: the secret {}/{} version {} has no file",
                        reference.name, reference.key, reference.version
                    ),
                    format!("eos secret set {}/{} --env {env}", reference.name, reference.key),
                ));
            }
        }
    }
    unfinished_runs(loaded, findings)?;
    if loaded.estate.file.nomad.is_some() || !jobs.is_empty() {
        findings.extend(doctor_nomad::findings(call, loaded, &jobs));
    }
    Ok(())
}

/// Runs that were cut off, failed or were stopped, and that nobody has gone on with.
fn unfinished_runs(loaded: &Loaded, findings: &mut Vec<Finding>) -> Result<(), Diagnostics> {
    let layout = Layout::new(loaded.estate.root.clone());
    let (known, unreadable) = runs::open(&layout)?;
    findings.extend(unreadable.0.into_iter().map(bad));
    for known in known.iter().filter(|known| !known.in_progress) {
        let (begun, how) = (&known.run.begun, how(known));
        let (records, _) = run::store(&loaded.estate, &layout)?;
        let applied = Applied::new(records.as_ref()).units(&begun.env)?;
        let ways = loaded.hint(&begun.env, &undoing::ways_on(loaded, &known.run, &applied));
        let message = format!("run {} in {} {how}: {}", begun.run, begun.env, begun.command);
        // One that was stopped on purpose is in order as it is.
        findings.push(match known.run.outcome {
            Some(Ending::Stopped) => Finding::Note(message, ways),
            _ => Finding::Bad(message, ways),
        });
    }
    Ok(())
}
