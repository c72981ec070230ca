//! Reads components, hosts and operations out of a merged pillar.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Diagnostics, HostName, Name, Place, SecretRef, codes};
use eos_yaml::{Node, Value};
use indexmap::IndexMap;

use crate::entry::{Backing, ComponentEntry, HostEntry, NeedChoice, OperationEntry, VolumeChoice};
use crate::fields::Fields;
use crate::top;
use crate::tree::Environment;
use crate::words;

/// The words an entry may have, by what it is.
pub const COMPONENT_FIELDS: &[&str] = &[
    "binary",
    "cpu",
    "created_for",
    "features",
    "host",
    "job",
    "kind",
    "memory",
    "needs",
    "replicas",
    "runtime",
    "secrets",
    "settings",
    "tier",
    "version",
    "volumes",
];
const SECTIONS: &[&str] = &["components", "hosts", "kept", "operations"];
const HOST_FIELDS: &[&str] =
    &["address", "connection", "data_folder", "environment", "nomad_node", "volume_group"];
const OPERATION_FIELDS: &[&str] = &["args", "host", "kind", "verb"];

impl Environment {
    pub fn place(&self, node: &Node) -> Option<Place> {
        self.sources.place_of(node)
    }

    pub(crate) fn read_entries(&mut self, found: &mut Diagnostics) {
        let Some(root) = self.pillar.get("eos") else { return };
        let mut fields = Fields { sources: &self.sources, found };
        if !fields.known_fields("eos", root, SECTIONS) {
            return;
        }
        for (key, node) in fields.section(root, "hosts") {
            if let Some(host) = fields.host(key, node) {
                // A host of another environment is known, so that a wrong placement can be explained.
                self.hosts.insert(host.name.clone(), host);
            }
        }
        for (key, node) in fields.section(root, "components") {
            if node.as_map().is_some() && node.get("kind").is_none() {
                let name = key.as_str().unwrap_or_default();
                if fields.is_common(node) {
                    let part = fields.only_a_part(name, node, "no environment");
                    self.parts.insert(name.to_owned(), part);
                } else {
                    let part = fields.only_a_part(name, node, &format!("no file of {}", self.name));
                    fields.found.push(part);
                }
            } else if let Some(component) = fields.component(key, node) {
                self.components.insert(component.name.clone(), component);
            }
        }
        for (key, node) in fields.section(root, "kept") {
            if let Some(component) = fields.component(key, node) {
                self.kept.insert(component.name.clone(), component);
            }
        }
        for (key, node) in fields.section(root, "operations") {
            if let Some(operation) = fields.operation(key, node) {
                self.operations.insert(operation.id.clone(), operation);
            }
        }
    }
}

