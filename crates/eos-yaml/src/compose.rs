//! From parser events to a tree: anchors, merge keys, keys as text, duplicate keys, bounds.
//!
//! Built with a stack of its own, so that deep nesting ends in a diagnostic and not in a stack overflow.

use std::collections::HashMap;

use eos_model::{Diagnostic, Diagnostics, codes};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use crate::mapping::{Entry, Key, finish};
use crate::node::{FileId, Mark, Node, Value};
use crate::parse::Reading;
use crate::scalar::{Meaning, meaning};
use crate::span::ScalarSpan;

/// Deeper nesting is refused.
pub(crate) const DEEPEST: usize = 100;
/// More nodes than this made by aliases are refused.
const MOST_BY_ALIAS: usize = 100_000;

/// Salt's reader takes these for markup wherever they begin a text, the parser not always.
const NEVER_PLAIN: [char; 15] = ['?', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`'];

pub(crate) struct Composed {
    pub root: Option<Node>,
    /// Only when asked for.
    pub scalars: Vec<ScalarSpan>,
    pub diagnostics: Diagnostics,
    /// What ended reading early.
    pub stopped: Option<Stop>,
}

/// What ends reading, and where.
pub(crate) type Stop = Box<(Mark, Diagnostic)>;

enum Frame {
    List { anchor: usize, mark: Mark, items: Vec<Node> },
    Map { anchor: usize, mark: Mark, entries: Vec<Entry>, key: Option<Key> },
}

struct Anchored {
    node: Node,
    nodes: usize,
    height: usize,
}

struct Composer<'a> {
    reading: &'a Reading<'a>,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    by_alias: usize,
    documents: usize,
    /// How many characters the source has.
    characters: usize,
    keep_scalars: bool,
    out: Composed,
}

pub(crate) fn compose(reading: &Reading, keep_scalars: bool) -> Composed {
    let out = Composed { root: None, scalars: Vec::new(), diagnostics: Diagnostics::new(), stopped: None };
    let (stack, anchors) = (Vec::new(), HashMap::new());
    let characters = reading.source.chars().count();
    let mut composer =
        Composer { reading, stack, anchors, by_alias: 0, documents: 0, characters, keep_scalars, out };
    let mut parser = Parser::new_from_str(reading.source);
    while let Some(next) = parser.next_event() {
        let result = match next {
            Ok((event, span)) => composer.take(event, span),
            Err(error) => Err(syntax(reading, mark_of(*error.marker()), error.info())),
        };
        if let Err(stop) = result {
            composer.out.stopped = Some(stop);
            composer.out.root = None;
            break;
        }
    }
    composer.out
}

fn mark_of(marker: Marker) -> Mark {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Mark { line: number(marker.line()).max(1), column: number(marker.col()).saturating_add(1) }
}

fn syntax(reading: &Reading, mark: Mark, problem: &str) -> Stop {
    let diagnostic = Diagnostic::error(codes::YAML_SYNTAX, format!("this is not YAML: {problem}"))
        .at(reading.place(mark))
        .why("what is meant here cannot be told for sure, and Salt refuses a whole file for one such line")
        .fix("look at the indentation, the quotes and the colons of this line and the one before");
    Box::new((mark, diagnostic))
}

impl Composer<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        let mark = mark_of(span.start);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                match self.documents {
                    1 => Ok(()),
                    _ => Err(self.unsupported(
                        mark,
                        "a second document begins here",
                        "put it in a file of its own",
                    )),
                }
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(mark, tag.is_some());
                self.open(mark, Frame::List { anchor, mark, items: Vec::new() })
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(mark, tag.is_some());
                self.open(mark, Frame::Map { anchor, mark, entries: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, mark),
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(mark, tag.is_some());
                // An empty scalar has no place of its own: the parser gives it the one of its anchor.
                if self.keep_scalars && !(text.is_empty() && style == ScalarStyle::Plain) {
                    let end = mark_of(span.end);
                    self.out.scalars.push(ScalarSpan {
                        start: mark,
                        end,
                        plain: style == ScalarStyle::Plain,
                        anchored: anchor != 0,
                    });
                }
                let mut text = text.into_owned();
                if style == ScalarStyle::Plain && self.is_markup_to_salt(&text) {
                    return Err(syntax(self.reading, mark, "this cannot stand unquoted"));
                }
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if is_block {
                    self.check_block(&mut text, mark, span.end)?;
                }
                if span.end.line() > span.start.line() && self.expects_key() && !is_block {
                    return Err(self.unsupported(
                        mark,
                        "a key spans several lines",
                        "write the key on one line",
                    ));
                }
                self.scalar(text, style == ScalarStyle::Plain, anchor, mark);
                Ok(())
            }
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::Map { key: None, .. }))
    }

    fn is_markup_to_salt(&self, text: &str) -> bool {
        text.starts_with(NEVER_PLAIN)
            || text.ends_with(':')
            || (text.starts_with(':') && self.is_in_brackets())
    }

    /// Looked up in the source, since events do not tell; an anchor counts as a bracket to be sure.
    fn is_in_brackets(&self) -> bool {
        self.stack.iter().any(|frame| {
            let (Frame::List { mark, .. } | Frame::Map { mark, .. }) = frame;
            let line = self.reading.source.lines().nth(mark.line as usize - 1).unwrap_or_default();
            line.chars().nth(mark.column as usize - 1).is_some_and(|c| matches!(c, '[' | '{' | '&'))
        })
    }

    fn check_block(&self, text: &mut String, mark: Mark, end: Marker) -> Result<(), Stop> {
        if self.stack.is_empty() {
            // The parser reads such a block differently from Salt, and no file of ours is a single text.
            return Err(self.unsupported(
                mark,
                "the document is a single block of text",
                "put it under a key",
            ));
        }
        // Where the file ends without a line end, Salt gives the text none either.
        let last_line = self.reading.source.rsplit('\n').next().unwrap_or_default();
        match (end.index() >= self.characters && !last_line.is_empty(), last_line.trim().is_empty()) {
            (true, true) => {
                Err(self.unsupported(mark, "the file ends in blanks after this text", "remove them"))
            }
            (true, false) if text.ends_with('\n') => {
                text.pop();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn unsupported(&self, mark: Mark, problem: impl Into<String>, fix: &str) -> Stop {
        let diagnostic =
            Diagnostic::error(codes::YAML_UNSUPPORTED, problem).at(self.reading.place(mark)).fix(fix);
        Box::new((mark, diagnostic))
    }

    fn report(&mut self, mark: Mark, problem: impl Into<String>, why: &str, fix: impl Into<String>) {
        let diagnostic = Diagnostic::error(codes::YAML_UNSUPPORTED, problem);
        self.out.diagnostics.push(diagnostic.at(self.reading.place(mark)).why(why).fix(fix));
    }

    fn refuse_tag(&mut self, mark: Mark, tagged: bool) {
        if tagged {
            let why = "a tag changes how a value is read, and few readers agree on how";
            self.report(
                mark,
                "a tag (!...) is not supported",
                why,
                "write the value without the tag, quoted if it is text",
            );
        }
    }

    fn open(&mut self, mark: Mark, frame: Frame) -> Result<(), Stop> {
        if self.stack.len() >= DEEPEST {
            let problem = format!("nesting is deeper than {DEEPEST} levels");
            return Err(self.unsupported(mark, problem, "flatten the structure"));
        }
        self.stack.push(frame);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        let (anchor, node) = match self.stack.pop() {
            Some(Frame::List { anchor, mark, items }) => (anchor, node(Value::list(items), mark)),
            Some(Frame::Map { anchor, mark, entries, .. }) => {
                let entries = finish(self.reading, entries, &mut self.out.diagnostics);
                (anchor, node(Value::map(entries), mark))
            }
            None => return Ok(()),
        };
        self.remember(anchor, &node);
        self.put(node);
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node) {
        if anchor != 0 {
            let (nodes, height) = measure(node);
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes, height });
        }
    }

    fn alias(&mut self, anchor: usize, mark: Mark) -> Result<(), Stop> {
        let Some(target) = self.anchors.get(&anchor) else {
            return Err(self.unsupported(
                mark,
                "this alias refers to a node around itself",
                "write the value out",
            ));
        };
        self.by_alias += target.nodes;
        if self.by_alias > MOST_BY_ALIAS || self.stack.len() + target.height > DEEPEST {
            return Err(self.unsupported(
                mark,
                "aliases make this document too large",
                "write fewer aliases of aliases",
            ));
        }
        let node = target.node.clone();
        self.put(node);
        Ok(())
    }

    fn scalar(&mut self, text: String, plain: bool, anchor: usize, mark: Mark) {
        let meaning = if plain { meaning(&text) } else { Meaning::Text };
        if let Some(Frame::Map { key: key @ None, .. }) = self.stack.last_mut() {
            let new = Key::of_scalar(text, meaning, mark);
            let remembered = new.as_node();
            *key = Some(new);
            self.remember(anchor, &remembered);
            return;
        }
        let value = match meaning {
            Meaning::Null => Value::Null,
            Meaning::Bool(flag) => Value::Bool(flag),
            Meaning::Int(number) => Value::Int(number),
            Meaning::Float(number) => Value::Float(number),
            Meaning::Text | Meaning::Timestamp => Value::String(text),
            Meaning::TooLarge => {
                let why = "Salt reads it as a number, and eos keeps numbers of 64 bits";
                self.report(
                    mark,
                    format!("the number {text} is too large"),
                    why,
                    format!("write it as text: '{text}'"),
                );
                Value::Null
            }
            Meaning::Merge | Meaning::Equals | Meaning::NoDigits => {
                let why = "unquoted, it has a special meaning that Salt cannot use here";
                self.report(
                    mark,
                    format!("{text} stands where a value is expected"),
                    why,
                    format!("quote it: '{text}'"),
                );
                Value::Null
            }
        };
        let node = node(value, mark);
        self.remember(anchor, &node);
        self.put(node);
    }

    /// Hands a finished node to what is around it.
    fn put(&mut self, node: Node) {
        match self.stack.last_mut() {
            None => self.out.root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { entries, key, .. }) => match key.take() {
                None => *key = Some(Key::of_node(node)),
                Some(key) => entries.push((key, node)),
            },
        }
    }
}

pub(crate) fn node(value: Value, mark: Mark) -> Node {
    Node { value, mark, file: FileId::default() }
}

/// How many nodes, and how many levels.
fn measure(node: &Node) -> (usize, usize) {
    let add = |(nodes, height): (usize, usize), child: &Node| {
        let (more, deep) = measure(child);
        (nodes + more, height.max(deep + 1))
    };
    match &node.value {
        Value::List(items) => items.iter().fold((1, 1), add),
        Value::Map(entries) => entries.iter().map(|(_, value)| value).fold((1, 1), add),
        _ => (1, 0),
    }
}
