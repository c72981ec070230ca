//! Differences of texts, as `diff -u` shows them. A person is spared the most of a long line: a file within a file is one.

use similar::{ChangeTag, TextDiff};

use super::style::Style;

/// Of a longer line a person is shown what changes in it.
pub const LONGEST: usize = 160;

/// What is shown of a long line before and behind what changes in it.
const AROUND: usize = 40;

/// The difference; of a line with more than `longest` characters only a part.
pub fn unified(path: &str, before: &[u8], after: &[u8], style: Style, longest: usize) -> String {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    if before == after {
        return String::new();
    }
    let difference = TextDiff::from_lines(before.as_ref(), after.as_ref());
    let side = |present: bool, letter: char| {
        if present { format!("{letter}/{path}") } else { "/dev/null".to_owned() }
    };
    let mut out = format!(
        "{}\n{}\n",
        style.bold(&format!("--- {}", side(!before.is_empty(), 'a'))),
        style.bold(&format!("+++ {}", side(!after.is_empty(), 'b')))
    );
    for hunk in difference.unified_diff().context_radius(3).iter_hunks() {
        out.push_str(&format!("{}\n", style.cyan(&hunk.header().to_string())));
        let changes: Vec<(ChangeTag, &str)> =
            hunk.iter_changes().map(|change| (change.tag(), change.value().trim_end_matches('\n'))).collect();
        for ((tag, line), other) in changes.iter().zip(counterparts(&changes)) {
            let line = part(line, other, longest);
            out.push_str(&match tag {
                ChangeTag::Delete => style.red(&format!("-{line}")),
                ChangeTag::Insert => style.green(&format!("+{line}")),
                ChangeTag::Equal => format!(" {line}"),
            });
            out.push('\n');
        }
    }
    out
}

/// What each line was or becomes: the first of the deleted ones the first of those in their place, and so on.
fn counterparts<'t>(changes: &[(ChangeTag, &'t str)]) -> Vec<Option<&'t str>> {
    let mut found = vec![None; changes.len()];
    let count = |from: usize, tag| changes[from..].iter().take_while(|(is, _)| *is == tag).count();
    let mut start = 0;
    while start < changes.len() {
        let deleted = count(start, ChangeTag::Delete);
        let inserted = count(start + deleted, ChangeTag::Insert);
        for before in start..start + deleted.min(inserted) {
            let after = before + deleted;
            found[before] = Some(changes[after].1);
            found[after] = Some(changes[before].1);
        }
        start += (deleted + inserted).max(1);
    }
    found
}

/// A line, or of a long one the part that is not as in the other.
fn part(line: &str, other: Option<&str>, longest: usize) -> String {
    let line: Vec<char> = line.chars().collect();
    let (mut from, mut to) = (0, line.len());
    if line.len() > longest {
        if let Some(other) = other {
            let other: Vec<char> = other.chars().collect();
            let same = line.iter().zip(&other).take_while(|(one, two)| one == two).count();
            let ends = line[same..].iter().rev().zip(other[same..].iter().rev());
            let same_end = ends.take_while(|(one, two)| one == two).count();
            from = same.saturating_sub(AROUND);
            to = (line.len() - same_end + AROUND).min(line.len());
        }
        to = to.min(from + longest);
    }
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    let kept: String = line[from..to].iter().collect();
    format!("{}{kept}{}", mark(from > 0), mark(to < line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_what_changes_is_shown() {
        let text = |port: &str| format!("short\n{}port {port}{}\n", "a".repeat(500), "b".repeat(500));
        let (before, after) = (text("6379"), text("6380"));
        let shown = |longest| unified("x", before.as_bytes(), after.as_bytes(), Style(false), longest);
        let brief = shown(LONGEST);
        let around = |port: &str| format!("…{}port {port}{}…\n", "a".repeat(33), "b".repeat(40));
        assert!(brief.contains(&format!("-{}", around("6379"))), "{brief}");
        assert!(brief.contains(&format!("+{}", around("6380"))), "{brief}");
        assert!(brief.contains("\n short\n"), "{brief}");
        assert!(shown(usize::MAX).contains(&after[6..]), "all of it for programs");
    }

    #[test]
    fn of_a_long_new_line_its_beginning_is_shown() {
        let new = format!("{}end", "é".repeat(500));
        let brief = unified("x", b"", new.as_bytes(), Style(false), LONGEST);
        assert!(brief.ends_with(&format!("+{}…\n", "é".repeat(LONGEST))), "{brief}");
    }
}
