//! A VPC is born with a default security group, a main route table and a default network ACL, and takes them
//! along when it goes. Subnets join the default ACL.

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::dhcp_options::DhcpOptions;
use crate::model::network_acl::{AclAssociation, AclEntry, NetworkAcl};
use crate::model::route_table::{
    AssociationTarget, Destination, Origin, Route, RouteAssociation, RouteTable, Target,
};
use crate::model::security_group::{Peer, Protocol, Rule, SecurityGroup};
use crate::model::subnet::{HostnameType, Subnet};
use crate::model::vpc::{CidrAssociation, Tenancy, Vpc};
use crate::model::vpc_peering_connection::PeeringState;
use crate::rules::{dependents, peering, vpc_blocks};
use jiff::Timestamp;

pub fn create_vpc(
    call: &mut Call<'_>,
    cidr: Ipv4Cidr,
    ipv6: Option<Ipv6Cidr>,
    tenancy: Tenancy,
    is_default: bool,
) -> ApiResult<Id<Vpc>> {
    vpc_blocks::check(cidr)?;
    let id: Id<Vpc> = call.new_id();
    let vpc = Vpc {
        id: id.clone(),
        cidrs: vec![CidrAssociation { id: call.random_id("vpc-cidr-assoc"), cidr }],
        ipv6_cidrs: Vec::new(),
        dhcp_options_id: default_dhcp_options(call.account),
        instance_tenancy: tenancy,
        is_default,
        enable_dns_support: true,
        enable_dns_hostnames: is_default,
        enable_network_address_usage_metrics: false,
        tags: call.new_tags::<Vpc>(),
    };
    call.account.vpcs.insert(vpc);
    let security_group = SecurityGroup {
        id: call.new_id(),
        name: "default".into(),
        description: "default VPC security group".into(),
        vpc_id: id.clone(),
        rules: Vec::new(),
        tags: Tags::default(),
    };
    let own = Peer::Group(security_group.id.clone());
    let rules = vec![any_rule(call, false, own), any_rule(call, true, Peer::V4(Ipv4Cidr::new(0, 0)))];
    call.account.security_groups.insert(SecurityGroup { rules, ..security_group });
    let main = RouteAssociation { id: call.random_id("rtbassoc"), target: AssociationTarget::Main };
    create_route_table(call, &id, vec![main], Tags::default())?;
    let entries = acl_entries(Block::V4, true);
    let acl = NetworkAcl {
        id: call.new_id(),
        vpc_id: id.clone(),
        is_default: true,
        entries,
        associations: Vec::new(),
        tags: Tags::default(),
    };
    call.account.network_acls.insert(acl);
    if let Some(cidr) = ipv6 {
        add_ipv6_cidr(call, &id, cidr)?;
    }
    Ok(id)
}

/// The set that the account was born with, unless its owner deleted it.
pub fn default_dhcp_options(account: &Account) -> Option<Id<DhcpOptions>> {
    let born_with = account.settings.iter().next().map(|settings| &settings.born_with);
    let mut all = account.dhcp_options.iter();
    all.find(|options| born_with.is_none_or(|ids| ids.contains(&*options.id)))
        .map(|options| options.id.clone())
}

/// A rule for all protocols: what default groups and new groups start with.
pub fn any_rule(call: &Call<'_>, egress: bool, peer: Peer) -> Rule {
    Rule {
        id: call.random_id("sgr"),
        egress,
        protocol: Protocol::All,
        ports: None,
        peer,
        description: None,
        tags: Tags::default(),
    }
}

/// Which addresses the rules that something is born with are for.
#[derive(Clone, Copy)]
pub enum Block {
    V4,
    V6,
}

/// In both directions the rule that cannot be removed, and for a default ACL the one before it that allows everything.
pub fn acl_entries(block: Block, allow_all: bool) -> Vec<AclEntry> {
    let entry = |rule_number, egress, allow| AclEntry {
        rule_number,
        egress,
        protocol: "-1".into(),
        allow,
        cidr_block: matches!(block, Block::V4).then(|| Ipv4Cidr::new(0, 0)),
        ipv6_cidr_block: matches!(block, Block::V6).then(|| Ipv6Cidr::new(0, 0)),
        ports: None,
        icmp: None,
    };
    let (first, last) = match block {
        Block::V4 => (100, 32_767),
        Block::V6 => (101, 32_768),
    };
    let of_direction = |egress| {
        allow_all.then(|| entry(first, egress, true)).into_iter().chain([entry(last, egress, false)])
    };
    [false, true].into_iter().flat_map(of_direction).collect()
}

