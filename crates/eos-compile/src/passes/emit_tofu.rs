//! The root module of a unit: `main.tf.json` and its inputs.

use eos_catalog::component::DataClass;
use eos_model::provider_schema;
use eos_pillar::estate_file::Backend;
use serde_json::{Value as Json, json};

use crate::passes::check_storage::class_name;
use crate::passes::emit_nomad::{bad_reference, provisions};
use crate::passes::emit_salt::{HOST, UNDO, VOLUMES, VOLUMES_UNDO, data_classes};
use crate::render;
use crate::scope::{self, Scope};
use crate::sink;
use crate::traced::{Traced, TracedValue};
use crate::work::{Document, Emitted, Unit, Work};

/// The module and its inputs in a unit's folder.
pub const MAIN: &str = "main.tf.json";
pub const INPUTS: &str = "inputs.auto.tfvars.json";

pub fn run(work: &Work<'_>, unit: &Unit<'_>, emitted: &mut Emitted) {
    let inputs = scope::later_inputs(work, unit);
    match main(work, unit, emitted) {
        Ok(document) => {
            emitted.documents.insert(MAIN.to_owned(), Document::Json(document));
            // The engine fills in what other units gave; there is nothing to fill in yet.
            emitted.documents.insert(INPUTS.to_owned(), Document::Json(Traced::map()));
        }
        Err(problem) => emitted.problems.push(bad_reference(work, unit, &problem)),
    }
    emitted.inputs = inputs.into_iter().map(|(variable, from, output)| (variable, (from, output))).collect();
}

/// The `terraform` block of a unit: versions, providers, and the state's own key.
pub fn terraform_block(work: &Work<'_>, unit: &str, providers: Traced) -> Traced {
    let env = &work.input.environment.name;
    let backend = match work.input.backend {
        Backend::Local => {
            let path = format!("../../../.eos/state/tofu/{}/{env}/{unit}.tfstate", work.input.estate);
            Traced::fields([("local", Traced::fields([("path", path.into())]))])
        }
        Backend::Http { address, username } => {
            let key = work.input.state_key;
            let base = format!("{}/{key}/{env}/{unit}", address.trim_end_matches('/'));
            let lock = format!("{base}/lock");
            let mut http = Traced::map()
                .with("address", base)
                .with("lock_address", lock.as_str())
                .with("unlock_address", lock.as_str());
            if let Some(username) = username {
                http.set("username", username.as_str());
            }
            Traced::fields([("http", http)])
        }
    };
    Traced::map()
        .with("required_version", ">= 1.11")
        .with("required_providers", providers)
        .with("backend", backend)
}

/// The provider eos ships, as `required_providers` names it.
pub fn eos_provider() -> Traced {
    let schema = provider_schema::provider_schema();
    let field = |name: &'static str| (name, schema[name].clone().into());
    Traced::fields([field("source"), field("version")])
}

fn main(work: &Work<'_>, unit: &Unit<'_>, emitted: &Emitted) -> Result<Traced, String> {
    let scope = Scope::of(work, unit);
    let cloud = &unit.component.cloud;
    let mut resources = own_resources(work, unit, emitted)?;
    let mut providers = Traced::map();
    if !resources.is_empty() {
        providers.set("eos", eos_provider());
    }
    let mut blocks = Traced::map();
    let mut provider_blocks = Traced::map();
    for (name, provider) in &cloud.providers {
        providers.set(name.clone(), json!({"source": provider.source, "version": provider.version}));
        if !provider.config.is_empty() {
            provider_blocks.set(name.clone(), tofu_data(&scope, &json!(provider.config))?);
        }
    }
    for (kind, named) in &cloud.resources {
        let mut group = Traced::map();
        for (name, arguments) in named {
            let mut resource = tofu_data(&scope, arguments)?;
            if cloud
                .data_classes
                .get(&format!("{kind}.{name}"))
                .is_some_and(|class| *class != DataClass::Cache)
            {
                resource.set("lifecycle", prevent_destroy());
            }
            group.set(name.clone(), resource);
        }
        resources.set(kind.clone(), group);
    }
    blocks.set("terraform", terraform_block(work, unit.id.name.as_str(), providers));
    let variables = scope::later_inputs(work, unit);
    if !variables.is_empty() {
        let mut block = Traced::map();
        for (variable, from, output) in variables {
            block.set(variable, json!({"description": format!("{output} of {from}"), "nullable": false}));
        }
        blocks.set("variable", block);
    }
    if !provider_blocks.is_empty() {
        blocks.set("provider", provider_blocks);
    }
    if !cloud.data.is_empty() {
        blocks.set("data", tofu_data(&scope, &json!(cloud.data))?);
    }
    if !resources.is_empty() {
        blocks.set("resource", resources);
    }
    if !cloud.modules.is_empty() {
        blocks.set("module", modules(work, unit, &scope)?);
    }
    let outputs = outputs(unit, &scope)?;
    if !outputs.is_empty() {
        blocks.set("output", outputs);
    }
    Ok(blocks)
}

fn tofu_data(scope: &std::rc::Rc<Scope<'_, '_>>, json: &Json) -> Result<Traced, String> {
    render::data(scope, json, &mut sink::tofu)
}

/// Module calls; `source` becomes the vendored copy, named by its digest.
fn modules(work: &Work<'_>, unit: &Unit<'_>, scope: &std::rc::Rc<Scope<'_, '_>>) -> Result<Traced, String> {
    let mut block = Traced::map();
    for (name, call) in &unit.component.cloud.modules {
        let mut rendered = tofu_data(scope, call)?;
        let source = call
            .get("source")
            .and_then(Json::as_str)
            .ok_or_else(|| format!("module {name} names no source"))?;
        let vendored = super::write_units::vendored_module(work, unit, source)?;
        rendered.set("source", format!("../../{vendored}"));
        block.set(name.clone(), rendered);
    }
    Ok(block)
}

