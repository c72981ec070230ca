//! Disks that take nothing: read-only ones, somebody else's, full ones.
//!
//! Mounts are made in a namespace of the command's own (`unshare -m`), so they vanish with it.

use std::path::Path;
use std::process::Command;

use crate::case::{check, refused_commands};
use crate::support::{Run, Sandbox};

/// A shell script in a mount namespace of its own, run as root of it.
fn unshared(sandbox: &Sandbox, script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.arg(if is_root() { "-m" } else { "-rm" }).args([
        "--propagation",
        "private",
        "sh",
        "-euc",
        script,
    ]);
    command
        .current_dir(sandbox.path())
        .env("HOME", sandbox.path().join("home"))
        .env("USER", "kim")
        .env("EOS_TIME", "1790000000")
        .env("EOS_APPLY", "no");
    command
        .env("EOS", env!("CARGO_BIN_EXE_eos"))
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .stdin(std::process::Stdio::null());
    command
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

#[test]
fn a_read_only_file_system() {
    let sandbox = Sandbox::with_estate();
    let script = |args: &str| {
        format!("mount --bind shop shop; mount -o remount,ro,bind shop; cd shop; exec \"$EOS\" {args}")
    };
    let both = |args: &str| {
        (unshared(&sandbox, &script(args)), unshared(&sandbox, &script(&format!("{args} --json"))))
    };
    let (plain, json) = both("create grafana");
    refused_commands(&sandbox, "a_read_only_file_system", 1, plain, json);
    // Looking at it works.
    let run = Run::from(unshared(&sandbox, &script("list hosts")).output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("local"), "{}", run.stdout);
}

#[test]
fn a_read_only_build_folder() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let file = sandbox.files("build").into_iter().find(|path| path.ends_with("main.tf.json")).unwrap();
    std::fs::remove_file(sandbox.estate().join(file)).unwrap();
    let script = |args: &str| {
        format!(
            "mount --bind shop/build shop/build; mount -o remount,ro,bind shop/build; cd shop; exec \"$EOS\" {args}"
        )
    };
    refused_commands(
        &sandbox,
        "a_read_only_build_folder",
        1,
        unshared(&sandbox, &script("compile")),
        unshared(&sandbox, &script("compile --json")),
    );
    sandbox.ok(&["compile"]);
}

#[test]
fn an_estate_of_somebody_else() {
    if !is_root() {
        test_tools::skipped("an estate of somebody else", "who is not root has no other user to be");
        return;
    }
    let sandbox = Sandbox::with_estate();
    let open = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap()
    };
    open(sandbox.path(), 0o755);
    // The program may lie where nobody but root can go.
    let program = sandbox.path().join("eos");
    std::fs::copy(env!("CARGO_BIN_EXE_eos"), &program).unwrap();
    let nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(args)
            .current_dir(sandbox.estate());
        command
            .env_clear()
            .env("HOME", sandbox.path().join("nowhere"))
            .env("USER", "nobody")
            .env("PATH", "/usr/bin:/bin")
            .stdin(std::process::Stdio::null());
        command
    };
    refused_commands(
        &sandbox,
        "an_estate_of_somebody_else",
        1,
        nobody(&["create", "grafana"]),
        nobody(&["create", "grafana", "--json"]),
    );
    refused_commands(
        &sandbox,
        "an_estate_of_somebody_else_listed",
        1,
        nobody(&["list"]),
        nobody(&["list", "--json"]),
    );
    // As after su without a dash: git's settings are looked for in a home that is closed to this user.
    let closed = sandbox.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    open(&closed, 0o700);
    let in_closed_home = |args: &[&str]| {
        let mut command = nobody(args);
        command.env("HOME", &closed);
        command
    };
    refused_commands(
        &sandbox,
        "a_home_of_somebody_else",
        1,
        in_closed_home(&["list"]),
        in_closed_home(&["list", "--json"]),
    );
}

/// A disk of 4 MB with the estate on it, filled until `left` KiB are free, and a command tried there.
///
/// Whatever it said, once there is room again the next command finds a sound estate and does the work.
const FULL: &str = r#"
mkdir disk; mount -t tmpfs -o size=4m,mode=755 none disk; cp -a shop disk/shop; cd disk/shop
before=$(git rev-parse HEAD); listing=$(find . -path ./.git -prune -o -path ./build -prune -o -name lock -o -type f -print | sort | xargs sha256sum)
free=$(df -k --output=avail . | tail -1); [ "$free" -gt "$LEFT" ]
dd if=/dev/zero of=../filler bs=1k count=$((free - LEFT)) 2>/dev/null
set +e; "$EOS" create nextcloud >../../out 2>../../err; code=$?; set -e
echo "code $code" >&2
rm ../filler
if [ "$code" != 0 ] && [ "$(git rev-parse HEAD)" = "$before" ]; then
  echo "undone" >&2
  "$EOS" list >/dev/null
  [ "$listing" = "$(find . -path ./.git -prune -o -path ./build -prune -o -name lock -o -type f -print | sort | xargs sha256sum)" ] || { echo "files differ: $(git status --porcelain)" >&2; exit 90; }
  "$EOS" create nextcloud >/dev/null
else
  echo "recorded" >&2
  "$EOS" compile >/dev/null
fi
[ -z "$(git status --porcelain)" ] || { git status --porcelain >&2; exit 91; }
git fsck --strict >&2 || exit 92
"$EOS" compile --check >/dev/null || exit 93
"$EOS" secret list | grep -q missing && exit 94
[ "$(find . -name '*.eos-tmp' -o -name intent.json -o -name '*.draft*' | wc -l)" = 0 ] || exit 95
"#;

#[test]
fn a_full_disk_at_every_level_leaves_a_sound_estate() {
    let mut stages = std::collections::BTreeSet::new();
    for left in [0, 8, 24, 48, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 448, 512, 640, 2000] {
        let sandbox = Sandbox::with_estate();
        let run = Run::from(unshared(&sandbox, FULL).env("LEFT", left.to_string()).output().unwrap());
        let said = std::fs::read_to_string(sandbox.path().join("err")).unwrap();
        assert_eq!(run.code, 0, "with {left} KiB left\n{}\n{said}", run.stderr);
        if run.stderr.starts_with("code 0") {
            stages.insert("enough");
            continue;
        }
        assert!(run.stderr.starts_with("code 1\n"), "with {left} KiB left: {}", run.stderr);
        assert_eq!(std::fs::read_to_string(sandbox.path().join("out")).unwrap(), "");
        assert!(said.contains("full") || said.contains("space"), "with {left} KiB left: {said}");
        let stage = if run.stderr.contains("recorded") { "build" } else { "commit" };
        if stages.insert(stage) {
            // Which file was the first without room depends on the bytes of the commit and on two threads; where its
            // line breaks, on its name.
            let file = said
                .split_whitespace()
                .find(|word| word.starts_with("build/production/"))
                .map(|word| word.trim_end_matches(':').to_owned());
            let said =
                file.map_or_else(|| said.clone(), |file| said.replace(&file, "build/production/[FILE]"));
            let broken = ["\n  the disk is", " the\n  disk is", " the disk\n  is"];
            let said = broken.iter().fold(said, |said, broken| said.replace(broken, " the disk is"));
            let said = said.replace("the disk is\n  full", "the disk is full");
            check(
                &sandbox,
                &format!("a_full_disk_at_{stage}"),
                &Run { code: 1, stdout: String::new(), stderr: said },
            );
        }
    }
    assert_eq!(
        stages.into_iter().collect::<Vec<_>>(),
        ["build", "commit", "enough"],
        "the levels must meet each stage"
    );
}
