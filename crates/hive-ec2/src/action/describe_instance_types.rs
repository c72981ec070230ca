//! What the instance types have.

use super::prelude::*;
use crate::data::instance_types::{self, Disks, Gpus, InstanceType};

pub struct DescribeInstanceTypes;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_type: Vec<String>,
}

static FILTERS: Filters<InstanceType> = Filters::<InstanceType>::of(&[
    ("bare-metal", Of(|kind, _| one(kind.hypervisor.is_none()))),
    ("burstable-performance-supported", Of(|kind, _| one(kind.burstable))),
    ("current-generation", Of(|kind, _| one(kind.is_current))),
    ("free-tier-eligible", Of(|kind, _| one(kind.free_tier))),
    ("hypervisor", Of(|kind, _| maybe(kind.hypervisor))),
    ("instance-type", Of(|kind, _| one(kind.name))),
    ("memory-info.size-in-mib", Of(|kind, _| one(kind.memory_mib))),
    ("processor-info.supported-architecture", Of(|kind, _| one(kind.architecture))),
    ("supported-usage-class", Same(|_| "on-demand".to_owned())),
    ("supported-virtualization-type", Same(|_| "hvm".to_owned())),
    ("vcpu-info.default-vcpus", Of(|kind, _| one(kind.vcpus))),
])
.shown("DescribeInstanceTypes", |kind, _| shown(view(kind)));

/// As many as one answer holds.
const MOST: usize = 100;