/// What a new group of a VPC lets out: everything, to the addresses that the VPC has.
pub fn egress_rules(call: &Call<'_>, vpc: &Vpc) -> Vec<Rule> {
    let v6 = (!vpc.ipv6_cidrs.is_empty()).then(|| Peer::V6(Ipv6Cidr::new(0, 0)));
    let peers = [Peer::V4(Ipv4Cidr::new(0, 0))].into_iter().chain(v6);
    peers.map(|peer| any_rule(call, true, peer)).collect()
}

/// A VPC that gets its first IPv6 block gets the rules that one with IPv6 is born with, but where its owner changed them:
/// nothing is opened that was closed.
fn open_for_ipv6(call: &mut Call<'_>, vpc: &str) -> ApiResult<()> {
    let acls: Vec<_> =
        call.account.network_acls.with(NetworkAcl::BY_VPC, vpc).map(|acl| acl.id.clone()).collect();
    for acl in acls {
        let acl = call.account.network_acls.edit(&acl)?;
        for entry in acl_entries(Block::V6, acl.is_default) {
            let of_direction = |known: &&AclEntry| known.egress == entry.egress;
            let untouched =
                acl.entries.iter().filter(of_direction).map(|known| known.rule_number).eq([100, 32_767]);
            let taken =
                acl.entries.iter().filter(of_direction).any(|known| known.rule_number == entry.rule_number);
            if !taken && (!entry.allow || untouched) {
                acl.entries.push(entry);
            }
        }
        acl.entries.sort_by_key(|entry| (entry.egress, entry.rule_number));
    }
    let everything = Peer::V4(Ipv4Cidr::new(0, 0));
    let untouched = |group: &&SecurityGroup| {
        let mut out = group.rules.iter().filter(|rule| rule.egress);
        let first = out.next().is_some_and(|rule| rule.protocol == Protocol::All && rule.peer == everything);
        group.name == "default" && first && out.next().is_none()
    };
    let group = call.account.security_groups.with(SecurityGroup::BY_VPC, vpc).find(untouched);
    if let Some(group) = group.map(|group| group.id.clone()) {
        let rule = any_rule(call, true, Peer::V6(Ipv6Cidr::new(0, 0)));
        call.account.security_groups.edit(&group)?.rules.push(rule);
    }
    Ok(())
}

/// Every table has a local route for each block of its VPC.
pub fn create_route_table(
    call: &mut Call<'_>,
    vpc: &str,
    associations: Vec<RouteAssociation>,
    tags: Tags,
) -> ApiResult<Id<RouteTable>> {
    let vpc = call.account.vpcs.find(vpc)?;
    let destinations = vpc
        .cidrs
        .iter()
        .map(|a| Destination::V4(a.cidr))
        .chain(vpc.ipv6_cidrs.iter().map(|a| Destination::V6(a.cidr)));
    let routes = destinations.map(local_route).collect();
    let table = RouteTable { id: call.new_id(), vpc_id: vpc.id.clone(), routes, associations, tags };
    let id = table.id.clone();
    call.account.route_tables.insert(table);
    Ok(id)
}

fn local_route(destination: Destination) -> Route {
    Route { destination, target: Target::Local, origin: Origin::CreateRouteTable }
}

/// Adds a block and its local route in every table of the VPC.
pub fn add_cidr(call: &mut Call<'_>, vpc: &str, cidr: Ipv4Cidr) -> ApiResult<CidrAssociation<Ipv4Cidr>> {
    let association = CidrAssociation { id: call.random_id("vpc-cidr-assoc"), cidr };
    let vpc = call.account.vpcs.edit(vpc)?;
    vpc_blocks::check(cidr)?;
    vpc_blocks::check_another(vpc, cidr)?;
    if vpc.cidrs.len() >= 5 {
        return Err(ApiError::client("CidrLimitExceeded", "This VPC has the most CIDR blocks it may have"));
    }
    vpc.cidrs.push(association.clone());
    let vpc = vpc.id.clone();
    add_local_routes(call.account, &vpc, Destination::V4(cidr))?;
    Ok(association)
}

