//! Sets who may use an image, or another attribute of it.

use super::prelude::*;
use crate::model::image::Image;
use crate::rules::images;

pub struct ModifyImageAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    image_id: String,
    attribute: Option<String>,
    value: Option<String>,
    description: Option<AttributeValue<String>>,
    imds_support: Option<AttributeValue<String>>,
    launch_permission: Option<LaunchPermission>,
    operation_type: Option<Operation>,
    #[serde(default)]
    user_id: Vec<String>,
    #[serde(default)]
    user_group: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LaunchPermission {
    #[serde(default)]
    add: Vec<Permission>,
    #[serde(default)]
    remove: Vec<Permission>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Permission {
    user_id: Option<String>,
    group: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Add,
    Remove,
}

impl Action for ModifyImageAttribute {
    const NAME: &'static str = "ModifyImageAttribute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = images::find_own(call, &request.image_id)?.id.clone();
        let says_nothing = request.value.is_none()
            && request.description.is_none()
            && request.imds_support.is_none()
            && request.launch_permission.is_none()
            && request.user_id.is_empty()
            && request.user_group.is_empty();
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
        let permissions =
            request.launch_permission.unwrap_or(LaunchPermission { add: vec![], remove: vec![] });
        for permission in &permissions.add {
            permit(image, permission.user_id.as_deref(), permission.group.as_deref(), Operation::Add)?;
        }
        for permission in &permissions.remove {
            permit(image, permission.user_id.as_deref(), permission.group.as_deref(), Operation::Remove)?;
        }
        let operation = request.operation_type.unwrap_or(Operation::Add);
        for user in &request.user_id {
            permit(image, Some(user), None, operation)?;
        }
        for group in &request.user_group {
            permit(image, None, Some(group), operation)?;
        }
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

fn permit(image: &mut Image, user: Option<&str>, group: Option<&str>, operation: Operation) -> ApiResult<()> {
    let add = operation == Operation::Add;
    match (user, group) {
        (Some(user), None) if user.len() == 12 && user.bytes().all(|digit| digit.is_ascii_digit()) => {
            if add {
                image.users.insert(user.to_owned());
            } else {
                image.users.remove(user);
            }
        }
        (None, Some("all")) => image.public = add,
        (Some(user), None) => {
            let message = format!("Invalid user id: \"{user}\"");
            return Err(ApiError::client("InvalidAMIAttributeItemValue", message));
        }
        _ => return Err(ApiError::client("InvalidAMIAttributeItemValue", "Give a UserId or the group all")),
    }
    Ok(())
}
