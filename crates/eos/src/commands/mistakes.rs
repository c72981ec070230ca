//! Every mistake in a command line, not only the first that clap finds.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};

/// More words than a person gets wrong at once.
const MOST: usize = 20;

/// What clap says of the words, again and again without the one it stumbled over, and the rest once it is content.
pub fn all(command: &mut Command, words: &[String]) -> (Vec<clap::Error>, Option<ArgMatches>) {
    let mut words: Vec<String> = words.to_vec();
    let mut found = Vec::new();
    while found.len() < MOST {
        let said = std::iter::once("eos").chain(words.iter().map(String::as_str));
        match command.try_get_matches_from_mut(said) {
            Ok(matches) => return (found, Some(matches)),
            Err(error) => {
                let without = without(&words, &error);
                found.push(error);
                match without {
                    Some(rest) => words = rest,
                    None => break,
                }
            }
        }
    }
    (found, None)
}

/// A value may begin with a dash, secrets do; but one that is a flag of the same command was forgotten.
pub fn flags_are_no_values(command: Command) -> Command {
    let flags: Vec<String> =
        command.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}")).collect();
    let checked = command.mut_args(|arg| {
        // Words for another program are its own.
        if !arg.is_allow_hyphen_values_set() || arg.is_last_set() {
            return arg;
        }
        let flags = flags.clone();
        arg.value_parser(move |value: &str| match flags.iter().any(|flag| flag == value) {
            true => Err("that is a flag of its own, and the value is missing"),
            false => Ok(value.to_owned()),
        })
    });
    checked.mut_subcommands(flags_are_no_values)
}

/// The words without the flag that is wrong and what belongs to it; none where it is not a flag.
fn without(words: &[String], error: &clap::Error) -> Option<Vec<String>> {
    let kinds = [ErrorKind::UnknownArgument, ErrorKind::InvalidValue, ErrorKind::ValueValidation];
    let Some(ContextValue::String(named)) = error.get(ContextKind::InvalidArg) else { return None };
    // `--cpu <number>`
    let flag = named.split([' ', '=']).next().filter(|flag| flag.starts_with("--"))?;
    let is_it = |word: &String| word.split('=').next() == Some(flag);
    let at = words.iter().position(is_it).filter(|_| kinds.contains(&error.kind()))?;
    let has_value = !words[at].contains('=') && words.get(at + 1).is_some_and(|next| !next.starts_with('-'));
    let rest = at + 1 + usize::from(has_value);
    Some(words[..at].iter().chain(&words[rest..]).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_flag_is_told_once_and_the_rest_is_read() {
        let number = Arg::new("cpu").long("cpu").value_parser(clap::value_parser!(u32));
        let mut command =
            Command::new("eos").arg(number).arg(Arg::new("name")).arg(Arg::new("port").long("port"));
        let words = ["p1", "--hots", "local", "--cpu=lots", "--port", "5", "--sso"].map(String::from);
        let (found, matches) = all(&mut command, &words);
        let kinds: Vec<ErrorKind> = found.iter().map(clap::Error::kind).collect();
        assert_eq!(kinds.len(), 3, "{kinds:?}");
        let matches = matches.unwrap();
        assert_eq!(matches.get_one::<String>("port").unwrap(), "5");
        assert_eq!(matches.get_one::<String>("name").unwrap(), "p1");
    }

    #[test]
    fn a_flag_is_no_value() {
        let secret = Arg::new("password").long("password").allow_hyphen_values(true);
        let command =
            Command::new("eos").arg(secret).arg(Arg::new("port").long("port")).arg(Arg::new("name"));
        let mut command = flags_are_no_values(command);
        let (found, matches) = all(&mut command, &["--password", "--port", "3000"].map(String::from));
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("that is a flag of its own"), "{}", found[0]);
        assert_eq!(matches.unwrap().get_one::<String>("port").unwrap(), "3000");
        let (found, matches) = all(&mut command, &["--password", "--Port=x"].map(String::from));
        assert!(found.is_empty() && matches.unwrap().get_one::<String>("password").unwrap() == "--Port=x");
    }

    #[test]
    fn a_word_too_many_ends_it() {
        let (found, matches) = all(&mut Command::new("eos"), &["p1".to_owned()]);
        assert!(found.len() == 1 && matches.is_none());
    }
}
