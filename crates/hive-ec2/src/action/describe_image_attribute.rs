//! One attribute of an image of the account.

use super::prelude::*;
use crate::rules::images;
use crate::view::image::{DeviceView, device};
use crate::view::{AttributeValue as Value, PermissionView, permissions};

pub struct DescribeImageAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    image_id: String,
    attribute: Attribute,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Attribute {
    BlockDeviceMapping,
    BootMode,
    Description,
    ImdsSupport,
    LaunchPermission,
    TpmSupport,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    image_id: String,
    block_device_mapping: Option<Vec<DeviceView>>,
    boot_mode: Option<Value<String>>,
    description: Option<Value<String>>,
    imds_support: Option<Value<String>>,
    launch_permission: Option<Vec<PermissionView>>,
    tpm_support: Option<Value<String>>,
}

impl Action for DescribeImageAttribute {
    const NAME: &'static str = "DescribeImageAttribute";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let image = images::find_own(call, &request.image_id)?;
        let mut response = Response { image_id: image.id.to_string(), ..Response::default() };
        let text = |value: &Option<String>| Value::some(value.clone().unwrap_or_default());
        match request.attribute {
            Attribute::BlockDeviceMapping => {
                response.block_device_mapping = Some(image.devices.iter().map(device).collect());
            }
            Attribute::BootMode => response.boot_mode = text(&image.boot_mode),
            Attribute::Description => response.description = Value::some(image.description.clone()),
            Attribute::ImdsSupport => response.imds_support = text(&image.imds_support),
            Attribute::TpmSupport => response.tpm_support = text(&image.tpm_support),
            Attribute::LaunchPermission => {
                response.launch_permission = Some(permissions(image.public, &image.users));
            }
        }
        Ok(response)
    }
}
