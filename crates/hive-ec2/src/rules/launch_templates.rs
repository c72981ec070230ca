//! Launch templates: what may be in them, which version is meant, and what they add to a launch.

use hive_api::{ApiError, ApiResult, Params, Tree, list_index, not_an_element, plain_number};
use serde::Deserialize;

use crate::core::call::Call;
use crate::core::tags::Tags;
use crate::data::parameters;
use crate::data::template_shape::{DATA, Member, Shape};
use crate::model::account::Account;
use crate::model::launch_template::{LaunchTemplate, TemplateVersion};

/// How requests name a template: by id or by name, never by both.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TemplateName {
    launch_template_id: Option<String>,
    launch_template_name: Option<String>,
}

impl TemplateName {
    pub fn new(launch_template_id: Option<String>, launch_template_name: Option<String>) -> Self {
        Self { launch_template_id, launch_template_name }
    }

    pub fn find<'a>(&self, account: &'a Account) -> ApiResult<&'a LaunchTemplate> {
        match (&self.launch_template_id, &self.launch_template_name) {
            (Some(id), None) => account.launch_templates.find(id),
            (None, Some(name)) => {
                account.launch_templates.with(LaunchTemplate::BY_NAME, name).next().ok_or_else(|| {
                    ApiError::client(
                        "InvalidLaunchTemplateName.NotFoundException",
                        format!("The specified launch template, with template name {name}, does not exist."),
                    )
                })
            }
            (None, None) => Err(ApiError::missing_parameter("LaunchTemplateId")),
            (Some(_), Some(_)) => Err(ApiError::invalid_combination(
                "Give either LaunchTemplateId or LaunchTemplateName, not both",
            )),
        }
    }
}

/// `$Default`, `$Latest` or a number.
pub fn version<'a>(template: &'a LaunchTemplate, text: &str) -> ApiResult<&'a TemplateVersion> {
    let number = match text {
        "$Default" => template.default_version,
        "$Latest" => template.versions.last().map_or(template.default_version, |version| version.number),
        text => plain_number(text).ok_or_else(|| {
            ApiError::client("InvalidLaunchTemplateVersion.Malformed", format!("'{text}' is no version"))
        })?,
    };
    template.version(number).ok_or_else(|| {
        ApiError::client(
            "InvalidLaunchTemplateId.VersionNotFound",
            format!("Could not find the specified version {number} for the launch template {}.", template.id),
        )
    })
}

/// Holds the data against the table: wrong kinds are errors, and so are names that EC2 has and that are not here; others
/// are noted.
pub fn check(data: &Tree, call: &mut Call<'_>) -> ApiResult<()> {
    if data.0.children().next().is_none() {
        return Err(ApiError::missing_parameter("LaunchTemplateData"));
    }
    let mut unknown = Vec::new();
    check_members(&data.0, DATA, DATA_NAME, &mut unknown)?;
    let mut whole = Params::default();
    whole.put(DATA_NAME, data.0.clone());
    parameters::refuse(call.action, &unknown, &whole)?;
    call.common.unknown.append(&mut unknown);
    Ok(())
}

const DATA_NAME: &str = "LaunchTemplateData";

fn check_members(node: &Params, members: &[Member], path: &str, unknown: &mut Vec<String>) -> ApiResult<()> {
    for (name, child) in node.children() {
        let path = format!("{path}.{name}");
        match members.iter().find(|member| member.name == name) {
            Some(member) => check_value(child, &member.shape, &path, unknown)?,
            None => unknown.push(path),
        }
    }
    Ok(())
}

fn check_value(node: &Params, shape: &Shape, path: &str, unknown: &mut Vec<String>) -> ApiResult<()> {
    let text = node.value().unwrap_or_default();
    let fits = match shape {
        Shape::Struct(members) => return check_members(node, members, path, unknown),
        Shape::List(element) | Shape::NamedList(_, element) => {
            for (name, child) in node.children() {
                let path = format!("{path}.{name}");
                if list_index(name).is_none() {
                    return Err(not_an_element(&path));
                }
                check_value(child, element, &path, unknown)?;
            }
            return Ok(());
        }
        Shape::Text => node.value().is_some(),
        Shape::Number => text.parse::<i64>().is_ok(),
        Shape::Decimal => text.parse::<f64>().is_ok(),
        Shape::Boolean => matches!(text, "true" | "false"),
    };
    if fits { Ok(()) } else { Err(ApiError::invalid_value(path, text, "It is not of the right kind.")) }
}

/// The parameters of a launch with those of its template below them: what the request says goes before. Tags of
/// the template go to `Call::common`, where those of requests are.
pub fn merge(request: &Params, call: &mut Call<'_>) -> ApiResult<Option<Params>> {
    let mut merged = request.clone();
    let Some(reference) = merged.take("LaunchTemplate") else { return Ok(None) };
    let text = |name: &str| reference.get(name).map(str::to_owned);
    let name = TemplateName::new(text("LaunchTemplateId"), text("LaunchTemplateName"));
    let template = name.find(call.account)?;
    let wanted = text("Version").unwrap_or_else(|| "$Default".to_owned());
    let version = version(template, &wanted)?;
    let own = [
        ("aws:ec2launchtemplate:id", template.id.to_string()),
        ("aws:ec2launchtemplate:version", version.number.to_string()),
    ];
    let mut given = Vec::new();
    for (name, child) in version.data.0.children() {
        match name {
            "TagSpecification" => given = child.elements().into_iter().cloned().collect(),
            name if parameters::of("RunInstances").all(|known| known != name) => refuse(name, child)?,
            name if !merged.has(name) => merged.put(name, child.clone()),
            _ => {}
        }
    }
    for specification in given {
        add_tags(&specification, call)?;
    }
    let position = call.common.tag_specifications.iter().position(|(kind, _)| kind == "instance");
    let at = position.unwrap_or_else(|| {
        call.common.tag_specifications.push(("instance".to_owned(), Tags::default()));
        call.common.tag_specifications.len() - 1
    });
    for (key, value) in own {
        call.common.tag_specifications[at].1.set_reserved(key, value);
    }
    Ok(Some(merged))
}

/// What a launch has no parameter for cannot be refused as one: `InstanceRequirements` is for fleets.
fn refuse(name: &str, asked: &Params) -> ApiResult<()> {
    if !parameters::says_something(asked) {
        return Ok(());
    }
    let message = format!("The launch template's {name} is not supported when instances are run");
    Err(ApiError::client("UnsupportedOperation", message))
}

/// Tags of a template, unless the request has some for the same kind of resource.
fn add_tags(specification: &Params, call: &mut Call<'_>) -> ApiResult<()> {
    let kind = specification.get("ResourceType").unwrap_or_default();
    let known = ["instance", "network-interface", "volume"].contains(&kind);
    if !known || call.common.tag_specifications.iter().any(|(given, _)| given == kind) {
        return Ok(());
    }
    let mut tags = Tags::default();
    for (name, list) in specification.children() {
        for tag in list.elements().into_iter().filter(|_| name == "Tag") {
            let text = |name: &str| tag.get(name).unwrap_or_default().to_owned();
            tags.set(text("Key"), text("Value"))?;
        }
    }
    call.common.tag_specifications.push((kind.to_owned(), tags));
    Ok(())
}
