//! `eos why`: lines of an artifact back to the setting, the commit and the command behind them, and on to what lives of it.

use std::collections::{BTreeMap, HashMap};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, Command};
use eos_compile::tofu_reasons::{Reason, reason};
use eos_model::date;
use eos_model::{Diagnostic, Diagnostics, UnitId, codes};
use eos_pillar::history::Recorded;
use serde_json::{Value as Json, json};

use super::why_compiled::Beside;
use super::{Call, why_live};
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::views::json_lines;
use crate::views::style::Style;
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("path").value_name("FILE[:LINE]").required(true).help("A file under build/"))
        .after_help("Examples:\n  eos why build/production/nextcloud/main.tf.json\n  eos why build/production/grafana/jobs/grafana.nomad.json:31"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let asked = matches.get_one::<String>("path").map_or("", String::as_str);
    let (file, only) =
        match asked.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u64>().ok()?))) {
            Some((file, line)) => (file, Some(line)),
            None => (asked, None),
        };
    let path = in_estate(call, &loaded, file)?;
    let mut parts = path.components().skip(1).map(|part| part.as_str());
    let env = parts.next().unwrap_or_default();
    let unit = Utf8Path::new("build").join(env).join(parts.next().unwrap_or_default());
    let env = loaded.env(Some(env)).map_err(|_| no_artifact(&path))?;
    let inside = path.strip_prefix(&unit).map(Utf8Path::to_string).unwrap_or_default();
    let text = fs_err::read_to_string(loaded.estate.root.join(&path)).map_err(|_| no_artifact(&path))?;
    let beside = Beside::of(&loaded, &env, &unit, &path, &text).ok_or_else(|| no_artifact(&path))?;
    // The one file that is no unit's.
    let is_orchestration = unit == path;
    let kind = beside.manifest["kind"].as_str().unwrap_or_default();
    let lines: BTreeMap<u64, Vec<String>> = beside.provenance["files"][inside.as_str()]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(line, origins)| {
            Some((
                line.parse().ok()?,
                origins.as_array()?.iter().filter_map(|o| o.as_str().map(str::to_owned)).collect(),
            ))
        })
        .collect();
    let json_paths = if inside == "main.tf.json" { json_lines::paths(&beside.text) } else { Vec::new() };
    let reason = |path: &Vec<String>| reason(&path.iter().map(String::as_str).collect::<Vec<_>>());
    let explained: Vec<Option<Reason>> = json_paths.iter().map(reason).collect();
    let mut blame = Blame { loaded: &loaded, files: HashMap::new() };
    let (style, width) = (Style(call.context.color_stdout), call.context.width);
    let mut out = String::new();
    let mut documents = Vec::new();
    for (number, line) in (1u64..).zip(text.lines()) {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let compiled = beside.line(number);
        let origins = compiled.and_then(|number| lines.get(&number));
        let reason = compiled.and_then(|number| explained.get(number as usize - 1)).and_then(Option::as_ref);
        // A bracket by itself says nothing; asked for by its number it is explained all the same.
        let is_bracket = line.trim_end_matches(',').ends_with(['{', '[', '}', ']']);
        let is_silent = compiled.is_some() && (reason.is_none() || is_bracket);
        if origins.is_none() && only.is_none() && is_silent {
            continue;
        }
        let shown: String = line.trim().chars().take(90).collect();
        out.push_str(&format!("{} {}\n", style.dim(&format!("{number:>4} |")), style.bold(&shown)));
        let mut sources = Vec::new();
        match origins {
            None => {
                let (said, source) = match compiled {
                    None => beside.differs(),
                    Some(_) if is_orchestration => {
                        (ORCHESTRATION.to_owned(), json!({"compiler": ORCHESTRATION}))
                    }
                    Some(_) => because(reason, kind),
                };
                out.push_str(&below("       ", "       ", &said, width, 7));
                sources.push(source);
            }
            Some(origins) => {
                let mut found: Vec<Source> = origins.iter().map(|origin| blame.source(origin)).collect();
                // Keys of one change stand together, with the command once.
                found.sort_by(|a, b| a.change_id().cmp(&b.change_id()));
                for (index, source) in found.iter().enumerate() {
                    out.push_str(&source.key_line(style, width));
                    if found.get(index + 1).is_none_or(|next| next.change_id() != source.change_id()) {
                        out.push_str(&source.change_line(width));
                    }
                    sources.push(source.json());
                }
            }
        }
        documents.push(json!({"line": number, "text": line, "sources": sources}));
    }
    if let Some(line) = only.filter(|line| *line == 0 || *line > text.lines().count() as u64) {
        return Err(Diagnostic::error(codes::BAD_VALUE, format!("{path} has no line {line}"))
            .fix(format!("it has {} lines", text.lines().count()))
            .into());
    }
    if out.is_empty() && is_orchestration {
        let said = format!("{ORCHESTRATION}.");
        out = format!("{path} is the compiler's own:\n{}", below("  ", "  ", &said, width, 2));
    } else if out.is_empty() {
        let said = format!(
            "Every line of {path} comes from the compiler or the catalogue's {kind}, by what eos has noted."
        );
        out = below("", "", &said, width, 2);
    }
    if only.is_none() && beside.missing > 0 {
        let (said, _) = beside.differs();
        let said = format!("{} line(s) are missing here; {said}", beside.missing);
        out.push_str(&below("", "", &said, width, 2));
    }
    if !beside.compiles {
        out.push_str("The pillar does not compile now: told of build/ as it was last written.\n");
    }
    if is_orchestration {
        return Ok(Outcome::new(out, json!({"file": path, "kind": kind, "lines": documents, "live": null})));
    }
    let within = only.and_then(|only| json_paths.get(beside.line(only)? as usize - 1));
    let resource = within.and_then(|path| match path.as_slice() {
        [block, kind, name, ..] if block == "resource" => Some((kind.as_str(), name.as_str())),
        _ => None,
    });
    let live = match unit_id(&unit) {
        Some(id) => why_live::of(&loaded, &id, &inside, resource, &beside.text)
            .unwrap_or_else(|found| why_live::Live::unknown(&found)),
        None => return Err(no_artifact(&path).into()),
    };
    for (head, said) in &live.lines {
        out.push_str(&below(head, head, said, width, 9));
    }
    Ok(Outcome::new(out, json!({"file": path, "kind": kind, "lines": documents, "live": live.document})))
}

