//! A block device of its own, in one zone.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;
use jiff::Timestamp;

use super::instance::Instance;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Volume {
    pub id: Id<Volume>,
    pub availability_zone: String,
    /// GiB
    pub size: u32,
    pub volume_type: VolumeType,
    pub iops: Option<u32>,
    pub throughput: Option<u32>,
    pub encrypted: bool,
    pub kms_key_id: Option<String>,
    pub multi_attach_enabled: bool,
    #[serde(default)]
    pub auto_enable_io: bool,
    pub snapshot_id: Option<String>,
    pub state: VolumeState,
    pub created: Timestamp,
    pub attachments: Vec<VolumeAttachment>,
    pub modification: Option<VolumeModification>,
    pub tags: Tags,
}

impl Listed for Volume {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["volume-id"]),
        Self::BY_INSTANCE,
        Self::BY_SNAPSHOT,
        Self::BY_ZONE,
        Self::BY_STATUS,
        Self::BY_MODIFICATION,
        Field::new(&["attachment.delete-on-termination"], |volume, each| {
            volume.attachments.iter().map(|a| &a.delete_on_termination).for_each(|value| one(value, each))
        }),
        Field::new(&["attachment.attach-time"], |volume, each| {
            volume.attachments.iter().for_each(|a| each(&moment(a.attached)))
        }),
        Field::new(&["attachment.device"], |volume, each| {
            volume.attachments.iter().map(|a| &a.device).for_each(|value| one(value, each))
        }),
        Field::new(&["attachment.status"], |volume, each| {
            volume.attachments.iter().for_each(|a| each(a.state.name()))
        }),
        Field::new(&["create-time"], |volume, each| each(&moment(volume.created))),
        Field::usually("false", &["encrypted"], |volume, each| one(volume.encrypted, each)),
        Field::usually("false", &["multi-attach-enabled"], |volume, each| {
            one(volume.multi_attach_enabled, each)
        }),
        Field::new(&["size"], |volume, each| one(volume.size, each)),
        Field::new(&["volume-type"], |volume, each| {
            each(&format!("{:?}", volume.volume_type).to_lowercase())
        }),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl Volume {
    pub const BY_INSTANCE: Field<Self> = Field::new(&["attachment.instance-id"], |v, each| {
        v.attachments.iter().for_each(|a| each(&a.instance_id))
    });
    pub const BY_ZONE: Field<Self> = Field::new(&["availability-zone"], |v, each| each(&v.availability_zone));
    pub const BY_STATUS: Field<Self> = Field::new(&["status"], |v, each| each(v.status()));
    pub const BY_MODIFICATION: Field<Self> = Field::new(&["(state of its modification)"], |v, each| {
        v.modification.iter().for_each(|change| each(change.state.name()))
    });
    pub const BY_SNAPSHOT: Field<Self> =
        Field::new(&["snapshot-id"], |v, each| v.snapshot_id.iter().for_each(|s| each(s)));
}

impl Resource for Volume {
    const KIND: Kind = Kind {
        name: "volume",
        prefix: "vol",
        not_found: "InvalidVolume.NotFound",
        malformed: Some("InvalidVolumeID.Malformed"),
        noun: "volume",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VolumeType {
    Standard,
    Io1,
    Io2,
    Gp2,
    Gp3,
    Sc1,
    St1,
}

/// `in-use` is not here: it follows from the attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeState {
    Creating,
    Available,
    Deleting,
    Error,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VolumeAttachment {
    pub instance_id: Id<Instance>,
    pub device: String,
    pub state: AttachmentState,
    pub attached: Timestamp,
    pub delete_on_termination: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttachmentState {
    Attaching,
    #[default]
    Attached,
    Detaching,
}

impl AttachmentState {
    pub fn name(self) -> &'static str {
        match self {
            AttachmentState::Attaching => "attaching",
            AttachmentState::Attached => "attached",
            AttachmentState::Detaching => "detaching",
        }
    }
}

/// The last change of size, type or speed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VolumeModification {
    pub started: Timestamp,
    /// When the node reported.
    #[serde(default)]
    pub ended: Option<Timestamp>,
    #[serde(default)]
    pub state: ModificationState,
    pub original: VolumeShape,
    pub target: VolumeShape,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModificationState {
    Modifying,
    #[default]
    Completed,
    Failed,
}

impl ModificationState {
    pub fn name(self) -> &'static str {
        match self {
            ModificationState::Modifying => "modifying",
            ModificationState::Completed => "completed",
            ModificationState::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeShape {
    pub size: u32,
    pub volume_type: VolumeType,
    pub iops: Option<u32>,
    pub throughput: Option<u32>,
    pub multi_attach_enabled: bool,
}

impl Volume {
    /// All that [`Volume::status`] can be.
    pub const STATUSES: [&'static str; 5] = ["available", "creating", "deleting", "error", "in-use"];

    pub fn status(&self) -> &'static str {
        match self.state {
            VolumeState::Available if !self.attachments.is_empty() => "in-use",
            VolumeState::Available => "available",
            VolumeState::Creating => "creating",
            VolumeState::Deleting => "deleting",
            VolumeState::Error => "error",
        }
    }

    pub fn is_being_modified(&self) -> bool {
        self.modification.as_ref().is_some_and(|change| change.state == ModificationState::Modifying)
    }

    pub fn set_shape(&mut self, shape: VolumeShape) {
        self.size = shape.size;
        self.volume_type = shape.volume_type;
        self.iops = shape.iops;
        self.throughput = shape.throughput;
        self.multi_attach_enabled = shape.multi_attach_enabled;
    }

    pub fn shape(&self) -> VolumeShape {
        VolumeShape {
            size: self.size,
            volume_type: self.volume_type,
            iops: self.iops,
            throughput: self.throughput,
            multi_attach_enabled: self.multi_attach_enabled,
        }
    }
}
