//! How carrying out a change ended, and what is said of it.

use std::time::Duration;

use eos_engine::{Layout, Report, problems};
use eos_model::{Diagnostics, EnvName, Name, UnitId};
use serde_json::json;

use super::shown::Shown;
use crate::commands::Call;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Recorded;
use crate::views::report as report_view;

/// How it ended.
pub enum Ended {
    /// The person said no: nothing was recorded, nothing was done.
    Declined,
    /// Recorded; there was nothing to apply.
    NothingToDo(Recorded),
    /// With how long the run itself took.
    Ran(Recorded, Box<Report>, Duration),
    /// Recorded; the run did not begin: what does it now, and why.
    NotBegun(Recorded, &'static str, Diagnostics),
}

impl Ended {
    /// A run that could not begin. Where the change is recorded already that is said: typed again, the command would be
    /// refused or make another change.
    pub fn not_begun(recorded: Recorded, adopts: bool, mut found: Diagnostics) -> Result<Ended, Diagnostics> {
        if recorded.commit.is_none() {
            return Err(found);
        }
        if adopts {
            return Ok(Ended::NotBegun(recorded, "the same eos adopt again does it.", found));
        }
        for fix in found.0.iter_mut().filter_map(|problem| problem.fix.as_mut()) {
            *fix = fix.replace(problems::AGAIN, "eos apply");
        }
        Ok(Ended::NotBegun(recorded, "eos apply does it.", found))
    }
}

/// What is said at the end. The plan itself was shown before.
pub fn outcome(call: &Call<'_>, loaded: &Loaded, env: &EnvName, ended: Ended, shown: &Shown) -> Outcome {
    let context = call.context;
    let plan = shown.document();
    let outcome = match ended {
        Ended::Declined => {
            let document = json!({"applied": false, "declined": true, "plan": plan});
            Outcome::new("Nothing was changed.\n", document).exits(exit_code::REFUSED)
        }
        Ended::NothingToDo(recorded) => {
            let text = recorded.commit.as_ref().map(|commit| format!("Recorded as {}.\n", &commit[..10]));
            let document = json!({"applied": true, "commit": recorded.commit, "plan": plan});
            Outcome::new(text.unwrap_or_default(), document)
        }
        Ended::Ran(recorded, report, took) => {
            let outputs = published(loaded, env, &report);
            let mut text = String::new();
            if let Some(commit) = &recorded.commit {
                text.push_str(&format!("Recorded as {}.\n", &commit[..10]));
            }
            let told =
                report_view::text(&report, &outputs, took.as_secs(), context.width, context.color_stdout);
            text.push_str(&loaded.hint(env, &told));
            let mut document = json!({"applied": true, "commit": recorded.commit, "plan": plan});
            document["report"] = report_view::document(&report, &outputs);
            let exit = report_view::exit(&report);
            let problems = loaded.in_environment(env, report_view::problems(*report));
            Outcome::new(text, document).with_warnings(problems).exits(exit)
        }
        Ended::NotBegun(recorded, next, found) => {
            let text = recorded.told(&loaded.hint(env, next), context.width);
            let document = json!({"applied": false, "commit": recorded.commit, "plan": plan});
            let exit = exit_code::of(&found);
            Outcome::new(text, document).with_warnings(loaded.in_environment(env, found)).exits(exit)
        }
    };
    outcome.with_warnings(shown.unsaid(context))
}

/// The outputs of the units that are there now, as they were published.
pub fn published(loaded: &Loaded, env: &EnvName, report: &Report) -> report_view::Outputs {
    let layout = Layout::new(loaded.estate.root.clone());
    let read = |name: &Name| {
        let path = layout.outputs(&UnitId { env: env.clone(), name: name.clone() });
        let mut document: serde_json::Value = serde_json::from_slice(&fs_err::read(path).ok()?).ok()?;
        serde_json::from_value(document["outputs"].take()).ok()
    };
    report.units.keys().filter_map(|name| Some((name.clone(), read(name)?))).collect()
}
