//! Lists security groups.

use super::prelude::*;
use crate::model::security_group::{Peer, SecurityGroup};
use crate::rules::permissions::PermissionsRequest;
use crate::view;
use crate::view::security_group::SecurityGroupView;

pub struct DescribeSecurityGroups;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    group_id: Vec<String>,
    #[serde(default)]
    group_name: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    security_group_info: Vec<SecurityGroupView>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<SecurityGroup>] = &[
    ("description", |group, _| one(&group.description)),
    ("egress.ip-permission.cidr", |group, _| peers(group, true)),
    ("egress.ip-permission.group-id", |group, _| peers(group, true)),
    ("egress.ip-permission.protocol", |group, _| protocols(group, true)),
    ("group-id", |group, _| one(&group.id)),
    ("group-name", |group, _| one(&group.name)),
    ("ip-permission.cidr", |group, _| peers(group, false)),
    ("ip-permission.from-port", |group, _| ports(group, false).map(|p| p.0.to_string()).collect()),
    ("ip-permission.group-id", |group, _| peers(group, false)),
    ("ip-permission.ipv6-cidr", |group, _| peers(group, false)),
    ("ip-permission.protocol", |group, _| protocols(group, false)),
    ("ip-permission.to-port", |group, _| ports(group, false).map(|p| p.1.to_string()).collect()),
    ("owner-id", |_, account| one(&account.id)),
    ("vpc-id", |group, _| one(&group.vpc_id)),
];

impl Action for DescribeSecurityGroups {
    const NAME: &'static str = "DescribeSecurityGroups";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut ids = request.group_id;
        for name in &request.group_name {
            let asked = PermissionsRequest { group_name: Some(name.clone()), ..Default::default() };
            ids.push(asked.group(call.account)?.to_string());
        }
        let page = call.select(&call.account.security_groups, &ids, FILTERS)?;
        Ok(Response {
            security_group_info: page
                .items
                .iter()
                .map(|group| view::security_group::security_group(group, call))
                .collect(),
            next_token: page.next_token,
        })
    }
}

/// Ranges and groups look different, so one list serves the filters on both.
fn peers(group: &SecurityGroup, egress: bool) -> Vec<String> {
    let rules = group.rules.iter().filter(|rule| rule.egress == egress);
    rules
        .map(|rule| match &rule.peer {
            Peer::V4(cidr) => cidr.to_string(),
            Peer::V6(cidr) => cidr.to_string(),
            Peer::Group(id) => id.to_string(),
        })
        .collect()
}

fn ports(group: &SecurityGroup, egress: bool) -> impl Iterator<Item = (i32, i32)> {
    group.rules.iter().filter(move |rule| rule.egress == egress).filter_map(|rule| rule.ports)
}

fn protocols(group: &SecurityGroup, egress: bool) -> Vec<String> {
    let rules = group.rules.iter().filter(|rule| rule.egress == egress);
    rules.map(|rule| view::security_group::protocol(rule.protocol)).collect()
}
