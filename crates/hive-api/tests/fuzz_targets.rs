//! The fuzz targets compile with every change, and hold for some thousand inputs that nothing has chosen. `make fuzz` looks
//! for inputs with libFuzzer, which is no dependency of the workspace; here its place is taken by a macro. The target `xml`
//! is not here for the same reason: it holds answers against a parser of others.

extern crate self as libfuzzer_sys;

// `no_main` is for libFuzzer's own main.
#[allow(unused_attributes)]
#[path = "../fuzz/fuzz_targets/filters.rs"]
mod filters;
#[allow(unused_attributes)]
#[path = "../fuzz/fuzz_targets/parameters.rs"]
mod parameters;
#[allow(unused_attributes)]
#[path = "../fuzz/fuzz_targets/sigv4.rs"]
mod sigv4;

use proptest::prelude::*;

/// Texts with what means something in them, or anything.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[ab*?\\\\]{0,24}", "(Name|Count|List|Rule|Port|[0-9]{1,3}|[.=&%+]){0,12}", any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn wildcards((pattern, text) in (texts(), texts())) {
        filters::target((pattern, text));
    }

    #[test]
    fn bodies(body in prop_oneof![any::<Vec<u8>>(), texts().prop_map(String::into_bytes)]) {
        parameters::target(&body);
    }

    #[test]
    fn signatures(
        path in any::<Vec<u8>>(),
        query in texts(),
        headers in proptest::collection::vec(("(host|x-amz-date|x-amz-content-sha256|[a-z-]{1,12})", any::<Vec<u8>>()), 0..6),
        body in any::<Vec<u8>>(),
        form in 0_u8..3,
    ) {
        sigv4::target((path, query.into_bytes(), headers, body, form));
    }
}

/// The target as a function. Below the targets, which import it by its path.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: $type:ty| $body:block) => {
        pub fn target($input: $type) $body
    };
}
