//! What requests say of block devices. Nothing of it is dropped: a device is mapped once, and to one thing.

use std::collections::BTreeSet;

use hive_api::{ApiError, ApiResult};

use super::devices::is_device_name;

/// What a request says of one device: no device, a disk of the machine itself, a volume.
pub struct DeviceMapping<'a> {
    pub name: &'a str,
    pub is_left_out: bool,
    pub is_virtual: bool,
    pub is_volume: bool,
}

/// `root` is the device that a machine starts from: it is a volume, and stays.
pub fn check<'a>(root: &str, mappings: impl IntoIterator<Item = DeviceMapping<'a>>) -> ApiResult<()> {
    let mut names = BTreeSet::new();
    for mapping in mappings {
        let name = mapping.name;
        let why = if !is_device_name(name) {
            format!("Invalid device name {name}")
        } else if !names.insert(name) {
            format!("The device {name} is mapped more than once")
        } else if mapping.is_virtual && mapping.is_volume {
            format!("The device {name} cannot be both a virtual device and an EBS volume")
        } else if name == root && (mapping.is_left_out || mapping.is_virtual) {
            format!("The root device {name} must be an EBS volume")
        } else {
            continue;
        };
        return Err(ApiError::client("InvalidBlockDeviceMapping", why));
    }
    Ok(())
}
