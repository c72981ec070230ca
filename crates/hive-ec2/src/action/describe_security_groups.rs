//! Lists security groups.

use super::prelude::*;
use crate::model::security_group::SecurityGroup;
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

static FILTERS: Filters<SecurityGroup> = Filters::of(&[("owner-id", Same(|account| account.id.to_string()))])
    .shown("DescribeSecurityGroups", |group, call| shown(view::security_group::security_group(group, call)))
    .narrowed(|call, name, pattern| match name {
        "egress.ip-permission.user-id" | "ip-permission.user-id" => {
            found_if(matches(pattern, &call.account.id), || Some(SecurityGroup::BY_PEER.all()))
        }
        _ => None,
    });

impl Action for DescribeSecurityGroups {
    const NAME: &'static str = "DescribeSecurityGroups";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<SecurityGroupView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<SecurityGroupView>> {
        let mut ids = request.group_id;
        for name in &request.group_name {
            let asked = PermissionsRequest { group_name: Some(name.clone()), ..Default::default() };
            ids.push(asked.group(call.account)?.to_string());
        }
        let page = call.select(&call.account.security_groups, &ids, &FILTERS)?;
        Ok(page.listing("securityGroupInfo", |group| view::security_group::security_group(group, call)))
    }
}
