//! What eos leaves behind is enough for tofu, nomad and salt-call alone.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failing::give_up_on;
use crate::lifecycle::{NOTE, mode};
use crate::shop::{Shop, has};
use crate::support::tool;

#[test]
fn an_ejected_estate_goes_on_without_eos() {
    let shop = Shop::new();
    let note = shop.sandbox.path().join("note");
    shop.sandbox.write("catalog/note/component.yaml", NOTE);
    shop.sandbox.commit_by_hand();
    shop.ok(&["create", "note", "--path", note.to_str().unwrap(), "--yes"]);
    shop.create_redis("plain", "plain-password");
    start_at_the_second_attempt(&shop, "again");
    let said = shop.ok(&["eject", "../plain folder"]).stdout;
    has(&said, "../plain folder has 3 units");
    has(&shop.exits(1, &["eject", "../plain folder"]).stderr, "is there already");
    let plain = shop.sandbox.path().join("plain folder");
    assert_eq!(mode(&plain), 0o700);
    assert_eq!((mode(&plain.join("state-key.json")), mode(&plain.join("state-key"))), (0o600, 0o700));
    // Nothing of the estate is needed any more, and the folder may lie elsewhere.
    let kept = shop.sandbox.path().join("kept folder");
    std::fs::rename(&plain, &kept).unwrap();
    let plain = kept;
    std::fs::rename(shop.sandbox.estate(), shop.sandbox.path().join("gone")).unwrap();

    let say = |folder: &str, line: &str| shell(&shop, &plain, folder, line);
    for unit in ["again", "note", "plain"] {
        let (code, said) = say(
            &format!("build/production/{unit}"),
            "tofu init -input=false && tofu plan -detailed-exitcode",
        );
        assert_eq!(code, 0, "{said}");
        has(&said, "No changes");
    }
    for unit in ["again", "plain"] {
        let job = format!("build/production/{unit}/jobs/{unit}.nomad.json");
        let (code, said) = say(".", &format!("nomad job plan -json {job}"));
        assert_eq!(code, 0, "nothing would change: {said}");
    }
    let job = "build/production/plain/jobs/plain.nomad.json";
    let (code, said) = say(".", &format!("nomad job run -json -detach {job}"));
    assert_eq!(code, 0, "{said}");
    assert_eq!(shop.versions("production-plain"), 1, "it is the very job that runs");
    for (unit, state) in [("plain", "volumes"), ("note", "host")] {
        let folder = format!("build/production/{unit}/salt");
        let call = format!(
            "salt-call --local --retcode-passthrough --config-dir=$SALT --file-root={folder} --out=json state.apply {state}"
        );
        let (code, said) = say(".", &format!("{call} test=True"));
        assert_eq!(code, 0, "{said}");
        has(&said, "\"result\": true");
        assert!(!said.contains("\"result\": null"), "nothing would change: {said}");
    }
    // And it is in use: what is changed by hand is seen, and brought back, by tofu alone.
    std::fs::write(&note, "closed\n").unwrap();
    let (code, said) = say("build/production/note", "tofu plan -detailed-exitcode");
    assert_eq!(code, 2, "{said}");
    let (code, said) = say("build/production/note", "tofu apply -auto-approve");
    assert_eq!(
        (code, std::fs::read_to_string(&note).unwrap().trim()),
        (0, "open from nine to five"),
        "{said}"
    );
}

/// A redis whose port was taken when it was first started: eos marks the second start in the job.
fn start_at_the_second_attempt(shop: &Shop, name: &str) {
    let (words, port) = shop.redis(name, &["--yes"]);
    let held = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let run = shop.begin(&words);
    let job = format!("production-{name}");
    give_up_on(shop, &job);
    let (code, said) = run.end();
    assert_eq!(code, Some(1), "{said}");
    drop(held);
    shop.ok(&["resume"]);
    assert_eq!(shop.job(&job)["Meta"]["eos.attempt"], "1");
}

/// Runs a line after `env.sh`, with the three tools on PATH and no eos; the home is another.
fn shell(shop: &Shop, plain: &Path, folder: &str, line: &str) -> (i32, String) {
    let bin = shop.sandbox.path().join("bin");
    let salt = shop.sandbox.path().join("salt");
    if !bin.is_dir() {
        std::fs::create_dir_all(&salt).unwrap();
        std::fs::write(salt.join("minion"), format!("root_dir: {}\nid: test\n", salt.display())).unwrap();
        std::fs::create_dir(&bin).unwrap();
        for (name, path) in [("tofu", tool("tofu")), ("nomad", tool("nomad")), ("salt-call", tool("salt"))] {
            std::os::unix::fs::symlink(path, bin.join(name)).unwrap();
        }
    }
    let mut command = Command::new("bash");
    let script = format!("set -eu; cd '{}'; . ./env.sh; cd '{folder}'; {line}", plain.display());
    command.args(["-c", &script]).env_clear().env("HOME", &salt).env("SALT", &salt);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    assert!(!Path::new("/usr/bin/eos").exists() && !Path::new("/bin/eos").exists());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), said)
}
