//! Diagnostics for people: what, where with the line, why, and what to type.
//!
//! Whatever a file or an argument held, a terminal gets no control character from here and no line beyond its width.

use eos_model::{Diagnostic, Diagnostics, Name, Place, Severity};

use super::style::Style;
use super::wrap::{shown, wrapped};

pub fn render(diagnostics: &Diagnostics, width: usize, color: bool) -> String {
    let style = Style(color);
    let mut out = String::new();
    for (index, d) in merged(diagnostics).iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let (word, paint): (&str, fn(Style, &str) -> String) = match d.severity {
            Severity::Error => ("error", Style::red),
            Severity::Warning => ("warning", Style::yellow),
        };
        let head = format!("{word}[{}]:", d.code);
        paragraph(&mut out, &head, &paint(style, &head), &d.message, width, |line| style.bold(line));
        if let Some(place) = &d.place {
            place_lines(&mut out, place, width, style);
        }
        if let Some(why) = &d.why {
            paragraph(&mut out, "  why:", &format!("  {}", style.dim("why:")), why, width, str::to_owned);
        }
        let page = format!("eos explain {}", d.code);
        if let Some(fix) = d.fix.as_ref().or((d.severity == Severity::Error).then_some(&page)) {
            paragraph(&mut out, "  try:", &format!("  {}", style.cyan("try:")), fix, width, str::to_owned);
        }
    }
    if let Some(first) = diagnostics.0.iter().find(|d| d.severity == Severity::Error) {
        out.push_str(&style.dim(&format!("\neos explain {} tells more.\n", first.code)));
    }
    out
}

/// What is said of several units in the same words is said once, with all their names.
fn merged(diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    let mut merged: Vec<(Diagnostic, Vec<Name>)> = Vec::new();
    for d in &diagnostics.0 {
        let named = unit_of(&d.message);
        let same = |(other, names): &&mut (Diagnostic, Vec<Name>)| {
            named
                .as_ref()
                .zip(names.first())
                .is_some_and(|(name, first)| without(d, name) == without(other, first))
        };
        match merged.iter_mut().find(same) {
            Some((_, names)) => names.extend(named),
            None => merged.push((d.clone(), named.into_iter().collect())),
        }
    }
    for (d, names) in merged.iter_mut().filter(|(_, names)| names.len() > 1) {
        let all = names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
        d.message = match (STOPS.iter().find(|stop| d.message.starts_with(*stop)), d.message.split_once(": "))
        {
            (Some(stop), _) => format!("{stop}{all}"),
            (None, said) => format!("{all}: {}", said.map_or("", |(_, said)| said)),
        };
    }
    merged.into_iter().map(|(d, _)| d).collect()
}

/// What is said of a unit that a run or a plan stopped at, before its name.
const STOPS: [&str; 2] = ["stopped at ", "stopped before "];

/// The unit that a message begins with: `grafana: the state is locked`; or that of `stopped at grafana`.
fn unit_of(message: &str) -> Option<Name> {
    match STOPS.iter().find_map(|stop| message.strip_prefix(stop)) {
        Some(name) => name.parse().ok(),
        None => message.split_once(": ")?.0.parse().ok(),
    }
}

/// All that is said but for the unit's name, where it is a word of its own.
fn without(d: &Diagnostic, name: &Name) -> Diagnostic {
    let blank = |text: &String| {
        let words = text.split_inclusive(' ').map(|word| match word.trim_end_matches([':', ' ']) {
            bare if bare == name.as_str() => "…",
            _ => word,
        });
        words.collect::<String>()
    };
    Diagnostic {
        message: blank(&d.message),
        why: d.why.as_ref().map(blank),
        fix: d.fix.as_ref().map(blank),
        ..d.clone()
    }
}

/// A head and a text behind it, continued below its beginning.
fn paragraph(
    out: &mut String,
    head: &str,
    painted: &str,
    text: &str,
    width: usize,
    paint: impl Fn(&str) -> String,
) {
    let indent = if head.starts_with(' ') { head.chars().count() + 1 } else { 2 };
    let first = width.saturating_sub(head.chars().count() + 1);
    for (index, line) in wrapped(text, first, width.saturating_sub(indent)).iter().enumerate() {
        match index {
            0 => out.push_str(&format!("{painted} {}\n", paint(line))),
            _ => out.push_str(&format!("{}{}\n", " ".repeat(indent), paint(line))),
        }
    }
}

