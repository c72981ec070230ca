//! `eos why`: lines of an artifact back to the setting, the commit and the command behind them, and on to what lives of it.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, Command};
use eos_compile::reasons::{Reason, json_paths};
use eos_model::{Diagnostic, Diagnostics, EnvName, UnitId, codes};
use serde_json::{Value as Json, json};

use super::why_compiled::Beside;
use super::why_source::{Blame, Source};
use super::{Call, why_live};
use crate::loaded::Loaded;
use crate::outcome::Outcome;
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
    let compiled = Told {
        noted: noted(&beside.provenance["files"][inside.as_str()]),
        reasons: if beside.compiles && !is_orchestration {
            reasons(&loaded, &env, &unit, &inside, &beside.text)?
        } else {
            Vec::new()
        },
    };
    let mut blame = Blame::new(&loaded);
    let style = Style(call.context.color_stdout);
    let width = call.context.width;
    let mut out = Grouped::default();
    let mut documents = Vec::new();
    for (number, line) in (1u64..).zip(text.lines()) {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let here = beside.line(number);
        let (texts, origins) = match here {
            None => (vec![beside.differs()], Vec::new()),
            Some(_) if is_orchestration => {
                (vec![(ORCHESTRATION.to_owned(), json!({"compiler": ORCHESTRATION}))], Vec::new())
            }
            Some(here) => compiled.line(here),
        };
        // A bracket by itself says nothing; asked for by its number it is explained all the same.
        let is_bracket = line.trim_end_matches(',').ends_with(['{', '[', '}', ']']);
        let is_noted = here.is_none_or(|here| compiled.noted.contains_key(&here));
        let says_nothing = is_orchestration || is_bracket || (texts.is_empty() && origins.is_empty());
        if only.is_none() && !is_noted && says_nothing {
            continue;
        }
        let mut keys: Vec<Source> = origins.into_iter().map(|origin| blame.source(origin)).collect();
        // Keys of one change stand together, with the command once.
        keys.sort_by(|a, b| a.change_id().cmp(&b.change_id()));
        let texts = if texts.is_empty() && keys.is_empty() { vec![unknown(kind)] } else { texts };
        let mut said = String::new();
        for (text, _) in &texts {
            said.push_str(&below("       ", "       ", text, width, 7));
        }
        for (index, source) in keys.iter().enumerate() {
            said.push_str(&source.key_line(style, width));
            if keys.get(index + 1).is_none_or(|next| next.change_id() != source.change_id()) {
                said.push_str(&source.change_line(width));
            }
        }
        let shown: String = line.trim().chars().take(90).collect();
        out.add(format!("{} {}\n", style.dim(&format!("{number:>4} |")), style.bold(&shown)), said);
        let sources: Vec<Json> =
            texts.into_iter().map(|(_, source)| source).chain(keys.iter().map(Source::json)).collect();
        documents.push(json!({"line": number, "text": line, "sources": sources}));
    }
    let mut out = out.finish();
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
    let paths = if inside == "main.tf.json" { json_paths(&beside.text) } else { Vec::new() };
    let within = only.and_then(|only| paths.get(beside.line(only)? as usize - 1));
    let resource = within.and_then(|path| match path.as_slice() {
        [block, kind, name, ..] if block.name == "resource" => Some((kind.name.as_str(), name.name.as_str())),
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

/// What is known of the lines of a file as it compiles.
struct Told {
    /// By the provenance: line → origins.
    noted: BTreeMap<u64, Vec<String>>,
    /// By what the compiler and the catalogue are: for each line.
    reasons: Vec<Vec<Reason>>,
}

/// A text with what it is in `--json`.
type Said = (String, Json);

impl Told {
    /// What is said of a line, and the origins behind it. The compiler's own reasons are for what nobody chose.
    fn line(&self, number: u64) -> (Vec<Said>, Vec<String>) {
        let noted = self.noted.get(&number).map(Vec::as_slice).unwrap_or_default();
        let mut origins = noted.to_vec();
        let mut texts = Vec::new();
        for reason in self.reasons.get(number as usize - 1).into_iter().flatten() {
            match reason {
                Reason::Compiler(why) if noted.is_empty() => {
                    texts.push((format!("the compiler's own: {why}"), json!({"compiler": why})));
                }
                Reason::Compiler(_) => {}
                Reason::From(origin) if origins.iter().any(|known| known == origin.text()) => {}
                Reason::From(origin) => origins.push(origin.text().to_owned()),
            }
        }
        (texts, origins)
    }
}

/// A file's part of the provenance.
fn noted(lines: &Json) -> BTreeMap<u64, Vec<String>> {
    let origins = |origins: &Json| -> Option<Vec<String>> {
        Some(origins.as_array()?.iter().filter_map(|origin| origin.as_str().map(str::to_owned)).collect())
    };
    let lines = lines.as_object().into_iter().flatten();
    lines.filter_map(|(line, found)| Some((line.parse().ok()?, origins(found)?))).collect()
}

fn reasons(
    loaded: &Loaded,
    env: &EnvName,
    unit: &Utf8Path,
    file: &str,
    text: &str,
) -> Result<Vec<Vec<Reason>>, Diagnostics> {
    let environment = loaded.environment(env)?;
    let name = unit.file_name().unwrap_or_default();
    Ok(eos_compile::reasons::of(&loaded.input(&environment), name, file, text))
}

/// What is said where nothing is known, as of a pillar that does not compile.
fn unknown(kind: &str) -> Said {
    (
        format!("the compiler or the catalogue's {kind} says so, by what eos has noted"),
        json!({"catalog": kind}),
    )
}

/// Lines of which the same is said stand together, and it is said once.
#[derive(Default)]
struct Grouped {
    out: String,
    last: String,
}

impl Grouped {
    fn add(&mut self, line: String, said: String) {
        if said != self.last {
            self.out.push_str(&std::mem::replace(&mut self.last, said));
        }
        self.out.push_str(&line);
    }

    fn finish(self) -> String {
        self.out + &self.last
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
