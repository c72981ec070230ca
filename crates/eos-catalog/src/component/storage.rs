//! Where a component keeps its data, and what kind of data that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place for data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    pub class: DataClass,
    pub help: String,
    /// `100G`, or a reference to a size setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Numeric user that must own it, where the program is particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    /// The filesystem of a new volume, where another one than its class's is better for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<Filesystem>,
    /// The need whose offer is a mounted shared filesystem to put it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<String>,
}

/// A filesystem of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    Btrfs,
    Ext4,
    Xfs,
}

impl Filesystem {
    pub const ALL: [Filesystem; 3] = [Filesystem::Btrfs, Filesystem::Ext4, Filesystem::Xfs];

    pub fn as_str(self) -> &'static str {
        match self {
            Filesystem::Btrfs => "btrfs",
            Filesystem::Ext4 => "ext4",
            Filesystem::Xfs => "xfs",
        }
    }
}

/// What kind of data a volume holds; decides the filesystem where the volume does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DataClass {
    /// Backups: btrfs.
    Backup,
    /// A boot or system disk: ext4.
    Boot,
    /// May be lost; a plain directory, guarded by nothing.
    Cache,
    /// Random reads and writes: XFS on LVM.
    Database,
    /// Files of one host: ext4 on LVM.
    Files,
    /// Files of several hosts: CephFS.
    Shared,
}

impl DataClass {
    /// The filesystem of a volume that does not choose one itself; none for what may be lost and what several hosts share.
    pub fn filesystem(self) -> Option<Filesystem> {
        match self {
            DataClass::Backup => Some(Filesystem::Btrfs),
            DataClass::Boot | DataClass::Files => Some(Filesystem::Ext4),
            DataClass::Database => Some(Filesystem::Xfs),
            DataClass::Cache | DataClass::Shared => None,
        }
    }
}
