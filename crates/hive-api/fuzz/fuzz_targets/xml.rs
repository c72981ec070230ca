//! Whatever texts an answer holds, an XML parser reads it, and reads the same texts.
#![no_main]

use hive_api::xml::to_content;
use libfuzzer_sys::fuzz_target;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    item_set: Vec<Item<'a>>,
    next_token: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    name: &'a str,
    is_default: bool,
}

/// XML 1.0 cannot carry these; they are replaced, as the writer says.
fn carried(text: &str) -> String {
    let kept = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    text.chars().map(kept).collect()
}

fuzz_target!(|input: (Vec<String>, Option<String>)| {
    let (names, token) = input;
    let items = names.iter().map(|name| Item { name, is_default: name.len() % 2 == 0 });
    let answer = Answer { item_set: items.collect(), next_token: token.as_deref() };
    let text = format!("<Response>{}</Response>", to_content(&answer).expect("an answer is written"));
    let mut reader = Reader::from_str(&text);
    let (mut found, mut open, mut current) = (Vec::new(), Vec::new(), String::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(tag) => {
                open.push(tag.name().as_ref().to_vec());
                current.clear();
            }
            Event::Text(piece) => current.push_str(&piece.decode().expect("UTF-8")),
            Event::GeneralRef(name) => match name.resolve_char_ref().expect("a character") {
                Some(c) => current.push(c),
                None => current.push(match &*name.decode().expect("UTF-8") {
                    "lt" => '<',
                    "gt" => '>',
                    "amp" => '&',
                    "quot" => '"',
                    other => panic!("the entity {other}"),
                }),
            },
            Event::End(tag) => {
                assert_eq!(open.pop().as_deref(), Some(tag.name().as_ref()));
                if tag.name().as_ref() == b"name" {
                    found.push(std::mem::take(&mut current));
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty());
    assert_eq!(found, names.iter().map(|name| carried(name)).collect::<Vec<_>>());
});
