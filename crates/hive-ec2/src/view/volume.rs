//! `<volume>`, its attachments and its last modification; `<snapshot>`.

use serde::Serialize;

use super::{OwnerView, TagView, tags};
use crate::core::environment::zone_id;
use crate::core::text::moment;
use crate::data::images;
use crate::model::account::Account;
use crate::model::snapshot::{Snapshot, SnapshotState};
use crate::model::volume::{
    AttachmentState, ModificationState, Volume, VolumeAttachment, VolumeModification, VolumeType,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeView {
    volume_id: String,
    size: u32,
    snapshot_id: String,
    availability_zone: String,
    availability_zone_id: String,
    status: &'static str,
    create_time: String,
    attachment_set: Vec<AttachmentView>,
    volume_type: VolumeType,
    iops: Option<u32>,
    throughput: Option<u32>,
    encrypted: bool,
    kms_key_id: Option<String>,
    multi_attach_enabled: bool,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentView {
    volume_id: String,
    instance_id: String,
    device: String,
    status: AttachmentState,
    attach_time: String,
    delete_on_termination: bool,
}

pub fn attachment(attachment: &VolumeAttachment, volume: &str) -> AttachmentView {
    AttachmentView {
        volume_id: volume.to_owned(),
        instance_id: attachment.instance_id.to_string(),
        device: attachment.device.clone(),
        status: attachment.state,
        attach_time: moment(attachment.attached),
        delete_on_termination: attachment.delete_on_termination,
    }
}

pub fn volume(volume: &Volume) -> VolumeView {
    VolumeView {
        volume_id: volume.id.to_string(),
        size: volume.size,
        snapshot_id: volume.snapshot_id.clone().unwrap_or_default(),
        availability_zone: volume.availability_zone.clone(),
        availability_zone_id: zone_id(&volume.availability_zone),
        status: volume.status(),
        create_time: moment(volume.created),
        attachment_set: volume.attachments.iter().map(|a| attachment(a, &volume.id)).collect(),
        volume_type: volume.volume_type,
        iops: volume.iops,
        throughput: volume.throughput,
        encrypted: volume.encrypted,
        kms_key_id: volume.kms_key_id.clone(),
        multi_attach_enabled: volume.multi_attach_enabled,
        tag_set: tags(&volume.tags),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModificationView {
    volume_id: String,
    modification_state: &'static str,
    progress: u32,
    start_time: String,
    end_time: Option<String>,
    original_size: u32,
    original_volume_type: VolumeType,
    original_iops: Option<u32>,
    original_throughput: Option<u32>,
    original_multi_attach_enabled: bool,
    target_size: u32,
    target_volume_type: VolumeType,
    target_iops: Option<u32>,
    target_throughput: Option<u32>,
    target_multi_attach_enabled: bool,
}

pub fn modification(change: &VolumeModification, volume: &str) -> ModificationView {
    ModificationView {
        volume_id: volume.to_owned(),
        modification_state: change.state.name(),
        progress: if change.state == ModificationState::Completed { 100 } else { 0 },
        start_time: moment(change.started),
        end_time: change.ended.map(moment),
        original_size: change.original.size,
        original_volume_type: change.original.volume_type,
        original_iops: change.original.iops,
        original_throughput: change.original.throughput,
        original_multi_attach_enabled: change.original.multi_attach_enabled,
        target_size: change.target.size,
        target_volume_type: change.target.volume_type,
        target_iops: change.target.iops,
        target_throughput: change.target.throughput,
        target_multi_attach_enabled: change.target.multi_attach_enabled,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    snapshot_id: String,
    volume_id: String,
    volume_size: u32,
    status: SnapshotState,
    progress: &'static str,
    start_time: String,
    description: String,
    encrypted: bool,
    kms_key_id: Option<String>,
    owner_id: String,
    owner_alias: Option<&'static str>,
    storage_tier: &'static str,
    tag_set: Vec<TagView>,
}

pub fn snapshot_owner(snapshot: &Snapshot, account: &Account) -> OwnerView {
    match &snapshot.lender {
        Some(lender) => OwnerView { id: lender.to_string(), alias: None },
        None => OwnerView::new(images::snapshot_owner(&snapshot.id), account),
    }
}

pub fn progress(state: SnapshotState) -> &'static str {
    if state == SnapshotState::Completed { "100%" } else { "0%" }
}

pub fn snapshot(snapshot: &Snapshot, account: &Account) -> SnapshotView {
    let owner = snapshot_owner(snapshot, account);
    SnapshotView {
        snapshot_id: snapshot.id.to_string(),
        volume_id: snapshot.volume_id.clone(),
        volume_size: snapshot.volume_size,
        status: snapshot.state,
        progress: progress(snapshot.state),
        start_time: moment(snapshot.started),
        description: snapshot.description.clone(),
        encrypted: snapshot.encrypted,
        kms_key_id: snapshot.kms_key_id.clone(),
        owner_id: owner.id,
        owner_alias: owner.alias,
        storage_tier: "standard",
        tag_set: tags(&snapshot.tags),
    }
}
