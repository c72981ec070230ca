//! The state machines: what a node's report makes of a resource, which orders are still open, what is
//! forgotten after a while. A report for a state that has moved on since is ignored: it is old news.

use hive_api::ApiResult;

use crate::core::call::Call;
use crate::core::table::{Resource, Table};
use crate::model::account::Account;
use crate::model::image::ImageState;
use crate::model::instance::{Instance, InstanceState};
use crate::model::nat_gateway::NatGatewayState;
use crate::model::network_interface::NetworkInterface;
use crate::model::snapshot::SnapshotState;
use crate::model::volume::{AttachmentState, ModificationState, VolumeState};
use crate::model::vpc_endpoint::EndpointState;
use crate::model::vpc_peering_connection::PeeringState;
use crate::node::{NodeId, Order, Report};
use crate::rules::{addresses, devices, endpoints, images, interfaces, nat_gateways, peering};

/// How long a terminated instance is still described.
const TERMINATED_SECONDS: i64 = 3600;
/// How long an attachment that ended is still described.
const DETACHED_SECONDS: i64 = 60;

pub fn apply(call: &mut Call<'_>, report: &Report) -> ApiResult<()> {
    let failed = report.result.as_ref().err();
    // A start that failed is not waited for: the instance ends, and has a reason of its own.
    let trouble = failed.filter(|_| !matches!(report.work.order, Order::StartInstance(_)));
    note_trouble(call.account, &report.work.order, trouble)?;
    match &report.work.order {
        Order::StartInstance(id) => started(call, id, failed),
        Order::StopInstance(id) => {
            if state_of(call.account, id) == Some(InstanceState::Stopping) && failed.is_none() {
                stopped(call, id)?;
            }
            Ok(())
        }
        Order::RebootInstance(id) => {
            let waits = call.account.instances.get(id).is_some_and(|instance| instance.rebooting);
            if waits && failed.is_none() {
                call.account.instances.edit(id)?.rebooting = false;
            }
            Ok(())
        }
        Order::TerminateInstance(id) => match failed {
            None => terminated(call, id),
            Some(_) => Ok(()),
        },
        Order::CreateVolume(id) => {
            if call.account.volumes.get(id).is_some_and(|volume| volume.state == VolumeState::Creating) {
                let state = if failed.is_none() { VolumeState::Available } else { VolumeState::Error };
                call.account.volumes.edit(id)?.state = state;
            }
            Ok(())
        }
        Order::DeleteVolume(id) => {
            let deleting =
                call.account.volumes.get(id).is_some_and(|volume| volume.state == VolumeState::Deleting);
            if deleting && failed.is_none() {
                call.account.volumes.remove(id);
            }
            Ok(())
        }
        Order::AttachVolume(volume, instance) => match failed {
            None => set_attachment(call.account, volume, instance),
            Some(_) => devices::forget_attachment(call.account, volume, instance),
        },
        Order::DetachVolume(volume, instance) => {
            let detaching = call.account.volumes.get(volume).is_some_and(|found| {
                found
                    .attachments
                    .iter()
                    .any(|a| a.instance_id == *instance && a.state == AttachmentState::Detaching)
            });
            if detaching && failed.is_none() {
                devices::forget_attachment(call.account, volume, instance)?;
            }
            Ok(())
        }
        Order::ModifyVolume(id) => modified(call, id, failed.is_some()),
        Order::AttachInterface(interface, instance) => {
            interfaces::reported(call, interface, instance, AttachmentState::Attaching, failed.is_some())
        }
        Order::DetachInterface(interface, instance) => {
            interfaces::reported(call, interface, instance, AttachmentState::Detaching, failed.is_some())
        }
        Order::CreateNatGateway(id) => {
            let pending =
                call.account.nat_gateways.get(id).is_some_and(|g| g.state == NatGatewayState::Pending);
            match failed {
                _ if !pending => {}
                None => call.account.nat_gateways.edit(id)?.state = NatGatewayState::Available,
                Some(reason) => nat_gateways::failed(call, id, ("InternalError".to_owned(), reason.clone()))?,
            }
            Ok(())
        }
        Order::DeleteNatGateway(id) => match failed {
            None => nat_gateways::deleted(call, id),
            Some(_) => Ok(()),
        },
        Order::DeleteSnapshot(id) => departed(call, id, failed.is_some()),
        Order::DeleteImage(id) => departed(call, id, failed.is_some()),
        Order::CreateImage(id) => images::created(call, id, failed.is_some()),
        Order::CreateEndpoint(id) => endpoints::created(call, id, failed.is_some()),
        Order::DeleteEndpoint(id) => match failed {
            None => endpoints::deleted(call, id),
            Some(_) => Ok(()),
        },
        Order::CreatePeering(id) => peering::reported(call, id, true, failed.is_some()),
        Order::DeletePeering(id) => peering::reported(call, id, false, failed.is_some()),
        // Nothing in the records waits for it.
        Order::ApplyNetwork(_) => Ok(()),
        Order::CreateSnapshot(id) => {
            if call.account.snapshots.get(id).is_some_and(|snapshot| snapshot.state == SnapshotState::Pending)
            {
                let state = if failed.is_none() { SnapshotState::Completed } else { SnapshotState::Error };
                call.account.snapshots.edit(id)?.state = state;
            }
            Ok(())
        }
    }
}

