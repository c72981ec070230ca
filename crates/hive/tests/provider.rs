//! tofu with the unmodified hashicorp/aws provider, one test a resource: what it makes it finds again, changed or
//! imported, and what it takes away is gone.
//!
//! Most of the time of a step goes into reading the provider's schemas, so several resources go through it together, each
//! in a module of its own. If that fails, each goes alone, and those fail that must.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;
use support::{Gateway, python, succeed, tool};
use test_tools::skipped;

/// A test for each, by its name, and a file in `provider/`.
macro_rules! resources {
    ($($name:ident)*) => {
        const RESOURCES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            lives(stringify!($name));
        })*
    };
}

resources! {
    aws_ami
    aws_ebs_snapshot
    aws_ebs_volume
    aws_egress_only_internet_gateway
    aws_eip
    aws_instance
    aws_internet_gateway
    aws_key_pair
    aws_launch_template
    aws_nat_gateway
    aws_network_acl
    aws_network_interface
    aws_placement_group
    aws_route
    aws_route_table
    aws_route_table_association
    aws_security_group
    aws_security_group_rule
    aws_subnet
    aws_volume_attachment
    aws_vpc
    aws_vpc_dhcp_options
    aws_vpc_endpoint
    aws_vpc_peering_connection
    aws_vpc_security_group_egress_rule
    aws_vpc_security_group_ingress_rule
}

/// tofu and a gateway, both of one test.
struct Bench {
    dir: tempfile::TempDir,
    tofu: PathBuf,
    provider: PathBuf,
    gateway: Gateway,
}

impl Bench {
    /// None, said aloud, where the tools are not there.
    fn new(test: &str) -> Option<Bench> {
        let test = format!("provider::{test}");
        let tofu = tool("tofu", &test)?;
        let provider = tool("terraform-provider-aws", &test)?;
        let dir = tempfile::tempdir().unwrap();
        let gateway = Gateway::start(&dir.path().join("data"), &["--strict"]);
        Some(Bench { dir, tofu, provider, gateway })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = self.gateway.command(program);
        command
            .current_dir(self.dir.path())
            .env("TMPDIR", self.dir.path())
            .env("TF_CLI_CONFIG_FILE", "tofurc")
            .env("CHECKPOINT_DISABLE", "1")
            // Half of the time of a small plan is reading the provider's schemas, much of it collecting garbage.
            .env("GOGC", "400");
        std::fs::write(self.dir.path().join("tofurc"), "").unwrap();
        command
    }
}

/// One provider process for all that tofu does to a project: a start each time takes as long as the work.
struct Project<'a> {
    bench: &'a Bench,
    provider: Child,
    /// Kept open: the provider ends when it cannot write.
    _output: Lines<BufReader<ChildStdout>>,
    reattach: String,
}

