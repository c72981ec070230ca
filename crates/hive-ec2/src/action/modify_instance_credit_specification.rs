//! Sets how burstable instances spend their credits.

use std::borrow::Cow;

use super::prelude::*;
use crate::model::instance::CpuCredits;
use crate::rules::power;

pub struct ModifyInstanceCreditSpecification;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_credit_specification: Vec<Wanted>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    successful_instance_credit_specification_set: Vec<Changed>,
    unsuccessful_instance_credit_specification_set: Vec<Refused>,
}

impl Action for ModifyInstanceCreditSpecification {
    const NAME: &'static str = "ModifyInstanceCreditSpecification";
    const ACCEPTS: Accepts = Accepts { client_token: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let (mut changed, mut refused) = (Vec::new(), Vec::new());
        for wanted in request.instance_credit_specification {
            let id = wanted.instance_id;
            let problem = match call.account.instances.find(&id) {
                Err(error) => Some(error),
                Ok(instance) if instance.options.cpu_credits.is_none() => Some(ApiError::client(
                    "InstanceCreditSpecification.NotSupported",
                    "The instance type is not burstable",
                )),
                Ok(instance) => power::check_alive(instance).err(),
            };
            match problem {
                Some(ApiError { code, message, .. }) => {
                    refused.push(Refused { instance_id: id, error: Problem { code, message } })
                }
                None => {
                    call.account.instances.edit(&id)?.options.cpu_credits = Some(wanted.cpu_credits);
                    changed.push(Changed { instance_id: id });
                }
            }
        }
        Ok(Response {
            successful_instance_credit_specification_set: changed,
            unsuccessful_instance_credit_specification_set: refused,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wanted {
    instance_id: String,
    cpu_credits: CpuCredits,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    instance_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Refused {
    instance_id: String,
    error: Problem,
}

#[derive(Serialize)]
struct Problem {
    code: Cow<'static, str>,
    message: String,
}
