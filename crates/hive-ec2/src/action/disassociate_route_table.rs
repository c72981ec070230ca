//! Makes a subnet follow the main table again.

use super::prelude::*;
use crate::model::route_table::{AssociationTarget, RouteAssociation, RouteTable};

pub struct DisassociateRouteTable;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
}

impl Action for DisassociateRouteTable {
    const NAME: &'static str = "DisassociateRouteTable";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let (table, association) = find(call.account, &request.association_id)?;
        if association.target == AssociationTarget::Main {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("cannot disassociate the main route table association {}", association.id),
            ));
        }
        let table = table.id.clone();
        call.account.route_tables.edit(&table)?.associations.retain(|a| a.id != request.association_id);
        Done::ok()
    }
}

/// An association and the table it is in.
pub fn find<'a>(account: &'a Account, id: &'a str) -> ApiResult<(&'a RouteTable, &'a RouteAssociation)> {
    let tables = account.route_tables.with(RouteTable::BY_ASSOCIATION, id);
    let mut all = tables.flat_map(|table| table.associations.iter().map(move |a| (table, a)));
    all.find(|(_, association)| association.id == id).ok_or_else(|| {
        ApiError::client("InvalidAssociationID.NotFound", format!("The association ID '{id}' does not exist"))
    })
}
