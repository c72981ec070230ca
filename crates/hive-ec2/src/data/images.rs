//! The images that every account sees, and the snapshots that they are made of. They have names that clients look for,
//! and no bytes behind them yet: their descriptions say so.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;

use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::image::{Image, ImageDevice, ImageState, ImageVolume};
use crate::model::snapshot::{Snapshot, SnapshotState};
use crate::model::volume::VolumeType;

/// Who publishes an image: the account, and its other name where it has one.
pub type Owner = (&'static str, Option<&'static str>);

const AMAZON: Owner = ("137112412989", Some("amazon"));
const CANONICAL: Owner = ("099720109477", None);

/// 2026-01-01
const CREATED: i64 = 1_767_225_600;
/// 2028-01-01
const DEPRECATED: i64 = 1_830_297_600;
const AL2023: &str = "Amazon Linux 2023";
const ROOT: &str = "/dev/xvda";

/// Id, publisher, name, architecture, GiB and kind of the root device, what clients take it for.
type Row = (&'static str, Owner, &'static str, &'static str, u32, VolumeType, &'static str);

/// Sorted by id.
#[rustfmt::skip]
static ROWS: &[Row] = &[
    ("ami-00000000000000a01", AMAZON, "amzn2-ami-minimal-hvm-2.0.0-x86_64-ebs", "x86_64", 2, VolumeType::Gp2, "Amazon Linux 2"),
    ("ami-00000000000000a02", AMAZON, "amzn2-ami-minimal-hvm-2.0.0-arm64-ebs", "arm64", 2, VolumeType::Gp2, "Amazon Linux 2"),
    ("ami-00000000000000a03", AMAZON, "al2023-ami-2023.6.20260101.0-kernel-6.1-x86_64", "x86_64", 8, VolumeType::Gp3, AL2023),
    ("ami-00000000000000a04", AMAZON, "al2023-ami-2023.6.20260101.0-kernel-6.1-arm64", "arm64", 8, VolumeType::Gp3, AL2023),
    ("ami-00000000000000d01", AMAZON, "debian-12-amd64", "x86_64", 8, VolumeType::Gp2, "Debian 12"),
    ("ami-00000000000000d02", AMAZON, "debian-12-arm64", "arm64", 8, VolumeType::Gp2, "Debian 12"),
    ("ami-00000000000000e01", CANONICAL, "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260101", "x86_64", 8, VolumeType::Gp3, "Ubuntu 24.04"),
    ("ami-00000000000000e02", CANONICAL, "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-arm64-server-20260101", "arm64", 8, VolumeType::Gp3, "Ubuntu 24.04"),
    ("ami-00000000000000e03", CANONICAL, "ubuntu/images/hvm-instance/ubuntu-jammy-22.04-amd64-server-20260101", "x86_64", 8, VolumeType::Gp2, "Ubuntu 22.04"),
];

static ALL: LazyLock<Vec<Arc<Image>>> = LazyLock::new(|| {
    let image = |(id, _, name, architecture, size, volume_type, what): &Row| {
        let volume = ImageVolume {
            snapshot_id: Some(snapshot_of(id)),
            size: *size,
            volume_type: *volume_type,
            iops: None,
            throughput: None,
            encrypted: false,
            delete_on_termination: true,
        };
        Arc::new(Image {
            id: Id::new(*id),
            name: (*name).to_owned(),
            description: format!("{what} AMI, records only: a name for clients that look for it"),
            architecture: (*architecture).to_owned(),
            state: ImageState::Available,
            created: created(),
            root_device_name: ROOT.to_owned(),
            devices: vec![ImageDevice { name: ROOT.to_owned(), virtual_name: None, volume: Some(volume) }],
            ena_support: true,
            // What runs on ARM has no other.
            boot_mode: Some(if *architecture == "arm64" { "uefi" } else { "uefi-preferred" }.to_owned()),
            // Only newer images ask for the second version of the metadata service.
            imds_support: (*what == AL2023).then(|| "v2.0".to_owned()),
            tpm_support: None,
            sriov_net_support: Some("simple".to_owned()),
            source_image_id: None,
            source_instance_id: None,
            public: true,
            users: BTreeSet::new(),
            lender: None,
            tags: Tags::default(),
        })
    };
    ROWS.iter().map(image).collect()
});

static SNAPSHOTS: LazyLock<Vec<Arc<Snapshot>>> = LazyLock::new(|| {
    let snapshot = |(id, _, name, _, size, ..): &Row| {
        Arc::new(Snapshot {
            id: snapshot_of(id),
            volume_id: NO_VOLUME.to_owned(),
            volume_size: *size,
            description: format!("Root device of {name}, records only"),
            encrypted: false,
            kms_key_id: None,
            state: SnapshotState::Completed,
            started: created(),
            public: true,
            users: BTreeSet::new(),
            lender: None,
            tags: Tags::default(),
        })
    };
    ROWS.iter().map(snapshot).collect()
});

/// What EC2 says of a snapshot that was made of no volume of this account.
pub const NO_VOLUME: &str = "vol-ffffffff";

fn created() -> Timestamp {
    Timestamp::from_second(CREATED).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Image and snapshot have the same digits, so snapshots are sorted as images are.
fn snapshot_of(image: &str) -> Id<Snapshot> {
    Id::new(image.replacen("ami", "snap", 1))
}

pub fn all() -> &'static [Arc<Image>] {
    &ALL
}

pub fn snapshots() -> &'static [Arc<Snapshot>] {
    &SNAPSHOTS
}

pub fn snapshot_owner(id: &str) -> Option<Owner> {
    owner(&id.replacen("snap", "ami", 1))
}

/// From when on a public image is no longer offered.
pub fn deprecated(id: &str) -> Option<Timestamp> {
    find(id)?;
    Timestamp::from_second(DEPRECATED).ok()
}

pub fn owner(id: &str) -> Option<Owner> {
    ROWS.iter().find(|(known, ..)| *known == id).map(|(_, owner, ..)| *owner)
}

pub fn find_snapshot(id: &str) -> Option<Arc<Snapshot>> {
    SNAPSHOTS.iter().find(|snapshot| *snapshot.id == *id).cloned()
}

pub fn find(id: &str) -> Option<Arc<Image>> {
    ALL.iter().find(|image| *image.id == *id).cloned()
}
