//! The last step of `eos why`: from a generated line to what is alive because of it, as the last run recorded it. Nothing
//! is asked of any tool.

use eos_engine::{Applied, AppliedUnit, Archive, Layout, Unit};
use eos_model::{Diagnostics, UnitId, date};
use serde_json::{Value as Json, json};

use crate::loaded::Loaded;
use crate::run;

pub struct Live {
    /// What a line begins with, and what it says.
    pub lines: Vec<(&'static str, String)>,
    pub document: Json,
}

const HEAD: &str = "live   ";

impl Live {
    /// A store that does not answer, or bytes that are elsewhere: the rest of the answer stands without it.
    pub fn unknown(found: &Diagnostics) -> Live {
        let why = found.0.first().map_or("", |problem| problem.message.as_str());
        Live {
            lines: vec![(HEAD, format!("cannot be told: {why}"))],
            document: json!({"applied": null, "objects": [], "unknown": why}),
        }
    }
}

/// What an artifact's file, or one resource of its main.tf.json, became. `text` is the file as it is compiled now.
pub fn of(
    loaded: &Loaded,
    id: &UnitId,
    inside: &str,
    resource: Option<(&str, &str)>,
    text: &str,
) -> Result<Live, Diagnostics> {
    let layout = Layout::new(loaded.estate.root.clone());
    let (records, _) = run::store(&loaded.estate, &layout)?;
    let applied = Applied::new(records.as_ref());
    let record = applied.unit(id)?;
    let Some((record, digest)) = record.as_ref().and_then(|record| Some((record, record.digest.as_ref()?)))
    else {
        let half = record.as_ref().and_then(|record| record.attempt.as_ref());
        let said = match half {
            Some(attempt) => format!("not applied yet: run {} has begun and is not over", attempt.run),
            None => "not applied yet".to_owned(),
        };
        return Ok(Live { lines: vec![(HEAD, said)], document: json!({"applied": false, "objects": []}) });
    };
    let archive = Archive::new(&layout);
    let unit = archive.read(id, digest).or_else(|_| {
        run::archived::complete(loaded, &layout, &applied, &id.env)?;
        archive.read(id, digest)
    })?;
    let applied = unit
        .files
        .get(camino::Utf8Path::new(inside))
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let same = applied.as_deref() == Some(text);
    let objects: Vec<(String, Json)> = objects(&unit, record, inside, resource);
    let mut lines: Vec<_> = objects.iter().map(|(said, _)| (HEAD, said.clone())).collect();
    let when = date::minute(record.at);
    let commit = record.commit.get(..10).unwrap_or(&record.commit);
    let how = match (&record.attempt, same) {
        (Some(attempt), _) => format!("run {} has begun to change it", attempt.run),
        (None, true) => "as it compiles now".to_owned(),
        (None, false) => "as it compiled then: eos apply brings what compiles now".to_owned(),
    };
    lines.push(("       ", format!("applied {when} from {commit} by run {}, {how}", record.run)));
    let objects: Vec<&Json> = objects.iter().map(|(_, object)| object).collect();
    let document = json!({"applied": true, "run": record.run, "commit": record.commit, "at": record.at,
        "as_compiled": same, "objects": objects});
    Ok(Live { lines, document })
}

/// The resources that a file stands behind, each in words and for machines.
fn objects(
    unit: &Unit,
    record: &AppliedUnit,
    inside: &str,
    only: Option<(&str, &str)>,
) -> Vec<(String, Json)> {
    let main = unit.main();
    let mut found = Vec::new();
    for (kind, resources) in main["resource"].as_object().into_iter().flatten() {
        for (name, body) in resources.as_object().into_iter().flatten() {
            let asked = match only {
                Some(only) => only == (kind, name),
                None => inside == "main.tf.json" || body.to_string().contains(inside),
            };
            if asked {
                found.push(object(unit, record, kind, name, body));
            }
        }
    }
    found
}

fn object(unit: &Unit, record: &AppliedUnit, kind: &str, name: &str, body: &Json) -> (String, Json) {
    let address = format!("{kind}.{name}");
    match kind {
        "eos_nomad_job" => {
            let spec =
                body["spec"].as_str().and_then(read_file).map(|path| file(unit, path)).unwrap_or_default();
            let job = spec["Job"]["ID"].as_str().unwrap_or_default();
            let spaces = [&body["namespace"], &spec["Job"]["Namespace"]];
            let namespace = spaces.into_iter().find_map(Json::as_str).unwrap_or("default");
            let version = record.seen.get(job);
            let last = version.map(|version| format!(", version {version}")).unwrap_or_default();
            let said = format!("Nomad's job {job} in namespace {namespace}{last}");
            (said, json!({"address": address, "job": job, "namespace": namespace, "version": version}))
        }
        "eos_salt_state" => {
            let (target, via) =
                (body["target"].as_str().unwrap_or_default(), body["via"].as_str().unwrap_or_default());
            let sls = body["sls"].as_str().and_then(read_file).unwrap_or_default();
            let said = format!("Salt's states of {sls} on host {target} ({via})");
            (said, json!({"address": address, "host": target, "via": via, "sls": sls}))
        }
        _ => {
            let said = format!("{address}: eos tofu {} -- state show {address}", unit.name());
            (said, json!({"address": address}))
        }
    }
}

/// `jobs/redis.nomad.json` of `${file("${path.module}/jobs/redis.nomad.json")}`.
fn read_file(expression: &str) -> Option<&str> {
    expression.strip_prefix("${file(\"${path.module}/")?.strip_suffix("\")}")
}

fn file(unit: &Unit, path: &str) -> Json {
    let bytes = unit.files.get(camino::Utf8Path::new(path)).map(Vec::as_slice).unwrap_or_default();
    serde_json::from_slice(bytes).unwrap_or_default()
}
