//! `eos eject`: everything that is needed to go on without eos, in one folder: units, state, the provider, the key.
//!
//! The folder has the shape of an estate, so that what is compiled finds its state and its modules where it looks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, Command};
use eos_engine::{Applied, Archive, Layout, runs};
use eos_model::{Diagnostic, Diagnostics, UnitId, codes};
use eos_pillar::estate_file::Backend;
use eos_secrets::{Identity, read_state_key};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use serde_json::{Value as Json, json};

use super::Call;
use super::eject_jobs::Running;
use crate::args::spoken::quoted;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::run;
use crate::run::surroundings::nomad_variable;
use crate::views::plan::counted;
use crate::views::wrap::below;

const GUIDE: &str = include_str!("eject_guide.md");

/// Where the certificate by which Nomad is known lies there.
const AUTHORITY: &str = "nomad-ca.pem";

const ENVIRONMENT_BEGINS: &str = r#"# Before tofu, in this folder: . ./env.sh
here=$PWD
[ -d "$here/mirror" ] || { echo "env.sh: go to the folder that it lies in first" >&2; return 1; }
"#;

/// The folder may be made inside the estate, and `git add -A` there must not take the key.
const KEPT_FROM_GIT: &str =
    "# The key of state and plans lies here in clear: git takes nothing of this folder.\n*\n";

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("folder").value_name("DIR").required(true).help("A folder that is not there yet"))
        .after_help("The key of state and plans lies in it in clear: keep it as you keep a private key.\n\nExample:\n  eos eject ./plain"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let wanted = matches.get_one::<String>("folder").map_or("", String::as_str);
    let folder = call.context.directory.join(wanted);
    if folder.exists() {
        return Err(Diagnostic::error(codes::CANNOT_WRITE, format!("{wanted} is there already"))
            .why("eos writes over nothing that it did not make")
            .fix("name a folder that is not there yet")
            .into());
    }
    let mut running = Running::new(call, &loaded);
    let written = write(call, &loaded, &folder, &mut running).inspect_err(|_| {
        // Half of it would look like all of it, and has the key inside.
        let _ = fs_err::remove_dir_all(&folder);
    })?;
    let applied = written.values().filter(|applied| **applied).count();
    let never = match written.len() - applied {
        0 => String::new(),
        never => format!(", {never} more that {} never applied", if never == 1 { "was" } else { "were" }),
    };
    let has = format!(
        "{wanted} has {} with state{never}, the provider and the key of state and plans (in clear: guard it).",
        counted(applied, "unit")
    );
    let next = format!(
        "read {wanted}/README.md. Two copies of one state disagree sooner or later: go on in one place only."
    );
    let width = call.context.width;
    let text = below("", "", &has, width, 2) + &below("Next: ", "Next: ", &next, width, 2);
    let units: Vec<&String> = written.keys().collect();
    let mut warnings = half_way(&loaded, wanted)?;
    warnings.0.extend(running.unanswered);
    Ok(Outcome::new(text, json!({"folder": folder, "units": units})).with_warnings(warnings))
}

/// Runs that are not over: the folder has what they did so far, and nobody goes on with them there.
fn half_way(loaded: &Loaded, wanted: &str) -> Result<Diagnostics, Diagnostics> {
    let layout = Layout::new(loaded.estate.root.clone());
    let (records, _) = run::store(&loaded.estate, &layout)?;
    let applied = Applied::new(records.as_ref());
    let told = |message: String, first: &str| {
        Diagnostic::warning(codes::RUN_UNFINISHED, message)
            .why(format!("{wanted} has what it has done so far, and nothing there knows what is left to do"))
            .fix(format!("{first}; then remove {wanted} and eject again"))
    };
    let (open, unreadable) = runs::open(&layout)?;
    let mut found = unreadable;
    for runs::Known { run, in_progress } in &open {
        let (id, command) = (&run.begun.run, &run.begun.command);
        found.push(if *in_progress {
            told(format!("run {id} is at work: {command}"), "wait for its end")
        } else {
            let ways = run::undoing::ways_on(loaded, run, &applied.units(&run.begun.env)?);
            told(format!("run {id} is unfinished: {command}"), &loaded.hint(&run.begun.env, &ways))
        });
    }
    for env in loaded.estate.file.environments.keys() {
        for (name, unit) in applied.units(env)? {
            for attempt in unit.not_over().filter(|attempt| runs::find(&layout, &attempt.run).is_err()) {
                let message = format!(
                    "run {} of another clone has begun to change {env}/{name} and is not over",
                    attempt.run
                );
                found.push(told(
                    message,
                    "eos resume or eos undo in that clone; if it is lost, eos apply here",
                ));
            }
        }
    }
    Ok(found)
}

