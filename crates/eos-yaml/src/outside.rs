//! Checks of what stands between the scalars: there the parser, which knows YAML 1.2, is more lenient than
//! Salt's. Anchor names, anchors set twice, directives, an end without a document and tabs after an indicator
//! are refused as Salt does.
//!
//! Runs only when the source holds one of the characters in question.

use std::collections::HashMap;

use eos_model::{Diagnostic, Diagnostics, codes};

use crate::node::Mark;
use crate::parse::Reading;
use crate::precheck::tab_diagnostic;
use crate::span::ScalarSpan;

/// A colon that ends an unquoted key in brackets needs a blank behind it.
const GLUED: [&str; 5] = [":}", ":]", ":,", ":{", ":["];

/// Whether [`check`] has anything to look at.
pub(crate) fn is_needed(source: &str) -> bool {
    source.contains(['&', '*', '%', '\t'])
        || has_end(source)
        || GLUED.iter().any(|colon| source.contains(colon))
}

fn has_end(source: &str) -> bool {
    source.starts_with("...") || source.contains("\n...")
}

/// Salt wants a document before an end (`...`); `begins` is where the parser found one.
pub(crate) fn check_end(reading: &Reading, begins: Option<Mark>, found: &mut Diagnostics) {
    let end = (1..).zip(reading.source.lines()).find(|(_, text)| text.starts_with("..."));
    if let Some((line, _)) = end.filter(|(line, _)| begins.is_none_or(|mark| mark.line >= *line)) {
        found.push(
            Diagnostic::error(codes::YAML_SYNTAX, "the document ends (...) before it begins")
                .at(reading.place(Mark { line, column: 1 }))
                .why("Salt would refuse the whole file")
                .fix("remove the line with the three dots"),
        );
    }
}

/// `scalars` in the order of the file.
pub(crate) fn check(reading: &Reading, scalars: &[ScalarSpan], found: &mut Diagnostics) {
    let mut scalars = scalars.iter().peekable();
    let mut anchors: HashMap<&str, u32> = HashMap::new();
    let mut before_text = false;
    for (line, text) in (1..).zip(reading.source.lines()) {
        if text.starts_with('%') {
            found.push(
                Diagnostic::error(codes::YAML_UNSUPPORTED, "a directive (%...) is not supported")
                    .at(reading.place(Mark { line, column: 1 }))
                    .why("Salt refuses all but %YAML and %TAG, and neither changes a plain document")
                    .fix("remove the line; if it is text, quote it"),
            );
        }
        // The last character that was markup, blanks aside.
        let mut indicator = None;
        // The column behind the name of the last anchor.
        let mut in_name = 0;
        for (column, (at, character)) in (1..).zip(text.char_indices()) {
            let mark = Mark { line, column };
            if column < in_name {
                continue;
            }
            while scalars.next_if(|scalar| scalar.end <= mark).is_some() {}
            if let Some(scalar) = scalars.peek().filter(|scalar| scalar.holds(mark)) {
                let at_anchor = scalar.anchored && scalar.start == mark;
                // Between an anchor and its text there may be blanks, lines and comments.
                before_text =
                    at_anchor || (before_text && scalar.anchored && matches!(character, ' ' | '\t' | '#'));
                if !before_text {
                    indicator = None;
                    continue;
                }
            }
            match character {
                '#' if at == 0 || text[..at].ends_with([' ', '\t']) => break,
                '&' | '*' => {
                    let name = name_at(&text[at + 1..]);
                    in_name = column + 1 + name.chars().count() as u32;
                    check_name(reading, mark, name, &text[at + 1 + name.len()..], found);
                    if let Some(first) = (character == '&').then(|| anchors.insert(name, line)).flatten() {
                        report_twice(reading, mark, name, first, found);
                    }
                    indicator = None;
                }
                '\t' if matches!(indicator, Some('-' | '?' | ':')) && at > 0 => {
                    // Salt takes a tab between a key and its value, and nowhere else.
                    if indicator != Some(':') || text[at..].trim().is_empty() {
                        found.push(tab_diagnostic(reading, mark));
                        break;
                    }
                }
                ':' if GLUED.iter().any(|colon| text[at..].starts_with(colon))
                    && !text[..at].ends_with(['"', '\'']) =>
                {
                    found.push(
                        Diagnostic::error(codes::YAML_SYNTAX, "the colon has no space behind it")
                            .at(reading.place(mark))
                            .why("Salt would refuse the whole file")
                            .fix("write a space behind the colon"),
                    );
                }
                ' ' | '\t' => {}
                other => indicator = Some(other),
            }
        }
    }
}

/// What the parser takes for the name: up to a blank or a flow indicator.
fn name_at(text: &str) -> &str {
    let end = text.find([' ', '\t', ',', '[', ']', '{', '}']).unwrap_or(text.len());
    &text[..end]
}

fn check_name(reading: &Reading, mark: Mark, name: &str, behind: &str, found: &mut Diagnostics) {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(good) || behind.starts_with(['[', '{']) {
        found.push(
            Diagnostic::error(codes::YAML_SYNTAX, format!("{name:?} is not the name of an anchor"))
                .at(reading.place(mark))
                .why("Salt allows letters, digits, '-' and '_' in the name of an anchor")
                .fix("rename the anchor; before a colon leave a space: *name :"),
        );
    }
}

fn report_twice(reading: &Reading, mark: Mark, name: &str, first: u32, found: &mut Diagnostics) {
    found.push(
        Diagnostic::error(codes::DUPLICATE_KEY, format!("the anchor {name} is already in line {first}"))
            .at(reading.place(mark))
            .why("Salt refuses a file that sets an anchor twice")
            .fix("rename one of the two"),
    );
}
