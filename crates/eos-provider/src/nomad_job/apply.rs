//! Creating and updating: secrets, registration, and the wait until the job is what it should be.

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_nomad::{Client, Error, Failure, Goal, Job, Limits, Outcome, Patience, Progress, watch};
use serde_json::json;

use super::private::Private;
use super::secrets::{self, Secrets};
use super::spec::{Spec, attempt_of, owner_of};
use super::survey::{Survey, survey};
use super::{recorded_spec, target, trouble};
use crate::call::Call;
use crate::redact::Redact;
use crate::resource::{Applied, Recorded};
use crate::value::Object;

/// `prior` is none for a creation.
pub fn apply(call: &Call, prior: Option<&Object>, planned: &Recorded) -> Applied {
    let mut work = match Work::prepare(call, prior, planned) {
        Ok(work) => work,
        Err(found) => return Applied::nothing(found),
    };
    let redact = work.secrets.redact();
    let mut applied = work.run(&redact);
    applied.diagnostics = redact.diagnostics(applied.diagnostics);
    applied
}

struct Work<'a> {
    call: &'a Call<'a>,
    planned: &'a Object,
    prior: Option<(&'a Object, Spec)>,
    spec: Spec,
    client: Client,
    goal: Goal,
    secrets: Secrets,
    survey: Survey,
    /// The index the registration is bound to.
    check_index: u64,
}

/// What is in Nomad when the wait begins.
struct Begun {
    job: Job,
    evaluation: Option<String>,
    variable_index: Option<u64>,
}

