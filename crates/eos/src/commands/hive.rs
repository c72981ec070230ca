//! `eos hive`: an EC2-compatible endpoint on this machine. A front for the crate `hive`, which does the work.

use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_model::nearest::nearest;
use eos_model::{Diagnostic, Diagnostics, codes};
use hive::{Config, Credentials, DataDirectory, HiveError, RecordsNode, control, coverage, environment};
use serde_json::json;

use super::Call;
use crate::outcome::Outcome;
use crate::views::table::Table;

/// How long a detached gateway may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let up = Command::new("up")
        .about("Start the gateway; in the foreground unless --detach")
        .arg(
            Arg::new("port")
                .long("port")
                .value_parser(clap::value_parser!(u16))
                .default_value("9999")
                .help("Port on loopback; 0 takes a free one"),
        )
        .arg(
            Arg::new("region")
                .long("region")
                .value_parser(hive::parse_region)
                .default_value("us-east-1")
                .help("Region it says it is"),
        )
        .arg(
            Arg::new("node")
                .long("node")
                .value_name("NAME")
                .value_parser(hive::parse_node)
                .default_value("local")
                .help("Name of its node, in every record it makes; each its own where several share a store"),
        )
        .arg(flag("plain-http", "Without TLS"))
        .arg(flag("strict", "Refuse parameters that an action does not know instead of counting them"))
        .arg(
            Arg::new("durability")
                .long("durability")
                .value_parser(["full", "relaxed"])
                .default_value("full")
                .help("relaxed: answers may be lost for a tenth of a second in a power cut"),
        )
        .arg(
            Arg::new("store")
                .long("store")
                .value_name("URL")
                .value_parser(clap::value_parser!(hive::Store))
                .default_value("embedded")
                .help("nats://HOST:PORT: a state that several gateways share, each with a --data of its own"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("NAME=N")
                .action(ArgAction::Append)
                .value_parser(|text: &str| hive::Limits::default().set(text).map(|()| text.to_owned()))
                .help("Another quota than EC2's, e.g. vpcs=50; all=none lifts them"),
        )
        .arg(flag("detach", "Start it in the background and come back once it answers"));
    Ok(command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("data")
                .long("data")
                .global(true)
                .value_name("DIR")
                .help("Its data directory [~/.local/share/eos/hive]"),
        )
        .subcommand(up)
        .subcommand(
            Command::new("env").about("Print what clients need: eval \"$(eos hive env)\"").arg(
                Arg::new("account")
                    .long("account")
                    .value_name("ID")
                    .help("Keys of this account [the first one]"),
            ),
        )
        .subcommand(
            Command::new("accounts")
                .about("Accounts that have keys; also makes keys and takes them away")
                .arg(
                    Arg::new("add")
                        .long("add")
                        .value_name("ID")
                        .value_parser(hive::parse_account)
                        .help("Make a key of this account: twelve digits"),
                )
                .arg(
                    Arg::new("revoke")
                        .long("revoke")
                        .value_name("KEY")
                        .conflicts_with("add")
                        .help("Take this key away; what its account has stays"),
                ),
        )
        .subcommand(Command::new("down").about("Stop the gateway"))
        .subcommand(Command::new("leftovers").about("Resources that are still there; exit 2 when there are any"))
        .subcommand(
            Command::new("coverage")
                .about("Actions and parameters: what works, what has no effect, what is refused")
                .arg(
                    Arg::new("action")
                        .value_name("ACTION")
                        .help("One action, e.g. RunInstances; without it a summary"),
                )
                .arg(flag("full", "Every action, as a page of markdown").conflicts_with("action")),
        )
        .after_help("Examples:\n  eos hive up --detach && eval \"$(eos hive env)\"\n  aws ec2 describe-vpcs\n  eos hive leftovers && eos hive down"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let data = match matches.subcommand().and_then(|(_, inner)| inner.get_one::<String>("data")) {
        Some(folder) => call.context.directory.join(folder),
        None => call.context.data_folder.join("hive"),
    };
    match matches.subcommand() {
        Some(("up", matches)) if matches.get_flag("detach") => detach(call, matches, &data),
        Some(("up", matches)) => up(call, matches, &data),
        Some(("env", matches)) => env(call, &data, matches.get_one::<String>("account").map(String::as_str)),
        Some(("accounts", matches)) => accounts(call, matches, &data),
        Some(("down", _)) => down(call, &data),
        Some(("leftovers", _)) => leftovers(call, &data),
        Some(("coverage", matches)) => {
            // Only a gateway that runs has counted anything.
            let counted = control::unknown_parameters(data.as_std_path()).unwrap_or_default();
            let document =
                json!({"actions": coverage::rows(), "refused": coverage::refused(), "counted": counted});
            let text = match matches.get_one::<String>("action") {
                Some(action) => coverage::of(action).ok_or_else(|| no_action(action))?,
                None if matches.get_flag("full") => coverage::markdown() + &coverage::counted(&counted),
                None => coverage::summary() + &coverage::counted(&counted),
            };
            Ok(Outcome::new(text, document))
        }
        _ => Ok(Outcome::default()),
    }
}

/// Done as well when none runs: that is what was asked for.
fn no_action(asked: &str) -> Diagnostic {
    let (rows, refused) = (coverage::rows(), coverage::refused());
    let known = rows.iter().map(|row| row.action).chain(refused.iter().map(|refused| refused.action));
    let fix = nearest(asked, known).map_or_else(
        || "eos hive coverage --full | grep '^## ' lists those it has".to_owned(),
        |near| format!("did you mean {near}?"),
    );
    Diagnostic::error(codes::USAGE, format!("Hive has no action {asked}, not even refused")).fix(fix)
}

fn down(call: &Call<'_>, data: &Utf8PathBuf) -> Result<Outcome, Diagnostics> {
    match control::stop(data.as_std_path()) {
        Ok(()) => Ok(Outcome::new("Hive is stopped; its records are kept.\n", json!({"stopped": true}))),
        Err(HiveError::NotRunning(_)) => {
            Ok(Outcome::new(format!("No Hive runs on {data}: nothing to stop.\n"), json!({"stopped": false})))
        }
        Err(error) => Err(failed(&error, call, data).into()),
    }
}

fn failed(error: &HiveError, call: &Call<'_>, data: &Utf8PathBuf) -> Diagnostic {
    let given = given_data(data, call);
    let with_data = match error {
        HiveError::Region { found, .. } => {
            format!("eos hive up --region {found}{given}; or eos hive up --data <another folder>")
        }
        HiveError::NotRunning(_) => format!("eos hive up --detach{given}"),
        HiveError::NotLetIn(_) => {
            format!(
                "look there, or where eos hive up runs; eos hive down{given}, then eos hive up{given} starts it anew"
            )
        }
        HiveError::Account(..) => {
            format!("eos hive accounts{given} --add <12 digits>, e.g. 200000000002")
        }
        HiveError::UnknownAccount(_) => {
            format!("eos hive accounts{given} lists them; eos hive accounts{given} --add <12 digits>")
        }
        HiveError::UnknownKey(_) => format!("eos hive accounts{given} lists them"),
        _ => String::new(),
    };
    if !with_data.is_empty() {
        return Diagnostic::error(codes::HIVE, error.to_string()).fix(with_data);
    }
    let fix = match error {
        HiveError::Listen { .. } => {
            "eos hive up --port <a free port>; or eos hive down, if it is another Hive"
        }
        HiveError::InUse(_) => "eos hive up --data <another folder> --port <a free port>; or eos hive down",
        HiveError::Foreign(_) => "eos hive up --data <a new or empty folder>",
        HiveError::Store(eos_store::StoreError::Unreachable { .. }) => {
            "start nats-server -js (2.12 or newer) there, or name another with --store nats://HOST:PORT"
        }
        _ => "look at what is named there; eos hive up --data <another folder> starts afresh",
    };
    Diagnostic::error(codes::HIVE, error.to_string()).fix(fix)
}

/// What the words of the command ask for.
fn config(matches: &ArgMatches, data: &Utf8PathBuf) -> Result<Config, Diagnostics> {
    let mut config = Config::new(data.as_std_path().to_owned());
    let port = matches.get_one::<u16>("port").copied().unwrap_or(9999);
    config.log = hive::stderr_log();
    config.listen = SocketAddr::from(([127, 0, 0, 1], port));
    config.plain_http = matches.get_flag("plain-http");
    config.strict = matches.get_flag("strict");
    config.region = matches.get_one::<String>("region").cloned().unwrap_or_default();
    config.node = matches.get_one::<String>("node").cloned().unwrap_or_default();
    config.store = matches.get_one::<hive::Store>("store").cloned().unwrap_or_default();
    if matches.get_one::<String>("durability").is_some_and(|word| word == "relaxed") {
        config.durability = hive::Durability::Relaxed;
    }
    for limit in matches.get_many::<String>("limit").into_iter().flatten() {
        // Looked at when it was read.
        let _ = config.limits.set(limit);
    }
    if config.store != hive::Store::Embedded && matches!(config.durability, hive::Durability::Relaxed) {
        let what = "--durability relaxed is of the embedded store: what is on a NATS server is as durable as that server";
        return Err(Diagnostic::error(codes::USAGE, what).fix("leave --durability out").into());
    }
    Ok(config)
}

fn up(call: &Call<'_>, matches: &ArgMatches, data: &Utf8PathBuf) -> Result<Outcome, Diagnostics> {
    let config = config(matches, data)?;
    let broken = |error: std::io::Error| Diagnostic::error(codes::HIVE, format!("cannot start: {error}"));
    hive::keep_memory_small();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    runtime.block_on(async {
        let gateway = hive::start(config).await.map_err(|error| failed(&error, call, data))?;
        // Said at once, not when it ends: whoever started it waits for this line.
        let _ = writeln!(std::io::stdout(), "{}\n{}", gateway.endpoint(), RecordsNode::NOTICE);
        let _ = std::io::stdout().flush();
        gateway.run(interrupted()).await.map_err(|error| failed(&error, call, data))?;
        Ok(Outcome::new("", json!({"stopped": true})))
    })
}

/// Ctrl-C, or being told to end.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

/// Starts this very command again without `--detach`, in a process group of its own.
fn detach(call: &Call<'_>, matches: &ArgMatches, data: &Utf8PathBuf) -> Result<Outcome, Diagnostics> {
    config(matches, data)?;
    // What is started inherits it, and has it from its first allocation on.
    hive::keep_memory_small();
    let broken = |error: std::io::Error| {
        Diagnostic::error(codes::HIVE, format!("cannot start in the background: {error}"))
    };
    if let Ok(running) = control::running(data.as_std_path()) {
        refuse_others(matches, data, &running)?;
        return Ok(Outcome::new(
            format!("Hive is running at {} already.\n", running.endpoint),
            json!(running),
        ));
    }
    let directory = DataDirectory::open(data.as_std_path()).map_err(|error| failed(&error, call, data))?;
    let log_path = data.join("gateway.log");
    let log = directory.create_private("gateway.log").map_err(|error| failed(&error, call, data))?;
    let words = call.words.iter().filter(|word| *word != "--detach");
    let mut child = std::process::Command::new(std::env::current_exe().map_err(broken)?)
        .args(words)
        .current_dir(&call.context.directory)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(broken)?)
        .stderr(log.try_clone().map_err(broken)?)
        .process_group(0)
        .spawn()
        .map_err(broken)?;
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Ok(running) = control::running(data.as_std_path()) {
            let text = format!(
                "Hive answers at {} ({}).\neval \"$(eos hive env{})\" sets what clients need.\n",
                running.endpoint,
                RecordsNode::NOTICE,
                given_data(data, call)
            );
            return Ok(Outcome::new(text, json!(running)));
        }
        if child.try_wait().map_err(broken)?.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = fs_err::read_to_string(&log_path).unwrap_or_default();
    // It said it as any command does: what happened first, and what to type.
    let first = said.lines().find(|line| !line.is_empty()).unwrap_or("it said nothing");
    let first =
        first.split_once("]: ").filter(|(code, _)| code.starts_with("error[")).map_or(first, |(_, it)| it);
    let remedy = said.lines().find_map(|line| line.trim().strip_prefix("try: "));
    let rest = format!("{log_path} has the rest");
    Err(Diagnostic::error(codes::HIVE, format!("the gateway did not start: {first}"))
        .fix(remedy.map_or(rest.clone(), |remedy| format!("{remedy}; {rest}")))
        .into())
}

