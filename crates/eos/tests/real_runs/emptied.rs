//! What is purged leaves no folder behind that eos made, and every one that somebody else did. And an operation, which
//! makes nothing: its plan says what it does and what becomes of data.

use std::path::Path;
use std::process::Command;

use crate::shop::{Shop, has};

#[test]
fn folders_of_eos_go_and_those_of_others_stay() {
    let shop = Shop::new();
    let of_name = |name: &str| shop.data_folder(name).parent().unwrap().to_owned();
    shop.create_redis("tidy", "first-password");
    shop.ok(&["destroy", "production", "--yes"]);
    let theirs = of_name("tidy").join("by-hand");
    std::fs::create_dir(&theirs).unwrap();
    shop.ok(&["purge", "tidy", "--yes"]);
    assert!(
        !shop.data_folder("tidy").exists() && theirs.is_dir(),
        "an empty folder of somebody else's stays"
    );
    std::fs::remove_dir_all(of_name("tidy")).unwrap();

    shop.create_redis("neat", "first-password");
    shop.ok(&["delete", "neat", "--destroy-data", "neat", "--yes"]);
    let root = of_name("neat").parent().unwrap().parent().unwrap().to_owned();
    let left: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "the data folder is the host's, and empty: {left:?}");
}

/// Two estates on one machine whose names have the same folders: the second does not begin with the first's data.
#[test]
fn files_of_another_estate_are_left_alone() {
    let shop = Shop::new();
    let (words, port) = shop.redis("theirs", &["--yes"]);
    let create: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let folder = shop.data_folder("theirs");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("dump.rdb"), "of somebody else").unwrap();
    let head = shop.sandbox.git(&["rev-parse", "HEAD"]);
    has(&shop.exits(4, &create).stderr, "has files already, and theirs of this");
    assert_eq!(shop.sandbox.git(&["rev-parse", "HEAD"]), head, "nothing was recorded");
    assert_eq!(std::fs::read(folder.join("dump.rdb")).unwrap(), b"of somebody else");
    std::fs::remove_dir_all(&folder).unwrap();
    shop.ok(&create);
    // What is its own, it finds again.
    shop.ok(&["delete", "theirs", "--yes"]);
    shop.nothing_is_left_of("production-theirs", port);
    shop.ok(&create);
    shop.ok(&["destroy", "production", "--yes", "--destroy-data", "theirs"]);
    nothing_is_remembered_of(&shop, "theirs");
}

/// Neither where data is nor what opens it.
fn nothing_is_remembered_of(shop: &Shop, name: &str) {
    let remembered = format!("pillar/infrastructure/production/{name}.sls");
    assert!(!shop.sandbox.estate().join(remembered).exists(), "{name} is in the pillar");
    let secrets = shop.ok(&["secret", "list"]).stdout;
    assert!(!secrets.contains(name), "{secrets}");
}

#[test]
fn what_never_was_is_not_remembered_by_a_destroy() {
    let shop = Shop::new();
    let (words, _) = shop.redis("dream", &["--no-apply"]);
    let create: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    shop.ok(&create);
    has(&shop.ok(&["secret", "list"]).stdout, "dream");
    shop.ok(&["destroy", "production", "--yes"]);
    nothing_is_remembered_of(&shop, "dream");
}

/// A revert cannot bring back what was in it, and does not pretend to.
#[test]
fn data_that_somebody_removed_is_called_gone() {
    let shop = Shop::new();
    shop.create_redis("robbed", "first-password");
    std::fs::remove_dir_all(shop.data_folder("robbed")).unwrap();
    let told = |text: &str| {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        has(&flat, "robbed/data is gone, and the data in it");
        has(&flat, "eos drift revert makes an empty folder");
    };
    told(&shop.exits(2, &["drift"]).stderr);
    told(&shop.ok(&["drift", "revert", "--yes"]).stderr);
    assert!(shop.data_folder("robbed").exists());
    has(&shop.ok(&["drift"]).stdout, "Nothing in production differs");
    shop.ok(&["destroy", "production", "--yes", "--destroy-data", "robbed"]);
}

