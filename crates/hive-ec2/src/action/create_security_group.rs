//! Makes a security group that lets everything out and nothing in.

use super::prelude::*;
use crate::model::security_group::SecurityGroup;
use crate::rules::permissions;
use crate::rules::vpcs;
use crate::view::{TagView, tags};

pub struct CreateSecurityGroup;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    group_name: String,
    group_description: String,
    vpc_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    group_id: String,
    security_group_arn: String,
    tag_set: Vec<TagView>,
    #[serde(rename = "return")]
    done: bool,
}

impl Action for CreateSecurityGroup {
    const NAME: &'static str = "CreateSecurityGroup";
    const ACCEPTS: Accepts = Accepts { tags: &["security-group"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = request.group_name;
        let vpc = match &request.vpc_id {
            Some(id) => call.account.vpcs.find(id)?,
            None => call
                .account
                .vpcs
                .iter()
                .find(|vpc| vpc.is_default)
                .ok_or_else(|| ApiError::client("VPCIdNotSpecified", "No default VPC for this user"))?,
        };
        permissions::check_name(&name)?;
        if request.group_description.is_empty() {
            return Err(ApiError::client("InvalidParameterValue", "The description must not be empty"));
        }
        permissions::check_description(Some(&request.group_description))?;
        if call
            .account
            .security_groups
            .with(SecurityGroup::BY_NAME, &name)
            .any(|group| group.vpc_id == vpc.id)
        {
            return Err(ApiError::client(
                "InvalidGroup.Duplicate",
                format!("The security group '{name}' already exists for VPC '{}'", vpc.id),
            ));
        }
        let group = SecurityGroup {
            id: call.new_id(),
            name,
            description: request.group_description,
            vpc_id: vpc.id.clone(),
            rules: vpcs::egress_rules(call, vpc),
            tags: call.new_tags::<SecurityGroup>(),
        };
        let response = Response {
            group_id: group.id.to_string(),
            security_group_arn: call.arn(&format!("security-group/{}", group.id)),
            tag_set: tags(&group.tags),
            done: true,
        };
        call.account.security_groups.insert(group);
        Ok(response)
    }
}
