//! Entries of a pillar: components, hosts and operations, with the place each value was written at.
//!
//! `read_entry.rs` reads them, by the words of `fields.rs`.

use std::collections::BTreeMap;

use eos_model::{HostName, Name, SecretRef};
use eos_yaml::Node;
use indexmap::IndexMap;

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
    /// The volume group of a logical volume; its host's where an entry does not say it.
    pub group: Option<String>,
    /// The filesystem it was made with; that of its data class where an entry does not say it.
    pub filesystem: Option<String>,
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
