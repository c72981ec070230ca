//! What machines are started from: a root device and what else is plugged in. It has no bytes behind it yet.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::account::AccountId;
use super::snapshot::Snapshot;
use super::volume::VolumeType;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one, word};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Image {
    pub id: Id<Image>,
    pub name: String,
    pub description: String,
    pub architecture: String,
    pub state: ImageState,
    pub created: Timestamp,
    pub root_device_name: String,
    pub devices: Vec<ImageDevice>,
    pub ena_support: bool,
    pub boot_mode: Option<String>,
    pub imds_support: Option<String>,
    pub tpm_support: Option<String>,
    pub sriov_net_support: Option<String>,
    pub source_image_id: Option<String>,
    pub source_instance_id: Option<String>,
    /// Everyone may use it.
    pub public: bool,
    /// Accounts that may use it, beside its owner.
    pub users: BTreeSet<String>,
    /// Whose it is, where that is not the account that it is shown to. Never stored.
    #[serde(skip)]
    pub lender: Option<AccountId>,
    pub tags: Tags,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageDevice {
    pub name: String,
    /// `ephemeral0`: has no volume.
    pub virtual_name: Option<String>,
    pub volume: Option<ImageVolume>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageVolume {
    pub snapshot_id: Option<Id<Snapshot>>,
    /// GiB
    pub size: u32,
    pub volume_type: VolumeType,
    pub iops: Option<u32>,
    pub throughput: Option<u32>,
    pub encrypted: bool,
    pub delete_on_termination: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageState {
    Pending,
    Available,
    Failed,
}

impl ImageState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Available => "available",
            Self::Failed => "failed",
        }
    }
}

impl Image {
    /// Whether an account that is not its owner may start machines from it.
    pub fn is_shared_with(&self, account: &AccountId) -> bool {
        self.public || self.users.contains(&**account)
    }

    pub fn volumes(&self) -> impl Iterator<Item = &ImageVolume> {
        self.devices.iter().filter_map(|device| device.volume.as_ref())
    }

    /// The root device's volume.
    pub fn root(&self) -> Option<&ImageVolume> {
        self.devices.iter().find(|device| device.name == self.root_device_name)?.volume.as_ref()
    }
}

impl Listed for Image {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["image-id"]),
        Self::BY_NAME,
        Self::BY_SNAPSHOT,
        Field::new(&["architecture"], |image, each| one(&image.architecture, each)),
        Field::usually("true", &["block-device-mapping.delete-on-termination"], |image, each| {
            image.volumes().for_each(|volume| one(volume.delete_on_termination, each))
        }),
        Field::new(&["block-device-mapping.device-name"], |image, each| {
            image.devices.iter().for_each(|device| each(&device.name))
        }),
        Field::usually("false", &["block-device-mapping.encrypted"], |image, each| {
            image.volumes().for_each(|volume| one(volume.encrypted, each))
        }),
        Field::new(&["block-device-mapping.volume-size"], |image, each| {
            image.volumes().for_each(|volume| one(volume.size, each))
        }),
        Field::new(&["block-device-mapping.volume-type"], |image, each| {
            image.volumes().for_each(|volume| word(volume.volume_type, each))
        }),
        Field::new(&["boot-mode"], |image, each| maybe(image.boot_mode.as_ref(), each)),
        Field::new(&["creation-date"], |image, each| one(moment(image.created), each)),
        Field::new(&["description"], |image, each| one(&image.description, each)),
        Field::new(&["ena-support"], |image, each| one(image.ena_support, each)),
        Self::BY_PUBLIC,
        Self::BY_USER,
        Field::new(&["root-device-name"], |image, each| one(&image.root_device_name, each)),
        Field::new(&["source-image-id"], |image, each| maybe(image.source_image_id.as_ref(), each)),
        Field::new(&["source-instance-id"], |image, each| maybe(image.source_instance_id.as_ref(), each)),
        Field::new(&["sriov-net-support"], |image, each| maybe(image.sriov_net_support.as_ref(), each)),
        Field::new(&["state"], |image, each| one(image.state.name(), each)),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl Image {
    pub const BY_NAME: Field<Self> = Field::new(&["name"], |image, each| each(&image.name));
    pub const BY_PUBLIC: Field<Self> = Field::new(&["is-public"], |image, each| one(image.public, each));
    pub const BY_USER: Field<Self> = Field::new(&["(accounts that may use it)"], |image, each| {
        image.users.iter().for_each(|user| each(user))
    });
    pub const BY_SNAPSHOT: Field<Self> = Field::new(&["block-device-mapping.snapshot-id"], |image, each| {
        image.volumes().filter_map(|volume| volume.snapshot_id.as_ref()).for_each(|id| each(id));
    });
}

impl Resource for Image {
    const KIND: Kind = Kind {
        name: "image",
        prefix: "ami",
        not_found: "InvalidAMIID.NotFound",
        malformed: Some("InvalidAMIID.Malformed"),
        noun: "image id",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
