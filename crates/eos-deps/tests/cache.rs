//! The cache under bad luck: two installers, a killed one, changed files.
#![allow(clippy::unwrap_used)] // a failed fixture fails its test

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};

use eos_deps::{Settings, Silent, Step, Table, Tools};
use eos_model::codes::{BAD_CHECKSUM, NEWER_FORMAT};
use support::server::{Answer, Server};
use support::*;

const CHILD_CACHE: &str = "EOS_DEPS_TEST_CHILD_CACHE";

/// A place where tofu is in the bundle.
fn with_bundle() -> Place {
    let place = Place::new();
    let sum = place.bundle(&tofu_bundle_file(), &tofu_script("1.12.6"));
    place.bundle_sums(&[(&sum, &tofu_bundle_file())]);
    place
}

/// Opens once; who passes waits for it.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn pass(&self) {
        drop(self.1.wait_while(self.0.lock().unwrap(), |open| !*open).unwrap());
    }
}

/// A release whose zip is sent only once `gate` is open, and which says when it was asked for.
fn gated_release(asked: &Arc<Gate>, gate: &Arc<Gate>) -> Server {
    let zip = zip_with("tofu", &tofu_script("1.12.6"));
    let sums = format!("{}  {}\n", sum(&zip), tofu_zip_file());
    let (asked, gate) = (Arc::clone(asked), Arc::clone(gate));
    let before = Arc::new(move || {
        asked.open();
        gate.pass();
    });
    Server::start([
        (
            format!("{TOFU_RELEASE}tofu_1.12.6_SHA256SUMS"),
            Answer { body: sums.into_bytes(), ..Answer::default() },
        ),
        (
            TOFU_RELEASE.to_owned() + &tofu_zip_file(),
            Answer { body: zip, before: Some(before), cut_at: None },
        ),
    ])
}

fn downloads(server: &Server) -> usize {
    server.asked().iter().filter(|path| path.ends_with(".zip")).count()
}

#[test]
fn of_two_threads_one_installs_and_the_other_waits() {
    let place = Place::new();
    let (asked, gate) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let server = gated_release(&asked, &gate);
    let settings = Settings { release_base: Some(server.base()), ..place.settings() };
    let first = std::thread::spawn({
        let tools = without_sums(settings.clone());
        move || tools.install("tofu", &mut Silent)
    });
    asked.pass();
    let second = without_sums(settings).install("tofu", &mut |step: Step<'_>| {
        if let Step::Waiting { .. } = step {
            gate.open();
        }
    });
    assert_eq!(first.join().unwrap().unwrap(), second.unwrap());
    assert_eq!(downloads(&server), 1);
}

/// The second process is this test again, told by the environment to be the child.
#[test]
fn of_two_processes_one_installs_and_the_other_waits() {
    if let Ok(cache) = std::env::var(CHILD_CACHE) {
        let settings = Settings { cache: cache.into(), ..Settings::default() };
        let found = without_sums(settings).install("tofu", &mut |step: Step<'_>| {
            if let Step::Waiting { .. } = step {
                println!("\nwaiting");
            }
        });
        println!("\nfound {}", found.unwrap().path);
        return;
    }
    let place = Place::new();
    let (asked, gate) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let server = gated_release(&asked, &gate);
    let first = std::thread::spawn({
        let tools = without_sums(Settings { release_base: Some(server.base()), ..place.settings() });
        move || tools.install("tofu", &mut Silent)
    });
    asked.pass();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "of_two_processes_one_installs_and_the_other_waits", "--nocapture"])
        .env(CHILD_CACHE, place.join("cache"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut found = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.split_once(' ') {
            None if line == "waiting" => gate.open(),
            Some(("found", path)) => found = Some(path.to_owned()),
            _ => {}
        }
    }
    // Also when the child failed, the first must end.
    gate.open();
    assert!(child.wait().unwrap().success());
    assert_eq!(found.unwrap(), first.join().unwrap().unwrap().path);
    assert_eq!(downloads(&server), 1);
}

