//! What references mean at a place: whose settings, ports and needs, and what a consumer passed.

use std::rc::Rc;

use eos_catalog::component::Task;
use eos_catalog::{Reference, SettingType};
use eos_model::{Name, SecretRef};
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::origin::Origin;
use crate::render::{self, Piece, Rendered};
use crate::work::{Unit, Work};

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

/// One consumer's use of an offer.
#[derive(Clone)]
pub struct Grant<'w, 'a> {
    pub offer: &'w str,
    pub need: &'w str,
    pub consumer: &'w Unit<'a>,
    pub each: Option<String>,
}

impl<'w, 'a> Scope<'w, 'a> {
    pub fn of(work: &'w Work<'a>, unit: &'w Unit<'a>) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { work, unit, task: None, grant: None, each: None, args: None, depth: 0 })
    }

    pub fn of_task(work: &'w Work<'a>, unit: &'w Unit<'a>, task: &'w Task) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { work, unit, task: Some(task), grant: None, each: None, args: None, depth: 0 })
    }

    pub fn of_operation(
        work: &'w Work<'a>,
        unit: &'w Unit<'a>,
        args: &'w IndexMap<String, Rendered>,
    ) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { work, unit, task: None, grant: None, each: None, args: Some(args), depth: 0 })
    }

    /// The provider's view of a grant.
    pub fn of_grant(
        work: &'w Work<'a>,
        provider: &'w Unit<'a>,
        task: Option<&'w Task>,
        grant: Grant<'w, 'a>,
        depth: u8,
    ) -> Rc<Scope<'w, 'a>> {
        Rc::new(Scope { work, unit: provider, task, grant: Some(grant), each: None, args: None, depth })
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

    fn setting(&self, name: &str) -> Option<Rendered> {
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

    fn volume(&self, rest: &str) -> Option<Rendered> {
        let (name, part) = rest.split_once('.').unwrap_or((rest, ""));
        let choice = self.unit.entry.volumes.get(name)?;
        let node = self.unit.entry.node.get("volumes").and_then(|volumes| volumes.get(name));
        let key = Origin::component_key(&self.unit.id.name, &format!("volumes:{name}"));
        let origins = node.map(|node| self.pillar_origin(node, &key)).unwrap_or_default();
        let mount = || {
            let own = self.task.and_then(|task| task.mounts.get(name));
            own.or_else(|| self.unit.component.tasks.values().find_map(|task| task.mounts.get(name)))
        };
        let value = match part {
            "" if self.unit.runtime() == Some("container") => {
                mount().cloned().unwrap_or_else(|| choice.path.clone())
            }
            "" | "path" => choice.path.clone(),
            "size" => choice.size.clone()?,
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

    fn need(&self, reference: &Reference) -> Result<Rendered, String> {
        let (need, output) = reference.rest.split_once('.').unwrap_or((&reference.rest, ""));
        let spec_key = self
            .unit
            .component
            .needs
            .get_key_value(need)
            .ok_or_else(|| format!("{reference}: there is no need {need:?}"))?
            .0;
        let providers = self.unit.needs.get(need).map(Vec::as_slice).unwrap_or_default();
        let provider = providers.iter().find(|provider| provider.each == self.each).or(providers.first());
        let provider = provider.ok_or_else(|| format!("{reference}: nothing meets the need {need:?}"))?;
        let choice = self.unit.entry.node.get("needs").and_then(|needs| needs.get(need));
        let key = Origin::component_key(&self.unit.id.name, &format!("needs:{need}"));
        let mut origins = choice.map(|node| self.pillar_origin(node, &key)).unwrap_or_default();
        let mut rendered = self.offered(spec_key, output, provider, reference)?;
        origins.append(&mut rendered.origins);
        rendered.origins = origins;
        Ok(rendered)
    }

    fn offered(
        &self,
        need: &'w str,
        output: &str,
        provider: &crate::work::Provider,
        reference: &Reference,
    ) -> Result<Rendered, String> {
        if output == "provider" {
            return Ok(Rendered::value(&Json::from(provider.name.as_str()), Vec::new()));
        }
        let unit = self
            .work
            .units
            .get(&provider.name)
            .ok_or_else(|| format!("{reference}: {} is not there", provider.name))?;
        let spec = &self.unit.component.needs[need];
        let offer = unit
            .component
            .offers
            .get_key_value(&spec.offer)
            .ok_or_else(|| format!("{reference}: {} does not offer {}", provider.name, spec.offer))?;
        if offer.1.generates.iter().any(|secret| secret == output) {
            return self.generated(need, output).ok_or_else(|| {
                format!("{reference}: no secret was made for it; eos update {} makes one", self.unit.id.name)
            });
        }
        let template = offer.1.outputs.get(output).ok_or_else(|| {
            let known: Vec<&str> = offer.1.outputs.keys().map(String::as_str).collect();
            format!("{reference}: {} offers {} with {}", provider.name, spec.offer, known.join(", "))
        })?;
        if template.contains("${") {
            // Known once the other unit is applied: it arrives as a variable.
            return Ok(Rendered::piece(Piece::Input(format!("{need}_{output}")), Vec::new()));
        }
        let grant = Grant { offer: offer.0, need, consumer: self.unit, each: provider.each.clone() };
        render::text(&Scope::of_grant(self.work, unit, None, grant, self.depth + 1), template)
    }

    fn generated(&self, need: &str, secret: &str) -> Option<Rendered> {
        let key = format!("{need}_{secret}");
        let reference = self.unit.entry.secrets.get(&key)?.clone();
        let node = self.unit.entry.node.get("secrets").and_then(|secrets| secrets.get(&key));
        let pillar_key = Origin::component_key(&self.unit.id.name, &format!("secrets:{key}"));
        let origins = node.map(|node| self.pillar_origin(node, &pillar_key)).unwrap_or_default();
        Some(Rendered::piece(Piece::Secret { reference, url: false }, origins))
    }

    /// What an offer renders for each of its consumers, in the order of their names.
    fn collected(&self, offer: &str) -> Result<Rendered, String> {
        let (offer, spec) = self
            .unit
            .component
            .offers
            .get_key_value(offer)
            .ok_or_else(|| format!("there is no offer {offer:?}"))?;
        let template =
            spec.collect.as_ref().ok_or_else(|| format!("the offer {offer:?} collects nothing"))?;
        let mut items = Vec::new();
        let mut origins = Vec::new();
        for (_, grant) in grants(self.work, self.unit, offer) {
            let scope = Scope::of_grant(self.work, self.unit, None, grant, self.depth + 1);
            let traced = render::data(&scope, template, &mut |rendered| {
                origins.extend(rendered.origins.iter().cloned());
                crate::sink::salt(rendered)
            })?;
            items.push(traced.to_json());
        }
        origins.sort();
        origins.dedup();
        Ok(Rendered::value(&Json::Array(items), origins))
    }

    fn with(&self, name: &str, reference: &Reference) -> Result<Rendered, String> {
        let grant = self.grant.as_ref().ok_or_else(|| format!("{reference} is meant for offers only"))?;
        let spec = &grant.consumer.component.needs[grant.need];
        if let Some(passed) = spec.with.get(name) {
            let scope = Rc::new(Scope {
                work: self.work,
                unit: grant.consumer,
                task: None,
                grant: None,
                each: grant.each.clone(),
                args: None,
                depth: self.depth + 1,
            });
            return one(&scope, passed);
        }
        let default = self.unit.component.offers[grant.offer]
            .takes
            .get(name)
            .ok_or_else(|| format!("{reference} refers to nothing there is"))?;
        one(
            &Rc::new(Scope {
                work: self.work,
                unit: self.unit,
                task: None,
                grant: self.grant.clone(),
                each: None,
                args: None,
                depth: self.depth + 1,
            }),
            default,
        )
    }

    fn given(&self, secret: &str) -> Option<Rendered> {
        let grant = self.grant.as_ref()?;
        Scope {
            work: self.work,
            unit: grant.consumer,
            task: None,
            grant: None,
            each: None,
            args: None,
            depth: self.depth,
        }
        .generated(grant.need, secret)
    }

    fn consumer(&self, what: &str) -> Option<Rendered> {
        let consumer = self.grant.as_ref()?.consumer;
        let value = match what {
            "name" => consumer.id.name.to_string(),
            "job" => consumer.job(),
            "address" => consumer.host?.address.clone(),
            _ => return None,
        };
        Some(Rendered::value(&Json::from(value), Vec::new()))
    }
}

/// A value passed along a need: a text with references, or plain data.
fn one(scope: &Rc<Scope<'_, '_>>, json: &Json) -> Result<Rendered, String> {
    match json {
        Json::String(text) => render::text(scope, text),
        data => {
            let mut origins = Vec::new();
            let traced = render::data(scope, data, &mut |rendered| {
                origins.extend(rendered.origins.iter().cloned());
                crate::sink::salt(rendered)
            })?;
            Ok(Rendered::value(&traced.to_json(), origins))
        }
    }
}

fn bracketed(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.to_owned() }
}

/// The inputs a unit takes from others that are known only later: variable → (unit, output).
pub fn later_inputs(work: &Work<'_>, unit: &Unit<'_>) -> Vec<(String, Name, String)> {
    let mut found = Vec::new();
    for (need, providers) in &unit.needs {
        let Some(spec) = unit.component.needs.get(need) else { continue };
        for provider in providers {
            let Some(offer) =
                work.units.get(&provider.name).and_then(|unit| unit.component.offers.get(&spec.offer))
            else {
                continue;
            };
            for (output, template) in offer.outputs.iter().filter(|(_, template)| template.contains("${")) {
                let _ = template;
                found.push((
                    format!("{need}_{output}"),
                    provider.name.clone(),
                    format!("{}_{output}", spec.offer.replace('-', "_")),
                ));
            }
        }
    }
    found
}

/// Every use of an offer of a provider, in the order of the consumers' names.
pub fn grants<'w, 'a>(
    work: &'w Work<'a>,
    provider: &'w Unit<'a>,
    offer: &str,
) -> Vec<(&'w Unit<'a>, Grant<'w, 'a>)> {
    let Some((offer, _)) = provider.component.offers.get_key_value(offer) else { return Vec::new() };
    let mut found = Vec::new();
    for consumer in work.units.values() {
        for (need, providers) in &consumer.needs {
            let Some((need, spec)) = consumer.component.needs.get_key_value(need) else { continue };
            if spec.offer != *offer {
                continue;
            }
            for choice in providers.iter().filter(|choice| choice.name == provider.id.name) {
                found.push((consumer, Grant { offer, need, consumer, each: choice.each.clone() }));
            }
        }
    }
    found
}