impl Project<'_> {
    /// A module for each resource.
    fn new<'a>(bench: &'a Bench, resources: &[&str]) -> Project<'a> {
        let root = bench.dir.path();
        let mut main = std::fs::read_to_string(folder().join("root.tf")).unwrap();
        let mut imports = String::new();
        for resource in resources {
            std::fs::create_dir(root.join(resource)).unwrap();
            for name in ["common", resource] {
                let name = format!("{name}.tf");
                std::fs::copy(folder().join(&name), root.join(resource).join(&name)).unwrap();
            }
            main += &format!("module {resource:?} {{\n  source = \"./{resource}\"\n  step = var.step\n}}\n");
            imports += &format!("    {resource} = module.{resource}.imports\n");
        }
        main += &format!("output \"imports\" {{\n  value = {{\n{imports}  }}\n}}\n");
        std::fs::write(root.join("main.tf"), main).unwrap();
        succeed(bench.command(&bench.tofu).arg("get"));
        let mut provider = bench
            .command(&bench.provider)
            .arg("-debug")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(provider.stdout.take().unwrap()).lines();
        let reattach = lines.find_map(|line| {
            let line = line.unwrap();
            let value = line.trim().strip_prefix("TF_REATTACH_PROVIDERS='")?.strip_suffix('\'')?;
            Some(value.replace("registry.terraform.io", "registry.opentofu.org"))
        });
        Project { bench, provider, _output: lines, reattach: reattach.unwrap() }
    }

    fn tofu(&self, step: u32, arguments: &[&str]) -> String {
        self.tofu_that(step, false, arguments)
    }

    fn tofu_that(&self, step: u32, skips: bool, arguments: &[&str]) -> String {
        let mut command = self.bench.command(&self.bench.tofu);
        command
            .env("TF_REATTACH_PROVIDERS", &self.reattach)
            .env("TF_VAR_step", step.to_string())
            .env("TF_VAR_skip", skips.to_string());
        succeed(command.args(arguments).arg("-no-color"))
    }

    /// Says what it did: `1 added, 0 changed, 0 destroyed`.
    fn apply(&self, step: u32) -> String {
        self.tofu(step, &["apply", "-input=false", "-auto-approve", "-parallelism=40"])
    }

    fn plan_is_empty(&self, step: u32, skips: bool) {
        // Exit code 2 would be "there are changes", which `succeed` shows with the plan.
        self.tofu_that(step, skips, &["plan", "-input=false", "-detailed-exitcode", "-parallelism=40"]);
    }

    fn state(&self) -> Value {
        let text = std::fs::read(self.bench.dir.path().join("terraform.tfstate")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Forgets what can be imported and imports it all: nothing may have to change.
    fn import_all(&self) {
        let state = self.state();
        let modules = state["outputs"]["imports"]["value"].as_object().unwrap().iter();
        let ids: Vec<(String, &Value)> = modules
            .flat_map(|(module, ids)| {
                let ids = ids.as_object().unwrap().iter();
                ids.map(move |(address, id)| (format!("module.{module}.{address}"), id))
            })
            .collect();
        let mut forget = vec!["state", "rm"];
        forget.extend(ids.iter().map(|(address, _)| address.as_str()));
        succeed(self.bench.command(&self.bench.tofu).args(forget));
        let blocks =
            ids.iter().map(|(address, id)| format!("import {{\n  to = {address}\n  id = {id}\n}}\n"));
        let imports = self.bench.dir.path().join("imports.tf");
        std::fs::write(&imports, blocks.collect::<String>()).unwrap();
        let imported = self.apply(2);
        let expected = format!("{} imported, 0 added, 0 changed, 0 destroyed", ids.len());
        assert!(imported.contains(&expected), "wanted {expected}: {imported}");
        std::fs::remove_file(imports).unwrap();
    }
}

impl Drop for Project<'_> {
    fn drop(&mut self) {
        let _ = self.provider.kill();
        let _ = self.provider.wait();
    }
}

/// As many projects as there are cores on a small machine, and one more: the provider sleeps at times.
const GROUPS: usize = 3;

/// What was changed of each resource, or what went wrong.
type Lives = Result<BTreeMap<&'static str, BTreeSet<String>>, String>;

/// The lives of every third resource, which any of their tests may begin. None where the tools are not there.
fn lives_together(group: usize) -> Option<&'static Lives> {
    static LIVES: [OnceLock<Option<Lives>>; GROUPS] = [const { OnceLock::new() }; GROUPS];
    let resources = || RESOURCES.iter().copied().skip(group).step_by(GROUPS).collect::<Vec<_>>();
    let run = || {
        let caught = std::panic::catch_unwind(|| whole_life(&format!("group {group}"), &resources()));
        caught.map_err(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default()).transpose()
    };
    LIVES[group].get_or_init(run).as_ref()
}

fn lives(resource: &'static str) {
    let place = RESOURCES.iter().position(|known| *known == resource).unwrap();
    let changed = match lives_together(place % GROUPS) {
        None => return skipped(resource, "see its group"),
        Some(Ok(changed)) => changed[resource].clone(),
        Some(Err(_)) => match whole_life(resource, &[resource]) {
            None => return skipped(resource, "see its group"),
            Some(mut changed) => changed.remove(resource).unwrap(),
        },
    };
    everything_was_changed(resource, &changed);
}

#[test]
fn together_they_do_not_disturb_each_other() {
    for group in 0..GROUPS {
        if let Some(Err(error)) = lives_together(group) {
            panic!("{error}");
        }
    }
}

