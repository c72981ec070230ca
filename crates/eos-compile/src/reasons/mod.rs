//! Why each line of an artifact is there, as far as the provenance does not say it.
//!
//! The provenance, which is part of `build/`, has what a setting, a host or a default is behind. The rest is worked out
//! here, for `eos why` alone: a table for each kind of file says which values are the emitter's own doing and why, and
//! which key of the catalogue the others come from. A key that a feature or a runtime laid over the component leads on to
//! the choice that turned it on.

mod behind;
mod lines;
mod manifest;
mod nomad;
mod operations;
mod salt;
mod tofu;

use crate::origin::Origin;
use crate::passes;
use crate::passes::emit_nomad::provisions;
use crate::passes::resolve_names::OPERATIONS;
use crate::work::{Input, Unit, Work};

pub use lines::{Path, Step, json_line_of, json_paths};

/// Why a line is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The compiler writes it by itself.
    Compiler(&'static str),
    /// Somebody wrote it there.
    From(Origin),
}

/// What is behind a value, as the tables have it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    Compiler(&'static str),
    /// The component says it, at this path.
    Component(Vec<String>),
    /// The component has such a key, whatever others add below it.
    Key(Vec<String>),
    /// A choice in the entry of the unit: `replicas`, `needs:database`.
    Chosen(String),
    /// A key of `eos.toml`.
    Estate(String),
    /// The unit's tier, or its environment's.
    Tier,
}

impl Cause {
    fn component(path: &[&str]) -> Cause {
        Cause::Component(path.iter().map(|step| (*step).to_owned()).collect())
    }

    fn chosen(path: impl Into<String>) -> Cause {
        Cause::Chosen(path.into())
    }
}

/// The reasons of each line of a unit's file, in the order of the lines; `text` is the file as it compiles.
pub fn of(input: &Input<'_>, unit: &str, file: &str, text: &str) -> Vec<Vec<Reason>> {
    let mut work = Work::new(input);
    passes::resolve(&mut work);
    let paths = if file.ends_with(".sls") { lines::sls_paths(text) } else { json_paths(text) };
    if unit == OPERATIONS {
        return paths.iter().map(|path| operations::reasons(&work, file, path)).collect();
    }
    let Some(unit) = work.units.values().find(|known| known.id.name.as_str() == unit) else {
        return vec![Vec::new(); paths.len()];
    };
    let job = file.strip_prefix("jobs/").and_then(|name| name.strip_suffix(".nomad.json"));
    match (file, job) {
        ("main.tf.json", _) => each(&work, unit, unit, &paths, |path| tofu::causes(unit, path)),
        ("manifest.json", _) => each(&work, unit, unit, &paths, manifest::causes),
        ("provenance.json" | "inputs.auto.tfvars.json", _) => {
            each(&work, unit, unit, &paths, |_| manifest::whole_file(file))
        }
        (_, Some(job)) if job == unit.id.name.as_str() => {
            let table = nomad::Jobs::service(&work, unit, text);
            each(&work, unit, unit, &paths, |path| table.causes(path))
        }
        (_, Some(job)) => match provisions(&work, unit).into_iter().find(|found| found.file == job) {
            Some(provision) => {
                let table = nomad::Jobs::provision(&work, unit, &provision, text);
                each(&work, unit, provision.owner, &paths, |path| table.causes(path))
            }
            None => vec![Vec::new(); paths.len()],
        },
        (_, None) => each(&work, unit, unit, &paths, |path| salt::causes(unit, file, path)),
    }
}

/// Leads the causes of each line back; `owner` is whose component says what the file is made from.
fn each(
    work: &Work<'_>,
    unit: &Unit<'_>,
    owner: &Unit<'_>,
    paths: &[Path],
    causes: impl Fn(&Path) -> Vec<Cause>,
) -> Vec<Vec<Reason>> {
    paths.iter().map(|path| behind::reasons(work, unit, owner, causes(path))).collect()
}
