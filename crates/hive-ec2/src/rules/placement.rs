//! Placement groups: which one is meant, how many instances it has room for, and in which partition each lies.

use hive_api::{ApiError, ApiResult};

use crate::data::instance_types::InstanceType;
use crate::model::account::Account;
use crate::model::instance::{Instance, InstanceState};
use crate::model::placement_group::{PlacementGroup, SpreadLevel, Strategy};
use crate::rules::dependents;

/// As many instances of a group that is spread over racks run in one zone.
const MOST_ON_RACKS: u32 = 7;

pub fn unknown(name: &str) -> ApiError {
    ApiError::client("InvalidPlacementGroup.Unknown", format!("The Placement Group '{name}' is unknown."))
}

pub fn by_name<'a>(account: &'a Account, name: &str) -> ApiResult<&'a PlacementGroup> {
    account.placement_groups.with(PlacementGroup::BY_NAME, name).next().ok_or_else(|| unknown(name))
}

/// By name or id, whichever it is, a group that no instance is in.
pub fn delete(account: &mut Account, name: &str) -> ApiResult<()> {
    let group = account.placement_groups.get(name).map_or_else(|| by_name(account, name), Ok)?;
    // Instances know their group by its name, however the request names it.
    if !dependents::of_placement_group(account, &group.name).is_empty() {
        return Err(ApiError::client(
            "InvalidPlacementGroup.InUse",
            format!("The placement group '{name}' is in use and may not be deleted."),
        ));
    }
    let id = group.id.clone();
    account.placement_groups.remove(&id);
    Ok(())
}

/// Where a new instance shall lie: the group, and the partition if one was named.
pub fn check(account: &Account, name: Option<&str>, partition: Option<u32>) -> ApiResult<()> {
    let group = name.map(|name| by_name(account, name)).transpose()?;
    let Some(number) = partition else { return Ok(()) };
    let count = group.filter(|group| group.strategy == Strategy::Partition);
    let count = count.and_then(|group| group.partition_count).ok_or_else(|| {
        ApiError::invalid_combination("PartitionNumber needs a placement group with the strategy partition")
    })?;
    if (1..=count).contains(&number) {
        return Ok(());
    }
    let why = format!("The placement group has the partitions 1 to {count}.");
    Err(ApiError::invalid_value("PartitionNumber", &number.to_string(), &why))
}

/// Burstable types, and some others, lie in no cluster.
pub fn check_type(group: &PlacementGroup, kind: &InstanceType) -> ApiResult<()> {
    if group.strategy != Strategy::Cluster || kind.clusters {
        return Ok(());
    }
    Err(ApiError::invalid_combination(format!(
        "Cluster placement groups are not supported by the '{}' instance type. Specify a supported instance type or \
         change the placement group strategy, and try again.",
        kind.name
    )))
}

/// A cluster lies in one zone.
pub fn check_zone(account: &Account, group: &PlacementGroup, zone: &str) -> ApiResult<()> {
    if group.strategy == Strategy::Cluster && members(account, group).any(|i| i.availability_zone != zone) {
        return Err(ApiError::client(
            "InvalidPlacementGroup.InUse",
            format!("The placement group '{}' is in use in another availability zone", group.name),
        ));
    }
    Ok(())
}

/// How many more instances of the group can run in a zone; none: there is no end.
pub fn room(account: &Account, group: &PlacementGroup, zone: &str) -> Option<u32> {
    // Hosts of one's own are not counted, only the racks that everyone's lie on.
    if group.strategy != Strategy::Spread || group.spread_level == Some(SpreadLevel::Host) {
        return None;
    }
    let runs = |i: &&Instance| matches!(i.state, InstanceState::Pending | InstanceState::Running);
    let running = members(account, group).filter(runs).filter(|i| i.availability_zone == zone).count();
    Some(MOST_ON_RACKS.saturating_sub(u32::try_from(running).unwrap_or(u32::MAX)))
}

/// EC2's documentation names no code for this: it is that of hardware which is not there.
pub fn no_room(group: &PlacementGroup, zone: &str) -> ApiError {
    ApiError::client(
        "InsufficientInstanceCapacity",
        format!(
            "The spread placement group '{}' has at most {MOST_ON_RACKS} running instances in {zone}",
            group.name
        ),
    )
}

/// Whether an instance that was stopped still has room in its group.
pub fn check_start(account: &Account, instance: &Instance) -> ApiResult<()> {
    let Some(group) = instance.placement_group.as_deref().and_then(|name| by_name(account, name).ok()) else {
        return Ok(());
    };
    match room(account, group, &instance.availability_zone) {
        Some(0) => Err(no_room(group, &instance.availability_zone)),
        _ => Ok(()),
    }
}

/// The partition with the fewest instances, where nobody named one.
pub fn partition(account: &Account, group: &PlacementGroup) -> Option<u32> {
    let count = group.partition_count.filter(|_| group.strategy == Strategy::Partition)?;
    let mut instances = vec![0_u32; count as usize];
    for member in members(account, group) {
        let place = member.partition_number.and_then(|number| number.checked_sub(1));
        if let Some(known) = place.and_then(|place| instances.get_mut(place as usize)) {
            *known += 1;
        }
    }
    (1..=count).zip(instances).min_by_key(|(_, known)| *known).map(|(number, _)| number)
}

fn members<'a>(account: &'a Account, group: &PlacementGroup) -> impl Iterator<Item = &'a Instance> + use<'a> {
    let name = group.name.clone();
    let all: Vec<&Instance> = account.instances.with(Instance::BY_PLACEMENT_GROUP, &name).collect();
    all.into_iter().filter(|i| i.state != InstanceState::Terminated)
}
