//! What a component runs: its tasks, their ports, files and checks, and how a new version takes the place of the old.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How a new version of a job takes the place of the one before; what is absent is as usual. How many at a time is not
/// here: one, and a canary beside it only where nothing is kept and several run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// Between two of its tasks' groups; 30s when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<String>,
    /// For how long it must be well before it counts; by the tier when absent: 3s for dev, 10s, or 30s for what is
    /// stateless in production.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_healthy_time: Option<String>,
    /// How long it may take to be well, fetching the image included; 5m when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthy_deadline: Option<String>,
    /// How long until the next one has to be well; twice the deadline when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_deadline: Option<String>,
    /// Back to the one before when it does not become well; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_revert: Option<bool>,
}

impl Update {
    /// Seconds, where the file does not say.
    pub const STAGGER: u64 = 30;
    pub const HEALTHY_DEADLINE: u64 = 5 * 60;
    /// The longest that any tier wants it to be well.
    pub const LONGEST_WELL: u64 = 30;

    pub fn is_usual(&self) -> bool {
        *self == Update::default()
    }
}

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Another image than the component's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Another tag than the component's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Program in place of the image's own, or of the host runtime's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: IndexMap<String, String>,
    #[serde(default)]
    pub ports: IndexMap<String, Port>,
    /// Volume → path inside a container.
    #[serde(default)]
    pub mounts: IndexMap<String, String>,
    /// File name → content; read as `@{file.<name>}`.
    #[serde(default)]
    pub files: IndexMap<String, File>,
    #[serde(default)]
    pub checks: Vec<Check>,
    /// By tier: `production`, `staging`, `dev`; a missing tier takes production's, capped by the tier's usual size.
    #[serde(default)]
    pub resources: IndexMap<String, Resources>,
    /// Devices of the node and how many of each, as a device plugin of Nomad names them: `nvidia/gpu`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub devices: IndexMap<String, u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Linux capabilities it needs beyond the usual, such as net_bind_service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
}

/// A port a task listens on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// The port setting that says where it is reached on the host.
    pub setting: String,
    /// Where the program listens inside a container; the same number when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u16>,
    #[serde(default)]
    pub protocol: Transport,
}

/// What a port speaks. Nomad's ports have no protocol and take a number once: a container's is published for both, and a
/// host process opens what it wants. So this is for people, checks, and what is looked for on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    #[default]
    Tcp,
    Udp,
    Both,
}

impl Transport {
    pub fn protocols(self) -> &'static [Protocol] {
        match self {
            Transport::Tcp => &[Protocol::Tcp],
            Transport::Udp => &[Protocol::Udp],
            Transport::Both => &[Protocol::Tcp, Protocol::Udp],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    Tcp,
    Udp,
}

/// A file rendered for a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub format: FileFormat,
    /// The content: data for json and yaml, a text for text.
    pub content: Json,
    /// Octal permissions; 0644 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    Json,
    Text,
    Yaml,
}

/// How Nomad finds out that a task is healthy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub port: String,
    /// A path makes it an http check; without one it is a tcp check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default)]
    pub https: bool,
    /// A program and its arguments, run beside the task: only where services are registered with Consul, which alone
    /// runs such checks. Elsewhere the check is what it would be without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// 30s when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// 5s when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// Nomad's MHz and MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    pub cpu: u32,
    pub memory: u32,
}