/// The node that an order is for, as a gateway of `own` sees it.
pub fn node_of(account: &Account, order: &Order, own: &NodeId) -> NodeId {
    match order {
        Order::StartInstance(id)
        | Order::StopInstance(id)
        | Order::RebootInstance(id)
        | Order::TerminateInstance(id)
        | Order::AttachVolume(_, id)
        | Order::DetachVolume(_, id)
        | Order::AttachInterface(_, id)
        | Order::DetachInterface(_, id) => account.instances.node_of(id, own),
        Order::CreateVolume(id) | Order::DeleteVolume(id) | Order::ModifyVolume(id) => {
            account.volumes.node_of(id, own)
        }
        Order::CreateSnapshot(id) => account.snapshots.node_of(id, own),
        Order::CreateImage(id) => account.images.node_of(id, own),
        Order::DeleteSnapshot(id) => account.departed.node_of(id, own),
        Order::DeleteImage(id) => account.departed.node_of(id, own),
        Order::CreateNatGateway(id) | Order::DeleteNatGateway(id) => account.nat_gateways.node_of(id, own),
        Order::CreateEndpoint(id) | Order::DeleteEndpoint(id) => account.vpc_endpoints.node_of(id, own),
        Order::CreatePeering(id) | Order::DeletePeering(id) => {
            account.vpc_peering_connections.node_of(id, own)
        }
        // Every node has a part of it; whoever changed it, or follows the change, tells its own.
        Order::ApplyNetwork(_) => own.clone(),
    }
}

/// Whether an instance waits for what an order does to it.
fn waits(instance: &Instance, order: &Order) -> bool {
    match order {
        Order::StartInstance(_) => instance.state == InstanceState::Pending,
        Order::StopInstance(_) => instance.state == InstanceState::Stopping,
        Order::TerminateInstance(_) => instance.state == InstanceState::ShuttingDown,
        Order::RebootInstance(_) => instance.rebooting,
        _ => false,
    }
}

/// An instance that stays where it is, because an order failed and is given again, says why.
pub fn note_trouble(account: &mut Account, order: &Order, failed: Option<&String>) -> ApiResult<()> {
    let (Order::StartInstance(id)
    | Order::StopInstance(id)
    | Order::TerminateInstance(id)
    | Order::RebootInstance(id)) = order
    else {
        return Ok(());
    };
    let news = |instance: &&Instance| waits(instance, order) && instance.trouble.as_ref() != failed;
    if account.instances.get(id).filter(news).is_some() {
        account.instances.edit(id)?.trouble = failed.cloned();
    }
    Ok(())
}

fn state_of(account: &Account, id: &str) -> Option<InstanceState> {
    account.instances.get(id).map(|instance| instance.state)
}

fn started(call: &mut Call<'_>, id: &str, failed: Option<&String>) -> ApiResult<()> {
    if state_of(call.account, id) != Some(InstanceState::Pending) {
        return Ok(());
    }
    match failed {
        None => {
            let instance = call.account.instances.edit(id)?;
            instance.state = InstanceState::Running;
            instance.has_run = true;
            let interfaces = instance.network_interfaces.clone();
            interfaces.iter().try_for_each(|interface| addresses::settle(call, interface))?;
        }
        Some(reason) => {
            call.account.instances.edit(id)?.rebooting = false;
            if call.account.instances.find(id)?.has_run {
                call.account.instances.edit(id)?.state = InstanceState::Stopped;
            } else {
                terminated(call, id)?;
            }
            let reason = ("Server.InternalError".to_owned(), reason.clone());
            call.account.instances.edit(id)?.state_reason = Some(reason);
        }
    }
    Ok(())
}

