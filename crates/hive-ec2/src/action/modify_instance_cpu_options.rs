//! Sets how many cores and threads a stopped instance starts with next.

use super::prelude::*;
use crate::data::instance_types;
use crate::rules::{power, processors};

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
        power::check_stopped(instance)?;
        let kind = instance_types::find(&instance.instance_type)
            .ok_or_else(|| ApiError::internal("an instance of a type that is not known"))?;
        let now = (instance.options.core_count, instance.options.threads_per_core);
        let (cores, threads) = processors::check(kind, (request.core_count, request.threads_per_core), now)?;
        let options = &mut call.account.instances.edit(&request.instance_id)?.options;
        options.core_count = cores;
        options.threads_per_core = threads;
        Ok(Response { instance_id: request.instance_id, core_count: cores, threads_per_core: threads })
    }
}
