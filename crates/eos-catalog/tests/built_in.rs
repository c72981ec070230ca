//! The built-in catalogue holds together.
#![allow(clippy::unwrap_used)]

use eos_catalog::{Catalog, check};

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

#[test]
fn an_alias_leads_to_its_kind_and_a_typo_to_the_nearest() {
    let catalog = Catalog::built_in();
    assert_eq!(catalog.resolve("postgresql").unwrap(), "postgres");
    let found = catalog.resolve("grafna").unwrap_err();
    assert!(found.0[0].fix.as_deref().unwrap().contains("grafana"));
}
