//! `eos_salt_state`: Salt states applied to one declared host.
//!
//! States have no id at their target: creating, adopting and repairing are the same run. test=True is the preview and the
//! judge of drift (`in_sync`). With a `trigger` the states are an operation, run once for each new value ([`once`]) and
//! never looked at again. Nothing is undone unless `on_destroy` says how.

mod arguments;
mod findings;
mod host;
mod once;
mod preview;
mod reach;

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_salt::{Outcome, Report};
use serde_json::Value as Json;

use crate::call::Call;
use crate::resource::{Applied, Planned, Recorded, Resource};
use crate::value::{Object, Value};
use arguments::Arguments;
pub use host::is_this_machine;
use once::{Marks, Past};
use reach::Failure;

pub struct SaltState;

const IN_SYNC: &str = "in_sync";

impl Resource for SaltState {
    fn type_name(&self) -> &'static str {
        "eos_salt_state"
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        arguments::validate(config)
    }

    fn plan(&self, call: &Call, prior: Option<&Recorded>, proposed: &Object) -> Result<Planned, Diagnostics> {
        let moved = prior.is_some_and(|prior| prior.object.get("target") != proposed.get("target"));
        // A move is planned once more as a creation; that is the time to look.
        let runs = !moved && has_to_run(prior.map(|prior| &prior.object), proposed);
        if let Some(arguments) = Arguments::known(proposed).filter(|_| runs) {
            foresee(call, &arguments, prior.is_some())?;
        }
        Ok(Planned {
            object: proposed.clone().with(IN_SYNC, true),
            private: prior.map(|prior| prior.private.clone()).unwrap_or_default(),
            replace: if moved { vec!["target"] } else { Vec::new() },
        })
    }

    fn read(&self, call: &Call, recorded: &Recorded) -> Result<Option<Recorded>, Diagnostics> {
        // What was done once does not drift.
        if recorded.object.text("trigger").is_some() {
            return Ok(Some(recorded.clone()));
        }
        let arguments = Arguments::of(&recorded.object)?;
        let report = reach::run(call, &arguments, arguments.sls, true)
            .map_err(|failure| findings::of(&arguments, failure))?;
        if report.differs() {
            let text = preview::text(&arguments, &report);
            call.progress(arguments.name, &text, preview::details(&arguments, &report));
        }
        let object = recorded.object.clone().with(IN_SYNC, !report.differs());
        Ok(Some(Recorded { object, private: recorded.private.clone() }))
    }

    fn create(&self, call: &Call, planned: &Recorded) -> Applied {
        apply(call, None, planned)
    }

    fn update(&self, call: &Call, prior: &Object, planned: &Recorded) -> Applied {
        if !has_to_run(Some(prior), &planned.object) {
            return Applied::done(planned.clone());
        }
        apply(call, Some(prior), planned)
    }

    fn delete(&self, call: &Call, prior: &Object) -> Result<(), Diagnostics> {
        let arguments = Arguments::of(prior)?;
        let Some(undo) = arguments.on_destroy else {
            // An operation was never meant to be undone. Its marks stay: asked for again, by an undo of whatever took its
            // record away, it is still done.
            if arguments.trigger.is_none() {
                call.warn(&findings::nothing_undone(&arguments));
            }
            return Ok(());
        };
        call.progress(arguments.name, &format!("undoing on {}", arguments.target), Json::Null);
        let report =
            reach::run(call, &arguments, undo, false).map_err(|failure| findings::of(&arguments, failure))?;
        let found = findings::of_states(&arguments, &report);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn import(&self, _call: &Call, id: &str) -> Result<Recorded, Diagnostics> {
        Err(Diagnostic::error(codes::PROVIDER, format!("{id} cannot be imported: states are not objects"))
            .why("what the states ask for and is already there is left as it is when they are applied")
            .fix("apply the unit: that adopts what is there")
            .into())
    }
}

/// Whether the states have to be run to get from what was to what shall be.
fn has_to_run(prior: Option<&Object>, next: &Object) -> bool {
    let Some(prior) = prior else { return true };
    let differ = |name: &str| prior.get(name) != next.get(name);
    // Not in sync: the host has drifted, or the last run failed.
    if prior.bool(IN_SYNC) != Some(true) || differ("target") || differ("trigger") {
        return true;
    }
    // An operation that was done is done, whatever its text has become.
    *next.get("trigger") == Value::Null && ["sls", "pillar", "via"].into_iter().any(differ)
}

