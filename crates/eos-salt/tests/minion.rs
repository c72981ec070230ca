//! States on a minion through salt-api: a real master, its api and a minion on loopback.
//!
//! One test, since starting them takes longest: its parts are functions.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use eos_salt::{
    ApiSettings, Credentials, Outcome, Pillar, Report, RunsStates as _, SaltApi, SaltError, StateRun,
};
use serde_json::json;
use support::master::{Master, wait_for, wait_until};
use support::{Place, secret_pillar};

fn run(api: &SaltApi, sls: &str, test: bool) -> Result<Report, SaltError> {
    run_on(api, "m1", sls, &Pillar::default(), test)
}

fn run_on(api: &SaltApi, target: &str, sls: &str, pillar: &Pillar, test: bool) -> Result<Report, SaltError> {
    api.run(&StateRun { target, environment: None, sls, pillar, test }, &|| false)
}

fn outcomes(report: &Report) -> Vec<(&str, Outcome)> {
    report.states.iter().map(|state| (state.id.as_str(), state.outcome)).collect()
}

#[test]
fn minion_through_salt_api() {
    let Some(place) = Place::new("minion_through_salt_api") else { return };
    let mut master = Master::start(&place.installation, place.path());
    let api = master.api();
    wait_until("the minion", || run(&api, "#!yaml\nthere:\n  test.nop: []\n", true));
    states(&place, &api);
    refusals(&place, &master, &api);
    waiting_and_stopping(&place, &api);
    silence(&place, &mut master, &api);
}

fn states(place: &Place, api: &SaltApi) {
    // Not in the order of names, and with requisites, so that the order is seen to be the text's.
    let sls = format!(
        "#!yaml\n{}{}a: test.nop\n{}    - require:\n        - file: z\n",
        place.file("z", "one"),
        place.file("y", "two"),
        place.file("b", "three"),
    );
    let report = run(api, &sls, true).unwrap();
    let expected = [
        ("z", Outcome::WouldChange),
        ("y", Outcome::WouldChange),
        ("a", Outcome::Unchanged),
        ("b", Outcome::WouldChange),
    ];
    assert_eq!(outcomes(&report), expected);
    assert!(!place.made("z").exists(), "test=True touches nothing");
    let report = run(api, &sls, false).unwrap();
    assert_eq!(report.of(Outcome::Changed).count(), 3, "{report:?}");
    assert_eq!(place.read("b"), "three\n");
    assert!(!run(api, &sls, true).unwrap().differs());
    std::fs::write(place.made("y"), "by hand").unwrap();
    assert_eq!(
        run(api, &sls, true)
            .unwrap()
            .of(Outcome::WouldChange)
            .map(|state| state.id.as_str())
            .collect::<Vec<_>>(),
        ["y"]
    );

    // The minion's own pillar, and ours over it.
    let kept = format!(
        "#!yaml\nword:\n  file.managed:\n    - name: {}\n    - contents_pillar: [own, word]\n",
        place.made("word").display()
    );
    run_on(api, "m1", &kept, &Pillar::of(json!({"word": "of-the-run"})).unwrap(), false).unwrap();
    assert_eq!(place.read("word"), "of-the-master\nof-the-run\n");

    // A failing state is HTTP 200; what waited for it is told apart.
    let failing = format!(
        "#!yaml\nbroken:\n  cmd.run:\n    - name: 'echo no such disk >&2; exit 3'\n{}    - require:\n        - cmd: broken\n",
        place.file("waits", "x")
    );
    let report = run(api, &failing, false).unwrap();
    assert_eq!(outcomes(&report), [("broken", Outcome::Failed), ("waits", Outcome::Failed)]);
    assert_eq!(report.failures()[0].reason(), "no such disk\nit ended with 3");

    // Mistakes that only the minion sees.
    let unknown = run(api, "#!yaml\nx:\n  nosuch.thing: []\n", true).unwrap();
    assert!(unknown.failures()[0].comment.contains("nosuch.thing"), "{unknown:?}");
    let requisite = run(api, "#!yaml\nx:\n  test.nop:\n    - require: y\n", true).unwrap_err();
    assert!(
        matches!(&requisite, SaltError::Compile { errors, .. } if errors[0].contains("require")),
        "{requisite}"
    );
    assert_eq!(run(api, "#!yaml\n{}\n", false).unwrap(), Report::default());
}