#[test]
fn the_remains_of_a_killed_installation_are_not_used_and_are_swept_away() {
    let place = with_bundle();
    let directory = place.join("cache/tools/tofu");
    for remains in [".partial-abc/bin", "1.12.6/bin"] {
        fs_err::create_dir_all(directory.join(remains)).unwrap();
        write_script(&directory.join(remains).join("tofu"), "echo OpenTofu v1.12.6; echo half");
    }
    let tools = place.tools();
    assert_eq!(tools.find("tofu").unwrap(), None);
    assert!(tools.verify("tofu").is_err());
    let status = tools.list().into_iter().find(|status| status.name == "tofu").unwrap();
    assert!(status.problems[0].contains("did not finish"), "{:?}", status.problems);

    let found = tools.install("tofu", &mut Silent).unwrap();
    assert_eq!(fs_err::read_to_string(found.path).unwrap(), tofu_script("1.12.6"));
    assert_eq!(place.cached("tofu"), ["1.12.6"]);
}

#[test]
fn a_changed_executable_is_refused_and_a_touched_one_is_not() {
    let place = with_bundle();
    let tools = place.tools();
    let found = tools.install("tofu", &mut Silent).unwrap();
    let modified = fs_err::metadata(&found.path).unwrap().modified().unwrap();
    let open = || fs_err::OpenOptions::new().write(true).open(&found.path).unwrap();

    // Another time, the same bytes: a cache that was copied.
    open().set_modified(modified - std::time::Duration::from_secs(9)).unwrap();
    assert_eq!(tools.find("tofu").unwrap().as_ref(), Some(&found));
    // Other bytes of the same length and time: only the whole look sees it.
    fs_err::write(&found.path, tofu_script("1.12.7")).unwrap();
    open().set_modified(modified).unwrap();
    assert!(tools.find("tofu").unwrap().is_some());
    let error = tools.verify("tofu").unwrap_err();
    assert_eq!(codes(&error).0, [BAD_CHECKSUM]);
    // With another time also the quick one, and the next installation mends it.
    open().set_modified(modified + std::time::Duration::from_secs(9)).unwrap();
    assert_eq!(tools.find("tofu").unwrap(), None);
    assert_eq!(tools.install("tofu", &mut Silent).unwrap(), found);
    tools.verify("tofu").unwrap();
}

#[test]
fn a_newer_format_is_refused_not_overwritten() {
    let place = with_bundle();
    let tools = place.tools();
    tools.install("tofu", &mut Silent).unwrap();
    let record = place.join("cache/tools/tofu/1.12.6/installed.json");
    fs_err::write(&record, "{\"format\": 99, \"other\": true}").unwrap();
    assert_eq!(tools.find("tofu").unwrap(), None);
    let error = tools.install("tofu", &mut Silent).unwrap_err();
    assert_eq!(codes(&error).0, [NEWER_FORMAT]);
    assert!(fs_err::read_to_string(&record).unwrap().contains("99"));
}

#[test]
fn after_a_new_pin_an_accepted_older_copy_still_serves() {
    let place = with_bundle();
    let installed = place.tools().install("tofu", &mut Silent).unwrap();
    let with = |pin: &str, accepts: &str| {
        let table = include_str!("../tools.toml");
        let (before, tofu) = table.split_at(table.find("[tofu]").unwrap());
        let tofu = tofu
            .replace("\"1.12.6\"", &format!("\"{pin}\""))
            .replace("\">=1.11, <2\"", &format!("\"{accepts}\""));
        Tools::with_table(place.settings(), Table::parse(&format!("{before}{tofu}")).unwrap())
    };
    assert_eq!(with("1.12.7", ">=1.11, <2").find("tofu").unwrap(), Some(installed));
    assert_eq!(with("1.12.7", ">=1.12.7, <2").find("tofu").unwrap(), None);
    // The new pin is preferred once it is there, also when it is the older of the two.
    let file = tofu_bundle_file().replace("1.12.6", "1.11.9");
    let sum = place.bundle(&file, &tofu_script("1.11.9"));
    place.bundle_sums(&[(&sum, &file)]);
    with("1.11.9", "<1.12").install("tofu", &mut Silent).unwrap();
    assert_eq!(with("1.11.9", ">=1.11, <2").find("tofu").unwrap().unwrap().version.as_str(), "1.11.9");
    assert_eq!(with("1.12.6", ">=1.11, <2").find("tofu").unwrap().unwrap().version.as_str(), "1.12.6");
}
