//! Gives an instance another profile; the association has a new id.

use super::prelude::*;
use crate::rules::instance_profiles::{self, AssociationView, Profile};

pub struct ReplaceIamInstanceProfileAssociation;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
    iam_instance_profile: Profile,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    iam_instance_profile_association: AssociationView,
}

impl Action for ReplaceIamInstanceProfileAssociation {
    const NAME: &'static str = "ReplaceIamInstanceProfileAssociation";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = instance_profiles::find(call.account, &request.association_id)?.id.clone();
        let arn = request.iam_instance_profile.arn(call.account)?;
        let iam_instance_profile_association = instance_profiles::associate(call, &id, arn)?;
        Ok(Response { iam_instance_profile_association })
    }
}
