//! One attribute of a volume.

use super::prelude::*;
use crate::view::{AttributeValue as Value, NoProductCode};

pub struct DescribeVolumeAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
    attribute: Attribute,
}

#[derive(Deserialize)]
enum Attribute {
    #[serde(rename = "autoEnableIO")]
    AutoEnableIo,
    #[serde(rename = "productCodes")]
    ProductCodes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    volume_id: String,
    #[serde(rename = "autoEnableIO")]
    auto_enable_io: Option<Value<bool>>,
    product_codes: Option<Vec<NoProductCode>>,
}

impl Action for DescribeVolumeAttribute {
    const NAME: &'static str = "DescribeVolumeAttribute";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let volume = call.account.volumes.find(&request.volume_id)?;
        let (auto_enable_io, product_codes) = match request.attribute {
            Attribute::AutoEnableIo => (Value::some(volume.auto_enable_io), None),
            Attribute::ProductCodes => (None, Some(Vec::new())),
        };
        Ok(Response { volume_id: volume.id.to_string(), auto_enable_io, product_codes })
    }
}
