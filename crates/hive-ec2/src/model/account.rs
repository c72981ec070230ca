//! One account's resources. An action is given exactly one account, so no account can reach another's.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use hive_api::{ApiError, ApiResult};
use serde::{Deserialize, Serialize, Serializer};

use super::address::Address;
use super::departed::Departed;
use super::dhcp_options::DhcpOptions;
use super::egress_only_internet_gateway::EgressOnlyInternetGateway;
use super::image::Image;
use super::instance::Instance;
use super::internet_gateway::InternetGateway;
use super::key_pair::KeyPair;
use super::launch_template::LaunchTemplate;
use super::nat_gateway::NatGateway;
use super::network_acl::NetworkAcl;
use super::network_interface::NetworkInterface;
use super::placement_group::PlacementGroup;
use super::route_table::RouteTable;
use super::security_group::{RULE_KIND, SecurityGroup};
use super::settings::Settings;
use super::snapshot::Snapshot;
use super::subnet::Subnet;
use super::volume::Volume;
use super::vpc::Vpc;
use super::vpc_endpoint::VpcEndpoint;
use super::vpc_peering_connection::VpcPeeringConnection;
use crate::core::client_token::ClientToken;
use crate::core::id::Id;
use crate::core::index::found_by_tag;
use crate::core::table::{Changed, Listed, Resource, Stored, Table};
use crate::core::tags::Tags;
use crate::node::NodeId;

/// Twelve digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "String")]
pub struct AccountId(Arc<str>);

impl AccountId {
    pub fn new(digits: impl Into<Arc<str>>) -> Self {
        AccountId(digits.into())
    }
}

impl From<String> for AccountId {
    fn from(digits: String) -> Self {
        Self::new(digits)
    }
}

impl Serialize for AccountId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl Deref for AccountId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A copy costs nothing: the tables are shared until one of the copies changes them.
#[derive(Clone)]
pub struct Account {
    pub id: AccountId,
    tables: Arc<Tables>,
}

