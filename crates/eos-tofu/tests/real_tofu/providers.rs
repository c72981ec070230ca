//! Providers from a mirror: installed once for many units, and what is said when one ends on its own.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use eos_tofu::{InitOutcome, OfflineProvider, PlanOptions, TofuError};
use serde_json::{Value, json};

use crate::support::{Estate, quietly, tool, with_each_tool};

pub fn hcloud(test: &str) -> Option<OfflineProvider> {
    let binary = tool("terraform-provider-hcloud", test)?;
    let version = binary.file_name()?.rsplit_once("_v")?.1.to_owned();
    Some(OfflineProvider { namespace: "hetznercloud".into(), kind: "hcloud".into(), version, binary })
}

fn main_of(resource: Value) -> Value {
    json!({
        "terraform": {"required_providers": {"hcloud": {"source": "hetznercloud/hcloud"}}},
        "data": {"hcloud_location": {"l": resource}},
    })
}

#[test]
fn many_units_initialise_at_once_on_one_plugin_cache() {
    with_each_tool("plugin cache", |mut estate: Estate| {
        let Some(provider) = hcloud("plugin cache") else { return };
        estate.settings.providers.push(provider);
        let names = ["u1", "u2", "u3", "u4"];
        let estate = &estate;
        std::thread::scope(|scope| {
            for name in names {
                scope.spawn(move || {
                    let backend = estate.local(name);
                    let session = estate.filled(name, main_of(json!({"name": "fsn1"})), &backend);
                    let installation = estate.installation();
                    assert_eq!(session.init(&installation, &backend).unwrap(), InitOutcome::Done);
                    assert_eq!(session.init(&installation, &backend).unwrap(), InitOutcome::Skipped);
                });
            }
        });
        for name in names {
            let session = estate.filled(name, main_of(json!({"name": "fsn1"})), &estate.local(name));
            quietly(&session, &["validate"]);
        }
        // The cache was emptied: what a unit links to is gone, so it initialises again.
        std::fs::remove_dir_all(estate.places.plugin_cache()).unwrap();
        let backend = estate.local("u1");
        let session = estate.filled("u1", main_of(json!({"name": "fsn1"})), &backend);
        assert_eq!(session.init(&estate.installation(), &backend).unwrap(), InitOutcome::Done);
    });
}

#[test]
fn another_binary_of_the_eos_provider_under_the_same_version_needs_no_help() {
    with_each_tool("own provider", |mut estate: Estate| {
        let binary = estate.path("eos");
        let main = json!({
            "terraform": {"required_providers": {"eos": {"source": "eos.local/eos/eos", "version": "0.1.0"}}},
            "resource": {"terraform_data": {"a": {"input": "x"}}},
            "provider": {"eos": {}},
        });
        estate.settings.eos_binary = Some(binary.clone());
        let backend = estate.local("web");
        for text in ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 2 # another build\n"] {
            std::fs::write(&binary, text).unwrap();
            std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
            let session = estate.filled("web", main.clone(), &backend);
            assert_eq!(session.init(&estate.installation(), &backend).unwrap(), InitOutcome::Done);
            assert_eq!(session.init(&estate.installation(), &backend).unwrap(), InitOutcome::Skipped);
            let lock = std::fs::read_to_string(session.folder.dir().join(".terraform.lock.hcl")).unwrap();
            assert_eq!(lock.matches("eos.local/eos/eos").count(), 1, "{lock}");
            // It is no provider: it ends before it says anything.
            let out = session.folder.plan_file();
            let error = session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
            assert!(matches!(error, TofuError::ProviderCrashed { .. }), "{error:?}");
        }
    });
}

#[test]
fn a_provider_that_is_killed_has_crashed() {
    with_each_tool("provider crash", |mut estate: Estate| {
        let Some(provider) = hcloud("provider crash") else { return };
        estate.settings.providers.push(provider);
        // An endpoint that accepts and never answers: the provider waits in its call.
        let endpoint = TcpListener::bind("127.0.0.1:0").unwrap();
        estate.variables.push(("HCLOUD_TOKEN".into(), "x".repeat(64)));
        estate
            .variables
            .push(("HCLOUD_ENDPOINT".into(), format!("http://{}", endpoint.local_addr().unwrap())));
        let session = estate.unit("web", main_of(json!({"name": "fsn1"})));
        let waiting = std::thread::spawn(move || {
            let connection = endpoint.accept().unwrap();
            // It is the only child of a tofu of ours with that name and this endpoint in its environment.
            let address = format!("HCLOUD_ENDPOINT=http://{}", endpoint.local_addr().unwrap());
            for entry in std::fs::read_dir("/proc").unwrap().flatten() {
                let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
                let environment = String::from_utf8_lossy(&read("environ")).into_owned();
                let name = String::from_utf8_lossy(&read("cmdline")).into_owned();
                if environment.contains(&address) && name.contains("terraform-provider-hcloud") {
                    let pid = entry.file_name().to_str().unwrap().parse().unwrap();
                    let pid = rustix::process::Pid::from_raw(pid).unwrap();
                    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
                }
            }
            drop(connection);
        });
        let out = session.folder.plan_file();
        let error = session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
        waiting.join().unwrap();
        assert!(matches!(error, TofuError::ProviderCrashed { .. }), "{error:?}");
    });
}
