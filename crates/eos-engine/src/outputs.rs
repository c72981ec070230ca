//! Outputs of applied units: inputs of later ones, and plain JSON for whoever wants to read them.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Name, UnitId, codes};
use eos_tofu::{Output, Outputs};
use serde_json::{Value as Json, json};

use crate::applied::AppliedUnit;
use crate::files;
use crate::layout::Layout;
use crate::outlook::no_output;
use crate::plan::Awaited;
use crate::unit::InputSource;

/// Values that may be kept and shown, and the names of those that may not.
pub(crate) fn split(outputs: &Outputs) -> (BTreeMap<String, Json>, Vec<String>) {
    let mut plain = BTreeMap::new();
    let mut sensitive = Vec::new();
    for (name, output) in outputs {
        match output {
            Output::Plain(value) => {
                plain.insert(name.clone(), value.clone());
            }
            Output::Sensitive => sensitive.push(name.clone()),
        }
    }
    (plain, sensitive)
}

/// The values of a unit's variables, from what is applied now.
pub(crate) fn inputs(
    unit: &Name,
    sources: &BTreeMap<String, InputSource>,
    applied: &BTreeMap<Name, AppliedUnit>,
) -> Result<BTreeMap<String, Json>, Diagnostic> {
    let mut values = BTreeMap::new();
    for (variable, source) in sources {
        let from = applied.get(&source.unit);
        let Some(value) = from.and_then(|from| from.outputs.get(&source.output)) else {
            let sensitive = from.is_some_and(|from| from.sensitive.contains(&source.output));
            let awaited = Awaited {
                variable: variable.clone(),
                unit: source.unit.clone(),
                output: source.output.clone(),
            };
            return Err(no_output(unit, &awaited, sensitive));
        };
        values.insert(variable.clone(), value.clone());
    }
    Ok(values)
}

/// Writes `.eos/state/outputs/<env>/<unit>.json`, or takes it away with its unit. Nothing sensitive is in it.
pub(crate) fn publish(
    layout: &Layout,
    unit: &UnitId,
    applied: Option<&AppliedUnit>,
) -> Result<(), Diagnostic> {
    let path = layout.outputs(unit);
    let done = match applied {
        Some(applied) => {
            let text = format!("{:#}\n", json!({ "outputs": applied.outputs }));
            match fs_err::read(&path) {
                Ok(there) if there == text.as_bytes() => Ok(()),
                _ => files::write(&path, text.as_bytes()),
            }
        }
        None => match fs_err::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    };
    done.map_err(|e| {
        Diagnostic::error(codes::CANNOT_WRITE, format!("cannot publish the outputs of {unit}: {e}"))
            .fix("make room on the disk, then eos resume")
    })
}
