//! A machine, as it was asked for and as it is.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one, word};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;
use jiff::Timestamp;

use crate::data::instance_types;
use crate::node::RecordsNode;

use super::network_interface::NetworkInterface;
use super::subnet::{HostnameType, Subnet};
use super::volume::Volume;
use super::vpc::{Tenancy, Vpc};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Instance {
    pub id: Id<Instance>,
    pub reservation_id: String,
    pub launch_index: u32,
    pub image_id: String,
    pub instance_type: String,
    pub key_name: Option<String>,
    pub client_token: Option<String>,
    pub launched: Timestamp,
    pub state: InstanceState,
    /// EC2's code and text for why it is in this state.
    pub state_reason: Option<(String, String)>,
    /// When its owner stopped or ended it, until it is started again.
    #[serde(default)]
    pub shut_down: Option<Timestamp>,
    pub terminated: Option<Timestamp>,
    /// It has been running before: one that cannot be started again is stopped, not gone.
    #[serde(default)]
    pub has_run: bool,
    /// A restart was asked for and is not done yet.
    #[serde(default)]
    pub rebooting: bool,
    /// Why the node could not carry out what was ordered last, until it can.
    #[serde(default)]
    pub trouble: Option<String>,
    pub availability_zone: String,
    pub placement_group: Option<String>,
    pub partition_number: Option<u32>,
    pub tenancy: Tenancy,
    pub subnet_id: Id<Subnet>,
    pub vpc_id: Id<Vpc>,
    /// In the order of their device index; the first is the primary one.
    pub network_interfaces: Vec<Id<NetworkInterface>>,
    /// Device name and volume; the attachment itself is in the volume.
    pub block_devices: Vec<(String, Id<Volume>)>,
    pub root_device_name: String,
    /// What its image says of itself: the image may go, and the instance stays as it is.
    #[serde(default = "usual_boot_mode")]
    pub boot_mode: Option<String>,
    #[serde(default = "usual_ena_support")]
    pub ena_support: bool,
    pub options: InstanceOptions,
    /// `iip-assoc-…`, while it has an instance profile.
    #[serde(default)]
    pub profile_association_id: Option<String>,
    pub tags: Tags,
}

/// Of the images there were when instances did not keep it.
fn usual_boot_mode() -> Option<String> {
    Some("uefi-preferred".to_owned())
}

fn usual_ena_support() -> bool {
    true
}

