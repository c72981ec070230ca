//! Why a line of `main.tf.json` is there.

use serde_json::json;

use super::salt::within;
use super::{Cause, Path};
use crate::passes::emit_tofu::identifier;
use crate::work::Unit;

/// Resources of eos's own provider, whose arguments the compiler writes.
const OWN: [&str; 2] = ["eos_nomad_job", "eos_salt_state"];

/// Argument of such a resource → why it is there. `target` and `via` are traced to the pillar where it says them.
const ARGUMENTS: &[(&str, &str)] = &[
    ("data_class", "its volumes hold data of this class, which decides how they are guarded"),
    ("data_classes", "the job works on data of these classes; none of it is ever lost to a plan"),
    (
        "depends_on",
        "volumes first, then the host, then what provisions a need, then the job; on one host one by one",
    ),
    ("lifecycle", "data is kept: a plan that would destroy this resource is refused"),
    ("name", "environment, unit and resource: what the running thing is known by, and adopted by"),
    ("on_destroy", "the states that undo the others when the unit goes"),
    ("purge_on_destroy", "a job that goes leaves nothing in Nomad, so that one of its name can come again"),
    ("sls", "the states are the file beside this one, which salt-call reads without eos"),
    ("spec", "the job is the file beside this one, which nomad job run reads without eos"),
    ("target", "the host the unit is placed on"),
    ("trigger", "the operation's id: applied once, never again"),
    ("via", "how Salt reaches the host"),
    ("wait", "what comes next counts on it: a job is healthy, a batch complete, before the next resource"),
];

/// What every module has, whatever its unit is.
pub fn every_module(path: &[&str]) -> Vec<Cause> {
    let compiler = |why: &'static str| vec![Cause::Compiler(why)];
    match path {
        [] | ["terraform"] => compiler("versions, providers and where the state is"),
        ["terraform", "required_version", ..] => {
            compiler("the oldest OpenTofu or Terraform whose plans and state eos works with")
        }
        ["terraform", "required_providers"] | ["terraform", "required_providers", "eos", ..] => {
            compiler("the provider that runs Nomad jobs and Salt states")
        }
        ["terraform", "backend", ..] => vec![
            Cause::Compiler("each unit has a state of its own, under estate/environment/unit"),
            Cause::Estate("backend".to_owned()),
        ],
        ["resource"] => compiler("what this unit consists of"),
        ["resource", own] | ["resource", own, _] if OWN.contains(own) => {
            compiler("a resource of eos's own provider, one for each job and each file of states")
        }
        ["resource", own, _, argument, ..] if OWN.contains(own) => {
            let known = ARGUMENTS.iter().find(|(known, _)| known == argument);
            known.map(|(_, why)| Cause::Compiler(why)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

pub fn causes(unit: &Unit<'_>, path: &Path) -> Vec<Cause> {
    let steps: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
    let mut causes = every_module(&steps);
    match steps.as_slice() {
        ["resource", own, name, ..] if OWN.contains(own) => causes.extend(own_resource(unit, name)),
        ["variable", ..] => {
            causes.push(Cause::Compiler(
                "a value that exists once another unit is applied; inputs.auto.tfvars.json carries it",
            ));
            causes.extend(steps.get(1).and_then(|variable| need(unit, variable)));
        }
        _ if causes.is_empty() => causes.extend(of_component(unit, path, &steps)),
        _ => {}
    }
    causes
}

/// What a resource of eos's own provider is there for.
fn own_resource(unit: &Unit<'_>, name: &str) -> Option<Cause> {
    match name {
        "volumes" => Some(Cause::component(&["storage"])),
        "job" => Some(Cause::component(&["tasks"])),
        name => match name.strip_prefix("provision_") {
            Some(provisioned) => need(unit, provisioned),
            None => Some(Cause::component(&["states"])),
        },
    }
}

/// The need that an identifier begins with.
fn need(unit: &Unit<'_>, identifies: &str) -> Option<Cause> {
    let begins = |need: &&String| {
        let rest = identifies.strip_prefix(identifier(need).as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let need = unit.needs.keys().filter(begins).max_by_key(|need| need.len())?;
    Some(Cause::chosen(format!("needs:{need}")))
}

/// What the component says for OpenTofu itself.
fn of_component(unit: &Unit<'_>, path: &Path, steps: &[&str]) -> Vec<Cause> {
    let cloud = &unit.component.cloud;
    let below = |section: &str, data: serde_json::Value, from: usize| {
        Cause::Component(within(section, &data, &path[from..]))
    };
    match steps {
        ["terraform", "required_providers", rest @ ..] => {
            vec![Cause::component(&[&["cloud", "providers"], rest].concat())]
        }
        ["module", _, "source"] => vec![
            Cause::Compiler("the catalogue's module, copied to build/modules under the digest of its files"),
            below("cloud:modules", json!(cloud.modules), 1),
        ],
        ["module", ..] => vec![below("cloud:modules", json!(cloud.modules), 1)],
        ["resource", kind, name, "lifecycle", ..] => vec![
            Cause::Compiler("it holds data: a plan that would destroy it is refused"),
            Cause::component(&["cloud", "data_classes", &format!("{kind}.{name}")]),
        ],
        ["resource", ..] => vec![below("cloud:resources", json!(cloud.resources), 1)],
        ["provider", name, ..] => {
            let config = cloud.providers.get(*name).map(|provider| json!(provider.config));
            vec![below(&format!("cloud:providers:{name}:config"), config.unwrap_or_default(), 2)]
        }
        ["provider"] => vec![Cause::component(&["cloud", "providers"])],
        ["data", ..] => vec![below("cloud:data", json!(cloud.data), 1)],
        ["output", name, ..] if unit.component.outputs.contains_key(*name) => {
            vec![Cause::component(&["outputs", name])]
        }
        ["output", name, ..] => {
            let offers = unit.component.offers.iter();
            let mut all =
                offers.flat_map(|(offer, spec)| spec.outputs.keys().map(move |output| (offer, output)));
            let named = all.find(|(offer, output)| format!("{}_{output}", offer.replace('-', "_")) == *name);
            named
                .map(|(offer, output)| Cause::component(&["offers", offer, "outputs", output]))
                .into_iter()
                .collect()
        }
        ["output"] => vec![Cause::component(&["outputs"])],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_ones_of_the_provider() {
        // Sorted, and none that the schema does not have: `lifecycle` and `depends_on` are OpenTofu's own.
        assert!(ARGUMENTS.is_sorted());
        let schema = eos_model::provider_schema::provider_schema().to_string();
        for (argument, _) in ARGUMENTS.iter().filter(|(name, _)| !["depends_on", "lifecycle"].contains(name))
        {
            assert!(schema.contains(&format!("\"{argument}\"")), "{argument}");
        }
    }

    #[test]
    fn what_is_unknown_has_no_reason() {
        assert_eq!(every_module(&["terraform", "cloud"]), []);
        assert_eq!(every_module(&["resource", "eos_nomad_job", "job", "colour"]), []);
        assert_eq!(every_module(&["resource", "aws_instance", "a", "ami"]), []);
    }
}
