//! Entries of network ACLs as they are asked for. Fails closed, like security group rules.

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::network_acl::AclEntry;
use crate::model::security_group::Protocol;
use crate::rules::permissions::{check_icmp, parse_protocol};

/// What CreateNetworkAclEntry and ReplaceNetworkAclEntry share.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EntryRequest {
    pub network_acl_id: String,
    rule_number: u32,
    egress: bool,
    protocol: String,
    rule_action: RuleAction,
    cidr_block: Option<String>,
    ipv6_cidr_block: Option<String>,
    port_range: Option<PortRange>,
    icmp: Option<Icmp>,
}

/// EC2 takes it in any case; these are the ones that people write.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum RuleAction {
    #[serde(alias = "Allow", alias = "ALLOW")]
    Allow,
    #[serde(alias = "Deny", alias = "DENY")]
    Deny,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PortRange {
    from: i32,
    to: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Icmp {
    #[serde(rename = "Type")]
    kind: i32,
    code: i32,
}

impl EntryRequest {
    pub fn entry(&self) -> ApiResult<AclEntry> {
        check_number(self.rule_number)?;
        // ACLs answer numbers where security groups answer names.
        let number = match parse_protocol(&self.protocol)? {
            Protocol::All => "-1".to_owned(),
            Protocol::Tcp => "6".to_owned(),
            Protocol::Udp => "17".to_owned(),
            Protocol::Icmp => "1".to_owned(),
            Protocol::Icmpv6 => "58".to_owned(),
            Protocol::Number(number) => number.to_string(),
        };
        let ports = self.port_range.as_ref().map(|range| (range.from, range.to));
        let icmp = self.icmp.as_ref().map(|icmp| (icmp.kind, icmp.code));
        if matches!(number.as_str(), "6" | "17")
            && !ports.is_some_and(|(from, to)| 0 <= from && from <= to && to <= 65_535)
        {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "TCP and UDP need a port range from 0 to 65535",
            ));
        }
        if matches!(number.as_str(), "1" | "58") {
            let (kind, code) = icmp.ok_or_else(|| ApiError::missing_parameter("Icmp.Type"))?;
            check_icmp(kind, code)?;
        }
        let cidr_block =
            self.cidr_block.as_deref().map(|text| Ipv4Cidr::parameter("cidrBlock", text)).transpose()?;
        let ipv6_cidr_block = self
            .ipv6_cidr_block
            .as_deref()
            .map(|text| Ipv6Cidr::parameter("ipv6CidrBlock", text))
            .transpose()?;
        if cidr_block.is_some() == ipv6_cidr_block.is_some() {
            return Err(ApiError::invalid_combination(
                "Exactly one of CidrBlock and Ipv6CidrBlock must be given",
            ));
        }
        Ok(AclEntry {
            rule_number: self.rule_number,
            egress: self.egress,
            ports: ports.filter(|_| matches!(number.as_str(), "6" | "17")),
            icmp: icmp.filter(|_| matches!(number.as_str(), "1" | "58")),
            protocol: number,
            allow: self.rule_action == RuleAction::Allow,
            cidr_block,
            ipv6_cidr_block,
        })
    }
}

pub fn check_number(number: u32) -> ApiResult<()> {
    if (1..=32_766).contains(&number) {
        return Ok(());
    }
    Err(ApiError::invalid_value("ruleNumber", &number.to_string(), "It must be between 1 and 32766."))
}

pub fn not_found(acl: &str) -> ApiError {
    ApiError::client("InvalidNetworkAclEntry.NotFound", format!("There is no such rule in network ACL {acl}"))
}
