//! `eos drift accept`: the pillar asks for what is there, where each difference comes from one setting.
//!
//! The provider says which values of a job's spec are others in Nomad. Provenance says which setting each is made of.
//! The estate is then compiled with those settings changed, and only when exactly what is there comes out of it is the
//! change shown, agreed to and recorded like every other.

use camino::Utf8Path;
use clap::ArgMatches;
use eos_catalog::Catalog;
use eos_compile::Files;
use eos_compile::intent::{self, Planned, Request};
use eos_compile::reasons::json_line_of;
use eos_engine::{Change, ChangeKind, Drift};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_pillar::ComponentEntry;
use serde_json::{Value as Json, json};

use super::create::{self, Intent};
use super::{Call, drift};
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{self, Drafted, Message, Prepared};
use crate::run::{self, Runs};
use crate::views::plan_lines::preview_key;

/// Fields of a job that a size word decides, whatever they are made of otherwise.
const SIZES: &[(&str, &str)] =
    &[("/Resources/CPU", "cpu"), ("/Resources/MemoryMB", "memory"), ("/Count", "replicas")];

/// A value of a compiled job that is another one in Nomad.
struct Different {
    /// The job's file in the unit.
    file: String,
    pointer: String,
    /// What is there.
    there: Json,
}

pub fn run(
    call: &Call<'_>,
    matches: &ArgMatches,
    runs: &Runs,
    env: &EnvName,
    drift: &Drift,
) -> Result<Outcome, Diagnostics> {
    let Some(name) = drift.units.keys().next() else {
        return Ok(Outcome::new("Nothing differs.\n", json!({"drifted": false})));
    };
    let mut loaded = Loaded::open_for_change(call.context)?;
    let Accepted { planned, prepared } = accepted(&loaded, runs, env, drift, name)?;
    let message = Message::new(call, matches, format!("accept the drift of {name} in {env}"));
    let warnings = Diagnostics::new();
    let intent = Intent { planned: &planned, prepared: &prepared, message, adopt: None, warnings };
    create::record(call, matches, &mut loaded, env, intent)
}

/// The change of the pillar after which what is there is what is asked for.
pub struct Accepted {
    planned: Planned,
    prepared: Prepared,
}

/// Finds it, or says why there is none. Records nothing.
pub fn accepted(
    loaded: &Loaded,
    runs: &Runs,
    env: &EnvName,
    drift: &Drift,
    name: &Name,
) -> Result<Accepted, Diagnostics> {
    let changes = drift.units.get(name).map(Vec::as_slice).unwrap_or_default();
    let environment = loaded.environment(env)?;
    let compiled = loaded.compile(&loaded.tree, env)?;
    let digest = |units: &eos_engine::Units| units.units.get(name).map(|unit| unit.digest.clone());
    if digest(&run::units(env, &compiled.files)?) != digest(&drift.units_as_applied) {
        let message = format!("the pillar asks for something else of {name} than what was applied");
        return Err(Diagnostic::error(codes::NOT_ONE_SETTING, message)
            .why("what is there was compared with what was applied, not with what is asked for now")
            .fix("eos apply first, or change the setting yourself: eos update")
            .into());
    }
    let different = differences(runs, env, name, changes, &compiled.files)?;
    let Some(entry) = environment.components.get(name.as_str()) else {
        return Err(refused(env, name, "it is no component of the pillar".to_owned()).into());
    };
    let mut request = Request { kind: entry.kind.clone(), name: name.to_string(), ..Request::default() };
    request.kept = loaded.secrets()?;
    for one in &different {
        decide(&mut request, &loaded.catalog, entry, &compiled.files, env, one);
    }
    let chosen = chosen(&request);
    if chosen.is_empty() {
        return Err(refused(env, name, told(&different)).into());
    }
    let others = loaded.others(&loaded.tree, env);
    let mut planned = intent::update(&loaded.input(&environment).among(&others), &request)?;
    planned.notes.insert(0, format!("{name}: {} from now on, as it is there", chosen.join(", ")));
    let prepared = match recording::prepare(loaded, env, &environment, &planned, &mut Default::default())? {
        Drafted::Compiles(prepared) => prepared,
        Drafted::Mends(mending) => return Err(mending.left),
    };
    if !comes_out(env, name, &different, &compiled.files, &prepared.compiled.files) {
        let why = format!("with {} it would not be what is there: {}", chosen.join(", "), told(&different));
        return Err(refused(env, name, why).into());
    }
    Ok(Accepted { planned, prepared })
}

