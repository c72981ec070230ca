//! Security group rules as they are asked for, added and taken away.
//!
//! Fails closed: a protocol, port or peer that is not understood is refused, never widened.

use hive_api::{ApiError, ApiResult, plain_number};
use serde::Deserialize;

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::table::Resource;
use crate::data::endpoint_services::{PREFIX_LIST_KIND, prefix_list_by_id};
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::security_group::{Peer, Protocol, Rule, SecurityGroup};
use crate::rules::peering;

/// What Authorize, Revoke and UpdateDescriptions share.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub struct PermissionsRequest {
    pub group_id: Option<String>,
    pub group_name: Option<String>,
    pub ip_permissions: Vec<IpPermission>,
    pub security_group_rule_id: Vec<String>,
    pub security_group_rule_description: Vec<RuleDescription>,
    // The old way to name one rule.
    pub ip_protocol: Option<String>,
    pub from_port: Option<i32>,
    pub to_port: Option<i32>,
    pub cidr_ip: Option<String>,
    pub source_security_group_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RuleDescription {
    pub security_group_rule_id: String,
    #[serde(default)]
    pub description: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase")]
pub struct IpPermission {
    pub ip_protocol: String,
    pub from_port: Option<i32>,
    pub to_port: Option<i32>,
    #[serde(default)]
    pub groups: Vec<GroupPair>,
    #[serde(default)]
    pub ip_ranges: Vec<IpRange>,
    #[serde(default)]
    pub ipv6_ranges: Vec<Ipv6Range>,
    #[serde(default)]
    pub prefix_list_ids: Vec<PrefixList>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub struct GroupPair {
    pub group_id: Option<String>,
    pub group_name: Option<String>,
    pub user_id: Option<String>,
    pub vpc_id: Option<String>,
    pub description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct IpRange {
    pub cidr_ip: String,
    pub description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Ipv6Range {
    pub cidr_ipv6: String,
    pub description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PrefixList {
    pub prefix_list_id: String,
    pub description: Option<String>,
}

pub fn parse_protocol(text: &str) -> ApiResult<Protocol> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "-1" | "all" => Protocol::All,
        "tcp" => Protocol::Tcp,
        "udp" => Protocol::Udp,
        "icmp" => Protocol::Icmp,
        "icmpv6" => Protocol::Icmpv6,
        // Those that have ports are never plain numbers: these allow all ports.
        other => match plain_number(other) {
            Some(6) => Protocol::Tcp,
            Some(17) => Protocol::Udp,
            Some(1) => Protocol::Icmp,
            Some(58) => Protocol::Icmpv6,
            Some(number) => Protocol::Number(number),
            None => {
                let why = "It is no known protocol name or number.";
                return Err(ApiError::invalid_value("protocol", text, why));
            }
        },
    })
}

/// -1 is every type or code; every type has every code.
pub fn check_icmp(kind: i32, code: i32) -> ApiResult<()> {
    if (-1..=255).contains(&kind) && (-1..=255).contains(&code) && !(kind == -1 && code != -1) {
        return Ok(());
    }
    Err(ApiError::client(
        "InvalidParameterValue",
        format!("ICMP type {kind} and code {code} must be between -1 and 255"),
    ))
}

pub fn parse_ports(protocol: Protocol, from: Option<i32>, to: Option<i32>) -> ApiResult<Option<(i32, i32)>> {
    let refuse = |why: &str| Err(ApiError::client("InvalidParameterValue", why.to_owned()));
    match (protocol, from, to) {
        (Protocol::All | Protocol::Number(_), _, _) => Ok(None),
        (Protocol::Tcp | Protocol::Udp, Some(from), Some(to)) => {
            if (0..=65_535).contains(&from) && (from..=65_535).contains(&to) {
                Ok(Some((from, to)))
            } else {
                refuse(&format!(
                    "Invalid port range {from}-{to}: TCP/UDP ports are 0 to 65535, the lower one first"
                ))
            }
        }
        (Protocol::Icmp | Protocol::Icmpv6, Some(from), Some(to)) => {
            check_icmp(from, to)?;
            Ok(Some((from, to)))
        }
        (Protocol::Icmp | Protocol::Icmpv6, None, None) => Ok(Some((-1, -1))),
        _ => refuse("Invalid value for portRange. Must specify both from and to ports with TCP/UDP."),
    }
}

impl PermissionsRequest {
    /// The group that is meant, by id or, in the default VPC, by name.
    pub fn group(&self, account: &Account) -> ApiResult<Id<SecurityGroup>> {
        match (&self.group_id, &self.group_name) {
            (Some(id), name) => {
                let group = account.security_groups.find(id)?;
                check_is_named(group, name.as_deref())?;
                Ok(group.id.clone())
            }
            (None, Some(name)) => find_by_name(account, name),
            (None, None) => Err(ApiError::client(
                "MissingParameter",
                "The request must contain the parameter groupName or groupId",
            )),
        }
    }

    /// Every single rule of a group that is asked for, without ids yet.
    pub fn rules(&self, account: &Account, group: &str, egress: bool) -> ApiResult<Vec<Rule>> {
        let mut rules = Vec::new();
        if self.names_one_rule() && !self.ip_permissions.is_empty() {
            return Err(ApiError::invalid_combination(
                "The parameter 'ipPermissions' may not be used in combination with 'ipProtocol'",
            ));
        }
        for permission in &self.ip_permissions {
            let peers = peers(account, group, permission)?;
            if peers.is_empty() {
                return Err(ApiError::client(
                    "InvalidParameterValue",
                    "An IP permission must name a range or a group",
                ));
            }
            push_rules(
                &mut rules,
                egress,
                &permission.ip_protocol,
                (permission.from_port, permission.to_port),
                peers,
            )?;
        }
        if self.names_one_rule() {
            let protocol =
                self.ip_protocol.as_deref().ok_or_else(|| ApiError::missing_parameter("ipProtocol"))?;
            let peer = match (&self.cidr_ip, &self.source_security_group_name) {
                (Some(cidr), None) => Peer::V4(Ipv4Cidr::parameter("CidrIp", cidr)?),
                (None, Some(name)) => Peer::Group(find_by_name(account, name)?),
                _ => return Err(ApiError::missing_parameter("CidrIp")),
            };
            push_rules(&mut rules, egress, protocol, (self.from_port, self.to_port), vec![(peer, None)])?;
        }
        Ok(rules)
    }

    /// Whether it says anything in the old way.
    fn names_one_rule(&self) -> bool {
        self.ip_protocol.is_some()
            || self.from_port.is_some()
            || self.to_port.is_some()
            || self.cidr_ip.is_some()
            || self.source_security_group_name.is_some()
    }
}

fn push_rules(
    rules: &mut Vec<Rule>,
    egress: bool,
    protocol: &str,
    ports: (Option<i32>, Option<i32>),
    peers: Vec<(Peer, Option<String>)>,
) -> ApiResult<()> {
    let protocol = parse_protocol(protocol)?;
    let ports = parse_ports(protocol, ports.0, ports.1)?;
    peers.iter().try_for_each(|(_, description)| check_description(description.as_deref()))?;
    rules.extend(peers.into_iter().map(|(peer, description)| Rule {
        id: String::new(),
        egress,
        protocol,
        ports,
        peer,
        description: description.filter(|text| !text.is_empty()),
        tags: Default::default(),
    }));
    Ok(())
}

/// What names and descriptions may consist of.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c);
    text.len() <= 255 && text.chars().all(plain)
}

/// Of a group that is made.
pub fn check_name(name: &str) -> ApiResult<()> {
    let why = if name.is_empty() || name == "default" || name.starts_with("sg-") {
        "It must not be empty, 'default' or start with sg-."
    } else if !is_plain(name) {
        "It must have at most 255 characters from the following set: a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*"
    } else {
        return Ok(());
    };
    Err(ApiError::invalid_value("groupName", name, why))
}

/// Of a group or a rule.
pub fn check_description(text: Option<&str>) -> ApiResult<()> {
    if text.is_none_or(is_plain) {
        return Ok(());
    }
    Err(ApiError::client(
        "InvalidParameterValue",
        "Invalid description. Valid descriptions are strings less than 256 characters from the following set: \
         a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*",
    ))
}

/// A group that is there, or that a rule of `group` names still: it went with the network that was peered.
fn find_peer(account: &Account, group: &str, id: &str) -> ApiResult<Id<SecurityGroup>> {
    let mut stale = account.security_groups.find(group)?.rules.iter().filter_map(|rule| match &rule.peer {
        Peer::Group(peer) if **peer == *id => Some(peer),
        _ => None,
    });
    account
        .security_groups
        .find(id)
        .map(|found| found.id.clone())
        .or_else(|missing| stale.next().cloned().ok_or(missing))
}

/// Whatever else is said of a group is true of it; what was true of one that is gone nobody knows.
fn check_pair(account: &Account, pair: &GroupPair, peer: &str) -> ApiResult<()> {
    let Some(group) = account.security_groups.get(peer) else { return Ok(()) };
    check_is_named(group, pair.group_name.as_deref())?;
    match &pair.vpc_id {
        Some(vpc) if **vpc != *group.vpc_id => Err(ApiError::invalid_combination(format!(
            "The security group '{}' is not in the network '{vpc}'",
            group.id
        ))),
        _ => Ok(()),
    }
}

/// A group that is named by its id and by its name has both.
fn check_is_named(group: &SecurityGroup, name: Option<&str>) -> ApiResult<()> {
    match name {
        Some(name) if name != group.name => Err(ApiError::invalid_combination(format!(
            "The name of the security group '{}' is not '{name}'",
            group.id
        ))),
        _ => Ok(()),
    }
}

fn peers(
    account: &Account,
    group: &str,
    permission: &IpPermission,
) -> ApiResult<Vec<(Peer, Option<String>)>> {
    let mut peers = Vec::new();
    for range in &permission.ip_ranges {
        peers.push((Peer::V4(Ipv4Cidr::parameter("cidrIp", &range.cidr_ip)?), range.description.clone()));
    }
    for range in &permission.ipv6_ranges {
        peers.push((Peer::V6(Ipv6Cidr::parameter("cidrIpv6", &range.cidr_ipv6)?), range.description.clone()));
    }
    for pair in &permission.groups {
        let peer = match (&pair.group_id, &pair.group_name) {
            (Some(id), _) => find_peer(account, group, id)?,
            (None, Some(name)) => find_by_name(account, name)?,
            (None, None) => return Err(ApiError::missing_parameter("GroupId")),
        };
        check_pair(account, pair, &peer)?;
        if pair.user_id.as_deref().is_some_and(|user| *user != *account.id) {
            return Err(SecurityGroup::KIND.not_found(&peer));
        }
        peers.push((Peer::Group(peer), pair.description.clone()));
    }
    for list in &permission.prefix_list_ids {
        peers.push((Peer::PrefixList(find_list(&list.prefix_list_id)?), list.description.clone()));
    }
    Ok(peers)
}

/// A rule names groups of its own network, and of those that are peered with it.
pub fn check_peer(account: &Account, group: &str, rule: &Rule) -> ApiResult<()> {
    let Peer::Group(peer) = &rule.peer else { return Ok(()) };
    let groups = &account.security_groups;
    let (own, other) = (&groups.find(group)?.vpc_id, &groups.find(peer)?.vpc_id);
    if own == other || peering::are_peered(account, own, other) {
        return Ok(());
    }
    Err(ApiError::client(
        SecurityGroup::KIND.not_found,
        "You have specified two resources that belong to different networks.",
    ))
}

/// The lists of services are all there are.
pub fn find_list(id: &str) -> ApiResult<String> {
    prefix_list_by_id(id).map(|list| list.id.to_owned()).ok_or_else(|| PREFIX_LIST_KIND.missing(id))
}

fn find_by_name(account: &Account, name: &str) -> ApiResult<Id<SecurityGroup>> {
    let default = account.default_vpc().map(|vpc| &vpc.id);
    let mut groups = account.security_groups.with(SecurityGroup::BY_NAME, name);
    groups.find(|group| Some(&group.vpc_id) == default).map(|group| group.id.clone()).ok_or_else(|| {
        ApiError::client("InvalidGroup.NotFound", format!("The security group '{name}' does not exist"))
    })
}

/// Adds rules; one that is there already is refused, and then none is added.
pub fn authorize(call: &mut Call<'_>, request: &PermissionsRequest, egress: bool) -> ApiResult<Vec<Rule>> {
    let group = request.group(call.account)?;
    let mut rules = request.rules(call.account, &group, egress)?;
    if rules.is_empty() {
        return Err(ApiError::missing_parameter("ipPermissions"));
    }
    let is_named_before =
        |(at, rule): (usize, &Rule)| rules.iter().take(at).any(|before| before.same_permission(rule));
    if rules.iter().enumerate().any(is_named_before) {
        let why = "The same permission must not appear multiple times";
        return Err(ApiError::client("InvalidParameterValue", why));
    }
    rules.iter().try_for_each(|rule| check_peer(call.account, &group, rule))?;
    let tags = call.tags_for("security-group-rule");
    for rule in &mut rules {
        rule.id = call.random_id("sgr");
        rule.tags = tags.clone();
    }
    let group = call.account.security_groups.edit(&group)?;
    for rule in &rules {
        if group.rules.iter().any(|known| known.same_permission(rule)) {
            return Err(ApiError::client(
                "InvalidPermission.Duplicate",
                format!("the specified rule already exists in {}", group.id),
            ));
        }
        group.rules.push(rule.clone());
    }
    Ok(rules)
}

/// Takes rules away, by id or by what they allow; one that is not there is refused, and then none is taken.
pub fn revoke(call: &mut Call<'_>, request: &PermissionsRequest, egress: bool) -> ApiResult<Vec<Rule>> {
    let group = request.group(call.account)?;
    let wanted = request.rules(call.account, &group, egress)?;
    let group = call.account.security_groups.edit(&group)?;
    let mut revoked = Vec::new();
    for id in &request.security_group_rule_id {
        let at = group.rules.iter().position(|rule| rule.id == *id && rule.egress == egress);
        let at = at.ok_or_else(|| crate::model::security_group::RULE_KIND.missing(id))?;
        revoked.push(group.rules.remove(at));
    }
    for rule in &wanted {
        let at = group.rules.iter().position(|known| known.same_permission(rule)).ok_or_else(|| {
            ApiError::client(
                "InvalidPermission.NotFound",
                "The specified rule does not exist in this security group.",
            )
        })?;
        revoked.push(group.rules.remove(at));
    }
    if revoked.is_empty() {
        return Err(ApiError::missing_parameter("ipPermissions"));
    }
    Ok(revoked)
}

/// Sets descriptions of rules that are there.
pub fn describe_rules(call: &mut Call<'_>, request: &PermissionsRequest, egress: bool) -> ApiResult<()> {
    let group = request.group(call.account)?;
    let wanted = request.rules(call.account, &group, egress)?;
    let group = call.account.security_groups.edit(&group)?;
    for description in &request.security_group_rule_description {
        let id = &description.security_group_rule_id;
        let rule = group.rules.iter_mut().find(|rule| rule.id == *id && rule.egress == egress);
        let rule = rule.ok_or_else(|| crate::model::security_group::RULE_KIND.missing(id))?;
        check_description(description.description.as_deref())?;
        rule.description = description.description.clone().filter(|text| !text.is_empty());
    }
    for rule in wanted {
        let known = group.rules.iter_mut().find(|known| known.same_permission(&rule)).ok_or_else(|| {
            ApiError::client(
                "InvalidPermission.NotFound",
                "The specified rule does not exist in this security group.",
            )
        })?;
        known.description = rule.description;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_fail_closed() {
        assert_eq!(parse_protocol("6").unwrap(), Protocol::Tcp);
        assert_eq!(parse_protocol("TCP").unwrap(), Protocol::Tcp);
        assert_eq!(parse_protocol("50").unwrap(), Protocol::Number(50));
        for unknown in
            ["", "tpc", "256", "-2", "any", "06", "006", "+6", "017", "01", "058", "-01", "050", "+50"]
        {
            assert!(parse_protocol(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn ports_are_never_widened() {
        assert!(parse_ports(Protocol::Tcp, None, None).is_err());
        assert!(parse_ports(Protocol::Tcp, Some(-1), Some(-1)).is_err());
        assert!(parse_ports(Protocol::Udp, Some(10), Some(9)).is_err());
        assert!(parse_ports(Protocol::Icmp, Some(-1), Some(3)).is_err());
        assert_eq!(parse_ports(Protocol::Tcp, Some(22), Some(22)).unwrap(), Some((22, 22)));
        assert_eq!(parse_ports(Protocol::All, Some(0), Some(0)).unwrap(), None);
    }
}
