//! Reading the tree: the same values whether from disk or from bytes, and never from outside of the estate.
#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{EnvName, codes};
use eos_pillar::top::{TOP_FILE, top_file};
use eos_pillar::{Estate, Tree};
use support::{FILE, Place, change};

fn production() -> EnvName {
    "production".parse().unwrap()
}

const COMMON: &str = "pillar/infrastructure/common/init.sls";

#[test]
fn the_tree_on_disk_is_the_tree_that_is_merged() {
    let place = Place::with_estate();
    place.commit(
        "shape",
        &[
            (COMMON, Some("shared: {a: 1, b: 1}\nwho: common\n")),
            ("pillar/infrastructure/production/init.sls", Some("shared: {b: 2, c: 2}\nwho: production\n")),
            ("pillar/infrastructure/staging/init.sls", Some("who: staging\n")),
            (FILE, Some("shared: {c: 3}\n")),
            ("pillar/hosts/web.sls", Some("seen: web\n")),
            ("pillar/elsewhere/x.sls", Some("never: 1\n")),
        ],
    );
    let estate = Estate::open(&place.root).unwrap();
    let tree = estate.tree().unwrap();
    let environment = tree.environment(&production()).unwrap();
    let merged = environment.pillar.to_json();
    assert_eq!(
        merged,
        serde_json::json!({"shared": {"a": 1, "b": 2, "c": 3}, "who": "production", "seen": "web"})
    );
    // What git has gives the same tree as what the disk has.
    let names = place.git(&["ls-tree", "-r", "--name-only", "HEAD", "pillar"]);
    let recorded = names.lines().map(|path| {
        (
            Utf8PathBuf::from(path),
            estate.git.blob(estate.git.head().unwrap(), Utf8Path::new(path)).unwrap().unwrap().1,
        )
    });
    assert_eq!(Tree::from_files(recorded), tree);
    let staging = tree.environment(&"staging".parse().unwrap()).unwrap().pillar.to_json();
    assert_eq!(staging["who"], "staging");
}

#[test]
fn a_changed_tree_is_what_reading_it_after_the_commit_gives() {
    let place = Place::with_estate();
    let files = [
        (FILE, None),
        ("pillar/infrastructure/production/nats.sls", Some("n: 1\n")),
        ("secrets/a.age", Some("not pillar")),
    ];
    let before = Estate::open(&place.root).unwrap().tree().unwrap();
    place.commit("change", &files);
    let after = Estate::open(&place.root).unwrap().tree().unwrap();
    assert_eq!(before.with(&change(&files)), after);
    assert_ne!(before, after);
}

#[test]
fn a_link_out_of_the_estate_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.sls"), "stolen: 1\n").unwrap();
    for (link, target) in [
        ("pillar/hosts", outside.path().to_owned()),
        ("pillar/infrastructure/production/x.sls", outside.path().join("x.sls")),
    ] {
        let place = Place::with_estate();
        symlink(&target, place.root.join(link)).unwrap();
        let refused = Tree::read(&place.root).err().unwrap();
        assert_eq!(support::codes(&refused), [codes::LEAVES_ESTATE], "{link}");
        assert_eq!(refused.0[0].place.as_ref().unwrap().file, link);
    }
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let place = Place::with_estate();
    symlink("redis.sls", place.root.join("pillar/infrastructure/production/second.sls")).unwrap();
    let tree = Tree::read(&place.root).unwrap();
    assert_eq!(
        tree.get(Utf8Path::new("pillar/infrastructure/production/second.sls")),
        Some(&b"old: 1\n"[..])
    );
}

#[test]
fn nothing_is_written_through_a_link_out_of_the_estate() {
    let outside = tempfile::tempdir().unwrap();
    let place = Place::with_estate();
    symlink(outside.path(), place.root.join("secrets")).unwrap();
    // Hidden from git, or the tree would be refused as dirty.
    place.write(".git/info/exclude", "secrets\n");
    let mut estate = Estate::open_for_change(&place.root).unwrap();
    let refused = estate
        .commit(&change(&[("secrets/production/a.age", Some("x"))]), &support::trailers("set a secret"))
        .unwrap_err();
    assert_eq!(support::codes(&refused), [codes::LEAVES_ESTATE]);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_link_in_a_circle_is_an_error_and_not_a_hang() {
    let place = Place::with_estate();
    symlink("..", place.root.join("pillar/infrastructure/production/round")).unwrap();
    assert_eq!(support::codes(&Tree::read(&place.root).err().unwrap()), [codes::CANNOT_READ]);
}

/// Salt lays an empty value over a mapping as any other: what is below it is gone.
#[test]
fn what_other_files_say_is_not_emptied() {
    let others = [
        (COMMON, "eos: {hosts: {web: {environment: production, address: a, connection: minion}}}\n"),
        (FILE, "eos: {components: {redis: {kind: redis, settings: {port: 7000}, needs: {x: {a: b}}}}}\n"),
        ("pillar/infrastructure/production/zzz.sls", "eos: {components: {late: {kind: redis}}}\n"),
    ];
    let top = (TOP_FILE.into(), top_file([&production()]).into_bytes());
    let told = |text: &str| {
        let mut files = Vec::from(others);
        files.push(("pillar/infrastructure/production/zz.sls", text));
        let files = files.into_iter().map(|(path, text)| (path.into(), text.into()));
        Tree::from_files(files.chain([top.clone()])).environment(&production()).map_err(|found| found.0)
    };
    for (text, line) in [
        ("eos:\n", "eos:"),
        ("eos:\n  components:\n", "  components:"),
        ("eos:\n  hosts:\n", "  hosts:"),
        ("eos:\n  components: []\n", "  components: []"),
        ("eos: {components: {redis: }}\n", "eos: {components: {redis: }}"),
        ("eos: {components: {redis: {settings: }}}\n", "eos: {components: {redis: {settings: }}}"),
    ] {
        let found = told(text).unwrap_err();
        assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), [codes::WRONG_SHAPE], "{text}");
        assert_eq!(found[0].place.as_ref().unwrap().text, line, "{text}");
    }
    for text in [
        "shared:\n",
        "eos: {components: {}, kept: , operations: }\n",
        "eos: {components: {redis: {volumes: }}}\n",
        "eos: {components: {redis: {needs: {x: other}}}}\n",
    ] {
        let environment = told(text).unwrap();
        assert_eq!(environment.components.len(), 2, "{text}");
        assert_eq!(environment.hosts.len(), 1, "{text}");
    }
}
