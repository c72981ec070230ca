//! Asking a person. Without a terminal a secret comes from stdin, and a question is refused, never left hanging.

use std::io::{BufRead, Read as _, Write as _};

use crate::args::spoken::ELIDED;
use eos_model::{Diagnostic, codes};
use eos_secrets::Secret;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

/// What of stdin is a secret: all of it, or its next line or block of PEM, with others after it or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    Next,
    Last,
}

/// A secret: typed without echo, or taken from stdin. `command` is what it may be piped into.
pub fn secret(what: &str, command: &str, part: Part) -> Result<Secret, Diagnostic> {
    let stdin = std::io::stdin();
    let mut line = String::new();
    if tcgetattr(&stdin).is_ok() {
        let asked =
            |question: &str| unseen(question).map_err(|error| empty(what, command, &error.to_string()));
        line = asked(what)?.ok_or_else(stopped)?;
        if line.is_empty() {
            return Err(Diagnostic::error(codes::BAD_VALUE, format!("{what}: nothing was typed"))
                .why("an empty secret keeps nobody out")
                .fix("nothing was recorded; run it again"));
        }
        // Nobody sees what is typed: a slip would lock everybody out.
        if asked("the same again")?.ok_or_else(stopped)? != line {
            return Err(Diagnostic::error(codes::BAD_VALUE, format!("{what}: the two are not the same"))
                .fix("nothing was recorded; run it again"));
        }
    } else {
        let mut stdin = stdin.lock();
        let read = match part {
            Part::Whole => stdin.read_to_string(&mut line).map(|_| String::new()),
            Part::Next => next(&mut stdin, &mut line).map(|()| String::new()),
            Part::Last => next(&mut stdin, &mut line).and_then(|()| std::io::read_to_string(&mut stdin)),
        };
        let left = read.map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => {
                Diagnostic::error(codes::BAD_VALUE, format!("{what}: what came is not text (UTF-8)"))
                    .why("programs read it from files and variables of text")
                    .fix(format!("base64 <file> | {command}, and decode it where it is used"))
            }
            _ => empty(what, command, &error.to_string()),
        })?;
        if !left.trim().is_empty() {
            return Err(Diagnostic::error(codes::BAD_VALUE, "more came on stdin than was asked for")
                .why(format!("of several secrets each is one line or one block of PEM; {what} was the last"))
                .fix(
                    "pipe them in the order of their flags; what has several blocks goes in alone: eos secret set <name>/<key>",
                ));
        }
    }
    // One line break ends what was typed or echoed; the others belong to a key or a certificate.
    let value = line.strip_suffix('\n').unwrap_or(&line);
    let value = value.strip_suffix('\r').unwrap_or(value);
    if value.is_empty() {
        return Err(empty(what, command, "nothing came"));
    }
    if value == ELIDED {
        return Err(Diagnostic::error(codes::BAD_VALUE, format!("{what} is {value}"))
            .why("that stands for a secret in what eos shows and keeps; it is none itself")
            .fix("give the secret itself"));
    }
    Ok(Secret::new(value.to_owned()))
}

/// The next line; of PEM everything up to the end of its block, which is a key or a certificate.
fn next(input: &mut impl BufRead, text: &mut String) -> std::io::Result<()> {
    input.read_line(text)?;
    let mut at = 0;
    if text.starts_with("-----BEGIN ") {
        while text.len() > at && !text[at..].starts_with("-----END ") {
            at = text.len();
            input.read_line(text)?;
        }
    }
    Ok(())
}

/// What a person types at the terminal, unseen; none after Ctrl-C.
fn unseen(question: &str) -> std::io::Result<Option<String>> {
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin)?;
    // Also when stderr goes to a file: what is typed must not be seen. Ctrl-C comes as a character, so that the
    // terminal is never left quiet.
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
    quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
    quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
    let _ = tcsetattr(&stdin, OptionalActions::Flush, &quiet);
    // Asked only now: who answers at once is neither seen nor thrown away.
    let _ = write!(std::io::stderr(), "{question}: ");
    let _ = std::io::stderr().flush();
    let typed = typed(stdin.lock());
    let _ = tcsetattr(&stdin, OptionalActions::Flush, &before);
    let _ = writeln!(std::io::stderr());
    typed
}

/// A line as it is typed, character by character; none after Ctrl-C.
fn typed(keys: impl BufRead) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    for key in keys.bytes() {
        match key? {
            b'\r' | b'\n' => break,
            0x03 => return Ok(None),
            // Ctrl-D ends a line as Enter does; Ctrl-U begins it again.
            0x04 => break,
            0x15 => line.clear(),
            0x08 | 0x7f => while line.pop().is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {},
            byte => line.push(byte),
        }
    }
    String::from_utf8(line).map(Some).map_err(|_| std::io::Error::other("it is not valid UTF-8"))
}

fn stopped() -> Diagnostic {
    Diagnostic::error(codes::STOPPED, "stopped by Ctrl-C").fix("nothing was recorded; run it again")
}

fn empty(what: &str, command: &str, problem: &str) -> Diagnostic {
    Diagnostic::error(codes::NO_TERMINAL, format!("{what} was to be read from stdin: {problem}"))
        .fix(format!("pipe it in: pass show {what} | {command}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_pem_is_one_secret() {
        let mut input = &b"-----BEGIN A-----\nx\n-----END A-----\nplain\n-----BEGIN B-----\ny"[..];
        let mut read = || {
            let mut text = String::new();
            next(&mut input, &mut text).unwrap();
            text
        };
        assert_eq!(read(), "-----BEGIN A-----\nx\n-----END A-----\n");
        assert_eq!(read(), "plain\n");
        assert_eq!(read(), "-----BEGIN B-----\ny", "what is cut off ends with the input");
        assert_eq!(read(), "");
    }

    #[test]
    fn a_line_is_read_key_by_key() {
        let typed = |keys: &str| typed(keys.as_bytes()).unwrap();
        assert_eq!(typed("hunter2\nmore").as_deref(), Some("hunter2"));
        assert_eq!(typed("hé\u{7f}ex\u{15}ab\u{8}c\r").as_deref(), Some("ac"));
        assert_eq!(typed("hé\u{7f}\n").as_deref(), Some("h"));
        assert_eq!(typed("hunter2\u{3}"), None);
        assert!(super::typed(&b"caf\xe9\n"[..]).is_err());
    }
}
