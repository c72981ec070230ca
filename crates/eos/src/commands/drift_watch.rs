//! `eos drift watch`: looks again and again, and says when what differs has changed. One look at a time, and one watcher
//! an environment, wherever it runs: it holds a lease of its own.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{Arg, ArgMatches, Command, value_parser};
use eos_engine::{Drift, DriftRequest, problems};
use eos_model::{Diagnostic, Diagnostics, Name, codes, date};
use eos_store::lease::{Owner, Terms};
use serde_json::json;

use super::Call;
use crate::exit_code;
use crate::outcome::Outcome;
use crate::run::{Runs, flow};
use crate::views::wrap::below;

/// After how long another may take over from a watcher that was killed.
const TTL: Duration = Duration::from_secs(30);

pub fn command(name: Arg) -> Command {
    Command::new("watch")
        .about("Look again and again, and say when something changes; ends with Ctrl-C")
        .arg(name)
        .arg(
            Arg::new("every")
                .long("every")
                .value_name("DURATION")
                .value_parser(value_parser!(eos_model::Duration))
                .default_value("5m")
                .help("From the end of one look to the next"),
        )
        .arg(
            Arg::new("times")
                .long("times")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..))
                .help("End after this many looks"),
        )
        .after_help("With --json each look is a line of its own. Exit code as of the last look: 0, 2, or that of what kept it from looking.\n\nExamples:\n  eos drift watch\n  eos drift watch grafana --every 1h --json")
}

pub fn run(
    call: &Call<'_>,
    matches: &ArgMatches,
    runs: &Runs,
    request: &DriftRequest<'_>,
) -> Result<Outcome, Diagnostics> {
    let every = matches.get_one::<eos_model::Duration>("every").map_or(300, |every| every.0);
    let times = matches.get_one::<u64>("times").copied().unwrap_or(u64::MAX);
    let owner = Owner {
        user: runs.actor.user.clone(),
        host: runs.actor.machine.clone(),
        command: runs.actor.command.clone(),
        pid: std::process::id(),
        run: "drift watch".to_owned(),
    };
    let terms = Terms { ttl: TTL, wait: Duration::ZERO, on_wait: &mut |_| ControlFlow::Break(()) };
    let key = format!("{}/drift.watch", request.env);
    let lease = runs.leases.acquire(&key, &owner, terms).map_err(|error| problems::lease(&error))?;
    let mut last: Option<(String, Result<bool, Diagnostics>)> = None;
    for look in 1..=times {
        let seen = flow::watched(call, runs, |engine| engine.drift(request));
        if runs.tools.children.is_interrupted() {
            break;
        }
        if let Some(lost) = lease.lost() {
            let problem = Diagnostic::error(codes::LEASE_LOST, format!("{key}: {lost}"));
            return Err(problem.fix("eos locks shows who watches now").into());
        }
        let (text, document) = said(request, &seen);
        if call.context.json {
            let _ = writeln!(std::io::stdout(), "{document}");
        } else if last.as_ref().is_none_or(|(before, _)| *before != text) {
            let head = format!("{} ", date::minute(now()));
            call.context.say(&below(&head, &head, &text, call.context.width, 2));
        }
        last = Some((text, seen.map(|drift| !drift.units.is_empty())));
        if look < times && !paused(runs, Duration::from_secs(every)) {
            break;
        }
    }
    let document = |differs: Option<bool>| json!({"environment": request.env, "drifted": differs});
    Ok(match last.map(|(_, seen)| seen) {
        // Stopped before the end of the first look.
        None => Outcome::new("", document(None)),
        Some(Ok(differs)) => {
            Outcome::new("", document(Some(differs))).exits(if differs { exit_code::CHANGES } else { 0 })
        }
        Some(Err(found)) => {
            let exit = exit_code::of(&found);
            Outcome::new("", document(None)).with_warnings(found).exits(exit)
        }
    })
}

/// One look in a line, and as a document.
fn said(request: &DriftRequest<'_>, seen: &Result<Drift, Diagnostics>) -> (String, serde_json::Value) {
    let env = request.env;
    match seen {
        Ok(drift) if drift.units.is_empty() => (
            format!("{env}: nothing differs"),
            json!({"at": now(), "environment": env, "drifted": false, "units": []}),
        ),
        Ok(drift) => {
            let names: Vec<&str> = drift.units.keys().map(Name::as_str).collect();
            (
                format!("{env}: {} differs from what was applied", names.join(", ")),
                json!({"at": now(), "environment": env, "drifted": true, "units": names}),
            )
        }
        Err(found) => {
            // The whole of it is told at the end, and in the document.
            let first =
                found.0.first().and_then(|problem| problem.message.lines().next()).unwrap_or_default();
            let document = json!({"at": now(), "environment": env, "drifted": null, "diagnostics": found});
            (format!("{env}: cannot look: {first}"), document)
        }
    }
}

/// Waits; not to the end when somebody says stop.
fn paused(runs: &Runs, time: Duration) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if runs.tools.children.is_interrupted() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(200).min(time));
    }
    true
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}
