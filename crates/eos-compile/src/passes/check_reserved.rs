//! Nobody is given what is a provider's own: who had the name of its superuser would take that over.

use eos_catalog::component::Offer;
use eos_model::{Diagnostic, codes};

use crate::scope::{grants, wanted};
use crate::work::{Unit, Work};

pub fn run(work: &mut Work<'_>) {
    let mut found = Vec::new();
    for provider in work.sound() {
        for (offer, spec) in provider.component.offers.iter().filter(|(_, spec)| !spec.reserved.is_empty()) {
            found.extend(taken_over(work, provider, offer, spec));
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

fn taken_over(work: &Work<'_>, provider: &Unit<'_>, offer: &str, spec: &Offer) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let is_sound = |consumer: &Unit<'_>| !work.unsound.contains(&consumer.id.name);
    for (consumer, grant) in grants(work, provider, offer).into_iter().filter(|(one, _)| is_sound(one)) {
        for taken in spec.reserved.keys() {
            let Some(value) = wanted(work, provider, grant.clone(), taken) else { continue };
            if !spec.is_reserved(taken, &value) {
                continue;
            }
            let (own, kind) = (&consumer.id.name, &consumer.entry.kind);
            let fix = match own.as_str() == value {
                true => format!("eos create {kind} <another name>"),
                false => format!("give {own} another {taken}"),
            };
            let name = &provider.id.name;
            let message = format!("{own} wants the {taken} {value} from {name}, which keeps it for itself");
            found.push(
                Diagnostic::error(codes::BAD_NAME, message)
                    .at(work.place(&consumer.entry.node))
                    .why(format!(
                        "a {} has such a {taken} of its own: {own} would take it over, or be refused",
                        provider.entry.kind
                    ))
                    .fix(fix),
            );
        }
    }
    found
}
