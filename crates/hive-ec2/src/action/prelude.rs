//! What every action's file uses.

pub use hive_api::pattern::matches;
pub use hive_api::{ApiError, ApiResult};
pub use serde::{Deserialize, Serialize};

pub use crate::core::action::{Action, Done};
pub use crate::core::call::Call;
pub use crate::core::common::Accepts;
pub use crate::core::filter::FilterRow::{Of, Same, Through};
pub use crate::core::filter::{Filters, found_behind, found_if, maybe, one, shown};
pub use crate::core::index::Found;
pub use crate::core::page::Listing;
pub use crate::model::account::Account;

/// `Name.Value=…`, as attributes are set.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AttributeValue<T> {
    pub value: T,
}

/// Requests that say which instances, and nothing else.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InstanceIds {
    #[serde(default)]
    pub instance_id: Vec<String>,
}
