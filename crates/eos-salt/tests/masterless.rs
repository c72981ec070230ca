//! States on this machine with real Salt, warm and cold. They touch files below the test's own folder alone.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use eos_salt::{
    Installation, Masterless, MasterlessSettings, Outcome, Pillar, RunsStates as _, SaltError, StateRun,
    WarmServer,
};
use serde_json::json;
use support::master::wait_for;
use support::{Place, SEARCH_PATH, run, run_with, secret_pillar};

fn outcomes(report: &eos_salt::Report) -> Vec<(&str, Outcome)> {
    report.states.iter().map(|state| (state.id.as_str(), state.outcome)).collect()
}

/// What any way to run states without a master has to do.
fn contract(place: &Place, salt: &Masterless) {
    let sls = format!("#!yaml\n{}{}", place.file("z", "one"), place.file("a", "two"));
    // test=True foresees, and touches nothing.
    let foreseen = run(salt, &sls, true).unwrap();
    assert_eq!(outcomes(&foreseen), [("z", Outcome::WouldChange), ("a", Outcome::WouldChange)]);
    assert!(foreseen.differs() && !place.made("z").exists());
    // Applied in the order of the text.
    let applied = run(salt, &sls, false).unwrap();
    assert_eq!(outcomes(&applied), [("z", Outcome::Changed), ("a", Outcome::Changed)]);
    assert_eq!(place.read("a"), "two\n");
    assert_eq!(applied.states[0].function, "file.managed");
    assert_eq!(applied.states[0].name, place.made("z").to_str().unwrap());
    // Again: nothing to do, in test and in earnest.
    assert!(!run(salt, &sls, true).unwrap().differs());
    assert_eq!(
        outcomes(&run(salt, &sls, false).unwrap()),
        [("z", Outcome::Unchanged), ("a", Outcome::Unchanged)]
    );
    // Drift made by hand.
    std::fs::write(place.made("a"), "other").unwrap();
    assert_eq!(
        outcomes(&run(salt, &sls, true).unwrap()),
        [("z", Outcome::Unchanged), ("a", Outcome::WouldChange)]
    );

    // A failing state keeps its words, and what waited for it is told apart.
    let failing = format!(
        "#!yaml\nbroken:\n  cmd.run:\n    - name: 'echo no such disk >&2; exit 3'\n{}    - require:\n        - cmd: broken\n{}",
        place.file("waits", "x"),
        place.file("free", "x"),
    );
    let report = run(salt, &failing, false).unwrap();
    assert_eq!(
        outcomes(&report),
        [("broken", Outcome::Failed), ("waits", Outcome::Failed), ("free", Outcome::Changed)]
    );
    let failures = report.failures();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].reason().contains("no such disk\nit ended with 3"), "{}", failures[0].reason());

    // While Salt works it says so, and goes on saying it when who asked is gone.
    let lock = place.path().join("locks/salt-local.at-work");
    let tells = format!(
        "#!yaml\ntells:\n  cmd.run:\n    - name: 'if flock -n {} true; then echo free; else echo held; fi > {}'\n",
        lock.display(),
        place.made("lock").display()
    );
    run(salt, &tells, false).unwrap();
    assert_eq!(place.read("lock"), "held\n");
    std::fs::File::open(&lock).unwrap().try_lock().unwrap();

    // Texts that are no states.
    let jinja = run(salt, "{{ oops }\n", false).unwrap_err();
    assert!(
        matches!(&jinja, SaltError::Compile { errors, .. } if errors[0].contains("Jinja syntax error")),
        "{jinja}"
    );
    let shape = run(salt, "#!yaml\nx: 5\n", true).unwrap_err();
    assert!(matches!(&shape, SaltError::Compile { errors, .. } if errors[0].contains("x")), "{shape}");
    assert_eq!(run(salt, "#!yaml\n{}\n", false).unwrap().states, []);

    // The estate's pillar by the environment's grain, what units published, and the extra pillar over both.
    place.estate(
        "pillar/top.sls",
        "#!yaml\nbase:\n  'environment:production':\n    - match: grain\n    - web\n",
    );
    place.estate("pillar/web.sls", "#!yaml\nweb: {port: 80, host: pillar}\n");
    place.estate(".eos/state/outputs/production/dns.json", r#"{"outputs": {"address": "10.0.0.5"}}"#);
    let template = format!(
        "from-pillar:\n  file.managed:\n    - name: {}\n    - contents: '{{{{ pillar.web.port }}}} {{{{ pillar.web.host }}}} {{{{ pillar.terraform_outputs.production.dns.address }}}} {{{{ grains.id }}}}'\n",
        place.made("from-pillar").display()
    );
    let pillar = Pillar::of(json!({"web": {"host": "extra"}})).unwrap();
    run_with(salt, &template, &pillar, false).unwrap();
    assert_eq!(place.read("from-pillar"), "80 extra 10.0.0.5 local\n");
    // Read anew each time.
    place.estate("pillar/web.sls", "#!yaml\nweb: {port: 81, host: pillar}\n");
    run(salt, &template, false).unwrap();
    assert_eq!(place.read("from-pillar"), "81 pillar 10.0.0.5 local\n");
    place.estate("pillar/web.sls", "#!yaml\nweb: [\n");
    let broken = run(salt, &template, false).unwrap_err();
    assert!(
        matches!(&broken, SaltError::Pillar { errors, .. } if errors.join(" ").contains("web")),
        "{broken}"
    );
    place.estate("pillar/web.sls", "#!yaml\nweb: {}\n");
    // A published file that cannot be read stops the run as well: no state runs without the value it counts on.
    place.estate(".eos/state/outputs/production/dns.json", "{\"outputs\": ");
    let broken = run(salt, &sls, true).unwrap_err();
    assert!(
        matches!(&broken, SaltError::Pillar { errors, .. } if errors.join(" ").contains("terraform_outputs")),
        "{broken}"
    );
    std::fs::remove_file(place.path().join("estate/.eos/state/outputs/production/dns.json")).unwrap();

    // A secret does its work and is nowhere to be seen.
    let secret = "hunter2 'and' more";
    let pillar = secret_pillar(json!({"password": format!("secret:{secret}"), "plain": "visible"}));
    let telling = format!(
        "kept:\n  file.managed:\n    - name: {}\n    - contents_pillar: password\ntold:\n  cmd.run:\n    - name: \"echo '{{{{ pillar.plain }}}}' \\\"{{{{ pillar.password }}}}\\\"; exit 1\"\n",
        place.made("kept").display()
    );
    std::fs::write(place.made("kept"), "before\n").unwrap();
    for test in [true, false] {
        let report = run_with(salt, &telling, &pillar, test).unwrap();
        let text = format!("{report:?}");
        assert!(!text.contains("hunter2") && text.contains("•••") && text.contains("visible"), "{text}");
    }
    assert_eq!(place.read("kept"), format!("{secret}\n"));
    for folder in place.private_folders() {
        let found =
            std::process::Command::new("grep").args(["-rl", "hunter2"]).arg(&folder).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "left on disk");
    }
}

