//! The names that launch template data may have, with their kinds and the names they are answered under: the two
//! differ, so a table says both.

pub struct Member {
    /// In requests.
    pub name: &'static str,
    /// In answers.
    pub wire: &'static str,
    pub shape: Shape,
}

pub enum Shape {
    Text,
    Number,
    Decimal,
    Boolean,
    Struct(&'static [Member]),
    List(&'static Shape),
    /// A list whose elements have a name of their own in answers.
    NamedList(&'static str, &'static Shape),
}

const fn member(name: &'static str, wire: &'static str, shape: Shape) -> Member {
    Member { name, wire, shape }
}

static IAM_INSTANCE_PROFILE: &[Member] =
    &[member("Arn", "arn", Shape::Text), member("Name", "name", Shape::Text)];

static EBS: &[Member] = &[
    member("Encrypted", "encrypted", Shape::Boolean),
    member("DeleteOnTermination", "deleteOnTermination", Shape::Boolean),
    member("Iops", "iops", Shape::Number),
    member("KmsKeyId", "kmsKeyId", Shape::Text),
    member("SnapshotId", "snapshotId", Shape::Text),
    member("VolumeSize", "volumeSize", Shape::Number),
    member("VolumeType", "volumeType", Shape::Text),
    member("Throughput", "throughput", Shape::Number),
];

static BLOCK_DEVICE_MAPPING: &[Member] = &[
    member("DeviceName", "deviceName", Shape::Text),
    member("VirtualName", "virtualName", Shape::Text),
    member("Ebs", "ebs", Shape::Struct(EBS)),
    member("NoDevice", "noDevice", Shape::Text),
];

static IPV6_ADDRESS: &[Member] = &[member("Ipv6Address", "ipv6Address", Shape::Text)];

static PRIVATE_IP_ADDRESS: &[Member] = &[
    member("Primary", "primary", Shape::Boolean),
    member("PrivateIpAddress", "privateIpAddress", Shape::Text),
];

static IPV4_PREFIX: &[Member] = &[member("Ipv4Prefix", "ipv4Prefix", Shape::Text)];

static IPV6_PREFIX: &[Member] = &[member("Ipv6Prefix", "ipv6Prefix", Shape::Text)];

static NETWORK_INTERFACE: &[Member] = &[
    member("AssociateCarrierIpAddress", "associateCarrierIpAddress", Shape::Boolean),
    member("AssociatePublicIpAddress", "associatePublicIpAddress", Shape::Boolean),
    member("DeleteOnTermination", "deleteOnTermination", Shape::Boolean),
    member("Description", "description", Shape::Text),
    member("DeviceIndex", "deviceIndex", Shape::Number),
    member("SecurityGroupId", "groupSet", Shape::NamedList("groupId", &Shape::Text)),
    member("InterfaceType", "interfaceType", Shape::Text),
    member("Ipv6AddressCount", "ipv6AddressCount", Shape::Number),
    member("Ipv6Addresses", "ipv6AddressesSet", Shape::List(&Shape::Struct(IPV6_ADDRESS))),
    member("NetworkInterfaceId", "networkInterfaceId", Shape::Text),
    member("PrivateIpAddress", "privateIpAddress", Shape::Text),
    member("PrivateIpAddresses", "privateIpAddressesSet", Shape::List(&Shape::Struct(PRIVATE_IP_ADDRESS))),
    member("SecondaryPrivateIpAddressCount", "secondaryPrivateIpAddressCount", Shape::Number),
    member("SubnetId", "subnetId", Shape::Text),
    member("NetworkCardIndex", "networkCardIndex", Shape::Number),
    member("Ipv4Prefix", "ipv4PrefixSet", Shape::List(&Shape::Struct(IPV4_PREFIX))),
    member("Ipv4PrefixCount", "ipv4PrefixCount", Shape::Number),
    member("Ipv6Prefix", "ipv6PrefixSet", Shape::List(&Shape::Struct(IPV6_PREFIX))),
    member("Ipv6PrefixCount", "ipv6PrefixCount", Shape::Number),
    member("PrimaryIpv6", "primaryIpv6", Shape::Boolean),
];

static ENABLED: &[Member] = &[member("Enabled", "enabled", Shape::Boolean)];

static PLACEMENT: &[Member] = &[
    member("AvailabilityZone", "availabilityZone", Shape::Text),
    member("AvailabilityZoneId", "availabilityZoneId", Shape::Text),
    member("Affinity", "affinity", Shape::Text),
    member("GroupName", "groupName", Shape::Text),
    member("HostId", "hostId", Shape::Text),
    member("Tenancy", "tenancy", Shape::Text),
    member("SpreadDomain", "spreadDomain", Shape::Text),
    member("HostResourceGroupArn", "hostResourceGroupArn", Shape::Text),
    member("PartitionNumber", "partitionNumber", Shape::Number),
    member("GroupId", "groupId", Shape::Text),
];

static TAG: &[Member] = &[member("Key", "key", Shape::Text), member("Value", "value", Shape::Text)];

static TAG_SPECIFICATION: &[Member] = &[
    member("ResourceType", "resourceType", Shape::Text),
    member("Tag", "tagSet", Shape::List(&Shape::Struct(TAG))),
];

static ELASTIC_GPU: &[Member] = &[member("Type", "type", Shape::Text)];

static ELASTIC_INFERENCE_ACCELERATOR: &[Member] =
    &[member("Type", "type", Shape::Text), member("Count", "count", Shape::Number)];

static SPOT_OPTIONS: &[Member] = &[
    member("MaxPrice", "maxPrice", Shape::Text),
    member("SpotInstanceType", "spotInstanceType", Shape::Text),
    member("BlockDurationMinutes", "blockDurationMinutes", Shape::Number),
    member("ValidUntil", "validUntil", Shape::Text),
    member("InstanceInterruptionBehavior", "instanceInterruptionBehavior", Shape::Text),
];

static INSTANCE_MARKET_OPTIONS: &[Member] = &[
    member("MarketType", "marketType", Shape::Text),
    member("SpotOptions", "spotOptions", Shape::Struct(SPOT_OPTIONS)),
];

static CREDIT: &[Member] = &[member("CpuCredits", "cpuCredits", Shape::Text)];

static CPU_OPTIONS: &[Member] = &[
    member("CoreCount", "coreCount", Shape::Number),
    member("ThreadsPerCore", "threadsPerCore", Shape::Number),
    member("AmdSevSnp", "amdSevSnp", Shape::Text),
    member("NestedVirtualization", "nestedVirtualization", Shape::Text),
];

static CAPACITY_RESERVATION_TARGET: &[Member] = &[
    member("CapacityReservationId", "capacityReservationId", Shape::Text),
    member("CapacityReservationResourceGroupArn", "capacityReservationResourceGroupArn", Shape::Text),
];

static CAPACITY_RESERVATION: &[Member] = &[
    member("CapacityReservationPreference", "capacityReservationPreference", Shape::Text),
    member(
        "CapacityReservationTarget",
        "capacityReservationTarget",
        Shape::Struct(CAPACITY_RESERVATION_TARGET),
    ),
];

static LICENSE: &[Member] = &[member("LicenseConfigurationArn", "licenseConfigurationArn", Shape::Text)];

static CONFIGURED: &[Member] = &[member("Configured", "configured", Shape::Boolean)];

static METADATA_OPTIONS: &[Member] = &[
    member("HttpTokens", "httpTokens", Shape::Text),
    member("HttpPutResponseHopLimit", "httpPutResponseHopLimit", Shape::Number),
    member("HttpEndpoint", "httpEndpoint", Shape::Text),
    member("HttpProtocolIpv6", "httpProtocolIpv6", Shape::Text),
    member("InstanceMetadataTags", "instanceMetadataTags", Shape::Text),
];

static RANGE: &[Member] = &[member("Min", "min", Shape::Number), member("Max", "max", Shape::Number)];

static DECIMAL_RANGE: &[Member] =
    &[member("Min", "min", Shape::Decimal), member("Max", "max", Shape::Decimal)];

static INSTANCE_REQUIREMENTS: &[Member] = &[
    member("VCpuCount", "vCpuCount", Shape::Struct(RANGE)),
    member("MemoryMiB", "memoryMiB", Shape::Struct(RANGE)),
    member("CpuManufacturer", "cpuManufacturerSet", Shape::List(&Shape::Text)),
    member("MemoryGiBPerVCpu", "memoryGiBPerVCpu", Shape::Struct(DECIMAL_RANGE)),
    member("ExcludedInstanceType", "excludedInstanceTypeSet", Shape::List(&Shape::Text)),
    member("InstanceGeneration", "instanceGenerationSet", Shape::List(&Shape::Text)),
    member("SpotMaxPricePercentageOverLowestPrice", "spotMaxPricePercentageOverLowestPrice", Shape::Number),
    member(
        "OnDemandMaxPricePercentageOverLowestPrice",
        "onDemandMaxPricePercentageOverLowestPrice",
        Shape::Number,
    ),
    member("BareMetal", "bareMetal", Shape::Text),
    member("BurstablePerformance", "burstablePerformance", Shape::Text),
    member("RequireHibernateSupport", "requireHibernateSupport", Shape::Boolean),
    member("NetworkInterfaceCount", "networkInterfaceCount", Shape::Struct(RANGE)),
    member("LocalStorage", "localStorage", Shape::Text),
    member("LocalStorageType", "localStorageTypeSet", Shape::List(&Shape::Text)),
    member("TotalLocalStorageGB", "totalLocalStorageGB", Shape::Struct(DECIMAL_RANGE)),
    member("BaselineEbsBandwidthMbps", "baselineEbsBandwidthMbps", Shape::Struct(RANGE)),
    member("AcceleratorType", "acceleratorTypeSet", Shape::List(&Shape::Text)),
    member("AcceleratorCount", "acceleratorCount", Shape::Struct(RANGE)),
    member("AcceleratorManufacturer", "acceleratorManufacturerSet", Shape::List(&Shape::Text)),
    member("AcceleratorName", "acceleratorNameSet", Shape::List(&Shape::Text)),
    member("AcceleratorTotalMemoryMiB", "acceleratorTotalMemoryMiB", Shape::Struct(RANGE)),
    member("NetworkBandwidthGbps", "networkBandwidthGbps", Shape::Struct(DECIMAL_RANGE)),
    member("AllowedInstanceType", "allowedInstanceTypeSet", Shape::List(&Shape::Text)),
    member(
        "MaxSpotPriceAsPercentageOfOptimalOnDemandPrice",
        "maxSpotPriceAsPercentageOfOptimalOnDemandPrice",
        Shape::Number,
    ),
    member("RequireEncryptionInTransit", "requireEncryptionInTransit", Shape::Boolean),
];

static PRIVATE_DNS_NAME_OPTIONS: &[Member] = &[
    member("HostnameType", "hostnameType", Shape::Text),
    member("EnableResourceNameDnsARecord", "enableResourceNameDnsARecord", Shape::Boolean),
    member("EnableResourceNameDnsAAAARecord", "enableResourceNameDnsAAAARecord", Shape::Boolean),
];

static MAINTENANCE_OPTIONS: &[Member] = &[member("AutoRecovery", "autoRecovery", Shape::Text)];

static NETWORK_PERFORMANCE_OPTIONS: &[Member] =
    &[member("BandwidthWeighting", "bandwidthWeighting", Shape::Text)];

/// `LaunchTemplateData`
pub static DATA: &[Member] = &[
    member("KernelId", "kernelId", Shape::Text),
    member("EbsOptimized", "ebsOptimized", Shape::Boolean),
    member("IamInstanceProfile", "iamInstanceProfile", Shape::Struct(IAM_INSTANCE_PROFILE)),
    member("BlockDeviceMapping", "blockDeviceMappingSet", Shape::List(&Shape::Struct(BLOCK_DEVICE_MAPPING))),
    member("NetworkInterface", "networkInterfaceSet", Shape::List(&Shape::Struct(NETWORK_INTERFACE))),
    member("ImageId", "imageId", Shape::Text),
    member("InstanceType", "instanceType", Shape::Text),
    member("KeyName", "keyName", Shape::Text),
    member("Monitoring", "monitoring", Shape::Struct(ENABLED)),
    member("Placement", "placement", Shape::Struct(PLACEMENT)),
    member("RamDiskId", "ramDiskId", Shape::Text),
    member("DisableApiTermination", "disableApiTermination", Shape::Boolean),
    member("InstanceInitiatedShutdownBehavior", "instanceInitiatedShutdownBehavior", Shape::Text),
    member("UserData", "userData", Shape::Text),
    member("TagSpecification", "tagSpecificationSet", Shape::List(&Shape::Struct(TAG_SPECIFICATION))),
    member("ElasticGpuSpecification", "elasticGpuSpecificationSet", Shape::List(&Shape::Struct(ELASTIC_GPU))),
    member(
        "ElasticInferenceAccelerator",
        "elasticInferenceAcceleratorSet",
        Shape::List(&Shape::Struct(ELASTIC_INFERENCE_ACCELERATOR)),
    ),
    member("SecurityGroupId", "securityGroupIdSet", Shape::List(&Shape::Text)),
    member("SecurityGroup", "securityGroupSet", Shape::List(&Shape::Text)),
    member("InstanceMarketOptions", "instanceMarketOptions", Shape::Struct(INSTANCE_MARKET_OPTIONS)),
    member("CreditSpecification", "creditSpecification", Shape::Struct(CREDIT)),
    member("CpuOptions", "cpuOptions", Shape::Struct(CPU_OPTIONS)),
    member(
        "CapacityReservationSpecification",
        "capacityReservationSpecification",
        Shape::Struct(CAPACITY_RESERVATION),
    ),
    member("LicenseSpecification", "licenseSet", Shape::List(&Shape::Struct(LICENSE))),
    member("HibernationOptions", "hibernationOptions", Shape::Struct(CONFIGURED)),
    member("MetadataOptions", "metadataOptions", Shape::Struct(METADATA_OPTIONS)),
    member("EnclaveOptions", "enclaveOptions", Shape::Struct(ENABLED)),
    member("InstanceRequirements", "instanceRequirements", Shape::Struct(INSTANCE_REQUIREMENTS)),
    member("PrivateDnsNameOptions", "privateDnsNameOptions", Shape::Struct(PRIVATE_DNS_NAME_OPTIONS)),
    member("MaintenanceOptions", "maintenanceOptions", Shape::Struct(MAINTENANCE_OPTIONS)),
    member("DisableApiStop", "disableApiStop", Shape::Boolean),
    member(
        "NetworkPerformanceOptions",
        "networkPerformanceOptions",
        Shape::Struct(NETWORK_PERFORMANCE_OPTIONS),
    ),
];

/// Whether data may have this name: `.Placement.Tenancy`, without the numbers of lists.
pub fn knows(path: &str) -> bool {
    let mut members = Some(DATA);
    for name in path.split('.').skip(1) {
        let Some(member) = members.and_then(|all| all.iter().find(|member| member.name == name)) else {
            return false;
        };
        members = match &member.shape {
            Shape::Struct(members)
            | Shape::List(Shape::Struct(members))
            | Shape::NamedList(_, Shape::Struct(members)) => Some(members),
            _ => None,
        };
    }
    true
}