fn outputs(unit: &Unit<'_>, scope: &std::rc::Rc<Scope<'_, '_>>) -> Result<Traced, String> {
    let mut block = Traced::map();
    // Where a replica listens is Nomad's choice: no address is better than one where nobody answers.
    let known = |template: &str| !(unit.is_replicated() && template.contains("@{port."));
    for (name, template) in unit.component.outputs.iter().filter(|(_, template)| known(template)) {
        let rendered = render::text(scope, template)?;
        let value = sink::tofu(&rendered)?;
        block.set(
            name.clone(),
            Traced::map().with("value", Traced { origins: rendered.origins, ..Traced::from(value) }),
        );
    }
    for (offer, spec) in &unit.component.offers {
        for (output, template) in spec.outputs.iter().filter(|(_, template)| template.contains("${")) {
            let name = format!("{}_{output}", offer.replace('-', "_"));
            block.set(name, json!({"value": template}));
        }
    }
    Ok(block)
}

/// The resources of eos's own provider: states first, then what provisions needs, then the job.
fn own_resources(work: &Work<'_>, unit: &Unit<'_>, emitted: &Emitted) -> Result<Traced, String> {
    let mut states = Traced::map();
    let mut jobs = Traced::map();
    let mut before: Vec<String> = Vec::new();
    if emitted.documents.contains_key(VOLUMES)
        && let Some(host) = unit.host
    {
        let mut resource = state_resource(work, unit, "volumes", host.name.as_str(), VOLUMES);
        resource.set("on_destroy", file(VOLUMES_UNDO));
        let classes = data_classes(unit);
        if let Some(class) = classes.first() {
            resource.set("data_class", class_name(*class));
            resource.set("lifecycle", prevent_destroy());
        }
        states.set("volumes", resource);
        before.push("eos_salt_state.volumes".to_owned());
    }
    if emitted.documents.contains_key(HOST) {
        let hosts = unit.state_hosts();
        let mut previous: Option<String> = before.last().cloned();
        for host in &hosts {
            let key = if hosts.len() == 1 { "host".to_owned() } else { format!("host_{}", identifier(host)) };
            let mut resource = state_resource(work, unit, &key, host, HOST);
            if emitted.documents.contains_key(UNDO) {
                resource.set("on_destroy", file(UNDO));
            }
            // Nodes one after the other: the next only when the one before is in order.
            if let Some(previous) = previous.take() {
                resource.set("depends_on", json!([previous]));
            }
            previous = Some(format!("eos_salt_state.{key}"));
            states.set(key.clone(), resource);
            before.push(format!("eos_salt_state.{key}"));
        }
    }
    for job in provisions(work, unit).into_iter().map(|provision| provision.file) {
        let key = format!(
            "provision_{}",
            identifier(job.strip_prefix(&format!("{}-", unit.id.name)).unwrap_or(&job))
        );
        let mut resource = Traced::map()
            .with("name", format!("{}/{key}", unit.id))
            .with("spec", file(&format!("jobs/{job}.nomad.json")))
            .with("purge_on_destroy", true)
            .with("wait", "complete");
        if !before.is_empty() {
            resource.set("depends_on", json!(before));
        }
        jobs.set(key.clone(), resource);
    }
    if !unit.component.tasks.is_empty() {
        if let TracedValue::Map(provisions) = &jobs.value {
            before.extend(provisions.iter().map(|(key, _)| format!("eos_nomad_job.{key}")));
        }
        let classes: Vec<&str> = data_classes(unit).into_iter().map(class_name).collect();
        let mut resource = Traced::map()
            .with("name", format!("{}/job", unit.id))
            .with("spec", file(&format!("jobs/{}.nomad.json", unit.id.name)))
            .with("purge_on_destroy", true)
            .with("wait", "healthy");
        if !classes.is_empty() {
            resource.set("data_classes", json!(classes));
        }
        if !before.is_empty() {
            resource.set("depends_on", json!(before));
        }
        jobs.set("job", resource);
    }
    let mut all = Traced::map();
    if !states.is_empty() {
        all.set("eos_salt_state", states);
    }
    if !jobs.is_empty() {
        all.set("eos_nomad_job", jobs);
    }
    Ok(all)
}

fn state_resource(work: &Work<'_>, unit: &Unit<'_>, key: &str, host: &str, path: &str) -> Traced {
    let entry = work.input.environment.hosts.get(host);
    let via = entry.map_or("minion", |entry| entry.connection.as_str());
    let declared = entry.and_then(|entry| {
        Some(work.written(entry.node.get("connection")?, format!("eos:hosts:{host}:connection")))
    });
    let placed = match &unit.component.states_on {
        Some(setting) if unit.entry.host.as_deref() != Some(host) => format!("settings:{setting}"),
        _ => "host".to_owned(),
    };
    Traced::map()
        .with("name", format!("{}/{key}", unit.id))
        .with("target", Traced::scalar(host, work.chosen(unit, &placed)))
        .with("via", Traced::scalar(via, declared.into_iter().collect()))
        .with("sls", file(path))
}

fn prevent_destroy() -> Traced {
    Traced::fields([("prevent_destroy", true.into())])
}

/// An expression that reads a file of the unit.
pub fn file(path: &str) -> String {
    format!("${{file(\"${{path.module}}/{path}\")}}")
}

/// A word OpenTofu takes as a name.
pub fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