pub fn add_ipv6_cidr(call: &mut Call<'_>, vpc: &str, cidr: Ipv6Cidr) -> ApiResult<CidrAssociation<Ipv6Cidr>> {
    let association = CidrAssociation { id: call.random_id("vpc-cidr-assoc"), cidr };
    let vpc = call.account.vpcs.edit(vpc)?;
    vpc.ipv6_cidrs.push(association.clone());
    let vpc = vpc.id.clone();
    add_local_routes(call.account, &vpc, Destination::V6(cidr))?;
    open_for_ipv6(call, &vpc)?;
    Ok(association)
}

/// The way to a new block. Where a table leads to the block already, or to a part of it, the block is refused: the VPC would
/// have two ways there.
fn add_local_routes(account: &mut Account, vpc: &str, block: Destination) -> ApiResult<()> {
    for table in account.route_tables.with(RouteTable::BY_VPC, vpc) {
        if let Some(route) = table.routes.iter().find(|route| block.contains(route.destination)) {
            return Err(ApiError::client(
                "InvalidVpc.Range",
                format!(
                    "The CIDR '{block}' is the same as or larger than the route {} of {}.",
                    route.destination, table.id
                ),
            ));
        }
    }
    each_table(account, vpc, |table| table.routes.push(local_route(block)))
}

pub fn each_table(account: &mut Account, vpc: &str, mut edit: impl FnMut(&mut RouteTable)) -> ApiResult<()> {
    let tables: Vec<_> =
        account.route_tables.with(RouteTable::BY_VPC, vpc).map(|table| table.id.clone()).collect();
    for table in tables {
        edit(account.route_tables.edit(&table)?);
    }
    Ok(())
}

/// A block of our own for "Amazon-provided": unique local addresses (RFC 4193), never routed.
pub fn provided_ipv6(call: &Call<'_>) -> Ipv6Cidr {
    let mut bytes = [0; 16];
    bytes[0] = 0xfd;
    bytes[1..7].copy_from_slice(&call.random::<6>());
    Ipv6Cidr::new(u128::from_be_bytes(bytes), 56)
}

pub fn delete_vpc(account: &mut Account, id: &str, now: Timestamp) -> ApiResult<()> {
    let vpc = account.vpcs.find(id)?;
    dependents::refuse("vpc", id, dependents::of_vpc(account, vpc))?;
    let groups: Vec<_> =
        account.security_groups.with(SecurityGroup::BY_VPC, id).map(|g| g.id.clone()).collect();
    let tables: Vec<_> = account.route_tables.with(RouteTable::BY_VPC, id).map(|t| t.id.clone()).collect();
    let acls: Vec<_> = account.network_acls.with(NetworkAcl::BY_VPC, id).map(|a| a.id.clone()).collect();
    groups.iter().for_each(|id| drop(account.security_groups.remove(id)));
    tables.iter().for_each(|id| drop(account.route_tables.remove(id)));
    acls.iter().for_each(|id| drop(account.network_acls.remove(id)));
    // A VPC takes its connections along.
    let open: Vec<_> =
        peering::of_vpc(account, id).filter(|p| p.ended.is_none()).map(|p| p.id.clone()).collect();
    for connection in open {
        let connection = account.vpc_peering_connections.edit(&connection)?;
        connection.state = PeeringState::Deleted;
        connection.ended = Some(now);
    }
    account.vpcs.remove(id);
    Ok(())
}

pub struct NewSubnet {
    pub cidr: Ipv4Cidr,
    pub ipv6: Option<Ipv6Cidr>,
    pub zone: String,
    pub default_for_az: bool,
}

fn conflict(cidr: impl std::fmt::Display) -> ApiError {
    ApiError::client("InvalidSubnet.Conflict", format!("The CIDR '{cidr}' conflicts with another subnet"))
}

