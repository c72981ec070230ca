//! Diagnostics for people: what, where with the line, why, and what to type.

use eos_model::{Diagnostics, Severity};

use super::style::Style;

pub fn render(diagnostics: &Diagnostics, color: bool) -> String {
    let style = Style(color);
    let mut out = String::new();
    for (index, d) in diagnostics.0.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let head = match d.severity {
            Severity::Error => style.red(&format!("error[{}]", d.code)),
            Severity::Warning => style.yellow(&format!("warning[{}]", d.code)),
        };
        out.push_str(&format!("{head}: {}\n", style.bold(&d.message)));
        if let Some(place) = &d.place {
            if place.line == 0 {
                out.push_str(&format!("  {} {}\n", style.dim("in"), place.file));
            } else {
                out.push_str(&format!("  {} {}:{}:{}\n", style.dim("at"), place.file, place.line, place.column));
            }
            if !place.text.is_empty() {
                let number = place.line.to_string();
                let shown: String = place.text.chars().take(90).collect();
                out.push_str(&format!("  {} {shown}\n", style.dim(&format!("{number} |"))));
                let before = place.column.saturating_sub(1).min(90);
                out.push_str(&format!("  {} {}{}\n", style.dim(&format!("{} |", " ".repeat(number.len()))), " ".repeat(before), style.red("^")));
            }
        }
        if let Some(why) = &d.why {
            out.push_str(&format!("  {} {why}\n", style.dim("why:")));
        }
        if let Some(fix) = &d.fix {
            out.push_str(&format!("  {} {fix}\n", style.cyan("try:")));
        }
    }
    if let Some(first) = diagnostics.0.iter().find(|d| d.severity == Severity::Error) {
        out.push_str(&style.dim(&format!("\neos explain {} tells more.\n", first.code)));
    }
    out
}