/// A public address that is not elastic is given back.
fn stopped(call: &mut Call<'_>, id: &str) -> ApiResult<()> {
    let instance = call.account.instances.edit(id)?;
    instance.state = InstanceState::Stopped;
    let interfaces = instance.network_interfaces.clone();
    interfaces.iter().try_for_each(|interface| addresses::settle(call, interface))
}

/// What was made for the instance goes with it; what was only lent to it is free again.
fn terminated(call: &mut Call<'_>, id: &str) -> ApiResult<()> {
    let Some(instance) = call.account.instances.shared(id) else { return Ok(()) };
    if !matches!(instance.state, InstanceState::ShuttingDown | InstanceState::Pending) {
        return Ok(());
    }
    for (_, volume) in &instance.block_devices {
        // One that others have as well goes with the last of them.
        let goes = call.account.volumes.get(volume).is_some_and(|found| {
            found.attachments.iter().all(|a| *a.instance_id == *id && a.delete_on_termination)
        });
        devices::forget_attachment(call.account, volume, id)?;
        if goes {
            call.account.volumes.edit(volume)?.state = VolumeState::Deleting;
            call.order(Order::DeleteVolume(volume.clone()));
        }
    }
    for interface in &instance.network_interfaces {
        let attachment = call.account.network_interfaces.get(interface).and_then(|i| i.attachment.clone());
        interfaces::detach(call.account, interface, call.now)?;
        if attachment.is_some_and(|attachment| attachment.delete_on_termination) {
            interfaces::delete(call.account, interface)?;
        }
    }
    let now = call.now;
    let instance = call.account.instances.edit(id)?;
    instance.state = InstanceState::Terminated;
    instance.terminated = Some(now);
    Ok(())
}

fn departed(call: &mut Call<'_>, id: &str, failed: bool) -> ApiResult<()> {
    if !failed {
        call.account.departed.remove(id);
    }
    Ok(())
}

fn modified(call: &mut Call<'_>, id: &str, failed: bool) -> ApiResult<()> {
    if !call.account.volumes.get(id).is_some_and(|volume| volume.is_being_modified()) {
        return Ok(());
    }
    let volume = call.account.volumes.edit(id)?;
    let Some(mut change) = volume.modification.take() else { return Ok(()) };
    change.ended = Some(call.now);
    change.state = if failed { ModificationState::Failed } else { ModificationState::Completed };
    if !failed {
        volume.set_shape(change.target.clone());
    }
    volume.modification = Some(change);
    Ok(())
}

fn set_attachment(account: &mut Account, volume: &str, instance: &str) -> ApiResult<()> {
    if account.volumes.get(volume).is_none() {
        return Ok(());
    }
    let volume = account.volumes.edit(volume)?;
    for attachment in &mut volume.attachments {
        if *attachment.instance_id == *instance && attachment.state == AttachmentState::Attaching {
            attachment.state = AttachmentState::Attached;
        }
    }
    Ok(())
}

