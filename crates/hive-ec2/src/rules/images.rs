//! Images: those of everyone, those of the account and those that others share with it, and the snapshots that they are
//! made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::table::Resource;
use crate::core::tags::Tags;
use crate::data::images;
use crate::model::account::Account;
use crate::model::image::{Image, ImageDevice, ImageState, ImageVolume};
use crate::model::snapshot::{Snapshot, SnapshotState};
use crate::model::volume::{VolumeShape, VolumeType};
use crate::node::Order;
use crate::rules::device_mappings::DeviceMapping;
use crate::rules::devices;

/// An image that the account may start machines from.
pub fn find(call: &Call<'_>, id: &str) -> ApiResult<Arc<Image>> {
    let own = call.account.images.shared(id);
    let found = own.or_else(|| images::find(id)).or_else(|| {
        others(call).find_map(|other| {
            let image = other.images.get(id).filter(|image| image.is_shared_with(&call.account.id))?;
            Some(lent(image, other))
        })
    });
    found.ok_or_else(|| Image::KIND.missing(id))
}

/// One of the account's own; others' cannot be changed.
pub fn find_own<'a>(call: &'a Call<'_>, id: &str) -> ApiResult<&'a Image> {
    match call.account.images.get(id) {
        Some(own) => Ok(own),
        None => {
            find(call, id)?;
            let message = format!("Not authorized for image:{id}");
            Err(ApiError::client("AuthFailure", message).with_status(403))
        }
    }
}

