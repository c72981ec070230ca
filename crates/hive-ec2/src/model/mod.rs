//! The resources: plain data with serde, one file a kind. What one means for another is in `rules/`.

pub mod account;
pub mod address;
pub mod cidr;
pub mod departed;
pub mod dhcp_options;
pub mod egress_only_internet_gateway;
pub mod image;
pub mod instance;
pub mod internet_gateway;
pub mod key_pair;
pub mod launch_template;
pub mod nat_gateway;
pub mod network_acl;
pub mod network_interface;
pub mod placement_group;
pub mod route_table;
pub mod security_group;
pub mod settings;
pub mod snapshot;
pub mod subnet;
pub mod volume;
pub mod vpc;
pub mod vpc_endpoint;
pub mod vpc_peering_connection;