/// A gateway that runs already is no answer to whoever asks for another one.
fn refuse_others(
    matches: &ArgMatches,
    data: &Utf8PathBuf,
    running: &control::Running,
) -> Result<(), Diagnostics> {
    let asked = config(matches, data)?.options();
    let is_other = |name: &String, value: &String| {
        matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
            && (name, value.as_str()) != (&"port".to_owned(), "0")
            && running.options.get(name).is_some_and(|known| known != value)
    };
    let others: Vec<String> = asked
        .iter()
        .filter(|(name, value)| is_other(name, value))
        .map(|(name, value)| match running.options[name].as_str() {
            "" => format!("--{name} {value} (it has none)"),
            known => format!("--{name} {value} (it has {known})"),
        })
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let message = format!(
        "Hive is running at {} already, and was started with other options than {}",
        running.endpoint,
        others.join(", ")
    );
    Err(Diagnostic::error(codes::HIVE, message)
        .fix("eos hive down, then this again; or eos hive up --data <another folder> --port <a free port>")
        .into())
}

/// ` --data DIR` for the next command, where it is not the usual one.
fn given_data(data: &Utf8PathBuf, call: &Call<'_>) -> String {
    if *data == call.context.data_folder.join("hive") {
        return String::new();
    }
    format!(" --data '{}'", data.as_str().replace('\'', "'\\''"))
}