/// Made, changed in place, imported, taken away; after each step the plan is empty. What was changed of each.
fn whole_life(test: &str, resources: &[&'static str]) -> Option<BTreeMap<&'static str, BTreeSet<String>>> {
    let bench = Bench::new(test)?;
    let project = Project::new(&bench, resources);
    project.apply(1);
    project.plan_is_empty(1, false);
    let before = project.state();
    let applied = project.apply(2);
    assert!(applied.contains(" 0 destroyed"), "all in place: {applied}");
    let after = project.state();
    project.plan_is_empty(2, false);
    project.import_all();
    project.plan_is_empty(2, true);
    project.tofu(2, &["destroy", "-input=false", "-auto-approve", "-refresh=false", "-parallelism=40"]);
    assert_eq!(bench.gateway.leftovers(), []);
    Some(resources.iter().map(|resource| (*resource, changes(resource, &before, &after))).collect())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provider")
}

/// What a configuration can set, each with the reason why it is not changed here, if there is one.
fn attributes() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let lines = include_str!("provider/attributes.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        line.split_once(": ").map_or((line, None), |(attribute, reason)| (attribute, Some(reason)))
    })
}

/// Each attribute is one that the resource's test changes, or there is a reason.
fn everything_was_changed(resource: &str, changed: &BTreeSet<String>) {
    let own = attributes().filter(|(attribute, _)| attribute.split('.').next() == Some(resource));
    let wrong: Vec<_> =
        own.filter(|(attribute, reason)| changed.contains(*attribute) == reason.is_some()).collect();
    assert_eq!(wrong, [], "not changed, or changed in spite of the reason; changed are {changed:#?}");
}

/// `aws_vpc.tags`: what differs between two states of what is in both, in the module of a resource.
fn changes(module: &str, before: &Value, after: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let module = format!("module.{module}");
    let instances = |state: &Value| {
        let mut resources = state["resources"].as_array().unwrap().clone();
        resources.retain(|resource| resource["module"] == module.as_str());
        resources.into_iter().flat_map(|resource| {
            let instances = resource["instances"].as_array().unwrap().clone();
            let place = move |instance: Value| (resource["type"].clone(), resource["name"].clone(), instance);
            instances.into_iter().map(place)
        })
    };
    for (kind, name, old) in instances(before) {
        for (_, _, new) in instances(after)
            .filter(|new| new.0 == kind && new.1 == name && new.2["index_key"] == old["index_key"])
        {
            differences(kind.as_str().unwrap(), &old["attributes"], &new["attributes"], &mut found);
        }
    }
    found
}

/// The places where two values differ; what is in a list has the list's place.
fn differences(place: &str, before: &Value, after: &Value, found: &mut BTreeSet<String>) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if before == after || is_empty(before) && is_empty(after) {
        return;
    }
    found.insert(place.to_owned());
    let keys = [before, after].into_iter().filter_map(Value::as_object).flat_map(|map| map.keys());
    for key in keys.collect::<BTreeSet<_>>() {
        differences(&format!("{place}.{key}"), &before[key], &after[key], found);
    }
    let length = [before, after].into_iter().filter_map(Value::as_array).map(Vec::len).max().unwrap_or(0);
    for at in 0..length {
        differences(place, &before[at], &after[at], found);
    }
}

#[test]
fn every_file_has_a_test() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files =
        files.filter_map(|path| Some(path.to_str()?.rsplit_once('/')?.1.strip_suffix(".tf")?.to_owned()));
    let known: BTreeSet<String> =
        RESOURCES.iter().copied().chain(["common", "root"]).map(str::to_owned).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), known);
}

/// As `tofu providers schema` tells it, as far as it is read here.
#[derive(Deserialize)]
struct Schemas {
    provider_schemas: BTreeMap<String, Schema>,
}

#[derive(Deserialize)]
struct Schema {
    resource_schemas: BTreeMap<String, Within>,
}

#[derive(Deserialize)]
struct Within {
    block: Block,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    attributes: BTreeMap<String, Attribute>,
    #[serde(default)]
    block_types: BTreeMap<String, Within>,
}

#[derive(Deserialize)]
struct Attribute {
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    required: bool,
    /// `["set", ["object", {…}]]` is a block in another way of writing.
    r#type: Option<Value>,
}