/// Everything in which the unit differs, or why it cannot be read back.
fn differences(
    runs: &Runs,
    env: &EnvName,
    name: &Name,
    changes: &[Change],
    files: &Files,
) -> Result<Vec<Different>, Diagnostic> {
    let mut found = Vec::new();
    for change in changes {
        let what = || format!("{}: {}", change.address, drift::difference(change));
        let Some(resource) = change.address.strip_prefix("eos_nomad_job.") else {
            return Err(beyond_settings(name, format!("{}; what it holds there is not known", what())));
        };
        let there = runs.side.details(&preview_key(env, change))["there"].as_array().cloned();
        let (ChangeKind::Update, Some(there), Some(file)) =
            (change.kind, there, spec_file(env, name, resource, files))
        else {
            let why = format!("{}, and not only in values that are asked for", what());
            return Err(beyond_settings(name, why));
        };
        found.extend(there.into_iter().map(|one| Different {
            file: file.clone(),
            pointer: one["pointer"].as_str().unwrap_or_default().to_owned(),
            there: one["value"].clone(),
        }));
    }
    Ok(found)
}

/// The file a job's spec is read from.
fn spec_file(env: &EnvName, name: &Name, resource: &str, files: &Files) -> Option<String> {
    let main: Json = serde_json::from_slice(files.get(&in_build(env, name, "main.tf.json"))?).ok()?;
    let spec = main["resource"]["eos_nomad_job"][resource]["spec"].as_str()?;
    Some(spec.strip_prefix("${file(\"${path.module}/")?.strip_suffix("\")}")?.to_owned())
}

fn in_build(env: &EnvName, name: &Name, file: &str) -> String {
    format!("build/{env}/{name}/{file}")
}

/// A compiled job; what is inside of `Job` where the file has that around it.
fn job(env: &EnvName, name: &Name, file: &str, files: &Files) -> Option<Json> {
    let document: Json = serde_json::from_slice(files.get(&in_build(env, name, file))?).ok()?;
    Some(if document["Job"].is_object() { document["Job"].clone() } else { document })
}

/// Puts the setting that a difference comes from into the request, when it is one and its value can be told.
fn decide(
    request: &mut Request,
    catalog: &Catalog,
    entry: &ComponentEntry,
    files: &Files,
    env: &EnvName,
    one: &Different,
) {
    let origins = origins(env, &entry.name, one, files);
    let setting = match origins.as_slice() {
        [origin] => setting_of(origin, &entry.name, &entry.kind),
        _ => None,
    };
    let known = |key: &str| {
        let component = intent::with_features(catalog, entry).ok()?;
        Some((component.settings.get(key)?.clone(), component))
    };
    if let Some(key) = setting {
        let Some((setting, _)) = known(key) else { return };
        let current = entry.settings.get(key).map(|node| node.to_json()).or(setting.default.clone());
        let compiled = job(env, &entry.name, &one.file, files);
        let compiled = compiled.as_ref().and_then(|job| job.pointer(&one.pointer));
        if let (Some(current), Some(compiled)) = (current, compiled)
            && let Some(text) = read_back(&current, compiled, &one.there)
        {
            let value = setting.read_text(&text);
            if setting.check(&value).is_ok() {
                request.settings.insert(key.to_owned(), value);
            }
        }
    } else if origins.len() <= 1
        && let Some((_, word)) = SIZES.iter().find(|(end, _)| one.pointer.ends_with(end))
        && let Some(number) = one.there.as_u64().filter(|number| *number > 0)
    {
        request.common.insert((*word).to_owned(), number.into());
    }
}

/// Where the provenance says that a value of a job comes from.
fn origins(env: &EnvName, name: &Name, one: &Different, files: &Files) -> Vec<String> {
    let read = |file: &str| files.get(&in_build(env, name, file)).map(|bytes| String::from_utf8_lossy(bytes));
    let (Some(text), Some(provenance)) = (read(&one.file), read("provenance.json")) else {
        return Vec::new();
    };
    let provenance: Json = serde_json::from_str(&provenance).unwrap_or_default();
    let line =
        json_line_of(&text, &format!("/Job{}", one.pointer)).or_else(|| json_line_of(&text, &one.pointer));
    let origins = line.map(|line| &provenance["files"][one.file.as_str()][line.to_string()]);
    let texts = origins.and_then(Json::as_array).into_iter().flatten();
    texts.filter_map(|origin| origin.as_str().map(str::to_owned)).collect()
}

