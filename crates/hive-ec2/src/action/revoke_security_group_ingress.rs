//! Lets less in.

use super::prelude::*;
use crate::rules::permissions::{self, PermissionsRequest};
use crate::view;
use crate::view::security_group::RevokedRuleView;

pub struct RevokeSecurityGroupIngress;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    revoked_security_group_rule_set: Vec<RevokedRuleView>,
    #[serde(rename = "return")]
    done: bool,
}

impl Action for RevokeSecurityGroupIngress {
    const NAME: &'static str = "RevokeSecurityGroupIngress";
    const NOT_OURS: &'static [&'static str] = &["SecurityGroupRuleDescription"];
    type Request = PermissionsRequest;
    type Response = Response;

    fn run(request: PermissionsRequest, call: &mut Call<'_>) -> ApiResult<Response> {
        let rules = permissions::revoke(call, &request, false)?;
        let group = request.group(call.account)?;
        let revoked = rules.iter().map(|rule| view::security_group::revoked(rule, &group, call)).collect();
        Ok(Response { revoked_security_group_rule_set: revoked, done: true })
    }
}
