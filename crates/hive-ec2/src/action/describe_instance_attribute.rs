//! One attribute of an instance.

use super::prelude::*;
use crate::model::instance::ShutdownBehavior;
use crate::view;
use crate::view::AttributeValue;
use crate::view::instance::BlockDeviceView;
use crate::view::network_interface::GroupIdentifier;

pub struct DescribeInstanceAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    attribute: Attribute,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_id: String,
    instance_type: Option<AttributeValue<String>>,
    user_data: Option<AttributeValue<Option<String>>>,
    disable_api_termination: Option<AttributeValue<bool>>,
    disable_api_stop: Option<AttributeValue<bool>>,
    instance_initiated_shutdown_behavior: Option<AttributeValue<ShutdownBehavior>>,
    root_device_name: Option<AttributeValue<String>>,
    block_device_mapping: Option<Vec<BlockDeviceView>>,
    source_dest_check: Option<AttributeValue<bool>>,
    group_set: Option<Vec<GroupIdentifier>>,
    ebs_optimized: Option<AttributeValue<bool>>,
    ena_support: Option<AttributeValue<bool>>,
    enclave_options: Option<Enclave>,
    kernel: Option<AttributeValue<Option<String>>>,
    ramdisk: Option<AttributeValue<Option<String>>>,
    sriov_net_support: Option<AttributeValue<Option<String>>>,
    product_codes: Option<Vec<String>>,
}

impl Action for DescribeInstanceAttribute {
    const NAME: &'static str = "DescribeInstanceAttribute";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = call.account.instances.find(&request.instance_id)?;
        let options = &instance.options;
        let primary =
            instance.network_interfaces.first().and_then(|id| call.account.network_interfaces.get(id));
        let mut response = Response { instance_id: instance.id.to_string(), ..Response::default() };
        match request.attribute {
            Attribute::InstanceType => {
                response.instance_type = AttributeValue::some(instance.instance_type.clone())
            }
            Attribute::UserData => response.user_data = AttributeValue::some(options.user_data.clone()),
            Attribute::DisableApiTermination => {
                response.disable_api_termination = AttributeValue::some(options.disable_api_termination);
            }
            Attribute::DisableApiStop => {
                response.disable_api_stop = AttributeValue::some(options.disable_api_stop)
            }
            Attribute::InstanceInitiatedShutdownBehavior => {
                response.instance_initiated_shutdown_behavior =
                    AttributeValue::some(options.shutdown_behavior);
            }
            Attribute::RootDeviceName => {
                response.root_device_name = AttributeValue::some(instance.root_device_name.clone());
            }
            Attribute::BlockDeviceMapping => {
                response.block_device_mapping = Some(view::instance::block_devices(instance, call));
            }
            Attribute::SourceDestCheck => {
                response.source_dest_check = primary.and_then(|i| AttributeValue::some(i.source_dest_check));
            }
            Attribute::GroupSet => {
                response.group_set = primary.map(|i| view::network_interface::groups(i, call.account));
            }
            Attribute::EbsOptimized => response.ebs_optimized = AttributeValue::some(options.ebs_optimized),
            Attribute::EnaSupport => response.ena_support = AttributeValue::some(instance.ena_support),
            Attribute::EnclaveOptions => {
                response.enclave_options = Some(Enclave { enabled: options.enclave })
            }
            // Machines here bring their own kernel, are nobody's product and have no such network card.
            Attribute::Kernel => response.kernel = AttributeValue::some(None),
            Attribute::Ramdisk => response.ramdisk = AttributeValue::some(None),
            Attribute::SriovNetSupport => response.sriov_net_support = AttributeValue::some(None),
            Attribute::ProductCodes => response.product_codes = Some(Vec::new()),
        }
        Ok(response)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Attribute {
    InstanceType,
    UserData,
    DisableApiTermination,
    DisableApiStop,
    InstanceInitiatedShutdownBehavior,
    RootDeviceName,
    BlockDeviceMapping,
    SourceDestCheck,
    GroupSet,
    EbsOptimized,
    EnaSupport,
    EnclaveOptions,
    Kernel,
    Ramdisk,
    SriovNetSupport,
    ProductCodes,
}

#[derive(Serialize)]
struct Enclave {
    enabled: bool,
}
