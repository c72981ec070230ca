//! `<instance>` and the reservation around it.

use serde::Serialize;

use super::network_interface::{
    self as interface_view, GroupIdentifier, NetworkInterfaceView, private_name, resource_name,
};
use super::subnet::DnsOptions;
use super::{TagView, tags};
use crate::core::call::Call;
use crate::core::environment::zone_id;
use crate::core::text::moment;
use crate::data::instance_types;
use crate::model::instance::{
    AutoRecovery, CapacityPreference, Instance, InstanceState, MetadataOptions, Switch, Tokens,
};
use crate::model::network_interface::NetworkInterface;
use crate::model::subnet::HostnameType;
use crate::model::volume::AttachmentState;
use crate::model::vpc::Tenancy;
use crate::rules::instance_profiles::{ProfileView, profile};
use crate::rules::placement;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReservationView {
    pub reservation_id: String,
    pub owner_id: String,
    pub group_set: Vec<GroupIdentifier>,
    pub instances_set: Vec<InstanceView>,
}

#[derive(Serialize)]
pub struct InstanceStateView {
    code: u16,
    name: &'static str,
}

pub fn state(state: InstanceState) -> InstanceStateView {
    InstanceStateView { code: state.code(), name: state.name() }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceView {
    instance_id: String,
    image_id: String,
    instance_state: InstanceStateView,
    private_dns_name: String,
    dns_name: String,
    reason: String,
    key_name: Option<String>,
    ami_launch_index: u32,
    instance_type: String,
    launch_time: String,
    placement: PlacementView,
    monitoring: StateView,
    subnet_id: Option<String>,
    vpc_id: Option<String>,
    private_ip_address: Option<String>,
    ip_address: Option<String>,
    source_dest_check: Option<bool>,
    group_set: Vec<GroupIdentifier>,
    state_reason: Option<StateReason>,
    architecture: &'static str,
    root_device_type: &'static str,
    root_device_name: String,
    block_device_mapping: Vec<BlockDeviceView>,
    virtualization_type: &'static str,
    client_token: Option<String>,
    tag_set: Vec<TagView>,
    hypervisor: &'static str,
    network_interface_set: Vec<NetworkInterfaceView>,
    ebs_optimized: bool,
    ena_support: bool,
    iam_instance_profile: Option<ProfileView>,
    cpu_options: CpuOptions,
    capacity_reservation_specification: CapacityView,
    hibernation_options: Configured,
    metadata_options: MetadataView,
    enclave_options: EnclaveView,
    boot_mode: Option<String>,
    platform_details: &'static str,
    usage_operation: &'static str,
    private_dns_name_options: DnsOptions,
    maintenance_options: MaintenanceView,
    current_instance_boot_mode: &'static str,
}

#[derive(Serialize)]
struct StateView {
    state: &'static str,
}

#[derive(Serialize)]
struct StateReason {
    code: String,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlacementView {
    availability_zone: String,
    availability_zone_id: String,
    group_name: String,
    group_id: Option<String>,
    partition_number: Option<u32>,
    tenancy: Tenancy,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockDeviceView {
    device_name: String,
    ebs: EbsView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EbsView {
    volume_id: String,
    status: AttachmentState,
    attach_time: String,
    delete_on_termination: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CpuOptions {
    core_count: u32,
    threads_per_core: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CapacityView {
    capacity_reservation_preference: CapacityPreference,
}

#[derive(Serialize)]
struct Configured {
    configured: bool,
}

#[derive(Serialize)]
struct EnclaveView {
    enabled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MaintenanceView {
    auto_recovery: AutoRecovery,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetadataView {
    state: &'static str,
    http_tokens: Tokens,
    http_put_response_hop_limit: u32,
    http_endpoint: Switch,
    http_protocol_ipv6: Switch,
    instance_metadata_tags: Switch,
}

pub fn metadata(options: &MetadataOptions) -> MetadataView {
    MetadataView {
        state: "applied",
        http_tokens: options.http_tokens,
        http_put_response_hop_limit: options.http_put_response_hop_limit,
        http_endpoint: options.http_endpoint,
        http_protocol_ipv6: options.http_protocol_ipv6,
        instance_metadata_tags: options.instance_metadata_tags,
    }
}

pub fn block_devices(instance: &Instance, call: &Call<'_>) -> Vec<BlockDeviceView> {
    let devices = instance.block_devices.iter().filter_map(|(device, volume)| {
        let volume = call.account.volumes.get(volume)?;
        let attachment =
            volume.attachments.iter().find(|attachment| attachment.instance_id == instance.id)?;
        Some(BlockDeviceView {
            device_name: device.clone(),
            ebs: EbsView {
                volume_id: volume.id.to_string(),
                status: attachment.state,
                attach_time: moment(attachment.attached),
                delete_on_termination: attachment.delete_on_termination,
            },
        })
    });
    devices.collect()
}

pub fn instance(instance: &Instance, call: &Call<'_>) -> InstanceView {
    let options = &instance.options;
    let interfaces: Vec<&NetworkInterface> =
        instance.network_interfaces.iter().filter_map(|id| call.account.network_interfaces.get(id)).collect();
    let primary = interfaces.first().copied();
    let private_ip = primary.and_then(NetworkInterface::primary_ip);
    let public_ip = primary
        .zip(private_ip)
        .and_then(|(interface, address)| interface_view::association(interface, address, call));
    let kind = instance_types::find(&instance.instance_type);
    let alive = instance.state != InstanceState::Terminated;
    InstanceView {
        instance_id: instance.id.to_string(),
        image_id: instance.image_id.clone(),
        instance_state: state(instance.state),
        private_dns_name: private_ip
            .map(|address| match options.hostname_type {
                HostnameType::IpName => private_name(address, call.environment),
                HostnameType::ResourceName => resource_name(&instance.id, call.environment),
            })
            .unwrap_or_default(),
        dns_name: public_ip.as_ref().map(|public| public.public_dns_name.clone()).unwrap_or_default(),
        reason: instance.reason(),
        key_name: instance.key_name.clone(),
        ami_launch_index: instance.launch_index,
        instance_type: instance.instance_type.clone(),
        launch_time: moment(instance.launched),
        placement: PlacementView {
            availability_zone: instance.availability_zone.clone(),
            availability_zone_id: zone_id(&instance.availability_zone),
            group_name: instance.placement_group.clone().unwrap_or_default(),
            group_id: instance
                .placement_group
                .as_deref()
                .and_then(|name| placement::by_name(call.account, name).ok())
                .map(|group| group.id.to_string()),
            partition_number: instance.partition_number,
            tenancy: instance.tenancy,
        },
        monitoring: StateView { state: if options.monitoring { "enabled" } else { "disabled" } },
        subnet_id: alive.then(|| instance.subnet_id.to_string()),
        vpc_id: alive.then(|| instance.vpc_id.to_string()),
        private_ip_address: private_ip.map(|address| address.to_string()),
        ip_address: public_ip.map(|public| public.public_ip),
        source_dest_check: primary.map(|interface| interface.source_dest_check),
        group_set: primary.map(|i| interface_view::groups(i, call.account)).unwrap_or_default(),
        state_reason: instance
            .state_reason()
            .map(|(code, message)| StateReason { code: code.to_owned(), message: message.to_owned() }),
        architecture: kind.map_or("x86_64", |kind| kind.architecture),
        root_device_type: "ebs",
        root_device_name: instance.root_device_name.clone(),
        block_device_mapping: block_devices(instance, call),
        virtualization_type: "hvm",
        client_token: instance.client_token.clone(),
        tag_set: tags(&instance.tags),
        hypervisor: "xen",
        network_interface_set: interfaces.iter().map(|i| interface_view::of_instance(i, call)).collect(),
        ebs_optimized: options.ebs_optimized,
        ena_support: instance.ena_support,
        iam_instance_profile: options.iam_instance_profile.as_deref().map(profile),
        cpu_options: CpuOptions {
            core_count: options.core_count,
            threads_per_core: options.threads_per_core,
        },
        capacity_reservation_specification: CapacityView {
            capacity_reservation_preference: options.capacity_reservation_preference,
        },
        hibernation_options: Configured { configured: options.hibernation },
        metadata_options: metadata(&options.metadata),
        enclave_options: EnclaveView { enabled: options.enclave },
        boot_mode: instance.boot_mode.clone(),
        platform_details: "Linux/UNIX",
        usage_operation: "RunInstances",
        private_dns_name_options: DnsOptions {
            hostname_type: options.hostname_type,
            a_record: options.resource_name_dns_a_record,
            aaaa_record: options.resource_name_dns_aaaa_record,
        },
        maintenance_options: MaintenanceView { auto_recovery: options.auto_recovery },
        current_instance_boot_mode: instance.current_boot_mode(),
    }
}
