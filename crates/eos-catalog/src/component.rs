//! A component as its `component.yaml` says it. Pure data: the compiler gives it meaning.
//!
//! Texts may hold references `@{…}`; `docs/catalog.md` lists them. Nothing in here is code.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::setting::Setting;

mod storage;
mod task;

pub use storage::{DataClass, Filesystem, Volume};
pub use task::{Check, File, FileFormat, Port, Protocol, Resources, Task, Transport, Update};

/// The format this version reads.
pub const FORMAT: u32 = 1;

/// Free-form data with references inside: plain Salt, OpenTofu or configuration data.
pub type Data = IndexMap<String, Json>;

/// One kind of thing that `eos create` makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Version of this format: 1.
    pub format: u32,
    /// The kind's name, the same as its folder.
    pub kind: String,
    /// One line for lists and help.
    pub summary: String,
    /// Where the software is documented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
    /// Other words for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// How far it was proven here.
    pub proof: Proof,
    /// What is left for a person to do, a line each; said when one is made. A line that begins with `without --flag` is said
    /// to those who left out that flag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Names that none of this kind may have, such as a user's `root`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved_names: Vec<String>,
    /// What the name of one has to match as a whole, where not every name of eos's will do: a user's is an account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_pattern: Option<String>,
    /// There for people on other machines: eos says when its host has an address that only the host itself reaches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
    /// True only when replicas can share nothing: no volumes, no local state.
    #[serde(default)]
    pub stateless: bool,
    /// Ways to run it; none for what has no process of its own.
    #[serde(default)]
    pub runtimes: Runtimes,
    #[serde(default)]
    pub settings: IndexMap<String, Setting>,
    #[serde(default)]
    pub features: IndexMap<String, Feature>,
    #[serde(default)]
    pub needs: IndexMap<String, Need>,
    #[serde(default)]
    pub offers: IndexMap<String, Offer>,
    #[serde(default)]
    pub storage: IndexMap<String, Volume>,
    /// Processes; each becomes a group of the component's Nomad job.
    #[serde(default)]
    pub tasks: IndexMap<String, Task>,
    /// How a new version of its job takes the place of the one before.
    #[serde(default, skip_serializing_if = "Update::is_usual")]
    pub update: Update,
    /// Host states: plain Salt, by state id.
    #[serde(default)]
    pub states: Data,
    /// The list setting that names the hosts its states are for; without one, they are for the host it is placed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_on: Option<String>,
    /// The states that undo `states` when the component is deleted.
    #[serde(default)]
    pub undo_states: Data,
    #[serde(default)]
    pub cloud: Cloud,
    /// Values other units and people read. `${…}` is OpenTofu's own.
    #[serde(default)]
    pub outputs: IndexMap<String, String>,
    /// Figures that monitoring uses, by subject and level.
    #[serde(default)]
    pub thresholds: IndexMap<String, IndexMap<String, f64>>,
    /// One-off operations: `eos <verb> <kind> …`.
    #[serde(default)]
    pub operations: IndexMap<String, Operation>,
}

impl Component {
    /// Whether a name is one that its pattern allows.
    pub fn takes_name(&self, name: &str) -> bool {
        let regex = |pattern: &String| regex_lite::Regex::new(&format!("^(?:{pattern})$")).ok();
        self.name_pattern.as_ref().and_then(regex).is_none_or(|regex| regex.is_match(name))
    }

    /// The flag of a feature that brings an offer.
    pub fn brings(&self, offer: &str) -> Option<String> {
        let has_it =
            |feature: &Feature| feature.add.get("offers").is_some_and(|all| all.get(offer).is_some());
        let mut flags = self.features.iter().filter(|(_, feature)| feature.when.is_none());
        flags.find(|(_, feature)| has_it(feature)).map(|(flag, _)| flag.replace('_', "-"))
    }

    /// Whether eos only knows of it: somebody else starts it, and sets its ports.
    pub fn starts_nothing(&self) -> bool {
        self.tasks.is_empty() && self.states.is_empty()
    }

    /// Whether it can be told to do something and is nothing by itself.
    pub fn only_acts(&self) -> bool {
        let is_something = !self.storage.is_empty()
            || self.cloud != Cloud::default()
            || !self.offers.is_empty()
            || !self.features.is_empty();
        self.starts_nothing() && !is_something && !self.operations.is_empty()
    }
}

/// How far a component was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// Started and found healthy by eos's own tests.
    Runs,
    /// Compiled; accepted by nomad, tofu and salt without being started.
    Validates,
    /// Compiled, and read by tofu alone: nothing held its attributes against the provider that they are for.
    Compiles,
}

impl Proof {
    /// The word that a component's file has for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Proof::Runs => "runs",
            Proof::Validates => "validates",
            Proof::Compiles => "compiles",
        }
    }

    /// What it means, for people.
    pub fn means(self) -> &'static str {
        match self {
            Proof::Runs => "proven to run",
            Proof::Validates => "compiles and validates; not started by eos's own tests",
            Proof::Compiles => "compiles; tofu reads it, and no test has its provider to hold it against",
        }
    }
}

/// Ways to run a component.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runtimes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostRuntime>,
}

/// Run by Nomad's docker driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Container {
    /// Without a tag.
    pub image: String,
    /// The exact tag; absent when none was checked, and then the user names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Another major version cannot read the data of this one: an update keeps to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_major: bool,
    /// `sha256:…` of that tag, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Laid over the component when this runtime is chosen.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub add: Data,
}

