//! Volumes and the instances they are attached to; snapshots of them.

use hive_api::{ApiError, ApiResult, plain_number};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::account::Account;
use crate::model::instance::InstanceState;
use crate::model::volume::{AttachmentState, Volume, VolumeAttachment, VolumeShape, VolumeState, VolumeType};
use crate::node::Order;
use crate::rules::images::find_snapshot_of_image;
use crate::rules::interfaces::incorrect_state;
use crate::rules::snapshots;

#[derive(Default, Clone)]
pub struct NewVolume {
    pub size: Option<u32>,
    pub volume_type: Option<VolumeType>,
    pub iops: Option<u32>,
    pub throughput: Option<u32>,
    pub encrypted: Option<bool>,
    pub kms_key_id: Option<String>,
    pub multi_attach_enabled: bool,
    pub snapshot_id: Option<String>,
    /// The snapshot is one of the image that a machine is started from.
    pub is_of_image: bool,
    pub tags: Tags,
}

pub fn create_volume(call: &mut Call<'_>, zone: &str, new: NewVolume) -> ApiResult<Id<Volume>> {
    if !call.environment.zone_names().any(|known| known == zone) {
        return Err(ApiError::client("InvalidZone.NotFound", format!("The zone '{zone}' does not exist.")));
    }
    let find =
        |id| if new.is_of_image { find_snapshot_of_image(call, id) } else { snapshots::find(call, id) };
    let snapshot = new.snapshot_id.as_deref().map(find).transpose()?;
    let snapshot = snapshot.as_deref();
    let size = new
        .size
        .or(snapshot.map(|snapshot| snapshot.volume_size))
        .ok_or_else(|| ApiError::missing_parameter("Size"))?;
    if let Some(snapshot) = snapshot.filter(|snapshot| size < snapshot.volume_size) {
        return Err(ApiError::invalid_value(
            "Size",
            &size.to_string(),
            &format!("It must not be smaller than the snapshot ({} GiB).", snapshot.volume_size),
        ));
    }
    let wanted = stay_encrypted(new.encrypted, snapshot.is_some_and(|snapshot| snapshot.encrypted))?;
    // Where encryption is the default, nobody can ask for less.
    let encrypted = wanted.unwrap_or(false) || encrypts_by_default(call.account);
    if new.kms_key_id.is_some() && !encrypted {
        return Err(ApiError::client(
            "InvalidParameterDependency",
            "The parameter KmsKeyId requires the parameter Encrypted to be set.",
        ));
    }
    let shape = complete_shape(VolumeShape {
        size,
        volume_type: new.volume_type.unwrap_or(VolumeType::Gp2),
        iops: new.iops,
        throughput: new.throughput,
        multi_attach_enabled: new.multi_attach_enabled,
    })?;
    let volume = Volume {
        id: call.new_id(),
        availability_zone: zone.to_owned(),
        size: shape.size,
        volume_type: shape.volume_type,
        iops: shape.iops,
        throughput: shape.throughput,
        encrypted,
        // What is made of something encrypted has its key, unless another is named.
        kms_key_id: encrypted.then(|| {
            let of_snapshot = snapshot.and_then(|snapshot| snapshot.kms_key_id.clone());
            new.kms_key_id.or(of_snapshot).unwrap_or_else(|| default_key(call))
        }),
        multi_attach_enabled: shape.multi_attach_enabled,
        auto_enable_io: false,
        snapshot_id: new.snapshot_id,
        state: VolumeState::Creating,
        created: call.now,
        attachments: Vec::new(),
        modification: None,
        tags: new.tags,
    };
    let id = volume.id.clone();
    call.account.volumes.insert(volume);
    call.order(Order::CreateVolume(id.clone()));
    Ok(id)
}

/// Whether a volume shall be encrypted, if anything says so: what is made of something encrypted always is.
pub fn stay_encrypted(asked: Option<bool>, origin: bool) -> ApiResult<Option<bool>> {
    match (asked, origin) {
        (Some(false), true) => Err(ApiError::invalid_combination(
            "A volume that is made of an encrypted snapshot is encrypted: the parameter Encrypted cannot be false",
        )),
        (_, true) => Ok(Some(true)),
        (asked, false) => Ok(asked),
    }
}

