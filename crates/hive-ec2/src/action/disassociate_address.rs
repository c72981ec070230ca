//! Unties a public address.

use super::prelude::*;
use crate::model::address::{ASSOCIATION_KIND, Address};
use crate::rules::addresses;

pub struct DisassociateAddress;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: Option<String>,
    public_ip: Option<String>,
}

impl Action for DisassociateAddress {
    const NAME: &'static str = "DisassociateAddress";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let address = match (&request.association_id, &request.public_ip) {
            (Some(id), _) => {
                let mut found = call.account.addresses.with(Address::BY_ASSOCIATION, id);
                found.next().ok_or_else(|| ASSOCIATION_KIND.not_found(id))?
            }
            (None, Some(ip)) => addresses::find_public(call.account, ip)?,
            (None, None) => return Err(ApiError::missing_parameter("AssociationId")),
        };
        if let Some(association) = &address.association {
            addresses::refuse_managed(call.account, &association.network_interface_id)?;
        }
        let id = address.id.clone();
        addresses::disassociate(call, &id)?;
        Done::ok()
    }
}
