//! The compiler's output on the real tools: Nomad, Salt and OpenTofu judge it, not eos.

mod support;

#[path = "real_tools/nomad.rs"]
mod nomad;
#[path = "real_tools/running.rs"]
mod running;
#[path = "real_tools/salt.rs"]
mod salt;
#[path = "real_tools/variants.rs"]
mod variants;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use eos_catalog::Catalog;
use nomad::Nomad;
use salt::Salt;
use serde_json::{Map, Value as Json};
use support::{Sandbox, tool};

/// Every kind with defaults, with each feature and each runtime, in one estate; each operation once.
fn whole_catalogue() -> Sandbox {
    let sandbox = Sandbox::with_estate();
    let catalog = Catalog::built_in();
    sandbox.ok(&["create", "host", "db1", "--address", "10.0.0.5", "--volume-group", "data-vg"]);
    let create = |variant: &variants::Variant, host: &str| {
        let mut words = vec!["create", &variant.kind, &variant.name, "--host", host];
        words.extend(variant.words.iter().map(String::as_str));
        let run = sandbox.run(&words);
        (run.code != 0).then(|| format!("eos {}\n{}{}", words.join(" "), run.stdout, run.stderr))
    };
    let mut wrong = Vec::new();
    for variant in variants::defaults(&catalog) {
        // What another kind has pulled in has its defaults too.
        if !sandbox.estate().join("build/production").join(&variant.name).is_dir() {
            wrong.extend(create(&variant, "local"));
        }
    }
    for variant in variants::beyond_defaults(&catalog) {
        wrong.extend(create(&variant, "db1"));
    }
    sandbox.ok(&["create", "user", "john.doe", "--host", "local"]);
    sandbox.ok(&["create", "host", "spare", "--env", "staging"]);
    sandbox.ok(&["create", "nextcloud", "--sso", "--env", "staging"]);
    for kind in catalog.kinds() {
        for operation in catalog.component(kind).unwrap().operations.values() {
            let words: Vec<&str> = operation.example.split(' ').skip(1).chain(["--host", "local"]).collect();
            let run = sandbox.run(&words);
            if run.code != 0 {
                wrong.push(format!("{}\n{}{}", operation.example, run.stdout, run.stderr));
            }
        }
    }
    if std::env::var("TEMP_TOLERATE").is_ok() { eprintln!("{}", wrong.len()); for w in wrong { eprintln!("{}", w.lines().filter(|l| l.starts_with("eos")||l.starts_with("error")).collect::<Vec<_>>().join("\n")); } return sandbox; }
    none(wrong, "commands");
    sandbox
}

/// Says all that is wrong at once.
fn none(wrong: Vec<String>, what: &str) {
    assert!(wrong.is_empty(), "{} {what} are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Does something for each item, two at a time, and gathers what is wrong.
fn each<T: Sync>(items: &[T], wrong: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let found = Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let problem = wrong(item);
                    found.lock().unwrap().extend(problem);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

fn built(sandbox: &Sandbox, ending: &str) -> Vec<PathBuf> {
    sandbox.files("build").into_iter().filter(|path| path.ends_with(ending)).map(|path| sandbox.estate().join(path)).collect()
}

fn read_json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_component_and_feature_is_accepted() {
    let clock = std::time::Instant::now();
    let sandbox = whole_catalogue();
    let units = built(&sandbox, "main.tf.json");
    assert!(units.len() > 2 * Catalog::built_in().kinds().count(), "{} units", units.len());
    let told = |what: &str| eprintln!("{:>6.1} s  {what}", clock.elapsed().as_secs_f32());
    told(&format!("{} units compiled", units.len()));
    attributes_are_in_the_schema(&units);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            salt_reads_what_eos_reads(&sandbox);
            told("pillar and states by Salt");
        });
        scope.spawn(|| {
            nomad_accepts_and_keeps_every_field(&sandbox);
            told("jobs by Nomad");
            tofu_gets(&sandbox, &units);
            told("modules by tofu");
        });
    });
}

fn salt_reads_what_eos_reads(sandbox: &Sandbox) {
    let mut salt = Salt::start(&tool("salt"));
    for environment in ["production", "staging"] {
        let pillar = salt.pillar(&sandbox.estate().join("pillar"), environment);
        assert!(pillar.get("_errors").is_none(), "{pillar:#}");
        let ours = sandbox.json(&["show", "--pillar", "--env", environment])["pillar"].take();
        none(differences(environment, &ours, &pillar), "values of the pillar");
    }
    let files = built(sandbox, ".sls");
    let answers = salt.states(&files);
    assert_eq!(answers.len(), files.len());
    let wrong = files.iter().zip(&answers).filter(|(_, answer)| answer["wrong"].as_array().is_none_or(|wrong| !wrong.is_empty()));
    none(wrong.map(|(file, answer)| format!("{}: {}", file.display(), answer["wrong"])).collect(), "sls");
}

