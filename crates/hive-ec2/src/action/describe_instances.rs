//! Lists instances, grouped by the request that launched them.

use super::prelude::*;
use std::sync::Arc;

use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;
use crate::data::images;
use crate::model::instance::Instance;
use crate::model::network_interface::NetworkInterface;
use crate::rules::lifecycle::is_forgotten;
use crate::view;
use crate::view::instance::ReservationView;

pub struct DescribeInstances;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    reservation_set: Vec<ReservationView>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<Item>] = &[
    ("architecture", |i, _| maybe(images::find(&i.instance.image_id).map(|image| image.architecture))),
    ("availability-zone", |i, _| one(&i.instance.availability_zone)),
    ("block-device-mapping.device-name", |i, _| {
        i.instance.block_devices.iter().map(|(name, _)| name.clone()).collect()
    }),
    ("block-device-mapping.volume-id", |i, _| {
        i.instance.block_devices.iter().map(|(_, id)| id.to_string()).collect()
    }),
    ("client-token", |i, _| maybe(i.instance.client_token.as_ref())),
    ("image-id", |i, _| one(&i.instance.image_id)),
    ("instance-id", |i, _| one(&i.instance.id)),
    ("instance-state-code", |i, _| one(i.instance.state.code())),
    ("instance-state-name", |i, _| one(i.instance.state.name())),
    ("instance-type", |i, _| one(&i.instance.instance_type)),
    ("instance.group-id", |i, account| {
        interfaces(i, account).flat_map(|n| &n.groups).map(ToString::to_string).collect()
    }),
    ("key-name", |i, _| maybe(i.instance.key_name.as_ref())),
    ("launch-time", |i, _| vec![moment(i.instance.launched)]),
    ("monitoring-state", |i, _| one(if i.instance.options.monitoring { "enabled" } else { "disabled" })),
    ("network-interface.group-id", |i, account| {
        interfaces(i, account).flat_map(|n| &n.groups).map(ToString::to_string).collect()
    }),
    ("network-interface.network-interface-id", |i, _| {
        i.instance.network_interfaces.iter().map(ToString::to_string).collect()
    }),
    ("network-interface.subnet-id", |i, account| {
        interfaces(i, account).map(|n| n.subnet_id.to_string()).collect()
    }),
    ("owner-id", |_, account| one(&account.id)),
    ("placement-group-name", |i, _| maybe(i.instance.placement_group.as_ref())),
    ("private-ip-address", |i, account| maybe(interfaces(i, account).next().and_then(|n| n.primary_ip()))),
    ("reservation-id", |i, _| one(&i.instance.reservation_id)),
    ("root-device-name", |i, _| one(&i.instance.root_device_name)),
    ("root-device-type", |_, _| one("ebs")),
    ("subnet-id", |i, _| one(&i.instance.subnet_id)),
    ("tenancy", |i, _| vec![format!("{:?}", i.instance.tenancy).to_lowercase()]),
    ("vpc-id", |i, _| one(&i.instance.vpc_id)),
];

impl Action for DescribeInstances {
    const NAME: &'static str = "DescribeInstances";
    const ACCEPTS: Accepts = Accepts { filters: true, pages: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        call.check_ids(&request.instance_id)?;
        let account = &*call.account;
        let mut items = Vec::new();
        if request.instance_id.is_empty() {
            items.extend(account.instances.iter_shared());
        } else {
            for id in &request.instance_id {
                items.push(account.instances.shared(id).ok_or_else(|| Instance::KIND.missing(id))?);
            }
        }
        let now = call.now;
        let mut items: Vec<Box<Item>> = items
            .into_iter()
            .filter(|instance| !is_forgotten(now, instance.terminated))
            .map(|instance| Box::new(Item::new(instance)))
            .collect();
        items.sort_by(|a, b| a.key.cmp(&b.key));
        items.dedup_by(|a, b| a.key == b.key);
        let page = call.select_from(items.into_iter(), FILTERS)?;
        let mut reservations: Vec<ReservationView> = Vec::new();
        for item in &page.items {
            let view = view::instance::instance(&item.instance, call);
            match reservations.last_mut() {
                Some(last) if last.reservation_id == item.instance.reservation_id => {
                    last.instances_set.push(view)
                }
                _ => reservations.push(ReservationView {
                    reservation_id: item.instance.reservation_id.clone(),
                    owner_id: account.id.to_string(),
                    group_set: Vec::new(),
                    instances_set: vec![view],
                }),
            }
        }
        Ok(Response { reservation_set: reservations, next_token: page.next_token })
    }
}

/// Listed by reservation first, so that a page cuts as few of them as possible.
struct Item {
    key: String,
    instance: Arc<Instance>,
}

impl Item {
    fn new(instance: Arc<Instance>) -> Self {
        Self { key: format!("{}/{}", instance.reservation_id, instance.id), instance }
    }
}

impl Listed for Item {
    fn key(&self) -> &str {
        &self.key
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.instance.tags)
    }
}

fn interfaces<'a>(item: &'a Item, account: &'a Account) -> impl Iterator<Item = &'a NetworkInterface> {
    item.instance.network_interfaces.iter().filter_map(|id| account.network_interfaces.get(id))
}
