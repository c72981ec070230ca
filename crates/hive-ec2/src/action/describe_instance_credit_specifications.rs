//! How burstable instances spend their credits.

use super::prelude::*;
use crate::model::instance::{CpuCredits, Instance};

pub struct DescribeInstanceCreditSpecifications;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_credit_specification_set: Vec<CreditView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Instance> = Filters::only(&["instance-id"], &[]);

impl Action for DescribeInstanceCreditSpecifications {
    const NAME: &'static str = "DescribeInstanceCreditSpecifications";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = InstanceIds;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Response> {
        for id in &request.instance_id {
            if call.account.instances.find(id)?.options.cpu_credits.is_none() {
                return Err(ApiError::client(
                    "InstanceCreditSpecification.NotSupported",
                    format!("The instance '{id}' is not of a burstable type"),
                ));
            }
        }
        let page = call.select(&call.account.instances, &request.instance_id, &FILTERS)?;
        let credits = page.items.iter().filter_map(|instance| {
            Some(CreditView {
                instance_id: instance.id.to_string(),
                cpu_credits: instance.options.cpu_credits?,
            })
        });
        Ok(Response { instance_credit_specification_set: credits.collect(), next_token: page.next_token })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreditView {
    instance_id: String,
    cpu_credits: CpuCredits,
}