/// The orders whose reports are not in the records yet: given again until they are.
pub fn unfinished(account: &Account) -> Vec<Order> {
    let mut orders = Vec::new();
    for instance in account.instances.iter() {
        match instance.state {
            InstanceState::Pending => orders.push(Order::StartInstance(instance.id.clone())),
            InstanceState::Stopping => orders.push(Order::StopInstance(instance.id.clone())),
            InstanceState::ShuttingDown => orders.push(Order::TerminateInstance(instance.id.clone())),
            InstanceState::Running | InstanceState::Stopped | InstanceState::Terminated => {}
        }
        if instance.rebooting {
            orders.push(Order::RebootInstance(instance.id.clone()));
        }
    }
    for volume in account.volumes.iter() {
        match volume.state {
            VolumeState::Creating => orders.push(Order::CreateVolume(volume.id.clone())),
            VolumeState::Deleting => orders.push(Order::DeleteVolume(volume.id.clone())),
            VolumeState::Available | VolumeState::Error => {}
        }
        if volume.is_being_modified() {
            orders.push(Order::ModifyVolume(volume.id.clone()));
        }
        for attachment in &volume.attachments {
            let (volume, instance) = (volume.id.clone(), attachment.instance_id.clone());
            match attachment.state {
                AttachmentState::Attaching => orders.push(Order::AttachVolume(volume, instance)),
                AttachmentState::Detaching => orders.push(Order::DetachVolume(volume, instance)),
                AttachmentState::Attached => {}
            }
        }
    }
    for interface in account.network_interfaces.iter() {
        if let Some(attachment) = &interface.attachment {
            let (interface, instance) = (interface.id.clone(), attachment.instance_id.clone());
            match attachment.state {
                AttachmentState::Attaching => orders.push(Order::AttachInterface(interface, instance)),
                AttachmentState::Detaching => orders.push(Order::DetachInterface(interface, instance)),
                AttachmentState::Attached => {}
            }
        }
    }
    orders.extend(account.departed.iter().map(|departed| departed.order()));
    for gateway in account.nat_gateways.iter() {
        match gateway.state {
            NatGatewayState::Pending => orders.push(Order::CreateNatGateway(gateway.id.clone())),
            NatGatewayState::Deleting => orders.push(Order::DeleteNatGateway(gateway.id.clone())),
            NatGatewayState::Available | NatGatewayState::Deleted | NatGatewayState::Failed => {}
        }
    }
    for endpoint in account.vpc_endpoints.iter() {
        match endpoint.state {
            EndpointState::Pending => orders.push(Order::CreateEndpoint(endpoint.id.clone())),
            EndpointState::Deleting => orders.push(Order::DeleteEndpoint(endpoint.id.clone())),
            EndpointState::Available | EndpointState::Failed => {}
        }
    }
    for connection in account.vpc_peering_connections.iter() {
        match connection.state {
            PeeringState::Provisioning => orders.push(Order::CreatePeering(connection.id.clone())),
            PeeringState::Deleting => orders.push(Order::DeletePeering(connection.id.clone())),
            _ => {}
        }
    }
    let pending = account.images.iter().filter(|image| image.state == ImageState::Pending);
    orders.extend(pending.map(|image| Order::CreateImage(image.id.clone())));
    // A node that was away does not know what changed: it is told of every network.
    orders.extend(account.vpcs.iter().map(|vpc| Order::ApplyNetwork(vpc.id.clone())));
    let pending = account.snapshots.iter().filter(|snapshot| snapshot.state == SnapshotState::Pending);
    orders.extend(pending.map(|snapshot| Order::CreateSnapshot(snapshot.id.clone())));
    orders
}

/// Whether an instance is terminated for so long that nothing shows it any more.
pub fn is_forgotten(call_now: jiff::Timestamp, terminated: Option<jiff::Timestamp>) -> bool {
    terminated.is_some_and(|at| call_now.as_second() - at.as_second() > TERMINATED_SECONDS)
}

/// How many of a kind are forgotten in one change: a shared store takes some hundred records at once.
const SWEPT_AT_ONCE: usize = 100;

/// Forgets what was kept only for a while; true if there is more of it.
pub fn sweep(call: &mut Call<'_>) -> bool {
    let now = call.now;
    let account = &mut *call.account;
    let mut more = false;
    let long_ago = |at: jiff::Timestamp| now.as_second() - at.as_second() > DETACHED_SECONDS;
    let detached = |interface: &NetworkInterface| interface.detached.as_ref().is_some_and(|d| long_ago(d.1));
    for id in some(&account.network_interfaces, detached, &mut more) {
        if let Ok(interface) = account.network_interfaces.edit(&id) {
            interface.detached = None;
        }
    }
    let gone = some(&account.instances, |i| is_forgotten(now, i.terminated), &mut more);
    gone.iter().for_each(|id| drop(account.instances.remove(id)));
    let gone = some(&account.nat_gateways, |g| is_forgotten(now, g.deleted), &mut more);
    gone.iter().for_each(|id| drop(account.nat_gateways.remove(id)));
    peering::expire(account, now);
    let gone = some(&account.vpc_peering_connections, |p| p.is_forgotten(now), &mut more);
    gone.iter().for_each(|id| drop(account.vpc_peering_connections.remove(id)));
    let old = some(&account.client_tokens, |token| token.is_expired(now), &mut more);
    old.iter().for_each(|id| drop(account.client_tokens.remove(id)));
    more
}

/// The keys of those that match, as many as one change takes; `more` if there may be others.
fn some<T: Resource>(table: &Table<T>, matches: impl Fn(&T) -> bool, more: &mut bool) -> Vec<String> {
    let matching = table.iter().filter(|item| matches(item));
    let found: Vec<_> = matching.map(|item| item.key().to_owned()).take(SWEPT_AT_ONCE).collect();
    *more |= found.len() == SWEPT_AT_ONCE;
    found
}
