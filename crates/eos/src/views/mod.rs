//! How things look: tables, diagnostics, dates.

pub mod changed;
pub mod cost;
pub mod diagnostics;
pub mod diff;
pub mod graph;
pub mod layout;
pub mod page;
pub mod plan;
pub mod plan_lines;
pub mod prompt;
pub mod report;
pub mod runs;
pub mod style;
pub mod table;
pub mod wrap;
