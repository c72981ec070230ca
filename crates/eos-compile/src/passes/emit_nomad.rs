//! Nomad jobs: one for the component, and a batch job for each need that has to be provisioned.

use std::collections::BTreeMap;

use eos_catalog::component::{Task, Update};
use eos_model::{Diagnostic, Place, SecretRef, codes};
use serde_json::json;

use crate::passes::nomad_task::{self, TaskContext};
use crate::scope::{Grant, Scope};
use crate::secret_keys::SecretKeys;
use crate::traced::Traced;
use crate::work::{Document, Emitted, Unit, Work};

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

pub fn run(work: &Work<'_>, unit: &Unit<'_>, emitted: &mut Emitted) {
    if let Err(problem) = jobs(work, unit, &mut emitted.documents) {
        emitted.problems.push(bad_reference(work, unit, &problem));
    }
}

/// What a reference that cannot be resolved looks like to the user. It stands in the file of the unit's kind, or in that of
/// a kind that offers the unit something.
pub fn bad_reference(work: &Work<'_>, unit: &Unit<'_>, problem: &str) -> Diagnostic {
    let catalog = work.input.catalog;
    let reference = problem.find("@{").and_then(|at| {
        let reference = &problem[at..];
        reference.find('}').map(|end| &reference[..=end])
    });
    let providers = unit.needs.values().flatten().filter_map(|provider| work.units.get(&provider.name));
    let kinds = std::iter::once(&unit.entry.kind).chain(providers.map(|provider| &provider.entry.kind));
    let mut places = kinds
        .filter_map(|kind| Some(catalog.place_of_reference(kind, reference?)))
        .filter(|place| place.line > 0);
    let place = places.next().unwrap_or_else(|| Place::file(catalog.file(&unit.entry.kind)));
    let fix = match reference {
        Some(reference) if place.line > 0 => format!("correct {reference} in {}:{}", place.file, place.line),
        _ => format!("correct {}", place.file),
    };
    Diagnostic::error(codes::BAD_REFERENCE, format!("{}: {problem}", unit.id.name))
        .why("the catalogue's component refers to something this unit does not have")
        .fix(format!("{fix}, then this command again"))
        .at(place)
}

fn jobs(work: &Work<'_>, unit: &Unit<'_>, documents: &mut BTreeMap<String, Document>) -> Result<(), String> {
    for provision in provisions(work, unit) {
        let file = format!("jobs/{}.nomad.json", provision.file);
        documents.insert(file, Document::Json(provision_job(work, unit, provision)?));
    }
    if !unit.component.tasks.is_empty() {
        let file = format!("jobs/{}.nomad.json", unit.id.name);
        documents.insert(file, Document::Json(service_job(work, unit)?));
    }
    Ok(())
}

fn service_job(work: &Work<'_>, unit: &Unit<'_>) -> Result<Traced, String> {
    let (groups, secrets) = with_secrets(|keys, secrets| {
        let mut groups = Vec::new();
        for (name, task) in &unit.component.tasks {
            let context = TaskContext {
                work,
                unit,
                owner: unit,
                task,
                name,
                job: unit.job(),
                keys,
                scope: Scope::of_task(work, unit, task),
            };
            groups.push(service_group(&context, secrets)?);
        }
        Ok(groups)
    })?;
    Ok(Traced::map().with(
        "Job",
        job(work, unit, unit, &unit.job(), "service", secrets)?
            .with("Update", update(work, unit)?)
            .with("TaskGroups", Traced::list(groups)),
    ))
}

/// The secrets that a job reads, by the keys of its variable.
type Secrets = BTreeMap<String, SecretRef>;

/// Renders what a job runs. Which secrets it reads shows only then; where two of them would have one key, it is rendered
/// once more with keys that tell them apart.
fn with_secrets<T>(
    render: impl Fn(&SecretKeys, &mut Vec<SecretRef>) -> Result<T, String>,
) -> Result<(T, Secrets), String> {
    let mut secrets = Vec::new();
    let mut rendered = render(&SecretKeys::default(), &mut secrets)?;
    let keys = SecretKeys::of(&secrets);
    if !keys.are_usual() {
        rendered = render(&keys, &mut Vec::new())?;
    }
    Ok((rendered, secrets.into_iter().map(|reference| (keys.key(&reference), reference)).collect()))
}

