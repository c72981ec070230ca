//! An operation that fails: what its script said, and what taking it back can still say of it.

use crate::shop::{Shop, has};

const TREE: &str = r#"#!yaml
format: 1
kind: tree
summary: Tree that can be felled
proof: validates
operations:
  fell:
    help: Fells it
    example: eos fell tree oak
    data: {fate: untouched}
    args:
      name: {type: string, required: true, positional: true, help: Which, example: oak}
    states:
      felled:
        cmd.run:
          - env: [{TREE: "@{arg.name}"}]
          - name: |
              # Only what stands can be felled.
              set -eu
              echo "There is no tree $TREE here." >&2
              exit 3
"#;

#[test]
fn a_failed_operation_is_told_by_its_last_words() {
    let shop = Shop::new();
    shop.sandbox.write("catalog/tree/component.yaml", TREE);
    shop.sandbox.commit_by_hand();
    let failed = shop.exits(1, &["fell", "tree", "oak", "--yes"]);
    let status = shop.ok(&["status"]);
    for said in [&failed.stdout, &failed.stderr, &status.stdout] {
        assert!(!said.contains("# Only what stands"), "the script is no reason: {said}");
    }
    // The reason stands in the table, too.
    let reason = "cmd.run felled failed on local: There is no tree oak here.";
    has(&failed.stdout.split_whitespace().collect::<Vec<_>>().join(" "), reason);
    has(&failed.stderr, reason);
    has(&failed.stderr, "it ended with 3");
    has(&status.stdout, reason);

    let undone = shop.ok(&["undo", "--yes"]);
    let flat = [undone.stderr, undone.stdout].concat();
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!flat.contains("carried out"), "{flat}");
    let unknown = "an operation that did not come to its end: what it did until then, if anything, stays";
    assert_eq!(flat.matches(unknown).count(), 2, "before it is taken back and after: {flat}");
}
