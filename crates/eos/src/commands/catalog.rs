//! `eos catalog`: look at kinds, check them, start one of your own.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgMatches, Command};
use eos_catalog::component::{Component, Update, Volume};
use eos_catalog::unknown::{self, Unknown, What};
use eos_catalog::{Catalog, check, schema};
use eos_model::{Diagnostic, Diagnostics, Kind, codes};
use eos_pillar::files;
use serde_json::{Value as Json, json};

use super::{Call, catalog_here};
use crate::args::component;
use crate::loaded;
use crate::outcome::Outcome;
use crate::views::plan::counted;
use crate::views::style::Style;
use crate::views::table::Table;
use crate::views::wrap::wrapped;

/// Columns for flags and names in `catalog show`.
const KEY_WIDTH: usize = 22;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    let kind =
        |required: bool| Arg::new("kind").value_name("KIND").required(required).help("A kind or an alias");
    Ok(command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("All kinds"))
        .subcommand(Command::new("show").about("One kind: settings, features, needs, offers").arg(kind(true)))
        .subcommand(
            Command::new("check")
                .about("Hold kinds against the schema and their own references")
                .arg(kind(false)),
        )
        .subcommand(
            Command::new("new").about("Start a kind of your own in this estate's catalog/").arg(kind(true)),
        )
        .subcommand(Command::new("schema").about("The JSON Schema of component.yaml"))
        .after_help("Examples:\n  eos catalog list\n  eos catalog show nextcloud\n  eos catalog new wiki"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let kind = |matches: &ArgMatches| matches.get_one::<String>("kind").cloned();
    match matches.subcommand() {
        Some(("list", _)) => list(call, &catalog_here(call.context)?),
        Some(("show", matches)) => {
            show(call, &catalog_here(call.context)?, &kind(matches).unwrap_or_default())
        }
        Some(("check", matches)) => check_kinds(&catalog_here(call.context)?, kind(matches)),
        Some(("new", matches)) => new(call, &kind(matches).unwrap_or_default()),
        Some(("schema", _)) => {
            Ok(Outcome::new(format!("{:#}\n", schema::json_schema()), schema::json_schema()))
        }
        _ => Ok(Outcome::default()),
    }
}

fn list(call: &Call<'_>, catalog: &Catalog) -> Result<Outcome, Diagnostics> {
    let mut table = Table::new(&["KIND", "RUNS AS", "PROVEN", "WHAT IT IS"]);
    let mut rows = Vec::new();
    for kind in catalog.kinds() {
        let found = catalog.component(kind)?;
        let runtimes: Vec<&str> = check::runtimes(&found).into_iter().flatten().collect();
        let shown = if runtimes.is_empty() { "-".to_owned() } else { runtimes.join(" ") };
        let takes_a_place = catalog.takes_a_place(kind);
        let marked = if takes_a_place { format!("{kind} *") } else { kind.to_owned() };
        table.row(vec![marked, shown, found.proof.as_str().to_owned(), found.summary.clone()]);
        rows.push(json!({"kind": kind, "summary": found.summary, "aliases": found.aliases, "runtimes": runtimes, "proof": found.proof, "origin": catalog.origin(kind), "in_place": takes_a_place}));
    }
    let mut text = table.render(call.context.table_width, call.context.color_stdout);
    if catalog.kinds().any(|kind| catalog.takes_a_place(kind)) {
        text.push_str("* the estate's own, in place of the one that eos has\n");
    }
    Ok(Outcome::new(text, json!({ "kinds": rows })))
}

