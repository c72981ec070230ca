//! What is known, while planning, of the outputs that units will have: the values of inputs, or that they come later.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Diagnostics, Name, codes};
use serde_json::Value as Json;

use crate::plan::Awaited;
use crate::unit::Unit;

/// What is known of an output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Foreseen {
    Value(Json),
    /// Known after apply.
    Later,
    /// Sensitive: never handed on.
    Secret,
}

pub(crate) type Outlook = BTreeMap<Name, BTreeMap<String, Foreseen>>;

/// Values that are known, and those that come later.
pub(crate) fn gather_inputs(
    unit: &Unit,
    outlook: &Outlook,
) -> Result<(BTreeMap<String, Json>, Vec<Awaited>), Diagnostics> {
    let mut values = BTreeMap::new();
    let mut later = Vec::new();
    let mut found = Diagnostics::new();
    for (variable, source) in &unit.manifest.inputs {
        let awaited = || Awaited {
            variable: variable.clone(),
            unit: source.unit.clone(),
            output: source.output.clone(),
        };
        match outlook.get(&source.unit).map(|outputs| outputs.get(&source.output)) {
            Some(Some(Foreseen::Value(value))) => {
                values.insert(variable.clone(), value.clone());
            }
            Some(Some(Foreseen::Later)) => later.push(awaited()),
            Some(Some(Foreseen::Secret)) => found.push(no_output(unit.name(), &awaited(), true)),
            Some(None) => found.push(no_output(unit.name(), &awaited(), false)),
            // Never applied and not part of this plan: refused before planning.
            None => later.push(awaited()),
        }
    }
    if found.is_empty() { Ok((values, later)) } else { Err(found) }
}

pub(crate) fn no_output(unit: &Name, awaited: &Awaited, sensitive: bool) -> Diagnostic {
    let Awaited { unit: from, output, .. } = awaited;
    let found = Diagnostic::error(
        codes::NO_OUTPUT,
        format!("{unit} needs the output {output} of {from}, which {from} does not give"),
    );
    if sensitive {
        found
            .why("the output is sensitive, and a sensitive value is never handed from unit to unit")
            .fix("make it a secret: eos secret set")
    } else {
        found.fix(format!("eos tofu {from} -- output shows what it gives"))
    }
}

pub(crate) fn outputs_declared(unit: &Unit) -> Vec<String> {
    let main = unit.main();
    main.get("output")
        .and_then(Json::as_object)
        .map(|outputs| outputs.keys().cloned().collect())
        .unwrap_or_default()
}
