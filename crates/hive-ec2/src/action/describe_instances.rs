//! Lists instances, grouped by the request that launched them.

use super::prelude::*;
use std::collections::BTreeMap;

use crate::core::text::moment;
use crate::data::instance_types;
use crate::model::instance::Instance;
use crate::model::network_interface::NetworkInterface;
use crate::rules::lifecycle::is_forgotten;
use crate::view;
use crate::view::instance::ReservationView;

pub struct DescribeInstances;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    reservation_set: Vec<ReservationView>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<Instance>] = &[
    ("architecture", |i, _| maybe(instance_types::find(&i.instance_type).map(|kind| kind.architecture))),
    ("availability-zone", |i, _| one(&i.availability_zone)),
    ("block-device-mapping.device-name", |i, _| {
        i.block_devices.iter().map(|(name, _)| name.clone()).collect()
    }),
    ("block-device-mapping.volume-id", |i, _| i.block_devices.iter().map(|(_, id)| id.to_string()).collect()),
    ("client-token", |i, _| maybe(i.client_token.as_ref())),
    ("image-id", |i, _| one(&i.image_id)),
    ("instance-id", |i, _| one(&i.id)),
    ("instance-state-code", |i, _| one(i.state.code())),
    ("instance-state-name", |i, _| one(i.state.name())),
    ("instance-type", |i, _| one(&i.instance_type)),
    ("instance.group-id", |i, account| {
        interfaces(i, account).flat_map(|n| &n.groups).map(ToString::to_string).collect()
    }),
    ("key-name", |i, _| maybe(i.key_name.as_ref())),
    ("launch-time", |i, _| vec![moment(i.launched)]),
    ("monitoring-state", |i, _| one(if i.options.monitoring { "enabled" } else { "disabled" })),
    ("network-interface.group-id", |i, account| {
        interfaces(i, account).flat_map(|n| &n.groups).map(ToString::to_string).collect()
    }),
    ("network-interface.network-interface-id", |i, _| {
        i.network_interfaces.iter().map(ToString::to_string).collect()
    }),
    ("network-interface.subnet-id", |i, account| {
        interfaces(i, account).map(|n| n.subnet_id.to_string()).collect()
    }),
    ("owner-id", |_, account| one(&account.id)),
    ("placement-group-name", |i, _| maybe(i.placement_group.as_ref())),
    ("private-ip-address", |i, account| maybe(interfaces(i, account).next().and_then(|n| n.primary_ip()))),
    ("reservation-id", |i, _| one(&i.reservation_id)),
    ("root-device-name", |i, _| one(&i.root_device_name)),
    ("root-device-type", |_, _| one("ebs")),
    ("subnet-id", |i, _| one(&i.subnet_id)),
    ("tenancy", |i, _| vec![format!("{:?}", i.tenancy).to_lowercase()]),
    ("vpc-id", |i, _| one(&i.vpc_id)),
];

impl Action for DescribeInstances {
    const NAME: &'static str = "DescribeInstances";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = InstanceIds;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Response> {
        let account = &*call.account;
        let now = call.now;
        let described = |instance: &Instance| !is_forgotten(now, instance.terminated);
        let page = call.select_where(&account.instances, &request.instance_id, FILTERS, described)?;
        // A page may cut a reservation, as EC2's do; within a page each is there once.
        let mut reservations: BTreeMap<&str, ReservationView> = BTreeMap::new();
        for instance in &page.items {
            let view = view::instance::instance(instance, call);
            let reservation =
                reservations.entry(&instance.reservation_id).or_insert_with(|| ReservationView {
                    reservation_id: instance.reservation_id.clone(),
                    owner_id: account.id.to_string(),
                    group_set: Vec::new(),
                    instances_set: Vec::new(),
                });
            reservation.instances_set.push(view);
        }
        let reservation_set = reservations.into_values().collect();
        Ok(Response { reservation_set, next_token: page.next_token })
    }
}

fn interfaces<'a>(
    instance: &'a Instance,
    account: &'a Account,
) -> impl Iterator<Item = &'a NetworkInterface> {
    instance.network_interfaces.iter().filter_map(|id| account.network_interfaces.get(id))
}