impl Action for DescribeInstanceTypes {
    const NAME: &'static str = "DescribeInstanceTypes";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<InstanceTypeView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<InstanceTypeView>> {
        for name in &request.instance_type {
            if instance_types::find(name).is_none() {
                return Err(ApiError::client(
                    "InvalidInstanceType",
                    format!("The following supplied instance types do not exist: [{name}]"),
                ));
            }
        }
        if request.instance_type.is_empty() {
            // As EC2, which has more of them than fit into one answer.
            call.common.max_results.get_or_insert(MOST);
        }
        let listed = instance_types::all().iter().filter(|kind| {
            request.instance_type.is_empty() || request.instance_type.iter().any(|name| name == kind.name)
        });
        let page = call.select_from(listed, &FILTERS)?;
        Ok(page.listing("instanceTypeSet", view))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceTypeView {
    instance_type: &'static str,
    current_generation: bool,
    free_tier_eligible: bool,
    supported_usage_classes: Vec<&'static str>,
    supported_root_device_types: Vec<&'static str>,
    supported_virtualization_types: Vec<&'static str>,
    bare_metal: bool,
    hypervisor: Option<&'static str>,
    processor_info: ProcessorInfo,
    v_cpu_info: VcpuInfo,
    memory_info: MemoryInfo,
    instance_storage_supported: bool,
    instance_storage_info: Option<InstanceStorageInfo>,
    ebs_info: EbsInfo,
    network_info: NetworkInfo,
    gpu_info: Option<GpuInfo>,
    placement_group_info: PlacementGroupInfo,
    hibernation_supported: bool,
    burstable_performance_supported: bool,
    dedicated_hosts_supported: bool,
    auto_recovery_supported: bool,
    supported_boot_modes: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProcessorInfo {
    supported_architectures: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VcpuInfo {
    #[serde(rename = "defaultVCpus")]
    default_vcpus: u32,
    default_cores: u32,
    default_threads_per_core: u32,
    valid_cores: Vec<u32>,
    valid_threads_per_core: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MemoryInfo {
    size_in_mi_b: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InstanceStorageInfo {
    #[serde(rename = "totalSizeInGB")]
    total_size: u64,
    disks: Vec<DiskInfo>,
    nvme_support: &'static str,
    encryption_support: &'static str,
}

#[derive(Serialize)]
struct DiskInfo {
    #[serde(rename = "sizeInGB")]
    size: u64,
    count: u64,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GpuInfo {
    gpus: Vec<GpuDevice>,
    total_gpu_memory_in_mi_b: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GpuDevice {
    name: String,
    manufacturer: &'static str,
    count: u64,
    memory_info: MemoryInfo,
}

fn required(is_so: bool) -> &'static str {
    if is_so { "required" } else { "unsupported" }
}

fn storage(disks: Disks) -> InstanceStorageInfo {
    InstanceStorageInfo {
        total_size: disks.count * disks.gigabytes,
        disks: vec![DiskInfo { size: disks.gigabytes, count: disks.count, kind: disks.kind }],
        nvme_support: required(disks.needs_nvme),
        encryption_support: required(disks.needs_encryption),
    }
}

fn gpu_info(gpus: Gpus) -> GpuInfo {
    GpuInfo {
        total_gpu_memory_in_mi_b: gpus.count.max(1) * gpus.mebibytes,
        gpus: vec![GpuDevice {
            name: gpus.name,
            manufacturer: gpus.manufacturer,
            count: gpus.count,
            memory_info: MemoryInfo { size_in_mi_b: gpus.mebibytes },
        }],
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EbsInfo {
    ebs_optimized_support: &'static str,
    encryption_support: &'static str,
    nvme_support: &'static str,
    maximum_ebs_attachments: u32,
    attachment_limit_type: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NetworkInfo {
    maximum_network_interfaces: u32,
    maximum_network_cards: u32,
    default_network_card_index: u32,
    ipv4_addresses_per_interface: u32,
    ipv6_addresses_per_interface: u32,
    ipv6_supported: bool,
    ena_support: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlacementGroupInfo {
    supported_strategies: Vec<&'static str>,
}

fn view(kind: &InstanceType) -> InstanceTypeView {
    let (volumes, shared) = kind.volumes();
    InstanceTypeView {
        instance_type: kind.name,
        current_generation: kind.is_current,
        free_tier_eligible: kind.free_tier,
        supported_usage_classes: vec!["on-demand"],
        supported_root_device_types: vec!["ebs"],
        supported_virtualization_types: vec!["hvm"],
        bare_metal: kind.hypervisor.is_none(),
        hypervisor: kind.hypervisor,
        processor_info: ProcessorInfo { supported_architectures: vec![kind.architecture] },
        v_cpu_info: VcpuInfo {
            default_vcpus: kind.vcpus,
            default_cores: kind.cores,
            default_threads_per_core: kind.threads_per_core(),
            valid_cores: kind.valid_cores(),
            valid_threads_per_core: kind.valid_threads_per_core(),
        },
        memory_info: MemoryInfo { size_in_mi_b: kind.memory_mib },
        instance_storage_supported: kind.disks().is_some(),
        instance_storage_info: kind.disks().map(storage),
        ebs_info: EbsInfo {
            ebs_optimized_support: kind.ebs_optimized,
            encryption_support: "supported",
            nvme_support: kind.nvme(),
            maximum_ebs_attachments: volumes,
            attachment_limit_type: if shared { "shared" } else { "dedicated" },
        },
        network_info: NetworkInfo {
            maximum_network_interfaces: kind.interfaces,
            maximum_network_cards: 1,
            default_network_card_index: 0,
            ipv4_addresses_per_interface: kind.addresses,
            // Interfaces have IPv4 addresses only.
            ipv6_addresses_per_interface: 0,
            ipv6_supported: false,
            ena_support: kind.ena_support(),
        },
        gpu_info: kind.gpus().map(gpu_info),
        placement_group_info: PlacementGroupInfo {
            supported_strategies: kind.placement_strategies().to_vec(),
        },
        hibernation_supported: false,
        burstable_performance_supported: kind.burstable,
        dedicated_hosts_supported: false,
        auto_recovery_supported: kind.recovers,
        supported_boot_modes: kind.boot_modes().to_vec(),
    }
}