/// The pillar by the command a person would type, not by the warm process the other tests use.
#[test]
fn salt_call_renders_the_pillar_eos_reads() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--sso"]);
    sandbox.ok(&["create", "user", "john.doe"]);
    let config = sandbox.path().join("salt");
    std::fs::create_dir(&config).unwrap();
    let minion = serde_json::json!({"id": "local", "root_dir": config.join("root"), "file_client": "local", "master_type": "disable",
        "pillar_roots": {"base": [sandbox.estate().join("pillar")]}, "grains": {"environment": "production"}, "pillar_mask_output": false});
    std::fs::write(config.join("minion"), minion.to_string()).unwrap();
    let output = Command::new(tool("salt")).args(["--local", "--out=json", "--retcode-passthrough", "--config-dir"]).arg(&config).arg("pillar.items").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: Json = serde_json::from_slice(&output.stdout).unwrap();
    let ours = sandbox.json(&["show", "--pillar"])["pillar"].take();
    assert!(ours["eos"]["components"]["nextcloud"].is_object(), "{ours:#}");
    none(differences("production", &ours, &theirs["local"]), "values of the pillar");
}

/// Where two documents differ, by path; order of keys does not count, types do.
fn differences(path: &str, ours: &Json, theirs: &Json) -> Vec<String> {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().flat_map(|key| differences(&format!("{path}:{key}"), a.get(key).unwrap_or(&Json::Null), b.get(key).unwrap_or(&Json::Null))).collect()
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().flat_map(|(at, (a, b))| differences(&format!("{path}:{at}"), a, b)).collect()
        }
        _ if ours == theirs => Vec::new(),
        _ => vec![format!("{path}: eos reads {ours}, Salt {theirs}")],
    }
}

fn nomad_accepts_and_keeps_every_field(sandbox: &Sandbox) {
    let nomad = Nomad::server(&tool("nomad"));
    let jobs = built(sandbox, ".nomad.json");
    let wrong = each(&jobs, |path| nomad.validate(path).err().map(|said| format!("{}: {said}", path.display())));
    none(wrong, "jobs by nomad job validate -json");
    // Nomad ignores what it does not know, so a misspelt field would be lost without a word: what it has stored must
    // have every field and value that was sent.
    let wrong = each(&jobs, |path| {
        let sent = read_json(path);
        let id = sent["Job"]["ID"].as_str().unwrap().to_owned();
        if let Err(problem) = nomad.put("/v1/jobs", &sent) {
            return Some(format!("{}: {problem}", path.display()));
        }
        let lost = lost_fields(&sent["Job"], &nomad.get(&format!("/v1/job/{id}")));
        (!lost.is_empty()).then(|| format!("{}: {}", path.display(), lost.join(", ")))
    });
    none(wrong, "jobs as Nomad has stored them");
}

/// The fields of a job that Nomad did not keep.
fn lost_fields(sent: &Json, stored: &Json) -> Vec<String> {
    let mut sent = sent.clone();
    let mut lost = Vec::new();
    // Nomad hands the job's strategy down to its groups and keeps it there.
    if let Some(update) = sent.as_object_mut().and_then(|job| job.remove("Update")) {
        for group in stored["TaskGroups"].as_array().into_iter().flatten() {
            missing("Update", &update, &group["Update"], &mut lost);
        }
    }
    missing("Job", &sent, stored, &mut lost);
    for task in sent["TaskGroups"].as_array().into_iter().flatten().flat_map(|group| group["Tasks"].as_array().into_iter().flatten()) {
        let known: &[&str] = match task["Driver"].as_str() {
            Some("docker") => &["args", "cap_add", "command", "entrypoint", "image", "ports", "volumes"],
            Some("raw_exec") => &["args", "command"],
            _ => &[],
        };
        // A driver's own words pass through Nomad unseen until a task starts.
        let config = task["Config"].as_object().unwrap();
        lost.extend(config.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("{} has no {key}", task["Driver"])));
    }
    lost
}

fn missing(path: &str, sent: &Json, stored: &Json, lost: &mut Vec<String>) {
    match (sent, stored) {
        (Json::Object(a), Json::Object(b)) => a.iter().for_each(|(key, value)| missing(&format!("{path}.{key}"), value, b.get(key).unwrap_or(&Json::Null), lost)),
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => a.iter().zip(b).enumerate().for_each(|(at, (a, b))| missing(&format!("{path}[{at}]"), a, b, lost)),
        _ if sent == stored => {}
        _ => lost.push(format!("{path}: sent {sent}, stored {stored}")),
    }
}

