//! A new account has a default VPC with a subnet in every zone and a way out, as EC2's accounts do.

use std::collections::BTreeSet;

use hive_api::ApiResult;

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::account::Account;
use crate::model::cidr::Ipv4Cidr;
use crate::model::dhcp_options::DhcpOptions;
use crate::model::internet_gateway::InternetGateway;
use crate::model::route_table::{Destination, Origin, Route, Target};
use crate::model::settings::Settings;
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

/// With a subnet in every zone and a way out.
pub fn default_vpc(call: &mut Call<'_>) -> ApiResult<Id<Vpc>> {
    let base = u32::from_be_bytes([172, 31, 0, 0]);
    let vpc = vpcs::create_vpc(call, Ipv4Cidr::new(base, 16), None, Tenancy::Default, true)?;
    for (index, zone) in call.environment.zone_names().enumerate().take(16) {
        let cidr = Ipv4Cidr::new(base + (index as u32) * 4096, 20);
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
