//! `eos locks` and `eos unlock`: who is at work on what, and taking a unit from somebody who will not come back.

use clap::{Arg, ArgMatches, Command};
use eos_engine::{Applied, Layout};
use eos_model::nearest::nearest;
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_store::Records;
use eos_store::lease::LeaseError;
use serde_json::json;

use super::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::run;
use crate::views::table::Table;
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command.after_help("Examples:\n  eos locks\n  eos unlock grafana --because \"laptop lost\""))
}

pub fn run(call: &Call<'_>, _: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let layout = Layout::new(loaded.estate.root.clone());
    let (_, leases) = run::store(&loaded.estate, &layout)?;
    let held = leases.list().map_err(unusable)?;
    let broken = leases.broken().map_err(unusable)?;
    let mut taken = String::new();
    for lease in &broken {
        let seconds = (call.context.now - lease.at.as_second()).max(0);
        let line = format!(
            "{} was taken from {} by {}, {} ago: {}",
            lease.key,
            lease.owner,
            lease.by,
            age(seconds.unsigned_abs()),
            lease.because
        );
        taken.push_str(&below("", "", &line, call.context.width, 2));
    }
    let document = json!({"locks": held, "broken": broken});
    if held.is_empty() {
        return Ok(Outcome::new(format!("Nobody is at work.\n{taken}"), document));
    }
    let mut table = Table::new(&["UNIT", "WHO", "HOST", "FOR", "ALIVE", "COMMAND"]);
    for lease in &held {
        table.row(vec![
            lease.key.clone(),
            lease.owner.user.clone(),
            lease.owner.host.clone(),
            age(lease.age.as_secs()),
            if lease.stale { "no" } else { "yes" }.to_owned(),
            lease.owner.command.clone(),
        ]);
    }
    let text = table.render(call.context.table_width, call.context.color_stdout) + &taken;
    Ok(Outcome::new(text, document))
}

pub fn unlock_command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("name").value_name("NAME").required(true).help("The unit"))
        .arg(
            Arg::new("because")
                .long("because")
                .value_name("REASON")
                .required(true)
                .help("Why its holder will not come back; kept"),
        )
        .after_help("A run that still goes on loses its lease and stops before its next step.\n\nExample:\n  eos unlock grafana --because \"laptop lost\""))
}

pub fn unlock(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let word = matches.get_one::<String>("name").map_or("", String::as_str);
    let name: Name = word.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let because = matches.get_one::<String>("because").map_or("", String::as_str);
    let layout = Layout::new(loaded.estate.root.clone());
    let (records, leases) = run::store(&loaded.estate, &layout)?;
    let by = format!("{}@{}", call.context.user, call.context.machine);
    let key = format!("{env}/{name}");
    let is_alive = leases.list().map_err(unusable)?.iter().any(|status| status.key == key && !status.stale);
    let broken = match leases.break_lease(&key, because, &by) {
        Ok(broken) => broken,
        // It is as it was asked to be.
        Err(LeaseError::NotHeld { .. }) => {
            refuse_unknown(&loaded, records.as_ref(), &env, &name)?;
            let text = format!(
                "Nobody is at work on {name} in {env}: there is nothing to take.\neos locks shows who is at work on what.\n"
            );
            return Ok(Outcome::new(text, json!({ "broken": null })));
        }
        Err(other) => return Err(unusable(other).into()),
    };
    let next = if is_alive {
        "Its run is alive: it finishes what tofu is in the middle of and stops before its next step.\nWait for it before you \
         change the unit.\n"
    } else {
        "If its run did not end: eos resume or eos undo in its clone; if that is lost, eos apply here.\n"
    };
    let text = format!("{name} was taken from {}.\n{next}", broken.owner);
    Ok(Outcome::new(loaded.hint(&env, &text), json!({ "broken": broken })))
}

/// Who mistyped a name would go on as if its unit were free.
fn refuse_unknown(
    loaded: &Loaded,
    records: &dyn Records,
    env: &EnvName,
    name: &Name,
) -> Result<(), Diagnostics> {
    // What cannot be read stands in nobody's way.
    let (Ok(asked_for), Ok(applied)) = (loaded.environment(env), Applied::new(records).units(env)) else {
        return Ok(());
    };
    let known = || asked_for.components.keys().chain(applied.keys());
    if known().any(|known| known == name) {
        return Ok(());
    }
    let fix = match nearest(name.as_str(), known().map(Name::as_str)) {
        Some(near) => format!("did you mean {near}? eos locks shows who is at work on what"),
        None => "eos locks shows who is at work on what".to_owned(),
    };
    Err(Diagnostic::error(codes::UNKNOWN_NAME, format!("there is nothing called {name} in {env}"))
        .fix(fix)
        .into())
}

pub fn unusable(error: LeaseError) -> Diagnostic {
    Diagnostic::error(codes::STORE, format!("the leases cannot be read: {error}"))
        .fix("eos doctor looks at what the estate needs")
}

/// `12 s`, `3 min`, `2 h`.
pub fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
