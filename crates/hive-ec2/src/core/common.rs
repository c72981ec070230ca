//! The parameters that mean the same on every action, taken out before the action's own are decoded.

use std::ops::RangeInclusive;

use hive_api::{ApiError, ApiResult, Params, decode};
use serde::Deserialize;

use super::filter::Filter;
use super::tags::Tags;

/// Which of them an action takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Accepts {
    pub client_token: bool,
    /// The names of the filters, where there are any.
    pub filters: Option<fn() -> Vec<&'static str>>,
    pub pages: bool,
    /// Resource types whose tags may be given on creation.
    pub tags: &'static [&'static str],
}

impl Accepts {
    pub const NONE: Accepts = Accepts { client_token: false, filters: None, pages: false, tags: &[] };

    pub const fn filters(names: fn() -> Vec<&'static str>) -> Accepts {
        Accepts { filters: Some(names), ..Accepts::NONE }
    }

    /// Filters and pages.
    pub const fn pages(filters: fn() -> Vec<&'static str>) -> Accepts {
        Accepts { pages: true, ..Accepts::filters(filters) }
    }

    pub fn names(&self) -> Vec<&'static str> {
        let optional = [
            (self.client_token, "ClientToken"),
            (self.filters.is_some(), "Filter"),
            (self.pages, "MaxResults"),
            (self.pages, "NextToken"),
            (!self.tags.is_empty(), "TagSpecification"),
        ];
        let mut names = vec!["DryRun"];
        names.extend(optional.into_iter().filter_map(|(accepted, name)| accepted.then_some(name)));
        names
    }
}

#[derive(Debug, Clone, Default)]
pub struct Common {
    pub dry_run: bool,
    pub client_token: Option<String>,
    pub filters: Vec<Filter>,
    pub max_results: Option<usize>,
    pub next_token: Option<String>,
    pub tag_specifications: Vec<(String, Tags)>,
    /// Nested parameters inside the common ones that nothing knows.
    pub unknown: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Raw {
    dry_run: bool,
    client_token: Option<String>,
    filter: Vec<Filter>,
    max_results: Option<i64>,
    next_token: Option<String>,
    tag_specification: Vec<TagSpecification>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TagSpecification {
    resource_type: String,
    #[serde(default)]
    tag: Vec<Tag>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Tag {
    pub key: String,
    #[serde(default)]
    pub value: String,
}

/// A tag that is given twice: nobody knows which of its values is meant.
pub fn duplicate_key(key: &str) -> ApiError {
    ApiError::client("InvalidParameterValue", format!("Duplicate tag key '{key}' specified."))
}

/// The answer of a dry run.
pub fn would_succeed() -> ApiError {
    ApiError::client("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
        .with_status(412)
}

impl Common {
    pub fn take(params: &mut Params, action: &str, accepts: &Accepts) -> ApiResult<Common> {
        // Some SDKs write the plural on some actions.
        params.rename("TagSpecifications", "TagSpecification")?;
        let mut pairs = Params::default();
        for name in accepts.names() {
            if let Some(node) = params.take(name) {
                pairs.put(name, node);
            }
        }
        let decoded = decode::<Raw>(&pairs)?;
        let raw = decoded.request;
        if raw.client_token.as_ref().is_some_and(|token| token.len() > 64) {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "ClientToken exceeds the limit of 64 characters",
            ));
        }
        if raw.filter.iter().map(|filter| filter.value.len()).sum::<usize>() > MOST_FILTER_VALUES {
            return Err(ApiError::client(
                "FilterLimitExceeded",
                format!(
                    "The maximum number of filter values specified on a single call is {MOST_FILTER_VALUES}"
                ),
            ));
        }
        let max_results = raw.max_results.map(|value| check_max_results(action, value)).transpose()?;
        let mut tag_specifications = Vec::new();
        for specification in raw.tag_specification {
            if !accepts.tags.contains(&specification.resource_type.as_str()) {
                return Err(ApiError::client(
                    "InvalidParameterValue",
                    format!(
                        "'{}' is not a valid taggable resource type for this operation.",
                        specification.resource_type
                    ),
                ));
            }
            if tag_specifications.iter().any(|(kind, _)| *kind == specification.resource_type) {
                return Err(ApiError::client(
                    "InvalidParameterValue",
                    format!(
                        "Duplicate resource type '{}' in TagSpecifications.",
                        specification.resource_type
                    ),
                ));
            }
            let mut tags = Tags::default();
            for tag in specification.tag {
                if tags.get(&tag.key).is_some() {
                    return Err(duplicate_key(&tag.key));
                }
                tags.set(tag.key, tag.value)?;
            }
            tag_specifications.push((specification.resource_type, tags));
        }
        Ok(Common {
            dry_run: raw.dry_run,
            client_token: raw.client_token.filter(|token| !token.is_empty()),
            filters: raw.filter,
            max_results,
            next_token: raw.next_token,
            tag_specifications,
            unknown: decoded.unknown,
        })
    }
}

/// In all filters of a request together.
const MOST_FILTER_VALUES: usize = 200;

/// The sizes of a page that EC2 takes, from botocore's model, where they are not 1 to 1000.
const PAGE_SIZES: &[(&str, RangeInclusive<i64>)] = &[
    ("DescribeDhcpOptions", 5..=1000),
    ("DescribeEgressOnlyInternetGateways", 5..=255),
    ("DescribeIamInstanceProfileAssociations", 5..=1000),
    ("DescribeInstanceCreditSpecifications", 5..=1000),
    ("DescribeInstanceTypeOfferings", 5..=1000),
    ("DescribeInstanceTypes", 5..=100),
    ("DescribeInternetGateways", 5..=1000),
    ("DescribeLaunchTemplates", 1..=200),
    ("DescribeManagedPrefixLists", 1..=100),
    ("DescribeNatGateways", 5..=1000),
    ("DescribeNetworkAcls", 5..=1000),
    ("DescribeNetworkInterfaces", 5..=1000),
    ("DescribeRouteTables", 5..=100),
    ("DescribeSecurityGroupRules", 5..=1000),
    ("DescribeSecurityGroups", 5..=1000),
    ("DescribeSubnets", 5..=1000),
    ("DescribeVpcPeeringConnections", 5..=1000),
    ("DescribeVpcs", 5..=1000),
    ("GetManagedPrefixListEntries", 1..=100),
];

fn check_max_results(action: &str, value: i64) -> ApiResult<usize> {
    let sizes = PAGE_SIZES.iter().find(|(name, _)| *name == action).map_or(&(1..=1000), |(_, sizes)| sizes);
    usize::try_from(value).ok().filter(|_| sizes.contains(&value)).ok_or_else(|| {
        let why = format!("It must be between {} and {}.", sizes.start(), sizes.end());
        ApiError::invalid_value("MaxResults", &value.to_string(), &why)
    })
}
