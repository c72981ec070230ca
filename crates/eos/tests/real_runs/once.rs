//! An operation is done once, though eos, tofu and the provider are killed in the middle of it.

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

#[test]
fn a_killed_operation_is_not_done_again_by_itself() {
    let shop = Shop::new();
    let folder = shop.sandbox.path().to_owned();
    shop.sandbox.write("catalog/tree/component.yaml", TREE.replace("FOLDER", folder.to_str().unwrap()));
    shop.sandbox.commit_by_hand();
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
