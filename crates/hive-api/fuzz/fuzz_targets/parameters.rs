//! Any body is either refused or a tree that can be walked, printed and decoded; nothing panics, no element of a list is
//! lost, and what was parsed says the same when it is written and parsed again.
#![no_main]

use hive_api::{Params, Tree, decode, form};
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
#[allow(dead_code)]
struct Request {
    name: Option<String>,
    count: Option<u32>,
    open: Option<bool>,
    list: Vec<String>,
    rule: Vec<Rule>,
    data: Option<Tree>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
struct Rule {
    port: i32,
    #[serde(default)]
    values: Vec<String>,
}

fuzz_target!(|body: &[u8]| {
    let Ok(pairs) = form::parse(body) else { return };
    let mut text = String::new();
    for (name, value) in &pairs {
        form::encode(name, &mut text);
        text.push('=');
        form::encode(value, &mut text);
        text.push('&');
    }
    assert_eq!(form::parse(text.as_bytes()).expect("what was written is read"), pairs);
    let Ok(params) = Params::from_pairs(pairs) else { return };
    let _ = params.canonical();
    if let Ok(decoded) = decode::<Request>(&params) {
        assert!(decoded.unknown.iter().all(|path| !path.is_empty() || params.has("")));
        // Nothing in a list is left out, whatever it is called.
        let given = |name: &str| {
            let list = params.children().find(|(own, _)| *own == name);
            list.map_or(0, |(_, list)| list.children().count())
        };
        assert!(decoded.request.list.len() >= given("List"));
        assert!(decoded.request.rule.len() >= given("Rule"));
    }
});
