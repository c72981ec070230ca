//! Says whether a volume shall be used although its data may be damaged; none is here.

use super::prelude::*;

pub struct ModifyVolumeAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
    #[serde(rename = "AutoEnableIO")]
    auto_enable_io: Option<AttributeValue<bool>>,
}

impl Action for ModifyVolumeAttribute {
    const NAME: &'static str = "ModifyVolumeAttribute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let asked = request.auto_enable_io.ok_or_else(|| ApiError::missing_parameter("AutoEnableIO"))?;
        call.account.volumes.edit(&request.volume_id)?.auto_enable_io = asked.value;
        Done::ok()
    }
}
