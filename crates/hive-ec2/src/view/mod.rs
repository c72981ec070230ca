//! The XML shapes that several actions share. Field names are the wire's: the tests hold each against
//! botocore's service model.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::core::tags::Tags;
use crate::data::images::Owner;
use crate::model::account::Account;

pub mod address;
pub mod image;
pub mod instance;
pub mod launch_template;
pub mod network_interface;
pub mod route_table;
pub mod security_group;
pub mod subnet;
pub mod volume;
pub mod vpc;
pub mod vpc_endpoint;
pub mod vpc_peering_connection;

#[derive(Serialize)]
pub struct TagView {
    key: String,
    value: String,
}

pub fn tags(tags: &Tags) -> Vec<TagView> {
    tags.iter().map(|(key, value)| TagView { key: key.to_owned(), value: value.to_owned() }).collect()
}

/// `<name><value>…</value></name>`, as attributes are answered.
#[derive(Serialize)]
pub struct AttributeValue<T> {
    pub value: T,
}

impl<T> AttributeValue<T> {
    pub fn some(value: T) -> Option<Self> {
        Some(Self { value })
    }
}

#[derive(Serialize)]
pub struct StateView {
    pub state: &'static str,
}

/// Who may use something beside its owner.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionView {
    user_id: Option<String>,
    group: Option<&'static str>,
}

pub fn permissions(public: bool, users: &BTreeSet<String>) -> Vec<PermissionView> {
    let all = public.then_some(PermissionView { user_id: None, group: Some("all") });
    let users = users.iter().map(|user| PermissionView { user_id: Some(user.clone()), group: None });
    all.into_iter().chain(users).collect()
}

/// Nothing here is sold.
#[derive(Serialize)]
pub enum NoProductCode {}

/// Whose something is: a publisher's that everyone sees, or the account's own.
pub struct OwnerView {
    pub id: String,
    pub alias: Option<&'static str>,
}

impl OwnerView {
    fn new(publisher: Option<Owner>, account: &Account) -> OwnerView {
        match publisher {
            Some((id, alias)) => OwnerView { id: id.to_owned(), alias },
            None => OwnerView { id: account.id.to_string(), alias: None },
        }
    }

    /// Whether an account, a publisher's other name or `self` means this owner.
    pub fn is(&self, who: &str, account: &Account) -> bool {
        who == self.id || Some(who) == self.alias || (who == "self" && self.id == *account.id)
    }
}