/// How a new version of a job takes the place of the one before.
fn update(work: &Work<'_>, unit: &Unit<'_>) -> Result<Traced, String> {
    let said = &unit.component.update;
    let time = |text: &Option<String>, usual: u64| match text {
        Some(text) => nomad_task::nanoseconds(text),
        None => Ok(usual),
    };
    // A canary runs beside the old one, which takes ports that Nomad hands out: a fixed one is taken on its only host.
    // Otherwise one writer at a time: the old one ends before the new one starts.
    let canary = unit.component.stateless && unit.is_replicated();
    let mut update = Traced::fields([
        ("Stagger", time(&said.stagger, Update::STAGGER * SECOND)?.into()),
        ("MaxParallel", 1.into()),
        ("Canary", u8::from(canary).into()),
    ]);
    if canary {
        update.set("AutoPromote", true);
    }
    let well = match &said.min_healthy_time {
        Some(text) => nomad_task::nanoseconds(text)?.into(),
        None => nomad_task::pace(work, unit).well,
    };
    let deadline = time(&said.healthy_deadline, Update::HEALTHY_DEADLINE * SECOND)?;
    update
        .set("AutoRevert", said.auto_revert.unwrap_or(true))
        .set("MinHealthyTime", well)
        .set("HealthyDeadline", deadline)
        .set("ProgressDeadline", time(&said.progress_deadline, 2 * deadline)?)
        .set("HealthCheck", "checks");
    Ok(update)
}

/// What every job has: its name, where it may run, whose it is and which secrets it reads.
fn job(
    work: &Work<'_>,
    unit: &Unit<'_>,
    runs_on: &Unit<'_>,
    id: &str,
    kind: &str,
    secrets: Secrets,
) -> Result<Traced, String> {
    let mut job =
        Traced::map().with("ID", id).with("Name", id).with("Type", kind).with("Datacenters", json!(["*"]));
    if let Some(namespace) = work.input.namespace {
        job.set("Namespace", namespace);
    }
    if let Some(host) = runs_on.host {
        let replicated = unit.is_replicated();
        let mut origins = work.chosen(runs_on, "host");
        let (nodes, operand) = if replicated {
            // Anywhere in the environment, and nowhere else: other nodes were not declared for it.
            let own = work
                .input
                .environment
                .hosts
                .values()
                .filter(|other| other.environment == unit.id.env.as_str());
            (own.map(|other| other.nomad_node.as_str()).collect::<Vec<_>>().join(","), "set_contains_any")
        } else {
            let node = host.node.get("nomad_node").unwrap_or(&host.node);
            origins.push(work.written(node, format!("eos:hosts:{}:nomad_node", host.name)));
            (host.nomad_node.clone(), "=")
        };
        let constraint = Traced::map()
            .with("LTarget", "${node.unique.name}")
            .with("RTarget", Traced::scalar(nodes, origins))
            .with("Operand", operand);
        job.set("Constraints", Traced::list(vec![constraint]));
    }
    // Two estates may have one name and one Nomad.
    let id = work.input.estate_id.map(|id| format!(".{id}")).unwrap_or_default();
    let mut meta = Traced::map().with("eos.unit", format!("{}{id}/{}", work.input.estate, unit.id));
    let mut sorted: Vec<_> = secrets.into_iter().collect();
    sorted.sort_by(|(_, one), (_, other)| one.cmp(other));
    for (key, reference) in sorted {
        // A reference with its version, never the value; a new version changes the job and so restarts it.
        let owner = work.units.get(&reference.name);
        let origins = owner.map(|owner| {
            let paths = [format!("settings:{}", reference.key), format!("secrets:{}", reference.key)];
            paths.iter().flat_map(|path| work.chosen(owner, path)).collect()
        });
        let value = Traced::scalar(reference.to_string(), origins.unwrap_or_default());
        meta.set(format!("eos.secret.{key}"), value);
    }
    job.set("Meta", meta);
    Ok(job)
}

