//! An operation is done once, though eos, tofu and the provider are killed in the middle of it.

use std::path::PathBuf;

use crate::processes;
use crate::shop::{Shop, has};

const TREE: &str = r#"#!yaml
format: 1
kind: tree
summary: Tree that can be shaken
proof: validates
operations:
  shake:
    help: Shakes it
    example: eos shake tree oak
    data: {fate: untouched}
    args:
      name: {type: string, required: true, positional: true, help: Which, example: oak}
    states:
      shaken:
        cmd.run:
          - name: "touch FOLDER/begun; while ! test -e FOLDER/go-on; do sleep 0.1; done; echo shaken >> FOLDER/log"
"#;

/// An estate whose trees can be shaken, and the folder of the log.
fn orchard() -> (Shop, PathBuf) {
    let shop = Shop::new();
    let folder = shop.sandbox.path().to_owned();
    shop.sandbox.write("catalog/tree/component.yaml", TREE.replace("FOLDER", folder.to_str().unwrap()));
    shop.sandbox.commit_by_hand();
    (shop, folder)
}

/// Its record is taken away and comes back: that is no reason to do it a second time.
#[test]
fn an_operation_that_comes_back_is_not_done_again() {
    let (shop, folder) = orchard();
    std::fs::write(folder.join("go-on"), "").unwrap();
    shop.ok(&["shake", "tree", "oak", "--yes"]);
    let done = || std::fs::read_to_string(folder.join("log")).unwrap().lines().count();
    shop.ok(&["destroy", "production", "--yes"]);
    let back = shop.ok(&["undo", "--yes"]).stdout;
    let flat = back.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, "-shake-tree is asked for again; where it was done it is not done a second time");
    assert!(!flat.contains("To ask once more"), "nothing went out of the pillar: {flat}");
    assert_eq!(done(), 1, "an undo of its end");
    let listed = shop.ok(&["list", "operations"]).stdout;
    let id = listed.split_whitespace().find(|word| word.ends_with("-shake-tree")).unwrap();
    shop.ok(&["delete", id, "--yes"]);
    shop.ok(&["rollback", "HEAD~1", "--yes"]);
    assert_eq!(done(), 1, "a rollback");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    shop.ok(&["shake", "tree", "oak", "--yes"]);
    assert_eq!(done(), 2, "said again it is done again");
}

#[test]
fn a_killed_operation_is_not_done_again_by_itself() {
    let (shop, folder) = orchard();
    let mut run = shop.begin(&["shake", "tree", "oak", "--yes"]);
    shop.nomad.until("it is shaken", || folder.join("begun").exists());
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    // The provider first: it would note the end of the states while it has not seen yet that its tofu is gone.
    let provider = processes::provider(&shop.sandbox.estate()).expect("the provider waits for Salt");
    let tofu = processes::applying(&shop.sandbox.estate()).expect("tofu goes on alone");
    provider.kill();
    tofu.kill();
    std::fs::write(folder.join("go-on"), "").unwrap();
    let stuck = shop.exits(5, &["resume", "--yes"]).stderr;
    let flat = stuck.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, "nobody knows whether it was finished");
    has(&shop.ok(&["status"]).stdout, "stuck");
    let log = || std::fs::read_to_string(folder.join("log")).unwrap();
    assert_eq!(log(), "shaken\n");
    // A person looked: it was done.
    let mark = flat.split(' ').find(|word| word.ends_with(".done")).unwrap();
    std::fs::write(mark, "").unwrap();
    shop.ok(&["resume", "--looked-after", "--yes"]);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    assert_eq!(log(), "shaken\n", "done once");
}
