//! What a resource is to the rest of the provider.
//!
//! To add one: write its attributes into `eos-model/provider-schema.json`, a type that implements [`Resource`] in a file
//! of its own, and a row in [`RESOURCES`]. Everything here blocks: a call has a thread of its own. Long work looks at
//! `call.stop` between its steps and ends with an error that says how far it got. A panic becomes a diagnostic.
//!
//! Values arrive as [`Object`]s by attribute name and leave the same way; what is left out is null. Attributes that are
//! `computed` must be set by `plan` (to a value, or to `Value::Unknown` when only `create` or `update` can know it).

use eos_model::Diagnostics;

use crate::call::Call;
use crate::nomad_job::NomadJob;
use crate::salt_state::SaltState;
use crate::value::Object;

/// Every resource of the provider, sorted by name.
pub const RESOURCES: &[&dyn Resource] = &[&NomadJob, &SaltState];

/// A resource by the name it has in the schema.
pub fn find(type_name: &str) -> Option<&'static dyn Resource> {
    RESOURCES.iter().copied().find(|resource| resource.type_name() == type_name)
}

/// What the state holds of an object: its attributes, and bytes that only the provider reads (no secrets: the state
/// is not always encrypted).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    pub object: Object,
    pub private: Vec<u8>,
}

/// What is to become of an object.
#[derive(Debug, Clone, Default)]
pub struct Planned {
    pub object: Object,
    /// Handed to `create` or `update`, in this run or in a later one.
    pub private: Vec<u8>,
    /// Attributes whose change cannot be made in place.
    pub replace: Vec<&'static str>,
}

/// What came of a creation or an update.
#[derive(Debug, Clone, Default)]
pub struct Applied {
    /// What is there now, also after an error: what was begun must not be forgotten. None when nothing is.
    pub recorded: Option<Recorded>,
    pub diagnostics: Diagnostics,
}

pub trait Resource: Send + Sync {
    /// As in the schema.
    fn type_name(&self) -> &'static str;

    /// Judges the configuration alone, without asking anybody. Values may be unknown.
    fn validate(&self, config: &Object) -> Diagnostics;

    /// Decides what `proposed` (the configuration, and the computed values of before) becomes. Not called for a
    /// deletion. A target that cannot be reached is "not known yet" when there is no `prior`, else an error.
    fn plan(&self, call: &Call, prior: Option<&Recorded>, proposed: &Object) -> Result<Planned, Diagnostics>;

    /// What is really there; none only when the object is known to be gone, never because nobody could be asked.
    fn read(&self, call: &Call, recorded: &Recorded) -> Result<Option<Recorded>, Diagnostics>;

    /// Makes the object, or adopts one that bears our mark of ownership.
    fn create(&self, call: &Call, planned: &Recorded) -> Applied;

    fn update(&self, call: &Call, prior: &Object, planned: &Recorded) -> Applied;

    /// Removes the object. Ok means that it is gone: on any doubt this is an error, since tofu then forgets it.
    fn delete(&self, call: &Call, prior: &Object) -> Result<(), Diagnostics>;

    /// An object that exists, by the id a person gives to `tofu import`.
    fn import(&self, call: &Call, id: &str) -> Result<Recorded, Diagnostics>;
}

impl Applied {
    pub fn done(recorded: Recorded) -> Applied {
        Applied { recorded: Some(recorded), diagnostics: Diagnostics::new() }
    }

    /// Nothing was made or changed.
    pub fn nothing(diagnostics: impl Into<Diagnostics>) -> Applied {
        Applied { recorded: None, diagnostics: diagnostics.into() }
    }

    /// Something was, and then it went wrong.
    pub fn failed(recorded: Recorded, diagnostics: impl Into<Diagnostics>) -> Applied {
        Applied { recorded: Some(recorded), diagnostics: diagnostics.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_of_the_schema_has_a_row() {
        let names: Vec<&str> = RESOURCES.iter().map(|resource| resource.type_name()).collect();
        let mut described: Vec<String> = crate::schema::resources().into_keys().collect();
        described.sort();
        assert_eq!(names, described);
        assert!(find("eos_nomad_job").is_some() && find("eos_other").is_none());
    }
}