fn service_group(context: &TaskContext<'_, '_>, secrets: &mut Vec<SecretRef>) -> Result<Traced, String> {
    let unit = context.unit;
    let count = unit.entry.replicas.unwrap_or(1);
    let mut group = Traced::map()
        .with("Name", context.name)
        .with("Count", Traced::scalar(count, context.work.chosen(unit, "replicas")));
    if let Some(network) = nomad_task::network(context, count > 1)? {
        group.set("Networks", Traced::list(vec![network]));
    }
    let services = nomad_task::services(context)?;
    if !services.is_empty() {
        group.set("Services", Traced::list(services));
    }
    group.set("RestartPolicy", restart_policy(3, 5 * MINUTE, 15 * SECOND, "delay"));
    group.set("Tasks", Traced::list(vec![nomad_task::task(context, secrets)?]));
    Ok(group)
}

fn restart_policy(attempts: u8, interval: u64, delay: u64, mode: &str) -> Traced {
    Traced::fields([
        ("Attempts", attempts.into()),
        ("Interval", interval.into()),
        ("Delay", delay.into()),
        ("Mode", mode.into()),
    ])
}

/// A need of a unit that somebody has to provision.
pub struct Provision<'w, 'a> {
    /// The job's file, without folder and ending.
    pub file: String,
    pub owner: &'w Unit<'a>,
    pub task: &'w Task,
    pub grant: Grant<'w, 'a>,
}

impl Provision<'_, '_> {
    /// The id of its job.
    pub fn job(&self, unit: &Unit<'_>) -> String {
        format!("{}-{}", unit.id.env, self.file)
    }
}

/// What has to be provisioned before a unit's own job starts.
pub fn provisions<'w, 'a>(work: &'w Work<'a>, unit: &'w Unit<'a>) -> Vec<Provision<'w, 'a>> {
    let mut found = Vec::new();
    for (need, providers) in &unit.needs {
        let Some((need, spec)) = unit.component.needs.get_key_value(need) else { continue };
        for provider in providers {
            let Some(owner) = work.units.get(&provider.name) else { continue };
            let Some((offer_name, offer)) = owner.component.offers.get_key_value(&spec.offer) else {
                continue;
            };
            let Some(task) = &offer.provision else { continue };
            let suffix = provider.each.as_ref().map(|each| format!("-{each}")).unwrap_or_default();
            let file = format!("{}-{}{suffix}", unit.id.name, need.replace('_', "-"));
            let grant = Grant { offer: offer_name, need, consumer: unit, each: provider.each.clone() };
            found.push(Provision { file, owner, task, grant });
        }
    }
    found
}

fn provision_job<'w, 'a>(
    work: &'w Work<'a>,
    unit: &'w Unit<'a>,
    provision: Provision<'w, 'a>,
) -> Result<Traced, String> {
    let id = provision.job(unit);
    let Provision { owner, task, grant, .. } = provision;
    let scope = Scope::of_grant(work, owner, Some(task), grant, 0);
    let (task, secrets) = with_secrets(|keys, secrets| {
        let (job, scope) = (id.clone(), scope.clone());
        let context = TaskContext { work, unit, owner, task, name: "provision", job, keys, scope };
        nomad_task::task(&context, secrets)
    })?;
    let group = Traced::map()
        .with("Name", "provision")
        .with("Count", 1)
        .with("RestartPolicy", restart_policy(5, 10 * MINUTE, 10 * SECOND, "fail"))
        .with("Tasks", Traced::list(vec![task]));
    Ok(Traced::map().with(
        "Job",
        job(work, unit, owner, &id, "batch", secrets)?.with("TaskGroups", Traced::list(vec![group])),
    ))
}
