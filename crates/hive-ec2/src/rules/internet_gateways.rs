//! The way out of a VPC: it has one at most, and keeps it while something needs it.

use hive_api::{ApiError, ApiResult};

use crate::model::account::Account;
use crate::model::internet_gateway::InternetGateway;
use crate::model::route_table::AssociationTarget;
use crate::rules::{dependents, vpcs};

pub fn attach(account: &mut Account, id: &str, vpc: &str) -> ApiResult<()> {
    let vpc = account.vpcs.find(vpc)?.id.clone();
    if let Some(other) = &account.internet_gateways.find(id)?.vpc_id {
        return Err(ApiError::client(
            "Resource.AlreadyAssociated",
            format!("resource {id} is already attached to network {other}"),
        ));
    }
    if account.internet_gateways.with(InternetGateway::BY_VPC, &vpc).next().is_some() {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("Network {vpc} already has an internet gateway attached"),
        ));
    }
    account.internet_gateways.edit(id)?.vpc_id = Some(vpc);
    Ok(())
}

pub fn detach(account: &mut Account, id: &str, vpc: &str) -> ApiResult<()> {
    let vpc = account.vpcs.find(vpc)?.id.clone();
    if account.internet_gateways.find(id)?.vpc_id.as_ref() != Some(&vpc) {
        return Err(ApiError::client(
            "Gateway.NotAttached",
            format!("resource {id} is not attached to network {vpc}"),
        ));
    }
    if dependents::has_public_addresses(account, &vpc) {
        return Err(ApiError::client(
            "DependencyViolation",
            format!(
                "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before \
                 detaching the gateway."
            ),
        ));
    }
    // It follows no table of a network that it is not in.
    let own =
        |target: &AssociationTarget| matches!(target, AssociationTarget::InternetGateway(g) if **g == *id);
    vpcs::each_table(account, &vpc, |table| table.associations.retain(|a| !own(&a.target)))?;
    account.internet_gateways.edit(id)?.vpc_id = None;
    Ok(())
}
