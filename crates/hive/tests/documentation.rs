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
