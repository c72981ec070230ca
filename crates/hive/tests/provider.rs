//! tofu with the unmodified hashicorp/aws provider: what it makes it finds again, changed or imported, and what
//! it takes away is gone. Nearly all the time is the provider's own sleeping, so the tests run side by side.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{Gateway, python, succeed, tool};

/// tofu, a CLI configuration that names the provider's mirror, and a gateway.
struct Bench {
    dir: tempfile::TempDir,
    tofu: PathBuf,
    python: PathBuf,
    gateway: Gateway,
}

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr test";

impl Bench {
    /// None, said aloud, where the tools are not there.
    fn new(test: &str) -> Option<Bench> {
        let tofu = tool("tofu", test)?;
        let provider = tool("terraform-provider-aws", test)?;
        let python = python(test)?;
        let dir = tempfile::tempdir().unwrap();
        let mirror = mirror(dir.path(), &provider);
        let mirror = format!("provider_installation {{ filesystem_mirror {{ path = {mirror:?} }} }}\n");
        std::fs::write(dir.path().join("tofurc"), mirror).unwrap();
        let gateway = Gateway::start(&dir.path().join("data"), &["--strict"]);
        Some(Bench { dir, tofu, python, gateway })
    }

    /// A copy of a directory of the repository, to work in.
    fn project(&self, source: &str) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let target = self.dir.path().join("project");
        std::fs::create_dir(&target).unwrap();
        for entry in std::fs::read_dir(source).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
        }
        target
    }

    fn command(&self, program: &Path, project: &Path) -> Command {
        let mut command = self.gateway.command(program);
        let tools = [self.tofu.parent(), self.python.parent()];
        let tools = tools.into_iter().flatten().map(|dir| dir.display().to_string());
        let path = tools.chain(std::env::var("PATH")).collect::<Vec<_>>().join(":");
        command
            .current_dir(project)
            .env("PATH", path)
            .env("TF_CLI_CONFIG_FILE", self.dir.path().join("tofurc"))
            .env("TF_VAR_public_key", KEY)
            .env("CHECKPOINT_DISABLE", "1");
        command
    }

    fn tofu(&self, project: &Path, step: u32, arguments: &[&str]) -> String {
        let mut command = self.command(&self.tofu, project);
        let (verb, arguments) = arguments.split_first().unwrap();
        succeed(command.env("TF_VAR_step", step.to_string()).args([verb, "-no-color"]).args(arguments))
    }

    fn plan_is_empty(&self, project: &Path, step: u32) {
        // Exit code 2 would be "there are changes", which `succeed` shows with the plan.
        self.tofu(project, step, &["plan", "-input=false", "-detailed-exitcode"]);
    }
}

/// A mirror with the provider in it, as tofu looks for one.
fn mirror(dir: &Path, provider: &Path) -> PathBuf {
    let file = provider.file_name().unwrap().to_str().unwrap();
    let version = file.rsplit_once("_v").unwrap().1;
    let mirror = dir.join("mirror");
    let folder = mirror.join("registry.opentofu.org/hashicorp/aws").join(version).join("linux_amd64");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(provider, folder.join(file)).unwrap();
    mirror
}

/// One test for all, so that they run side by side however few cores there are: the provider mostly sleeps.
#[test]
fn projects_are_made_changed_imported_and_gone() {
    let changed: Option<Vec<_>> = std::thread::scope(|scope| {
        let begin = |name: &'static str| {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn_scoped(scope, || whole_life(name))
                .unwrap()
        };
        let projects = ["every", "borders", "connections", "machines"].map(begin);
        std::thread::Builder::new().name("example".to_owned()).spawn_scoped(scope, example).unwrap();
        projects.into_iter().map(|project| project.join().unwrap()).collect()
    });
    if let Some(changed) = changed {
        everything_was_changed(&changed.concat().into_iter().collect());
    }
}

/// Each attribute that the provider can update is one that some project changes, or there is a reason why none does.
fn everything_was_changed(changed: &BTreeSet<String>) {
    let mut wrong = Vec::new();
    for line in include_str!("provider/updatable.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(": ") {
            None if !changed.contains(line) => wrong.push(format!("nothing changes {line}")),
            Some((attribute, _)) if changed.contains(attribute) => {
                wrong.push(format!("{attribute} is changed after all"));
            }
            _ => {}
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "changed are {changed:#?}");
}

