//! The generated page is what the table says.

#![allow(clippy::unwrap_used)]

#[test]
fn the_coverage_page_is_current() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hive-coverage.md");
    let found = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        found == hive::coverage::markdown(),
        "run: cargo run -p hive -- --coverage > docs/hive-coverage.md"
    );
}

/// Every name is one that can be sent: an action of which EC2's list says nothing refuses nothing.
#[test]
fn what_is_refused_has_a_name() {
    for row in hive::coverage::rows() {
        let names = [&row.parameters, &row.without_effect, &row.refused, &row.filters, &row.refused_filters];
        assert!(names.into_iter().flatten().all(|name| !name.is_empty()), "{row:?}");
    }
    let done = |action| {
        hive::coverage::rows()
            .iter()
            .any(|row| row.action == action && row.status == hive::coverage::Status::Done)
    };
    assert!(done("CreateInternetGateway") && done("GetCallerIdentity"));
    assert!(!done("RunInstances"));
}
