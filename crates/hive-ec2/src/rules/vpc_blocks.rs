//! Address blocks that a VPC no longer has.

use hive_api::{ApiError, ApiResult};

use crate::core::id::Id;
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::route_table::{Destination, Origin, Route};
use crate::model::subnet::Subnet;
use crate::model::vpc::{CidrAssociation, Vpc};
use crate::rules::{dependents, vpcs};

/// What was taken away: one of the two.
pub struct Removed {
    pub vpc: Id<Vpc>,
    pub v4: Option<CidrAssociation<Ipv4Cidr>>,
    pub v6: Option<CidrAssociation<Ipv6Cidr>>,
}

/// Takes an added block away if no subnet is in it; the route to it goes along.
pub fn remove(account: &mut Account, id: &str) -> ApiResult<Removed> {
    let has = |vpc: &&Vpc| vpc.cidrs.iter().any(|a| a.id == id) || vpc.ipv6_cidrs.iter().any(|a| a.id == id);
    let vpc = account.vpcs.iter().find(has).ok_or_else(|| {
        ApiError::client(
            "InvalidVpcCidrBlockAssociationID.NotFound",
            format!("The association '{id}' does not exist"),
        )
    })?;
    if vpc.cidrs.first().is_some_and(|primary| primary.id == id) {
        return Err(ApiError::client(
            "OperationNotPermitted",
            "The primary CIDR block of a VPC cannot be taken away",
        ));
    }
    let removed = Removed {
        vpc: vpc.id.clone(),
        v4: vpc.cidrs.iter().find(|a| a.id == id).cloned(),
        v6: vpc.ipv6_cidrs.iter().find(|a| a.id == id).cloned(),
    };
    let (v4, v6) = (removed.v4.as_ref().map(|a| a.cidr), removed.v6.as_ref().map(|a| a.cidr));
    let inside = account.subnets.with(Subnet::BY_VPC, &removed.vpc).filter(|subnet| {
        v4.is_some_and(|block| block.contains_block(subnet.cidr_block))
            || v6.zip(subnet.ipv6_cidr.as_ref()).is_some_and(|(block, own)| block.contains_block(own.cidr))
    });
    dependents::refuse("CIDR block", id, inside.map(|subnet| subnet.id.to_string()).collect())?;
    let gone = |route: &Route| match route.destination {
        Destination::V4(cidr) => v4 == Some(cidr),
        Destination::V6(cidr) => v6 == Some(cidr),
    };
    vpcs::each_table(account, &removed.vpc, |table| {
        // Also where it led elsewhere in the end: nobody else may take it away.
        table.routes.retain(|route| route.origin != Origin::CreateRouteTable || !gone(route));
    })?;
    let vpc = account.vpcs.edit(&removed.vpc)?;
    vpc.cidrs.retain(|a| a.id != id);
    vpc.ipv6_cidrs.retain(|a| a.id != id);
    Ok(removed)
}
