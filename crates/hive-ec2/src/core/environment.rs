//! Where this endpoint claims to be, and what it hands out: fixed while it runs.

use eos_store::LargestBatch;
use hive_api::{ApiError, ApiResult};

use crate::model::cidr::Ipv4Cidr;
use crate::node::NodeId;
use crate::rules::limits::Limits;

#[derive(Debug, Clone)]
pub struct Environment {
    pub region: String,
    /// Letters of the zones: `a` makes `us-east-1a`.
    pub zones: Vec<char>,
    /// The node that new records belong to.
    pub node: NodeId,
    /// Where public addresses come from. The default is the benchmarking range of RFC 2544: never routed.
    pub public_addresses: Ipv4Cidr,
    pub limits: Limits,
    /// The most that the store takes in one change; None for any number.
    pub largest_change: Option<LargestBatch>,
}

impl Environment {
    pub fn new(region: impl Into<String>, node: NodeId) -> Self {
        Self {
            region: region.into(),
            zones: vec!['a', 'b', 'c'],
            node,
            public_addresses: Ipv4Cidr::new(u32::from_be_bytes([198, 18, 0, 0]), 15),
            limits: Limits::default(),
            largest_change: None,
        }
    }

    pub fn zone_names(&self) -> impl Iterator<Item = String> {
        self.zones.iter().map(|letter| format!("{}{letter}", self.region))
    }

    pub fn first_zone(&self) -> String {
        self.zone_names().next().unwrap_or_else(|| format!("{}a", self.region))
    }

    pub fn zone_by_id(&self, id: &str) -> Option<String> {
        self.zone_names().find(|zone| zone_id(zone) == id)
    }

    /// The zone that a request names, or gives the id of.
    pub fn zone(&self, name: Option<String>, id: Option<String>) -> ApiResult<Option<String>> {
        self.check_zone(name.as_deref(), id.as_deref())?;
        let unknown = |parameter, text: &str| {
            ApiError::invalid_value(parameter, text, "It is not a zone of this region.")
        };
        match (name, id) {
            (Some(name), _) if self.zone_names().any(|known| known == name) => Ok(Some(name)),
            (Some(name), _) => Err(unknown("availabilityZone", &name)),
            (None, Some(id)) => {
                self.zone_by_id(&id).map(Some).ok_or_else(|| unknown("availabilityZoneId", &id))
            }
            (None, None) => Ok(None),
        }
    }

    /// A zone that is given by its name and its id is one zone.
    pub fn check_zone(&self, name: Option<&str>, id: Option<&str>) -> ApiResult<()> {
        match (name, id) {
            (Some(name), Some(id)) if zone_id(name) != id => Err(ApiError::invalid_combination(format!(
                "The Availability Zone {name} does not have the ID {id}"
            ))),
            _ => Ok(()),
        }
    }

    pub fn arn(&self, account: &str, resource: &str) -> String {
        format!("arn:aws:ec2:{}:{account}:{resource}", self.region)
    }
}

/// `us-east-1b` is `use1-az2`: the region's initials, its number, the zone's position.
pub fn zone_id(zone: &str) -> String {
    let region = zone.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let position = zone[region.len()..].bytes().next().map_or(0, |letter| letter - b'a' + 1);
    let parts: Vec<&str> = region.split('-').collect();
    let short = match parts.as_slice() {
        [land, direction, number] => {
            format!("{land}{}{number}", direction.chars().next().unwrap_or_default())
        }
        _ => region.to_owned(),
    };
    format!("{short}-az{position}")
}