#[test]
fn warm() {
    let Some(place) = Place::new("masterless::warm") else { return };
    let salt = place.warm();
    contract(&place, &salt);
    on_no_disk(&place, &salt);
    assert_eq!(place.private_folders().len(), 1, "one process for all runs");
    drop(salt);
    assert!(place.private_folders().is_empty());
}

#[test]
fn cold() {
    let Some(place) = Place::new("masterless::cold") else { return };
    contract(&place, &place.cold());
    on_no_disk(&place, &place.cold());
    assert!(place.private_folders().is_empty());
}

/// A secret is in no file while Salt is at work either.
fn on_no_disk(place: &Place, salt: &Masterless) {
    let pillar = secret_pillar(json!({"password": "secret:planted-0815-salt"}));
    let sls = format!(
        "kept:\n  file.managed:\n    - name: {}\n    - contents_pillar: password\nslow:\n  cmd.run:\n    - name: sleep 2\n",
        place.made("kept").display()
    );
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run_with(salt, &sls, &pillar, false).map(|_| ()));
        let mut looks = 0;
        while !run.is_finished() {
            let mut grep = std::process::Command::new("grep");
            grep.args(["-rls", "planted-0815-salt"]).arg(place.path().join("temp"));
            assert_eq!(String::from_utf8_lossy(&grep.output().unwrap().stdout), "", "on disk");
            looks += usize::from(!place.private_folders().is_empty());
        }
        run.join().unwrap().unwrap();
        assert!(looks > 1);
    });
    assert_eq!(place.read("kept"), "planted-0815-salt\n");
}

/// A Salt whose Python is not beside salt-call: what is there still works.
#[test]
fn without_its_python_salt_call_is_enough() {
    let Some(place) = Place::new("without_its_python_salt_call_is_enough") else { return };
    let installation = Installation { python: "/bin/false".into(), ..place.installation.clone() };
    let salt = Masterless::new(MasterlessSettings { installation, ..place.settings() });
    run(&salt, &format!("#!yaml\n{}", place.file("a", "x")), false).unwrap();
    assert_eq!(place.read("a"), "x\n");
}

