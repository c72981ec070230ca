//! Lists every rule of every group by itself.

use super::prelude::*;
use crate::core::table::Listed;
use crate::core::tags::Tags;
use crate::model::security_group::{RULE_KIND, Rule, SecurityGroup};
use crate::view;
use crate::view::security_group::RuleView;

pub struct DescribeSecurityGroupRules;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    security_group_rule_id: Vec<String>,
}

static FILTERS: Filters<Item> = Filters::of(&[
    ("group-id", Of(|item, _| one(&item.group))),
    ("security-group-rule-id", Of(|item, _| one(&item.rule.id))),
]);

impl Action for DescribeSecurityGroupRules {
    const NAME: &'static str = "DescribeSecurityGroupRules";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<RuleView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<RuleView>> {
        let ids = &request.security_group_rule_id;
        let all = &call.account.security_groups;
        let named = if ids.is_empty() { call.exact_filter("security-group-rule-id") } else { Some(&ids[..]) };
        let groups: Vec<&SecurityGroup> = match (named, call.exact_filter("group-id")) {
            (None, None) => all.iter().collect(),
            (None, Some(groups)) => groups.iter().filter_map(|id| all.get(id)).collect(),
            (Some(rules), _) => rules.iter().flat_map(|id| all.with(SecurityGroup::BY_RULE, id)).collect(),
        };
        let mut items: Vec<Item> = groups
            .into_iter()
            .flat_map(|group| {
                group.rules.iter().map(|rule| Item { group: group.id.to_string(), rule: rule.clone() })
            })
            .filter(|item| ids.is_empty() || ids.contains(&item.rule.id))
            .collect();
        if let Some(missing) = ids.iter().find(|id| !items.iter().any(|item| item.rule.id == **id)) {
            return Err(RULE_KIND.missing(missing));
        }
        items.sort_by(|a, b| a.rule.id.cmp(&b.rule.id));
        items.dedup_by(|a, b| a.rule.id == b.rule.id);
        let page = call.select_from(items.into_iter().map(Box::new), &FILTERS)?;
        let view = |item: &Item| view::security_group::rule(&item.rule, &item.group, call);
        Ok(page.listing("securityGroupRuleSet", view))
    }
}

struct Item {
    group: String,
    rule: Rule,
}

impl Listed for Item {
    fn key(&self) -> &str {
        &self.rule.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.rule.tags)
    }
}
