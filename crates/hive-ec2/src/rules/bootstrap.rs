//! A new account has a default VPC with a subnet in every zone and a way out, as EC2's accounts do.

use std::collections::BTreeSet;

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::account::Account;
use crate::model::cidr::Ipv4Cidr;
use crate::model::dhcp_options::DhcpOptions;
use crate::model::internet_gateway::InternetGateway;
use crate::model::route_table::{Destination, Origin, Route, Target};
use crate::model::settings::Settings;
use crate::model::subnet::Subnet;
use crate::model::vpc::{Tenancy, Vpc};
use crate::rules::vpcs::{self, NewSubnet};

/// Does nothing for an account that was prepared before, whatever its owner deleted since.
pub fn bootstrap(call: &mut Call<'_>) -> ApiResult<()> {
    if !call.account.settings.is_empty() {
        return Ok(());
    }
    let domain = match call.environment.region.as_str() {
        "us-east-1" => "ec2.internal".to_owned(),
        region => format!("{region}.compute.internal"),
    };
    let options = DhcpOptions {
        id: call.new_id(),
        configurations: vec![
            ("domain-name".into(), vec![domain]),
            ("domain-name-servers".into(), vec!["AmazonProvidedDNS".into()]),
        ],
        tags: Tags::default(),
    };
    call.account.dhcp_options.insert(options);
    default_vpc(call)?;
    let settings = Settings { born_with: keys(call.account), ..Settings::default() };
    call.account.settings.insert(settings);
    Ok(())
}

/// Of everything that the account has.
pub fn keys(account: &Account) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    account.each_key(|_, id| {
        keys.insert(id.to_owned());
    });
    keys
}

/// 172.31.0.0
const BASE: u32 = u32::from_be_bytes([172, 31, 0, 0]);

/// Of the default VPC: a subnet each.
fn parts() -> impl Iterator<Item = Ipv4Cidr> {
    (0..16).map(|index| Ipv4Cidr::new(BASE + index * 4096, 20))
}

/// With a subnet in every zone and a way out.
pub fn default_vpc(call: &mut Call<'_>) -> ApiResult<Id<Vpc>> {
    let vpc = vpcs::create_vpc(call, Ipv4Cidr::new(BASE, 16), None, Tenancy::Default, true)?;
    for (cidr, zone) in parts().zip(call.environment.zone_names()) {
        vpcs::create_subnet(call, &vpc, NewSubnet { cidr, ipv6: None, zone, default_for_az: true })?;
    }
    let gateway = InternetGateway { id: call.new_id(), vpc_id: Some(vpc.clone()), tags: Tags::default() };
    let route = Route {
        destination: Destination::V4(Ipv4Cidr::new(0, 0)),
        target: Target::InternetGateway(gateway.id.clone()),
        origin: Origin::CreateRoute,
    };
    call.account.internet_gateways.insert(gateway);
    vpcs::each_table(call.account, &vpc, |table| table.routes.push(route.clone()))?;
    Ok(vpc)
}

/// In the first part of the VPC that is free.
pub fn default_subnet(call: &mut Call<'_>, zone: String) -> ApiResult<Id<Subnet>> {
    let vpc = call.account.default_vpc().ok_or_else(|| {
        ApiError::client("DefaultVpcDoesNotExist", "There is no default VPC; CreateDefaultVpc makes one")
    })?;
    let all: Vec<&Subnet> = call.account.subnets.with(Subnet::BY_VPC, &vpc.id).collect();
    if let Some(known) = all.iter().find(|subnet| subnet.default_for_az && subnet.availability_zone == zone) {
        return Err(ApiError::client(
            "DefaultSubnetAlreadyExistsInAvailabilityZone",
            format!("'{}' is already the default subnet in {zone}.", known.id),
        ));
    }
    let cidr = parts().find(|part| !all.iter().any(|subnet| subnet.cidr_block.overlaps(*part)));
    let cidr = cidr.ok_or_else(|| {
        ApiError::client("InsufficientCidrBlocks", "The default VPC has no room for another default subnet")
    })?;
    let vpc = vpc.id.clone();
    vpcs::create_subnet(call, &vpc, NewSubnet { cidr, ipv6: None, zone, default_for_az: true })
}
