//! Sets descriptions of rules.

use super::prelude::*;
use crate::rules::permissions::{self, PermissionsRequest};

pub struct UpdateSecurityGroupRuleDescriptionsIngress;

impl Action for UpdateSecurityGroupRuleDescriptionsIngress {
    const NAME: &'static str = "UpdateSecurityGroupRuleDescriptionsIngress";
    const NOT_OURS: &'static [&'static str] =
        &["CidrIp", "FromPort", "IpProtocol", "SourceSecurityGroupName", "ToPort", "SecurityGroupRuleId"];
    type Request = PermissionsRequest;
    type Response = Done;

    fn run(request: PermissionsRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        permissions::describe_rules(call, &request, false)?;
        Done::ok()
    }
}
