//! The actions: one file each, one sorted table of all. Dispatch, coverage and documentation derive from it.

pub mod prelude;

pub mod accept_vpc_peering_connection;
pub mod allocate_address;
pub mod assign_private_ip_addresses;
pub mod associate_address;
pub mod associate_dhcp_options;
pub mod associate_iam_instance_profile;
pub mod associate_route_table;
pub mod associate_subnet_cidr_block;
pub mod associate_vpc_cidr_block;
pub mod attach_internet_gateway;
pub mod attach_network_interface;
pub mod attach_volume;
pub mod authorize_security_group_egress;
pub mod authorize_security_group_ingress;
pub mod copy_image;
pub mod copy_snapshot;
pub mod create_default_subnet;
pub mod create_default_vpc;
pub mod create_dhcp_options;
pub mod create_egress_only_internet_gateway;
pub mod create_image;
pub mod create_internet_gateway;
pub mod create_key_pair;
pub mod create_launch_template;
pub mod create_launch_template_version;
pub mod create_nat_gateway;
pub mod create_network_acl;
pub mod create_network_acl_entry;
pub mod create_network_interface;
pub mod create_placement_group;
pub mod create_route;
pub mod create_route_table;
pub mod create_security_group;
pub mod create_snapshot;
pub mod create_subnet;
pub mod create_tags;
pub mod create_volume;
pub mod create_vpc;
pub mod create_vpc_endpoint;
pub mod create_vpc_peering_connection;
pub mod delete_dhcp_options;
pub mod delete_egress_only_internet_gateway;
pub mod delete_internet_gateway;
pub mod delete_key_pair;
pub mod delete_launch_template;
pub mod delete_launch_template_versions;
pub mod delete_nat_gateway;
pub mod delete_network_acl;
pub mod delete_network_acl_entry;
pub mod delete_network_interface;
pub mod delete_placement_group;
pub mod delete_route;
pub mod delete_route_table;
pub mod delete_security_group;
pub mod delete_snapshot;
pub mod delete_subnet;
pub mod delete_tags;
pub mod delete_volume;
pub mod delete_vpc;
pub mod delete_vpc_endpoints;
pub mod delete_vpc_peering_connection;
pub mod deregister_image;
pub mod describe_account_attributes;
pub mod describe_addresses;
pub mod describe_addresses_attribute;
pub mod describe_availability_zones;
pub mod describe_dhcp_options;
pub mod describe_egress_only_internet_gateways;
pub mod describe_iam_instance_profile_associations;
pub mod describe_image_attribute;
pub mod describe_images;
pub mod describe_instance_attribute;
pub mod describe_instance_credit_specifications;
pub mod describe_instance_status;
pub mod describe_instance_type_offerings;
pub mod describe_instance_types;
pub mod describe_instances;
pub mod describe_internet_gateways;
pub mod describe_key_pairs;
pub mod describe_launch_template_versions;
pub mod describe_launch_templates;
pub mod describe_managed_prefix_lists;
pub mod describe_nat_gateways;
pub mod describe_network_acls;
pub mod describe_network_interface_attribute;
pub mod describe_network_interfaces;
pub mod describe_placement_groups;
pub mod describe_prefix_lists;
pub mod describe_regions;
pub mod describe_route_tables;
pub mod describe_security_group_rules;
pub mod describe_security_groups;
pub mod describe_snapshot_attribute;
pub mod describe_snapshots;
pub mod describe_subnets;
pub mod describe_tags;
pub mod describe_volume_attribute;
pub mod describe_volume_status;
pub mod describe_volumes;
pub mod describe_volumes_modifications;
pub mod describe_vpc_attribute;
pub mod describe_vpc_endpoint_services;
pub mod describe_vpc_endpoints;
pub mod describe_vpc_peering_connections;
pub mod describe_vpcs;
pub mod detach_internet_gateway;
pub mod detach_network_interface;
pub mod detach_volume;
pub mod disable_ebs_encryption_by_default;
pub mod disable_vgw_route_propagation;
pub mod disassociate_address;
pub mod disassociate_iam_instance_profile;
pub mod disassociate_route_table;
pub mod disassociate_subnet_cidr_block;
pub mod disassociate_vpc_cidr_block;
pub mod enable_ebs_encryption_by_default;
pub mod enable_vgw_route_propagation;
pub mod get_console_output;
pub mod get_ebs_default_kms_key_id;
pub mod get_ebs_encryption_by_default;
pub mod get_managed_prefix_list_entries;
pub mod get_password_data;
pub mod import_key_pair;
pub mod modify_image_attribute;
pub mod modify_instance_attribute;
pub mod modify_instance_capacity_reservation_attributes;
pub mod modify_instance_cpu_options;
pub mod modify_instance_credit_specification;
pub mod modify_instance_maintenance_options;
pub mod modify_instance_metadata_options;
pub mod modify_launch_template;
pub mod modify_network_interface_attribute;
pub mod modify_private_dns_name_options;
pub mod modify_security_group_rules;
pub mod modify_snapshot_attribute;
pub mod modify_subnet_attribute;
pub mod modify_volume;
pub mod modify_volume_attribute;
pub mod modify_vpc_attribute;
pub mod modify_vpc_endpoint;
pub mod modify_vpc_peering_connection_options;
pub mod modify_vpc_tenancy;
pub mod monitor_instances;
pub mod reboot_instances;
pub mod register_image;
pub mod reject_vpc_peering_connection;
pub mod release_address;
pub mod replace_iam_instance_profile_association;
pub mod replace_network_acl_association;
pub mod replace_network_acl_entry;
pub mod replace_route;
pub mod replace_route_table_association;
pub mod reset_image_attribute;
pub mod reset_snapshot_attribute;
pub mod revoke_security_group_egress;
pub mod revoke_security_group_ingress;
pub mod run_instances;
pub mod start_instances;
pub mod stop_instances;
pub mod terminate_instances;
pub mod unassign_private_ip_addresses;
pub mod unmonitor_instances;
pub mod update_security_group_rule_descriptions_egress;
pub mod update_security_group_rule_descriptions_ingress;

