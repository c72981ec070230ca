//! The built-in catalogue holds together.
#![allow(clippy::unwrap_used)]

use eos_catalog::{Catalog, SettingType, check};
use serde_json::{Value as Json, json};

#[test]
fn a_summary_read_alone_is_the_component_s() {
    let catalog = Catalog::built_in();
    for kind in catalog.kinds() {
        assert_eq!(catalog.summary(kind), catalog.component(kind).unwrap().summary, "{kind}");
    }
    let with_operations: Vec<&str> = catalog.kinds_with_operations().map(|(kind, _)| kind).collect();
    let all = |kind: &&str| !catalog.component(kind).unwrap().operations.is_empty();
    assert_eq!(with_operations, catalog.kinds().filter(all).collect::<Vec<_>>());
}

#[test]
fn every_built_in_component_passes_every_check() {
    let catalog = Catalog::built_in();
    let mut problems = Vec::new();
    for kind in catalog.kinds() {
        for finding in check::check(&catalog, kind).0 {
            problems.push(format!(
                "{kind}: {} {}",
                finding.message,
                finding.place.map(|p| format!("{}:{}", p.file, p.line)).unwrap_or_default()
            ));
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// What it looks like is seen from its default or from an example; [`check`] holds both to the setting's own rules.
#[test]
fn every_setting_shows_what_its_value_looks_like() {
    use SettingType::{Cidr, Duration, Folder, Host, List, Name, Size, String};
    let catalog = Catalog::built_in();
    for kind in catalog.kinds() {
        let component = catalog.component(kind).unwrap();
        let all = component.features.keys().cloned().collect();
        let widest = catalog.variant(kind, None, &all).unwrap();
        let arguments = component.operations.values().flat_map(|operation| &operation.args);
        for (name, setting) in widest.settings.iter().chain(arguments) {
            let free = [Cidr, Duration, Folder, Host, List, Name, Size, String].contains(&setting.kind);
            let says = |value: &Json| *value != json!("") && *value != json!([]);
            let shown = setting.default.iter().chain(&setting.example).any(says);
            assert!(!free || shown, "{kind}: {name} has no default that shows its form, and no example");
        }
    }
}

#[test]
fn an_alias_leads_to_its_kind_and_a_typo_to_the_nearest() {
    let catalog = Catalog::built_in();
    assert_eq!(catalog.resolve("postgresql").unwrap(), "postgres");
    let found = catalog.resolve("grafna").unwrap_err();
    assert!(found.0[0].fix.as_deref().unwrap().contains("grafana"));
}
