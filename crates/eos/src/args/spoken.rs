//! The words of a command before they are parsed: which verb, which kind, and the line as history keeps it.

use std::collections::BTreeSet;

/// Global flags that take the next word.
const WITH_VALUE: &[&str] = &["-C", "--directory", "-e", "--env"];

/// Global flags that stand alone.
const GLOBAL: &[&str] = &["--json", "-h", "--help", "-V", "--version"];

/// The words that are neither flags nor values of global flags, in order.
pub fn bare_words(words: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(word.as_str());
        }
    }
    found
}

/// The verb, and the word right behind it: further on it may be the value of a flag.
pub fn subject(words: &[String]) -> Vec<&str> {
    let bare = bare_words(words);
    let Some(verb) = bare.first() else { return bare };
    let next = words.iter().skip_while(|word| word != verb).nth(1).map(String::as_str);
    bare.iter().copied().take(if bare.get(1).copied() == next { 2 } else { 1 }).collect()
}

/// A flag that stands between the verb and the next bare word, where only global ones may.
pub fn early_flag(words: &[String]) -> Option<&str> {
    let verb = *bare_words(words).first()?;
    let at = words.iter().position(|word| word == verb)?;
    let mut words = words[at + 1..].iter();
    while let Some(word) = words.next() {
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') || word == "--" {
            return None;
        } else if !WITH_VALUE.contains(&flag) && !GLOBAL.contains(&flag) {
            return Some(flag);
        }
    }
    None
}

/// The secrets among the words of a command.
pub fn secrets(words: &[String], secret_flags: &BTreeSet<String>) -> Vec<String> {
    let behind = words.windows(2).filter(|two| secret_flags.contains(&two[0])).map(|two| two[1].as_str());
    let within = words.iter().filter_map(|word| word.split_once('='));
    let within = within.filter(|(flag, _)| secret_flags.contains(*flag)).map(|(_, value)| value);
    behind.chain(within).filter(|value| value.len() >= SHORTEST).map(str::to_owned).collect()
}

/// The secret flag that was given a value before a bare word, if there is one.
pub fn behind_secret<'w>(
    words: &'w [String],
    word: &str,
    secret_flags: &BTreeSet<String>,
) -> Option<&'w str> {
    let at = words.iter().rposition(|one| one == word).filter(|_| !word.starts_with('-'))?;
    let flag = |word: &'w String| word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
    words[..at].iter().map(flag).rfind(|flag| secret_flags.contains(*flag))
}

/// Shorter ones would be found by chance in every other word.
const SHORTEST: usize = 4;

/// A text without the secrets that it repeats.
pub fn without(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), ELIDED))
}

/// The command as history shows it: quoted where a shell would need it, the values of secret flags elided, also where
/// another word repeats them.
pub fn command_line(words: &[String], secret_flags: &BTreeSet<String>) -> String {
    line_with(words, secret_flags, ELIDED)
}

/// The command as it can be typed again: secrets are asked for, or read from stdin.
pub fn line_to_retry(words: &[String], secret_flags: &BTreeSet<String>) -> String {
    line_with(words, secret_flags, "-")
}

fn line_with(words: &[String], secret_flags: &BTreeSet<String>, instead: &str) -> String {
    let secrets = secrets(words, secret_flags);
    let mut out = vec!["eos".to_owned()];
    let mut elide = false;
    for word in words {
        if elide {
            out.push(if word == "-" { word.clone() } else { instead.to_owned() });
            elide = false;
            continue;
        }
        match word.split_once('=') {
            Some((flag, value)) if secret_flags.contains(flag) && value != "-" => {
                out.push(format!("{flag}={instead}"))
            }
            _ => {
                elide = secret_flags.contains(word);
                out.push(quoted(&without(word, &secrets)));
            }
        }
    }
    out.join(" ")
}

/// Stands for a secret in what is kept and shown; nobody means it as one.
pub const ELIDED: &str = "***";

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn secrets_are_elided_in_either_form() {
        let flags = BTreeSet::from(["--admin-password".to_owned()]);
        let line = |text| command_line(&words(text), &flags);
        assert_eq!(
            line("create grafana --admin-password hunter2 --port 1"),
            "eos create grafana --admin-password *** --port 1"
        );
        assert_eq!(
            line("create grafana --admin-password=hunter2"),
            "eos create grafana --admin-password=***"
        );
        assert_eq!(line("create grafana --admin-password -"), "eos create grafana --admin-password -");
        assert_eq!(
            line("create grafana --because it-is-hunter2 --admin-password=hunter2"),
            "eos create grafana --because 'it-is-***' --admin-password=***"
        );
        assert_eq!(command_line(&["x y".to_owned()], &flags), "eos 'x y'");
        let retry = |text| line_to_retry(&words(text), &flags);
        assert_eq!(
            retry("create grafana --admin-password x --port 1"),
            "eos create grafana --admin-password - --port 1"
        );
        assert_eq!(retry("create grafana --admin-password=x"), "eos create grafana --admin-password=-");
    }

    #[test]
    fn flags_before_the_subject_are_seen() {
        let early = |text| early_flag(&words(text)).map(str::to_owned);
        assert_eq!(early("create --port 1 grafana"), Some("--port".to_owned()));
        assert_eq!(early("create --port=1 grafana"), Some("--port".to_owned()));
        assert_eq!(early("-C dir create -e staging --json grafana --port 1"), None);
        assert_eq!(early("create --help"), None);
        assert_eq!(early("create --env=staging --dry-run"), Some("--dry-run".to_owned()));
    }

    #[test]
    fn the_subject_stands_right_behind_the_verb() {
        assert_eq!(subject(&words("-C dir create grafana --port x")), ["create", "grafana"]);
        assert_eq!(subject(&words("history -n 0")), ["history"]);
        assert_eq!(subject(&words("list")), ["list"]);
    }

    #[test]
    fn bare_words_skip_flags() {
        assert_eq!(bare_words(&words("-C dir create --json grafana main")), ["create", "grafana", "main"]);
    }
}