/// All that the account may start machines from beside its own, in the order of their keys.
pub fn of_others(call: &Call<'_>) -> Vec<Arc<Image>> {
    let mut all = images::all().to_vec();
    for other in others(call) {
        let public = other.images.with(Image::BY_PUBLIC, "true");
        let shared = other.images.with(Image::BY_USER, &call.account.id).filter(|image| !image.public);
        all.extend(public.chain(shared).map(|image| lent(image, other)));
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

pub fn others<'a>(call: &'a Call<'_>) -> impl Iterator<Item = &'a Account> {
    call.world.accounts.values().filter(|other| other.id != call.account.id)
}

/// As the account sees it that it is shared with. Tags are for their owner alone.
fn lent(image: &Image, owner: &Account) -> Arc<Image> {
    Arc::new(Image { lender: Some(owner.id.clone()), tags: Tags::default(), ..image.clone() })
}

/// A snapshot that an image is made of: whoever may start machines from the image need not have it.
pub fn find_snapshot_of_image(call: &Call<'_>, id: &str) -> ApiResult<Arc<Snapshot>> {
    let of_others = || others(call).find_map(|other| other.snapshots.shared(id));
    find_snapshot(call.account, id).or_else(|missing| of_others().ok_or(missing))
}

/// A snapshot that the account may use.
pub fn find_snapshot(account: &Account, id: &str) -> ApiResult<Arc<Snapshot>> {
    let own = account.snapshots.shared(id);
    own.or_else(|| images::find_snapshot(id)).ok_or_else(|| Snapshot::KIND.missing(id))
}

/// A device as requests describe it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DeviceRequest {
    pub device_name: String,
    pub virtual_name: Option<String>,
    pub no_device: Option<String>,
    pub ebs: Option<EbsRequest>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub struct EbsRequest {
    pub snapshot_id: Option<String>,
    pub volume_size: Option<u32>,
    pub volume_type: Option<VolumeType>,
    pub iops: Option<u32>,
    pub throughput: Option<u32>,
    pub encrypted: Option<bool>,
    pub delete_on_termination: Option<bool>,
}

impl DeviceRequest {
    pub fn mapping(&self) -> DeviceMapping<'_> {
        DeviceMapping {
            name: &self.device_name,
            is_left_out: self.no_device.is_some(),
            is_virtual: self.virtual_name.is_some(),
            is_volume: self.ebs.is_some(),
        }
    }

    /// As part of an image; `base` is what the image would have without the request.
    pub fn device(&self, account: &Account, base: Option<&ImageVolume>) -> ApiResult<ImageDevice> {
        let volume = match &self.ebs {
            None => base.filter(|_| self.virtual_name.is_none()).cloned(),
            Some(ebs) => {
                let snapshot = ebs.snapshot_id.as_deref().map(|id| find_snapshot(account, id)).transpose()?;
                let snapshot = snapshot.as_deref();
                let size = ebs.volume_size.or(snapshot.map(|s| s.volume_size)).or(base.map(|b| b.size));
                let size = size.ok_or_else(|| ApiError::missing_parameter("VolumeSize"))?;
                if let Some(small) = snapshot.filter(|snapshot| size < snapshot.volume_size) {
                    return Err(ApiError::client(
                        "InvalidBlockDeviceMapping",
                        format!("Volume of size {size}GB is smaller than snapshot '{}'", small.id),
                    ));
                }
                let volume_type = ebs.volume_type.or(base.map(|b| b.volume_type)).unwrap_or(VolumeType::Gp2);
                // The speed of another type is none of this one's, and that of gp2 follows its size.
                let speed = base.filter(|b| b.volume_type == volume_type && volume_type != VolumeType::Gp2);
                let iops = ebs.iops.or(speed.and_then(|b| b.iops));
                let throughput = ebs.throughput.or(speed.and_then(|b| b.throughput));
                // EC2 keeps less of gp3 than any volume has, and refuses the launch.
                let is_gp3 = volume_type == VolumeType::Gp3;
                let checked = if is_gp3 { iops.map(|iops| iops.max(devices::GP3_BASE)) } else { iops };
                devices::complete_shape(VolumeShape {
                    size,
                    volume_type,
                    iops: checked,
                    throughput,
                    multi_attach_enabled: false,
                })?;
                let own = snapshot.map(|s| s.encrypted).or(base.map(|b| b.encrypted)).unwrap_or(false);
                Some(ImageVolume {
                    snapshot_id: snapshot
                        .map(|s| s.id.clone())
                        .or_else(|| base.and_then(|base| base.snapshot_id.clone())),
                    size,
                    volume_type,
                    iops,
                    throughput,
                    encrypted: devices::stay_encrypted(ebs.encrypted, own)?.unwrap_or(false),
                    delete_on_termination: ebs
                        .delete_on_termination
                        .or(base.map(|b| b.delete_on_termination))
                        .unwrap_or(true),
                })
            }
        };
        Ok(ImageDevice { name: self.device_name.clone(), virtual_name: self.virtual_name.clone(), volume })
    }
}

pub struct NewImage {
    pub name: String,
    pub description: String,
    pub architecture: String,
    pub root_device_name: String,
    pub devices: Vec<ImageDevice>,
    pub ena_support: bool,
    pub boot_mode: Option<String>,
    pub imds_support: Option<String>,
    pub tpm_support: Option<String>,
    pub sriov_net_support: Option<String>,
    pub source_image_id: Option<String>,
    pub source_instance_id: Option<String>,
}

pub fn create(call: &mut Call<'_>, new: NewImage) -> ApiResult<Id<Image>> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "()[] ./-'@_".contains(letter);
    if !(3..=128).contains(&new.name.len()) || !new.name.chars().all(plain) {
        return Err(ApiError::client(
            "InvalidAMIName.Malformed",
            "AMI names must be between 3 and 128 characters long, and may contain letters, numbers, spaces and \
             ()[]./-'@_",
        ));
    }
    if let Some(other) = call.account.images.with(Image::BY_NAME, &new.name).next() {
        return Err(ApiError::client(
            "InvalidAMIName.Duplicate",
            format!("AMI name {} is already in use by AMI {}", new.name, other.id),
        ));
    }
    let image = Image {
        id: call.new_id(),
        name: new.name,
        description: new.description,
        architecture: new.architecture,
        state: ImageState::Pending,
        created: call.now,
        root_device_name: new.root_device_name,
        devices: new.devices,
        ena_support: new.ena_support,
        boot_mode: new.boot_mode,
        imds_support: new.imds_support,
        tpm_support: new.tpm_support,
        sriov_net_support: new.sriov_net_support,
        source_image_id: new.source_image_id,
        source_instance_id: new.source_instance_id,
        public: false,
        users: BTreeSet::new(),
        lender: None,
        tags: call.new_tags::<Image>(),
    };
    let id = image.id.clone();
    call.account.images.insert(image);
    call.order(Order::CreateImage(id.clone()));
    Ok(id)
}

/// A snapshot that an image is made of, and the key that it is encrypted with, if it is.
pub fn snapshot(
    call: &mut Call<'_>,
    volume: &str,
    size: u32,
    encryption: Option<String>,
    description: String,
) -> Id<Snapshot> {
    let snapshot = Snapshot {
        id: call.new_id(),
        volume_id: volume.to_owned(),
        volume_size: size,
        description,
        encrypted: encryption.is_some(),
        kms_key_id: encryption,
        state: SnapshotState::Pending,
        started: call.now,
        public: false,
        users: BTreeSet::new(),
        lender: None,
        tags: call.new_tags::<Snapshot>(),
    };
    let id = snapshot.id.clone();
    call.order(Order::CreateSnapshot(id.clone()));
    call.account.snapshots.insert(snapshot);
    id
}

/// What the node's report makes of an image.
pub fn created(call: &mut Call<'_>, id: &str, failed: bool) -> ApiResult<()> {
    if call.account.images.get(id).is_some_and(|image| image.state == ImageState::Pending) {
        let state = if failed { ImageState::Failed } else { ImageState::Available };
        call.account.images.edit(id)?.state = state;
    }
    Ok(())
}
