//! How burstable instances spend their credits.

use super::prelude::*;
use crate::model::instance::{CpuCredits, Instance};

pub struct DescribeInstanceCreditSpecifications;

static FILTERS: Filters<Instance> = Filters::only(&["instance-id"], &[]);

impl Action for DescribeInstanceCreditSpecifications {
    const NAME: &'static str = "DescribeInstanceCreditSpecifications";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = InstanceIds;
    type Response = Listing<CreditView>;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Listing<CreditView>> {
        for id in &request.instance_id {
            if call.account.instances.find(id)?.options.cpu_credits.is_none() {
                return Err(ApiError::client(
                    "InstanceCreditSpecification.NotSupported",
                    format!("The instance '{id}' is not of a burstable type"),
                ));
            }
        }
        let burstable = |instance: &Instance| instance.options.cpu_credits.is_some();
        let page = call.select_where(&call.account.instances, &request.instance_id, &FILTERS, burstable)?;
        Ok(page.listing_some("instanceCreditSpecificationSet", |instance| {
            let cpu_credits = instance.options.cpu_credits?;
            Some(CreditView { instance_id: instance.id.to_string(), cpu_credits })
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreditView {
    instance_id: String,
    cpu_credits: CpuCredits,
}
