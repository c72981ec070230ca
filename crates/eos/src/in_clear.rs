//! A secret that somebody wrote into the pillar in clear: it has no business there, and none on a screen.

use eos_catalog::{Catalog, SettingType};
use eos_model::SecretRef;
use serde_json::Value as Json;

use crate::args::component;

/// Stands for it where the pillar is shown.
pub const HIDDEN: &str = "•••";

/// Hides what is in clear in the entry of a component: secret settings, those of features that are off too, and what other
/// components made for it.
pub fn hide(catalog: &Catalog, entry: &mut Json) {
    let kind = entry.get("kind").and_then(Json::as_str).unwrap_or_default();
    let secret: Vec<String> = component::every(catalog, kind)
        .map(|component| {
            let settings = component.settings.iter();
            settings.filter(|(_, s)| s.kind == SettingType::Secret).map(|(name, _)| name.clone()).collect()
        })
        .unwrap_or_default();
    for (section, all) in [("settings", false), ("secrets", true)] {
        let values = entry.get_mut(section).and_then(Json::as_object_mut);
        for (name, value) in values.into_iter().flat_map(|values| values.iter_mut()) {
            let is_reference = value.as_str().is_some_and(|text| text.parse::<SecretRef>().is_ok());
            if (all || secret.contains(name)) && !is_reference && !value.is_null() {
                *value = Json::from(HIDDEN);
            }
        }
    }
}

/// The same for a whole pillar.
pub fn hide_all(catalog: &Catalog, pillar: &mut Json) {
    for section in ["components", "kept"] {
        let entries = pillar.pointer_mut(&format!("/eos/{section}")).and_then(Json::as_object_mut);
        entries.into_iter().flat_map(|entries| entries.values_mut()).for_each(|entry| hide(catalog, entry));
    }
}