fn check_subnet_ipv6(account: &Account, vpc: &Vpc, cidr: Ipv6Cidr) -> ApiResult<()> {
    if cidr.prefix() != 64 || !vpc.ipv6_cidrs.iter().any(|block| block.cidr.contains_block(cidr)) {
        return Err(ApiError::client("InvalidSubnet.Range", format!("The CIDR '{cidr}' is invalid.")));
    }
    let blocks = account.subnets.with(Subnet::BY_VPC, &vpc.id).filter_map(|other| other.ipv6_cidr.as_ref());
    if blocks.into_iter().any(|block| block.cidr.overlaps(cidr)) { Err(conflict(cidr)) } else { Ok(()) }
}

/// A subnet has one IPv6 block at most.
pub fn add_subnet_ipv6(
    call: &mut Call<'_>,
    id: &str,
    cidr: Ipv6Cidr,
) -> ApiResult<CidrAssociation<Ipv6Cidr>> {
    let subnet = call.account.subnets.find(id)?;
    if subnet.ipv6_cidr.is_some() {
        return Err(ApiError::client("InvalidParameterValue", "The subnet has an IPv6 CIDR block already"));
    }
    check_subnet_ipv6(call.account, call.account.vpcs.find(&subnet.vpc_id)?, cidr)?;
    let association = CidrAssociation { id: call.random_id("subnet-cidr-assoc"), cidr };
    call.account.subnets.edit(id)?.ipv6_cidr = Some(association.clone());
    Ok(association)
}

pub fn create_subnet(call: &mut Call<'_>, vpc: &str, new: NewSubnet) -> ApiResult<Id<Subnet>> {
    let vpc = call.account.vpcs.find(vpc)?;
    if !vpc.cidrs.iter().any(|block| block.cidr.contains_block(new.cidr))
        || !(16..=28).contains(&new.cidr.prefix())
    {
        return Err(ApiError::client("InvalidSubnet.Range", format!("The CIDR '{}' is invalid.", new.cidr)));
    }
    let taken = |other: &Subnet| other.cidr_block.overlaps(new.cidr);
    if call.account.subnets.with(Subnet::BY_VPC, &vpc.id).any(taken) {
        return Err(conflict(new.cidr));
    }
    if let Some(cidr) = new.ipv6 {
        check_subnet_ipv6(call.account, vpc, cidr)?;
    }
    let subnet = Subnet {
        id: call.new_id(),
        vpc_id: vpc.id.clone(),
        cidr_block: new.cidr,
        ipv6_cidr: new.ipv6.map(|cidr| CidrAssociation { id: call.random_id("subnet-cidr-assoc"), cidr }),
        availability_zone: new.zone,
        default_for_az: new.default_for_az,
        map_public_ip_on_launch: new.default_for_az,
        assign_ipv6_address_on_creation: false,
        enable_dns64: false,
        private_dns_hostname_type: HostnameType::IpName,
        enable_resource_name_dns_a_record: false,
        enable_resource_name_dns_aaaa_record: false,
        tags: call.new_tags::<Subnet>(),
    };
    let id = subnet.id.clone();
    let acl = call.account.network_acls.with(NetworkAcl::BY_VPC, &subnet.vpc_id).find(|acl| acl.is_default);
    if let Some(acl) = acl.map(|acl| acl.id.clone()) {
        let association = AclAssociation { id: call.random_id("aclassoc"), subnet_id: id.clone() };
        call.account.network_acls.edit(&acl)?.associations.push(association);
    }
    call.account.subnets.insert(subnet);
    Ok(id)
}

pub fn delete_subnet(account: &mut Account, id: &str) -> ApiResult<()> {
    let subnet = account.subnets.find(id)?;
    let vpc = subnet.vpc_id.clone();
    dependents::refuse("subnet", id, dependents::of_subnet(account, subnet))?;
    let own = |target: &AssociationTarget| matches!(target, AssociationTarget::Subnet(s) if **s == *id);
    each_table(account, &vpc, |table| table.associations.retain(|association| !own(&association.target)))?;
    let acls: Vec<_> =
        account.network_acls.with(NetworkAcl::BY_SUBNET, id).map(|acl| acl.id.clone()).collect();
    for acl in acls {
        account.network_acls.edit(&acl)?.associations.retain(|association| *association.subnet_id != *id);
    }
    account.subnets.remove(id);
    Ok(())
}

pub fn available_addresses(account: &Account, subnet: &Subnet) -> u64 {
    subnet.cidr_block.usable().saturating_sub(account.network_interfaces.tally(&subnet.id))
}
