//! `<image>`

use serde::Serialize;

use super::{OwnerView, TagView, tags};
use crate::core::text::moment;
use crate::data::images;
use crate::model::account::Account;
use crate::model::image::{Image, ImageDevice};
use crate::model::volume::VolumeType;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageView {
    image_id: String,
    image_location: String,
    image_state: &'static str,
    image_owner_id: String,
    image_owner_alias: Option<&'static str>,
    creation_date: String,
    deprecation_time: Option<String>,
    is_public: bool,
    architecture: String,
    image_type: &'static str,
    name: String,
    description: Option<String>,
    root_device_type: &'static str,
    root_device_name: String,
    block_device_mapping: Vec<DeviceView>,
    virtualization_type: &'static str,
    hypervisor: &'static str,
    ena_support: bool,
    platform_details: &'static str,
    usage_operation: &'static str,
    boot_mode: Option<String>,
    imds_support: Option<String>,
    tpm_support: Option<String>,
    sriov_net_support: Option<String>,
    source_image_id: Option<String>,
    source_instance_id: Option<String>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    device_name: String,
    virtual_name: Option<String>,
    ebs: Option<EbsView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EbsView {
    snapshot_id: Option<String>,
    volume_size: u32,
    volume_type: VolumeType,
    iops: Option<u32>,
    throughput: Option<u32>,
    delete_on_termination: bool,
    encrypted: bool,
}

pub fn owner(image: &Image, account: &Account) -> OwnerView {
    match &image.lender {
        Some(lender) => OwnerView { id: lender.to_string(), alias: None },
        None => OwnerView::new(images::owner(&image.id), account),
    }
}

pub fn device(device: &ImageDevice) -> DeviceView {
    DeviceView {
        device_name: device.name.clone(),
        virtual_name: device.virtual_name.clone(),
        ebs: device.volume.as_ref().map(|volume| EbsView {
            snapshot_id: volume.snapshot_id.as_ref().map(ToString::to_string),
            volume_size: volume.size,
            volume_type: volume.volume_type,
            iops: volume.iops,
            throughput: volume.throughput,
            delete_on_termination: volume.delete_on_termination,
            encrypted: volume.encrypted,
        }),
    }
}

pub fn image(image: &Image, account: &Account) -> ImageView {
    let OwnerView { id: owner, alias } = owner(image, account);
    ImageView {
        image_id: image.id.to_string(),
        image_location: format!("{}/{}", alias.unwrap_or(&owner), image.name),
        image_state: image.state.name(),
        image_owner_id: owner,
        image_owner_alias: alias,
        creation_date: moment(image.created),
        // Those that everyone sees are offered for two years, as EC2's are.
        deprecation_time: images::deprecated(&image.id).map(moment),
        is_public: image.public,
        architecture: image.architecture.clone(),
        image_type: "machine",
        name: image.name.clone(),
        description: Some(image.description.clone()).filter(|text| !text.is_empty()),
        root_device_type: "ebs",
        root_device_name: image.root_device_name.clone(),
        block_device_mapping: image.devices.iter().map(device).collect(),
        virtualization_type: "hvm",
        hypervisor: "xen",
        ena_support: image.ena_support,
        platform_details: "Linux/UNIX",
        usage_operation: "RunInstances",
        boot_mode: image.boot_mode.clone(),
        imds_support: image.imds_support.clone(),
        tpm_support: image.tpm_support.clone(),
        sriov_net_support: image.sriov_net_support.clone(),
        source_image_id: image.source_image_id.clone(),
        source_instance_id: image.source_instance_id.clone(),
        tag_set: tags(&image.tags),
    }
}
