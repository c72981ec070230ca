//! One task of a Nomad job: driver, environment, rendered files, ports, checks and size.

use std::rc::Rc;

use eos_catalog::component::{Check, FileFormat, Resources, Task, Transport, Update};
use eos_catalog::discovery::DISCOVERY;
use eos_model::{Duration, SecretRef};
use serde_json::{Value as Json, json};

use crate::render;
use crate::scope::Scope;
use crate::secret_keys::SecretKeys;
use crate::sink::{self, TemplateSink};
use crate::traced::{Traced, TracedValue};
use crate::work::{Unit, Work};

/// A task with everything its rendering depends on.
pub struct TaskContext<'w, 'a> {
    pub work: &'w Work<'a>,
    /// The unit the job belongs to.
    pub unit: &'w Unit<'a>,
    /// The unit whose component describes the task: the same, or who offers what is provisioned.
    pub owner: &'w Unit<'a>,
    pub task: &'w Task,
    pub name: &'w str,
    pub job: String,
    pub keys: &'w SecretKeys,
    pub scope: Rc<Scope<'w, 'a>>,
}

/// Sizes people use, by tier, where the catalogue names none.
const USUAL: [(&str, Resources); 3] = [
    ("dev", Resources { cpu: 100, memory: 256 }),
    ("staging", Resources { cpu: 200, memory: 512 }),
    ("production", Resources { cpu: 500, memory: 1024 }),
];

/// Seconds between two looks at a service, and for how long it must be well before it counts. A first look comes at once
/// and often too early, so the second decides how long a deployment takes: where people try things out it comes soon.
const PACE: [(&str, u64, u64); 3] = [("dev", 2, 3), ("staging", 10, 10), ("production", 10, 10)];

/// What is stateless has others beside it while a new one proves itself: in production it takes its time.
const UNHURRIED: (u64, u64) = (30, Update::LONGEST_WELL);

/// In nanoseconds, as Nomad counts.
pub struct Pace {
    pub look: Traced,
    pub well: Traced,
}

pub fn pace(work: &Work<'_>, unit: &Unit<'_>) -> Pace {
    let tier = tier(work, unit);
    let of_tier =
        PACE.iter().find(|(name, ..)| *name == tier).map_or((10, 10), |(_, look, well)| (*look, *well));
    let unhurried = unit.component.stateless && tier == "production";
    let (look, well) = if unhurried { UNHURRIED } else { of_tier };
    let traced = |seconds: u64| Traced::scalar(seconds * 1_000_000_000, work.chosen(unit, "tier"));
    Pace { look: traced(look), well: traced(well) }
}

/// Of a unit: its own, or that of its environment.
pub fn tier<'w>(work: &'w Work<'_>, unit: &'w Unit<'_>) -> &'w str {
    unit.entry.tier.as_deref().unwrap_or(work.input.tier.as_str())
}

pub fn network(context: &TaskContext<'_, '_>, dynamic: bool) -> Result<Option<Traced>, String> {
    let mut ports = Vec::new();
    for (label, port) in &context.task.ports {
        let outside = context.scope.setting(&port.setting);
        let outside = outside.ok_or_else(|| format!("there is no setting {}", port.setting))?;
        let to = port.to.filter(|_| context.owner.runtime() == Some("container"));
        let mut entry = Traced::map().with("Label", label.as_str());
        if !dynamic {
            entry.set(
                "Value",
                Traced::scalar(outside.typed.clone().unwrap_or_default(), outside.origins.clone()),
            );
        }
        match to {
            Some(to) => entry.set("To", to),
            None if context.owner.runtime() == Some("container") => {
                entry.set("To", outside.typed.unwrap_or_default())
            }
            None => &mut entry,
        };
        ports.push(entry);
    }
    if ports.is_empty() {
        return Ok(None);
    }
    let key = if dynamic { "DynamicPorts" } else { "ReservedPorts" };
    Ok(Some(Traced::map().with(key, Traced::list(ports))))
}

