//! From a cause to where somebody wrote it: a key of the catalogue, and the choice in the pillar that brought it in.

use eos_catalog::component::When;
use eos_catalog::layers::Layer;

use super::{Cause, Reason};
use crate::origin::Origin;
use crate::work::{Unit, Work};

/// `unit` is whose choices count, `owner` whose component speaks: another unit where a need is provisioned.
pub fn reasons(work: &Work<'_>, unit: &Unit<'_>, owner: &Unit<'_>, causes: Vec<Cause>) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for cause in causes {
        let origins = match cause {
            Cause::Compiler(why) => {
                found.push(Reason::Compiler(why));
                continue;
            }
            Cause::Component(path) => component(work, owner, &path, usize::MAX),
            Cause::Key(path) => component(work, owner, &path, 1),
            Cause::Chosen(path) => work.chosen(unit, &path),
            Cause::Estate(key) => vec![Origin::estate(&key)],
            Cause::Tier => tier(work, unit),
        };
        for reason in origins.into_iter().map(Reason::From) {
            if !found.contains(&reason) {
                found.push(reason);
            }
        }
    }
    found
}

/// The keys of the catalogue at a path, so many of them at most, each with what brought it in.
fn component(work: &Work<'_>, unit: &Unit<'_>, path: &[String], most: usize) -> Vec<Origin> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let kind = unit.entry.kind.as_str();
    let written = work.input.catalog.written(kind, unit.runtime(), &unit.features, &path);
    let mut origins = Vec::new();
    for place in written.into_iter().take(most) {
        origins.push(Origin::catalog(kind, &place.key.join(":")));
        match &place.layer {
            Layer::Own => {}
            Layer::Runtime(_) => origins.extend(work.chosen(unit, "runtime")),
            Layer::Feature(feature) => origins.extend(turned_on(work, unit, feature)),
        }
    }
    origins
}

/// What turned a feature on: its flag, or the setting or the need that it follows.
fn turned_on(work: &Work<'_>, unit: &Unit<'_>, feature: &str) -> Vec<Origin> {
    match unit.component.features.get(feature).and_then(|feature| feature.when.as_ref()) {
        Some(When::Setting(setting)) => {
            unit.settings.get(setting).map(|setting| setting.origin.clone()).into_iter().collect()
        }
        Some(When::Need(need)) => work.chosen(unit, &format!("needs:{need}")),
        None => {
            let key = Origin::component_key(&unit.id.name, &format!("features:{feature}"));
            let features = unit.entry.node.get("features").and_then(|features| features.as_list());
            let items = features.into_iter().flatten();
            let mut given = items.filter(|item| item.as_str() == Some(feature));
            given.next().map(|item| work.written(item, key)).into_iter().collect()
        }
    }
}

fn tier(work: &Work<'_>, unit: &Unit<'_>) -> Vec<Origin> {
    let chosen = work.chosen(unit, "tier");
    if chosen.is_empty() {
        vec![Origin::estate(&format!("environments:{}:tier", unit.id.env))]
    } else {
        chosen
    }
}
