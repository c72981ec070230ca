//! What is looked at before the YAML parser: characters Salt's reader refuses, the renderer line, tabs.

use eos_model::{Diagnostic, Diagnostics, codes};

use crate::node::Mark;
use crate::parse::Reading;

/// Salt refuses these; the others it reads, and not as the eye does.
const CONTROL: &str = "a control character";

/// What the first line says about rendering.
pub(crate) struct Renderer {
    pub runs_jinja: bool,
}

/// Reports every character that Salt's YAML reader refuses, or that ends a line there and nowhere else.
pub(crate) fn characters(reading: &Reading, found: &mut Diagnostics) {
    let source = reading.source;
    let plain = |byte: u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    if source.bytes().all(plain) {
        return;
    }
    let (mut line, mut column) = (1, 0);
    let mut rest = source.chars().peekable();
    while let Some(character) = rest.next() {
        column += 1;
        let problem = match character {
            '\n' => {
                (line, column) = (line + 1, 0);
                None
            }
            '\r' if rest.peek() == Some(&'\n') => None,
            '\r' => Some("a carriage return without a line feed"),
            '\u{85}' | '\u{2028}' | '\u{2029}' => Some("a line end that only YAML 1.1 knows"),
            '\u{feff}' => Some("a byte order mark inside the text"),
            '\t' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' => None,
            '\u{10000}'.. => None,
            _ => Some(CONTROL),
        };
        if let Some(problem) = problem {
            let code = u32::from(character);
            let code_of_error = if problem == CONTROL { codes::YAML_SYNTAX } else { codes::YAML_UNSUPPORTED };
            found.push(
                Diagnostic::error(code_of_error, format!("U+{code:04X} is {problem}"))
                    .at(reading.place(Mark { line, column }))
                    .why("Salt would refuse the file or read it differently from what the eye sees")
                    .fix(format!("remove it, or write it inside double quotes as \"\\u{code:04x}\"")),
            );
        }
    }
}

/// Salt renders a file through Jinja unless its first line says otherwise.
pub(crate) fn renderer(reading: &Reading, found: &mut Diagnostics) -> Renderer {
    let first = reading.source.lines().next().unwrap_or_default().trim_end();
    match first.strip_prefix("#!") {
        Some("yaml") => Renderer { runs_jinja: false },
        Some(pipe) if pipe != "jinja|yaml" && !pipe.starts_with('/') => {
            found.push(
                Diagnostic::error(
                    codes::YAML_UNSUPPORTED,
                    format!("the renderer line {first} is not supported"),
                )
                .at(reading.place(Mark { line: 1, column: 1 }))
                .why("eos reads plain YAML; another renderer would run a program to make it")
                .fix("write the file as plain YAML and begin it with #!yaml"),
            );
            Renderer { runs_jinja: false }
        }
        _ => Renderer { runs_jinja: true },
    }
}

/// The first tab of every line that has one in its leading white space.
pub(crate) fn tabbed_lines(source: &str) -> Vec<Mark> {
    if !source.contains('\t') {
        return Vec::new();
    }
    let tab_of = |line: &str| line.find(|c| c != ' ').filter(|at| line[*at..].starts_with('\t'));
    (1..)
        .zip(source.lines())
        .filter_map(|(line, text)| tab_of(text).map(|at| Mark { line, column: at as u32 + 1 }))
        .collect()
}

pub(crate) fn tab_diagnostic(reading: &Reading, tab: Mark) -> Diagnostic {
    Diagnostic::error(codes::YAML_TAB, "a tab is used as indentation")
        .at(reading.place(tab))
        .why("YAML allows only spaces there, since a tab has no agreed width")
        .fix("replace the tab by spaces, two for each level")
}

/// What git leaves where two sides changed the same lines, if it stands in or before a line that cannot be read.
pub(crate) fn merge_conflict(reading: &Reading, until: u32) -> Option<Diagnostic> {
    let is_marker = |text: &str| text.starts_with("<<<<<<< ");
    let (line, _) = (1..=until).zip(reading.source.lines()).find(|(_, text)| is_marker(text))?;
    Some(
        Diagnostic::error(codes::YAML_SYNTAX, "a merge conflict is not resolved here")
            .at(reading.place(Mark { line, column: 1 }))
            .why("git found two versions of these lines and left both for a person to choose from")
            .fix("keep one of them, remove the lines with <<<<<<<, ======= and >>>>>>>, then git add and git commit"),
    )
}
