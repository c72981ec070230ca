//! From bytes to a document, with everything that is wrong at once where possible.
//!
//! What is refused although some YAML reader would take it, each with place and fix:
//! - tags, a second document, a renderer line other than `#!yaml` or `#!jinja|yaml`: `YAML_UNSUPPORTED`;
//! - keys that are not text. Salt would keep them as numbers, booleans or null. An integer written in its
//!   plain decimal form (`8080:`) becomes that text, as Salt's own JSON output has it; `yes:`, `~:`, `1.5:`,
//!   `0755:` and lists or mappings as keys are `YAML_UNSUPPORTED`. `80:` beside `"80":` counts as a duplicate;
//! - integers beyond 64 bits, an alias to a node around itself, nesting deeper than 100, aliases that
//!   multiply to more than 100,000 nodes: `YAML_UNSUPPORTED`;
//! - Jinja (`{{`, `{%`, `{#`), except after a first line `#!yaml`: `JINJA`. Comments may hold it;
//! - line ends of YAML 1.1 that look like text (U+0085, U+2028, U+2029), a lone carriage return, control
//!   characters: `YAML_SYNTAX`.
//!
//! A file that is empty, or whose root Salt counts as nothing (null, false, 0, `""`, `[]`), is an empty mapping.

use std::sync::Arc;

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, Place, codes};

use crate::compose::{Composed, compose};
use crate::jinja;
use crate::node::{FileId, Mark, Node, Value};
use crate::outside;
use crate::precheck;
use crate::sources::{Document, place};

/// Files larger than this are refused unread.
pub const LARGEST_FILE: usize = 1024 * 1024;

/// The file being read, for messages.
pub(crate) struct Reading<'a> {
    pub file: &'a Utf8Path,
    pub source: &'a str,
}

impl Reading<'_> {
    pub fn place(&self, mark: Mark) -> Place {
        place(self.file, self.source, mark)
    }
}

/// Reads one file as Salt would.
pub fn parse(file: &Utf8Path, source: &[u8]) -> Result<Document, Diagnostics> {
    let source = text_of(file, source)?;
    // Salt skips a byte order mark that begins the file.
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let reading = Reading { file, source };
    let mut found = Diagnostics::new();

    precheck::characters(&reading, &mut found);
    let renderer = precheck::renderer(&reading, &mut found);
    let markers = if renderer.runs_jinja { jinja::markers(source) } else { Vec::new() };
    let (in_comments, outside): (Vec<_>, Vec<_>) = markers.into_iter().partition(|marker| marker.in_comment);
    outside.iter().for_each(|marker| found.push(jinja::diagnostic(&reading, marker)));
    let tabs = precheck::tabbed_lines(source);
    if found.has_errors() {
        // What the YAML parser would say about such a file is about consequences, not causes.
        tabs.iter().for_each(|tab| found.push(precheck::tab_diagnostic(&reading, *tab)));
        return Err(found);
    }

    let look_between = outside::is_needed(source);
    let Composed { root, scalars, diagnostics, stopped } =
        compose(&reading, look_between || !in_comments.is_empty());
    let loose_tabs: Vec<Mark> =
        tabs.into_iter().filter(|tab| !scalars.iter().any(|scalar| scalar.may_hold_tab(*tab))).collect();
    for marker in &in_comments {
        // It looked like a comment and is a line of a block: Jinja would change a value.
        if scalars.iter().any(|scalar| scalar.holds(marker.mark)) {
            found.push(jinja::diagnostic(&reading, marker));
        }
    }
    loose_tabs.iter().for_each(|tab| found.push(precheck::tab_diagnostic(&reading, *tab)));
    found.extend(diagnostics);
    if look_between && stopped.is_none() {
        outside::check(&reading, &scalars, &mut found);
        outside::check_end(&reading, root.as_ref().map(|root| root.mark), &mut found);
    }
    if let Some((mark, problem)) = stopped.map(|stop| *stop) {
        // A tab before the spot explains the error; saying both would only confuse.
        if loose_tabs.first().is_none_or(|tab| tab.line > mark.line) {
            found.push(precheck::merge_conflict(&reading, mark.line).unwrap_or(problem));
        }
    }
    if found.has_errors() {
        return Err(found);
    }
    let root = root.filter(|root| !counts_as_nothing(root)).unwrap_or_else(empty_map);
    Ok(Document { file: file.to_owned(), source: Arc::from(source), root })
}

fn text_of<'a>(file: &Utf8Path, source: &'a [u8]) -> Result<&'a str, Diagnostics> {
    if source.len() > LARGEST_FILE {
        return Err(Diagnostic::error(
            codes::FILE_TOO_LARGE,
            format!("{file} has {} bytes, more than the {LARGEST_FILE} that are read", source.len()),
        )
        .at(Place::file(file))
        .why("a pillar or catalogue file of this size is a mistake or an attack")
        .fix("split the file, or move data that is not configuration elsewhere")
        .into());
    }
    std::str::from_utf8(source).map_err(|error| {
        let good = String::from_utf8_lossy(&source[..error.valid_up_to()]);
        let line = good.matches('\n').count() + 1;
        let column = good.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let text = good.rsplit('\n').next().unwrap_or_default().to_owned();
        Diagnostic::error(codes::NOT_UTF8, format!("{file} is not UTF-8 text"))
            .at(Place { file: file.to_owned(), line, column, text })
            .why(format!(
                "byte {} (0x{:02x}) begins no UTF-8 character",
                error.valid_up_to(),
                source[error.valid_up_to()]
            ))
            .fix(format!(
                "convert it, if it is Latin-1: iconv -f latin1 -t utf-8 {file} > new && mv new {file}"
            ))
            .into()
    })
}

/// What Salt's renderer replaces by an empty mapping.
fn counts_as_nothing(root: &Node) -> bool {
    match &root.value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::Float(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Bool(true) | Value::Int(_) | Value::Map(_) => false,
    }
}

fn empty_map() -> Node {
    Node { value: Value::map(Vec::new()), mark: Mark { line: 1, column: 1 }, file: FileId::default() }
}
