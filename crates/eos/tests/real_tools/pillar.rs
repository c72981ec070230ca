//! What Salt makes of an estate: its pillar value by value, and every state eos wrote.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use serde_json::Value as Json;

use crate::salt::Salt;
use crate::support::{Sandbox, tool};
use crate::{built, none};

pub fn salt_reads_what_eos_reads(sandbox: &Sandbox) {
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
    let wrong = files
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer["wrong"].as_array().is_none_or(|wrong| !wrong.is_empty()));
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
    let output = Command::new(tool("salt"))
        .args(["--local", "--out=json", "--retcode-passthrough", "--config-dir"])
        .arg(&config)
        .arg("pillar.items")
        .output()
        .unwrap();
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
            keys.into_iter()
                .flat_map(|key| match (a.get(key), b.get(key)) {
                    (Some(ours), Some(theirs)) => differences(&format!("{path}:{key}"), ours, theirs),
                    (Some(ours), None) => {
                        vec![format!("{path}:{key}: eos reads {ours}, Salt has no such key")]
                    }
                    (None, theirs) => {
                        vec![format!("{path}:{key}: eos has no such key, Salt reads {theirs:?}")]
                    }
                })
                .collect()
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .flat_map(|(at, (a, b))| differences(&format!("{path}:{at}"), a, b))
            .collect(),
        _ if ours == theirs => Vec::new(),
        _ => vec![format!("{path}: eos reads {ours}, Salt {theirs}")],
    }
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
        (
            "production/init.sls",
            "order: {from: environment, environment: 2, list: [3]}\ninclude:\n  - infrastructure.shared.two\n  - infrastructure.shared.one\nincluded: {own: 1}\n",
        ),
        (
            "production/name.sls",
            "order: {from: name, map: {b: 2}, gone: null, text: 'yes', truth: yes, octal: 0755, minutes: 1:30}\n",
        ),
        ("staging/init.sls", "order: {from: staging, list: []}\n"),
        // Included in the order of the list, below the file that includes; once, even where the glob matches too.
        ("shared/one.sls", "included: {last: one, own: 0}\n"),
        (
            "shared/two.sls",
            "include:\n  - infrastructure.shared.three\nincluded: {last: two, from_two: 2, three: 0}\n",
        ),
        ("shared/three.sls", "included: {last: three, three: 3, own: 0}\n"),
        (
            "production/early.sls",
            "include: [infrastructure.production.later]\nonce: {early: 1, last: early}\n",
        ),
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
        (
            "production/sub/one.sls",
            "include: [infrastructure.production.sub.two]\nwithin: {one: 1, last: one}\n",
        ),
        (
            "production/sub/two.sls",
            "include: [infrastructure.production.early]\nwithin: {two: 1, last: two}\nonce: {last: two}\n",
        ),
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
    assert!(
        run.code == 3 && run.stderr.contains("pillar/infrastructure/production/dotted.name.sls"),
        "{}",
        run.stderr
    );
    std::fs::remove_file(sandbox.estate().join("pillar/infrastructure/production/dotted.name.sls")).unwrap();
    // Targets in another order, one for a single minion, one for an environment that has no files.
    let top = sandbox.read("pillar/top.sls");
    let (star, environments) = top.split_once("  'environment:production'").unwrap();
    let star = star.split_once("base:\n").unwrap().1;
    let one = "  'another-minion':\n    - infrastructure.other.name\n  'environment:none':\n    - match: grain\n    - infrastructure.none\n";
    sandbox.write("pillar/top.sls", format!("base:\n{one}  'environment:production'{environments}{star}"));
    same_pillar(&mut salt, &sandbox);
}
