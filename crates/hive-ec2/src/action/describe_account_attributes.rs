//! The limits and the default VPC of the account.

use super::prelude::*;

pub struct DescribeAccountAttributes;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    attribute_name: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    account_attribute_set: Vec<AttributeView>,
}

impl Action for DescribeAccountAttributes {
    const NAME: &'static str = "DescribeAccountAttributes";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let default_vpc = call.account.default_vpc().map(|vpc| vpc.id.to_string());
        let limits = &call.environment.limits;
        let all = [
            ("default-vpc", default_vpc.unwrap_or_else(|| "none".to_owned())),
            ("max-elastic-ips", limits.of("elastic-addresses").to_string()),
            ("max-instances", "100000".to_owned()),
            ("supported-platforms", "VPC".to_owned()),
            ("vpc-max-elastic-ips", limits.of("elastic-addresses").to_string()),
            ("vpc-max-security-groups-per-interface", limits.of("groups-per-interface").to_string()),
        ];
        for name in &request.attribute_name {
            if !all.iter().any(|(known, _)| known == name) {
                return Err(ApiError::invalid_value("attributeName", name, "It is no account attribute."));
            }
        }
        let wanted = |name: &str| {
            request.attribute_name.is_empty() || request.attribute_name.iter().any(|n| n == name)
        };
        let account_attribute_set = all
            .into_iter()
            .filter(|(name, _)| wanted(name))
            .map(|(attribute_name, value)| AttributeView {
                attribute_name,
                attribute_value_set: vec![ValueView { attribute_value: value }],
            })
            .collect();
        Ok(Response { account_attribute_set })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttributeView {
    attribute_name: &'static str,
    attribute_value_set: Vec<ValueView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ValueView {
    attribute_value: String,
}
