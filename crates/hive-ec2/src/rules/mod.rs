//! What one resource means for another: creation with its companions, deletion against its dependents,
//! address allocation, the state machines. Actions call these; they hold no such rule themselves.

pub mod acl_entries;
pub mod addresses;
pub mod bootstrap;
pub mod capacity;
pub mod dependents;
pub mod device_mappings;
pub mod devices;
pub mod endpoints;
pub mod images;
pub mod instance_profiles;
pub mod interfaces;
pub mod internet_gateways;
pub mod key_material;
pub mod keys;
pub mod launch;
pub mod launch_templates;
pub mod lifecycle;
pub mod limits;
pub mod nat_gateways;
pub mod networks;
pub mod peering;
pub mod permissions;
pub mod placement;
pub mod power;
pub mod processors;
pub mod route_associations;
pub mod routes;
pub mod sharing;
pub mod snapshots;
pub mod vpc_blocks;
pub mod vpcs;