/// A folder that several hosts see, as far as eos knows.
const SHARE: &str = r#"#!yaml
format: 1
kind: share
summary: A folder that several hosts see
proof: validates
settings:
  path: {type: string, default: FOLDER, fixed: true, help: Where}
states:
  there:
    file.exists:
      - name: "@{setting.path}"
offers:
  shared-filesystem:
    help: A folder that several hosts see
    outputs: {path: "@{setting.path}"}
outputs:
  path: "@{setting.path}"
"#;

const FILEBOX: &str = r#"#!yaml
format: 1
kind: filebox
summary: Files on a share
proof: validates
needs:
  filesystem: {offer: shared-filesystem, create: share, help: files}
storage:
  data: {class: shared, shared_by: filesystem, size: 1G, help: Files}
"#;

/// Mounted until it is dropped.
struct Mount<'f>(&'f Path);

impl<'f> Mount<'f> {
    fn of(what: &Path, at: &'f Path) -> Mount<'f> {
        let mounted = Command::new("mount").arg("--bind").args([what, at]).status().unwrap();
        assert!(mounted.success(), "mount --bind");
        Mount(at)
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn what_is_on_a_share_that_is_not_mounted_is_not_called_destroyed() {
    let shop = Shop::new();
    let (disk, share) = (shop.sandbox.path().join("disk"), shop.sandbox.path().join("share"));
    [&disk, &share].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    shop.sandbox.write("catalog/share/component.yaml", SHARE.replace("FOLDER", share.to_str().unwrap()));
    shop.sandbox.write("catalog/filebox/component.yaml", FILEBOX);
    shop.sandbox.commit_by_hand();
    let mount = Mount::of(&disk, &share);
    shop.ok(&["create", "filebox", "--yes"]);
    let file = disk.join("production/filebox/data/letter");
    std::fs::write(&file, "dear").unwrap();
    drop(mount);
    let refused = shop.exits(1, &["delete", "filebox", "--destroy-data", "filebox", "--yes"]);
    let flat = format!("{} {}", refused.stdout, refused.stderr);
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, "is not mounted on this host: filebox is to lose its files there");
    assert!(file.exists(), "nobody could reach it");
    let _mount = Mount::of(&disk, &share);
    shop.ok(&["resume", "--yes"]);
    assert!(!file.exists(), "now it is gone");
}

#[test]
fn the_plan_of_an_operation_says_what_it_does() {
    const TREE: &str = r#"#!yaml
format: 1
kind: tree
summary: Tree that can be shaken
proof: validates
operations:
  shake:
    help: Shakes it
    example: eos shake tree oak
    data: {fate: at_risk, because: "nests in @{arg.name} may fall"}
    args:
      name: {type: string, required: true, positional: true, help: Which, example: oak}
      hard: {type: bool, default: false, help: With both hands}
      log: {type: string, default: "", help: Where it is written down, example: /tmp/log}
    states:
      shaken:
        file.managed:
          - name: "@{arg.log}"
          - contents: "@{arg.name}"
"#;
    let shop = Shop::new();
    shop.sandbox.write("catalog/tree/component.yaml", TREE);
    shop.sandbox.commit_by_hand();
    let log = shop.sandbox.path().join("log");
    shop.ok(&["shake", "tree", "oak", "--hard", "--log", log.to_str().unwrap(), "--no-apply"]);
    let plan = shop.exits(2, &["plan"]).stdout;
    has(&plan, "Plan for production: 1 operation to do once");
    has(&plan, "+ do once  operations  shake tree");
    has(&plan, "DATA AT RISK");
    let flat = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, "Data at risk: shake tree oak --hard --log");
    has(&flat, "(nests in oak may fall)");
    assert!(!plan.contains("No data is at risk"), "{plan}");
    has(&shop.exits(2, &["plan", "--markdown"]).stdout, "| + do once | operations | shake tree |");
    shop.ok(&["apply", "--yes"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap().trim(), "oak");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
}
