//! Lists images: those of everyone, those of the account and those that others share with it.

use super::prelude::*;
use crate::model::image::Image;
use crate::rules::images;
use crate::view::image::{ImageView, image, owner};

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

static FILTERS: Filters<Image> = Filters::of(&[
    ("hypervisor", Same(|_| "xen".to_owned())),
    ("image-type", Same(|_| "machine".to_owned())),
    // Those of the account have no alias; the others are not in its table.
    (
        "owner-alias",
        Through(|image, account| maybe(owner(image, account).alias), |_, _| Some(Found::nothing())),
    ),
    (
        "owner-id",
        Through(
            |image, account| one(owner(image, account).id),
            |call, owner| found_if(matches(owner, &call.account.id), || None),
        ),
    ),
    ("root-device-type", Same(|_| "ebs".to_owned())),
    ("virtualization-type", Same(|_| "hvm".to_owned())),
])
.shown("DescribeImages", |found, call| shown(image(found, call.account)))
.narrowed(|call, name, pattern| match name {
    "manifest-location" => {
        found_behind(&format!("{}/", call.account.id), pattern, |name| Image::BY_NAME.found(name))
    }
    _ => None,
});

impl Action for DescribeImages {
    const NAME: &'static str = "DescribeImages";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    const WITHOUT_EFFECT: &'static [&'static str] = &["IncludeDeprecated", "IncludeDisabled"];
    type Request = Request;
    type Response = Listing<ImageView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<ImageView>> {
        let account = &*call.account;
        let listed = |image: &Image| {
            let owner = owner(image, account);
            let usable = |who: &String| match who.as_str() {
                "all" => image.public,
                "self" => image.users.contains(&*account.id),
                // Whom else an image is lent to is its owner's business.
                user if image.lender.is_some() && *user != *account.id => false,
                user => image.users.contains(user),
            };
            (request.owner.is_empty() || request.owner.iter().any(|who| owner.is(who, account)))
                && (request.executable_by.is_empty() || request.executable_by.iter().any(usable))
        };
        let others = images::of_others(call);
        let page = call.select_among(&account.images, &others, &request.image_id, &FILTERS, listed)?;
        Ok(page.listing("imagesSet", |found| image(found, account)))
    }
}
