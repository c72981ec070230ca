//! Makes a subnet or gateway follow a table.

use super::prelude::*;
use crate::model::route_table::{AssociationTarget, RouteAssociation, RouteTable};
use crate::view::route_table::AssociationState;

const ASSOCIATED: AssociationState = AssociationState { state: "associated" };

pub struct AssociateRouteTable;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    route_table_id: String,
    subnet_id: Option<String>,
    gateway_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    association_id: String,
    association_state: AssociationState,
}

impl Action for AssociateRouteTable {
    const NAME: &'static str = "AssociateRouteTable";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let account = &*call.account;
        let table = account.route_tables.find(&request.route_table_id)?;
        let (target, vpc) = match (&request.subnet_id, &request.gateway_id) {
            (Some(id), None) => {
                let subnet = account.subnets.find(id)?;
                (AssociationTarget::Subnet(subnet.id.clone()), Some(&subnet.vpc_id))
            }
            (None, Some(id)) => {
                let gateway = account.internet_gateways.find(id)?;
                (AssociationTarget::InternetGateway(gateway.id.clone()), gateway.vpc_id.as_ref())
            }
            _ => return Err(ApiError::invalid_combination("Either SubnetId or GatewayId must be given")),
        };
        if vpc != Some(&table.vpc_id) {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("route table {} belongs to a different network", table.id),
            ));
        }
        let own = table.associations.iter().find(|association| association.target == target);
        if let Some(known) = own {
            return Ok(Response { association_id: known.id.clone(), association_state: ASSOCIATED });
        }
        let holds = |other: &RouteTable| other.associations.iter().any(|a| a.target == target);
        if account.route_tables.with(RouteTable::BY_VPC, &table.vpc_id).any(holds) {
            return Err(ApiError::client(
                "Resource.AlreadyAssociated",
                "the specified association already exists with another route table",
            ));
        }
        let association = RouteAssociation { id: call.random_id("rtbassoc"), target };
        let association_id = association.id.clone();
        call.account.route_tables.edit(&request.route_table_id)?.associations.push(association);
        Ok(Response { association_id, association_state: ASSOCIATED })
    }
}