pub fn services(context: &TaskContext<'_, '_>) -> Result<Vec<Traced>, String> {
    let mut services = Vec::new();
    let in_consul = context.unit.needs.get(DISCOVERY).is_some_and(|providers| !providers.is_empty());
    let chosen = context.work.chosen(context.unit, &format!("needs:{DISCOVERY}"));
    for (label, port) in &context.task.ports {
        let mut checks = Vec::new();
        for check in context.task.checks.iter().filter(|check| check.port == *label) {
            let mut entry = Traced::map().with("Name", format!("{label}-{}", checks.len() + 1));
            match &check.path {
                Some(path) => {
                    entry.set("Type", "http").set("Path", path.as_str());
                    if check.https {
                        entry.set("Protocol", "https").set("TLSSkipVerify", true);
                    }
                }
                None if in_consul && !check.command.is_empty() => script(context, check, &mut entry)?,
                None => {
                    entry.set("Type", "tcp");
                }
            }
            match check.interval.as_deref() {
                Some(interval) => entry.set("Interval", nanoseconds(interval)?),
                None => entry.set("Interval", pace(context.work, context.unit).look),
            };
            entry.set("Timeout", nanoseconds(check.timeout.as_deref().unwrap_or("5s"))?);
            entry.set(
                "CheckRestart",
                Traced::fields([
                    ("Limit", 5.into()),
                    ("Grace", 120_000_000_000_u64.into()),
                    ("IgnoreWarnings", false.into()),
                ]),
            );
            checks.push(entry);
        }
        if checks.is_empty() || port.protocol == Transport::Udp {
            continue;
        }
        services.push(
            Traced::map()
                .with("Name", service_name(&context.job, context.name, label))
                .with("PortLabel", label.as_str())
                .with("Provider", Traced::scalar(if in_consul { "consul" } else { "nomad" }, chosen.clone()))
                .with("Checks", Traced::list(checks)),
        );
    }
    Ok(services)
}

/// A check that runs a program in the task, as only Consul does.
fn script(context: &TaskContext<'_, '_>, check: &Check, entry: &mut Traced) -> Result<(), String> {
    let mut words = Vec::new();
    for word in &check.command {
        let rendered = render::text(&context.scope, word)?;
        words.push(Traced { origins: rendered.origins.clone(), ..sink::nomad_config(&rendered)?.into() });
    }
    // Words and not numbers, whatever a port is.
    for word in &mut words {
        if let TracedValue::Plain(value) = &mut word.value
            && !value.is_string()
        {
            *value = Json::from(value.to_string());
        }
    }
    let program = words.remove(0);
    entry.set("Type", "script").set("TaskName", context.name).set("Command", program);
    entry.set("Args", Traced::list(words));
    Ok(())
}

/// Nomad's service names are DNS labels.
pub fn service_name(job: &str, task: &str, label: &str) -> String {
    let name = format!("{job}-{task}-{label}").replace(['.', '_'], "-");
    name.chars().take(63).collect::<String>().trim_end_matches('-').to_owned()
}

pub fn nanoseconds(text: &str) -> Result<u64, String> {
    text.parse::<Duration>().map(|duration| duration.0 * 1_000_000_000).map_err(|e| e.to_string())
}

/// The task; the secrets it reads are added to `secrets`.
pub fn task(context: &TaskContext<'_, '_>, secrets: &mut Vec<SecretRef>) -> Result<Traced, String> {
    let mut env = Traced::map();
    let mut on_host = Vec::new();
    for (key, template) in &context.task.env {
        let rendered = render::text(&context.scope, template)?;
        if rendered.has_secret() || !sink::stays_in_env(&rendered) {
            on_host.push((key, rendered));
        } else {
            let value = match sink::nomad_env(&rendered)? {
                Json::String(text) => text,
                other => other.to_string(),
            };
            env.set(key.clone(), Traced::scalar(value, rendered.origins));
        }
    }
    let mut templates = Vec::new();
    for (name, file) in &context.task.files {
        templates.push(template(context, name, file, secrets)?);
    }
    if !on_host.is_empty() {
        let (env_sink, env_lines) = TemplateSink::render(context.keys, |sink| {
            on_host.iter().map(|(key, rendered)| sink.env_line(key, rendered)).collect()
        })?;
        let env_origins = on_host.into_iter().flat_map(|(_, rendered)| rendered.origins).collect();
        let (text, (left, right)) = env_sink.finish(&context.job, &env_lines)?;
        let embedded = Traced::scalar(text, env_origins);
        templates.push(template_entry(embedded, "secrets/env", left, right, "0600").with("Envvars", true));
        secrets.extend(env_sink.secrets);
    }
    let host = context.owner.runtime() == Some("host");
    let mut task = Traced::map()
        .with("Name", context.name)
        .with("Driver", if host { "raw_exec" } else { "docker" })
        .with("Config", if host { host_config(context)? } else { container_config(context)? });
    if let Some(user) = &context.task.user {
        task.set("User", user.as_str());
    }
    if !env.is_empty() {
        task.set("Env", env);
    }
    if !templates.is_empty() {
        task.set("Templates", Traced::list(templates));
    }
    task.set("Resources", resources(context));
    task.set("LogConfig", Traced::fields([("MaxFiles", 3.into()), ("MaxFileSizeMB", 10.into())]));
    Ok(task)
}

