//! Lets more out.

use super::prelude::*;
use crate::rules::permissions::{self, PermissionsRequest};
use crate::view;
use crate::view::security_group::RuleView;

pub struct AuthorizeSecurityGroupEgress;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    security_group_rule_set: Vec<RuleView>,
    #[serde(rename = "return")]
    done: bool,
}

impl Action for AuthorizeSecurityGroupEgress {
    const NAME: &'static str = "AuthorizeSecurityGroupEgress";
    const ACCEPTS: Accepts = Accepts { tags: &["security-group-rule"], ..Accepts::NONE };
    const NOT_OURS: &'static [&'static str] =
        &["GroupName", "SecurityGroupRuleDescription", "SecurityGroupRuleId"];
    type Request = PermissionsRequest;
    type Response = Response;

    fn run(request: PermissionsRequest, call: &mut Call<'_>) -> ApiResult<Response> {
        let rules = permissions::authorize(call, &request, true)?;
        let group = request.group(call.account)?;
        let security_group_rule_set =
            rules.iter().map(|rule| view::security_group::rule(rule, &group, call)).collect();
        Ok(Response { security_group_rule_set, done: true })
    }
}
