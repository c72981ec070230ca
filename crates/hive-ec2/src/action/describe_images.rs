//! Lists images.

use super::prelude::*;
use crate::core::id::Kind;
use crate::data::images::{self, Image};

pub struct DescribeImages;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    image_id: Vec<String>,
    #[serde(default)]
    owner: Vec<String>,
    #[serde(default)]
    executable_by: Vec<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    include_deprecated: bool,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    include_disabled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    images_set: Vec<ImageView>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<Image>] = &[
    ("architecture", |image, _| one(image.architecture)),
    ("block-device-mapping.volume-type", |_, _| one("gp2")),
    ("creation-date", |_, _| one(images::CREATED)),
    ("description", |image, _| one(image.description)),
    ("ena-support", |_, _| one(true)),
    ("hypervisor", |_, _| one("xen")),
    ("image-id", |image, _| one(image.id)),
    ("image-type", |_, _| one("machine")),
    ("is-public", |_, _| one(true)),
    ("name", |image, _| one(image.name)),
    ("owner-alias", |_, _| one(images::OWNER_ALIAS)),
    ("owner-id", |_, _| one(images::OWNER_ID)),
    ("root-device-name", |image, _| one(image.root_device_name)),
    ("root-device-type", |_, _| one("ebs")),
    ("state", |_, _| one("available")),
    ("virtualization-type", |_, _| one("hvm")),
];

impl Action for DescribeImages {
    const NAME: &'static str = "DescribeImages";
    const ACCEPTS: Accepts = Accepts { filters: true, pages: true, ..Accepts::NONE };
    const WITHOUT_EFFECT: &'static [&'static str] = &["IncludeDeprecated", "IncludeDisabled"];
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        for id in &request.image_id {
            if images::find(id).is_none() {
                return Err(IMAGE_KIND.missing(id));
            }
        }
        let owned = |owner: &String| [images::OWNER_ALIAS, images::OWNER_ID].contains(&owner.as_str());
        let listed = images::ALL.iter().filter(|image| {
            (request.image_id.is_empty() || request.image_id.iter().any(|id| id == image.id))
                && (request.owner.is_empty() || request.owner.iter().any(owned))
                && (request.executable_by.is_empty() || request.executable_by.iter().any(|who| who == "all"))
        });
        let page = call.select_from(listed, FILTERS)?;
        Ok(Response {
            images_set: page.items.iter().map(|image| view(image)).collect(),
            next_token: page.next_token,
        })
    }
}

pub const IMAGE_KIND: Kind = Kind {
    name: "image",
    prefix: "ami",
    not_found: "InvalidAMIID.NotFound",
    malformed: "InvalidAMIID.Malformed",
    noun: "image id",
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageView {
    image_id: &'static str,
    image_location: String,
    image_state: &'static str,
    image_owner_id: &'static str,
    image_owner_alias: &'static str,
    creation_date: &'static str,
    is_public: bool,
    architecture: &'static str,
    image_type: &'static str,
    name: &'static str,
    description: &'static str,
    root_device_type: &'static str,
    root_device_name: &'static str,
    block_device_mapping: Vec<DeviceView>,
    virtualization_type: &'static str,
    hypervisor: &'static str,
    ena_support: bool,
    platform_details: &'static str,
    usage_operation: &'static str,
    boot_mode: &'static str,
    tag_set: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeviceView {
    device_name: &'static str,
    ebs: EbsView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EbsView {
    volume_size: u32,
    volume_type: &'static str,
    delete_on_termination: bool,
    encrypted: bool,
}

fn view(image: &Image) -> ImageView {
    let ebs = EbsView {
        volume_size: image.root_size,
        volume_type: "gp2",
        delete_on_termination: true,
        encrypted: false,
    };
    ImageView {
        image_id: image.id,
        image_location: format!("{}/{}", images::OWNER_ALIAS, image.name),
        image_state: "available",
        image_owner_id: images::OWNER_ID,
        image_owner_alias: images::OWNER_ALIAS,
        creation_date: images::CREATED,
        is_public: true,
        architecture: image.architecture,
        image_type: "machine",
        name: image.name,
        description: image.description,
        root_device_type: "ebs",
        root_device_name: image.root_device_name,
        block_device_mapping: vec![DeviceView { device_name: image.root_device_name, ebs }],
        virtualization_type: "hvm",
        hypervisor: "xen",
        ena_support: true,
        platform_details: "Linux/UNIX",
        usage_operation: "RunInstances",
        boot_mode: "uefi-preferred",
        tag_set: Vec::new(),
    }
}
