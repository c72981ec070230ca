//! What an installation tells while it goes on. The library prints nothing: the caller decides what to show.

use camino::Utf8Path;

use crate::found::{Found, Source};

/// One thing that happened, in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Another process installs the same tool; this one waits for it.
    Waiting { tool: &'a str },
    /// A source is tried.
    Started { tool: &'a str, version: &'a str, source: Source },
    /// Bytes read so far of a download or a bundle's file; the total where it is known.
    Bytes { done: u64, total: Option<u64> },
    /// A longer piece of work begins, such as `go build` or `pip install`; its log grows in a file.
    Building { what: &'a str, log: &'a Utf8Path },
    /// A source could not provide the tool; the next one is tried.
    Failed { source: Source, reason: &'a str },
    /// The tool is there.
    Done { found: &'a Found },
}

/// Receives the steps.
pub trait Progress {
    fn step(&mut self, step: Step<'_>);
}

/// Shows nothing.
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: Step<'_>) {}
}

impl<F: FnMut(Step<'_>)> Progress for F {
    fn step(&mut self, step: Step<'_>) {
        self(step);
    }
}
