//! Starting, stopping and ending instances: the same walk over them, each with its own next state.

use std::collections::BTreeSet;

use hive_api::{ApiError, ApiResult};
use serde::Serialize;

use crate::core::call::Call;
use crate::core::id::Id;
use crate::model::account::Account;
use crate::model::instance::{Instance, InstanceState};
use crate::node::Order;
use crate::rules::interfaces::incorrect_state;
use crate::rules::launch::{noticed, reason};
use crate::view::instance::{InstanceStateView, state};

/// What StartInstances, StopInstances and TerminateInstances answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    instances_set: Vec<ChangeView>,
}

/// An instance before and after.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeView {
    instance_id: String,
    current_state: InstanceStateView,
    previous_state: InstanceStateView,
}

/// A request that names no instance: for this EC2 has a code of its own.
pub fn some(ids: &[String]) -> ApiResult<()> {
    if ids.is_empty() {
        return Err(ApiError::client("InvalidParameterCombination", "No instances specified"));
    }
    Ok(())
}

/// Moves every instance to the state that `next` gives for it and orders what that takes; one that cannot be moved
/// refuses all.
pub fn change(
    call: &mut Call<'_>,
    ids: &[String],
    order: fn(Id<Instance>) -> Order,
    next: impl Fn(&Account, &Instance) -> ApiResult<InstanceState>,
) -> ApiResult<Changes> {
    some(ids)?;
    let mut instances_set = Vec::new();
    let mut seen = BTreeSet::new();
    for id in ids.iter().filter(|id| seen.insert(id.as_str())) {
        let found = call.account.instances.find(id)?;
        let (id, previous, current) = (found.id.clone(), found.state, next(call.account, found)?);
        if current != previous {
            let (now, notice) = (call.now, call.notice);
            let instance = call.account.instances.edit(&id)?;
            instance.state = current;
            // What is on its way down does not restart, and has a new order to fail.
            (instance.rebooting, instance.trouble) = (false, None);
            if current == InstanceState::Pending {
                instance.launched = now;
                instance.state_reason = noticed(notice);
                instance.shut_down = None;
            } else {
                instance.shut_down = Some(now);
                let why = reason("User initiated shutdown", notice);
                instance.state_reason = Some(("Client.UserInitiatedShutdown".to_owned(), why));
            }
            call.order(order(id.clone()));
        }
        instances_set.push(ChangeView {
            instance_id: id.to_string(),
            current_state: state(current),
            previous_state: state(previous),
        });
    }
    Ok(Changes { instances_set })
}

/// Orders a restart, and keeps in the record that it is wanted: what fails is ordered again until it is done.
pub fn reboot(call: &mut Call<'_>, id: Id<Instance>) -> ApiResult<()> {
    call.account.instances.edit(&id)?.rebooting = true;
    call.order(Order::RebootInstance(id));
    Ok(())
}

/// What only a stopped instance can have changed.
pub fn check_stopped(instance: &Instance) -> ApiResult<()> {
    if instance.state == InstanceState::Stopped {
        Ok(())
    } else {
        Err(incorrect_state(instance, "changed so"))
    }
}

/// A machine starts from its root.
pub fn check_root(instance: &Instance) -> ApiResult<()> {
    let root = &instance.root_device_name;
    if instance.block_devices.iter().any(|(name, _)| name == root) {
        return Ok(());
    }
    let why = format!("Instance does not have a volume attached at root ({root})");
    Err(ApiError::invalid_value("instanceId", &instance.id, &why))
}

/// One that is gone, or about to be, is not changed any more.
pub fn check_alive(instance: &Instance) -> ApiResult<()> {
    match instance.state {
        InstanceState::ShuttingDown | InstanceState::Terminated => Err(incorrect_state(instance, "changed")),
        _ => Ok(()),
    }
}

/// An instance that is still there, to be changed.
pub fn edit<'a>(account: &'a mut Account, id: &str) -> ApiResult<&'a mut Instance> {
    check_alive(account.instances.find(id)?)?;
    account.instances.edit(id)
}

/// The refusal of an instance that is protected by one of its attributes.
pub fn protected(instance: &Instance, what: &str, attribute: &str) -> ApiError {
    ApiError::client(
        "OperationNotPermitted",
        format!(
            "The instance '{}' may not be {what}. Modify its '{attribute}' instance attribute and try again.",
            instance.id
        ),
    )
}