pub fn encrypts_by_default(account: &Account) -> bool {
    account.settings.iter().any(|settings| settings.ebs_encryption_by_default)
}

/// The account's own key for volumes, in KMS's form.
pub fn default_key(call: &Call<'_>) -> String {
    format!(
        "arn:aws:kms:{}:{}:key/00000000-0000-0000-0000-000000000000",
        call.environment.region, call.account.id
    )
}

/// What every gp3 volume does, however small.
pub const GP3_BASE: u32 = 3_000;

/// The speed of a volume between what its type can do, and not more for each GiB than the type allows.
fn check_iops(size: u32, iops: u32, (least, most): (u32, u32), ratio: u32) -> ApiResult<()> {
    let refuse = |text: String| Err(ApiError::client("InvalidParameterValue", text));
    if iops < least {
        return refuse(format!("Volume iops of {iops} is too low; minimum is {least}."));
    }
    if iops > most {
        return refuse(format!("Volume iops of {iops} is too high; maximum is {most}."));
    }
    if least == GP3_BASE && iops == GP3_BASE {
        return Ok(());
    }
    check_ratio("Iops to volume size", f64::from(iops) / f64::from(size), f64::from(ratio))
}

fn check_ratio(what: &str, ratio: f64, most: f64) -> ApiResult<()> {
    if ratio <= most {
        return Ok(());
    }
    Err(ApiError::client(
        "InvalidParameterValue",
        format!("{what} ratio of {ratio:.6} is too high; maximum is {most}"),
    ))
}

/// Fills what a type implies and refuses what it cannot have.
pub fn complete_shape(mut shape: VolumeShape) -> ApiResult<VolumeShape> {
    let refuse = |parameter: &str, value: u32, why: &str| {
        Err(ApiError::invalid_value(parameter, &value.to_string(), why))
    };
    let (smallest, largest) = match shape.volume_type {
        VolumeType::Gp2 => (1, 16_384),
        VolumeType::Gp3 => (1, 65_536),
        VolumeType::Io1 => (4, 16_384),
        VolumeType::Io2 => (4, 65_536),
        VolumeType::Sc1 | VolumeType::St1 => (125, 16_384),
        VolumeType::Standard => (1, 1_024),
    };
    if !(smallest..=largest).contains(&shape.size) {
        return refuse("Size", shape.size, &format!("It must be between {smallest} and {largest} GiB."));
    }
    match (shape.volume_type, shape.iops) {
        (VolumeType::Gp3, None) => shape.iops = Some(GP3_BASE),
        (VolumeType::Gp3, Some(iops)) => check_iops(shape.size, iops, (GP3_BASE, 80_000), 500)?,
        (VolumeType::Io1, Some(iops)) => check_iops(shape.size, iops, (100, 64_000), 50)?,
        (VolumeType::Io2, Some(iops)) => check_iops(shape.size, iops, (100, 256_000), 1_000)?,
        (VolumeType::Gp2, None) => shape.iops = Some((shape.size * 3).clamp(100, 16_000)),
        (VolumeType::Io1 | VolumeType::Io2, None) => return Err(ApiError::missing_parameter("Iops")),
        (VolumeType::Gp2 | VolumeType::Sc1 | VolumeType::St1 | VolumeType::Standard, Some(_)) => {
            return Err(ApiError::client(
                "InvalidParameterCombination",
                "The parameter iops is not supported for this volume type.",
            ));
        }
        (VolumeType::Sc1 | VolumeType::St1 | VolumeType::Standard, None) => {}
    }
    match (shape.volume_type, shape.throughput) {
        (VolumeType::Gp3, None) => shape.throughput = Some(125),
        (VolumeType::Gp3, Some(throughput)) if !(125..=2_000).contains(&throughput) => {
            return refuse("Throughput", throughput, "It must be between 125 and 2000 MiB/s.");
        }
        (VolumeType::Gp3, Some(throughput)) => check_ratio(
            "Throughput (MiBps) to iops",
            f64::from(throughput) / f64::from(shape.iops.unwrap_or(GP3_BASE)),
            0.25,
        )?,
        (_, Some(_)) => {
            return Err(ApiError::client(
                "InvalidParameterCombination",
                "The parameter throughput is only supported for gp3 volumes.",
            ));
        }
        (_, None) => {}
    }
    if shape.multi_attach_enabled && !matches!(shape.volume_type, VolumeType::Io1 | VolumeType::Io2) {
        return Err(ApiError::client(
            "InvalidParameterCombination",
            "Multi-Attach is only supported for io1 and io2 volumes.",
        ));
    }
    Ok(shape)
}

