//! Differences of texts, as `diff -u` shows them.

use similar::{ChangeTag, TextDiff};

use super::style::Style;

pub fn unified(path: &str, before: &[u8], after: &[u8], style: Style) -> String {
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
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches('\n');
            out.push_str(&match change.tag() {
                ChangeTag::Delete => style.red(&format!("-{line}")),
                ChangeTag::Insert => style.green(&format!("+{line}")),
                ChangeTag::Equal => format!(" {line}"),
            });
            out.push('\n');
        }
    }
    out
}