impl<'a> Work<'a> {
    /// Everything that can be refused is refused here, before anything is changed.
    fn prepare(
        call: &'a Call,
        prior: Option<&'a Object>,
        planned: &'a Recorded,
    ) -> Result<Work<'a>, Diagnostics> {
        let object = &planned.object;
        let spec = recorded_spec(object)?;
        let prior = prior.map(|prior| Ok::<_, Diagnostics>((prior, recorded_spec(prior)?))).transpose()?;
        let client = target::client(call, &spec, object, Patience::LONG)?;
        // Whether anybody is there is known soon; only work that has begun waits for longer.
        let goal = target::goal(object);
        let survey =
            survey(&client.with_patience(Patience::SHORT), &spec, goal).map_err(trouble::diagnostics)?;
        let now = survey.job.as_ref().map_or(0, |job| job.job_modify_index);
        if let Some(job) = &survey.job {
            let mark = owner_of(&job.meta);
            let ours = mark.is_some() && mark == spec.owner.as_deref();
            let recorded = prior.as_ref().is_some_and(|(_, before)| mark == before.owner.as_deref());
            if !ours && !recorded {
                return Err(trouble::not_ours(&spec.id, mark, spec.owner.as_deref()).into());
            }
        }
        let seen = Private::read(&planned.private).seen_index.filter(|_| prior.is_some());
        if let Some(seen) = seen.filter(|seen| *seen != now) {
            return Err(trouble::changed(&spec.id, seen, now).into());
        }
        let secrets = Secrets::resolve(call.settings, &spec)?;
        Ok(Work { call, planned: object, prior, spec, client, goal, secrets, survey, check_index: now })
    }

    fn run(&mut self, redact: &Redact) -> Applied {
        let begun = match self.begin() {
            Ok(begun) => begun,
            Err(applied) => return applied,
        };
        let limits = if self.goal == Goal::Complete { Limits::BATCH } else { Limits::SERVICE };
        let name = self.planned.text("name").unwrap_or(&self.spec.id);
        let mut tell = |progress: &Progress| {
            self.call.progress(name, &redact.text(&in_words(self.goal, progress)), counts(progress));
        };
        let evaluation = begun.evaluation.as_deref();
        match watch(&self.client, &begun.job, evaluation, self.goal, limits, &mut tell) {
            Ok(Outcome::Reached) => Applied::done(self.record(self.planned, true, &begun)),
            Ok(Outcome::Failed(failure)) => {
                for line in &failure.details {
                    self.call.log(name, &redact.text(line));
                }
                self.failed(failure, &begun)
            }
            Err(error) => {
                let found = match &error {
                    Error::Stopped { .. } => {
                        trouble::interrupted(&format!("waiting for job {}", self.spec.id))
                    }
                    other => trouble::diagnostic(other),
                };
                Applied::failed(self.record(self.planned, false, &begun), found)
            }
        }
    }

    /// Secrets, then the registration, unless the job is there already as it should be.
    fn begin(&mut self) -> Result<Begun, Applied> {
        let older = self.prior.as_ref().map(|(_, spec)| spec);
        let variable_index = match self.secrets.write(&self.client, &self.spec, older) {
            Ok(index) => index,
            // They may be there all the same: without the state nobody would ever take them away.
            Err(error) if error.is_uncertain() || matches!(error, Error::Stopped { .. }) => {
                return Err(self.uncertain(trouble::diagnostic(&error), None));
            }
            Err(error) => return Err(Applied::nothing(trouble::diagnostics(error))),
        };
        let before = self.survey.job.as_ref();
        let attempt = before.and_then(|job| attempt_of(&job.meta));
        let again = self.survey.needs_another_attempt() && !self.survey.needs_registration();
        if let (Some(job), false, false) = (before, again, self.survey.needs_registration()) {
            return Ok(Begun { job: job.clone(), evaluation: None, variable_index });
        }
        let attempt = if again { Some(attempt.unwrap_or(0) + 1) } else { attempt };
        let evaluation = match self.register(attempt) {
            Ok(evaluation) => evaluation,
            Err(error) => return Err(self.not_registered(&error, variable_index)),
        };
        match self.client.job(&self.spec.id) {
            Ok(Some(job)) => Ok(Begun { job, evaluation, variable_index }),
            Ok(None) => Err(self.uncertain(
                Diagnostic::error(codes::JOB_FAILED, format!("job {} is gone again", self.spec.id))
                    .why("somebody removed it right after it was registered")
                    .fix("plan again"),
                variable_index,
            )),
            Err(error) => Err(self.uncertain(trouble::diagnostic(&error), variable_index)),
        }
    }

    /// An answer that was lost leaves open whether it was registered: looking again tells.
    fn register(&self, attempt: Option<u64>) -> Result<Option<String>, Error> {
        let document = self.spec.document(self.client.namespace(), attempt);
        let mut error = match self.client.register(&self.spec.id, &document, self.check_index) {
            Ok(registered) => return Ok(Some(registered.evaluation)),
            Err(error) => error,
        };
        for _ in 0..3 {
            if !error.is_uncertain() {
                return Err(error);
            }
            let plan = self.client.plan_job(&self.spec.id, &document)?;
            if plan.job_modify_index > self.check_index && plan.diff.is_empty() {
                return Ok(None);
            }
            error = match self.client.register(&self.spec.id, &document, self.check_index) {
                Ok(registered) => return Ok(Some(registered.evaluation)),
                Err(error) => error,
            };
        }
        Err(error)
    }

    fn not_registered(&self, error: &Error, variable_index: Option<u64>) -> Applied {
        if error.is_uncertain() || matches!(error, Error::Stopped { .. }) {
            return self.uncertain(trouble::diagnostic(error), variable_index);
        }
        let found = trouble::diagnostic(error);
        let Some((before, older)) = &self.prior else {
            if self.survey.job.is_none() {
                // Nothing of a job that is not there should stay behind.
                let _ = secrets::remove(&self.client, &self.spec);
            }
            return Applied::nothing(found);
        };
        let (variable_index, found) = match self.put_secrets_back(older) {
            Ok(index) => (index, found),
            Err(unrestored) => {
                let why: Vec<String> = found.why.iter().cloned().chain([unrestored]).collect();
                (variable_index, found.why(why.join("\n")))
            }
        };
        // As it was, but for the index of its variable: that was written twice.
        let private = Private { seen_index: Some(self.check_index), variable_index };
        Applied::failed(Recorded { object: (*before).clone(), private: private.write() }, found)
    }

    /// The older spec reads the older secrets. Gives the variable's index, or why they are not back.
    fn put_secrets_back(&self, older: &Spec) -> Result<Option<u64>, String> {
        Secrets::resolve(self.call.settings, older)
            .and_then(|secrets| {
                secrets.write(&self.client, older, Some(&self.spec)).map_err(trouble::diagnostics)
            })
            .map_err(|found| format!("its secrets could not be put back: {found}"))
    }

    /// The job may be there: the state says so, and the next look at Nomad says how it is.
    fn uncertain(&self, found: Diagnostic, variable_index: Option<u64>) -> Applied {
        let private = Private { seen_index: None, variable_index };
        let object = self.planned.clone().with("in_sync", false).with("modify_index", self.check_index);
        Applied::failed(Recorded { object, private: private.write() }, found)
    }

    fn record(&self, object: &Object, in_sync: bool, begun: &Begun) -> Recorded {
        let index = begun.job.job_modify_index;
        Recorded {
            object: object.clone().with("in_sync", in_sync).with("modify_index", index),
            private: Private { seen_index: Some(index), variable_index: begun.variable_index }.write(),
        }
    }

    fn failed(&self, failure: Failure, begun: &Begun) -> Applied {
        let id = &self.spec.id;
        let what = if self.goal == Goal::Complete { "complete" } else { "become healthy" };
        let mut why = vec![failure.reason];
        why.extend(failure.details);
        let reverted = failure.reverted.map(|reverted| (reverted, self.client.job(id)));
        let recorded = match (reverted, &self.prior) {
            (Some((reverted, Ok(Some(job)))), Some((before, older))) => {
                why.push(if reverted.healthy {
                    format!("Nomad went back to the older spec as version {}, which is healthy", job.version)
                } else {
                    format!(
                        "Nomad went back to the older spec as version {}; that is not healthy either",
                        job.version
                    )
                });
                let variable_index = self.put_secrets_back(older).unwrap_or_else(|unrestored| {
                    why.push(unrestored);
                    begun.variable_index
                });
                let begun = Begun { job, evaluation: None, variable_index };
                self.record(before, reverted.healthy, &begun)
            }
            (Some((_, Ok(Some(job)))), None) => {
                let variable_index = begun.variable_index;
                self.record(self.planned, false, &Begun { job, evaluation: None, variable_index })
            }
            _ => self.record(self.planned, false, begun),
        };
        let found = Diagnostic::error(codes::JOB_FAILED, format!("job {id} did not {what}"))
            .why(why.join("\n"))
            .fix(format!("nomad job status {id} shows more; remove the cause"));
        Applied::failed(recorded, found)
    }
}

fn in_words(goal: Goal, progress: &Progress) -> String {
    let Progress { desired, placed, healthy, unhealthy, note } = progress;
    let done = if goal == Goal::Complete { "complete" } else { "healthy" };
    let mut text = format!("{placed} of {desired} placed, {healthy} {done}");
    if *unhealthy > 0 {
        text.push_str(&format!(", {unhealthy} not"));
    }
    if !note.is_empty() {
        text.push_str(&format!("; {note}"));
    }
    text
}

fn counts(progress: &Progress) -> serde_json::Value {
    let Progress { desired, placed, healthy, unhealthy, .. } = progress;
    json!({"desired": desired, "placed": placed, "healthy": healthy, "unhealthy": unhealthy})
}