impl Fields<'_> {
    fn host(&mut self, key: &Node, node: &Node) -> Option<HostEntry> {
        let name: HostName = self.name(key)?;
        let what = format!("host {name}");
        if !self.known_fields(&what, node, HOST_FIELDS) {
            return None;
        }
        self.fits(&what, node, "address", words::address);
        self.fits(&what, node, "connection", words::connection);
        self.fits(&what, node, "nomad_node", words::node);
        self.fits(&what, node, "volume_group", words::volume_group);
        self.fits(&what, node, "data_folder", words::folder);
        Some(HostEntry {
            environment: self.required(&what, node, "environment")?,
            address: self.required(&what, node, "address")?,
            connection: self.required(&what, node, "connection")?,
            nomad_node: self.text(node, "nomad_node").unwrap_or_else(|| name.to_string()),
            volume_group: self.text(node, "volume_group"),
            data_folder: self.text(node, "data_folder"),
            node: node.clone(),
            name,
        })
    }

    fn operation(&mut self, key: &Node, node: &Node) -> Option<OperationEntry> {
        let id: Name = self.name(key)?;
        let what = format!("operation {id}");
        if !self.known_fields(&what, node, OPERATION_FIELDS) {
            return None;
        }
        Some(OperationEntry {
            kind: self.required(&what, node, "kind")?,
            verb: self.required(&what, node, "verb")?,
            host: self.required(&what, node, "host")?,
            args: self.map(node, "args"),
            node: node.clone(),
            id,
        })
    }

    /// Whether every value below a node was written for all environments.
    fn is_common(&self, node: &Node) -> bool {
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                entries.iter().all(|(_, value)| self.is_common(value))
            }
            _ => self.sources.file(node.file).is_some_and(top::is_common),
        }
    }

    /// An entry that nobody gives a kind: what is there is meant for the rest of one.
    fn only_a_part(&self, name: &str, node: &Node, nobody: &str) -> Diagnostic {
        let place = self.sources.place_of(node);
        let file = place.as_ref().map_or("it", |place| place.file.as_str());
        let message = format!("{file} has only a part of {name}: {nobody} gives it a kind");
        let fix = format!(
            "take {name} out of {file}, or move it below pillar/infrastructure/ into the folder of an environment that has \
             {name}; kind: <kind> there makes it a component (eos catalog list)"
        );
        Diagnostic::error(codes::WRONG_SHAPE, message).at(place).fix(fix)
    }

    fn component(&mut self, key: &Node, node: &Node) -> Option<ComponentEntry> {
        let name: Name = self.name(key)?;
        let what = format!("component {name}");
        if !self.known_fields(&what, node, COMPONENT_FIELDS) {
            return None;
        }
        self.fits(&what, node, "job", words::job);
        let kind = self.required(&what, node, "kind")?;
        Some(ComponentEntry {
            host: self.text(node, "host"),
            runtime: self.text(node, "runtime"),
            version: self.text(node, "version"),
            tier: self.text(node, "tier"),
            cpu: self.number(node, "cpu"),
            memory: self.number(node, "memory"),
            replicas: self.number(node, "replicas"),
            binary: self.text(node, "binary"),
            job: self.text(node, "job"),
            created_for: self.text(node, "created_for"),
            features: self.features(node),
            settings: self.map(node, "settings"),
            needs: self.needs(node),
            volumes: self.volumes(node),
            secrets: self.secrets(&name, node),
            node: node.clone(),
            name,
            kind,
        })
    }

    fn features(&mut self, node: &Node) -> Vec<String> {
        let Some(value) = node.get("features") else { return Vec::new() };
        let items = value.as_list().map(|items| items.iter().map(Node::as_str).collect::<Option<Vec<_>>>());
        match items.flatten() {
            Some(words) => words.into_iter().map(str::to_owned).collect(),
            None => {
                let wrong = self.wrong(value, "features is not a list of words".to_owned());
                self.found.push(wrong);
                Vec::new()
            }
        }
    }

    fn needs(&mut self, node: &Node) -> IndexMap<String, NeedChoice> {
        let mut needs = IndexMap::new();
        for (need, choice) in self.entries(node, "needs") {
            let need = need.as_str().unwrap_or_default().to_owned();
            let read = match &choice.value {
                Value::Map(entries) => {
                    let mut each = BTreeMap::new();
                    for (key, value) in entries.iter() {
                        if let Some(name) = self.name(value) {
                            each.insert(key.as_str().unwrap_or_default().to_owned(), name);
                        }
                    }
                    Some(NeedChoice::Each(each))
                }
                _ => self.name(choice).map(NeedChoice::One),
            };
            needs.extend(read.map(|read| (need, read)));
        }
        needs
    }

    fn volumes(&mut self, node: &Node) -> IndexMap<String, VolumeChoice> {
        let mut volumes = IndexMap::new();
        for (volume, choice) in self.entries(node, "volumes") {
            let volume = volume.as_str().unwrap_or_default().to_owned();
            let what = format!("volume {volume}");
            if !self.known_fields(&what, choice, &["backing", "filesystem", "group", "path", "size"]) {
                continue;
            }
            let (Some(word), Some(path)) =
                (self.required(&what, choice, "backing"), self.required(&what, choice, "path"))
            else {
                continue;
            };
            let Some(backing) = Backing::ALL.into_iter().find(|backing| backing.as_str() == word) else {
                let wrong = self
                    .wrong(choice, format!("{what} has backing {word:?}"))
                    .fix("there are directory, lvm and shared");
                self.found.push(wrong);
                continue;
            };
            self.fits(&what, choice, "path", words::volume_folder);
            self.fits(&what, choice, "group", words::volume_group);
            volumes.insert(
                volume,
                VolumeChoice {
                    backing,
                    path,
                    size: self.text(choice, "size"),
                    group: self.text(choice, "group"),
                    filesystem: self.text(choice, "filesystem"),
                },
            );
        }
        volumes
    }

    fn secrets(&mut self, owner: &Name, node: &Node) -> IndexMap<String, SecretRef> {
        let mut secrets = IndexMap::new();
        for (key, value) in self.entries(node, "secrets") {
            let key = key.as_str().unwrap_or_default().to_owned();
            match value.as_str().unwrap_or_default().parse::<SecretRef>() {
                Ok(reference) => {
                    secrets.insert(key, reference);
                }
                Err(problem) => {
                    // The text itself is not shown: it may be a secret someone put here by mistake.
                    let mut place = self.sources.place_of(value);
                    if let Some(place) = &mut place {
                        place.text.clear();
                    }
                    self.found.push(
                        Diagnostic::error(
                            codes::SECRET_IN_CLEAR,
                            format!("secrets:{key} is not a reference: {problem}"),
                        )
                        .at(place)
                        .fix(format!("eos secret set {owner}/{key} keeps the value outside the pillar")),
                    );
                }
            }
        }
        secrets
    }
}