#[test]
fn the_process_of_a_run_is_shared_and_goes_with_it() {
    let Some(place) = Place::new("the_process_of_a_run_is_shared_and_goes_with_it") else { return };
    let socket = place.path().join("salt.sock");
    let server =
        WarmServer::start(&place.installation, &place.path().join("temp"), SEARCH_PATH, &socket, &|| false)
            .unwrap();
    let settings = MasterlessSettings { socket: Some(socket.clone()), ..place.settings() };
    // Two clients that ask at the same time for the same target get their turn, each a clean answer.
    let order = place.made("order");
    let sls = |name: &str| {
        format!(
            "#!yaml\n{name}:\n  cmd.run:\n    - name: 'echo in >> {0}; sleep 0.3; echo out >> {0}'\n",
            order.display()
        )
    };
    std::thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let (settings, sls) = (settings.clone(), sls(name));
            scope.spawn(move || {
                let report = run(&Masterless::new(settings), &sls, false).unwrap();
                assert_eq!(report.states[0].id, name);
            });
        }
    });
    assert_eq!(place.read("order"), "in\nout\n".repeat(3));
    assert_eq!(place.private_folders().len(), 1, "nobody started another process");
    contract(&place, &Masterless::new(settings.clone()));
    drop(server);
    assert!(!socket.exists());
    assert!(place.private_folders().is_empty());
    // Its owner gone, a provider goes on by itself.
    let alone = Masterless::new(settings);
    run(&alone, &format!("#!yaml\n{}", place.file("after", "x")), false).unwrap();
    assert_eq!(place.read("after"), "x\n");
}

/// The state that is being applied is finished, the next is not begun.
/// One process serves every host that is this machine; Salt itself knows only one at a time.
/// A condition of a state makes Salt look for a function that no module has; a warm process does not load all for it.
#[test]
fn a_condition_loads_no_module_that_nobody_asked_for() {
    let Some(place) = Place::new("a_condition_loads_no_module_that_nobody_asked_for") else { return };
    let salt = place.warm();
    let sls = format!(
        "#!yaml\n{}    - onlyif: 'true'\n{}    - unless: 'true'\n",
        place.file("wanted", "x"),
        place.file("unwanted", "x")
    );
    run(&salt, &sls, false).unwrap();
    assert!(place.made("wanted").exists() && !place.made("unwanted").exists());
    let loaded = format!(
        "#!py\nimport sys\ndef run():\n  loaded = [m for m in sys.modules if m.startswith('salt.loaded.int.states.')]\n  \
         return {{'a': {{'file.managed': [{{'name': '{}'}}, {{'contents': ' '.join(loaded)}}]}}}}\n",
        place.made("loaded").display()
    );
    run(&salt, &loaded, false).unwrap();
    let loaded = place.read("loaded");
    assert!(loaded.contains("states.file") && loaded.split(' ').count() < 10, "{loaded}");
}

#[test]
fn two_hosts_take_turns() {
    let Some(place) = Place::new("masterless::two_hosts_take_turns") else { return };
    let salt = place.warm();
    for (turn, target) in ["one", "two", "one", "one", "two"].into_iter().enumerate() {
        let sls = format!("#!yaml\n{}", place.file("turn", &format!("{turn} {target}")));
        let run = StateRun {
            target,
            environment: Some("production"),
            sls: &sls,
            pillar: &Pillar::default(),
            test: false,
        };
        let report = salt.run(&run, &|| false).unwrap_or_else(|e| panic!("turn {turn}, {target}: {e}"));
        assert_eq!(outcomes(&report), [("turn", Outcome::Changed)], "turn {turn}, {target}");
    }
}

#[test]
fn a_stop_ends_between_two_states() {
    let Some(place) = Place::new("a_stop_ends_between_two_states") else { return };
    let sls = format!(
        "#!yaml\nslow:\n  cmd.run:\n    - name: 'touch {0}; while ! test -e {1}; do sleep 0.1; done; touch {2}'\n{3}",
        place.made("begun").display(),
        place.made("go-on").display(),
        place.made("finished").display(),
        place.file("next", "x"),
    );
    for salt in [place.warm(), place.cold()] {
        for name in ["begun", "go-on", "finished"] {
            let _ = std::fs::remove_file(place.made(name));
        }
        let stopped = AtomicBool::new(false);
        let stop = || {
            // Salt may only be told once it is at work; the slow state may only end once Salt was told.
            if place.made("begun").exists() && !stopped.swap(true, Ordering::SeqCst) {
                let go_on = place.made("go-on");
                std::thread::spawn(move || {
                    std::thread::sleep(std::time::Duration::from_secs(1));
                    std::fs::write(go_on, "").unwrap();
                });
            }
            stopped.load(Ordering::SeqCst)
        };
        let pillar = Pillar::default();
        let request =
            StateRun { target: "local", environment: None, sls: &sls, pillar: &pillar, test: false };
        let error = salt.run(&request, &stop).unwrap_err();
        assert!(
            matches!(&error, SaltError::Stopped { begun: true, rest: Some(rest) } if rest.contains("the first state was applied")),
            "{error}"
        );
        assert!(place.made("finished").exists() && !place.made("next").exists());
    }
}

