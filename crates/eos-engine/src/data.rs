//! Which resources of a unit hold data.
//!
//! A resource holds data when its compiled module protects it (`prevent_destroy`) or names a data class of its own. A
//! job that only mounts data (`data_classes`) does not: it may go while the data stays.

use std::collections::BTreeMap;

use eos_tofu::UnitFiles;
use serde_json::Value as Json;

use crate::unit::main_of;

/// Address without keys → its data class, when it names one.
pub type DataResources = BTreeMap<String, Option<String>>;

/// The resources with data in a unit's compiled bytes, those of its modules included.
pub fn data_resources(files: &UnitFiles) -> DataResources {
    let main = main_of(files);
    let mut found = in_module(&main, "");
    for (call, source) in module_calls(&main) {
        let folder = source.trim_start_matches("../").to_owned() + "/";
        for (path, bytes) in files.iter().filter(|(path, _)| path.as_str().starts_with(&folder)) {
            if path.as_str().ends_with(".tf.json") {
                let module: Json = serde_json::from_slice(bytes).unwrap_or_default();
                found.extend(in_module(&module, &format!("module.{call}.")));
            }
        }
    }
    found
}

/// Modules whose own language is not read here and that say that something of theirs must not be destroyed.
pub fn opaque_modules(files: &UnitFiles) -> Vec<String> {
    let main = main_of(files);
    let opaque = |source: &str| {
        let folder = source.trim_start_matches("../").to_owned() + "/";
        files.iter().any(|(path, bytes)| {
            path.as_str().starts_with(&folder)
                && path.extension() == Some("tf")
                && String::from_utf8_lossy(bytes).contains("prevent_destroy")
        })
    };
    module_calls(&main)
        .filter(|(_, source)| opaque(source))
        .map(|(call, _)| format!("module.{call}"))
        .collect()
}

/// Every resource a unit's own module declares, without keys, and its modules by name: what it may create.
pub fn declared(files: &UnitFiles) -> Vec<String> {
    let main = main_of(files);
    let mut found: Vec<String> = resources(&main).map(|(address, _)| address).collect();
    for (call, source) in module_calls(&main) {
        let folder = source.trim_start_matches("../").to_owned() + "/";
        for (path, bytes) in files.iter().filter(|(path, _)| path.as_str().starts_with(&folder)) {
            if path.as_str().ends_with(".tf.json") {
                let module: Json = serde_json::from_slice(bytes).unwrap_or_default();
                found.extend(resources(&module).map(|(address, _)| format!("module.{call}.{address}")));
            }
        }
    }
    found
}

/// Why a resource with a provisioner has no inverse.
pub(crate) const RUN_AT_CREATION: &str = "a command that was run when it was created";

/// Why an operation has no inverse.
pub(crate) const CARRIED_OUT: &str = "an operation that was carried out once";

/// Resources that have no inverse, with why: what they did stays done when they are taken back.
pub fn without_inverse(files: &UnitFiles) -> Vec<(String, &'static str)> {
    let main = main_of(files);
    resources(&main)
        .filter_map(|(address, body)| {
            if body.get("trigger").is_some() {
                Some((address, CARRIED_OUT))
            } else if body.get("provisioner").is_some() {
                Some((address, RUN_AT_CREATION))
            } else if address.starts_with("eos_salt_state.") && body.get("on_destroy").is_none() {
                Some((address, "host states without states that undo them"))
            } else {
                None
            }
        })
        .collect()
}

/// Resources of a unit's own module with a provisioner for their destruction.
pub fn with_last_words(files: &UnitFiles) -> Vec<String> {
    fn is_last(value: &Json) -> bool {
        match value {
            Json::Object(fields) => {
                fields.get("when").and_then(Json::as_str) == Some("destroy") || fields.values().any(is_last)
            }
            Json::Array(values) => values.iter().any(is_last),
            _ => false,
        }
    }
    let main = main_of(files);
    let last = |body: &Json| body.get("provisioner").is_some_and(is_last);
    resources(&main).filter(|(_, body)| last(body)).map(|(address, _)| address).collect()
}

/// The module without `prevent_destroy`.
pub(crate) fn without_protection(mut main: Json) -> Json {
    let kinds = main.get_mut("resource").and_then(Json::as_object_mut).into_iter().flatten();
    for (_, named) in kinds {
        for (_, body) in named.as_object_mut().into_iter().flatten() {
            if let Some(lifecycle) = body.get_mut("lifecycle").and_then(Json::as_object_mut) {
                lifecycle.remove("prevent_destroy");
            }
        }
    }
    main
}

fn in_module(module: &Json, prefix: &str) -> DataResources {
    resources(module)
        .filter_map(|(address, body)| {
            let class = body.get("data_class").and_then(Json::as_str).map(str::to_owned);
            let protected =
                body.pointer("/lifecycle/prevent_destroy").and_then(Json::as_bool).unwrap_or(false);
            (protected || class.is_some()).then(|| (format!("{prefix}{address}"), class))
        })
        .collect()
}

fn resources(module: &Json) -> impl Iterator<Item = (String, &Json)> {
    let kinds = module.get("resource").and_then(Json::as_object).into_iter().flatten();
    kinds.flat_map(|(kind, named)| {
        let named = named.as_object().into_iter().flatten();
        named.map(move |(name, body)| (format!("{kind}.{name}"), body))
    })
}

fn module_calls(main: &Json) -> impl Iterator<Item = (&str, &str)> {
    let calls = main.get("module").and_then(Json::as_object).into_iter().flatten();
    calls.filter_map(|(name, call)| Some((name.as_str(), call.get("source")?.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn protected_and_classed_resources_hold_data_and_jobs_that_mount_it_do_not() {
        let main = json!({
            "resource": {
                "eos_salt_state": {
                    "volumes": {"data_class": "database", "lifecycle": {"prevent_destroy": true}},
                    "host": {"on_destroy": "x"},
                    "operation_1": {"trigger": "1"},
                },
                "eos_nomad_job": {"job": {"data_classes": ["database"]}},
            },
            "module": {"disk": {"source": "../../modules/disk-0a"}, "net": {"source": "../../modules/net-0b"}},
        });
        let disk = json!({"resource": {"hcloud_volume": {"v": {"lifecycle": {"prevent_destroy": true}}}}});
        let files = UnitFiles::from([
            ("main.tf.json".into(), main.to_string().into_bytes()),
            ("modules/disk-0a/main.tf.json".into(), disk.to_string().into_bytes()),
            ("modules/net-0b/main.tf".into(), b"lifecycle { prevent_destroy = true }".to_vec()),
        ]);
        assert_eq!(
            data_resources(&files),
            DataResources::from([
                ("eos_salt_state.volumes".into(), Some("database".into())),
                ("module.disk.hcloud_volume.v".into(), None),
            ])
        );
        assert_eq!(opaque_modules(&files), ["module.net"]);
        let stay: Vec<String> = without_inverse(&files).into_iter().map(|(address, _)| address).collect();
        assert_eq!(stay, ["eos_salt_state.volumes", "eos_salt_state.operation_1"]);
        assert_eq!(declared(&files).len(), 5);
    }
}