impl Listed for Instance {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["instance-id"]),
        Self::BY_VPC,
        Self::BY_SUBNET,
        Self::BY_STATE,
        Self::BY_TYPE,
        Self::BY_IMAGE,
        Self::BY_KEY,
        Self::BY_PLACEMENT_GROUP,
        Self::BY_RESERVATION,
        Self::BY_PROFILE_ASSOCIATION,
        Self::BY_VOLUME,
        Self::BY_ZONE,
        Self::BY_PROFILE,
        Field::usually("x86_64", &["architecture"], |i, each| {
            maybe(instance_types::find(&i.instance_type).map(|kind| kind.architecture), each)
        }),
        Field::new(&["block-device-mapping.device-name"], |i, each| {
            i.block_devices.iter().for_each(|(name, _)| each(name))
        }),
        Field::usually(
            "open",
            &["capacity-reservation-specification.capacity-reservation-preference"],
            |i, each| word(i.options.capacity_reservation_preference, each),
        ),
        Field::new(&["client-token"], |i, each| maybe(i.client_token.as_ref(), each)),
        Field::usually("false", &["ebs-optimized"], |i, each| one(i.options.ebs_optimized, each)),
        Field::usually("uefi-preferred", &["boot-mode"], |i, each| maybe(i.boot_mode.as_ref(), each)),
        Field::usually("uefi", &["current-instance-boot-mode"], |i, each| each(i.current_boot_mode())),
        Field::usually("true", &["ena-support"], |i, each| one(i.ena_support, each)),
        Field::usually("false", &["enclave-options.enabled"], |i, each| one(i.options.enclave, each)),
        Field::usually("false", &["hibernation-options.configured"], |i, each| {
            one(i.options.hibernation, each)
        }),
        Field::new(&["instance-state-code"], |i, each| one(i.state.code(), each)),
        Field::usually("0", &["launch-index"], |i, each| one(i.launch_index, each)),
        Field::new(&["launch-time"], |i, each| each(&moment(i.launched))),
        Field::usually("default", &["maintenance-options.auto-recovery"], |i, each| {
            word(i.options.auto_recovery, each)
        }),
        Field::usually("enabled", &["metadata-options.http-endpoint"], |i, each| {
            word(i.options.metadata.http_endpoint, each)
        }),
        Field::usually("disabled", &["metadata-options.http-protocol-ipv6"], |i, each| {
            word(i.options.metadata.http_protocol_ipv6, each)
        }),
        Field::usually("1", &["metadata-options.http-put-response-hop-limit"], |i, each| {
            one(i.options.metadata.http_put_response_hop_limit, each)
        }),
        Field::usually("optional", &["metadata-options.http-tokens"], |i, each| {
            word(i.options.metadata.http_tokens, each)
        }),
        Field::usually("disabled", &["metadata-options.instance-metadata-tags"], |i, each| {
            word(i.options.metadata.instance_metadata_tags, each)
        }),
        Field::usually("disabled", &["monitoring-state"], |i, each| {
            each(if i.options.monitoring { "enabled" } else { "disabled" })
        }),
        Field::new(&["network-interface.network-interface-id"], |i, each| {
            i.network_interfaces.iter().for_each(|value| one(value, each))
        }),
        Field::new(&["placement-partition-number"], |i, each| maybe(i.partition_number, each)),
        Field::usually(
            "false",
            &["private-dns-name-options.enable-resource-name-dns-a-record"],
            |i, each| one(i.options.resource_name_dns_a_record, each),
        ),
        Field::usually(
            "false",
            &["private-dns-name-options.enable-resource-name-dns-aaaa-record"],
            |i, each| one(i.options.resource_name_dns_aaaa_record, each),
        ),
        Field::usually("ip-name", &["private-dns-name-options.hostname-type"], |i, each| {
            word(i.options.hostname_type, each)
        }),
        Field::usually("", &["reason"], |i, each| each(&i.reason())),
        Field::new(&["root-device-name"], |i, each| each(&i.root_device_name)),
        Field::usually(RecordsNode::REASON, &["state-reason-code"], |i, each| {
            maybe(i.state_reason().map(|(code, _)| code), each)
        }),
        Field::usually(RecordsNode::NOTICE, &["state-reason-message"], |i, each| {
            maybe(i.state_reason().map(|(_, message)| message), each)
        }),
        Field::usually("default", &["tenancy"], |i, each| word(i.tenancy, each)),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl Instance {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |i, each| each(&i.vpc_id));
    pub const BY_ZONE: Field<Self> = Field::new(&["availability-zone"], |i, each| each(&i.availability_zone));
    pub const BY_PROFILE: Field<Self> = Field::new(&["iam-instance-profile.arn"], |i, each| {
        i.options.iam_instance_profile.iter().for_each(|arn| each(arn))
    });
    pub const BY_SUBNET: Field<Self> = Field::new(&["subnet-id"], |i, each| each(&i.subnet_id));
    pub const BY_STATE: Field<Self> = Field::new(&["instance-state-name"], |i, each| each(i.state.name()));
    pub const BY_TYPE: Field<Self> = Field::new(&["instance-type"], |i, each| each(&i.instance_type));
    pub const BY_IMAGE: Field<Self> = Field::new(&["image-id"], |i, each| each(&i.image_id));
    pub const BY_KEY: Field<Self> =
        Field::new(&["key-name"], |i, each| i.key_name.iter().for_each(|k| each(k)));
    pub const BY_PLACEMENT_GROUP: Field<Self> =
        Field::new(&["placement-group-name"], |i, each| i.placement_group.iter().for_each(|g| each(g)));
    pub const BY_RESERVATION: Field<Self> =
        Field::new(&["reservation-id"], |i, each| each(&i.reservation_id));
    pub const BY_PROFILE_ASSOCIATION: Field<Self> = Field::new(&["(profile association)"], |i, each| {
        i.profile_association_id.iter().for_each(|id| each(id))
    });
    pub const BY_VOLUME: Field<Self> = Field::new(&["block-device-mapping.volume-id"], |i, each| {
        i.block_devices.iter().for_each(|(_, v)| each(v))
    });
}

