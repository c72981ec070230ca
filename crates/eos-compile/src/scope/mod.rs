//! What references mean at a place: whose settings, ports and needs, and what a consumer passed.

mod needs;
mod offers;

use std::rc::Rc;

use eos_catalog::component::Task;
use eos_catalog::{Reference, SettingType};
use eos_model::{SecretRef, Size};
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::intent::DATA_FOLDER;
use crate::origin::Origin;
use crate::render::{Piece, Rendered};
use crate::work::{Unit, Work};

pub use needs::later_inputs;
pub use offers::{Grant, grants, wanted};

/// References may lead from unit to unit; a circle of them must end.
const DEEPEST: u8 = 12;

/// Where a text stands. `'w` is the work, `'a` the input behind it.
pub struct Scope<'w, 'a> {
    pub work: &'w Work<'a>,
    pub unit: &'w Unit<'a>,
    /// The task whose files and ports are meant first.
    pub task: Option<&'w Task>,
    /// Inside an offer: the consumer it is rendered for.
    pub grant: Option<Grant<'w, 'a>>,
    /// Inside a need with `each`: the element.
    pub each: Option<String>,
    /// Inside an operation: its arguments.
    pub args: Option<&'w IndexMap<String, Rendered>>,
    depth: u8,
}

impl<'w, 'a> Scope<'w, 'a> {
    /// A unit by itself, so many references deep.
    fn bare(work: &'w Work<'a>, unit: &'w Unit<'a>, depth: u8) -> Scope<'w, 'a> {
        Scope { work, unit, task: None, grant: None, each: None, args: None, depth }
    }

