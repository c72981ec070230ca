//! Whatever bytes come: an answer or an error, never a panic, and never more than was sent.

use hive_api::{Params, decode, form};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
#[allow(dead_code)]
struct Request {
    vpc_id: Vec<String>,
    count: Option<u32>,
    filter: Vec<Filter>,
    on: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
struct Filter {
    name: String,
    #[serde(default)]
    value: Vec<String>,
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(pairs) = form::parse(&bytes) {
            prop_assert!(pairs.iter().map(|(a, b)| a.len() + b.len()).sum::<usize>() <= bytes.len());
            if let Ok(params) = Params::from_pairs(pairs) {
                let _ = decode::<Request>(&params);
            }
        }
    }

    #[test]
    fn nearly_right_parameters(
        names in proptest::collection::vec("(VpcId|Count|Filter|On|Value|Name|[0-9]{1,11}|\\.){1,6}", 0..12),
        value in "[ -~]{0,6}",
    ) {
        let pairs = names.into_iter().map(|name| (name, value.clone())).collect();
        if let Ok(params) = Params::from_pairs(pairs) {
            let _ = decode::<Request>(&params);
            prop_assert_eq!(params.canonical(), params.clone().canonical());
        }
    }

    #[test]
    fn encoding_and_decoding_are_inverse(text in "[ -~äöüß€\\t\\n]{0,40}") {
        let mut encoded = String::new();
        form::encode(&text, &mut encoded);
        prop_assert_eq!(form::decode(encoded.as_bytes()).unwrap(), text);
    }
}
