//! The shipped pillar module in real Salt, configured as a person would.
#![allow(clippy::unwrap_used)]

mod support;

use std::process::Command;

use serde_json::{Value as Json, json};
use support::{Place, SEARCH_PATH};

/// `salt-call pillar.items` with the module found in a folder of `module_dirs`.
fn pillar(place: &Place) -> Json {
    let config = place.path().join("config");
    std::fs::create_dir_all(place.path().join("modules/pillar")).unwrap();
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(place.path().join("modules/pillar/terraform_outputs.py"), eos_salt::TERRAFORM_OUTPUTS)
        .unwrap();
    let minion = json!({
        "id": "db1", "root_dir": place.path().join("root"), "file_client": "local", "master_type": "disable",
        "module_dirs": [place.path().join("modules")], "pillar_mask_output": false,
        "ext_pillar": [{"terraform_outputs": place.path().join("estate/.eos/state/outputs")}],
    });
    std::fs::write(config.join("minion"), minion.to_string()).unwrap();
    let output = Command::new(&place.installation.salt_call)
        .args(["--local", "--out=json", "--retcode-passthrough", "--config-dir"])
        .arg(&config)
        .arg("pillar.items")
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .output()
        .unwrap();
    let mut answer: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    answer["local"].take()
}

#[test]
fn published_outputs_are_pillar() {
    let Some(place) = Place::new("published_outputs_are_pillar") else { return };
    assert_eq!(pillar(&place), json!({"terraform_outputs": {}}), "nothing was published yet");
    let outputs = json!({"address": "10.0.0.5", "ports": [80, 443], "tls": {"on": true, "ratio": 0.5, "none": null}, "größe": "ü"});
    place.estate(".eos/state/outputs/production/crm.json", &json!({"outputs": outputs}).to_string());
    place
        .estate(".eos/state/outputs/staging/john.doe.json", r#"{"outputs": {}, "unit": "staging/john.doe"}"#);
    // Being written, or somebody's note.
    place.estate(".eos/state/outputs/production/.crm.json.tmp", "{");
    place.estate(".eos/state/outputs/production/notes.txt", "{");
    place.estate(".eos/state/outputs/readme", "hello");
    assert_eq!(
        pillar(&place),
        json!({"terraform_outputs": {"production": {"crm": outputs}, "staging": {"john.doe": {}}}})
    );
}

#[test]
fn a_broken_file_fails_the_pillar_and_is_named() {
    let Some(place) = Place::new("a_broken_file_fails_the_pillar_and_is_named") else { return };
    place.estate(".eos/state/outputs/production/crm.json", r#"{"outputs": {"a": 1}}"#);
    for broken in ["{\"outputs\": {", "[]", "{\"outputs\": []}", ""] {
        place.estate(".eos/state/outputs/production/web.json", broken);
        let pillar = pillar(&place);
        assert!(pillar.get("terraform_outputs").is_none(), "{pillar}");
        let errors = pillar["_errors"].to_string();
        assert!(errors.contains("production/web.json"), "{broken}: {errors}");
    }
}
