//! `<launchTemplate>` and `<launchTemplateVersion>`; the data is written by the table that it was checked against.

use hive_api::Params;
use serde::Serialize;
use serde::ser::{Error, SerializeSeq, SerializeStruct, Serializer};

use super::{TagView, tags};
use crate::core::text::moment;
use crate::data::template_shape::{DATA, Member, Shape};
use crate::model::account::Account;
use crate::model::launch_template::{LaunchTemplate, TemplateVersion};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchTemplateView {
    launch_template_id: String,
    launch_template_name: String,
    create_time: String,
    created_by: String,
    default_version_number: u64,
    latest_version_number: u64,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    launch_template_id: String,
    launch_template_name: String,
    version_number: u64,
    version_description: Option<String>,
    create_time: String,
    created_by: String,
    default_version: bool,
    launch_template_data: DataView,
}

fn created_by(account: &Account) -> String {
    format!("arn:aws:iam::{}:root", account.id)
}

pub fn launch_template(template: &LaunchTemplate, account: &Account) -> LaunchTemplateView {
    LaunchTemplateView {
        launch_template_id: template.id.to_string(),
        launch_template_name: template.name.clone(),
        create_time: moment(template.created),
        created_by: created_by(account),
        default_version_number: template.default_version,
        latest_version_number: template.latest_version,
        tag_set: tags(&template.tags),
    }
}

pub fn version(template: &LaunchTemplate, version: &TemplateVersion, account: &Account) -> VersionView {
    VersionView {
        launch_template_id: template.id.to_string(),
        launch_template_name: template.name.clone(),
        version_number: version.number,
        version_description: version.description.clone(),
        create_time: moment(version.created),
        created_by: created_by(account),
        default_version: version.number == template.default_version,
        launch_template_data: DataView(version.data.0.clone()),
    }
}

pub struct DataView(Params);

impl Serialize for DataView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Members { node: &self.0, members: DATA }.serialize(serializer)
    }
}

struct Members<'a> {
    node: &'a Params,
    members: &'static [Member],
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("", self.members.len())?;
        for (name, node) in self.node.children() {
            if let Some(member) = self.members.iter().find(|member| member.name == name) {
                out.serialize_field(member.wire, &Value { node, shape: &member.shape })?;
            }
        }
        out.end()
    }
}

struct Value<'a> {
    node: &'a Params,
    shape: &'static Shape,
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.shape {
            Shape::Struct(members) => Members { node: self.node, members }.serialize(serializer),
            Shape::List(shape) => {
                let elements = self.node.elements();
                let mut out = serializer.serialize_seq(Some(elements.len()))?;
                for node in elements {
                    out.serialize_element(&Value { node, shape })?;
                }
                out.end()
            }
            Shape::NamedList(name, shape) => {
                let elements = self.node.elements();
                let mut out = serializer.serialize_struct("", elements.len())?;
                for node in elements {
                    out.serialize_field(name, &Value { node, shape })?;
                }
                out.end()
            }
            _ => {
                let text = self.node.value().ok_or_else(|| S::Error::custom("a leaf without a value"))?;
                serializer.serialize_str(text)
            }
        }
    }
}
