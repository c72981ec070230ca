//! Replaces rules in place: the ids stay.

use super::prelude::*;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::security_group::{Peer, RULE_KIND, Rule};
use crate::rules::permissions::{self, parse_ports, parse_protocol};

pub struct ModifySecurityGroupRules;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    group_id: String,
    #[serde(default)]
    security_group_rule: Vec<Update>,
}

impl Action for ModifySecurityGroupRules {
    const NAME: &'static str = "ModifySecurityGroupRules";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        if request.security_group_rule.is_empty() {
            return Err(ApiError::missing_parameter("SecurityGroupRule"));
        }
        let mut updates = Vec::new();
        for update in request.security_group_rule {
            let new = rule(update.security_group_rule, call.account)?;
            permissions::check_peer(call.account, &request.group_id, &new)?;
            updates.push((update.security_group_rule_id, new));
        }
        let group = call.account.security_groups.edit(&request.group_id)?;
        for (id, new) in updates {
            let known =
                group.rules.iter_mut().find(|known| known.id == id).ok_or_else(|| RULE_KIND.missing(&id))?;
            *known = Rule { id, egress: known.egress, tags: known.tags.clone(), ..new };
        }
        for (index, rule) in group.rules.iter().enumerate() {
            if group.rules[..index].iter().any(|other| other.same_permission(rule)) {
                return Err(ApiError::client(
                    "InvalidPermission.Duplicate",
                    format!("{} would be there twice", rule.id),
                ));
            }
        }
        Done::ok()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Update {
    security_group_rule_id: String,
    security_group_rule: NewRule,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NewRule {
    ip_protocol: String,
    from_port: Option<i32>,
    to_port: Option<i32>,
    cidr_ipv4: Option<String>,
    cidr_ipv6: Option<String>,
    prefix_list_id: Option<String>,
    referenced_group_id: Option<String>,
    description: Option<String>,
}

fn rule(new: NewRule, account: &Account) -> ApiResult<Rule> {
    permissions::check_description(new.description.as_deref())?;
    let protocol = parse_protocol(&new.ip_protocol)?;
    let peer = match (new.cidr_ipv4, new.cidr_ipv6, new.prefix_list_id, new.referenced_group_id) {
        (Some(cidr), None, None, None) => Peer::V4(Ipv4Cidr::parameter("CidrIpv4", &cidr)?),
        (None, Some(cidr), None, None) => Peer::V6(Ipv6Cidr::parameter("CidrIpv6", &cidr)?),
        (None, None, Some(id), None) => Peer::PrefixList(permissions::find_list(&id)?),
        (None, None, None, Some(id)) => Peer::Group(account.security_groups.find(&id)?.id.clone()),
        _ => {
            return Err(ApiError::invalid_combination(
                "A rule must name exactly one range, prefix list or group",
            ));
        }
    };
    Ok(Rule {
        id: String::new(),
        egress: false,
        protocol,
        ports: parse_ports(protocol, new.from_port, new.to_port)?,
        peer,
        description: new.description.filter(|text| !text.is_empty()),
        tags: Default::default(),
    })
}
