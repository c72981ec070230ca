//! Reading: is the job still what was recorded?

use eos_model::Diagnostics;
use eos_nomad::{Goal, Patience};

use super::private::Private;
use super::spec::Spec;
use super::survey::survey;
use super::{recorded_spec, target, trouble};
use crate::call::Call;
use crate::resource::Recorded;

/// None when nothing of ours is left. A job that was stopped, or one that is gone while its secrets are still there, is
/// out of sync instead: forgetting it would leave those behind for good.
pub fn read(call: &Call, recorded: &Recorded) -> Result<Option<Recorded>, Diagnostics> {
    let spec: Spec = recorded_spec(&recorded.object)?;
    let goal = target::goal(&recorded.object);
    let client = target::client(call, &spec, &recorded.object, Patience::SHORT)?;
    let survey = survey(&client, &spec, goal).map_err(trouble::diagnostics)?;
    let private = Private::read(&recorded.private);
    let gone = survey.job.as_ref().is_none_or(|job| job.stop);
    if gone && goal == Goal::Complete && recorded.object.bool("in_sync") == Some(true) {
        // It has done its work; Nomad forgets such jobs after some hours.
        return Ok(Some(recorded.clone()));
    }
    if survey.job.is_none() && survey.variable_index.is_none() {
        return Ok(None);
    }
    let in_sync = survey.differences(private).is_empty();
    let seen_index = Some(survey.job.as_ref().map_or(0, |job| job.job_modify_index));
    // Import has not seen the variable; from now on a change of it is noticed.
    let variable_index = private.variable_index.or(survey.variable_index);
    Ok(Some(Recorded {
        object: recorded.object.clone().with("in_sync", in_sync),
        private: Private { seen_index, variable_index }.write(),
    }))
}
