//! The images that every account sees. They have names that clients look for, and no bytes behind them yet:
//! their descriptions say so.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;

use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::image::{Image, ImageDevice, ImageState, ImageVolume};
use crate::model::volume::VolumeType;

pub const OWNER_ID: &str = "137112412989";
pub const OWNER_ALIAS: &str = "amazon";
/// 2026-01-01
const CREATED: i64 = 1_767_225_600;
const ROOT: &str = "/dev/xvda";

/// Id, name, architecture, GiB of the root device, what clients take it for; sorted by id.
static ROWS: &[(&str, &str, &str, u32, &str)] = &[
    ("ami-00000000000000a01", "amzn2-ami-minimal-hvm-2.0.0-x86_64-ebs", "x86_64", 2, "Amazon Linux 2"),
    ("ami-00000000000000a02", "amzn2-ami-minimal-hvm-2.0.0-arm64-ebs", "arm64", 2, "Amazon Linux 2"),
    ("ami-00000000000000d01", "debian-12-amd64", "x86_64", 8, "Debian 12"),
    ("ami-00000000000000d02", "debian-12-arm64", "arm64", 8, "Debian 12"),
];

static ALL: LazyLock<Vec<Arc<Image>>> = LazyLock::new(|| {
    let image = |(id, name, architecture, size, what): &(&'static str, &str, &str, u32, &str)| {
        let volume = ImageVolume {
            snapshot_id: None,
            size: *size,
            volume_type: VolumeType::Gp2,
            iops: None,
            throughput: None,
            encrypted: false,
            delete_on_termination: true,
        };
        Arc::new(Image {
            id: Id::new(*id),
            name: (*name).to_owned(),
            description: format!("records only: a name for clients that look for {what}"),
            architecture: (*architecture).to_owned(),
            state: ImageState::Available,
            created: Timestamp::from_second(CREATED).unwrap_or(Timestamp::UNIX_EPOCH),
            root_device_name: ROOT.to_owned(),
            devices: vec![ImageDevice { name: ROOT.to_owned(), virtual_name: None, volume: Some(volume) }],
            ena_support: true,
            boot_mode: Some("uefi-preferred".to_owned()),
            imds_support: None,
            tpm_support: None,
            sriov_net_support: None,
            source_image_id: None,
            source_instance_id: None,
            public: true,
            users: BTreeSet::new(),
            tags: Tags::default(),
        })
    };
    ROWS.iter().map(image).collect()
});

pub fn all() -> &'static [Arc<Image>] {
    &ALL
}

pub fn find(id: &str) -> Option<Arc<Image>> {
    ALL.iter().find(|image| *image.id == *id).cloned()
}