/// Writes everything; gives each unit, and whether it has a state.
fn write(
    call: &Call<'_>,
    loaded: &Loaded,
    folder: &Utf8Path,
    running: &mut Running,
) -> Result<BTreeMap<String, bool>, Diagnostics> {
    let context = call.context;
    let root = &loaded.estate.root;
    let layout = Layout::new(root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let (records, _) = run::store(&loaded.estate, &layout)?;
    let applied = Applied::new(records.as_ref());
    let failed = |path: &Utf8Path, error: std::io::Error| eos_pillar::files::cannot_write(path, &error);
    fs_err::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    private(folder).map_err(|e| failed(folder, e))?;
    let folder = &folder.canonicalize_utf8().map_err(|e| failed(folder, e))?;
    // Before anything that is to be kept from git.
    let ignored = Utf8Path::new(".gitignore");
    put(folder, ignored, KEPT_FROM_GIT.as_bytes(), 0o644).map_err(|e| failed(ignored, e))?;
    let mut units = BTreeMap::new();
    for env in loaded.estate.file.environments.keys() {
        let compiled = loaded.compile(&loaded.tree, env)?;
        let there = applied.units(env)?;
        let is_there = |path: &str| path.split('/').nth(2).is_some_and(|unit| there.contains_key(unit));
        for (path, bytes) in &compiled.files {
            let bytes = if is_there(path) { running.as_it_runs(path, bytes.clone()) } else { bytes.clone() };
            put(folder, Utf8Path::new(path), &bytes, 0o644).map_err(|e| failed(Utf8Path::new(path), e))?;
        }
        for (name, unit) in run::units(env, &compiled.files)?.units {
            let values: serde_json::Map<String, Json> = unit
                .manifest
                .inputs
                .iter()
                .filter_map(|(variable, source)| {
                    Some((variable.clone(), there.get(&source.unit)?.outputs.get(&source.output)?.clone()))
                })
                .collect();
            if !values.is_empty() {
                let path = Utf8PathBuf::from(format!("build/{env}/{name}/inputs.auto.tfvars.json"));
                let text = format!("{:#}\n", Json::Object(values));
                put(folder, &path, text.as_bytes(), 0o644).map_err(|e| failed(&path, e))?;
            }
            units.insert(format!("{env}/{name}"), there.contains_key(&name));
        }
        // Applied and no longer asked for: with these bytes tofu can take it away.
        run::archived::complete(loaded, &layout, &applied, env)?;
        for (name, unit) in &there {
            if units.contains_key(&format!("{env}/{name}")) {
                continue;
            }
            let Some(digest) = &unit.digest else { continue };
            let id = UnitId { env: env.clone(), name: name.clone() };
            let archived = Archive::new(&layout).read(&id, digest)?;
            let inputs = format!("{:#}\n", json!(unit.inputs)).into_bytes();
            let inputs = (Utf8PathBuf::from("inputs.auto.tfvars.json"), inputs);
            let files = archived.files.iter().map(|(path, bytes)| (path.clone(), bytes.clone()));
            for (path, bytes) in files.chain((!unit.inputs.is_empty()).then_some(inputs)) {
                let path = Utf8PathBuf::from(format!("build/{env}/{name}/{path}"));
                let bytes = running.as_it_runs(path.as_str(), bytes);
                put(folder, &path, &bytes, 0o644).map_err(|e| failed(&path, e))?;
            }
            units.insert(format!("{env}/{name}"), true);
        }
    }
    for part in ["pillar", "secrets", "eos.toml", "eos.lock", ".eos/state/tofu", ".eos/state/outputs"] {
        copy(&root.join(part), &folder.join(part)).map_err(|e| failed(Utf8Path::new(part), e))?;
    }
    let authority = nomad_authority(call, loaded);
    if let Some(from) = &authority {
        let bytes = fs_err::read(from).map_err(|e| eos_pillar::files::cannot_read(from, &e))?;
        put(folder, Utf8Path::new(AUTHORITY), &bytes, 0o644)
            .map_err(|e| failed(Utf8Path::new(AUTHORITY), e))?;
    }
    let provider =
        format!("mirror/eos.local/eos/eos/0.1.0/{}/terraform-provider-eos_v0.1.0", eos_tofu::platform());
    let program = fs_err::read(&context.binary).map_err(|e| failed(&context.binary, e))?;
    put(folder, Utf8Path::new(&provider), &program, 0o755)
        .map_err(|e| failed(Utf8Path::new(&provider), e))?;
    let mut files = vec![
        ("README.md", GUIDE.to_owned(), 0o644),
        ("env.sh", environment(call, loaded, authority.is_some()), 0o644),
        // For a Salt that wants the outputs of units in its pillar: docs/salt-outputs.md.
        ("salt/_pillar/terraform_outputs.py", eos_salt::TERRAFORM_OUTPUTS.to_owned(), 0o644),
    ];
    if loaded.estate.file.executor == "tofu" {
        let identity = Identity::load(&context.identity_file)?;
        if let Some(key) = read_state_key(root, &identity)? {
            // What tofu asks for when it decrypts; the same answer serves for encrypting.
            let request = json!({"external_data": {"key": "estate-1"}}).to_string();
            let answer = eos_tofu::state_key_response(&key, request.as_bytes())
                .map_err(|e| Diagnostic::error(codes::CANNOT_READ, e.to_string()))?;
            files.push(("state-key.json", answer.to_string(), 0o600));
            let script = "#!/bin/sh\n# tofu runs this for the key of state and plans.\ncat \"$(dirname \"$0\")/state-key.json\"\ncat >/dev/null\n";
            files.push(("state-key", script.to_owned(), 0o700));
        }
    }
    for (path, text, mode) in files {
        put(folder, Utf8Path::new(path), text.as_bytes(), mode)
            .map_err(|e| failed(Utf8Path::new(path), e))?;
    }
    Ok(units)
}

/// The certificate by which Nomad is known: as eos itself takes it.
fn nomad_authority(call: &Call<'_>, loaded: &Loaded) -> Option<Utf8PathBuf> {
    let estate = &loaded.estate;
    let file = nomad_variable(&call.context.given, &estate.file, &estate.root, "NOMAD_CACERT")?;
    // A relative path means the folder in which eos was called.
    (!file.is_empty()).then(|| call.context.directory.join(file))
}

/// What a shell is told before tofu is run there.
/// What the shell says at its place: the folder may be moved and copied.
const HERE: &str = "@here@";

fn environment(call: &Call<'_>, loaded: &Loaded, has_authority: bool) -> String {
    let (estate, context) = (&loaded.estate.file, call.context);
    let folder = Utf8Path::new(HERE);
    let mut variables = vec![
        ("TF_CLI_CONFIG_FILE", folder.join("tofurc").into_string()),
        ("EOS_ESTATE", folder.to_string()),
        ("EOS_IDENTITY", context.identity_file.to_string()),
    ];
    if estate.executor == "tofu" {
        let command = eos_tofu::Encryption::by_command(folder.join("state-key"), []);
        variables.push(("TF_ENCRYPTION", command.to_json()));
    }
    let nomad = estate.nomad.as_ref();
    let settings = [
        ("NOMAD_ADDR", nomad.and_then(|nomad| nomad.address.clone())),
        ("NOMAD_REGION", nomad.and_then(|nomad| nomad.region.clone())),
        ("NOMAD_TLS_SERVER_NAME", None),
        ("EOS_SALT_API", estate.salt.as_ref().map(|salt| salt.api.clone())),
    ];
    for (name, setting) in settings {
        variables.extend(context.given.get(name).cloned().or(setting).map(|value| (name, value)));
    }
    if has_authority {
        variables.push(("NOMAD_CACERT", folder.join(AUTHORITY).into_string()));
    }
    if let Ok(tools) = super::tools::tools(context)
        && let Ok(Some(salt)) = tools.find("salt")
        && let Some(bin) = salt.path.parent()
    {
        variables.push(("EOS_SALT", bin.to_string()));
    }
    let mut text = ENVIRONMENT_BEGINS.to_owned();
    for (name, value) in variables {
        let word = quoted(&value);
        let here = if word.starts_with('\'') { r#"'"$here"'"# } else { r#""$here""# };
        text.push_str(&format!("export {name}={}\n", word.replace(HERE, here)));
    }
    let config = eos_tofu::cli_config(&folder.join("mirror"), &BTreeSet::from(["eos.local/*/*".to_owned()]));
    text.push_str(&format!("cat > \"$here/tofurc\" <<END\n{}END\n", config.replace(HERE, "$here")));
    text.push_str("# Keys and passwords are not here: NOMAD_TOKEN, EOS_SALT_TOKEN_FILE and what the providers ask for.\n");
    if estate.backend != Backend::Local {
        text.push_str("# The state is at the backend that each unit names; TF_HTTP_USERNAME and TF_HTTP_PASSWORD open it.\n");
    }
    text
}

fn private(folder: &Utf8Path) -> std::io::Result<()> {
    fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

fn put(folder: &Utf8Path, path: &Utf8Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let full = folder.join(path);
    if let Some(parent) = full.parent() {
        fs_err::create_dir_all(parent)?;
    }
    // Nobody else reads it for a moment either.
    let mut file =
        fs_err::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&full)?;
    file.write_all(bytes)?;
    fs_err::set_permissions(&full, std::fs::Permissions::from_mode(mode))
}

/// A file or a folder with all that is in it; nothing when it is not there.
fn copy(from: &Utf8Path, to: &Utf8Path) -> std::io::Result<()> {
    if from.is_file() {
        if let Some(parent) = to.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::copy(from, to)?;
    } else if from.is_dir() {
        fs_err::create_dir_all(to)?;
        for entry in from.read_dir_utf8()? {
            let entry = entry?;
            copy(entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
