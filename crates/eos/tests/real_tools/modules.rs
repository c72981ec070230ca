//! What OpenTofu makes of an estate's root modules, and what the schema of eos's own provider says of them.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use eos_catalog::Catalog;
use serde_json::{Map, Value as Json};

use crate::support::{Sandbox, tool};
use crate::{each, none, read_json, variants};

/// tofu as on a machine without any configuration of its own.
fn tofu(sandbox: &Sandbox, program: &Path, args: &[&str], folder: &Path) -> std::process::Output {
    Command::new(program)
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("HOME", sandbox.path().join("home"))
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap()
}

pub fn tofu_gets(sandbox: &Sandbox, units: &[PathBuf]) {
    let program = tool("tofu");
    let wrong = each(units, |main| {
        let output = tofu(sandbox, &program, &["get", "-no-color"], main.parent().unwrap());
        (!output.status.success())
            .then(|| format!("{}: {}", main.display(), String::from_utf8_lossy(&output.stderr)))
    });
    none(wrong, "directories for tofu get");
}

/// Cloud units by a real provider's schema; the hcloud provider is small enough to have, the others are not.
#[test]
fn cloud_units_are_valid_for_the_hcloud_provider() {
    let found = Command::new(env!("CARGO_BIN_EXE_eos"))
        .args(["tools", "path", "terraform-provider-hcloud"])
        .output()
        .unwrap();
    if !found.status.success() {
        // Past what the test harness catches: nobody is to take this for a test that was run.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED cloud_units_are_valid_for_the_hcloud_provider: eos tools install terraform-provider-hcloud"
        );
        return;
    }
    let provider = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    let catalog = Catalog::built_in();
    let sandbox = Sandbox::with_estate();
    let kinds: Vec<&str> = catalog
        .kinds()
        .filter(|kind| catalog.component(kind).unwrap().cloud.providers.contains_key("hcloud"))
        .collect();
    assert!(kinds.len() >= 2, "{kinds:?}");
    for variant in
        variants::defaults(&catalog).into_iter().filter(|variant| kinds.contains(&variant.kind.as_str()))
    {
        let mut words = vec!["create", &variant.kind];
        words.extend(variant.words.iter().map(String::as_str));
        if !sandbox.estate().join("build/production").join(&variant.name).is_dir() {
            sandbox.ok(&words);
        }
    }
    // tofu takes the provider from its folder, without a registry and without init.
    let config = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hetznercloud/hcloud\" = {:?}\n  }}\n}}\n",
        provider.parent().unwrap()
    );
    std::fs::write(sandbox.path().join("home/.tofurc"), config).unwrap();
    let program = tool("tofu");
    for kind in kinds {
        let folder = sandbox.estate().join("build/production").join(kind);
        for args in [["get", "-no-color"], ["validate", "-no-color"]] {
            let output = tofu(&sandbox, &program, &args, &folder);
            assert!(
                output.status.success(),
                "{kind}: tofu {args:?}\n{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

/// D12: one file describes the two resources, for the compiler as for the provider.
pub fn attributes_are_in_the_schema(units: &[PathBuf]) {
    let schema = eos_model::provider_schema::provider_schema();
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in units {
        let main = read_json(path);
        for (kind, named) in
            main["resource"].as_object().into_iter().flatten().filter(|(kind, _)| kind.starts_with("eos_"))
        {
            seen.insert(kind.clone());
            let Some(attributes) = schema["resources"][kind]["attributes"].as_object() else {
                wrong.push(format!("{}: {kind} is in no schema", path.display()));
                continue;
            };
            for (name, resource) in named.as_object().unwrap() {
                let at = format!("{}: {kind}.{name}", path.display());
                wrong.extend(
                    against_schema(attributes, resource.as_object().unwrap())
                        .into_iter()
                        .map(|problem| format!("{at}: {problem}")),
                );
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["eos_nomad_job", "eos_salt_state"]);
    none(wrong, "attributes");
}

fn against_schema(attributes: &Map<String, Json>, resource: &Map<String, Json>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, value) in
        resource.iter().filter(|(name, _)| !matches!(name.as_str(), "depends_on" | "lifecycle"))
    {
        let Some(attribute) = attributes.get(name) else {
            wrong.push(format!("there is no {name}"));
            continue;
        };
        let fits = match &attribute["type"] {
            Json::String(kind) if kind == "string" => value.is_string(),
            Json::String(kind) if kind == "bool" => value.is_boolean(),
            Json::String(kind) if kind == "number" => value.is_number(),
            Json::Array(_) => value.as_array().is_some_and(|items| items.iter().all(Json::is_string)),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name} is {value}, not {}", attribute["type"]));
        }
        if attribute["computed"] == true && attribute["optional"] != true {
            wrong.push(format!("{name} is for the provider to say"));
        }
    }
    wrong.extend(
        attributes
            .iter()
            .filter(|(name, attribute)| attribute["required"] == true && !resource.contains_key(*name))
            .map(|(name, _)| format!("{name} is missing")),
    );
    wrong
}
