//! RunInstances: what was asked for becomes a launch; `rules::launch` carries it out.

mod devices;
mod interfaces;
mod options;
mod request;

use self::request::Request;
use super::prelude::*;
use hive_api::{Params, xml};

use crate::core::id::Id;
use crate::data::instance_types;
use crate::model::image::ImageState;
use crate::model::instance::Instance;
use crate::rules::launch::Launch;
use crate::rules::{images, launch_templates, limits};
use crate::view;
use crate::view::instance::ReservationView;

pub struct RunInstances;

/// Whether the store takes another instance like those that are launched with the same change. With a token the answer is
/// kept, too, in one record.
fn has_room(call: &Call<'_>, changed: usize, ids: &[Id<Instance>]) -> ApiResult<bool> {
    /// The request's token, and that this account and all have changed.
    const BESIDES: usize = 3;
    /// What the answer has around the instances; addresses and numbers that are longer than another's.
    const AROUND: usize = 4_096;
    const LONGER: usize = 128;
    let (Some(most), Some(first)) = (call.environment.largest_change, ids.first()) else { return Ok(true) };
    if changed + changed.div_ceil(ids.len()) + BESIDES > most.changes {
        return Ok(false);
    }
    if call.common.client_token.is_none() {
        return Ok(true);
    }
    let shown = xml::to_content(&view::instance::instance(call.account.instances.find(first)?, call));
    let each = shown.map_err(|error| ApiError::internal(error.to_string()))?.len() + LONGER;
    Ok((ids.len() + 1) * each + AROUND <= most.bytes)
}

impl Action for RunInstances {
    const NAME: &'static str = "RunInstances";
    const ACCEPTS: Accepts =
        Accepts { client_token: true, tags: &["instance", "network-interface", "volume"], ..Accepts::NONE };
    /// There is no machine that could have one: an enclave is kept and described, a disk of the machine's own is left out.
    const WITHOUT_EFFECT: &'static [&'static str] = &["BlockDeviceMapping.VirtualName", "EnclaveOptions"];
    // There are no hosts and no reservations, and no type hibernates.
    const REFUSED_VALUES: &'static [&'static str] = &[
        "HibernationOptions.Configured=true",
        "Placement.Tenancy=host",
        "CapacityReservationSpecification.CapacityReservationPreference=capacity-reservations-only",
    ];
    type Request = Request;
    type Response = ReservationView;

    fn complete(params: &Params, call: &mut Call<'_>) -> ApiResult<Option<Params>> {
        launch_templates::merge(params, call)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<ReservationView> {
        let counts = (request.min_count, request.max_count);
        if counts.0 == 0 || counts.1 < counts.0 || counts.1 > 1_000 {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "MinCount must be at least 1, MaxCount not less than it and at most 1000",
            ));
        }
        let id = request.image_id.as_deref().ok_or_else(|| ApiError::missing_parameter("ImageId"))?;
        let image = images::find(call, id)?;
        if image.state != ImageState::Available {
            let message = format!("The image {id} is {}", image.state.name());
            return Err(ApiError::client("InvalidAMIID.Unavailable", message));
        }
        let name = request.instance_type.as_deref().unwrap_or("t3.micro");
        let kind = instance_types::find(name)
            .ok_or_else(|| ApiError::invalid_value("InstanceType", name, "It is not offered here."))?;
        let launch = Launch {
            devices: request.devices(&image)?,
            image,
            instance_type: kind,
            key_name: request.key_name.clone().filter(|name| !name.is_empty()),
            zone: request.zone().map(str::to_owned),
            placement_group: request.placement_group(call.account)?,
            partition_number: request.partition_number(),
            tenancy: request.tenancy(),
            interfaces: request.interfaces(counts.1, call.account)?,
            options: request.options(kind, call.account)?,
            names: request.names(),
            client_token: call.common.client_token.clone(),
            tags: call.new_tags::<Instance>(),
        };
        if counts.1 > 1 && launch.interfaces.iter().any(|plan| plan.private_ips.primary.is_some()) {
            return Err(ApiError::invalid_combination(
                "A private address can be given to one instance only: MaxCount must be 1",
            ));
        }
        launch.check(call)?;
        let count = launch.count(call, counts.0, counts.1)?;
        let reservation_id = call.random_id("r");
        let mut ids = Vec::new();
        let before = call.account.changed();
        for index in 0..count {
            // Where the store takes so much at once, as many are launched as fit.
            if index >= counts.0 && !has_room(call, call.account.changed() - before, &ids)? {
                break;
            }
            ids.push(launch.launch(call, &reservation_id, index)?);
            if index == 0 {
                // What one cannot have a thousand need not try.
                limits::check(call)?;
            }
        }
        let mut instances_set = Vec::new();
        for id in &ids {
            instances_set.push(view::instance::instance(call.account.instances.find(id)?, call));
        }
        Ok(ReservationView {
            reservation_id,
            owner_id: call.account.id.to_string(),
            group_set: Vec::new(),
            instances_set,
        })
    }
}
