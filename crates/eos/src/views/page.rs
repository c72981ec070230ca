//! A page of text with headings, lists and code, in lines that fit. Code stays as it is: it is there to be copied.

use super::wrap::below;

/// The page within `width` columns; a paragraph that fits stays as it was written.
pub fn fitting(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        let stands_alone = is_fence || is_code || line.trim().is_empty() || line.starts_with(['#', '|']);
        if stands_alone || marker(line) > 0 {
            out.push_str(&filled(&paragraph, width));
            paragraph.clear();
        }
        is_code ^= is_fence;
        match stands_alone {
            true => out.push_str(&format!("{line}\n")),
            false => paragraph.push(line),
        }
    }
    out + &filled(&paragraph, width)
}

/// How wide what begins an element of a list is: `- `, `2. `.
fn marker(line: &str) -> usize {
    let text = line.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_marked = text.starts_with("- ") || (number.len() < text.len() && number.starts_with(". "));
    if is_marked { line.len() - text.len() + text.find(' ').unwrap_or(0) + 1 } else { 0 }
}

fn filled(paragraph: &[&str], width: usize) -> String {
    let Some(first) = paragraph.first() else { return String::new() };
    if paragraph.iter().all(|line| line.chars().count() <= width) {
        return paragraph.iter().map(|line| format!("{line}\n")).collect();
    }
    let indent = marker(first);
    let (head, rest) = first.split_at(indent);
    let words: Vec<&str> =
        std::iter::once(rest).chain(paragraph[1..].iter().copied()).map(str::trim).collect();
    below(head, head, &words.join(" "), width, indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_filled_and_code_is_left_alone() {
        let long = "word ".repeat(9).trim().to_owned();
        let code = "eos create grafana --port 3001 --admin-password -";
        let page = format!(
            "# Title\n\n{long}\nend.\n- {long}\n  end.\nshort\nlines\n\n```\n{code}\n```\n12. {long}\n"
        );
        let fitted = fitting(&page, 30);
        let lines: Vec<&str> = fitted.lines().collect();
        let two = ["word word word word word word", "word word word end."];
        assert_eq!(lines[..4], ["# Title", "", two[0], two[1]]);
        assert_eq!(lines[4..6], ["- word word word word word", "  word word word word end."]);
        assert!(fitted.contains(&format!("\n```\n{code}\n```\n")), "{fitted}");
        assert!(fitted.contains("\n12. word word word word word\n    word word word word\n"), "{fitted}");
        assert_eq!(fitting(&page, 200), page, "what fits stays as it is");
    }
}
