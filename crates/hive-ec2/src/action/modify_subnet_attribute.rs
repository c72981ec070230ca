//! Sets one attribute of a subnet.

use super::prelude::*;
use crate::model::subnet::HostnameType;

pub struct ModifySubnetAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    subnet_id: String,
    map_public_ip_on_launch: Option<AttributeValue<bool>>,
    assign_ipv6_address_on_creation: Option<AttributeValue<bool>>,
    enable_dns64: Option<AttributeValue<bool>>,
    private_dns_hostname_type_on_launch: Option<HostnameType>,
    enable_resource_name_dns_a_record_on_launch: Option<AttributeValue<bool>>,
    #[serde(rename = "EnableResourceNameDnsAAAARecordOnLaunch")]
    enable_resource_name_dns_aaaa_record_on_launch: Option<AttributeValue<bool>>,
}

impl Action for ModifySubnetAttribute {
    const NAME: &'static str = "ModifySubnetAttribute";
    /// Kept and described: interfaces have no IPv6 addresses yet.
    const WITHOUT_EFFECT: &'static [&'static str] = &["AssignIpv6AddressOnCreation", "EnableDns64"];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let subnet = call.account.subnets.edit(&request.subnet_id)?;
        if request.assign_ipv6_address_on_creation.as_ref().is_some_and(|on| on.value)
            && subnet.ipv6_cidr.is_none()
        {
            return Err(ApiError::client("InvalidParameterValue", "The subnet has no IPv6 CIDR block"));
        }
        let mut given = 0;
        for (slot, value) in [
            (&mut subnet.map_public_ip_on_launch, request.map_public_ip_on_launch),
            (&mut subnet.assign_ipv6_address_on_creation, request.assign_ipv6_address_on_creation),
            (&mut subnet.enable_dns64, request.enable_dns64),
            (
                &mut subnet.enable_resource_name_dns_a_record,
                request.enable_resource_name_dns_a_record_on_launch,
            ),
            (
                &mut subnet.enable_resource_name_dns_aaaa_record,
                request.enable_resource_name_dns_aaaa_record_on_launch,
            ),
        ] {
            if let Some(value) = value {
                *slot = value.value;
                given += 1;
            }
        }
        if let Some(hostname_type) = request.private_dns_hostname_type_on_launch {
            subnet.private_dns_hostname_type = hostname_type;
            given += 1;
        }
        Done::one(given)
    }
}
