//! Sets who may use an image, or another attribute of it.

use super::prelude::*;
use crate::rules::images;
use crate::rules::sharing::{Asked, Operation, Permissions};

pub struct ModifyImageAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    image_id: String,
    attribute: Option<String>,
    value: Option<String>,
    description: Option<AttributeValue<String>>,
    imds_support: Option<AttributeValue<String>>,
    launch_permission: Option<Permissions>,
    operation_type: Option<Operation>,
    #[serde(default)]
    user_id: Vec<String>,
    #[serde(default)]
    user_group: Vec<String>,
}

impl Action for ModifyImageAttribute {
    const NAME: &'static str = "ModifyImageAttribute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = images::find_own(call, &request.image_id)?.id.clone();
        let asked = Asked {
            permissions: request.launch_permission,
            operation: request.operation_type,
            users: request.user_id,
            groups: request.user_group,
        };
        let says_nothing = request.value.is_none()
            && request.description.is_none()
            && request.imds_support.is_none()
            && asked.says_nothing();
        if says_nothing {
            return Err(ApiError::invalid_combination("No attributes specified."));
        }
        let image = call.account.images.edit(&id)?;
        match (request.attribute.as_deref(), request.value) {
            (Some("description"), Some(value)) => image.description = value,
            (Some("imdsSupport"), Some(value)) => image.imds_support = Some(imds_support(value)?),
            (Some("description" | "imdsSupport" | "launchPermission") | None, None) => {}
            (Some(name), _) => {
                return Err(ApiError::invalid_value("Attribute", name, "It cannot be changed."));
            }
            (None, Some(_)) => return Err(ApiError::missing_parameter("Attribute")),
        }
        if let Some(description) = request.description {
            image.description = description.value;
        }
        if let Some(support) = request.imds_support {
            image.imds_support = Some(imds_support(support.value)?);
        }
        asked.apply(&mut image.public, &mut image.users, "InvalidAMIAttributeItemValue")?;
        Done::ok()
    }
}

/// There is one version that an image can insist on.
fn imds_support(value: String) -> ApiResult<String> {
    if value == "v2.0" {
        return Ok(value);
    }
    Err(ApiError::invalid_value("ImdsSupport", &value, "Valid values: v2.0."))
}
