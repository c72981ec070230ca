//! Which table a subnet or gateway follows: one, of its own VPC.

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::model::account::Account;
use crate::model::route_table::{AssociationTarget, RouteAssociation, RouteTable};

/// What shall follow a table.
pub enum Follower<'a> {
    Subnet(&'a str),
    Gateway(&'a str),
}

/// The id of the association, which may have been there before.
pub fn associate(call: &mut Call<'_>, table: &str, follower: Follower<'_>) -> ApiResult<String> {
    let account = &*call.account;
    let table = account.route_tables.find(table)?;
    let (target, vpc) = match follower {
        Follower::Subnet(id) => {
            let subnet = account.subnets.find(id)?;
            (AssociationTarget::Subnet(subnet.id.clone()), Some(&subnet.vpc_id))
        }
        Follower::Gateway(id) => {
            let gateway = account.internet_gateways.find(id)?;
            (AssociationTarget::InternetGateway(gateway.id.clone()), gateway.vpc_id.as_ref())
        }
    };
    if vpc != Some(&table.vpc_id) {
        return Err(foreign(table));
    }
    if let Some(known) = table.associations.iter().find(|association| association.target == target) {
        return Ok(known.id.clone());
    }
    let holds = |other: &RouteTable| other.associations.iter().any(|a| a.target == target);
    if account.route_tables.with(RouteTable::BY_VPC, &table.vpc_id).any(holds) {
        return Err(ApiError::client(
            "Resource.AlreadyAssociated",
            "the specified association already exists with another route table",
        ));
    }
    let (table, id) = (table.id.clone(), call.random_id("rtbassoc"));
    call.account.route_tables.edit(&table)?.associations.push(RouteAssociation { id: id.clone(), target });
    Ok(id)
}

/// What followed the table follows the main one again.
pub fn disassociate(account: &mut Account, id: &str) -> ApiResult<()> {
    let (table, association) = find(account, id)?;
    if association.target == AssociationTarget::Main {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("cannot disassociate the main route table association {}", association.id),
        ));
    }
    let table = table.id.clone();
    account.route_tables.edit(&table)?.associations.retain(|a| a.id != id);
    Ok(())
}

/// Moves an association to another table; it gets a new id.
pub fn replace(call: &mut Call<'_>, id: &str, table: &str) -> ApiResult<String> {
    let (old, association) = find(call.account, id)?;
    let new = call.account.route_tables.find(table)?;
    if old.vpc_id != new.vpc_id {
        return Err(foreign(new));
    }
    let (old, new, target) = (old.id.clone(), new.id.clone(), association.target.clone());
    call.account.route_tables.edit(&old)?.associations.retain(|a| a.id != id);
    let id = call.random_id("rtbassoc");
    call.account.route_tables.edit(&new)?.associations.push(RouteAssociation { id: id.clone(), target });
    Ok(id)
}

fn foreign(table: &RouteTable) -> ApiError {
    ApiError::client(
        "InvalidParameterValue",
        format!("route table {} belongs to a different network", table.id),
    )
}

/// An association and the table it is in.
fn find<'a>(account: &'a Account, id: &'a str) -> ApiResult<(&'a RouteTable, &'a RouteAssociation)> {
    let tables = account.route_tables.with(RouteTable::BY_ASSOCIATION, id);
    let mut all = tables.flat_map(|table| table.associations.iter().map(move |a| (table, a)));
    all.find(|(_, association)| association.id == id).ok_or_else(|| {
        ApiError::client("InvalidAssociationID.NotFound", format!("The association ID '{id}' does not exist"))
    })
}