/// The setting that an origin names: given in the pillar, or left to the kind's default.
fn setting_of<'o>(origin: &'o str, name: &Name, kind: &str) -> Option<&'o str> {
    let (file, key) = origin.split_once('#')?;
    if Utf8Path::new(file) == format!("catalog/{kind}/component.yaml") {
        return key.strip_prefix("settings:")?.strip_suffix(":default");
    }
    key.strip_prefix(&format!("eos:components:{name}:settings:"))
}

/// What a setting would have to be for `compiled` to become `there`: the same text around it, another one in its place.
fn read_back(setting: &Json, compiled: &Json, there: &Json) -> Option<String> {
    let (setting, compiled, there) = (text(setting)?, text(compiled)?, text(there)?);
    let (before, after) = compiled.split_once(&setting)?;
    if setting.is_empty() || after.contains(&setting) {
        return None;
    }
    Some(there.strip_prefix(before)?.strip_suffix(after)?.to_owned())
}

fn text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Whether the jobs compiled with the change are the old ones with exactly the values that are there.
fn comes_out(env: &EnvName, name: &Name, different: &[Different], old: &Files, new: &Files) -> bool {
    let mut files: Vec<&str> = different.iter().map(|one| one.file.as_str()).collect();
    files.dedup();
    files.into_iter().all(|file| {
        let (Some(mut wanted), Some(made)) = (job(env, name, file, old), job(env, name, file, new)) else {
            return false;
        };
        for one in different.iter().filter(|one| one.file == file) {
            if let Some(place) = wanted.pointer_mut(&one.pointer) {
                *place = one.there.clone();
            }
        }
        wanted == made
    })
}

/// The settings of a request, as a person reads them.
fn chosen(request: &Request) -> Vec<String> {
    let show = |(key, value): (&String, &Json)| format!("{key} {}", text(value).unwrap_or_default());
    request.settings.iter().chain(&request.common).map(show).collect()
}

/// What differs and where. Without values: a job edited by hand may have anything in it.
fn told(different: &[Different]) -> String {
    let places: Vec<&str> = different.iter().map(|one| one.pointer.trim_start_matches('/')).collect();
    format!("it differs in {}", places.join(", "))
}

/// Of what is gone or stopped, or cannot be read back, no setting could ask for.
fn beyond_settings(name: &Name, why: String) -> Diagnostic {
    Diagnostic::error(codes::NOT_ONE_SETTING, format!("{name} differs in what no setting decides"))
        .why(why)
        .fix(format!(
            "eos drift revert {name} brings it back; eos drift ignore {name} --because \"...\" lives with it"
        ))
}

fn refused(env: &EnvName, name: &Name, why: String) -> Diagnostic {
    Diagnostic::error(codes::NOT_ONE_SETTING, format!("{name} differs in what no single setting decides"))
        .why(why)
        .fix(format!(
            "eos why build/{env}/{name}/<file>:<line> names the settings, eos update {name} --<setting> asks for what is there; or eos drift revert {name}"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_back_only_where_it_is_certain() {
        let back = |setting: Json, compiled: Json, there: Json| read_back(&setting, &compiled, &there);
        assert_eq!(back(json!(80), json!(80), json!(8080)).as_deref(), Some("8080"));
        assert_eq!(back(json!(80), json!("--port=80"), json!("--port=81")).as_deref(), Some("81"));
        assert_eq!(back(json!("a"), json!("x-a-y"), json!("x-b-y")).as_deref(), Some("b"));
        // Twice in the text, other text around it, not in the text at all, or no text.
        assert_eq!(back(json!("a"), json!("a=a"), json!("b=b")), None);
        assert_eq!(back(json!(80), json!("--port=80"), json!("-p 81")), None);
        assert_eq!(back(json!("64M"), json!(67_108_864), json!(1)), None);
        assert_eq!(back(json!("a"), json!("a"), json!(["b"])), None);
        assert_eq!(back(json!(""), json!(""), json!("b")), None);
    }

    #[test]
    fn an_origin_names_a_setting_of_the_unit_itself() {
        let name: Name = "shop".parse().unwrap();
        let setting = |origin: &'static str| setting_of(origin, &name, "grafana");
        assert_eq!(setting("pillar/x.sls#eos:components:shop:settings:port"), Some("port"));
        assert_eq!(setting("catalog/grafana/component.yaml#settings:port:default"), Some("port"));
        assert_eq!(setting("pillar/x.sls#eos:components:shop:tier"), None);
        assert_eq!(setting("pillar/x.sls#eos:components:other:settings:port"), None);
        assert_eq!(setting("catalog/redis/component.yaml#settings:port:default"), None);
    }
}
