//! Sets one attribute of an interface.

use super::prelude::*;
use crate::model::network_interface::ATTACHMENT_KIND;
use crate::rules::{addresses, interfaces};

pub struct ModifyNetworkInterfaceAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_interface_id: String,
    description: Option<AttributeValue<String>>,
    source_dest_check: Option<AttributeValue<bool>>,
    #[serde(default)]
    security_group_id: Vec<String>,
    attachment: Option<AttachmentChange>,
}

impl Action for ModifyNetworkInterfaceAttribute {
    const NAME: &'static str = "ModifyNetworkInterfaceAttribute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = &request.network_interface_id;
        addresses::refuse_managed(call.account, id)?;
        let given = [
            request.description.is_some(),
            request.source_dest_check.is_some(),
            !request.security_group_id.is_empty(),
            request.attachment.is_some(),
        ];
        let given = given.into_iter().filter(|is_given| *is_given).count();
        let interface = call.account.network_interfaces.find(id)?;
        if !request.security_group_id.is_empty() {
            let subnet = call.account.subnets.find(&interface.subnet_id)?;
            let groups = interfaces::check_groups(call.account, subnet, &request.security_group_id)?;
            call.account.network_interfaces.edit(id)?.groups = groups;
        }
        let interface = call.account.network_interfaces.edit(id)?;
        if let Some(description) = request.description {
            interface.description = description.value;
        }
        if let Some(check) = request.source_dest_check {
            interface.source_dest_check = check.value;
        }
        if let Some(change) = request.attachment {
            let attachment =
                interface.attachment.as_mut().filter(|attachment| attachment.id == change.attachment_id);
            let attachment = attachment.ok_or_else(|| ATTACHMENT_KIND.missing(&change.attachment_id))?;
            if let Some(delete) = change.delete_on_termination {
                attachment.delete_on_termination = delete;
            }
        }
        Done::one(given)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AttachmentChange {
    attachment_id: String,
    delete_on_termination: Option<bool>,
}