/// `aws_vpc.tags`: what a plan updates.
fn updated(plan: &str) -> Vec<String> {
    let plan: Value = serde_json::from_str(plan).unwrap();
    let mut found = Vec::new();
    for resource in plan["resource_changes"].as_array().unwrap() {
        let change = &resource["change"];
        if change["actions"] == serde_json::json!(["update"]) {
            let kind = resource["type"].as_str().unwrap();
            differences(kind, &change["before"], &change["after"], &change["after_unknown"], &mut found);
        }
    }
    found
}

/// The places where two values differ; what is in a list has the list's place.
fn differences(place: &str, before: &Value, after: &Value, unknown: &Value, found: &mut Vec<String>) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if *unknown != true && (before == after || is_empty(before) && is_empty(after)) {
        return;
    }
    found.push(place.to_owned());
    let keys = [before, after, unknown].into_iter().filter_map(Value::as_object).flat_map(|map| map.keys());
    for key in keys.collect::<BTreeSet<_>>() {
        differences(&format!("{place}.{key}"), &before[key], &after[key], &unknown[key], found);
    }
    let length = [before, after].into_iter().filter_map(Value::as_array).map(Vec::len).max().unwrap_or(0);
    for at in 0..length {
        differences(place, &before[at], &after[at], &unknown[at], found);
    }
}

/// The script of the example does it all itself, with the aws CLI.
fn example() {
    let Some(bench) = Bench::new("provider::example") else { return };
    let project = bench.project("../../examples/hive");
    succeed(&mut bench.command(&project.join("test.sh"), &project));
    assert_eq!(bench.gateway.leftovers(), []);
}

/// Made, changed in place, imported, taken away; after each step the plan is empty. Gives what was changed.
fn whole_life(name: &str) -> Option<Vec<String>> {
    let bench = Bench::new(&format!("provider::{name}"))?;
    let project = bench.project(&format!("tests/provider/{name}"));
    bench.tofu(&project, 1, &["init", "-input=false"]);
    bench.tofu(&project, 1, &["apply", "-input=false", "-auto-approve"]);
    bench.plan_is_empty(&project, 1);
    bench.tofu(&project, 2, &["plan", "-input=false", "-out=second"]);
    let changed = updated(&bench.tofu(&project, 2, &["show", "-json", "second"]));
    let applied = bench.tofu(&project, 2, &["apply", "-input=false", "second"]);
    assert!(applied.contains("0 destroyed"), "all in place: {applied}");
    bench.plan_is_empty(&project, 2);
    import_all(&bench, &project);
    bench.plan_is_empty(&project, 2);
    bench.tofu(&project, 2, &["destroy", "-input=false", "-auto-approve"]);
    assert_eq!(bench.gateway.leftovers(), []);
    Some(changed)
}

/// Forgets what can be imported and imports it all: nothing may have to change.
fn import_all(bench: &Bench, project: &Path) {
    let ids = bench.tofu(project, 2, &["output", "-json", "imports"]);
    let ids: serde_json::Map<String, Value> = serde_json::from_str(&ids).unwrap();
    let mut forget = vec!["state", "rm"];
    forget.extend(ids.keys().map(String::as_str));
    let mut blocks = String::new();
    for (address, id) in &ids {
        blocks.push_str(&format!("import {{\n  to = {address}\n  id = {id}\n}}\n"));
    }
    let mut command = bench.command(&bench.tofu, project);
    succeed(command.args(&forget));
    std::fs::write(project.join("imports.tf"), blocks).unwrap();
    let imported = bench.tofu(project, 2, &["apply", "-input=false", "-auto-approve"]);
    let expected = format!("{} imported, 0 added, 0 changed, 0 destroyed", ids.len());
    assert!(imported.contains(&expected), "wanted {expected}: {imported}");
    std::fs::remove_file(project.join("imports.tf")).unwrap();
}
