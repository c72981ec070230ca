//! Finds Jinja in a file that Salt would render through it.
//!
//! eos reads the pillar without running templates, so that a value never depends on the minion that asks.

use eos_model::{Diagnostic, codes};

use crate::node::Mark;
use crate::parse::Reading;

/// An opening `{{`, `{%` or `{#`.
pub(crate) struct Marker {
    pub mark: Mark,
    pub in_comment: bool,
    opening: &'static str,
}

/// The first opening of each line that has one; one inside a comment counts only when no other is there.
pub(crate) fn markers(source: &str) -> Vec<Marker> {
    if !source.contains('{') {
        return Vec::new();
    }
    (1..).zip(source.lines()).filter_map(|(line, text)| marker_of(line, text)).collect()
}

fn marker_of(line: u32, text: &str) -> Option<Marker> {
    let (at, opening) =
        ["{{", "{%", "{#"].into_iter().filter_map(|opening| Some((text.find(opening)?, opening))).min()?;
    let column = text[..at].chars().count() as u32 + 1;
    let in_comment = comment_start(text).is_some_and(|start| start < at);
    Some(Marker { mark: Mark { line, column }, in_comment, opening })
}

/// Where a comment begins, judged by this line alone. A line of a block scalar may look like a comment: the
/// caller asks the parsed tree about those.
fn comment_start(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (None, '#') if previous.is_ascii_whitespace() => return Some(at),
            (None, '"' | '\'') if previous.is_ascii_whitespace() || "[{,:".contains(previous) => {
                quote = Some(character);
            }
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        previous = character;
    }
    None
}

pub(crate) fn diagnostic(reading: &Reading, marker: &Marker) -> Diagnostic {
    Diagnostic::error(codes::JINJA, format!("{} starts a Jinja template", marker.opening))
        .at(reading.place(marker.mark))
        .why("eos reads the pillar without running templates: what they give depends on the minion that asks")
        .fix("write the value itself; if the braces are meant as text, make #!yaml the file's first line")
}
