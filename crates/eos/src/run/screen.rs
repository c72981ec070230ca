//! The last lines of the terminal, which are drawn anew as a run goes on. There is one terminal, so there is one of this:
//! whatever is said meanwhile goes above the lines and leaves none of them behind.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// Lines that the cursor is below of.
static DRAWN: Mutex<usize> = Mutex::new(0);

/// Draws lines in place of those that were drawn before.
pub fn draw(lines: &[String]) {
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    replace(&text, lines.len());
}

/// Says something for good; the lines come back below it with the next draw.
pub fn say(text: &str) {
    replace(&format!("{text}\n"), 0);
}

/// Takes the lines away.
pub fn clear() {
    replace("", 0);
}

fn replace(text: &str, lines: usize) {
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let back = if *drawn > 0 { format!("\r\x1b[{}A\x1b[J", *drawn) } else { String::new() };
    let _ = std::io::stderr().write_all(format!("{back}{text}").as_bytes());
    *drawn = lines;
}