impl Deref for Account {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl DerefMut for Account {
    fn deref_mut(&mut self) -> &mut Tables {
        Arc::make_mut(&mut self.tables)
    }
}

macro_rules! tables {
    ($($field:ident: $type:ty),* $(,)?) => {
        #[derive(Clone, Default)]
        pub struct Tables {
            $(pub $field: Table<$type>,)*
        }

        impl Account {
            pub fn new(id: AccountId) -> Self {
                Self { id, tables: Arc::default() }
            }

            /// A stored record into its table; false if nothing here knows the kind.
            pub fn load(&mut self, kind: &str, stored: Stored<'_>, value: &str) -> Result<bool, serde_json::Error> {
                $(if kind == <$type as Resource>::KIND.name {
                    self.$field.load(stored, serde_json::from_str(value)?);
                    return Ok(true);
                })*
                Ok(false)
            }

            /// A record that the store no longer has.
            pub fn unload(&mut self, kind: &str, id: &str) {
                $(if kind == <$type as Resource>::KIND.name {
                    self.$field.unload(id);
                })*
            }

            /// How many records this copy has changed.
            pub fn changed(&self) -> usize {
                let mut count = 0;
                $(count += self.$field.touched().count();)*
                count
            }

            /// What changed since the last call, for the store.
            pub fn take_changes(&mut self, own: &NodeId) -> Result<Vec<Changed>, serde_json::Error> {
                let mut changes = Vec::new();
                $(self.$field.take_changes(own, &mut changes)?;)*
                for change in &changes {
                    if change.kind == ClientToken::KIND.name && change.value.is_some() {
                        self.client_tokens.forget_part(&change.key, ClientToken::without_answer);
                    }
                }
                Ok(changes)
            }

            /// Calls `each` with kind and key of everything there is.
            pub fn each_key(&self, mut each: impl FnMut(&'static str, &str)) {
                $(for item in self.$field.iter() {
                    each(<$type as Resource>::KIND.name, item.key());
                })*
            }

            /// Calls `each` with kind, key and tags of everything of some kinds that has tags and can match a filter on them.
            pub fn each_tagged(
                &self,
                kinds: impl Fn(&str) -> bool,
                filter: Option<(&str, &[String])>,
                mut each: impl FnMut(&'static str, &str, &Tags),
            ) {
                $(if kinds(<$type as Resource>::KIND.name) {
                    let found = filter.and_then(|(name, values)| values.iter().map(|value| found_by_tag(name, value)).collect());
                    for item in self.$field.narrowed(found) {
                        if let Some(tags) = item.tags().filter(|tags| !tags.is_empty()) {
                            each(<$type as Resource>::KIND.name, item.key(), tags);
                        }
                    }
                })*
                if kinds(RULE_KIND.name) {
                    let rules = self.security_groups.iter().flat_map(|group| &group.rules);
                    rules.filter(|rule| !rule.tags.is_empty()).for_each(|rule| each(RULE_KIND.name, &rule.id, &rule.tags));
                }
            }

            /// Kind and tags of whatever has this id.
            pub fn tags_of(&self, id: &str) -> Option<(&'static str, &Tags)> {
                $(if let Some(tags) = self.$field.get(id).and_then(|item| item.tags()) {
                    return Some((<$type as Resource>::KIND.name, tags));
                })*
                let mut rules = self.security_groups.with(SecurityGroup::BY_RULE, id).flat_map(|group| &group.rules);
                rules.find(|rule| rule.id == id).map(|rule| (RULE_KIND.name, &rule.tags))
            }

            /// The tags of whatever has this id, to be changed.
            pub fn tags_mut(&mut self, id: &str) -> ApiResult<&mut Tags> {
                $(if self.$field.get(id).is_some_and(|item| item.tags().is_some()) {
                    if let Some(tags) = self.$field.edit(id)?.tags_mut() {
                        return Ok(tags);
                    }
                    return Err(ApiError::client("InvalidID", format!("The ID '{id}' is not valid")));
                })*
                if let Some(group) = self.group_of_rule(id) {
                    let rules = &mut self.security_groups.edit(&group)?.rules;
                    if let Some(rule) = rules.iter_mut().find(|rule| rule.id == id) {
                        return Ok(&mut rule.tags);
                    }
                }
                $(if <$type as Resource>::KIND.is_well_formed(id) {
                    return Err(<$type as Resource>::KIND.not_found(id));
                })*
                if RULE_KIND.is_well_formed(id) {
                    return Err(RULE_KIND.not_found(id));
                }
                Err(ApiError::client("InvalidID", format!("The ID '{id}' is not valid")))
            }
        }
    };
}

impl Account {
    fn group_of_rule(&self, rule: &str) -> Option<Id<SecurityGroup>> {
        self.security_groups.with(SecurityGroup::BY_RULE, rule).next().map(|group| group.id.clone())
    }

    pub fn default_vpc(&self) -> Option<&Vpc> {
        self.vpcs.with(Vpc::BY_DEFAULT, "true").next()
    }
}

tables! {
    addresses: Address,
    client_tokens: ClientToken,
    departed: Departed,
    dhcp_options: DhcpOptions,
    egress_only_internet_gateways: EgressOnlyInternetGateway,
    images: Image,
    instances: Instance,
    internet_gateways: InternetGateway,
    key_pairs: KeyPair,
    launch_templates: LaunchTemplate,
    nat_gateways: NatGateway,
    network_acls: NetworkAcl,
    network_interfaces: NetworkInterface,
    placement_groups: PlacementGroup,
    route_tables: RouteTable,
    security_groups: SecurityGroup,
    settings: Settings,
    snapshots: Snapshot,
    subnets: Subnet,
    volumes: Volume,
    vpc_endpoints: VpcEndpoint,
    vpc_peering_connections: VpcPeeringConnection,
    vpcs: Vpc,
}