/// Why there is an orchestration, and why it is as it is.
const ORCHESTRATION: &str =
    "salt-run state.orchestrate applies the units by it, each after those it needs (eos graph draws them)";

/// What is said of a line that no setting is behind, and its source for `--json`.
fn because(reason: Option<&Reason>, kind: &str) -> (String, Json) {
    match reason {
        Some(Reason::Compiler(why)) => (format!("the compiler's own: {why}"), json!({"compiler": why})),
        Some(Reason::Catalog(key)) => {
            (format!("the catalogue's {kind} says so, under {key}"), json!({"catalog": kind, "key": key}))
        }
        None => (
            format!("the compiler or the catalogue's {kind} says so, by what eos has noted"),
            json!({"catalog": kind}),
        ),
    }
}

/// The unit whose folder this is.
fn unit_id(folder: &Utf8Path) -> Option<UnitId> {
    let mut parts = folder.components().skip(1).map(|part| part.as_str());
    Some(UnitId { env: parts.next()?.parse().ok()?, name: parts.next()?.parse().ok()? })
}

fn no_artifact(path: &Utf8Path) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_NAME, format!("{path} is not an artifact of this estate"))
        .fix("eos compile, then name a file under build/<environment>/<unit>/")
}

fn in_estate(call: &Call<'_>, loaded: &Loaded, file: &str) -> Result<Utf8PathBuf, Diagnostic> {
    let full = without_dots(&call.context.directory.join(file));
    let root = &loaded.estate.root;
    let relative =
        full.strip_prefix(root).map(Utf8Path::to_owned).unwrap_or_else(|_| Utf8PathBuf::from(file));
    let clean = relative.components().all(|part| matches!(part, Utf8Component::Normal(_)));
    if clean && relative.starts_with("build") && relative.components().count() >= 3 {
        Ok(relative)
    } else {
        Err(no_artifact(&relative))
    }
}

/// Finds the change that last wrote a key; each pillar file is asked once.
struct Blame<'a> {
    loaded: &'a Loaded,
    files: HashMap<String, Vec<Recorded>>,
}

struct Source {
    file: String,
    key: String,
    line: Option<usize>,
    change: Option<Recorded>,
}

impl Blame<'_> {
    fn source(&mut self, origin: &str) -> Source {
        let (file, key) = origin.split_once('#').unwrap_or((origin, ""));
        let line = self.loaded.tree.get(Utf8Path::new(file)).and_then(|bytes| line_of(file, bytes, key));
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            if file.starts_with("pillar/") {
                self.loaded.estate.git.blame(Utf8Path::new(file)).unwrap_or_default()
            } else {
                Vec::new()
            }
        });
        let change = line.and_then(|line| lines.get(line - 1).cloned());
        Source { file: file.to_owned(), key: key.to_owned(), line, change }
    }
}

fn line_of(file: &str, bytes: &[u8], key: &str) -> Option<usize> {
    let document = eos_yaml::parse(Utf8Path::new(file), bytes).ok()?;
    let mut node = &document.root;
    let mut mark = node.mark;
    for step in key.split(':') {
        let (key, value) = node.as_map()?.iter().find(|(key, _)| key.as_str() == Some(step))?;
        (mark, node) = (key.mark, value);
    }
    Some(mark.line as usize)
}

impl Source {
    fn change_id(&self) -> Option<&str> {
        self.change.as_ref().map(|change| change.commit.as_str())
    }

    fn key_line(&self, style: Style, width: usize) -> String {
        let place = self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file));
        let short = self
            .key
            .strip_prefix("eos:")
            .unwrap_or(&self.key)
            .strip_prefix("components:")
            .unwrap_or(&self.key);
        // Both can be copied only as a whole: what does not fit beside goes below.
        let beside = 7 + short.chars().count() + 2 + place.chars().count() <= width;
        let between = if beside { "  " } else { "\n         " };
        format!("       {}{between}{}\n", style.cyan(short), style.dim(&place))
    }

    fn change_line(&self, width: usize) -> String {
        let Some(change) = &self.change else { return String::new() };
        let who = change.user.as_deref().unwrap_or(&change.author);
        let what = change.command.as_deref().unwrap_or(&change.subject);
        let said = format!("{} {} by {who}: {what}", &change.commit[..10], date::minute(change.time));
        below("         ", "         ", &said, width, 11)
    }

    fn json(&self) -> Json {
        json!({"file": self.file, "key": self.key, "line": self.line, "change": self.change})
    }
}

/// The same place without `.` and `..`, by the words alone.
fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
    let mut plain = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::ParentDir => {
                plain.pop();
            }
            Utf8Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
