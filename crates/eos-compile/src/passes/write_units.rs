//! Units become files: documents written out, a manifest, and the provenance of every line that has one.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

use crate::passes::check_storage::{class_name, filesystem};
use crate::provenance::Provenance;
use crate::traced::Traced;
use crate::work::{Document, Emitted, Unit, Work};

/// What describes a unit to the engine, and what `eos why` reads.
pub const MANIFEST: &str = "manifest.json";
pub const PROVENANCE: &str = "provenance.json";
const FORMAT: u32 = 1;

pub fn run(work: &Work<'_>, unit: &Unit<'_>, emitted: &mut Emitted) {
    let folder = folder(work, unit.id.name.as_str());
    let mut written = BTreeMap::new();
    let mut provenance = Provenance::new();
    for (path, document) in std::mem::take(&mut emitted.documents) {
        let (text, lines) = match document {
            Document::Json(traced) => traced.write_json(),
            Document::Sls(traced) => traced.write_sls(),
        };
        if !lines.is_empty() {
            provenance.add(&path, &lines);
        }
        written.insert(path, text);
    }
    let (manifest, lines) = manifest(work, unit, emitted, &written).write_json();
    provenance.add(MANIFEST, &lines);
    written.insert(MANIFEST.to_owned(), manifest);
    written.insert(PROVENANCE.to_owned(), provenance.finish());
    // As long as it is, and not as the buffer that it grew in: that serves the next unit, and memory that nothing touched
    // before costs more than the copy.
    let files = written.iter().map(|(path, text)| (format!("{folder}/{path}"), text.as_bytes().to_vec()));
    emitted.files.extend(files);
    for source in
        unit.component.cloud.modules.values().filter_map(|call| call.get("source").and_then(Json::as_str))
    {
        emitted.files.extend(module_files(work, unit, source));
    }
}

/// `build/<environment>/<unit>`
pub fn folder(work: &Work<'_>, unit: &str) -> String {
    format!("build/{}/{unit}", work.input.environment.name)
}

pub fn pretty(json: &Json) -> String {
    let mut text = serde_json::to_string_pretty(json).unwrap_or_default();
    text.push('\n');
    text
}

fn manifest(
    work: &Work<'_>,
    unit: &Unit<'_>,
    emitted: &Emitted,
    written: &BTreeMap<String, String>,
) -> Traced {
    let volumes: Vec<Traced> = unit
        .component
        .storage
        .iter()
        .filter_map(|(name, volume)| {
            let choice = unit.entry.volumes.get(name)?;
            let chosen = |field: &str| work.chosen(unit, &format!("volumes:{name}:{field}"));
            Some(Traced::fields([
                ("name", name.as_str().into()),
                ("class", class_name(volume.class).into()),
                ("filesystem", Traced::scalar(filesystem(volume.class, choice), chosen("filesystem"))),
                ("backing", Traced::scalar(choice.backing.as_str(), chosen("backing"))),
                ("path", Traced::scalar(choice.path.as_str(), chosen("path"))),
            ]))
        })
        .collect();
    let inputs: Map<String, Json> = emitted
        .inputs
        .iter()
        .map(|(variable, (from, output))| (variable.clone(), json!({"unit": from, "output": output})))
        .collect();
    let mut digest = Sha256::new();
    for (path, text) in written {
        for part in [path, text] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        }
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let catalog = work.input.catalog.digest(&unit.entry.kind);
    Traced::fields([
        ("format", FORMAT.into()),
        ("unit", unit.id.to_string().into()),
        ("kind", Traced::scalar(unit.entry.kind.as_str(), work.chosen(unit, "kind"))),
        ("compiler", crate::COMPILER.into()),
        ("catalog", json!(catalog).into()),
        ("features", Traced::scalar(json!(unit.features), work.chosen(unit, "features"))),
        ("host", Traced::scalar(json!(unit.host.map(|host| host.name.as_str())), work.chosen(unit, "host"))),
        ("needs", Traced::scalar(json!(unit.upstream), work.chosen(unit, "needs"))),
        ("inputs", Json::Object(inputs).into()),
        ("volumes", Traced::list(volumes)),
        ("thresholds", json!(unit.component.thresholds).into()),
        ("digest", format!("sha256:{digest}").into()),
    ])
}

/// Where a module of the catalogue lies in the build: named by its content, so that two units share one copy.
pub fn vendored_module(work: &Work<'_>, unit: &Unit<'_>, source: &str) -> Result<String, String> {
    let files = module_sources(work, unit, source);
    if files.is_empty() {
        return Err(format!("{} has no modules/{source}", unit.entry.kind));
    }
    let mut digest = Sha256::new();
    for (path, bytes) in &files {
        digest.update((path.len() as u64).to_be_bytes());
        digest.update(path.as_bytes());
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    }
    let short: String = digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("modules/{source}-{short}"))
}

fn module_sources<'w>(work: &Work<'w>, unit: &Unit<'_>, source: &str) -> Vec<(&'w str, &'w [u8])> {
    let prefix = format!("modules/{source}/");
    let folder = work.input.catalog.folder(&unit.entry.kind);
    let files = folder.into_iter().flat_map(|folder| &folder.files);
    files.filter_map(|(path, bytes)| Some((path.strip_prefix(&prefix)?, &**bytes))).collect()
}

fn module_files(work: &Work<'_>, unit: &Unit<'_>, source: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(vendored) = vendored_module(work, unit, source) else { return Vec::new() };
    module_sources(work, unit, source)
        .into_iter()
        .map(|(path, bytes)| (format!("build/{vendored}/{path}"), bytes.to_vec()))
        .collect()
}
