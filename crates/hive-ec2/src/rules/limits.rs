//! How many there may be: an account's quotas, with EC2's own numbers unless the gateway was told others, and what an
//! instance type can carry. Checked once after every action, on what it added: what was there before stays.

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::index::Field;
use crate::core::table::{Resource, Table};
use crate::data::instance_types;
use crate::model::instance::Instance;
use crate::model::network_acl::NetworkAcl;
use crate::model::route_table::RouteTable;
use crate::model::subnet::Subnet;
use crate::rules::interfaces::{MOST_ADDRESSES, check_count};

struct Limit {
    name: &'static str,
    /// EC2's, for a new account.
    most: u32,
    code: &'static str,
    what: &'static str,
}

const fn limit(name: &'static str, most: u32, code: &'static str, what: &'static str) -> Limit {
    Limit { name, most, code, what }
}

const LIMITS: &[Limit] = &[
    limit("acl-rules", 20, "NetworkAclEntryLimitExceeded", "rules of one direction in a network ACL"),
    limit("acls-per-vpc", 200, "NetworkAclLimitExceeded", "network ACLs of a VPC"),
    limit("elastic-addresses", 5, "AddressLimitExceeded", "elastic addresses"),
    limit(
        "group-rules",
        60,
        "RulesPerSecurityGroupLimitExceeded",
        "rules of one direction in a security group",
    ),
    limit(
        "groups-per-interface",
        5,
        "SecurityGroupsPerInterfaceLimitExceeded",
        "security groups of an interface",
    ),
    limit("internet-gateways", 5, "InternetGatewayLimitExceeded", "internet gateways"),
    limit("nat-gateways-per-zone", 5, "NatGatewayLimitExceeded", "NAT gateways of a zone"),
    limit("network-interfaces", 5_000, "NetworkInterfaceLimitExceeded", "network interfaces"),
    limit("route-tables-per-vpc", 200, "RouteTableLimitExceeded", "route tables of a VPC"),
    limit("routes", 500, "RouteLimitExceeded", "routes of a route table"),
    limit("security-groups", 2_500, "SecurityGroupLimitExceeded", "security groups"),
    limit("subnets-per-vpc", 200, "SubnetLimitExceeded", "subnets of a VPC"),
    limit("vpcs", 5, "VpcLimitExceeded", "VPCs"),
];

/// The numbers of one gateway.
#[derive(Debug, Clone)]
pub struct Limits(Vec<u32>);

impl Default for Limits {
    fn default() -> Self {
        Self(LIMITS.iter().map(|limit| limit.most).collect())
    }
}

/// Those that are not EC2's own, as they are set.
impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let other = LIMITS.iter().zip(&self.0).filter(|(limit, most)| limit.most != **most);
        let words = other.map(|(limit, most)| match *most {
            u32::MAX => format!("{}=none", limit.name),
            most => format!("{}={most}", limit.name),
        });
        f.write_str(&words.collect::<Vec<_>>().join(","))
    }
}

impl Limits {
    /// `vpcs=20`, `all=none`.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let known = || Self::names().collect::<Vec<_>>().join(", ");
        let wrong = || format!("a limit is NAME=NUMBER or NAME=none, and NAME one of all, {}", known());
        let (name, number) = text.split_once('=').ok_or_else(wrong)?;
        let number = if number == "none" { u32::MAX } else { number.parse().map_err(|_| wrong())? };
        let mut found = false;
        for (limit, own) in LIMITS.iter().zip(&mut self.0) {
            if name == "all" || name == limit.name {
                (*own, found) = (number, true);
            }
        }
        if found { Ok(()) } else { Err(wrong()) }
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        LIMITS.iter().map(|limit| limit.name)
    }

    pub fn of(&self, name: &str) -> u32 {
        let at = LIMITS.iter().position(|limit| limit.name == name);
        at.and_then(|at| self.0.get(at)).copied().unwrap_or(u32::MAX)
    }

    fn check(&self, name: &'static str, count: usize) -> ApiResult<()> {
        let most = self.of(name);
        match LIMITS.iter().find(|limit| limit.name == name) {
            Some(limit) if count > most as usize => Err(ApiError::client(
                limit.code,
                format!("The maximum number of {} ({most}) has been reached.", limit.what),
            )),
            _ => Ok(()),
        }
    }

    /// In the whole account.
    fn total<T: Resource>(&self, name: &'static str, table: &Table<T>) -> ApiResult<()> {
        if added(table).next().is_some() { self.check(name, table.len()) } else { Ok(()) }
    }

    /// In the VPC of each that was added.
    fn per_vpc<T: Resource>(
        &self,
        name: &'static str,
        table: &Table<T>,
        vpc: Field<T>,
        of: impl Fn(&T) -> &str,
    ) -> ApiResult<()> {
        let most = self.of(name);
        if most == u32::MAX {
            return Ok(());
        }
        added(table)
            .try_for_each(|new| self.check(name, table.with(vpc, of(new)).take(most as usize + 1).count()))
    }

    /// Inside each that has more than it had.
    fn inside<T: Resource>(
        &self,
        name: &'static str,
        table: &Table<T>,
        count: impl Fn(&T) -> usize,
    ) -> ApiResult<()> {
        for (before, now) in table.touched() {
            let now = now.map_or(0, &count);
            if now > before.map_or(0, &count) {
                self.check(name, now)?;
            }
        }
        Ok(())
    }
}