/// File, line and column, and the line itself with a mark; of a long line the part around the mark.
fn place_lines(out: &mut String, place: &Place, width: usize, style: Style) {
    let file = shown(place.file.as_str());
    if place.line == 0 {
        out.push_str(&format!("  {} {file}\n", style.dim("in")));
        return;
    }
    out.push_str(&format!("  {} {file}:{}:{}\n", style.dim("at"), place.line, place.column));
    if place.text.is_empty() {
        return;
    }
    let number = place.line.to_string();
    let room = width.saturating_sub(number.len() + 5).max(20);
    let column = place.column.saturating_sub(1);
    let start = if column < room { 0 } else { column - room / 2 };
    let text: String = shown(&place.text).chars().skip(start).take(room).collect();
    out.push_str(&format!("  {} {}\n", style.dim(&format!("{number} |")), text.trim_end()));
    out.push_str(&format!(
        "  {} {}{}\n",
        style.dim(&format!("{} |", " ".repeat(number.len()))),
        " ".repeat(column - start),
        style.red("^")
    ));
}

#[cfg(test)]
mod tests {
    use eos_model::codes;

    use super::*;

    fn text(diagnostic: Diagnostic) -> String {
        render(&diagnostic.into(), 60, false)
    }

    #[test]
    fn lines_fit_and_go_on_below_their_beginning() {
        let said = text(
            Diagnostic::error(codes::USAGE, "word ".repeat(30).trim())
                .why("reason ".repeat(20).trim())
                .fix("x".repeat(70)),
        );
        assert!(said.lines().all(|line| line.chars().count() <= 60), "{said}");
        assert!(said.contains("\n       reason"), "{said}");
        assert_eq!(said.matches("word").count(), 30);
    }

    #[test]
    fn what_is_said_of_several_units_is_said_once() {
        let of = |unit: &str, what: &str| {
            Diagnostic::error(codes::TOFU, format!("{unit}: {what}")).fix(format!("eos tofu {unit} -- plan"))
        };
        let said = |all: Vec<Diagnostic>| render(&Diagnostics(all), 100, false);
        let same = said(vec![of("web", "no answer"), of("db", "no answer"), of("web", "disk full")]);
        assert_eq!(same.matches("no answer").count(), 1, "{same}");
        assert!(same.contains("web, db: no answer") && same.contains("web: disk full"), "{same}");
        assert!(same.contains("eos tofu web -- plan"), "{same}");
    }

    #[test]
    fn where_a_plan_was_stopped_is_said_once() {
        let stopped = |what: &str| Diagnostic::error(codes::STOPPED, what).fix("run the command again");
        let all = ["stopped at web", "stopped at db", "stopped before shop", "stopped before cache"];
        let said = render(&Diagnostics(all.map(stopped).into()), 100, false);
        assert_eq!(said.matches("error[E0922]").count(), 2, "{said}");
        assert!(
            said.contains("stopped at web, db\n") && said.contains("stopped before shop, cache\n"),
            "{said}"
        );
    }

    #[test]
    fn control_characters_are_pictures() {
        let said = text(Diagnostic::error(codes::USAGE, "a\u{1b}[2Jb\0\r").at(Place {
            file: "x\u{7}".into(),
            line: 1,
            column: 2,
            text: "\t\u{9b}".into(),
        }));
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    }

    #[test]
    fn a_mark_far_to_the_right_stands_below_its_character() {
        let place = Place {
            file: "x".into(),
            line: 7,
            column: 201,
            text: format!("{}!{}", "a".repeat(200), "b".repeat(200)),
        };
        let said = text(Diagnostic::error(codes::USAGE, "x").at(place));
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines[2].chars().position(|c| c == '!'),
            lines[3].chars().position(|c| c == '^'),
            "{said}"
        );
    }

    #[test]
    fn a_huge_word_is_told_by_its_length() {
        let said = text(Diagnostic::error(codes::USAGE, "x".repeat(100_000)));
        assert!(said.len() < 300 && said.contains("100000 characters"), "{said}");
    }
}