/// Run by Nomad's raw_exec driver from a Debian package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostRuntime {
    /// Debian package that holds the program.
    pub package: String,
    /// The program.
    pub command: String,
    /// The systemd service that the package starts by itself; stopped, since Nomad runs the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The account that the package brings for the program. Absent, or with a program of one's own: root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Laid over the component when this runtime is chosen.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub add: Data,
}

/// Something a flag turns on: an overlay over the component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    pub help: String,
    /// Absent: turned on by its flag. Present: on by itself whenever the condition holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// Laid over the component: mappings merge, lists are appended, other values replace.
    #[serde(default)]
    pub add: Data,
}

/// What turns a feature on by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// The setting has a value that is not empty and not false.
    Setting(String),
    /// The soft need is met.
    Need(String),
}

/// Something the component cannot (or would rather not) do without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The offer that meets it, or `*`: everything else in the environment comes first.
    pub offer: String,
    /// Said to the user when something is pulled in: "for …".
    pub help: String,
    /// A soft need is met when somebody offers it and left out otherwise.
    #[serde(default)]
    pub soft: bool,
    /// The kind created when nothing offers it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    /// A list setting with names: the need exists once for each of them. Without `with` each name is itself who meets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// Where the secrets that the offer gives are read at the first start only: what a person does to change one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_start: Option<String>,
    /// What is told to the one who offers it.
    #[serde(default)]
    pub with: Data,
}

impl Need {
    /// The list setting whose names are themselves who meets the need.
    pub fn named_by(&self) -> Option<&str> {
        self.each.as_deref().filter(|_| self.with.is_empty())
    }
}

/// Something other components may need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    pub help: String,
    /// What is left for a person to do; said when something begins to use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What it takes from a need's `with`, and the defaults.
    #[serde(default)]
    pub takes: Data,
    /// Of what it takes, what no two consumers may want alike, such as a host name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique: Vec<String>,
    /// Of what it takes, what is the provider's own, such as the name of its superuser; a name that ends in `*` stands for
    /// all that begin like it.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub reserved: IndexMap<String, Vec<String>>,
    /// Secrets generated for each consumer, read there as `@{need.<need>.<secret>}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generates: Vec<String>,
    /// What a consumer reads as `@{need.<need>.<output>}`.
    #[serde(default)]
    pub outputs: IndexMap<String, String>,
    /// An idempotent batch task, run in the consumer's unit before the consumer starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provision: Option<Task>,
    /// Rendered once for each consumer; the provider reads the list as `@{collected.<offer>}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collect: Option<Json>,
}

impl Offer {
    /// Whether what a consumer wants belongs to the provider itself.
    pub fn is_reserved(&self, taken: &str, value: &str) -> bool {
        let means = |word: &String| match word.strip_suffix('*') {
            Some(beginning) => value.starts_with(beginning),
            None => value == word,
        };
        self.reserved.get(taken).is_some_and(|words| words.iter().any(means))
    }
}

/// OpenTofu data, as in `.tf.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cloud {
    #[serde(default)]
    pub providers: IndexMap<String, Provider>,
    /// type → name → arguments.
    #[serde(default)]
    pub resources: IndexMap<String, Data>,
    /// Data sources: type → name → arguments.
    #[serde(default)]
    pub data: IndexMap<String, Data>,
    /// Module calls by name; `source` names a folder under the component's `modules/`.
    #[serde(default)]
    pub modules: Data,
    /// Resources `type.name` that hold data, and the class.
    #[serde(default)]
    pub data_classes: IndexMap<String, DataClass>,
}

/// A provider of OpenTofu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub source: String,
    pub version: String,
    /// Its configuration block; never a credential.
    #[serde(default)]
    pub config: Data,
}

/// A verb that acts once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    pub help: String,
    pub example: String,
    /// Arguments in order: those with `positional: true` first.
    #[serde(default)]
    pub args: IndexMap<String, Setting>,
    /// Arguments of which one at least has to be said: without any it would have nothing to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least_one: Vec<String>,
    /// Acts on every host of the environment unless one is named; else on the only one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
    /// What becomes of data. The plan says it before anybody agrees; without this, that nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<OperationData>,
    /// Arguments that name something on the host, and how the estate would make such a thing: where it makes none of
    /// that name there, the person is told before anything is recorded.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub acts_on: IndexMap<String, ActsOn>,
    /// The kind that what it acts on belongs to: where the environment has none of it, the person is told before anything is
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belongs_to: Option<String>,
    /// The host states that do it; `@{arg.<name>}` reads an argument.
    pub states: Data,
}

/// What an operation means for data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationData {
    pub fate: OperationFate,
    /// In a few words: what happens to it, and what to do before. `@{arg.<name>}` reads an argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// How far an operation goes into data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationFate {
    /// It has nothing to do with data.
    Untouched,
    /// It works on what holds data, and leaves the data where it lies.
    Stays,
    /// Data is rewritten or moved: it may be lost where that goes wrong.
    AtRisk,
}

/// Something of a host that an operation is told the name of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActsOn {
    /// What it is, in words: volume.
    pub what: String,
    /// The state of Salt that makes such a thing by its name: lvm.lv_present.
    pub made_by: String,
}