fn added<T: Resource>(table: &Table<T>) -> impl Iterator<Item = &T> {
    table.touched().filter(|(before, _)| before.is_none()).filter_map(|(_, now)| now)
}

pub fn check(call: &Call<'_>) -> ApiResult<()> {
    let (account, limits) = (&*call.account, &call.environment.limits);
    limits.total("vpcs", &account.vpcs)?;
    limits.total("internet-gateways", &account.internet_gateways)?;
    limits.total("elastic-addresses", &account.addresses)?;
    limits.total("network-interfaces", &account.network_interfaces)?;
    limits.total("security-groups", &account.security_groups)?;
    limits.per_vpc("subnets-per-vpc", &account.subnets, Subnet::BY_VPC, |subnet| &subnet.vpc_id)?;
    limits
        .per_vpc("route-tables-per-vpc", &account.route_tables, RouteTable::BY_VPC, |table| &table.vpc_id)?;
    limits.per_vpc("acls-per-vpc", &account.network_acls, NetworkAcl::BY_VPC, |acl| &acl.vpc_id)?;
    for egress in [false, true] {
        // The last rule of an ACL is not one of its owner's.
        let numbered = |acl: &NetworkAcl| {
            acl.entries.iter().filter(|entry| entry.egress == egress && entry.rule_number < 32_767).count()
        };
        limits.inside("acl-rules", &account.network_acls, numbered)?;
        limits.inside("group-rules", &account.security_groups, |group| {
            group.rules.iter().filter(|rule| rule.egress == egress).count()
        })?;
    }
    limits.inside("routes", &account.route_tables, |table| table.routes.len())?;
    limits.inside("groups-per-interface", &account.network_interfaces, |interface| interface.groups.len())?;
    let zone = |subnet: &str| account.subnets.get(subnet).map(|subnet| &subnet.availability_zone);
    for new in added(&account.nat_gateways).filter(|gateway| gateway.deleted.is_none()) {
        let alive = account.nat_gateways.iter().filter(|gateway| gateway.deleted.is_none());
        let count = alive.filter(|other| zone(&other.subnet_id) == zone(&new.subnet_id)).count();
        limits.check("nat-gateways-per-zone", count)?;
    }
    what_types_carry(call)
}

type Count = fn(&Instance) -> usize;

/// How many interfaces and volumes an instance's type has room for, and how many addresses each of the interfaces.
fn what_types_carry(call: &Call<'_>) -> ApiResult<()> {
    let account = &*call.account;
    for (before, now) in account.instances.touched() {
        let Some(instance) = now else { continue };
        let Some(kind) = instance_types::find(&instance.instance_type) else { continue };
        let other_type = before.is_none_or(|before| before.instance_type != instance.instance_type);
        let carried: [(&str, u32, Count); 2] = [
            ("Interface", kind.interfaces, |instance| instance.network_interfaces.len()),
            match kind.volumes() {
                (most, false) => ("Volume", most, |instance| instance.block_devices.len()),
                (most, true) => ("Attachment", most, |instance| {
                    instance.block_devices.len() + instance.network_interfaces.len()
                }),
            },
        ];
        for (what, most, count) in carried {
            let now = count(instance);
            let grown = before.is_none_or(|before| now > count(before));
            if now > most as usize && (grown || other_type) {
                return Err(ApiError::client(
                    "AttachmentLimitExceeded",
                    format!("{what} count {now} exceeds the limit for {} ({most})", kind.name),
                ));
            }
        }
        for id in instance.network_interfaces.iter().filter(|_| other_type) {
            let addresses = account.network_interfaces.get(id).map_or(0, |own| own.private_ips.len());
            check_count(call, addresses, kind.addresses as usize, kind.name)?;
        }
    }
    for (before, now) in account.network_interfaces.touched() {
        let Some(interface) = now else { continue };
        let instance = interface.attachment.as_ref().and_then(|a| account.instances.get(&a.instance_id));
        let kind = instance.and_then(|i| instance_types::find(&i.instance_type));
        let (most, of) =
            kind.map_or((MOST_ADDRESSES, "an interface"), |kind| (kind.addresses as usize, kind.name));
        let plugged = before.is_none_or(|before| before.attachment.is_none());
        let grown = before.is_none_or(|before| interface.private_ips.len() > before.private_ips.len());
        if plugged || grown {
            check_count(call, interface.private_ips.len(), most, of)?;
        }
    }
    Ok(())
}
