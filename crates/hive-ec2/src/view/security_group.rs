//! Security groups two ways: rules folded into permissions, and every rule by itself.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{TagView, tags};
use crate::core::call::Call;
use crate::core::tags::Tags;
use crate::model::security_group::{Peer, Protocol, Rule, SecurityGroup};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGroupView {
    group_id: String,
    group_name: String,
    group_description: String,
    owner_id: String,
    vpc_id: String,
    security_group_arn: String,
    ip_permissions: Vec<PermissionView>,
    ip_permissions_egress: Vec<PermissionView>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionView {
    ip_protocol: String,
    from_port: Option<i32>,
    to_port: Option<i32>,
    groups: Vec<GroupView>,
    ip_ranges: Vec<RangeView>,
    ipv6_ranges: Vec<Ipv6RangeView>,
    prefix_list_ids: Vec<PrefixListView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupView {
    user_id: String,
    group_id: String,
    description: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RangeView {
    cidr_ip: String,
    description: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ipv6RangeView {
    cidr_ipv6: String,
    description: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrefixListView {
    prefix_list_id: String,
    description: Option<String>,
}

/// EC2 answers one permission for all rules of the same protocol and ports.
pub fn permissions<'a>(rules: impl Iterator<Item = &'a Rule>, owner: &str) -> Vec<PermissionView> {
    let mut folded: BTreeMap<(Protocol, Option<(i32, i32)>), PermissionView> = BTreeMap::new();
    for rule in rules {
        let view = folded.entry((rule.protocol, rule.ports)).or_insert_with(|| PermissionView {
            ip_protocol: rule.protocol.to_string(),
            from_port: rule.ports.map(|ports| ports.0),
            to_port: rule.ports.map(|ports| ports.1),
            groups: Vec::new(),
            ip_ranges: Vec::new(),
            ipv6_ranges: Vec::new(),
            prefix_list_ids: Vec::new(),
        });
        let description = rule.description.clone();
        match &rule.peer {
            Peer::V4(cidr) => view.ip_ranges.push(RangeView { cidr_ip: cidr.to_string(), description }),
            Peer::V6(cidr) => {
                view.ipv6_ranges.push(Ipv6RangeView { cidr_ipv6: cidr.to_string(), description })
            }
            Peer::Group(id) => view.groups.push(GroupView {
                user_id: owner.to_owned(),
                group_id: id.to_string(),
                description,
            }),
            Peer::PrefixList(id) => {
                view.prefix_list_ids.push(PrefixListView { prefix_list_id: id.clone(), description })
            }
        }
    }
    folded.into_values().collect()
}

pub fn security_group(group: &SecurityGroup, call: &Call<'_>) -> SecurityGroupView {
    let owner = &call.account.id;
    SecurityGroupView {
        group_id: group.id.to_string(),
        group_name: group.name.clone(),
        group_description: group.description.clone(),
        owner_id: owner.to_string(),
        vpc_id: group.vpc_id.to_string(),
        security_group_arn: call.arn(&format!("security-group/{}", group.id)),
        ip_permissions: permissions(group.rules.iter().filter(|rule| !rule.egress), owner),
        ip_permissions_egress: permissions(group.rules.iter().filter(|rule| rule.egress), owner),
        tag_set: tags(&group.tags),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleView {
    security_group_rule_id: String,
    security_group_rule_arn: String,
    group_id: String,
    group_owner_id: String,
    is_egress: bool,
    ip_protocol: String,
    from_port: i32,
    to_port: i32,
    cidr_ipv4: Option<String>,
    cidr_ipv6: Option<String>,
    prefix_list_id: Option<String>,
    referenced_group_info: Option<ReferencedGroup>,
    description: Option<String>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReferencedGroup {
    group_id: String,
    user_id: String,
}

pub fn rule(rule: &Rule, group: &str, call: &Call<'_>) -> RuleView {
    let (from_port, to_port) = rule.ports.unwrap_or((-1, -1));
    RuleView {
        security_group_rule_id: rule.id.clone(),
        security_group_rule_arn: call.arn(&format!("security-group-rule/{}", rule.id)),
        group_id: group.to_owned(),
        group_owner_id: call.account.id.to_string(),
        is_egress: rule.egress,
        ip_protocol: rule.protocol.to_string(),
        from_port,
        to_port,
        cidr_ipv4: if let Peer::V4(cidr) = rule.peer { Some(cidr.to_string()) } else { None },
        cidr_ipv6: if let Peer::V6(cidr) = rule.peer { Some(cidr.to_string()) } else { None },
        prefix_list_id: if let Peer::PrefixList(id) = &rule.peer { Some(id.clone()) } else { None },
        referenced_group_info: match &rule.peer {
            Peer::Group(id) => {
                Some(ReferencedGroup { group_id: id.to_string(), user_id: call.account.id.to_string() })
            }
            _ => None,
        },
        description: rule.description.clone(),
        tag_set: tags(&rule.tags),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevokedRuleView {
    security_group_rule_id: String,
    group_id: String,
    is_egress: bool,
    ip_protocol: String,
    from_port: i32,
    to_port: i32,
    cidr_ipv4: Option<String>,
    cidr_ipv6: Option<String>,
    prefix_list_id: Option<String>,
    referenced_group_id: Option<String>,
    description: Option<String>,
}

pub fn revoked(revoked: &Rule, group: &str, call: &Call<'_>) -> RevokedRuleView {
    let view = rule(&Rule { tags: Tags::default(), ..revoked.clone() }, group, call);
    RevokedRuleView {
        security_group_rule_id: view.security_group_rule_id,
        group_id: view.group_id,
        is_egress: view.is_egress,
        ip_protocol: view.ip_protocol,
        from_port: view.from_port,
        to_port: view.to_port,
        cidr_ipv4: view.cidr_ipv4,
        cidr_ipv6: view.cidr_ipv6,
        prefix_list_id: view.prefix_list_id,
        referenced_group_id: view.referenced_group_info.map(|group| group.group_id),
        description: view.description,
    }
}
