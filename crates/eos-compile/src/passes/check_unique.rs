//! No two consumers want of one provider what only one can have.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Name, codes};

use crate::render;
use crate::scope::{Scope, grants};
use crate::work::{Unit, Work};

pub fn run(work: &mut Work<'_>) {
    let mut found = Vec::new();
    for provider in work.units.values() {
        for (offer, spec) in provider.component.offers.iter().filter(|(_, spec)| !spec.unique.is_empty()) {
            for taken in &spec.unique {
                found.extend(wanted_twice(work, provider, offer, taken));
            }
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

fn wanted_twice(work: &Work<'_>, provider: &Unit<'_>, offer: &str, taken: &str) -> Vec<Diagnostic> {
    let mut wanted: BTreeMap<String, &Name> = BTreeMap::new();
    let mut found = Vec::new();
    for (consumer, grant) in grants(work, provider, offer) {
        let scope = Scope::of_grant(work, provider, None, grant, 0);
        // What cannot be rendered is told of by the pass that emits it.
        let Ok(rendered) = render::text(&scope, &format!("@{{with.{taken}}}")) else { continue };
        let Some(value) = rendered.typed.as_ref().and_then(|value| value.as_str()) else { continue };
        let Some(other) = wanted.insert(value.to_owned(), &consumer.id.name) else { continue };
        let (own, name) = (&consumer.id.name, &provider.id.name);
        found.push(
            Diagnostic::error(
                codes::WANTED_TWICE,
                format!("{other} and {own} both want {taken} {value} from {name}"),
            )
            .at(work.place(&consumer.entry.node))
            .why("only one of them would be reached")
            .fix(format!("give {own} another: --{} <another>", taken.replace('_', "-"))),
        );
    }
    found
}
