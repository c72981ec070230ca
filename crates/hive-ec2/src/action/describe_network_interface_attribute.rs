//! One attribute of an interface.

use super::prelude::*;
use crate::view::AttributeValue;
use crate::view::network_interface::{self, AttachmentView, GroupIdentifier};

pub struct DescribeNetworkInterfaceAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_interface_id: String,
    attribute: Attribute,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    network_interface_id: String,
    description: Option<AttributeValue<String>>,
    source_dest_check: Option<AttributeValue<bool>>,
    group_set: Option<Vec<GroupIdentifier>>,
    attachment: Option<AttachmentView>,
}

impl Action for DescribeNetworkInterfaceAttribute {
    const NAME: &'static str = "DescribeNetworkInterfaceAttribute";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let interface = call.account.network_interfaces.find(&request.network_interface_id)?;
        let is = |attribute| request.attribute == attribute;
        Ok(Response {
            network_interface_id: interface.id.to_string(),
            description: is(Attribute::Description)
                .then(|| AttributeValue { value: interface.description.clone() }),
            source_dest_check: is(Attribute::SourceDestCheck)
                .then_some(AttributeValue { value: interface.source_dest_check }),
            group_set: is(Attribute::GroupSet).then(|| network_interface::groups(interface, call.account)),
            attachment: interface
                .attachment
                .as_ref()
                .filter(|_| is(Attribute::Attachment))
                .map(|attachment| network_interface::attachment(attachment, "attached", call.account)),
        })
    }
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
enum Attribute {
    Description,
    SourceDestCheck,
    GroupSet,
    Attachment,
}
