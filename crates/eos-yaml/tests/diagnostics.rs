//! What a user sees for a file that cannot be read: every mistake with its line, why, and what to change.

use eos_model::{Diagnostics, codes};
use eos_yaml::{LARGEST_FILE, parse};

fn refused(source: impl AsRef<[u8]>) -> Diagnostics {
    parse("pillar/web.sls".into(), source.as_ref())
        .map(|document| document.root.to_json())
        .expect_err("a refusal")
}

/// Code, line and column of each finding; each must say its file and what to do.
fn places(found: &Diagnostics) -> Vec<(&'static str, usize, usize)> {
    found
        .0
        .iter()
        .map(|diagnostic| {
            let place = diagnostic.place.as_ref().expect("a place");
            assert_eq!(place.file, "pillar/web.sls");
            assert!(diagnostic.fix.is_some(), "{diagnostic:?}");
            (diagnostic.code.as_str(), place.line, place.column)
        })
        .collect()
}

#[test]
fn every_tab_is_reported_and_not_its_consequences() {
    let found = refused("text: |\n  x\n  \tfine\na:\n\tb: 1\n  c:\n  \td: 2\n");
    assert_eq!(places(&found), [("E0202", 5, 1), ("E0202", 7, 3)]);
    assert_eq!(found.0[0].place.as_ref().unwrap().text, "\tb: 1");
    assert!(parse("f".into(), b"text: |\n  x\n  \tfine\n").is_ok());
}

#[test]
fn every_duplicate_key_is_reported_with_both_lines() {
    let found = refused("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 4\na: 5\n");
    assert_eq!(places(&found), [("E0203", 5, 3), ("E0203", 6, 1), ("E0203", 7, 1)]);
    assert_eq!(found.0[0].message, "the key c is already in line 3");
    let many: String = (0..20).map(|n| format!("k{}: {n}\n", n % 19)).collect();
    assert_eq!(places(&refused(many)), [("E0203", 20, 1)]);
}

#[test]
fn jinja_is_reported_where_it_is_not_a_comment() {
    let template = "# {{ comment }}\na: {{ x }}\nb: '{% y %}' # z\nc: |\n  # {{ in the text }}\n";
    assert_eq!(places(&refused(template)), [("E0207", 2, 4), ("E0207", 3, 5)]);
    assert_eq!(places(&refused("c: |\n  # {{ in the text }}\n")), [("E0207", 2, 5)]);
    let document = parse("f".into(), b"#!yaml\na: '{{ x }}'\n").unwrap();
    assert_eq!(document.root.get("a").unwrap().as_str(), Some("{{ x }}"));
    assert_eq!(places(&refused("#!py\n")), [("E0208", 1, 1)]);
}

#[test]
fn what_is_not_supported_is_named() {
    for (source, line) in [
        ("a: !!str 1\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("yes: 1\n", 1),
        ("a:\n  0755: x\n", 2),
        ("? [a]\n: 1\n", 1),
        ("a: 99999999999999999999\n", 1),
        ("a: &a\n  b: *a\n", 2),
        ("%YAML 1.1\n---\na: 1\n", 1),
        ("a: b\u{2028}c\n", 1),
    ] {
        let found = refused(source);
        assert_eq!(places(&found)[0].0, "E0208", "{source}: {found:?}");
        assert_eq!(places(&found)[0].1, line, "{source}");
    }
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let found = refused("a: !x 1\nb: 1\nb: 2\non: 3\nc: =\n");
    let codes: Vec<_> = places(&found).into_iter().map(|(code, line, _)| (code, line)).collect();
    assert_eq!(codes, [("E0208", 1), ("E0208", 5), ("E0208", 4), ("E0203", 3)]);
}

#[test]
fn bytes_that_are_no_text_and_large_files_are_refused() {
    let found = refused(b"a: 1\nb: caf\xe9\n");
    assert_eq!(places(&found), [("E0205", 2, 7)]);
    let found = refused(vec![b'#'; LARGEST_FILE + 1]);
    assert_eq!((found.0[0].code, found.0[0].place.as_ref().unwrap().line), (codes::FILE_TOO_LARGE, 0));
    assert!(parse("f".into(), &vec![b'#'; LARGEST_FILE]).is_ok());
}

#[test]
fn syntax_errors_show_their_line() {
    for (source, line) in
        [("a: b: c\n", 1), ("a: 1\nb: [1, 2\n", 3), ("a: 1\n  b: 2\n", 2), ("a: \"x\n", 2), ("a: *b\n", 1)]
    {
        let found = refused(source);
        let places = places(&found);
        assert_eq!(places[0].0, "E0201", "{source}: {found:?}");
        assert!(places[0].1 <= line, "{source}: {places:?}");
    }
}

#[test]
fn bombs_are_refused_quickly_and_without_overflow() {
    let deep = "[".repeat(200_000);
    assert!(!refused(&deep).is_empty());
    let deep: String = (0..2000).map(|level| format!("{}a:\n", " ".repeat(level))).collect::<String>();
    assert!(!refused(&deep).is_empty());
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(places(&refused(&bomb))[0].0, "E0208");
}

#[test]
fn roots_that_salt_counts_as_nothing_are_an_empty_mapping() {
    for source in ["", "\n# x\n", "---\n", "~", "[]", "false", "0", "''", "\u{feff}"] {
        let document = parse("f".into(), source.as_bytes()).unwrap();
        assert_eq!(document.root.as_map().map(<[_]>::len), Some(0), "{source:?}");
    }
}
