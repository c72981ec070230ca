//! Secrets: in the job's variable and in its task, and in nothing that tofu or Nomad shows.

use std::path::Path;

use camino::Utf8Path;
use eos_model::SecretRef;
use eos_secrets::{Identity, Recipients, Secret};
use serde_json::{Value as Json, json};

use crate::refusing::{self, Fault};
use crate::unit::{Bench, Unit, doomed, service, tasks};

const FIRST: &str = "correct-horse-battery-1";
const SECOND: &str = "staple+and/more=2";

/// An estate with one secret in two versions.
fn estate(folder: &Utf8Path) {
    let identity = Identity::create(&folder.join("identity")).unwrap();
    let line = format!("{}\n", identity.public());
    let recipients = Recipients::parse(Utf8Path::new("recipients.txt"), &line).unwrap();
    for (version, value) in [(1, FIRST), (2, SECOND)] {
        let reference: SecretRef = format!("secret://test/app/password?v={version}").parse().unwrap();
        let file = folder.join("estate").join(eos_secrets::file_of(&reference));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let bytes = eos_secrets::encrypt(&Secret::new(value.to_owned()), &recipients).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
}

fn job(output: &Path, version: u32) -> Json {
    let script =
        format!("echo it is $PASSWORD; printf %s \"$PASSWORD\" > {}; exec sleep 1000", output.display());
    let mut job = service("secretive", &script);
    job["Meta"]["eos.secret.app_password"] = json!(format!("secret://test/app/password?v={version}"));
    job["TaskGroups"][0]["Tasks"][0]["Templates"] = json!([{
        "EmbeddedTmpl": "{{ with nomadVar \"nomad/jobs/secretive\" }}PASSWORD={{ .app_password }}{{ end }}",
        "DestPath": "secrets/env", "Envvars": true, "ChangeMode": "restart", "Splay": 1_000_000_000_u64,
    }]);
    job["Update"]["AutoRevert"] = json!(true);
    job
}

pub fn whole_life(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    estate(root);
    let output = folder.path().join("seen");
    let mut unit = bench.unit(&job(&output, 1));

    // Without the estate, nothing is done.
    unit.apply_fails().says("E0501").says("EOS_ESTATE is not set");
    assert!(unit.job().is_null() && unit.state().is_null());
    unit.set("EOS_ESTATE", root.join("estate"));
    unit.set("EOS_IDENTITY", root.join("identity"));

    // Whether they were written is not known: the state says so, and destroying it takes them away.
    let usual = unit.environment.clone();
    unit.set("NOMAD_ADDR", refusing::in_front_of(bench.agent.address(), Fault::LosesAnswersOfVariables));
    unit.apply_fails().does_not_say(FIRST);
    unit.environment = usual;
    assert_eq!(variable(&unit)["app_password"], FIRST);
    assert!(unit.job().is_null());
    unit.destroy();
    assert!(variable(&unit).is_null(), "the secret is gone");

    unit.ok(&["plan", "-out=plan"]);
    unit.ok(&["apply", "plan"]);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), FIRST);
    assert_eq!(variable(&unit)["app_password"], FIRST);
    unit.plan_is_empty();
    is_nowhere(&unit, FIRST);

    // A new version is a change of the job, and the variable is written before it.
    unit.write(&job(&output, 2), json!({}));
    unit.plan_has_changes().says("Meta[eos.secret.app_password]").says("?v=2");
    unit.apply();
    assert_eq!(std::fs::read_to_string(&output).unwrap(), SECOND);
    assert_eq!(variable(&unit)["app_password"], SECOND);
    unit.plan_is_empty();

    // A change of the variable by hand is seen without reading it, and put right; another's key stays.
    let path = "/v1/var/nomad/jobs/secretive";
    bench.agent.put(path, &json!({"Items": {"app_password": "other", "extra": "kept"}})).unwrap();
    unit.plan_has_changes().says("the variable with its secrets was changed").does_not_say("other");
    unit.apply();
    assert_eq!(variable(&unit), json!({"app_password": SECOND, "extra": "kept"}));
    unit.plan_is_empty();
    bench.agent.put(path, &json!({"Items": {"app_password": SECOND}})).unwrap();

    // A job that fails does not tell its secrets either; and with the older spec the older secret is back.
    let mut bad = job(&output, 1);
    bad["TaskGroups"][0]["Tasks"][0]["Config"]["args"][1] =
        json!("echo refused: $PASSWORD >&2; printf %s \"$PASSWORD\" | base64 >&2; exit 5");
    doomed(&mut bad);
    unit.apply();
    unit.write(&bad, json!({}));
    let run = unit.apply_fails();
    run.says("> refused: •••").does_not_say(FIRST).does_not_say(SECOND).says("went back to the older spec");
    run.does_not_say("Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LTE");
    assert_eq!(variable(&unit)["app_password"], SECOND);
    unit.write(&job(&output, 2), json!({}));
    unit.plan_is_empty();

    // A registration that is refused leaves the job as it was, with the secret that it had.
    unit.write(&job(&output, 1), json!({}));
    let usual = unit.environment.clone();
    unit.set("NOMAD_ADDR", refusing::in_front_of(bench.agent.address(), Fault::RefusesJobs));
    unit.apply_fails().says("not this time").does_not_say(FIRST).does_not_say(SECOND);
    unit.environment = usual;
    assert_eq!(variable(&unit)["app_password"], SECOND);
    unit.write(&job(&output, 2), json!({}));
    unit.plan_is_empty();

    // A secret that is not there.
    unit.write(&job(&output, 7), json!({}));
    unit.apply_fails().says("E0503").says("refer to secret://test/app/password?v=2");
    unit.write(&job(&output, 2), json!({}));

    for value in [FIRST, SECOND] {
        is_nowhere(&unit, value);
    }

    // A job that somebody removed leaves its secrets; they are not forgotten.
    bench.agent.delete("/v1/job/secretive?purge=true");
    bench.agent.until("its task has ended", || tasks("secretive").is_empty());
    unit.destroy();
    unit.nothing_is_left();
}

fn variable(unit: &Unit) -> Json {
    unit.bench.agent.get("/v1/var/nomad/jobs/secretive")["Items"].clone()
}

/// In no file of the unit (state, backup, plan, provider's folder), in no plan as JSON, in no inspection of the job.
fn is_nowhere(unit: &Unit, value: &str) {
    let mut places = vec![
        ("tofu show -json".to_owned(), unit.ok(&["show", "-json"]).text),
        ("tofu show -json plan".to_owned(), unit.run(&["show", "-json", "plan"]).text),
        ("nomad job inspect".to_owned(), unit.job().to_string()),
        ("nomad job history".to_owned(), unit.bench.agent.get("/v1/job/secretive/versions").to_string()),
        ("evaluations".to_owned(), unit.bench.agent.get("/v1/job/secretive/evaluations").to_string()),
        ("allocations".to_owned(), unit.bench.agent.get("/v1/job/secretive/allocations").to_string()),
    ];
    let mut folders = vec![unit.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    places.push((
                        entry.path().display().to_string(),
                        String::from_utf8_lossy(&bytes).into_owned(),
                    ));
                }
                _ => {}
            }
        }
    }
    for (place, text) in places {
        assert!(!text.contains(value), "{place} has a secret");
    }
}
