//! Address blocks that a VPC may have, and that it no longer has.

use hive_api::{ApiError, ApiResult};

use crate::core::id::Id;
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::route_table::{Destination, Origin, Route};
use crate::model::subnet::Subnet;
use crate::model::vpc::{CidrAssociation, Vpc};
use crate::rules::{dependents, vpcs};

/// Of no network: "this" one, a machine's own, those of one link, of many receivers, and of nobody.
const NEVER: [Ipv4Cidr; 5] = [
    Ipv4Cidr::of([0, 0, 0, 0], 8),
    Ipv4Cidr::of([127, 0, 0, 0], 8),
    Ipv4Cidr::of([169, 254, 0, 0], 16),
    Ipv4Cidr::of([224, 0, 0, 0], 4),
    Ipv4Cidr::of([240, 0, 0, 0], 4),
];
/// RFC 1918's: a VPC has blocks of one of them.
const PRIVATE: [Ipv4Cidr; 3] =
    [Ipv4Cidr::of([10, 0, 0, 0], 8), Ipv4Cidr::of([172, 16, 0, 0], 12), Ipv4Cidr::of([192, 168, 0, 0], 16)];

fn refused(message: String) -> ApiError {
    ApiError::client("InvalidVpc.Range", message)
}

/// A block that some VPC can have.
pub fn check(cidr: Ipv4Cidr) -> ApiResult<()> {
    if !(16..=28).contains(&cidr.prefix()) || NEVER.iter().any(|never| never.contains_block(cidr)) {
        return Err(refused(format!("The CIDR '{cidr}' is invalid.")));
    }
    Ok(())
}

/// One that a VPC can have beside its own.
pub fn check_another(vpc: &Vpc, cidr: Ipv4Cidr) -> ApiResult<()> {
    if vpc.cidrs.iter().any(|other| other.cidr.overlaps(cidr)) {
        return Err(refused(format!("The CIDR '{cidr}' is invalid.")));
    }
    let private = |cidr: Ipv4Cidr| PRIVATE.iter().find(|range| range.contains_block(cidr));
    let mut own = vpc.cidrs.iter().filter_map(|own| private(own.cidr));
    if private(cidr).is_some_and(|range| own.any(|own| own != range)) {
        return Err(refused(format!(
            "The CIDR '{cidr}' is restricted. Use a CIDR from the same private address range as the current VPC \
             CIDR, or use a publicly-routable CIDR. For additional restrictions, see \
             https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"
        )));
    }
    Ok(())
}

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
