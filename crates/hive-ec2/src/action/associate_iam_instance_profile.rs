//! Gives an instance a profile.

use super::prelude::*;
use crate::rules::instance_profiles::{self, AssociationView, Profile};

pub struct AssociateIamInstanceProfile;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    iam_instance_profile: Profile,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    iam_instance_profile_association: AssociationView,
}

impl Action for AssociateIamInstanceProfile {
    const NAME: &'static str = "AssociateIamInstanceProfile";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = call.account.instances.find(&request.instance_id)?;
        if instance.options.iam_instance_profile.is_some() {
            return Err(ApiError::client(
                "IncorrectState",
                format!("There is an existing association for instance {}", instance.id),
            ));
        }
        let (id, arn) = (instance.id.clone(), request.iam_instance_profile.arn(call.account)?);
        let iam_instance_profile_association = instance_profiles::associate(call, &id, arn)?;
        Ok(Response { iam_instance_profile_association })
    }
}