fn template(
    context: &TaskContext<'_, '_>,
    name: &str,
    file: &eos_catalog::component::File,
    secrets: &mut Vec<SecretRef>,
) -> Result<Traced, String> {
    let mut origins = Vec::new();
    let (sink, content) = TemplateSink::render(context.keys, |sink| {
        let mut through = |rendered: &render::Rendered| {
            origins.extend(rendered.origins.iter().cloned());
            match file.format {
                FileFormat::Text => sink.text(rendered),
                FileFormat::Json | FileFormat::Yaml => sink.data(rendered),
            }
        };
        let traced = render::data(&context.scope, &file.content, &mut through)?;
        match (file.format, traced) {
            (FileFormat::Text, Traced { value: TracedValue::Plain(Json::String(text)), .. }) => Ok(text),
            (FileFormat::Text, _) => Err(format!("file {name}: the content of a text is a text")),
            (FileFormat::Json, traced) => Ok(traced.write_json().0),
            (FileFormat::Yaml, traced) => Ok(eos_yaml::write(&traced.to_json())),
        }
    })?;
    origins.sort();
    origins.dedup();
    let (text, (left, right)) = sink.finish(&context.job, &content)?;
    let folder = if sink.secrets.is_empty() { "local" } else { "secrets" };
    // Nomad writes files as root. An image's own user, or a task's, could not read one that is for root alone.
    let as_root = context.owner.runtime() == Some("host") && context.task.user.is_none();
    let usual = if as_root && !sink.secrets.is_empty() { "0600" } else { "0644" };
    secrets.extend(sink.secrets);
    let mode = file.mode.as_deref().unwrap_or(usual);
    Ok(template_entry(Traced::scalar(text, origins), &format!("{folder}/{name}"), left, right, mode))
}

fn template_entry(text: Traced, destination: &str, left: &str, right: &str, mode: &str) -> Traced {
    Traced::map()
        .with("EmbeddedTmpl", text)
        .with("DestPath", destination)
        .with("LeftDelim", left)
        .with("RightDelim", right)
        .with("Perms", mode)
        .with("ChangeMode", "restart")
}

fn arguments(context: &TaskContext<'_, '_>) -> Result<Vec<Traced>, String> {
    let mut arguments = Vec::new();
    for template in &context.task.args {
        let rendered = render::text(&context.scope, template)?;
        let value = match sink::nomad_config(&rendered)? {
            Json::String(text) => text,
            other => other.to_string(),
        };
        arguments.push(Traced::scalar(value, rendered.origins));
    }
    Ok(arguments)
}

fn host_config(context: &TaskContext<'_, '_>) -> Result<Traced, String> {
    let package = context.owner.component.runtimes.host.as_ref();
    let own = context.task.command.as_deref();
    let command = own
        .or(context.owner.entry.binary.as_deref())
        .or(package.map(|host| host.command.as_str()))
        .unwrap_or_default();
    let command = sink::nomad_config(&render::text(&context.scope, command)?)?;
    let arguments = arguments(context)?;
    let Some(account) = context.owner.package_account().filter(|_| context.task.user.is_none()) else {
        return Ok(Traced::map().with("command", command).with("args", Traced::list(arguments)));
    };
    let mut words: Vec<Traced> =
        ["-c", &become_account(&context.task.capabilities), account].map(Traced::from).into();
    words.push(command.into());
    words.extend(arguments);
    Ok(Traced::map().with("command", "/bin/sh").with("args", Traced::list(words)))
}

