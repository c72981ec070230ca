//! Takes an instance's profile away.

use super::prelude::*;
use crate::rules::instance_profiles::{self, AssociationView};

pub struct DisassociateIamInstanceProfile;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    iam_instance_profile_association: AssociationView,
}

impl Action for DisassociateIamInstanceProfile {
    const NAME: &'static str = "DisassociateIamInstanceProfile";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = instance_profiles::find(call.account, &request.association_id)?;
        let (id, view) = (instance.id.clone(), instance_profiles::view(instance, "disassociating"));
        let instance = call.account.instances.edit(&id)?;
        instance.options.iam_instance_profile = None;
        instance.profile_association_id = None;
        let iam_instance_profile_association =
            view.ok_or_else(|| ApiError::internal("an association without a profile"))?;
        Ok(Response { iam_instance_profile_association })
    }
}
