//! The verbs. One row in [`VERBS`] and one file make a command; help and completion derive from the table.

pub mod adopt;
mod adopt_ports;
pub mod apply;
pub mod catalog;
pub mod compile;
pub mod complete;
mod complete_operation;
pub mod completion;
pub mod create;
pub mod delete;
pub mod destroy;
pub mod doctor;
pub mod doctor_nomad;
pub mod drift;
pub mod drift_accept;
mod drift_watch;
pub mod eject;
pub mod eject_jobs;
pub mod explain;
pub mod graph;
pub mod history;
pub mod hive;
pub mod host;
pub mod init;
pub mod list;
pub mod locks;
mod mistakes;
pub mod operation;
pub mod plan;
pub mod purge;
pub mod resume;
pub mod rollback;
pub mod secret;
pub mod show;
pub mod state_key;
pub mod status;
pub mod sync;
pub mod tofu;
pub mod tools;
mod uncommitted;
pub mod undo;
mod unshared;
pub mod update;
pub mod upgrade;
pub mod why;
mod why_compiled;
mod why_live;
mod why_source;

use std::collections::BTreeSet;

use clap::{ArgMatches, Command};
use eos_catalog::{Catalog, SettingType};
use eos_model::{Diagnostic, Diagnostics, Severity, codes, nearest::nearest};
use eos_pillar::estate_file::ESTATE_FILE;
use eos_pillar::{Estate, EstateFile};

use crate::args::{self, spoken};
use crate::context::{Context, value_of};
use crate::hints;
use crate::identity_place;
use crate::loaded::Loaded;
use crate::outcome::Outcome;

/// One command.
pub struct Verb {
    pub name: &'static str,
    pub about: &'static str,
    /// Its arguments; they may depend on the words that follow.
    pub command: fn(Command, &Call<'_>) -> Result<Command, Diagnostics>,
    pub run: fn(&Call<'_>, &ArgMatches) -> Result<Outcome, Diagnostics>,
    /// What is wrong with the values, where that depends on the words: asked only when something else is wrong already.
    pub wrong: fn(&Call<'_>, &ArgMatches) -> Diagnostics,
    pub hidden: bool,
}

/// What a command is called with.
pub struct Call<'a> {
    pub context: &'a Context,
    /// Everything typed behind `eos`.
    pub words: &'a [String],
    /// The command as history, journals and leases keep it: the values of secret flags left out.
    pub line: String,
    /// The command as it can be typed again: what was left out is asked for.
    pub retry: String,
    /// Those that were typed.
    secrets: Vec<String>,
    secret_flags: BTreeSet<String>,
}

impl<'a> Call<'a> {
    /// Before the arguments are known only the verb may be told.
    fn new(context: &'a Context, words: &'a [String]) -> Call<'a> {
        let verb: Vec<String> =
            spoken::bare_words(words).first().map(|verb| (*verb).to_owned()).into_iter().collect();
        let line = spoken::command_line(&verb, &BTreeSet::new());
        Call { context, words, retry: line.clone(), line, secrets: Vec::new(), secret_flags: BTreeSet::new() }
    }

    /// With the line that a command's arguments allow to be kept.
    fn told_by(&self, command: &Command) -> Call<'a> {
        let flags = secret_flags(command);
        let (line, secrets) = (spoken::command_line(self.words, &flags), spoken::secrets(self.words, &flags));
        let retry = spoken::line_to_retry(self.words, &flags);
        Call { context: self.context, words: self.words, line, retry, secrets, secret_flags: flags }
    }

    /// Findings without the secrets that were typed: another flag may have been given the same word.
    fn elided(&self, mut found: Diagnostics) -> Diagnostics {
        for one in &mut found.0 {
            let texts = [Some(&mut one.message), one.why.as_mut(), one.fix.as_mut()];
            texts.into_iter().flatten().for_each(|text| *text = self.without_secrets(text));
        }
        found
    }

    /// A text as it may be kept: without the secrets that were typed beside it.
    pub fn without_secrets(&self, text: &str) -> String {
        spoken::without(text, &self.secrets)
    }
}

