//! Sets how many cores and threads a stopped instance starts with next.

use super::prelude::*;
use crate::data::instance_types;
use crate::model::instance::InstanceState;
use crate::rules::interfaces::incorrect_state;

pub struct ModifyInstanceCpuOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    core_count: Option<u32>,
    threads_per_core: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_id: String,
    core_count: u32,
    threads_per_core: u32,
}

impl Action for ModifyInstanceCpuOptions {
    const NAME: &'static str = "ModifyInstanceCpuOptions";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = call.account.instances.find(&request.instance_id)?;
        if instance.state != InstanceState::Stopped {
            return Err(incorrect_state(instance));
        }
        let cores = request.core_count.unwrap_or(instance.options.core_count);
        let threads = request.threads_per_core.unwrap_or(instance.options.threads_per_core);
        let kind = instance_types::find(&instance.instance_type);
        if let Some(kind) =
            kind.filter(|kind| cores == 0 || cores > kind.cores || !(1..=2).contains(&threads))
        {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("{} has up to {} cores with 1 or 2 threads", kind.name, kind.cores),
            ));
        }
        let options = &mut call.account.instances.edit(&request.instance_id)?.options;
        options.core_count = cores;
        options.threads_per_core = threads;
        Ok(Response { instance_id: request.instance_id, core_count: cores, threads_per_core: threads })
    }
}
