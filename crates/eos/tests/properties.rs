//! Compiling is a function of catalogue and pillar, and an unrelated component moves nothing.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use eos_catalog::{Catalog, Setting};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Map, Value as Json, json};
use support::{Run, Sandbox};

type Build = BTreeMap<String, Vec<u8>>;

fn build(sandbox: &Sandbox) -> Build {
    sandbox
        .files("build")
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(sandbox.estate().join(&path)).unwrap()))
        .collect()
}

/// The paths whose bytes differ, with those that only one side has.
fn differing(left: &Build, right: &Build) -> Vec<String> {
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    paths.into_iter().filter(|path| left.get(*path) != right.get(*path)).cloned().collect()
}

/// Something of everything: needs, routes, secrets, cloud, host states, an operation, two environments.
fn shop() -> Sandbox {
    let sandbox = Sandbox::with_estate();
    for line in [
        "create prometheus",
        "create grafana",
        "create nextcloud --sso --distributed-storage",
        "create postgres crm --size 20G",
        "create user john.doe",
        "create load_balancer",
        "create backups",
        "convert filesystem /data btrfs --compression zstd",
        "create host test1 --env staging --address 10.0.0.9",
        "create redis --env staging",
    ] {
        sandbox.ok(&line.split(' ').collect::<Vec<_>>());
    }
    sandbox
}

#[test]
fn a_clone_elsewhere_compiles_to_the_same_bytes() {
    let here = shop();
    let expected = build(&here);
    assert!(expected.len() > 50, "{} files", expected.len());
    let worlds: [&[(&str, &str)]; 3] = [
        &[("LC_ALL", "C.UTF-8"), ("TZ", "UTC")],
        &[
            ("LC_ALL", "tr_TR.UTF-8"),
            ("LANG", "tr_TR.UTF-8"),
            ("TZ", "Pacific/Kiritimati"),
            ("USER", "ışık"),
            ("HOSTNAME", "elsewhere"),
        ],
        &[("LC_ALL", "C"), ("TZ", "America/St_Johns"), ("USER", "root"), ("EOS_TIME", "1")],
    ];
    for world in worlds {
        let there = Sandbox::new();
        let cloned = Command::new("git")
            .arg("clone")
            .arg("-q")
            .arg(here.estate())
            .arg(there.estate())
            .output()
            .unwrap();
        assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
        assert!(!there.estate().join("build").exists(), "build/ is not committed");
        let mut command = there.command(&["compile"]);
        let run = Run::from(command.envs(world.iter().copied()).output().unwrap());
        assert_eq!(run.code, 0, "{world:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(differing(&expected, &build(&there)), Vec::<String>::new(), "in {world:?}");
    }
}

/// Each file's inode and time of change: a rewrite shows even when the bytes are the same.
fn marks(sandbox: &Sandbox) -> BTreeMap<String, (u64, i64, i64)> {
    let mark = |path: &String| {
        let meta = std::fs::metadata(sandbox.estate().join(path)).unwrap();
        (meta.ino(), meta.mtime(), meta.mtime_nsec())
    };
    sandbox.files("build").into_iter().map(|path| (path.clone(), mark(&path))).collect()
}

#[test]
fn compiling_again_writes_nothing_and_mends_only_what_was_touched() {
    let sandbox = shop();
    let before = marks(&sandbox);
    sandbox.ok(&["compile"]);
    assert_eq!(before, marks(&sandbox), "the second time writes nothing");
    sandbox.ok(&["compile", "--check"]);

    let touched = "build/production/grafana/main.tf.json";
    let right = sandbox.read(touched);
    // Of the same length, so that a size alone does not tell.
    sandbox.write(touched, right.replace("healthy", "HEALTHY"));
    sandbox.write("build/production/grafana/stray.json", "{}");
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 2);
    sandbox.ok(&["compile"]);
    assert_eq!(sandbox.read(touched), right);
    let after = marks(&sandbox);
    let rewritten: Vec<&String> =
        after.iter().filter(|(path, mark)| before.get(*path) != Some(mark)).map(|(path, _)| path).collect();
    assert_eq!(rewritten, [touched]);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
}