/// tofu as on a machine without any configuration of its own.
fn tofu(sandbox: &Sandbox, program: &Path, args: &[&str], folder: &Path) -> std::process::Output {
    Command::new(program).args(args).current_dir(folder).env_clear().env("HOME", sandbox.path().join("home")).env("CHECKPOINT_DISABLE", "1").output().unwrap()
}

fn tofu_gets(sandbox: &Sandbox, units: &[PathBuf]) {
    let program = tool("tofu");
    let wrong = each(units, |main| {
        let output = tofu(sandbox, &program, &["get", "-no-color"], main.parent().unwrap());
        (!output.status.success()).then(|| format!("{}: {}", main.display(), String::from_utf8_lossy(&output.stderr)))
    });
    none(wrong, "directories for tofu get");
}

/// Cloud units by a real provider's schema; the hcloud provider is small enough to have, the others are not.
#[test]
fn cloud_units_are_valid_for_the_hcloud_provider() {
    let found = Command::new(env!("CARGO_BIN_EXE_eos")).args(["tools", "path", "terraform-provider-hcloud"]).output().unwrap();
    if !found.status.success() {
        eprintln!("not run: `eos tools install terraform-provider-hcloud` gets the provider");
        return;
    }
    let provider = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    let catalog = Catalog::built_in();
    let sandbox = Sandbox::with_estate();
    let kinds: Vec<&str> = catalog.kinds().filter(|kind| catalog.component(kind).unwrap().cloud.providers.contains_key("hcloud")).collect();
    assert!(kinds.len() >= 2, "{kinds:?}");
    for variant in variants::defaults(&catalog).into_iter().filter(|variant| kinds.contains(&variant.kind.as_str())) {
        let mut words = vec!["create", &variant.kind];
        words.extend(variant.words.iter().map(String::as_str));
        if !sandbox.estate().join("build/production").join(&variant.name).is_dir() {
            sandbox.ok(&words);
        }
    }
    let version = provider.ancestors().nth(2).and_then(Path::file_name).unwrap().to_str().unwrap().to_owned();
    let place = sandbox.path().join(format!("mirror/registry.opentofu.org/hetznercloud/hcloud/{version}/linux_amd64"));
    std::fs::create_dir_all(&place).unwrap();
    std::os::unix::fs::symlink(&provider, place.join(format!("terraform-provider-hcloud_v{version}"))).unwrap();
    let config = sandbox.path().join("home/.tofurc");
    std::fs::write(config, format!("provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n", sandbox.path().join("mirror"))).unwrap();
    let program = tool("tofu");
    for kind in kinds {
        let folder = sandbox.estate().join("build/production").join(kind);
        for args in [["init", "-no-color", "-backend=false", "-input=false"].as_slice(), &["validate", "-no-color"]] {
            let output = tofu(&sandbox, &program, args, &folder);
            assert!(output.status.success(), "{kind}: tofu {args:?}\n{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// D12: one file describes the two resources, for the compiler as for the provider.
fn attributes_are_in_the_schema(units: &[PathBuf]) {
    let schema = eos_model::provider_schema::provider_schema();
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in units {
        let main = read_json(path);
        for (kind, named) in main["resource"].as_object().into_iter().flatten().filter(|(kind, _)| kind.starts_with("eos_")) {
            seen.insert(kind.clone());
            let Some(attributes) = schema["resources"][kind]["attributes"].as_object() else {
                wrong.push(format!("{}: {kind} is in no schema", path.display()));
                continue;
            };
            for (name, resource) in named.as_object().unwrap() {
                let at = format!("{}: {kind}.{name}", path.display());
                wrong.extend(against_schema(attributes, resource.as_object().unwrap()).into_iter().map(|problem| format!("{at}: {problem}")));
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["eos_nomad_job", "eos_salt_state"]);
    none(wrong, "attributes");
}

fn against_schema(attributes: &Map<String, Json>, resource: &Map<String, Json>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, value) in resource.iter().filter(|(name, _)| !matches!(name.as_str(), "depends_on" | "lifecycle")) {
        let Some(attribute) = attributes.get(name) else {
            wrong.push(format!("there is no {name}"));
            continue;
        };
        let fits = match &attribute["type"] {
            Json::String(kind) if kind == "string" => value.is_string(),
            Json::String(kind) if kind == "bool" => value.is_boolean(),
            Json::String(kind) if kind == "number" => value.is_number(),
            Json::Array(_) => value.as_array().is_some_and(|items| items.iter().all(Json::is_string)),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name} is {value}, not {}", attribute["type"]));
        }
        if attribute["computed"] == true && attribute["optional"] != true {
            wrong.push(format!("{name} is for the provider to say"));
        }
    }
    wrong.extend(attributes.iter().filter(|(name, attribute)| attribute["required"] == true && !resource.contains_key(*name)).map(|(name, _)| format!("{name} is missing")));
    wrong
}

/// Both environments of an estate as Salt renders them and as eos reads them.
fn same_pillar(salt: &mut Salt, sandbox: &Sandbox) {
    for environment in ["production", "staging"] {
        let theirs = salt.pillar(&sandbox.estate().join("pillar"), environment);
        let ours = sandbox.json(&["show", "--pillar", "--env", environment])["pillar"].take();
        none(differences(environment, &ours, &theirs), "values of the pillar");
    }
}

#[test]
fn top_file_globs_includes_and_overrides_are_salts() {
    let mut salt = Salt::start(&tool("salt"));
    let sandbox = Sandbox::new();
    sandbox.ok(&["-C", ".", "init", "shop"]);
    // Just made: no hosts, no operations, nothing that the globs could match.
    same_pillar(&mut salt, &sandbox);
    for (path, text) in [
        // common → environment → name; mappings merge, lists and scalars are replaced, nothing replaces too.
        ("common/init.sls", "order: {from: common, common: 1, list: [1, 2], map: {a: 1}, gone: {a: 1}}\n"),
        ("production/init.sls", "order: {from: environment, environment: 2, list: [3]}\ninclude:\n  - infrastructure.shared.two\n  - infrastructure.shared.one\nincluded: {own: 1}\n"),
        ("production/name.sls", "order: {from: name, map: {b: 2}, gone: null, text: 'yes', truth: yes, octal: 0755, minutes: 1:30}\n"),
        ("staging/init.sls", "order: {from: staging, list: []}\n"),
        // Included in the order of the list, below the file that includes; once, even where the glob matches too.
        ("shared/one.sls", "included: {last: one, own: 0}\n"),
        ("shared/two.sls", "include:\n  - infrastructure.shared.three\nincluded: {last: two, from_two: 2, three: 0}\n"),
        ("shared/three.sls", "included: {last: three, three: 3, own: 0}\n"),
        ("production/early.sls", "include: [infrastructure.production.later]\nonce: {early: 1, last: early}\n"),
        ("production/later.sls", "once: {later: 1, last: later}\n"),
        // Matched in the order of names, folders or not.
        ("production/a.sls", "names: {last: a, a: 1}\n"),
        ("production/a-b.sls", "names: {last: a-b, a-b: 1}\n"),
        ("production/a_b.sls", "names: {last: a_b, a_b: 1}\n"),
        ("production/B.sls", "names: {last: B, B: 1}\n"),
        ("production/a/b.sls", "names: {last: a.b, a.b: 1}\n"),
        ("production/a/init.sls", "names: {last: a.init, a.init: 1}\n"),
        ("production/folder/init.sls", "names: {folder: 1}\n"),
        ("production/folder/deep/er.sls", "names: {deep: 1}\n"),
        ("production/sub/one.sls", "include: [infrastructure.production.sub.two]\nwithin: {one: 1, last: one}\n"),
        ("production/sub/two.sls", "include: [infrastructure.production.early]\nwithin: {two: 1, last: two}\nonce: {last: two}\n"),
        // A dot in the name of a file is a folder to Salt: where that is there, it is read. Other endings never are.
        ("production/a.b.sls", "dotted: 1\n"),
        ("production/notes.txt", "notes: 1\n"),
        ("production/empty.sls", ""),
        ("production/comment.sls", "# nothing yet\n"),
        ("production/nothing/keep", ""),
        ("other/name.sls", "other: 1\n"),
    ] {
        sandbox.write(&format!("pillar/infrastructure/{path}"), text);
    }
    sandbox.write("pillar/infrastructure/common.sls", "order: {which: the file before the folder}\n");
    same_pillar(&mut salt, &sandbox);
    // Alone, such a file fails Salt's pillar, and eos says so before.
    sandbox.write("pillar/infrastructure/production/dotted.name.sls", "dotted: 1\n");
    assert!(salt.pillar(&sandbox.estate().join("pillar"), "production")["_errors"].is_array());
    let run = sandbox.run(&["show", "--pillar"]);
    assert!(run.code == 3 && run.stderr.contains("pillar/infrastructure/production/dotted.name.sls"), "{}", run.stderr);
    std::fs::remove_file(sandbox.estate().join("pillar/infrastructure/production/dotted.name.sls")).unwrap();
    // Targets in another order, one for a single minion, one for an environment that has no files.
    let top = sandbox.read("pillar/top.sls");
    let (star, environments) = top.split_once("  'environment:production'").unwrap();
    let star = star.split_once("base:\n").unwrap().1;
    let one = "  'another-minion':\n    - infrastructure.other.name\n  'environment:none':\n    - match: grain\n    - infrastructure.none\n";
    sandbox.write("pillar/top.sls", format!("base:\n{one}  'environment:production'{environments}{star}"));
    same_pillar(&mut salt, &sandbox);
}