fn show(call: &Call<'_>, catalog: &Catalog, word: &str) -> Result<Outcome, Diagnostics> {
    let kind = catalog.resolve(word)?;
    let found = catalog.component(kind)?;
    let widest = component::widest(catalog, kind)?;
    let style = Style(call.context.color_stdout);
    let mut text = format!("{}  {}\n", style.bold(kind), found.summary);
    if let Some(docs) = &found.docs {
        text.push_str(&format!("{}\n", style.dim(docs)));
    }
    if !found.aliases.is_empty() {
        text.push_str(&format!("also called {}\n", found.aliases.join(", ")));
    }
    if catalog.takes_a_place(kind) {
        text.push_str(&format!("the estate's own (catalog/{kind}), in place of the one that eos has\n"));
    }
    text.push_str(&format!(
        "{}; {}\n",
        found.proof.means(),
        if found.stateless { "stateless, may have replicas" } else { "one at a time" }
    ));
    if let Some(container) = &found.runtimes.container {
        text.push_str(&format!(
            "container {}:{}\n",
            container.image,
            container.version.as_deref().unwrap_or("<no checked version: --version>")
        ));
    }
    if let Some(host) = &found.runtimes.host {
        text.push_str(&format!("host process {} from Debian's {}\n", host.command, host.package));
    }
    let mut section = |title: &str, rows: Vec<(String, String)>| {
        if !rows.is_empty() {
            text.push_str(&format!("\n{}\n", style.bold(title)));
            for (key, value) in &rows {
                let key_width = key.chars().count().max(KEY_WIDTH);
                let room = |used: usize| call.context.width.saturating_sub(used + 3);
                let lines = wrapped(value, room(key_width), room(KEY_WIDTH));
                text.push_str(&format!(
                    "  {key:<KEY_WIDTH$} {}\n",
                    lines.join(&format!("\n{}", " ".repeat(KEY_WIDTH + 3)))
                ));
            }
        }
    };
    section(
        "Settings",
        widest
            .settings
            .iter()
            .map(|(name, setting)| {
                (
                    format!("--{}", component::flag(name)),
                    format!("{}: {}", setting.kind.as_str(), component::help(setting)),
                )
            })
            .collect(),
    );
    section(
        "Features",
        found
            .features
            .iter()
            .filter(|(_, f)| f.when.is_none())
            .map(|(name, feature)| (format!("--{name}"), feature.help.clone()))
            .collect(),
    );
    section(
        "Needs",
        widest
            .needs
            .iter()
            .map(|(name, need)| {
                (
                    name.clone(),
                    format!("{} for {}{}", need.offer, need.help, if need.soft { ", if there" } else { "" }),
                )
            })
            .collect(),
    );
    section("Offers", found.offers.iter().map(|(name, offer)| (name.clone(), offer.help.clone())).collect());
    section(
        "Volumes",
        found.storage.iter().map(|(name, volume)| (name.clone(), described(volume))).collect(),
    );
    section("Update", how_updated(&found));
    section(
        "Operations",
        found
            .operations
            .values()
            .map(|operation| (operation.example.clone(), operation.help.clone()))
            .collect(),
    );
    Ok(Outcome::new(text, json!({"kind": kind, "component": *found, "origin": catalog.origin(kind)})))
}

/// A volume: what it holds, the class of that, and the filesystem it gets.
fn described(volume: &Volume) -> String {
    let own = volume.filesystem.or_else(|| volume.class.filesystem());
    let own = own.map(|filesystem| format!(", {}", filesystem.as_str())).unwrap_or_default();
    let class = serde_json::to_value(volume.class).unwrap_or_default();
    format!("{} ({}{own})", volume.help, class.as_str().unwrap_or_default())
}

/// How a new version takes the place of the one before, for what has a job.
fn how_updated(component: &Component) -> Vec<(String, String)> {
    if component.tasks.is_empty() {
        return Vec::new();
    }
    let update = &component.update;
    let said = |text: &Option<String>, usual: &str| text.clone().unwrap_or_else(|| usual.to_owned());
    let usual = format!("{}m", Update::HEALTHY_DEADLINE / 60);
    let back = update.auto_revert.unwrap_or(true);
    vec![
        ("well for".to_owned(), said(&update.min_healthy_time, "3s to 30s, by the tier")),
        ("well within".to_owned(), said(&update.healthy_deadline, &usual)),
        (
            "if not".to_owned(),
            (if back { "back to the version before" } else { "stays as it is" }).to_owned(),
        ),
    ]
}

