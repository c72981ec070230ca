//! Lists instances, grouped by the request that launched them.

use super::prelude::*;
use super::{describe_network_interfaces, describe_volumes};
use std::collections::BTreeMap;

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

static FILTERS: Filters<Instance> = Filters::of(&[
    ("instance.group-id", Through(groups, |call, id| by_interface(call, "group-id", id))),
    (
        "network-interface.attachment.instance-id",
        Through(
            |i, account| interfaces(i, account).map(|_| i.id.to_string()).collect(),
            |call, id| by_interface(call, "attachment.instance-id", id),
        ),
    ),
    (
        "network-interface.availability-zone",
        Through(
            |i, account| interfaces(i, account).map(|n| n.availability_zone.clone()).collect(),
            |call, zone| by_interface(call, "availability-zone", zone),
        ),
    ),
    ("network-interface.group-id", Through(groups, |call, id| by_interface(call, "group-id", id))),
    (
        "network-interface.subnet-id",
        Through(
            |i, account| interfaces(i, account).map(|n| n.subnet_id.to_string()).collect(),
            |call, id| by_interface(call, "subnet-id", id),
        ),
    ),
    ("owner-id", Same(|account| account.id.to_string())),
    (
        "private-ip-address",
        Through(
            |i, account| maybe(interfaces(i, account).next().and_then(|n| n.primary_ip())),
            |call, ip| by_interface(call, "private-ip-address", ip),
        ),
    ),
    ("root-device-type", Same(|_| "ebs".to_owned())),
])
.shown("DescribeInstances", |instance, call| shown(view::instance::instance(instance, call)))
.narrowed(narrow);

/// Instances can be found by what their interfaces and volumes are.
fn narrow(call: &Call<'_>, name: &str, pattern: &str) -> Option<Found> {
    if let Some(name) = name.strip_prefix("network-interface.") {
        return by_interface(call, name, pattern);
    }
    if let Some(name) = name.strip_prefix("block-device-mapping.") {
        let filter = (format!("attachment.{name}"), pattern);
        let volumes = &call.account.volumes;
        return call.found_through(volumes, &describe_volumes::FILTERS, (&filter.0, filter.1), |volume| {
            Found::keys(volume.attachments.iter().map(|attachment| attachment.instance_id.to_string()))
        });
    }
    match name {
        // An instance that has no name shows an empty one.
        "dns-name" | "private-dns-name" if pattern.is_empty() => None,
        "availability-zone-id" => call.found_in_zone(Instance::BY_ZONE, pattern),
        "dns-name" => by_interface(call, "association.public-dns-name", pattern),
        "iam-instance-profile.id" => Some(Instance::BY_PROFILE.all()),
        "instance.group-name" => by_interface(call, "group-name", pattern),
        "ip-address" => by_interface(call, "association.public-ip", pattern),
        // Made of its address, or of its id.
        "private-dns-name" => {
            let by_id = found_behind("i-", pattern, |rest| {
                let id = rest.split('.').next().unwrap_or_default();
                call.account.instances.keys_like(&format!("i-{id}"))
            });
            Some(by_interface(call, "private-dns-name", pattern)?.or(by_id?))
        }
        "source-dest-check" => by_interface(call, name, pattern),
        _ => None,
    }
}

fn groups(instance: &Instance, account: &Account) -> Vec<String> {
    interfaces(instance, account).flat_map(|n| &n.groups).map(ToString::to_string).collect()
}

/// The instances whose interfaces can match a filter.
fn by_interface(call: &Call<'_>, name: &str, pattern: &str) -> Option<Found> {
    let interfaces = &call.account.network_interfaces;
    call.found_through(interfaces, &describe_network_interfaces::FILTERS, (name, pattern), |interface| {
        Found::keys(interface.attachment.iter().map(|attachment| attachment.instance_id.to_string()))
    })
}

impl Action for DescribeInstances {
    const NAME: &'static str = "DescribeInstances";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = InstanceIds;
    type Response = Response;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Response> {
        let account = &*call.account;
        let now = call.now;
        let described = |instance: &Instance| !is_forgotten(now, instance.terminated);
        let page = call.select_where(&account.instances, &request.instance_id, &FILTERS, described)?;
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
