//! One line of a plan: what happens to one resource, where, how far it reaches, and to what data.

use std::collections::BTreeMap;

use eos_model::Name;
use eos_tofu::{Plan, ResourceChange, Shown};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::agreed::{ChangeKind, without_keys};
use crate::data::DataResources;
use crate::planner::is_own;
use crate::unit::Manifest;

/// The reason of what a run may have made that this clone cannot go on with.
pub const LEFT_ELSEWHERE: &str = "left_by_another_run";

/// What happens to a resource. Values are redacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub unit: Name,
    pub address: String,
    pub kind: ChangeKind,
    pub provider: String,
    /// The provider's id of the object there is now, when it is not sensitive.
    pub id: Option<String>,
    /// The declared host it happens on.
    pub host: Option<String>,
    /// Tofu's word for why, when it is not the configuration.
    pub reason: Option<String>,
    pub fields: Vec<Field>,
    pub data: Option<DataNote>,
    /// Of a one-off operation that is to be carried out. Told by whoever knows the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OneOff>,
    /// Of what somebody may send a bill for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed: Option<Billed>,
}

/// What a price depends on: the type, and the plain attributes that are known, before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Billed {
    pub kind: String,
    pub before: Option<BTreeMap<String, Json>>,
    pub after: Option<BTreeMap<String, Json>>,
}

/// An attribute that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub path: String,
    pub before: Json,
    pub after: Json,
    pub forces_replacement: bool,
}

/// What becomes of data that the resource holds or mounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataNote {
    pub classes: Vec<String>,
    /// Where it lies, when the unit says so.
    pub places: Vec<String>,
    pub fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The resource only uses it.
    Stays,
    /// Left alone and listed; taken back when the unit comes back.
    Kept,
    /// Destroyed, since the person named it.
    Lost,
}

/// What an operation does, in words, and what that means for data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneOff {
    /// As it was asked for: `convert filesystem /data btrfs`.
    pub words: String,
    pub data: Touch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// How far an operation goes into data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    Untouched,
    /// It works on what holds data, and leaves the data where it lies.
    Stays,
    /// It may be lost where something goes wrong.
    AtRisk,
    /// Its kind does not say.
    Unknown,
}

/// A key of a pillar entry that says something else than what its unit was applied from. Null is not said at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingChange {
    pub name: String,
    pub before: Json,
    pub after: Json,
}

/// Another unit by which one changes whose own settings stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub unit: Name,
    pub does: CauseKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// It needs this one from now on.
    Comes,
    /// It needed this one.
    Goes,
    /// It needs this one or is needed by it, and has other settings.
    Changes,
}

/// The changes of a plan, the gravest first.
pub(crate) fn changes_of(unit: &Name, manifest: &Manifest, data: &DataResources, plan: &Plan) -> Vec<Change> {
    let mut changes: Vec<Change> =
        plan.resource_changes.iter().filter_map(|change| one(unit, manifest, data, change)).collect();
    changes.sort_by(|a, b| (a.kind, &a.address).cmp(&(b.kind, &b.address)));
    changes
}

fn one(unit: &Name, manifest: &Manifest, data: &DataResources, change: &ResourceChange) -> Option<Change> {
    let kind = ChangeKind::of(change)?;
    let text = |key: &str| {
        let value =
            change.after.get(key).and_then(Shown::as_text).or_else(|| change.before.get(key)?.as_text());
        value.map(str::to_owned)
    };
    let fields = change.attributes.iter().map(|field| Field {
        path: field.path.to_string(),
        before: json(&field.before),
        after: json(&field.after),
        forces_replacement: field.forces_replacement,
    });
    Some(Change {
        unit: unit.clone(),
        address: change.address.clone(),
        kind,
        provider: change.provider.clone(),
        id: change.before.get("id").and_then(Shown::as_text).map(str::to_owned),
        host: text("target").or_else(|| manifest.host.as_ref().map(ToString::to_string)),
        reason: change.reason.clone(),
        fields: if matches!(kind, ChangeKind::Update | ChangeKind::Replace | ChangeKind::Adopt) {
            fields.collect()
        } else {
            Vec::new()
        },
        data: note(manifest, data, change, kind),
        operation: None,
        billed: billed(change, kind),
    })
}

/// None for what no bill changes by: eos's own resources and tofu's, what is left behind, and what is taken over.
fn billed(change: &ResourceChange, kind: ChangeKind) -> Option<Billed> {
    let inner = is_own(&change.provider) || change.provider.starts_with("terraform.io/builtin/");
    if inner || matches!(kind, ChangeKind::Forget | ChangeKind::Adopt) {
        return None;
    }
    let plain = |shown: &Shown| match shown {
        Shown::Map(values) => Some(
            values
                .iter()
                .filter(|(_, value)| matches!(value, Shown::Text(_) | Shown::Number(_) | Shown::Bool(_)))
                .map(|(name, value)| (name.clone(), json(value)))
                .collect(),
        ),
        _ => None,
    };
    Some(Billed { kind: change.kind.clone(), before: plain(&change.before), after: plain(&change.after) })
}

fn note(
    manifest: &Manifest,
    data: &DataResources,
    change: &ResourceChange,
    kind: ChangeKind,
) -> Option<DataNote> {
    if !matches!(kind, ChangeKind::Destroy | ChangeKind::Forget | ChangeKind::Replace) {
        return None;
    }
    let places = || manifest.volumes.iter().filter_map(|volume| volume.path.clone()).collect();
    if let Some(class) = data.get(&without_keys(&change.address)) {
        let fate = if kind == ChangeKind::Forget { Fate::Kept } else { Fate::Lost };
        return Some(DataNote { classes: class.iter().cloned().collect(), places: places(), fate });
    }
    if kind == ChangeKind::Forget {
        // Nothing but data is ever forgotten on purpose.
        return Some(DataNote { classes: Vec::new(), places: places(), fate: Fate::Kept });
    }
    let Some(Shown::List(classes)) = change.before.get("data_classes") else { return None };
    let classes = classes.iter().filter_map(|class| class.as_text().map(str::to_owned)).collect();
    Some(DataNote { classes, places: places(), fate: Fate::Stays })
}

pub(crate) fn json(shown: &Shown) -> Json {
    serde_json::to_value(shown).unwrap_or_default()
}

/// The value, when all of it is known and none of it is hidden.
pub(crate) fn known(shown: &Shown) -> Option<Json> {
    fn hides(shown: &Shown) -> bool {
        match shown {
            Shown::Sensitive | Shown::Unknown => true,
            Shown::List(values) => values.iter().any(hides),
            Shown::Map(values) => values.values().any(hides),
            Shown::Null | Shown::Bool(_) | Shown::Number(_) | Shown::Text(_) => false,
        }
    }
    (!hides(shown)).then(|| json(shown))
}