fn check_kinds(catalog: &Catalog, only: Option<String>) -> Result<Outcome, Diagnostics> {
    let is_one = only.is_some();
    let kinds: Vec<String> = match only {
        Some(word) => vec![catalog.resolve(&word)?.to_owned()],
        None => catalog.kinds().map(str::to_owned).collect(),
    };
    let mut found = Diagnostics::new();
    let mut unknown = Vec::new();
    for kind in &kinds {
        found.extend(check::check(catalog, kind));
        if let Ok(component) = catalog.component(kind) {
            unknown.extend(unknown::unknown(&component).into_iter().map(|one| (kind.as_str(), one)));
        }
    }
    if found.has_errors() {
        return Err(found);
    }
    let mut text = format!("{} checked, nothing wrong.\n", counted(kinds.len(), "kind"));
    text.push_str(&if is_one { each_unknown(&unknown) } else { counted_unknown(&unknown) });
    let without_version: Vec<&str> =
        unknown.iter().filter(|(_, one)| one.what == What::Version).map(|(kind, _)| *kind).collect();
    let rows: Vec<Json> =
        unknown.iter().map(|(kind, one)| json!({"kind": kind, "what": one.what, "of": one.of})).collect();
    Ok(Outcome::new(text, json!({"checked": kinds, "without_version": without_version, "unknown": rows})))
}

/// What is not known of one kind.
fn each_unknown(unknown: &[(&str, Unknown)]) -> String {
    let line = |(_, one): &(&str, Unknown)| {
        format!("Unknown: {} of {}; {}.\n", one.what.as_str(), one.of, one.what.means())
    };
    unknown.iter().map(line).collect()
}

/// What is not known of several kinds, a line for each sort of thing.
fn counted_unknown(unknown: &[(&str, Unknown)]) -> String {
    let mut by_what: BTreeMap<What, BTreeSet<&str>> = BTreeMap::new();
    for (kind, one) in unknown {
        by_what.entry(one.what).or_default().insert(kind);
    }
    let mut text = String::new();
    for (what, kinds) in &by_what {
        let kinds = counted(kinds.len(), "kind");
        text.push_str(&format!("Unknown: {} of {kinds}; {}.\n", what.as_str(), what.means()));
    }
    if !text.is_empty() {
        text.push_str("eos catalog check KIND says of what.\n");
    }
    text
}

fn new(call: &Call<'_>, word: &str) -> Result<Outcome, Diagnostics> {
    let kind: Kind = word.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let root = loaded::root(call.context)?;
    let path = camino::Utf8Path::new("catalog").join(kind.as_str()).join("component.yaml");
    if root.join(&path).exists() {
        return Err(Diagnostic::error(codes::NAME_TAKEN, format!("{path} is there already"))
            .fix(format!("eos catalog check {kind}"))
            .into());
    }
    if Catalog::built_in().kinds().any(|known| known == kind.as_str()) {
        return Err(Diagnostic::error(codes::NAME_TAKEN, format!("{kind} is a kind that eos has"))
            .why("a folder of that name would take its place, also for what uses it already")
            .fix(format!("eos catalog new my-{kind}; to change {kind} itself, copy its folder from eos's catalogue to {path}"))
            .into());
    }
    files::write(&root, &path, TEMPLATE.replace("KIND", kind.as_str()).as_bytes())?;
    let text = format!(
        "{path} is written. Edit it, then:\n  eos catalog check {kind}\n  git add catalog && git commit -m \"a kind of our own\"\n  eos create {kind} --version 1.0 --dry-run\n"
    );
    Ok(Outcome::new(text, json!({"kind": kind, "file": path})))
}

const TEMPLATE: &str = r#"#!yaml
format: 1
kind: KIND
summary: KIND, in one line
proof: validates
runtimes:
  container:
    image: example/KIND
    # version: the exact tag; without one, --version must be given
settings:
  port: {type: port, default: 8080, help: Web page}
  size: {type: size, default: 5G, min: 1G, help: Room for data}
storage:
  data: {class: files, size: "@{setting.size}", help: Its files}
tasks:
  server:
    env:
      PORT: "@{listen.http.port}"
    ports:
      http: {setting: port, to: 8080}
    mounts: {data: /data}
    checks: [{port: http, path: /}]
    resources:
      production: {cpu: 500, memory: 512}
outputs:
  url: "http://@{address}:@{port.http}"
"#;