impl Block {
    /// The places of what a configuration can set, save what every resource has and the provider keeps to itself.
    fn settable(&self, place: &str, found: &mut BTreeSet<String>) {
        let own = |name: &str| ["id", "region", "tags_all", "timeouts"].contains(&name);
        for (name, attribute) in &self.attributes {
            if !own(name) && (attribute.optional || attribute.required) {
                let place = format!("{place}.{name}");
                let members = attribute.r#type.as_ref().and_then(|kind| kind.pointer("/1/1")?.as_object());
                found.extend(members.into_iter().flatten().map(|(member, _)| format!("{place}.{member}")));
                found.insert(place);
            }
        }
        for (name, within) in self.block_types.iter().filter(|(name, _)| !own(name)) {
            let place = format!("{place}.{name}");
            within.block.settable(&place, found);
            found.insert(place);
        }
    }
}

#[test]
fn the_list_has_every_attribute_and_no_other() {
    let Some(bench) = Bench::new("the_list") else { return };
    let project = Project::new(&bench, &[]);
    let schemas = project.tofu(1, &["providers", "schema", "-json"]);
    let schemas: Schemas = serde_json::from_str(&schemas).unwrap();
    let schema = &schemas.provider_schemas.values().next().unwrap().resource_schemas;
    let mut settable = BTreeSet::new();
    for resource in RESOURCES {
        schema[*resource].block.settable(resource, &mut settable);
    }
    let listed: BTreeSet<&str> = attributes().map(|(attribute, _)| attribute).collect();
    let unknown: Vec<_> = listed.iter().filter(|attribute| !settable.contains(**attribute)).collect();
    assert!(unknown.is_empty(), "the provider knows no {unknown:#?}");
    // A block stands for all that is in it, and all that is in it for the block.
    let is_covered = |place: &str| {
        let ends = place.match_indices('.').map(|(end, _)| end).chain([place.len()]);
        let inside = format!("{place}.");
        ends.skip(1).any(|end| listed.contains(&place[..end]))
            || listed.iter().any(|attribute| attribute.starts_with(&inside))
    };
    let missing: Vec<_> = settable.iter().filter(|place| !is_covered(place)).collect();
    assert!(missing.is_empty(), "neither changed nor with a reason: {missing:#?}");
}

/// The script of the example does it all itself, with the aws CLI, a mirror of the provider, and `tofu init`. By its name
/// it is begun first: it takes as long as a group.
#[test]
fn an_example() {
    let Some(bench) = Bench::new("an_example") else { return };
    let Some(python) = python("provider::an_example") else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hive");
    for file in ["main.tf", "test.sh"] {
        std::fs::copy(example.join(file), bench.dir.path().join(file)).unwrap();
    }
    let mut command = bench.command(&bench.dir.path().join("test.sh"));
    let tools = [&bench.tofu, &python].map(|tool| tool.parent().unwrap().display().to_string());
    let path = tools.into_iter().chain(std::env::var("PATH")).collect::<Vec<_>>().join(":");
    let mirror = format!("provider_installation {{ filesystem_mirror {{ path = {:?} }} }}\n", mirror(&bench));
    std::fs::write(bench.dir.path().join("tofurc"), mirror).unwrap();
    // It is not alone in the account.
    let make = "import boto3; v = boto3.client('ec2').create_volume(AvailabilityZone='us-east-1a', Size=1); print(v['VolumeId'])";
    let other = succeed(bench.gateway.command(&python).args(["-c", make]));
    succeed(command.env("PATH", path));
    let left: Vec<_> = bench.gateway.leftovers().into_iter().map(|left| left.id).collect();
    assert_eq!(left, [other.trim()]);
}

/// A mirror with the provider in it, as tofu looks for one.
fn mirror(bench: &Bench) -> PathBuf {
    let file = bench.provider.file_name().unwrap().to_str().unwrap();
    let version = file.rsplit_once("_v").unwrap().1;
    let mirror = bench.dir.path().join("mirror");
    let folder = mirror.join("registry.opentofu.org/hashicorp/aws").join(version).join("linux_amd64");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&bench.provider, folder.join(file)).unwrap();
    mirror
}
