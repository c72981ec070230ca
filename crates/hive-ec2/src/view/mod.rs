//! The XML shapes that several actions share. Field names are the wire's: the tests hold each against
//! botocore's service model.

use serde::Serialize;

use crate::core::tags::Tags;

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