/// The flags of a command and of its subcommands whose values are secrets.
fn secret_flags(command: &Command) -> BTreeSet<String> {
    let is_secret = |arg: &&clap::Arg| {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().any(|name| name.as_str() == SettingType::Secret.as_str())
    };
    let own = command.get_arguments().filter(is_secret).filter_map(clap::Arg::get_long);
    let own = own.map(|flag| format!("--{flag}"));
    own.chain(command.get_subcommands().flat_map(secret_flags)).collect()
}

const fn verb(
    name: &'static str,
    about: &'static str,
    command: fn(Command, &Call<'_>) -> Result<Command, Diagnostics>,
    run: fn(&Call<'_>, &ArgMatches) -> Result<Outcome, Diagnostics>,
) -> Verb {
    Verb { name, about, command, run, wrong: nothing_wrong, hidden: false }
}

fn nothing_wrong(_: &Call<'_>, _: &ArgMatches) -> Diagnostics {
    Diagnostics::new()
}

/// All commands, sorted.
pub const VERBS: &[Verb] = &[
    Verb {
        hidden: true,
        ..verb("__complete", "Answer a shell's question", complete::command, complete::run)
    },
    Verb {
        hidden: true,
        ..verb("__state-key", "Give tofu the key of state and plans", state_key::command, state_key::run)
    },
    verb("adopt", "Bring a Nomad job that runs already under eos", adopt::command, adopt::run),
    verb("apply", "Bring what runs to what the pillar says", apply::command, apply::run),
    verb("catalog", "Look at the kinds there are, check and make your own", catalog::command, catalog::run),
    verb(
        "compile",
        "Compile the pillar to Salt, OpenTofu and Nomad in build/",
        compile::command,
        compile::run,
    ),
    verb("completion", "Print the completion script of a shell", completion::command, completion::run),
    Verb {
        wrong: create::wrong,
        ..verb("create", "Ask for something: a component, a host, a user", create::command, create::run)
    },
    verb("delete", "Take something away", delete::command, delete::run),
    verb("destroy", "Take everything of an environment away; data stays", destroy::command, destroy::run),
    verb("doctor", "Check this machine and this estate", doctor::command, doctor::run),
    verb("drift", "Find what differs from what was applied; bring it back", drift::command, drift::run),
    verb("eject", "Write everything that is needed to go on without eos", eject::command, eject::run),
    verb("explain", "Explain an error code", explain::command, explain::run),
    verb("graph", "Draw what needs what", graph::command, graph::run),
    verb("history", "Show what was done, by whom and why", history::command, history::run),
    verb("hive", "An EC2-compatible endpoint on this machine", hive::command, hive::run),
    verb("init", "Make an estate", init::command, init::run),
    verb("list", "List what the estate has", list::command, list::run),
    verb("locks", "Show who is at work on what", locks::command, locks::run),
    verb("plan", "Show what an apply would do", plan::command, plan::run),
    verb("purge", "Destroy for good what was kept when its name went away", purge::command, purge::run),
    verb("resume", "Go on with a run that was cut off", resume::command, resume::run),
    verb("rollback", "Go back to what was asked for at an older commit", rollback::command, rollback::run),
    verb("secret", "List, set, show and rotate secrets", secret::command, secret::run),
    verb("show", "Show one thing with all its choices", show::command, show::run),
    verb("status", "Show what is applied and which runs are unfinished", status::command, status::run),
    verb("sync", "Take others' changes and give yours, through git", sync::command, sync::run),
    verb("tofu", "Run tofu by hand for one unit", tofu::command, tofu::run),
    verb("tools", "Find, install and verify tofu, nomad, salt and others", tools::command, tools::run),
    verb("undo", "Take a run back", undo::command, undo::run),
    verb("unlock", "Take a unit from a run that will not come back", locks::unlock_command, locks::unlock),
    Verb {
        wrong: update::wrong,
        ..verb("update", "Change something that is there", update::command, update::run)
    },
    verb(
        "upgrade",
        "Move the estate to this eos's catalogue, after showing the difference",
        upgrade::command,
        upgrade::run,
    ),
    verb("why", "Trace lines of an artifact back to setting, commit and command", why::command, why::run),
];

const EXAMPLES: &str = "\
Examples:
  eos init shop && cd shop            make an estate
  eos create host local               this machine may be configured
  eos create nextcloud --sso          ask for a component; what it needs comes along
  eos create grafana --help           the settings of one kind
  eos list                            what there is
  eos history                         who did what, and why
  eos resize lvm data +50G            act once; also: convert filesystem, expand storage, update wazuh-agents

Exit codes: 0 done, 1 failed, 2 changes, 3 a mistake in what was asked, 4 refused, 5 stuck.";

/// Runs what was typed. What it says to type next acts in the environment that it was for.
pub fn run(context: &Context, words: &[String]) -> Result<Outcome, Diagnostics> {
    let flag = environment_flag(context, words);
    match dispatch(context, words) {
        Ok(mut outcome) => {
            outcome.diagnostics.extend(open_identity(context, words));
            hints::name(&mut outcome.diagnostics, flag.as_deref());
            Ok(outcome)
        }
        Err(mut found) => {
            uncommitted::word(&mut found, words);
            unshared::word(&mut found, context);
            hints::name(&mut found, flag.as_deref());
            Err(found)
        }
    }
}

/// A warning about an identity that goes into the next commit, whatever is done there; `eos doctor` counts it as bad, and
/// what others call says nothing to people.
fn open_identity(context: &Context, words: &[String]) -> Diagnostics {
    let verb = spoken::bare_words(words).first().copied().unwrap_or_default();
    if verb == "doctor" || verb.starts_with("__") {
        return Diagnostics::new();
    }
    let found = identity_place::refuse_here(context).err();
    Diagnostics(found.map(|found| Diagnostic { severity: Severity::Warning, ..found }).into_iter().collect())
}

/// The flag of an environment that was named and is not the estate's default.
fn environment_flag(context: &Context, words: &[String]) -> Option<String> {
    value_of(words, &["-e", "--env"], |_| true)?;
    let root = Estate::find_root(&context.directory).ok()?;
    let text = std::fs::read_to_string(root.join(ESTATE_FILE)).ok()?;
    let file = EstateFile::parse(&text).ok()?;
    let env = value_of(words, &["-e", "--env"], |env| file.environments.contains_key(env))?;
    let (env, _) = file.environments.get_key_value(env)?;
    hints::flag(&file, env)
}

fn dispatch(context: &Context, words: &[String]) -> Result<Outcome, Diagnostics> {
    let call = Call::new(context, words);
    let bare = spoken::bare_words(words);
    let Some(first) = bare.first() else {
        let help = help().exits(crate::exit_code::MISTAKE);
        return parse(root(VERBS, None), &call, |_| Ok(help));
    };
    if let Some(diagnostic) = flag_too_early(&call, first) {
        return Err(diagnostic.into());
    }
    if let Some(verb) = VERBS.iter().find(|verb| verb.name == *first) {
        let command = (verb.command)(Command::new(verb.name).about(verb.about).hide(verb.hidden), &call)?;
        let call = call.told_by(&command);
        let wrong = |matches: &ArgMatches| match matches.subcommand() {
            Some((_, inner)) => (verb.wrong)(&call, inner),
            None => Diagnostics::new(),
        };
        return parse_with(root(&[], Some(command)), &call, wrong, |matches| match matches.subcommand() {
            Some((_, inner)) => (verb.run)(&call, inner),
            None => Ok(Outcome::default()),
        });
    }
    if *first == "help" && bare.len() > 1 {
        // `eos help create grafana` is `eos create grafana --help`.
        let words: Vec<String> =
            words.iter().filter(|word| *word != "help").cloned().chain(["--help".to_owned()]).collect();
        return dispatch(context, &words);
    }
    if *first == "help" {
        return Ok(help());
    }
    operation::run(&call, first)
}

/// The flags of `create`, `update` and the verbs that act once come from what is named: it has to be named first.
fn flag_too_early(call: &Call<'_>, verb: &str) -> Option<Diagnostic> {
    let subject = match verb {
        "create" => "kind",
        "update" => "name",
        known if VERBS.iter().any(|verb| verb.name == known) => return None,
        _ => "kind",
    };
    let flag = spoken::early_flag(call.words)?;
    let catalog = catalog_here(call.context).ok()?;
    if !["create", "update"].contains(&verb) && operation::kinds_with(&catalog, verb).is_empty() {
        return None;
    }
    let is_named = |word: &&str| subject == "name" || *word == "host" || catalog.resolve(word).is_ok();
    // The first word may be the flag's value: of several that could be meant, none is picked.
    let named: Vec<&str> = spoken::bare_words(call.words).into_iter().skip(1).filter(is_named).collect();
    let shown = match named.as_slice() {
        [one] if subject == "kind" => format!("eos {verb} {one} {flag} …"),
        _ => format!("eos {verb} <{}> {flag} …", subject.to_uppercase()),
    };
    Some(
        Diagnostic::error(codes::USAGE, format!("{flag} stands before the {subject} it belongs to"))
            .why(format!("the flags there are depend on the {subject}, so it comes right after {verb}"))
            .fix(shown),
    )
}

/// What `eos help` says.
fn help() -> Outcome {
    let text = root(VERBS, None).render_help().to_string();
    Outcome::new(text.clone(), serde_json::json!({ "help": text }))
}

fn root(verbs: &[Verb], one: Option<Command>) -> Command {
    let mut command = Command::new("eos")
        .about("Say what you want; eos records it and compiles it to Salt, OpenTofu and Nomad")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(EXAMPLES)
        .args(args::global())
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .max_term_width(100);
    for verb in verbs.iter().filter(|verb| !verb.hidden) {
        command = command.subcommand(Command::new(verb.name).about(verb.about));
    }
    command.subcommands(one)
}

/// Parses the words and runs the rest; help is an answer, a mistake a diagnostic.
fn parse(
    command: Command,
    call: &Call<'_>,
    run: impl FnOnce(&ArgMatches) -> Result<Outcome, Diagnostics>,
) -> Result<Outcome, Diagnostics> {
    parse_with(command, call, |_| Diagnostics::new(), run)
}

/// The same for a command that can tell what is wrong with its values without acting on them.
fn parse_with(
    command: Command,
    call: &Call<'_>,
    wrong: impl FnOnce(&ArgMatches) -> Diagnostics,
    run: impl FnOnce(&ArgMatches) -> Result<Outcome, Diagnostics>,
) -> Result<Outcome, Diagnostics> {
    let mut command = mistakes::flags_are_no_values(command).color(clap::ColorChoice::Never);
    let (errors, matches) = mistakes::all(&mut command, call.words);
    let Some(first) = errors.first() else {
        let Some(matches) = matches else { return Ok(Outcome::default()) };
        refuse_unclear_directory(call, &matches)?;
        return run(&matches).map_err(|found| call.elided(found));
    };
    // Help is an answer, and the first one given.
    let mut found = match usage(first, call) {
        Err(found) => found,
        answer => return answer,
    };
    for error in &errors[1..] {
        if let Err(more) = usage(error, call) {
            found.extend(more);
        }
    }
    if let Some(matches) = matches {
        found.extend(call.elided(wrong(&matches)));
    }
    Err(found)
}

/// Nothing is done in an estate that may not be meant: `-C` behind a flag may be that flag's value.
fn refuse_unclear_directory(call: &Call<'_>, matches: &ArgMatches) -> Result<(), Diagnostic> {
    // Where it is said, and below.
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    let meant = innermost.try_get_one::<String>("directory").ok().flatten();
    if meant == call.context.said_directory.as_ref() {
        return Ok(());
    }
    Err(Diagnostic::error(codes::USAGE, "-C stands behind a flag whose value it could be")
        .why("it says in which estate to act, which eos does not guess")
        .fix("eos -C <folder> <command>: before everything else"))
}

fn usage(error: &clap::Error, call: &Call<'_>) -> Result<Outcome, Diagnostics> {
    use clap::error::ErrorKind;
    let text = error.render().to_string();
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        let exit = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            crate::exit_code::MISTAKE
        } else {
            0
        };
        return Ok(Outcome::new(text.clone(), serde_json::json!({ "help": text })).exits(exit));
    }
    let unexpected = match error.get(clap::error::ContextKind::InvalidArg) {
        Some(clap::error::ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            Some(word)
        }
        _ => None,
    };
    // It may be the secret itself, which is not to be seen.
    if unexpected.is_some_and(|word| !word.starts_with('-'))
        && matches!(spoken::bare_words(call.words)[..], ["secret", ..])
    {
        let message = "eos secret takes no value among its words, where others could read it";
        let fix = "eos secret set <name>/<key> asks for it, or takes it from a pipe";
        return Err(Diagnostic::error(codes::USAGE, message).fix(fix).into());
    }
    // Nor is a word too many behind a secret: it may be a part of it that was not quoted.
    if let Some(flag) =
        unexpected.and_then(|word| spoken::behind_secret(call.words, word, &call.secret_flags))
    {
        let message =
            format!("there is a word too many behind {flag}, which may belong to it and is not shown");
        let fix =
            format!("{flag} - asks for it or reads it from stdin; a shell takes one with spaces in quotes");
        return Err(Diagnostic::error(codes::USAGE, message).fix(fix).into());
    }
    let text = call.without_secrets(&text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut message =
        lines.next().unwrap_or("the command cannot be understood").trim_start_matches("error: ").to_owned();
    let rest: Vec<&str> = lines.collect();
    // "the following required arguments were not provided:" is followed by them.
    if message.ends_with(':')
        && let Some(argument) = rest.first()
    {
        message = format!("{message} {argument}");
    }
    // The other tips of clap ("to pass '--x' as a value, use '-- --x'") help nobody here.
    let near = rest
        .iter()
        .find_map(|line| line.strip_prefix("tip: a similar ")?.rsplit_once(": "))
        .map(|(_, near)| near.trim_matches('\''))
        // What clap finds similar is at times nothing like it.
        .filter(|near| unexpected.is_none_or(|word| nearest(word, [*near]).is_some()))
        .map(|near| format!("did you mean {near}?"));
    let values = rest.iter().find_map(|line| line.strip_prefix("[possible values: ")?.strip_suffix(']'));
    let near = near.or_else(|| values.map(|values| format!("one of {values}")));
    // Of a flag that there is not, clap's usage shows the one that it took for similar.
    let usage = rest.iter().find_map(|line| line.strip_prefix("Usage: "));
    let fix = near.unwrap_or_else(|| {
        match usage.filter(|_| unexpected.is_none_or(|word| !word.starts_with('-'))) {
            Some(usage) => format!("{usage} (--help shows all)"),
            // A value is missing or wrong, or the flag is like none.
            None => {
                format!("eos {} --help shows what it takes", spoken::subject(call.words).join(" "))
            }
        }
    });
    let mut refused = Diagnostic::error(codes::USAGE, message).fix(fix);
    if unexpected.is_some_and(|word| word == "--replicas") {
        refused = refused.why("only a kind that keeps nothing and says so (stateless) can run several times: two writers would destroy what they share");
    }
    Err(refused.into())
}

/// The catalogue of the estate one is in, or the built-in one outside of any.
pub fn catalog_here(context: &Context) -> Result<Catalog, Diagnostics> {
    match Loaded::catalog(context) {
        Ok(catalog) => Ok(catalog),
        Err(found) if found.0.iter().all(|d| d.code == codes::NO_ESTATE) => Ok(Catalog::built_in()),
        Err(found) => Err(found),
    }
}

/// The message about a verb there is not.
pub fn unknown_verb(word: &str, operations: &[String]) -> Diagnostic {
    let verbs = VERBS.iter().filter(|verb| !verb.hidden).map(|verb| verb.name);
    let near = nearest(word, verbs.chain(operations.iter().map(String::as_str)));
    Diagnostic::error(codes::USAGE, format!("there is no command {word:?}")).fix(near.map_or_else(
        || "eos --help lists the commands".to_owned(),
        |near| format!("did you mean eos {near}?"),
    ))
}