/// Of the kinds there are: any new one is among them.
struct Kinds {
    catalog: Catalog,
    /// What `eos create <kind>` makes without further words.
    plain: Vec<String>,
}

impl Kinds {
    fn new() -> Kinds {
        let catalog = Catalog::built_in();
        let is_plain = |kind: &&str| {
            let found = catalog.component(kind).unwrap();
            let is_given = |setting: &Setting| setting.required || setting.generate == Some(0);
            let has_version = found.runtimes.container.as_ref().is_none_or(|image| image.version.is_some());
            !found.only_acts() && has_version && !found.settings.values().any(is_given)
        };
        let plain: Vec<String> = catalog.kinds().filter(is_plain).map(str::to_owned).collect();
        assert!(plain.len() > 30, "{plain:?}");
        Kinds { catalog, plain }
    }

    /// With a sign-on behind the proxy.
    fn sso(&self, kind: &str) -> bool {
        self.catalog.component(kind).unwrap().features.contains_key("sso")
    }

    /// With a list of those that need it in its own files.
    fn collects(&self, kind: &str) -> bool {
        let Ok(component) = self.catalog.component(kind) else { return false };
        let all = component.features.keys().cloned().collect();
        let widest = self.catalog.variant(kind, None, &all).unwrap();
        widest.offers.values().any(|offer| offer.collect.is_some())
    }
}

/// The unit of a build's file, `orchestrate.sls` aside: the order of units does change.
fn unit(path: &str) -> Option<&str> {
    path.strip_prefix("build/production/")?.split_once('/').map(|(unit, _)| unit)
}

/// Who a unit needs, itself and whatever those need included.
fn reached(sandbox: &Sandbox, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from.to_owned()];
    while let Some(name) = waiting.pop() {
        let manifest: Json =
            serde_json::from_str(&sandbox.read(&format!("build/production/{name}/manifest.json"))).unwrap();
        if seen.insert(name) {
            waiting.extend(
                manifest["needs"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Json::as_str)
                    .map(str::to_owned),
            );
        }
    }
    seen
}

/// Rejects an estate without anything to compare: what cannot be created (two offers for one need) proves nothing.
fn unrelated_units_stay(
    kinds: &Kinds,
    base: &[(usize, bool)],
    added: usize,
    sso: bool,
) -> Result<(), TestCaseError> {
    let sandbox = Sandbox::with_estate();
    let words = |kind: &str, name: String, sso: bool| {
        let mut words = vec!["create".to_owned(), kind.to_owned(), name];
        words.extend((sso && kinds.sso(kind)).then(|| "--sso".to_owned()));
        words
    };
    for (at, (kind, sso)) in base.iter().enumerate() {
        let kind = &kinds.plain[*kind];
        let words = words(kind, format!("a{at}-{}", kind.replace('_', "-")), *sso);
        sandbox.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let before = build(&sandbox);
    let pillar: Build = sandbox
        .files("pillar")
        .into_iter()
        .map(|path| (path.clone(), sandbox.read(&path).into_bytes()))
        .collect();
    let words = words(&kinds.plain[added], "new".to_owned(), sso);
    if sandbox.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).code != 0 {
        return Err(TestCaseError::reject("it cannot be created"));
    }
    for (path, bytes) in &pillar {
        prop_assert_eq!(bytes, &sandbox.read(path).into_bytes(), "{} was rewritten by {:?}", path, words);
    }
    let related = reached(&sandbox, "new");
    let after = build(&sandbox);
    for path in differing(&before, &after).iter().filter(|path| before.contains_key(*path)) {
        let Some(unit) = unit(path) else { continue };
        let manifest: Json =
            serde_json::from_str(&sandbox.read(&format!("build/production/{unit}/manifest.json"))).unwrap();
        let kind = manifest["kind"].as_str().unwrap_or_default();
        // Whoever collects lists those that need it, as a proxy does; backups come after everything. Nobody else may know.
        let may = kind == "backups" || (kinds.collects(kind) && related.contains(unit));
        prop_assert!(
            may,
            "{} changed with {:?} after {:?}",
            path,
            words,
            base.iter().map(|(kind, sso)| (&kinds.plain[*kind], sso)).collect::<Vec<_>>()
        );
    }
    if before.is_empty() { Err(TestCaseError::reject("nothing is there")) } else { Ok(()) }
}

