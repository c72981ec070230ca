//! A network that a setting names lies within the one that it is a part of.

use eos_catalog::Network;
use eos_model::{Diagnostic, codes};

use crate::work::{Unit, Work};

pub fn run(work: &mut Work<'_>) {
    let found: Vec<Diagnostic> = work.sound().flat_map(|unit| outside(work, unit)).collect();
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

fn outside(work: &Work<'_>, unit: &Unit<'_>) -> Vec<Diagnostic> {
    let network = |setting: &str| -> Option<Network> {
        unit.settings.get(setting).and_then(|setting| setting.value.as_str()?.parse().ok())
    };
    let text = |setting: &str| {
        unit.settings.get(setting).and_then(|setting| setting.value.as_str()).unwrap_or_default()
    };
    let mut found = Vec::new();
    for (setting, schema) in &unit.component.settings {
        let Some(whole) = schema.within.as_deref() else { continue };
        if let (Some(part), Some(all)) = (network(setting), network(whole))
            && !all.holds(&part)
        {
            let message = format!(
                "{}: {setting} {} is not within {whole} {}",
                unit.id.name,
                text(setting),
                text(whole)
            );
            let flag = setting.replace('_', "-");
            let node = unit.entry.settings.get(setting).or_else(|| unit.entry.settings.get(whole));
            found.push(
                Diagnostic::error(codes::BAD_VALUE, message)
                    .at(work.place(node.unwrap_or(&unit.entry.node)))
                    .why(format!("{setting} is: {}", schema.help))
                    .fix(format!("eos update {} --{flag} <a part of {}>", unit.id.name, text(whole))),
            );
        }
    }
    found
}