    pub fn of(work: &'w Work<'a>, unit: &'w Unit<'a>) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope::bare(work, unit, 0))
    }

    pub fn of_task(work: &'w Work<'a>, unit: &'w Unit<'a>, task: &'w Task) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { task: Some(task), ..Scope::bare(work, unit, 0) })
    }

    pub fn of_operation(
        work: &'w Work<'a>,
        unit: &'w Unit<'a>,
        args: &'w IndexMap<String, Rendered>,
    ) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { args: Some(args), ..Scope::bare(work, unit, 0) })
    }

    /// The provider's view of a grant.
    pub fn of_grant(
        work: &'w Work<'a>,
        provider: &'w Unit<'a>,
        task: Option<&'w Task>,
        grant: Grant<'w, 'a>,
        depth: u8,
    ) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { task, grant: Some(grant), ..Scope::bare(work, provider, depth) })
    }

    pub fn lookup(&self, reference: &Reference) -> Result<Rendered, String> {
        if self.depth > DEEPEST {
            return Err(format!("{reference} leads in a circle"));
        }
        let rest = reference.rest.as_str();
        let nothing = || format!("{reference} refers to nothing there is");
        let text = |text: &str| Ok(Rendered::value(&Json::from(text), Vec::new()));
        match reference.root.as_str() {
            "at" => Ok(Rendered::piece(Piece::Literal("@".to_owned()), Vec::new())),
            "name" => text(self.unit.id.name.as_str()),
            "env" => text(self.unit.id.env.as_str()),
            "job" => text(&self.unit.job()),
            "program" => self.program().ok_or_else(nothing),
            "each" => text(self.each.as_deref().ok_or_else(nothing)?),
            "host" => self.host("host").map_err(|()| self.no_host(reference)),
            "address" => self.host("address").map_err(|()| self.no_host(reference)),
            "data_folder" => self.data_folder().ok_or_else(|| self.no_host(reference)),
            "addresses" => self.addresses(rest).ok_or_else(nothing),
            "nomad" => Ok(Rendered::piece(Piece::Nomad(rest.to_owned()), Vec::new())),
            "setting" => self.setting(rest).ok_or_else(nothing),
            "port" => self.port(rest).ok_or_else(nothing),
            "listen" => self.listen(rest).ok_or_else(nothing),
            "volume" => self.volume(rest).ok_or_else(nothing),
            "file" => self.file(rest),
            "threshold" => self.threshold(rest).ok_or_else(nothing),
            "need" => self.need(reference),
            "collected" => self.collected(rest),
            "arg" => self.args.and_then(|args| args.get(rest)).cloned().ok_or_else(nothing),
            "with" => self.with(rest, reference),
            "given" => self.given(rest).ok_or_else(nothing),
            "consumer" => self.consumer(rest).ok_or_else(nothing),
            _ => Err(nothing()),
        }
    }

    /// What runs as a host process: the user's program, or the package's.
    fn program(&self) -> Option<Rendered> {
        let package =
            self.unit.component.runtimes.host.as_ref().filter(|_| self.unit.runtime() == Some("host"))?;
        let Some(own) = &self.unit.entry.binary else {
            return Some(Rendered::value(&Json::from(package.command.as_str()), Vec::new()));
        };
        let node = self.unit.entry.node.get("binary").unwrap_or(&self.unit.entry.node);
        let origins = self.pillar_origin(node, &Origin::component_key(&self.unit.id.name, "binary"));
        Some(Rendered::value(&Json::from(own.as_str()), origins))
    }

    fn no_host(&self, reference: &Reference) -> String {
        format!("{reference}: {} is placed on no host", self.unit.id.name)
    }

    /// The origin of a key of this unit's entry, when the pillar has it.
    fn pillar_origin(&self, node: &eos_yaml::Node, key: &str) -> Vec<Origin> {
        vec![self.work.written(node, key.to_owned())]
    }

    fn host(&self, what: &str) -> Result<Rendered, ()> {
        let host = self.unit.host.ok_or(())?;
        let chosen = self.unit.entry.node.get("host");
        let mut origins = chosen
            .map(|node| self.pillar_origin(node, &Origin::component_key(&self.unit.id.name, "host")))
            .unwrap_or_default();
        if what == "host" {
            return Ok(Rendered::value(&Json::from(host.name.as_str()), origins));
        }
        let node = host.node.get("address").unwrap_or(&host.node);
        origins.extend(self.pillar_origin(node, &format!("eos:hosts:{}:address", host.name)));
        Ok(Rendered::value(&Json::from(host.address.as_str()), origins))
    }

    /// The folder of the host under which data lies.
    fn data_folder(&self) -> Option<Rendered> {
        let host = self.unit.host?;
        let node = host.node.get("data_folder");
        let origin = |node| self.pillar_origin(node, &format!("eos:hosts:{}:data_folder", host.name));
        let folder = host.data_folder.as_deref().unwrap_or(DATA_FOLDER);
        Some(Rendered::value(&Json::from(folder), node.map(origin).unwrap_or_default()))
    }

    /// The addresses of the hosts that a list setting names.
    fn addresses(&self, setting: &str) -> Option<Rendered> {
        let named = self.setting(setting)?;
        let (mut addresses, mut origins) = (Vec::new(), named.origins);
        for name in named.typed?.as_array()? {
            let host = self.work.input.environment.hosts.get(name.as_str()?)?;
            let node = host.node.get("address").unwrap_or(&host.node);
            origins.extend(self.pillar_origin(node, &format!("eos:hosts:{}:address", host.name)));
            addresses.push(Json::from(bracketed(&host.address)));
        }
        Some(Rendered::value(&Json::Array(addresses), origins))
    }

    pub fn setting(&self, name: &str) -> Option<Rendered> {
        let schema = self.unit.component.settings.get(name)?;
        let Some(setting) = self.unit.settings.get(name) else {
            // An optional setting without a value is nothing: an empty text, or an empty list.
            let nothing =
                if schema.kind == SettingType::List { Json::Array(Vec::new()) } else { Json::from("") };
            return (schema.kind != SettingType::Secret).then(|| Rendered::value(&nothing, Vec::new()));
        };
        let origins = vec![setting.origin.clone()];
        if schema.kind == SettingType::Secret {
            let reference = setting.value.as_str()?.parse::<SecretRef>().ok()?;
            return Some(Rendered::piece(Piece::Secret { reference, url: false }, origins));
        }
        Some(Rendered::value(&setting.value, origins))
    }

    fn port_spec(&self, name: &str) -> Option<&'w eos_catalog::component::Port> {
        let own = self.task.and_then(|task| task.ports.get(name));
        own.or_else(|| self.unit.component.tasks.values().find_map(|task| task.ports.get(name)))
    }

    fn port(&self, name: &str) -> Option<Rendered> {
        self.setting(&self.port_spec(name)?.setting)
    }

    fn listen(&self, rest: &str) -> Option<Rendered> {
        let (name, part) = rest.split_once('.').unwrap_or((rest, ""));
        let spec = self.port_spec(name)?;
        let outside = self.setting(&spec.setting)?;
        let in_container = self.unit.runtime() == Some("container");
        let port = match spec.to.filter(|_| in_container) {
            Some(to) => Json::from(to),
            None => outside.typed.clone()?,
        };
        let address = match self.unit.host {
            Some(host) if !in_container => host.address.as_str(),
            _ => "0.0.0.0",
        };
        let value = match part {
            "" => Json::from(format!("{}:{port}", bracketed(address))),
            "address" => Json::from(address),
            "port" => port,
            _ => return None,
        };
        Some(Rendered::value(&value, outside.origins))
    }

    /// Where a volume lies on its host, and who said so.
    pub fn volume_path(&self, name: &str) -> Result<(&'a str, Vec<Origin>), String> {
        let choice = self.unit.entry.volumes.get(name);
        let choice = choice.ok_or_else(|| format!("{} has no volume {name}", self.unit.id.name))?;
        Ok((&choice.path, self.volume_origins(name)))
    }

    fn volume_origins(&self, name: &str) -> Vec<Origin> {
        let node = self.unit.entry.node.get("volumes").and_then(|volumes| volumes.get(name));
        let key = Origin::component_key(&self.unit.id.name, &format!("volumes:{name}"));
        node.map(|node| self.pillar_origin(node, &key)).unwrap_or_default()
    }

    fn volume(&self, rest: &str) -> Option<Rendered> {
        let (name, part) = rest.split_once('.').unwrap_or((rest, ""));
        let choice = self.unit.entry.volumes.get(name)?;
        let origins = self.volume_origins(name);
        let mount = || {
            let own = self.task.and_then(|task| task.mounts.get(name));
            own.or_else(|| self.unit.component.tasks.values().find_map(|task| task.mounts.get(name)))
        };
        let value = match part {
            "" if self.unit.runtime() == Some("container") => {
                mount().cloned().unwrap_or_else(|| choice.path.clone())
            }
            "" | "path" => choice.path.clone(),
            "size" => Size::spelled(choice.size.as_deref()?),
            _ => return None,
        };
        Some(Rendered::value(&Json::from(value), origins))
    }

    /// A rendered file lies in the task's folder, or in the secrets folder when it holds one.
    fn file(&self, name: &str) -> Result<Rendered, String> {
        let task = self.task.ok_or_else(|| format!("@{{file.{name}}} is meant for tasks only"))?;
        let file = task.files.get(name).ok_or_else(|| format!("the task has no file {name:?}"))?;
        let folder = if self.holds_secret(&file.content)? { "NOMAD_SECRETS_DIR" } else { "NOMAD_TASK_DIR" };
        let pieces = vec![Piece::Nomad(folder.to_owned()), Piece::Literal(format!("/{name}"))];
        Ok(Rendered { pieces, typed: None, origins: Vec::new() })
    }

    /// Whether data would render with a secret inside.
    pub fn holds_secret(&self, content: &Json) -> Result<bool, String> {
        match content {
            Json::String(text) => {
                for segment in eos_catalog::reference::parse(text).map_err(|bad| bad.to_string())? {
                    if let eos_catalog::Segment::Reference(reference) = segment
                        && reference.root != "file"
                        && self.lookup(&reference)?.has_secret()
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Json::Array(items) => {
                items.iter().try_fold(false, |found, item| Ok(found || self.holds_secret(item)?))
            }
            Json::Object(entries) => {
                entries.values().try_fold(false, |found, item| Ok(found || self.holds_secret(item)?))
            }
            _ => Ok(false),
        }
    }

    fn threshold(&self, rest: &str) -> Option<Rendered> {
        let (subject, level) = rest.split_once('.')?;
        let figure = self.unit.component.thresholds.get(subject)?.get(level)?;
        let origin = Origin::catalog(&self.unit.component.kind, &format!("thresholds:{subject}:{level}"));
        Some(Rendered::value(&Json::from(*figure), vec![origin]))
    }
}

fn bracketed(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.to_owned() }
}
