//! `eos_nomad_job`: a Nomad job, registered and watched until it is healthy.
//!
//! Nomad's own plan of the spec is the preview, and says whether the job is in sync. A registration is bound to the index
//! the job was last seen at. A job that is there already is adopted when it bears the unit's mark, else refused.
//! Secrets are references in the spec; their values go from the estate to the job's Nomad Variable, in Apply only.

mod apply;
mod delete;
mod import;
mod plan;
mod preview;
mod private;
mod read;
mod secrets;
mod spec;
mod survey;
mod target;
mod there;
mod trouble;
mod words;

use eos_model::{Diagnostic, Diagnostics, codes};
pub use preview::is_secret;
pub use secrets::{redact_tasks, take_out_secrets};
use spec::Spec;
pub use spec::as_registered;

use crate::call::Call;
use crate::resource::{Applied, Planned, Recorded, Resource};
use crate::value::Object;

/// The attributes a person writes.
const CONFIGURED: &[&str] = &["data_classes", "name", "namespace", "purge_on_destroy", "spec", "wait"];

pub struct NomadJob;

impl Resource for NomadJob {
    fn type_name(&self) -> &'static str {
        "eos_nomad_job"
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        match config.text("spec").map(Spec::parse) {
            Some(Ok(spec)) => spec.check(config),
            Some(Err(found)) => found,
            // Not known yet.
            None => Diagnostics::new(),
        }
    }

    fn plan(&self, call: &Call, prior: Option<&Recorded>, proposed: &Object) -> Result<Planned, Diagnostics> {
        plan::plan(call, prior, proposed)
    }

    fn read(&self, call: &Call, recorded: &Recorded) -> Result<Option<Recorded>, Diagnostics> {
        read::read(call, recorded)
    }

    fn create(&self, call: &Call, planned: &Recorded) -> Applied {
        apply::apply(call, None, planned)
    }

    fn update(&self, call: &Call, prior: &Object, planned: &Recorded) -> Applied {
        apply::apply(call, Some(prior), planned)
    }

    fn delete(&self, call: &Call, prior: &Object) -> Result<(), Diagnostics> {
        delete::delete(call, prior)
    }

    fn import(&self, call: &Call, id: &str) -> Result<Recorded, Diagnostics> {
        import::import(call, id)
    }
}

/// The spec of an object that is or will be.
fn recorded_spec(object: &Object) -> Result<Spec, Diagnostics> {
    let text = object.text("spec").ok_or_else(|| {
        Diagnostic::error(codes::BAD_JOB, "the job has no spec")
            .why("the attribute spec is null or not known")
            .fix("compile the unit again, and plan it again")
    })?;
    Spec::parse(text)
}