impl Resource for Instance {
    const KIND: Kind = Kind {
        name: "instance",
        prefix: "i",
        not_found: "InvalidInstanceID.NotFound",
        malformed: Some("InvalidInstanceID.Malformed"),
        noun: "instance ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

/// EC2's code for what is not the owner's doing.
const TROUBLE: &str = "Server.InternalError";

impl Instance {
    /// EC2's code and text for why it is in its state, or why it is still in it.
    pub fn state_reason(&self) -> Option<(&str, &str)> {
        let reason = self.state_reason.as_ref().map(|(code, message)| (code.as_str(), message.as_str()));
        self.trouble.as_deref().map(|message| (TROUBLE, message)).or(reason)
    }

    /// What went wrong, or who shut it down and when, in one text; nothing while all is well.
    pub fn reason(&self) -> String {
        match (&self.trouble, self.shut_down) {
            (Some(why), _) => format!("{TROUBLE}: {why}"),
            (None, Some(at)) => at.strftime("User initiated (%Y-%m-%d %H:%M:%S GMT)").to_string(),
            (None, None) => String::new(),
        }
    }

    /// As the image asks for it, where the machine can do so.
    pub fn current_boot_mode(&self) -> &'static str {
        let modes =
            instance_types::find(&self.instance_type).map_or(&["legacy-bios"][..], |kind| kind.boot_modes());
        match self.boot_mode.as_deref() {
            Some("uefi" | "uefi-preferred") if modes.contains(&"uefi") => "uefi",
            _ => modes.first().copied().unwrap_or("legacy-bios"),
        }
    }
}

/// The switches that can be set at launch and changed later.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InstanceOptions {
    /// As it came: base64.
    pub user_data: Option<String>,
    pub monitoring: bool,
    pub ebs_optimized: bool,
    pub disable_api_termination: bool,
    pub disable_api_stop: bool,
    pub shutdown_behavior: ShutdownBehavior,
    pub metadata: MetadataOptions,
    pub cpu_credits: Option<CpuCredits>,
    pub auto_recovery: AutoRecovery,
    pub hostname_type: HostnameType,
    pub resource_name_dns_a_record: bool,
    pub resource_name_dns_aaaa_record: bool,
    pub core_count: u32,
    pub threads_per_core: u32,
    pub hibernation: bool,
    pub enclave: bool,
    pub capacity_reservation_preference: CapacityPreference,
    /// Its ARN.
    pub iam_instance_profile: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceState {
    Pending,
    Running,
    ShuttingDown,
    Terminated,
    Stopping,
    Stopped,
}

impl InstanceState {
    pub const ALL: [InstanceState; 6] = [
        InstanceState::Pending,
        InstanceState::Running,
        InstanceState::ShuttingDown,
        InstanceState::Terminated,
        InstanceState::Stopping,
        InstanceState::Stopped,
    ];

    pub fn code(self) -> u16 {
        match self {
            InstanceState::Pending => 0,
            InstanceState::Running => 16,
            InstanceState::ShuttingDown => 32,
            InstanceState::Terminated => 48,
            InstanceState::Stopping => 64,
            InstanceState::Stopped => 80,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            InstanceState::Pending => "pending",
            InstanceState::Running => "running",
            InstanceState::ShuttingDown => "shutting-down",
            InstanceState::Terminated => "terminated",
            InstanceState::Stopping => "stopping",
            InstanceState::Stopped => "stopped",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShutdownBehavior {
    Stop,
    Terminate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CpuCredits {
    Standard,
    Unlimited,
}

/// Whether it uses a capacity reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityPreference {
    CapacityReservationsOnly,
    Open,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutoRecovery {
    Default,
    Disabled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    Enabled,
    Disabled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tokens {
    Optional,
    Required,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MetadataOptions {
    pub http_tokens: Tokens,
    pub http_put_response_hop_limit: u32,
    pub http_endpoint: Switch,
    pub http_protocol_ipv6: Switch,
    pub instance_metadata_tags: Switch,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self {
            http_tokens: Tokens::Optional,
            http_put_response_hop_limit: 1,
            http_endpoint: Switch::Enabled,
            http_protocol_ipv6: Switch::Disabled,
            instance_metadata_tags: Switch::Disabled,
        }
    }
}