/// Keys by name only: secrets are what `env` prints.
fn accounts(call: &Call<'_>, matches: &ArgMatches, data: &Utf8PathBuf) -> Result<Outcome, Diagnostics> {
    let folder = data.as_std_path();
    let asked = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let added = asked("add").map(|account| Credentials::add_account(folder, account, "admin")).transpose();
    let added = added.map_err(|error| failed(&error, call, data))?;
    let revoked = asked("revoke").map(|key| Credentials::revoke(folder, key)).transpose();
    let revoked = revoked.map_err(|error| failed(&error, call, data))?;
    let keys = Credentials::list(folder).map_err(|error| failed(&error, call, data))?;
    let mut table = Table::new(&["ACCOUNT", "USER", "KEY"]);
    for key in &keys {
        table.row(vec![key.account.to_string(), key.user.clone(), key.access_key_id.clone()]);
    }
    let mut text = table.render(call.context.width, call.context.color_stdout);
    // Being asked, it looks at once.
    if let (Some(key), Ok(running)) = (added.as_ref().or(revoked.as_ref()), control::running(folder)) {
        let is_let_in = running.keys.contains(&key.access_key_id);
        text.push_str(match is_let_in {
            _ if is_let_in != added.is_some() => {
                "The running gateway has not taken it up; its log says why.\n"
            }
            true => "The running gateway lets the new key in.\n",
            false => "The running gateway refuses it from now on.\n",
        });
    }
    let document = keys
        .iter()
        .map(|key| json!({"account": key.account, "user": key.user, "access_key_id": key.access_key_id}));
    Ok(Outcome::new(text, json!({"accounts": document.collect::<Vec<_>>()})))
}

fn env(call: &Call<'_>, data: &Utf8PathBuf, account: Option<&str>) -> Result<Outcome, Diagnostics> {
    let variables =
        environment::variables_of(data.as_std_path(), account).map_err(|error| failed(&error, call, data))?;
    let document: serde_json::Map<String, serde_json::Value> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    Ok(Outcome::new(environment::shell(&variables), json!(document)))
}

fn leftovers(call: &Call<'_>, data: &Utf8PathBuf) -> Result<Outcome, Diagnostics> {
    let found = control::leftovers(data.as_std_path()).map_err(|error| failed(&error, call, data))?;
    if found.is_empty() {
        return Ok(Outcome::new("none\n", json!({"leftovers": []})));
    }
    let mut table = Table::new(&["ACCOUNT", "KIND", "ID"]);
    for leftover in &found {
        table.row(vec![leftover.account.to_string(), leftover.kind.to_string(), leftover.id.to_string()]);
    }
    let text = table.render(call.context.width, call.context.color_stdout);
    Ok(Outcome::new(text, json!({"leftovers": found})).exits(crate::exit_code::CHANGES))
}
