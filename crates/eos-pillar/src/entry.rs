//! Entries of a pillar: components, hosts and operations, with the place each value was written at.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use eos_model::{Diagnostic, Diagnostics, HostName, Name, Place, SecretRef, codes, nearest::nearest};
use eos_yaml::{Node, Sources, Value};
use indexmap::IndexMap;

use crate::tree::Environment;

/// A component a user asked for, with every choice made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentEntry {
    pub name: Name,
    pub kind: String,
    /// The whole entry; its mark is where it is written.
    pub node: Node,
    pub host: Option<String>,
    pub runtime: Option<String>,
    pub version: Option<String>,
    pub tier: Option<String>,
    pub cpu: Option<i64>,
    pub memory: Option<i64>,
    pub replicas: Option<i64>,
    pub binary: Option<String>,
    /// The id of its Nomad job, when it was there before eos.
    pub job: Option<String>,
    /// Who it was made for, when nobody asked for it by name.
    pub created_for: Option<String>,
    pub features: Vec<String>,
    pub settings: IndexMap<String, Node>,
    /// Need → who meets it; for a need with `each`, element → who meets it.
    pub needs: IndexMap<String, NeedChoice>,
    pub volumes: IndexMap<String, VolumeChoice>,
    /// Secrets generated for this component as a consumer: `<need>_<secret>`.
    pub secrets: IndexMap<String, SecretRef>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeedChoice {
    One(Name),
    Each(BTreeMap<String, Name>),
}

/// Where a volume lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeChoice {
    pub backing: Backing,
    pub path: String,
    pub size: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// A folder of a shared filesystem that another component mounts.
    Shared,
    Directory,
    Lvm,
}

impl Backing {
    pub const ALL: [Backing; 3] = [Backing::Directory, Backing::Lvm, Backing::Shared];

    pub fn as_str(self) -> &'static str {
        match self {
            Backing::Shared => "shared",
            Backing::Directory => "directory",
            Backing::Lvm => "lvm",
        }
    }
}

/// A machine that may be configured.
#[derive(Debug, Clone, PartialEq)]
pub struct HostEntry {
    pub name: HostName,
    pub node: Node,
    pub environment: String,
    pub address: String,
    /// `masterless` or `minion`.
    pub connection: String,
    pub nomad_node: String,
    pub volume_group: Option<String>,
    /// Where volumes lie; `/srv/eos` when not said.
    pub data_folder: Option<String>,
}

/// Something to be done once.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationEntry {
    pub id: Name,
    pub node: Node,
    pub kind: String,
    pub verb: String,
    pub host: String,
    pub args: IndexMap<String, Node>,
}

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
const SECTIONS: &[&str] = &["components", "hosts", "operations"];
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
            if let Some(component) = fields.component(key, node) {
                self.components.insert(component.name.clone(), component);
            }
        }
        for (key, node) in fields.section(root, "operations") {
            if let Some(operation) = fields.operation(key, node) {
                self.operations.insert(operation.id.clone(), operation);
            }
        }
    }
}

/// Reads typed fields out of nodes and collects what does not fit.
struct Fields<'a> {
    sources: &'a Sources,
    found: &'a mut Diagnostics,
}

impl Fields<'_> {
    fn wrong(&mut self, node: &Node, message: String) -> Diagnostic {
        Diagnostic::error(codes::WRONG_SHAPE, message)
            .at(self.sources.place_of(node))
            .fix("put right that line; eos explain E0211 shows what an entry looks like")
    }

    fn section<'n>(&mut self, root: &'n Node, name: &str) -> &'n [(Node, Node)] {
        match root.get(name) {
            None => &[],
            Some(node) => match &node.value {
                Value::Map(entries) => entries,
                Value::Null => &[],
                _ => {
                    let wrong = self
                        .wrong(node, format!("eos:{name} is {}, not a mapping of names", node.kind_name()));
                    self.found.push(wrong);
                    &[]
                }
            },
        }
    }

    fn name<T: FromStr>(&mut self, node: &Node) -> Option<T>
    where
        T::Err: fmt::Display,
    {
        match node.as_str().unwrap_or_default().parse() {
            Ok(name) => Some(name),
            Err(problem) => {
                let place = self.sources.place_of(node);
                self.found.push(
                    Diagnostic::error(codes::BAD_NAME, format!("{problem}")).at(place).fix(
                        "names are lower-case letters, digits, '-', '_' and '.', such as crm or john.doe",
                    ),
                );
                None
            }
        }
    }

    fn known_fields(&mut self, what: &str, node: &Node, known: &[&str]) -> bool {
        let Some(entries) = node.as_map() else {
            let wrong = self.wrong(node, format!("{what} is {}, not a mapping", node.kind_name()));
            self.found.push(wrong);
            return false;
        };
        for (key, _) in entries {
            let word = key.as_str().unwrap_or_default();
            if !known.contains(&word) {
                let fix = nearest(word, known.iter().copied()).map_or_else(
                    || format!("there are {}", known.join(", ")),
                    |near| format!("did you mean {near}?"),
                );
                let wrong = self.wrong(key, format!("{what} has an unknown field {word:?}")).fix(fix);
                self.found.push(wrong);
            }
        }
        true
    }

    fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        let value = node.get(key)?;
        match &value.value {
            Value::String(text) => Some(text.clone()),
            _ => {
                let wrong = self
                    .wrong(value, format!("{key} is {}, not a text", value.kind_name()))
                    .fix("put it in quotes");
                self.found.push(wrong);
                None
            }
        }
    }

    fn required(&mut self, what: &str, node: &Node, key: &str) -> Option<String> {
        if node.get(key).is_none() {
            let wrong = self.wrong(node, format!("{what} has no {key}"));
            self.found.push(wrong);
        }
        self.text(node, key)
    }

    fn number(&mut self, node: &Node, key: &str) -> Option<i64> {
        let value = node.get(key)?;
        if value.as_i64().is_none() {
            let wrong = self.wrong(value, format!("{key} is {}, not a whole number", value.kind_name()));
            self.found.push(wrong);
        }
        value.as_i64()
    }

    fn map(&mut self, node: &Node, key: &str) -> IndexMap<String, Node> {
        self.entries(node, key)
            .iter()
            .map(|(key, value)| (key.as_str().unwrap_or_default().to_owned(), value.clone()))
            .collect()
    }

    /// The entries of a mapping; none for what is not there, or is none.
    fn entries<'n>(&mut self, node: &'n Node, key: &str) -> &'n [(Node, Node)] {
        let Some(value) = node.get(key) else { return &[] };
        match &value.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                let wrong = self.wrong(value, format!("{key} is {}, not a mapping", value.kind_name()));
                self.found.push(wrong);
                &[]
            }
        }
    }

    fn host(&mut self, key: &Node, node: &Node) -> Option<HostEntry> {
        let name: HostName = self.name(key)?;
        let what = format!("host {name}");
        if !self.known_fields(&what, node, HOST_FIELDS) {
            return None;
        }
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

    fn component(&mut self, key: &Node, node: &Node) -> Option<ComponentEntry> {
        let name: Name = self.name(key)?;
        let what = format!("component {name}");
        if !self.known_fields(&what, node, COMPONENT_FIELDS) {
            return None;
        }
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
                    for (key, value) in entries {
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
            if !self.known_fields(&what, choice, &["backing", "path", "size"]) {
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
            if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
                let wrong =
                    self.wrong(choice, format!("{what} has path {path:?}, which is not an absolute path"));
                self.found.push(wrong);
                continue;
            }
            volumes.insert(volume, VolumeChoice { backing, path, size: self.text(choice, "size") });
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