/// A pillar written by hand that uses every map there is.
fn by_hand() -> Json {
    json!({"eos": {"components": {
        "crm": {
            "kind": "postgres", "host": "local", "runtime": "container", "version": "16.4", "cpu": 700, "memory": 900,
            "settings": {"port": 5440, "max_connections": 50, "superuser_password": "secret://production/crm/superuser_password?v=3"},
            "volumes": {"data": {"backing": "directory", "path": "/srv/crm", "size": "20G"}},
        },
        "sessions": {
            "kind": "redis", "host": "local", "runtime": "container", "version": "7.4.0",
            "settings": {"port": 6400, "password": "secret://production/sessions/password?v=1"},
            "volumes": {"data": {"backing": "directory", "path": "/srv/sessions", "size": "5G"}},
        },
        "cloud": {
            "kind": "nextcloud", "host": "local", "runtime": "container", "version": "29.0.6-apache", "tier": "staging",
            "settings": {"port": 8090, "hostname": "files.example.org", "admin_password": "secret://production/cloud/admin_password?v=1"},
            "needs": {"database": "crm", "cache": "sessions"},
            "volumes": {"data": {"backing": "directory", "path": "/srv/cloud", "size": "80G"}},
            "secrets": {"database_password": "secret://production/cloud/database_password?v=2"},
        },
    }}})
}

/// The same data with the keys of every map in another order.
fn shuffled(data: &Json, order: &mut impl FnMut() -> u32) -> Json {
    match data {
        Json::Object(entries) => {
            let mut keyed: Vec<(u32, (String, Json))> =
                entries.iter().map(|(key, value)| (order(), (key.clone(), shuffled(value, order)))).collect();
            keyed.sort_by_key(|(at, _)| *at);
            Json::Object(keyed.into_iter().map(|(_, entry)| entry).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// What a build says, without the places in the pillar that provenance names.
fn without_places(build: Build) -> Build {
    build.into_iter().filter(|(path, _)| !path.ends_with("/provenance.json")).collect()
}

fn order_means_nothing(
    expected: &Build,
    sandbox: &Sandbox,
    seed: u32,
    block: bool,
) -> Result<(), TestCaseError> {
    let mut state = seed;
    let mut order = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let data = shuffled(&by_hand(), &mut order);
    let text = if block { eos_yaml::write(&data) } else { data.to_string() };
    sandbox.write("pillar/infrastructure/production/init.sls", format!("#!yaml\n{text}"));
    let run = sandbox.run(&["compile"]);
    prop_assert_eq!(run.code, 0, "{}{}\n{}", run.stdout, run.stderr, text);
    prop_assert_eq!(differing(expected, &without_places(build(sandbox))), Vec::<String>::new(), "{}", text);
    Ok(())
}

#[test]
fn the_order_of_keys_means_nothing() {
    let sandbox = Sandbox::with_estate();
    sandbox.write(
        "pillar/infrastructure/production/init.sls",
        format!("#!yaml\n{}", eos_yaml::write(&by_hand())),
    );
    sandbox.commit_by_hand();
    sandbox.ok(&["compile"]);
    let expected = without_places(build(&sandbox));
    assert!(expected.contains_key("build/production/cloud/main.tf.json"));
    proptest!(Config { cases: 24, failure_persistence: None, ..Config::default() }, |(seed: u32, block: bool)| {
        order_means_nothing(&expected, &sandbox, seed, block)?;
    });
}

/// The same estates each time; one that takes no other component is none of them.
#[test]
fn an_unrelated_component_moves_nothing() {
    let kinds = Kinds::new();
    let config = Config { cases: 8, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let kind = || 0..kinds.plain.len();
    let estates = (proptest::collection::vec((kind(), any::<bool>()), 2..6), kind(), any::<bool>());
    let tried = runner.run(&estates, |(base, added, sso)| unrelated_units_stay(&kinds, &base, added, sso));
    tried.unwrap_or_else(|found| panic!("{found}"));
}
