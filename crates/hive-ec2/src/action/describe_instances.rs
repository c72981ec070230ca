//! Lists instances, grouped by the request that launched them.

use super::prelude::*;
use std::collections::BTreeMap;

use crate::core::index::Field;
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
    (
        "instance.group-id",
        Through(groups, |account, id| by_interface(account, NetworkInterface::BY_GROUP, id)),
    ),
    (
        "network-interface.group-id",
        Through(groups, |account, id| by_interface(account, NetworkInterface::BY_GROUP, id)),
    ),
    (
        "network-interface.subnet-id",
        Through(
            |i, account| interfaces(i, account).map(|n| n.subnet_id.to_string()).collect(),
            |account, id| by_interface(account, NetworkInterface::BY_SUBNET, id),
        ),
    ),
    ("owner-id", Same(|account| account.id.to_string())),
    (
        "private-ip-address",
        Through(
            |i, account| maybe(interfaces(i, account).next().and_then(|n| n.primary_ip())),
            |account, ip| by_interface(account, NetworkInterface::BY_PRIMARY_ADDRESS, ip),
        ),
    ),
    ("root-device-type", Same(|_| "ebs".to_owned())),
])
.shown("DescribeInstances", |instance, call| shown(view::instance::instance(instance, call)));

fn groups(instance: &Instance, account: &Account) -> Vec<String> {
    interfaces(instance, account).flat_map(|n| &n.groups).map(ToString::to_string).collect()
}

/// The instances whose interfaces have a value.
fn by_interface(account: &Account, field: Field<NetworkInterface>, value: &str) -> Vec<String> {
    let interfaces = account.network_interfaces.with(field, value);
    interfaces.filter_map(|n| n.attachment.as_ref()).map(|a| a.instance_id.to_string()).collect()
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
