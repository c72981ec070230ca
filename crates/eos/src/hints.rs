//! Commands in hints, for the environment they are about: typed as they stand they act there, and nowhere else.

use eos_model::{Diagnostics, EnvName};
use eos_pillar::EstateFile;

/// The verbs that act in an environment, the estate's default unless one is named.
const VERBS: &[&str] = &[
    "adopt", "apply", "create", "delete", "drift", "graph", "history", "list", "plan", "purge", "resume",
    "rollback", "secret", "show", "status", "tofu", "undo", "unlock", "update",
];

/// Of `eos secret`, what is about the whole estate.
const OF_THE_ESTATE: &[&str] = &["identity", "recipients"];

/// What a command about an environment has to say behind its verb; nothing where that is the estate's default.
pub fn flag(estate: &EstateFile, env: &EnvName) -> Option<String> {
    (estate.default_environment != *env).then(|| format!("--env {env}"))
}

/// A text whose commands name the environment, unless they do already.
pub fn named(text: &str, flag: Option<&str>) -> String {
    let Some(flag) = flag else { return text.to_owned() };
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split("eos ");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let begins_a_word = !out.ends_with(|c: char| c.is_alphanumeric() || "-_./".contains(c));
        out.push_str("eos ");
        let end = piece.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(piece.len());
        let (verb, rest) = piece.split_at(end);
        let next = rest.trim_start().split(' ').next().unwrap_or_default();
        let of_the_estate = verb == "secret" && OF_THE_ESTATE.contains(&next);
        out.push_str(verb);
        if begins_a_word && VERBS.contains(&verb) && !of_the_estate && !rest.contains("--env ") {
            out.push(' ');
            out.push_str(flag);
        }
        out.push_str(rest);
    }
    out
}

/// What to type next, in the environment it is about.
pub fn name(found: &mut Diagnostics, flag: Option<&str>) {
    for fix in found.0.iter_mut().filter_map(|diagnostic| diagnostic.fix.as_mut()) {
        *fix = named(fix, flag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_in_a_text_names_the_environment_once() {
        let named = |text: &str| named(text, Some("--env staging"));
        for (text, expected) in [
            (
                "made for it: redis; eos delete redis takes it away",
                "made for it: redis; eos delete --env staging redis takes it away",
            ),
            ("eos resume or eos undo", "eos resume --env staging or eos undo --env staging"),
            ("eos create host local --env staging", "eos create host local --env staging"),
            (
                "eos delete a; eos create host b --env staging",
                "eos delete --env staging a; eos create host b --env staging",
            ),
            ("eos secret recipients add age1", "eos secret recipients add age1"),
            ("eos secret show a/b", "eos secret --env staging show a/b"),
            ("eos explain sso, this eos reads up to 3", "eos explain sso, this eos reads up to 3"),
            ("videos list", "videos list"),
            ("until eos apply.", "until eos apply --env staging."),
        ] {
            assert_eq!(named(text), expected);
            assert_eq!(named(&named(text)), expected, "twice is once");
        }
    }
}