/// What is not made yet, or on its way out, cannot be worked with.
pub fn check_made(volume: &Volume) -> ApiResult<()> {
    match volume.state {
        VolumeState::Available => Ok(()),
        VolumeState::Creating | VolumeState::Deleting | VolumeState::Error => Err(ApiError::client(
            "IncorrectState",
            format!("The volume '{}' is '{}'", volume.id, volume.status()),
        )),
    }
}

pub fn attach_volume(
    call: &mut Call<'_>,
    volume: &str,
    instance: &str,
    device: &str,
    delete_on_termination: bool,
) -> ApiResult<()> {
    if !is_device_name(device) {
        return Err(ApiError::invalid_value(
            "device",
            device,
            &format!("{device} is not a valid EBS device name."),
        ));
    }
    let target = call.account.instances.find(instance)?;
    if matches!(target.state, InstanceState::ShuttingDown | InstanceState::Terminated) {
        return Err(incorrect_state(target, "given a volume"));
    }
    if target.block_devices.iter().any(|(name, _)| name == device) {
        return Err(ApiError::invalid_value("device", device, "It is already in use."));
    }
    let found = call.account.volumes.find(volume)?;
    if found.availability_zone != target.availability_zone {
        return Err(ApiError::client(
            "InvalidVolume.ZoneMismatch",
            format!("The volume '{volume}' is not in the same availability zone as instance '{instance}'"),
        ));
    }
    // One that is made with the instance is not there yet.
    if found.state != VolumeState::Creating {
        check_made(found)?;
    }
    if found
        .attachments
        .iter()
        .any(|attachment| !found.multi_attach_enabled || *attachment.instance_id == *instance)
    {
        return Err(ApiError::client("VolumeInUse", format!("{volume} is already attached to an instance")));
    }
    let (volume, instance) = (found.id.clone(), target.id.clone());
    call.account.instances.edit(&instance)?.block_devices.push((device.to_owned(), volume.clone()));
    call.account.volumes.edit(&volume)?.attachments.push(VolumeAttachment {
        instance_id: instance.clone(),
        device: device.to_owned(),
        state: AttachmentState::Attaching,
        attached: call.now,
        delete_on_termination,
    });
    call.order(Order::AttachVolume(volume, instance));
    Ok(())
}

/// Takes the attachment away on both sides.
pub fn forget_attachment(account: &mut Account, volume: &str, instance: &str) -> ApiResult<()> {
    if account.volumes.get(volume).is_some() {
        account.volumes.edit(volume)?.attachments.retain(|attachment| *attachment.instance_id != *instance);
    }
    if account.instances.get(instance).is_some() {
        account.instances.edit(instance)?.block_devices.retain(|(_, id)| **id != *volume);
    }
    Ok(())
}

/// `/dev/sdf`, `/dev/sda1`, `xvdba`: a disk's letters, and perhaps the number of a partition.
pub fn is_device_name(name: &str) -> bool {
    let name = name.strip_prefix("/dev/").unwrap_or(name);
    let kind = ["sd", "xvd", "hd"].into_iter().find_map(|kind| name.strip_prefix(kind));
    let Some(rest) = kind else { return false };
    let number = rest.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    (1..=2).contains(&(rest.len() - number.len()))
        && (number.is_empty() || plain_number::<u8>(number).is_some_and(|number| (1..=15).contains(&number)))
}
