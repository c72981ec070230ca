//! Properties held against the loader of a real Salt: what it reads is what eos reads, and what eos writes it
//! reads back as the same value.
//!
//! eos may refuse more than Salt does (with a diagnostic); it must never read something else, and never read
//! what Salt refuses.

mod salt;

use eos_yaml::{parse, write};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use salt::{Salt, comparable, tagged, tagged_json};
use serde_json::{Value as Json, json};

/// Both read the same, or both refuse. `Some(true)` when they read.
fn agree(text: &str) -> Result<Option<bool>, String> {
    let theirs = Salt::shared().read(text, false);
    let ours = parse("test.sls".into(), text.as_bytes());
    match (theirs, ours) {
        (Ok(theirs), Ok(ours)) => {
            let (theirs, ours) = (comparable(theirs), tagged(&ours.root));
            if theirs == ours { Ok(Some(true)) } else { Err(format!("{text:?}\nsalt {theirs}\neos  {ours}")) }
        }
        (Err(theirs), Ok(ours)) => {
            Err(format!("{text:?}\nsalt refuses: {theirs}\neos {}", tagged(&ours.root)))
        }
        (Err(_), Err(_)) => Ok(Some(false)),
        (Ok(_), Err(_)) => Ok(None),
    }
}

/// Both read, and the same.
fn read_alike(text: &str) -> Result<(), String> {
    match agree(text)? {
        Some(true) => Ok(()),
        Some(false) => Err(format!("{text:?} is refused by both")),
        None => Err(format!(
            "{text:?} is refused by eos alone: {:?}",
            parse("test.sls".into(), text.as_bytes()).err()
        )),
    }
}

fn check(outcome: Result<impl Sized, String>) -> Result<(), TestCaseError> {
    outcome.map(|_| ()).map_err(TestCaseError::fail)
}

/// Shapes that mean something to one reader or another.
const ODD: &[&str] = &[
    "yes",
    "No",
    "ON",
    "off",
    "y",
    "n",
    "true",
    "FALSE",
    "~",
    "null",
    "Null",
    "nULL",
    "",
    "=",
    "<<",
    "-",
    "?",
    ":",
    "0",
    "00",
    "0755",
    "-0755",
    "+010",
    "089",
    "0o7",
    "0x1F",
    "0b101",
    "0_",
    "0x_",
    "1_000",
    "_1",
    "1:30",
    "1:60",
    "190:20:30",
    "1:30.5",
    "1e3",
    "1.0e3",
    "1.0e+3",
    "1.",
    ".5",
    "+.5",
    "-.5",
    ".inf",
    "-.INF",
    ".nan",
    "-.nan",
    "1__0.5",
    "2001-01-01",
    "2001-1-1",
    "2001-12-14t21:59:43.10-05:00",
    "10.0.0.1",
    "1.2.3",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    ": ",
    " #",
    "# x",
    "a: b",
    "a #b",
    "a:b",
    "- a",
    "? a",
    "a:",
    "{{ x }}",
    "{% raw %}",
    "{# c #}",
    "{{{",
    "[a",
    "{a",
    "&a",
    "*a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
    "'",
    "\"",
    "\\",
    "\\n",
    " lead",
    "trail ",
    "\t",
    "a\tb",
    "\ta",
    "\n",
    "a\n",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    "\na",
    " a\nb",
    "a \nb",
    "a\n b\n",
    "a\n\tb\n",
    "a\r\nb",
    "\r",
    "\0",
    "\u{7}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "é",
    "日本",
    "😀",
    "---",
    "...",
    "--- a",
    "#!yaml",
    "|\n a",
    "it's",
    "a\\x7Bb",
    "secret://a/b/c?v=1",
];

const TOKENS: &[&str] = &[
    "a",
    "b",
    "a: ",
    "b: ",
    ": ",
    ":",
    ":\n",
    "\n",
    " ",
    "  ",
    "- ",
    "-",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    "'",
    "\"",
    "#",
    " #",
    "&x ",
    "*x",
    "*x ",
    "|\n",
    ">\n",
    "|-\n",
    ">+\n",
    "|2\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    "\nb: ",
    "\n  c: ",
    "1",
    "yes",
    "<<: ",
    "=",
    "\t",
    "\n---\n",
    "\n...\n",
    "%",
    "@",
    "`",
    "é",
    "\\",
    "\\n",
    "!",
    "~",
    "''",
    "\"x\"",
    "'y'",
    "{}",
    "[]",
    "\r\n",
    "x y",
    "http://x:1",
    "*",
    "&",
    "\u{feff}",
    "\n\n",
    "  \n",
    " \n\t",
    ":}",
    "# {{ x }}\n",
];

fn number_like() -> impl Strategy<Value = String> {
    proptest::collection::vec(select("00112345679+-_.:eExbfFinaNoO~".chars().collect::<Vec<_>>()), 0..9)
        .prop_map(|characters| characters.into_iter().collect())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(ODD).prop_map(str::to_owned),
        2 => number_like(),
        2 => any::<String>(),
        2 => proptest::collection::vec(select(ODD), 1..4).prop_map(|parts| parts.concat()),
        2 => "[ -~]{0,20}",
        1 => "[a-z{}%# \n]{0,30}",
        1 => "([a-z'\"#:{ ]{0,6}\n){1,4}[a-z ]{0,3}",
    ]
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        1 => Just(Json::Null),
        1 => any::<bool>().prop_map(Json::from),
        2 => any::<i64>().prop_map(Json::from),
        2 => any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(Json::from),
        6 => text().prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            proptest::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

