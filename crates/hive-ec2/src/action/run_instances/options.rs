//! The switches of the instances that a launch asks for.

use serde::Deserialize;

use super::request::Request;
use crate::action::prelude::*;
use crate::data::instance_types::InstanceType;
use crate::model::instance::{
    AutoRecovery, CapacityPreference, CpuCredits, InstanceOptions, MetadataOptions, ShutdownBehavior, Switch,
    Tokens,
};
use crate::model::subnet::HostnameType;
use crate::rules::capacity::CapacityRequest;
use crate::rules::launch::{NamePlan, check_hop_limit, default_credits, no_hibernation};
use crate::rules::processors;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Enabled {
    enabled: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Configured {
    configured: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Metadata {
    http_tokens: Option<Tokens>,
    http_put_response_hop_limit: Option<u32>,
    http_endpoint: Option<Switch>,
    http_protocol_ipv6: Option<Switch>,
    instance_metadata_tags: Option<Switch>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Credits {
    cpu_credits: CpuCredits,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Maintenance {
    auto_recovery: Option<AutoRecovery>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DnsName {
    hostname_type: Option<HostnameType>,
    enable_resource_name_dns_a_record: Option<bool>,
    #[serde(rename = "EnableResourceNameDnsAAAARecord")]
    enable_resource_name_dns_aaaa_record: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Cpu {
    core_count: Option<u32>,
    threads_per_core: Option<u32>,
}

impl Request {
    pub fn options(&self, kind: &InstanceType, account: &Account) -> ApiResult<InstanceOptions> {
        let credits = self.credit_specification.as_ref().map(|credits| credits.cpu_credits);
        if credits.is_some() && !kind.burstable {
            return Err(ApiError::client(
                "InvalidParameterCombination",
                format!("The {} instance type does not support a credit specification", kind.name),
            ));
        }
        if self.hibernation_options.as_ref().and_then(|asked| asked.configured).unwrap_or(false) {
            return Err(no_hibernation(kind.name));
        }
        let enclave = self.enclave_options.as_ref().and_then(|asked| asked.enabled).unwrap_or(false);
        if enclave && !kind.enclaves {
            return Err(ApiError::client(
                "UnsupportedOperation",
                format!("The {} instance type does not support Nitro Enclaves", kind.name),
            ));
        }
        let cpu = self.cpu_options.as_ref();
        let cpu = cpu.map_or((None, None), |cpu| (cpu.core_count, cpu.threads_per_core));
        let (core_count, threads_per_core) =
            processors::check(kind, cpu, (kind.cores, kind.threads_per_core()))?;
        let capacity = self.capacity_reservation_specification.as_ref();
        let profile = self.iam_instance_profile.as_ref().map(|profile| profile.arn(account)).transpose()?;
        Ok(InstanceOptions {
            user_data: self.user_data.clone().filter(|data| !data.is_empty()),
            monitoring: self.monitoring.as_ref().and_then(|m| m.enabled).unwrap_or(false),
            ebs_optimized: self.ebs_optimized.unwrap_or(false),
            disable_api_termination: self.disable_api_termination.unwrap_or(false),
            disable_api_stop: self.disable_api_stop.unwrap_or(false),
            shutdown_behavior: self.instance_initiated_shutdown_behavior.unwrap_or(ShutdownBehavior::Stop),
            metadata: self.metadata()?,
            cpu_credits: default_credits(kind, credits),
            auto_recovery: self
                .maintenance_options
                .as_ref()
                .and_then(|m| m.auto_recovery)
                .unwrap_or(AutoRecovery::Default),
            // Until the subnet is known, which says it where the request does not.
            hostname_type: HostnameType::IpName,
            resource_name_dns_a_record: false,
            resource_name_dns_aaaa_record: false,
            core_count,
            threads_per_core,
            hibernation: false,
            enclave,
            capacity_reservation_preference: capacity
                .map_or(Ok(CapacityPreference::Open), CapacityRequest::preference)?,
            iam_instance_profile: profile,
        })
    }

    pub fn names(&self) -> NamePlan {
        let asked = self.private_dns_name_options.as_ref();
        NamePlan {
            hostname_type: asked.and_then(|names| names.hostname_type),
            a_record: asked.and_then(|names| names.enable_resource_name_dns_a_record),
            aaaa_record: asked.and_then(|names| names.enable_resource_name_dns_aaaa_record),
        }
    }

    fn metadata(&self) -> ApiResult<MetadataOptions> {
        let defaults = MetadataOptions::default();
        let Some(asked) = &self.metadata_options else { return Ok(defaults) };
        check_hop_limit(asked.http_put_response_hop_limit)?;
        Ok(MetadataOptions {
            http_tokens: asked.http_tokens.unwrap_or(defaults.http_tokens),
            http_put_response_hop_limit: asked
                .http_put_response_hop_limit
                .unwrap_or(defaults.http_put_response_hop_limit),
            http_endpoint: asked.http_endpoint.unwrap_or(defaults.http_endpoint),
            http_protocol_ipv6: asked.http_protocol_ipv6.unwrap_or(defaults.http_protocol_ipv6),
            instance_metadata_tags: asked.instance_metadata_tags.unwrap_or(defaults.instance_metadata_tags),
        })
    }
}
