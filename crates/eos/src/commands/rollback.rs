//! `eos rollback`: ask again for what was asked for at an older commit. A new commit says so; data stays.

use clap::{Arg, ArgMatches, Command};
use eos_engine::{Applied, AppliedUnit, Archive, Layout};
use eos_model::{Diagnostics, EnvName, Name, UnitId};
use serde_json::json;

use super::Call;
use crate::args;
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{self, Message, Prepared};
use crate::run::entries_back::EntriesBack;
use crate::run::flow::{self, Wanted};
use crate::run::{self, going_back, this_machine, undoing};
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("revision").value_name("COMMIT").required(true).help("A commit of eos history, or HEAD~2"))
        .args(args::changing())
        .after_help("The history stays: going back is a commit of its own. Data and secrets made since then stay too.\n\nExamples:\n  eos rollback HEAD~2\n  eos rollback HEAD~1 --dry-run"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let asked = matches.get_one::<String>("revision").map_or("", String::as_str);
    let commit = loaded.estate.git.revision(asked)?;
    let mut change = undoing::change_back(&loaded, &env, &commit)?;
    let notes = going_back::hold_hosts(&loaded, &env, &mut change, &stands(&loaded, &env));
    let compiled = loaded.compile_after(&change, &env)?;
    let message = Message::new(call, matches, format!("roll back to {}", &commit[..10]));
    if matches.get_flag("dry-run") {
        let prepared = Prepared { change, compiled, made: Vec::new() };
        let mut outcome = dry_run::show(call.context, &loaded, &env, &prepared, &notes);
        outcome.json["to"] = json!(commit);
        return Ok(outcome);
    }
    if args::stops_after_recording(call.context, matches)? {
        let pillar = EntriesBack::of(&loaded, &env, &change);
        let prepared = Prepared { change, compiled, made: Vec::new() };
        let recorded = recording::commit(call.context, &mut loaded, &env, &prepared, message)?;
        let said: String = notes.iter().map(|note| below("", "", note, call.context.width, 2)).collect();
        let text = pillar.text(call.context.width)
            + &said
            + &recorded.told(&loaded.hint(&env, "eos apply does that."), call.context.width);
        let document = json!({"to": commit, "commit": recorded.commit, "notes": notes, "pillar": pillar, "applied": false});
        return Ok(Outcome::new(text, document));
    }
    let wanted = Wanted { notes: notes.clone(), ..Wanted::new(&env, &compiled, change, message, matches)? };
    let (ended, shown) = flow::carry_out(call, &mut loaded, wanted)?;
    let mut outcome = run::ended::outcome(call, &loaded, &env, ended, &shown);
    outcome.json["notes"] = json!(notes);
    Ok(outcome)
}

/// What is applied or kept on a host, as far as that can be known from here.
fn stands(loaded: &Loaded, env: &EnvName) -> impl Fn(&str) -> Vec<String> {
    let layout = Layout::new(loaded.estate.root.clone());
    let known = || {
        run::first::refuse_missing_state(&loaded.estate, &layout)?;
        let (records, _) = run::store(&loaded.estate, &layout)?;
        let applied = Applied::new(records.as_ref());
        Ok::<_, Diagnostics>((applied.units(env)?, applied.kept(env)?))
    };
    let known = known().ok();
    let (archive, env) = (Archive::new(&layout), env.clone());
    move |host: &str| {
        let Some((applied, kept)) = &known else { return vec!["what another clone applied".to_owned()] };
        let is_on = |name: &Name, unit: &AppliedUnit| {
            let id = UnitId { env: env.clone(), name: name.clone() };
            let mut bytes = unit.digests().filter_map(|digest| archive.read(&id, digest).ok());
            unit.host.as_deref() == Some(host)
                || bytes.any(|unit| this_machine::targets(&unit).iter().any(|target| target == host))
        };
        let units = applied.iter().filter(|(name, unit)| is_on(name, unit)).map(|(name, _)| name.to_string());
        let data = kept
            .iter()
            .filter(|(_, kept)| kept.objects.iter().any(|object| object.host.as_deref() == Some(host)));
        units.chain(data.map(|(name, _)| format!("the data of {name}"))).collect()
    }
}
