//! The services that endpoints can be made for. Nothing answers behind them yet; the prefix lists of gateway
//! services are of the documentation ranges (RFC 5737), which are never routed.

use crate::core::id::Kind;
use crate::core::table::Listed;
use crate::model::vpc_endpoint::EndpointKind;

pub const PREFIX_LIST_KIND: Kind = Kind {
    name: "prefix-list",
    prefix: "pl",
    not_found: "InvalidPrefixListId.NotFound",
    malformed: Some("InvalidPrefixListId.Malformed"),
    noun: "prefix list ID",
};

/// As the actions on managed lists call the same: clients look for either.
pub const MANAGED_PREFIX_LIST_KIND: Kind =
    Kind { not_found: "InvalidPrefixListID.NotFound", ..PREFIX_LIST_KIND };

pub struct PrefixList {
    pub id: &'static str,
    pub cidr: &'static str,
}

pub struct Row {
    /// After `com.amazonaws.REGION.`
    short: &'static str,
    /// Gateway services have one.
    pub prefix_list: Option<PrefixList>,
}

const fn interface(short: &'static str) -> Row {
    Row { short, prefix_list: None }
}

const fn gateway(short: &'static str, id: &'static str, cidr: &'static str) -> Row {
    Row { short, prefix_list: Some(PrefixList { id, cidr }) }
}

/// Sorted by name.
static ROWS: &[Row] = &[
    interface("autoscaling"),
    gateway("dynamodb", "pl-00000000000000d01", "192.0.2.0/24"),
    interface("ec2"),
    interface("ec2messages"),
    interface("ecr.api"),
    interface("ecr.dkr"),
    interface("elasticloadbalancing"),
    interface("execute-api"),
    interface("kms"),
    interface("lambda"),
    interface("logs"),
    interface("monitoring"),
    gateway("s3", "pl-00000000000000501", "198.51.100.0/24"),
    interface("secretsmanager"),
    interface("sns"),
    interface("sqs"),
    interface("ssm"),
    interface("ssmmessages"),
    interface("sts"),
];

/// A service under its full name, or one of its kinds.
pub struct EndpointService {
    pub name: String,
    pub short: &'static str,
    pub kind: EndpointKind,
    pub prefix_list: Option<&'static PrefixList>,
    key: String,
}

impl Listed for EndpointService {
    fn key(&self) -> &str {
        &self.key
    }
}

/// Every service once a kind, in the order of keys.
pub fn all(region: &str) -> Vec<EndpointService> {
    let mut services = Vec::new();
    for row in ROWS {
        let name = format!("com.amazonaws.{region}.{}", row.short);
        let gateway = row.prefix_list.as_ref().map(|_| EndpointKind::Gateway);
        for kind in gateway.into_iter().chain([EndpointKind::Interface]) {
            services.push(EndpointService {
                key: format!("{name} {}", kind.name()),
                name: name.clone(),
                short: row.short,
                kind,
                prefix_list: row.prefix_list.as_ref().filter(|_| kind == EndpointKind::Gateway),
            });
        }
    }
    services.sort_by(|a, b| a.key.cmp(&b.key));
    services
}

pub fn find(region: &str, name: &str, kind: EndpointKind) -> Option<EndpointService> {
    all(region).into_iter().find(|service| service.name == name && service.kind == kind)
}

pub fn prefix_list_by_id(id: &str) -> Option<&'static PrefixList> {
    ROWS.iter().filter_map(|row| row.prefix_list.as_ref()).find(|list| list.id == id)
}

/// The addresses of a service that is reached by routes.
pub fn prefix_list(service: &str) -> Option<&'static PrefixList> {
    let short = service.strip_prefix("com.amazonaws.")?.split_once('.')?.1;
    ROWS.iter().find(|row| row.short == short)?.prefix_list.as_ref()
}
