//! Text in lines that fit, without anything a terminal would obey.

/// A word longer than this is told by its beginning and its length.
const LONGEST_WORD: usize = 160;

/// The text in lines: the first up to `first` characters, the others up to `rest`, broken between words.
pub fn wrapped(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for part in text.split('\n') {
        let words = part.trim_start_matches(' ');
        // What a line begins with is part of what it says: lines of a file are copied from here.
        let mut line = " ".repeat(part.len() - words.len());
        for word in words.split(' ') {
            let word = shown(&shortened(word));
            let room = if lines.is_empty() { first } else { rest };
            if line.trim_start().is_empty() {
                line.push_str(&word);
            } else if line.chars().count() + 1 + word.chars().count() <= room {
                line.push(' ');
                line.push_str(&word);
            } else {
                lines.push(std::mem::replace(&mut line, word));
            }
            // A word alone may be wider than the line: it is cut where the line ends.
            loop {
                let room = if lines.is_empty() { first } else { rest }.max(20);
                if line.chars().count() <= room {
                    break;
                }
                let tail = line.chars().skip(room).collect();
                lines.push(line.chars().take(room).collect());
                line = tail;
            }
        }
        lines.push(line);
    }
    lines
}

/// A head and a text behind it in lines that fit, those after the first indented; each with its end. `painted` is the
/// head as it is shown.
pub fn below(head: &str, painted: &str, text: &str, width: usize, indent: usize) -> String {
    let first = width.saturating_sub(head.chars().count());
    let lines = wrapped(text, first, width.saturating_sub(indent));
    format!("{painted}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// A key and its value in a line; what does not fit goes on below, and a word that is too long for that stays whole.
pub fn field(key: &str, value: &str, width: usize) -> String {
    let head = format!("  {key:<20} ");
    let indent = head.chars().count();
    let longest = value.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    match indent.saturating_add(value.chars().count()) <= width {
        true => format!("{head}{value}\n"),
        false if indent + longest <= width => below(&head, &head, value, width, indent),
        false => format!("  {key}\n    {value}\n"),
    }
}

fn shortened(word: &str) -> String {
    let length = word.chars().count();
    if length <= LONGEST_WORD {
        return word.to_owned();
    }
    let end: String = word.chars().skip(length - 8).collect();
    format!("{}…{end} ({length} characters)", word.chars().take(40).collect::<String>())
}

/// Control characters as their pictures, one for one.
pub fn shown(text: &str) -> String {
    let picture = |c: char| match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('?'),
        '\x7f' => '\u{2421}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_goes_on_below_and_breaks_no_word() {
        let key = "  host                 ";
        assert_eq!(field("host", "web1", 40), format!("{key}web1\n"));
        let indent = " ".repeat(23);
        assert_eq!(
            field("host", "one, two, three, four", 40),
            format!("{key}one, two, three,\n{indent}four\n")
        );
        let path = "/srv/eos/production/a-long-name";
        assert_eq!(field("host", path, 40), format!("  host\n    {path}\n"));
        assert_eq!(field("host", path, usize::MAX), format!("{key}{path}\n"));
    }
}