fn refusals(place: &Place, master: &Master, api: &SaltApi) {
    let sls = "#!yaml\nthere:\n  test.nop: []\n";
    let bad_login = run(&master.api_as("ci", "wrong"), sls, true).unwrap_err();
    assert!(matches!(&bad_login, SaltError::BadLogin { user, .. } if user == "ci"), "{bad_login}");
    let token = Credentials::parse("0123456789abcdef").unwrap();
    let stale =
        SaltApi::new(ApiSettings { address: master.address(), credentials: token, authority: None }).unwrap();
    let forbidden = run(&stale, sls, true).unwrap_err();
    assert!(matches!(&forbidden, SaltError::Forbidden { .. }), "{forbidden}");
    let looker = run(&master.api_as("looker", "right"), sls, true).unwrap_err();
    assert!(matches!(&looker, SaltError::Forbidden { what, .. } if what == "state.high"), "{looker}");
    // A token that expired is fetched anew.
    master.forget_tokens();
    run(api, sls, true).unwrap();

    let unknown = run_on(api, "nobody", sls, &Pillar::default(), true).unwrap_err();
    assert!(matches!(&unknown, SaltError::UnknownTarget { .. }) && unknown.is_unreachable(), "{unknown}");
    let pillar = secret_pillar(json!({"password": "secret:hunter2"}));
    let secret = run_on(api, "m1", &place.file("secret", "x"), &pillar, false).unwrap_err();
    assert!(matches!(secret, SaltError::SecretThroughMaster { .. }), "{secret}");
    let jinja = run(api, "{{ pillar.own }}: test.nop\n", true).unwrap_err();
    assert!(matches!(jinja, SaltError::NeedsRenderer { .. }), "{jinja}");
    let closed = ApiSettings {
        address: "http://127.0.0.1:1".to_owned(),
        credentials: Credentials::parse("x").unwrap(),
        authority: None,
    };
    let closed = run(&SaltApi::new(closed).unwrap(), sls, true).unwrap_err();
    assert!(closed.is_unreachable(), "{closed}");
}

/// A minion at work lets the next run wait; one that is stopped says which job goes on.
fn waiting_and_stopping(place: &Place, api: &SaltApi) {
    let slow = format!(
        "#!yaml\nslow:\n  cmd.run:\n    - name: 'touch {}; while ! test -e {}; do sleep 0.1; done'\n",
        place.made("begun").display(),
        place.made("go-on").display(),
    );
    let stopped = AtomicBool::new(false);
    let pillar = Pillar::default();
    let error = api
        .run(&StateRun { target: "m1", environment: None, sls: &slow, pillar: &pillar, test: false }, &|| {
            stopped.store(place.made("begun").exists(), Ordering::SeqCst);
            stopped.load(Ordering::SeqCst)
        })
        .unwrap_err();
    assert!(
        matches!(&error, SaltError::Stopped { begun: true, rest: Some(rest) } if rest.contains("jobs.lookup_jid")),
        "{error}"
    );
    std::thread::scope(|scope| {
        let next = scope.spawn(|| run(api, &format!("#!yaml\n{}", place.file("next", "x")), false));
        std::thread::sleep(std::time::Duration::from_secs(2));
        assert!(!place.made("next").exists(), "it waits for the run before");
        std::fs::write(place.made("go-on"), "").unwrap();
        assert_eq!(next.join().unwrap().unwrap().of(Outcome::Changed).count(), 1);
    });
}

/// A minion that goes away in the middle, and one that is not there.
fn silence(place: &Place, master: &mut Master, api: &SaltApi) {
    let endless = format!(
        "#!yaml\nendless:\n  cmd.run:\n    - name: 'touch {}; sleep 600'\n",
        place.made("endless").display()
    );
    std::thread::scope(|scope| {
        let lost = scope.spawn(|| run(api, &endless, false));
        wait_for("the state", || place.made("endless").exists());
        master.kill_minion();
        let lost = lost.join().unwrap().unwrap_err();
        assert!(matches!(&lost, SaltError::JobLost { .. }) && lost.may_have_begun(), "{lost}");
    });
    let down = run(api, "#!yaml\nthere:\n  test.nop: []\n", true).unwrap_err();
    assert!(matches!(&down, SaltError::NoReturn { .. }) && !down.may_have_begun(), "{down}");
}