/// Whatever becomes of the process, the next run has another.
#[test]
fn a_process_that_dies_is_an_error_and_is_replaced() {
    let Some(place) = Place::new("a_process_that_dies_is_an_error_and_is_replaced") else { return };
    let salt = place.warm();
    run(&salt, "#!yaml\n{}\n", false).unwrap();
    let error = run(&salt, "#!yaml\nend:\n  cmd.run:\n    - name: 'kill -9 $PPID'\n", false).unwrap_err();
    assert!(matches!(error, SaltError::NoAnswer { .. }), "{error}");
    run(&salt, &format!("#!yaml\n{}", place.file("a", "x")), false).unwrap();
    drop(salt);
    assert!(place.private_folders().is_empty());
}

/// A provider that was killed cannot ask for an end; its run ends all the same, and the process serves others.
#[test]
fn whoever_hangs_up_is_stopped() {
    let Some(place) = Place::new("whoever_hangs_up_is_stopped") else { return };
    let socket = place.path().join("salt.sock");
    let server =
        WarmServer::start(&place.installation, &place.path().join("temp"), SEARCH_PATH, &socket, &|| false)
            .unwrap();
    let sls = format!(
        "#!yaml\nslow:\n  cmd.run:\n    - name: 'touch {}; while ! test -e {}; do sleep 0.1; done; touch {}'\n{}",
        place.made("begun").display(),
        place.made("go-on").display(),
        place.made("finished").display(),
        place.file("next", "x"),
    );
    let mut stream = UnixStream::connect(&socket).unwrap();
    let minion = json!({"id": "local", "file_client": "local", "master_type": "disable"});
    let at_work = place.path().join("at-work");
    let request =
        json!({"run": {"minion": minion, "sls": sls, "pillar": {}, "test": false, "at_work": at_work}});
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    wait_for("the slow state", || place.made("begun").exists());
    drop(stream);
    wait_for("the wish to end", || !pause_files(&place).is_empty());
    std::fs::write(place.made("go-on"), "").unwrap();
    wait_for("the slow state's end", || place.made("finished").exists());
    let settings = MasterlessSettings { socket: Some(socket), ..place.settings() };
    run(&Masterless::new(settings), &format!("#!yaml\n{}", place.file("other", "x")), false).unwrap();
    assert!(place.made("other").exists() && !place.made("next").exists());
    drop(server);
}

fn pause_files(place: &Place) -> Vec<u8> {
    let mut find = std::process::Command::new("find");
    find.arg(place.path().join("temp")).args(["-path", "*/state_pause/*", "-type", "f"]);
    find.output().unwrap().stdout
}

/// kill -9 of eos leaves tofu applying: what its provider has asked for is answered.
#[test]
fn when_the_owner_goes_what_was_asked_is_finished() {
    let Some(place) = Place::new("when_the_owner_goes_what_was_asked_is_finished") else { return };
    let socket = place.path().join("salt.sock");
    let server =
        WarmServer::start(&place.installation, &place.path().join("temp"), SEARCH_PATH, &socket, &|| false)
            .unwrap();
    let settings = MasterlessSettings { socket: Some(socket.clone()), ..place.settings() };
    let sls = format!(
        "#!yaml\nslow:\n  cmd.run:\n    - name: 'touch {}; while ! test -e {}; do sleep 0.1; done'\n{}",
        place.made("begun").display(),
        place.made("go-on").display(),
        place.file("next", "x"),
    );
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| run(&Masterless::new(settings.clone()), &sls, false));
        wait_for("the slow state", || place.made("begun").exists());
        let owner = scope.spawn(|| drop(server));
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::fs::write(place.made("go-on"), "").unwrap();
        assert_eq!(asked.join().unwrap().unwrap().states.len(), 2);
        owner.join().unwrap();
    });
    assert_eq!(place.read("next"), "x\n");
    wait_for("the process's end", || place.private_folders().is_empty() && !socket.exists());
}