/// Nomad knows an account's number only on the host, and a file with a secret is for its owner alone: root gives the files
/// to the account and becomes it.
fn become_account(capabilities: &[String]) -> String {
    let kept: Vec<String> = capabilities.iter().map(|capability| format!("+{capability}")).collect();
    let kept = match kept.as_slice() {
        [] => String::new(),
        kept => format!(" --inh-caps {0} --ambient-caps {0}", kept.join(",")),
    };
    format!(
        "find \"$NOMAD_SECRETS_DIR\" -type f ! -name env -exec chown \"$0\" {{}} + && \
         exec setpriv --reuid \"$0\" --regid \"$(id -g \"$0\")\" --init-groups{kept} \"$@\""
    )
}

fn container_config(context: &TaskContext<'_, '_>) -> Result<Traced, String> {
    let container =
        context.owner.component.runtimes.container.as_ref().ok_or("it has no container to run")?;
    let image = context.task.image.as_deref().unwrap_or(&container.image);
    let chosen = context.owner.entry.version.as_deref();
    let version = context.task.version.as_deref().or(chosen).ok_or("no version is chosen")?;
    // The digest belongs to the catalogue's own version and to its own image only.
    let pinned = container
        .digest
        .as_ref()
        .filter(|_| context.task.image.is_none() && chosen == container.version.as_deref());
    let full = match pinned {
        Some(digest) => format!("{image}:{version}@{digest}"),
        None => format!("{image}:{version}"),
    };
    let mut config =
        Traced::map().with("image", Traced::scalar(full, context.work.chosen(context.owner, "version")));
    if let Some(command) = &context.task.command {
        config.set("entrypoint", json!([command]));
    }
    let arguments = arguments(context)?;
    if !arguments.is_empty() {
        config.set("args", Traced::list(arguments));
    }
    if !context.task.ports.is_empty() {
        config.set("ports", Json::from(context.task.ports.keys().cloned().collect::<Vec<_>>()));
    }
    let mut volumes = Vec::new();
    for (volume, mount) in &context.task.mounts {
        let (path, origins) = context.scope.volume_path(volume)?;
        volumes.push(Traced::scalar(format!("{path}:{mount}"), origins));
    }
    if !volumes.is_empty() {
        config.set("volumes", Traced::list(volumes));
    }
    if !context.task.capabilities.is_empty() {
        config.set("cap_add", Json::from(context.task.capabilities.clone()));
    }
    Ok(config)
}

/// What a task gets in a tier where nobody says otherwise.
pub fn usual_size(tier: &str, task: &Task) -> Resources {
    let usual = USUAL.iter().find(|(name, _)| *name == tier).map_or(USUAL[2].1, |(_, resources)| *resources);
    task.resources.get(tier).copied().unwrap_or_else(|| match task.resources.get("production") {
        Some(full) => Resources { cpu: full.cpu.min(usual.cpu), memory: full.memory.min(usual.memory) },
        None => usual,
    })
}

fn resources(context: &TaskContext<'_, '_>) -> Traced {
    let entry = context.unit.entry;
    let size = usual_size(tier(context.work, context.unit), context.task);
    // The flags speak of the component itself, not of what provisions its needs.
    let own = std::ptr::eq(context.unit, context.owner);
    let cpu = entry.cpu.filter(|_| own).unwrap_or_else(|| size.cpu.into());
    let memory = entry.memory.filter(|_| own).unwrap_or_else(|| size.memory.into());
    let origins = |field: &str| {
        let said = if own { context.work.chosen(context.unit, field) } else { Vec::new() };
        if said.is_empty() { context.work.chosen(context.unit, "tier") } else { said }
    };
    let mut wanted = Traced::map()
        .with("CPU", Traced::scalar(cpu, origins("cpu")))
        .with("MemoryMB", Traced::scalar(memory, origins("memory")));
    let device = |(name, count): (&String, &u32)| {
        Traced::fields([("Name", name.as_str().into()), ("Count", (*count).into())])
    };
    if !context.task.devices.is_empty() {
        wanted.set("Devices", Traced::list(context.task.devices.iter().map(device).collect()));
    }
    wanted
}