/// Shows what test=True says. A host that cannot be reached may be one that is not there yet.
fn foresee(call: &Call, arguments: &Arguments<'_>, exists: bool) -> Result<(), Diagnostics> {
    let title = |what: &str| format!("{} on {}: {what}", arguments.name, arguments.target);
    match reach::run(call, arguments, arguments.sls, true) {
        Ok(report) => {
            let (text, details) = (preview::text(arguments, &report), preview::details(arguments, &report));
            call.preview(arguments.name, &title(&preview::summary(&report)), &text, details);
            Ok(())
        }
        Err(Failure::Salt(error)) if error.is_unreachable() && !exists => {
            let text = format!("not known yet: {error}");
            call.preview(arguments.name, &title("not known yet"), &text, preview::unknown(arguments, &error));
            Ok(())
        }
        Err(failure) => Err(findings::of(arguments, failure)),
    }
}

fn apply(call: &Call, prior: Option<&Object>, planned: &Recorded) -> Applied {
    let arguments = match Arguments::of(&planned.object) {
        Ok(arguments) => arguments,
        Err(found) => return Applied::nothing(found),
    };
    call.progress(arguments.name, &format!("running states on {}", arguments.target), Json::Null);
    // The next plan runs the states again.
    let unfinished =
        || Recorded { object: planned.object.clone().with(IN_SYNC, false), private: planned.private.clone() };
    let marks = Marks::of(call, &arguments);
    match marks.as_ref().map(begin) {
        Some(Ok(Past::Done)) => return Applied::done(planned.clone()),
        Some(Ok(_)) | None => {}
        Some(Err(found)) if prior.is_some() => return Applied::failed(unfinished(), found),
        Some(Err(found)) => return Applied::nothing(found),
    }
    let ran = reach::run(call, &arguments, arguments.sls, false);
    if let Some(marks) = &marks {
        note(call, marks, &ran);
    }
    match ran {
        Ok(report) => {
            call.progress(arguments.name, &preview::summary(&report), preview::details(&arguments, &report));
            let found = findings::of_states(&arguments, &report);
            if found.is_empty() {
                Applied::done(planned.clone())
            } else if prior.is_some() || changed_something(&report) {
                Applied::failed(unfinished(), found)
            } else {
                Applied::nothing(found)
            }
        }
        Err(failure) => {
            let begun = matches!(&failure, Failure::Salt(error) if error.may_have_begun());
            let found = findings::of(&arguments, failure);
            // Of a new operation its mark tells; recorded as half-made it would be deleted first.
            let is_told = prior.is_none() && marks.is_some();
            if begun && !is_told { Applied::failed(unfinished(), found) } else { Applied::nothing(found) }
        }
    }
}

/// Notes that an operation begins, unless it was done or begun before.
fn begin(marks: &Marks<'_>) -> Result<Past, Diagnostics> {
    let past = marks.past()?;
    match past {
        Past::NotBegun => marks.begin()?,
        Past::Begun => return Err(marks.uncertain().into()),
        Past::Done => {}
    }
    Ok(past)
}

/// Notes how an operation ended, where that is known.
fn note(call: &Call, marks: &Marks<'_>, ran: &Result<Report, Failure>) {
    let noted = match ran {
        Ok(report) if report.failures().is_empty() => marks.finish(),
        Ok(_) => marks.forget(),
        Err(Failure::Salt(error)) if error.may_have_begun() => return,
        Err(_) => marks.forget(),
    };
    if let Err(found) = noted {
        found.0.iter().for_each(|found| call.warn(found));
    }
}

fn changed_something(report: &Report) -> bool {
    // A command that failed may have done half of its work.
    report.states.iter().any(|state| {
        state.outcome == Outcome::Changed
            || (state.outcome == Outcome::Failed && state.changes.as_object().is_some_and(|c| !c.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(sls: &str) -> Object {
        Object::default()
            .with("sls", sls)
            .with("target", "local")
            .with("via", "masterless")
            .with(IN_SYNC, true)
    }

    #[test]
    fn states_run_when_they_changed_or_the_host_did() {
        assert!(has_to_run(None, &states("a")));
        assert!(!has_to_run(Some(&states("a")), &states("a")));
        assert!(!has_to_run(Some(&states("a")), &states("a").with("on_destroy", "x").with("name", "other")));
        assert!(has_to_run(Some(&states("a")), &states("b")));
        assert!(has_to_run(Some(&states("a")), &states("a").with("pillar", "{}")));
        assert!(has_to_run(Some(&states("a").with(IN_SYNC, false)), &states("a")));
        assert!(has_to_run(Some(&states("a")), &states("a").with("sls", Value::Unknown)));
    }

    #[test]
    fn an_operation_runs_once_for_each_value() {
        let done = || states("a").with("trigger", "1");
        assert!(!has_to_run(Some(&done()), &done().with("sls", "written anew")));
        assert!(has_to_run(Some(&done()), &done().with("trigger", "2")));
        assert!(has_to_run(Some(&done().with(IN_SYNC, false)), &done()), "it failed the last time");
        assert!(has_to_run(Some(&done()), &states("a")), "a state from now on");
    }
}
