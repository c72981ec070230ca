//! Gives a public address back to the pool.

use super::prelude::*;
use crate::rules::addresses;

pub struct ReleaseAddress;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    allocation_id: Option<String>,
    public_ip: Option<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    network_border_group: Option<String>,
}

impl Action for ReleaseAddress {
    const NAME: &'static str = "ReleaseAddress";
    const WITHOUT_EFFECT: &'static [&'static str] = &["NetworkBorderGroup"];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let address = match (&request.allocation_id, &request.public_ip) {
            (Some(id), _) => call.account.addresses.find(id)?,
            (None, Some(ip)) => addresses::find_public(call.account, ip)?,
            (None, None) => return Err(ApiError::missing_parameter("AllocationId")),
        };
        if let Some(association) = &address.association {
            return Err(ApiError::client(
                "InvalidIPAddress.InUse",
                format!("Address {} is in use by {}", address.public_ip, association.network_interface_id),
            ));
        }
        let id = address.id.clone();
        call.account.addresses.remove(&id);
        Done::ok()
    }
}