use crate::core::action::Entry;

/// Sorted by name.
pub static ACTIONS: &[Entry] = &[
    Entry::of::<accept_vpc_peering_connection::AcceptVpcPeeringConnection>(),
    Entry::of::<allocate_address::AllocateAddress>(),
    Entry::of::<assign_private_ip_addresses::AssignPrivateIpAddresses>(),
    Entry::of::<associate_address::AssociateAddress>(),
    Entry::of::<associate_dhcp_options::AssociateDhcpOptions>(),
    Entry::of::<associate_iam_instance_profile::AssociateIamInstanceProfile>(),
    Entry::of::<associate_route_table::AssociateRouteTable>(),
    Entry::of::<associate_subnet_cidr_block::AssociateSubnetCidrBlock>(),
    Entry::of::<associate_vpc_cidr_block::AssociateVpcCidrBlock>(),
    Entry::of::<attach_internet_gateway::AttachInternetGateway>(),
    Entry::of::<attach_network_interface::AttachNetworkInterface>(),
    Entry::of::<attach_volume::AttachVolume>(),
    Entry::of::<authorize_security_group_egress::AuthorizeSecurityGroupEgress>(),
    Entry::of::<authorize_security_group_ingress::AuthorizeSecurityGroupIngress>(),
    Entry::of::<copy_image::CopyImage>(),
    Entry::of::<copy_snapshot::CopySnapshot>(),
    Entry::of::<create_default_subnet::CreateDefaultSubnet>(),
    Entry::of::<create_default_vpc::CreateDefaultVpc>(),
    Entry::of::<create_dhcp_options::CreateDhcpOptions>(),
    Entry::of::<create_egress_only_internet_gateway::CreateEgressOnlyInternetGateway>(),
    Entry::of::<create_image::CreateImage>(),
    Entry::of::<create_internet_gateway::CreateInternetGateway>(),
    Entry::of::<create_key_pair::CreateKeyPair>(),
    Entry::of::<create_launch_template::CreateLaunchTemplate>(),
    Entry::of::<create_launch_template_version::CreateLaunchTemplateVersion>(),
    Entry::of::<create_nat_gateway::CreateNatGateway>(),
    Entry::of::<create_network_acl::CreateNetworkAcl>(),
    Entry::of::<create_network_acl_entry::CreateNetworkAclEntry>(),
    Entry::of::<create_network_interface::CreateNetworkInterface>(),
    Entry::of::<create_placement_group::CreatePlacementGroup>(),
    Entry::of::<create_route::CreateRoute>(),
    Entry::of::<create_route_table::CreateRouteTable>(),
    Entry::of::<create_security_group::CreateSecurityGroup>(),
    Entry::of::<create_snapshot::CreateSnapshot>(),
    Entry::of::<create_subnet::CreateSubnet>(),
    Entry::of::<create_tags::CreateTags>(),
    Entry::of::<create_volume::CreateVolume>(),
    Entry::of::<create_vpc::CreateVpc>(),
    Entry::of::<create_vpc_endpoint::CreateVpcEndpoint>(),
    Entry::of::<create_vpc_peering_connection::CreateVpcPeeringConnection>(),
    Entry::of::<delete_dhcp_options::DeleteDhcpOptions>(),
    Entry::of::<delete_egress_only_internet_gateway::DeleteEgressOnlyInternetGateway>(),
    Entry::of::<delete_internet_gateway::DeleteInternetGateway>(),
    Entry::of::<delete_key_pair::DeleteKeyPair>(),
    Entry::of::<delete_launch_template::DeleteLaunchTemplate>(),
    Entry::of::<delete_launch_template_versions::DeleteLaunchTemplateVersions>(),
    Entry::of::<delete_nat_gateway::DeleteNatGateway>(),
    Entry::of::<delete_network_acl::DeleteNetworkAcl>(),
    Entry::of::<delete_network_acl_entry::DeleteNetworkAclEntry>(),
    Entry::of::<delete_network_interface::DeleteNetworkInterface>(),
    Entry::of::<delete_placement_group::DeletePlacementGroup>(),
    Entry::of::<delete_route::DeleteRoute>(),
    Entry::of::<delete_route_table::DeleteRouteTable>(),
    Entry::of::<delete_security_group::DeleteSecurityGroup>(),
    Entry::of::<delete_snapshot::DeleteSnapshot>(),
    Entry::of::<delete_subnet::DeleteSubnet>(),
    Entry::of::<delete_tags::DeleteTags>(),
    Entry::of::<delete_volume::DeleteVolume>(),
    Entry::of::<delete_vpc::DeleteVpc>(),
    Entry::of::<delete_vpc_endpoints::DeleteVpcEndpoints>(),
    Entry::of::<delete_vpc_peering_connection::DeleteVpcPeeringConnection>(),
    Entry::of::<deregister_image::DeregisterImage>(),
    Entry::of::<describe_account_attributes::DescribeAccountAttributes>(),
    Entry::of::<describe_addresses::DescribeAddresses>(),
    Entry::of::<describe_addresses_attribute::DescribeAddressesAttribute>(),
    Entry::of::<describe_availability_zones::DescribeAvailabilityZones>(),
    Entry::of::<describe_dhcp_options::DescribeDhcpOptions>(),
    Entry::of::<describe_egress_only_internet_gateways::DescribeEgressOnlyInternetGateways>(),
    Entry::of::<describe_iam_instance_profile_associations::DescribeIamInstanceProfileAssociations>(),
    Entry::of::<describe_image_attribute::DescribeImageAttribute>(),
    Entry::of::<describe_images::DescribeImages>(),
    Entry::of::<describe_instance_attribute::DescribeInstanceAttribute>(),
    Entry::of::<describe_instance_credit_specifications::DescribeInstanceCreditSpecifications>(),
    Entry::of::<describe_instance_status::DescribeInstanceStatus>(),
    Entry::of::<describe_instance_type_offerings::DescribeInstanceTypeOfferings>(),
    Entry::of::<describe_instance_types::DescribeInstanceTypes>(),
    Entry::of::<describe_instances::DescribeInstances>(),
    Entry::of::<describe_internet_gateways::DescribeInternetGateways>(),
    Entry::of::<describe_key_pairs::DescribeKeyPairs>(),
    Entry::of::<describe_launch_template_versions::DescribeLaunchTemplateVersions>(),
    Entry::of::<describe_launch_templates::DescribeLaunchTemplates>(),
    Entry::of::<describe_managed_prefix_lists::DescribeManagedPrefixLists>(),
    Entry::of::<describe_nat_gateways::DescribeNatGateways>(),
    Entry::of::<describe_network_acls::DescribeNetworkAcls>(),
    Entry::of::<describe_network_interface_attribute::DescribeNetworkInterfaceAttribute>(),
    Entry::of::<describe_network_interfaces::DescribeNetworkInterfaces>(),
    Entry::of::<describe_placement_groups::DescribePlacementGroups>(),
    Entry::of::<describe_prefix_lists::DescribePrefixLists>(),
    Entry::of::<describe_regions::DescribeRegions>(),
    Entry::of::<describe_route_tables::DescribeRouteTables>(),
    Entry::of::<describe_security_group_rules::DescribeSecurityGroupRules>(),
    Entry::of::<describe_security_groups::DescribeSecurityGroups>(),
    Entry::of::<describe_snapshot_attribute::DescribeSnapshotAttribute>(),
    Entry::of::<describe_snapshots::DescribeSnapshots>(),
    Entry::of::<describe_subnets::DescribeSubnets>(),
    Entry::of::<describe_tags::DescribeTags>(),
    Entry::of::<describe_volume_attribute::DescribeVolumeAttribute>(),
    Entry::of::<describe_volume_status::DescribeVolumeStatus>(),
    Entry::of::<describe_volumes::DescribeVolumes>(),
    Entry::of::<describe_volumes_modifications::DescribeVolumesModifications>(),
    Entry::of::<describe_vpc_attribute::DescribeVpcAttribute>(),
    Entry::of::<describe_vpc_endpoint_services::DescribeVpcEndpointServices>(),
    Entry::of::<describe_vpc_endpoints::DescribeVpcEndpoints>(),
    Entry::of::<describe_vpc_peering_connections::DescribeVpcPeeringConnections>(),
    Entry::of::<describe_vpcs::DescribeVpcs>(),
    Entry::of::<detach_internet_gateway::DetachInternetGateway>(),
    Entry::of::<detach_network_interface::DetachNetworkInterface>(),
    Entry::of::<detach_volume::DetachVolume>(),
    Entry::of::<disable_ebs_encryption_by_default::DisableEbsEncryptionByDefault>(),
    Entry::of::<disassociate_address::DisassociateAddress>(),
    Entry::of::<disassociate_iam_instance_profile::DisassociateIamInstanceProfile>(),
    Entry::of::<disassociate_route_table::DisassociateRouteTable>(),
    Entry::of::<disassociate_subnet_cidr_block::DisassociateSubnetCidrBlock>(),
    Entry::of::<disassociate_vpc_cidr_block::DisassociateVpcCidrBlock>(),
    Entry::of::<enable_ebs_encryption_by_default::EnableEbsEncryptionByDefault>(),
    Entry::of::<get_console_output::GetConsoleOutput>(),
    Entry::of::<get_ebs_default_kms_key_id::GetEbsDefaultKmsKeyId>(),
    Entry::of::<get_ebs_encryption_by_default::GetEbsEncryptionByDefault>(),
    Entry::of::<get_managed_prefix_list_entries::GetManagedPrefixListEntries>(),
    Entry::of::<get_password_data::GetPasswordData>(),
    Entry::of::<import_key_pair::ImportKeyPair>(),
    Entry::of::<modify_image_attribute::ModifyImageAttribute>(),
    Entry::of::<modify_instance_attribute::ModifyInstanceAttribute>(),
    Entry::of::<modify_instance_capacity_reservation_attributes::ModifyInstanceCapacityReservationAttributes>(
    ),
    Entry::of::<modify_instance_cpu_options::ModifyInstanceCpuOptions>(),
    Entry::of::<modify_instance_credit_specification::ModifyInstanceCreditSpecification>(),
    Entry::of::<modify_instance_maintenance_options::ModifyInstanceMaintenanceOptions>(),
    Entry::of::<modify_instance_metadata_options::ModifyInstanceMetadataOptions>(),
    Entry::of::<modify_launch_template::ModifyLaunchTemplate>(),
    Entry::of::<modify_network_interface_attribute::ModifyNetworkInterfaceAttribute>(),
    Entry::of::<modify_private_dns_name_options::ModifyPrivateDnsNameOptions>(),
    Entry::of::<modify_security_group_rules::ModifySecurityGroupRules>(),
    Entry::of::<modify_snapshot_attribute::ModifySnapshotAttribute>(),
    Entry::of::<modify_subnet_attribute::ModifySubnetAttribute>(),
    Entry::of::<modify_volume::ModifyVolume>(),
    Entry::of::<modify_volume_attribute::ModifyVolumeAttribute>(),
    Entry::of::<modify_vpc_attribute::ModifyVpcAttribute>(),
    Entry::of::<modify_vpc_endpoint::ModifyVpcEndpoint>(),
    Entry::of::<modify_vpc_peering_connection_options::ModifyVpcPeeringConnectionOptions>(),
    Entry::of::<modify_vpc_tenancy::ModifyVpcTenancy>(),
    Entry::of::<monitor_instances::MonitorInstances>(),
    Entry::of::<reboot_instances::RebootInstances>(),
    Entry::of::<register_image::RegisterImage>(),
    Entry::of::<reject_vpc_peering_connection::RejectVpcPeeringConnection>(),
    Entry::of::<release_address::ReleaseAddress>(),
    Entry::of::<replace_iam_instance_profile_association::ReplaceIamInstanceProfileAssociation>(),
    Entry::of::<replace_network_acl_association::ReplaceNetworkAclAssociation>(),
    Entry::of::<replace_network_acl_entry::ReplaceNetworkAclEntry>(),
    Entry::of::<replace_route::ReplaceRoute>(),
    Entry::of::<replace_route_table_association::ReplaceRouteTableAssociation>(),
    Entry::of::<reset_image_attribute::ResetImageAttribute>(),
    Entry::of::<reset_snapshot_attribute::ResetSnapshotAttribute>(),
    Entry::of::<revoke_security_group_egress::RevokeSecurityGroupEgress>(),
    Entry::of::<revoke_security_group_ingress::RevokeSecurityGroupIngress>(),
    Entry::of::<run_instances::RunInstances>(),
    Entry::of::<start_instances::StartInstances>(),
    Entry::of::<stop_instances::StopInstances>(),
    Entry::of::<terminate_instances::TerminateInstances>(),
    Entry::of::<unassign_private_ip_addresses::UnassignPrivateIpAddresses>(),
    Entry::of::<unmonitor_instances::UnmonitorInstances>(),
    Entry::of::<update_security_group_rule_descriptions_egress::UpdateSecurityGroupRuleDescriptionsEgress>(),
    Entry::of::<update_security_group_rule_descriptions_ingress::UpdateSecurityGroupRuleDescriptionsIngress>(
    ),
];

/// What no request can ever do here: refused by name, with a code that depends on the request.
static NEVER_DONE: &[Entry] = &[
    Entry::of::<disable_vgw_route_propagation::DisableVgwRoutePropagation>(),
    Entry::of::<enable_vgw_route_propagation::EnableVgwRoutePropagation>(),
];

pub fn find(name: &str) -> Option<&'static Entry> {
    let found = ACTIONS.binary_search_by(|entry| entry.name.cmp(name)).ok().and_then(|at| ACTIONS.get(at));
    found.or_else(|| NEVER_DONE.iter().find(|entry| entry.name == name))
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, NEVER_DONE};
    use crate::data::refused::REFUSED;

    #[test]
    fn the_tables_are_sorted_and_apart() {
        assert!(ACTIONS.is_sorted_by(|a, b| a.name < b.name));
        assert!(REFUSED.is_sorted_by(|a, b| a.0 < b.0));
        assert!(REFUSED.iter().all(|(name, _)| ACTIONS.iter().all(|entry| entry.name != *name)));
        assert!(NEVER_DONE.iter().all(|entry| REFUSED.iter().any(|(name, _)| *name == entry.name)));
    }
}
