//! The compiler's output on the real tools: Nomad, Salt and OpenTofu judge it, not eos.
#![allow(clippy::unwrap_used)]

mod support;

#[path = "real_tools/by_hand.rs"]
mod by_hand;
#[path = "real_tools/edge.rs"]
mod edge;
#[path = "real_tools/jobs.rs"]
mod jobs;
#[path = "real_tools/modules.rs"]
mod modules;
#[path = "real_tools/package.rs"]
mod package;
#[path = "real_tools/pillar.rs"]
mod pillar;
#[path = "real_tools/running.rs"]
mod running;
#[path = "real_tools/salt.rs"]
mod salt;
#[path = "real_tools/variants.rs"]
mod variants;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use eos_catalog::Catalog;
use serde_json::Value as Json;
use support::Sandbox;

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
    sandbox
        .files("build")
        .into_iter()
        .filter(|path| path.ends_with(ending))
        .map(|path| sandbox.estate().join(path))
        .collect()
}

fn read_json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_component_and_feature_is_accepted() {
    let clock = std::time::Instant::now();
    let sandbox = whole_catalogue();
    let units = built(&sandbox, "main.tf.json");
    assert!(units.len() > 2 * Catalog::built_in().kinds().count(), "{} units", units.len());
    let told = |what: &str| eprintln!("{:>6.1} s  {what}", clock.elapsed().as_secs_f32());
    told(&format!("{} units compiled", units.len()));
    modules::attributes_are_in_the_schema(&units);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pillar::salt_reads_what_eos_reads(&sandbox);
            told("pillar and states by Salt");
        });
        scope.spawn(|| {
            jobs::nomad_accepts_and_keeps_every_field(&sandbox);
            told("jobs by Nomad");
            modules::tofu_gets(&sandbox, &units);
            told("modules by tofu");
        });
    });
}