/// The same cases every time, so that a landing never depends on luck. To look further:
/// `PROPTEST_CASES=200000 PROPTEST_RNG_SEED=$RANDOM cargo test -p eos-yaml --test against_salt`.
fn config(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    let chosen = |name: &str| std::env::var_os(name).is_some();
    ProptestConfig {
        cases: if chosen("PROPTEST_CASES") { given.cases } else { cases },
        rng_seed: if chosen("PROPTEST_RNG_SEED") { given.rng_seed } else { RngSeed::Fixed(3008) },
        failure_persistence: None,
        ..given
    }
}

#[test]
fn odd_scalars_are_read_alike() {
    for odd in ODD {
        for document in
            [format!("k: {odd}\n"), format!("- {odd}\n"), format!("{odd}: v\n"), format!("k: [{odd}, x]\n")]
        {
            agree(&document).unwrap();
        }
    }
}

#[test]
fn what_people_write_is_read_alike() {
    for document in [
        "",
        "# only a comment\n",
        "---\na: 1\n",
        "a: 0755\nb: [yes, No, ~, 1:30, 1e3]\nc: {d: 'x', \"e\": 1.5}\n",
        "base: &base\n  image: nginx\n  ports: [80, 443]\nweb:\n  <<: *base\n  image: caddy\ncopy: *base\n",
        "a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: [*a, *b]\n  z: 3\n",
        "a:\n- 1\n- b: 2\n  c: 3\n-\n  - nested\n",
        "script: |\n  set -e\n\n    indented\n  end\nfolded: >-\n  one\n  two\n\n  three\nkeep: |+\n  x\n\nlast: 1\n",
        "text: \"tab\\t \\u00e9 \\x41 \\\n  joined\"\nmore: 'it''s\n  folded'\nplain: several\n  lines\n",
        "8080: http\nlisten: :8080\nurl: http://x:80/?a=b&c#d\n",
        "a: \tb\nc: d\t# comment\n",
        "makefile: |\n  all:\n  \tcc x.c\n",
        "crlf: 1\r\nlist:\r\n  - a\r\n",
        "# é {{ not a template }}\nü: ß # {% x %}\n",
        "? long\n: value\n",
        "empty:\nlist:\n  -\n  - ~\nmap: {}\n",
    ] {
        read_alike(document).unwrap();
    }
}

#[test]
fn what_salt_refuses_is_refused() {
    for document in [
        "a: 1\na: 2\n",
        "a: &x {k: 1}\nb: &y {k: 2}\nc: {<<: [*x, *y]}\n",
        "a: &x 1\nb: &x 2\n",
        "a: =\n",
        "a: <<\n",
        "a: 0_\n",
        "a: *unknown\n",
        "a: b: c\n",
        "a: 1\n---\nb: 2\n",
        "a:\n\tb: 1\n",
        "a: 'open\n",
        "<<: 1\n",
        "a: \u{1}\n",
    ] {
        assert_eq!(agree(document), Ok(Some(false)), "{document:?}");
    }
}

#[test]
fn odd_texts_written_by_eos_come_back() {
    for odd in ODD {
        let value = json!({"k": odd, "l": [odd], *odd: {"deep": odd}});
        comes_back(&value).unwrap();
    }
}

/// Salt, with and without Jinja, and eos itself read what eos wrote.
fn comes_back(value: &Json) -> Result<(), String> {
    let root = if value.is_object() { value.clone() } else { json!({"root": value}) };
    let text = write(&root);
    let wanted = tagged_json(&root);
    for jinja in [false, true] {
        let read = Salt::shared().read(&text, jinja).map_err(|error| format!("{text:?}: {error}"))?;
        let read = comparable(read);
        if read != wanted {
            return Err(format!("{text:?} (jinja: {jinja})\nwrote {wanted}\nsalt  {read}"));
        }
    }
    let ours = parse("test.sls".into(), text.as_bytes()).map_err(|found| format!("{text:?}: {found:?}"))?;
    let ours = tagged(&ours.root);
    if ours == wanted { Ok(()) } else { Err(format!("{text:?}\nwrote {wanted}\neos   {ours}")) }
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn numbers_are_read_alike(text in number_like()) {
        check(agree(&format!("k: {text}\n")))?;
        check(agree(&format!("- {text}\n- [{text}]\n")))?;
    }

    #[test]
    fn any_scrap_is_read_alike_or_refused(tokens in proptest::collection::vec(select(TOKENS), 1..12)) {
        check(agree(&tokens.concat()))?;
        check(agree(&format!("a: {}", tokens.concat())))?;
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn what_eos_writes_comes_back(value in value()) {
        check(comes_back(&value))?;
    }

    #[test]
    fn any_text_comes_back(text in text()) {
        check(comes_back(&json!({"k": text, "l": [text, [text]]})))?;
    }
}
