//! Declaring a host.

use eos_model::{Diagnostic, Diagnostics, HostName, codes};
use eos_pillar::Environment;
use serde_json::{Value as Json, json};

use super::request::HostRequest;

/// The entry of a host.
pub fn host_entry(environment: &Environment, request: &HostRequest) -> Json {
    let mut entry = json!({
        "environment": environment.name,
        "address": request.address,
        "connection": request.connection,
        "nomad_node": request.nomad_node,
    });
    if let Some(group) = &request.volume_group {
        entry["volume_group"] = Json::from(group.as_str());
    }
    if let Some(folder) = &request.data_folder {
        entry["data_folder"] = Json::from(folder.as_str());
    }
    entry
}

/// The command that declares a machine of another environment in this one as well, under a name of its own.
pub(super) fn declare_here_too(
    environment: &Environment,
    host: &HostName,
    [address, connection, node]: [&String; 3],
) -> String {
    let env = &environment.name;
    let mut name = format!("{host}-{env}");
    while environment.hosts.contains_key(name.as_str()) {
        name.push_str("-2");
    }
    format!(
        "eos create host {name} --env {env} --address {address} --connection {connection} --nomad-node {node}"
    )
}

/// A host nobody declared yet.
pub fn host(environment: &Environment, request: &HostRequest) -> Result<Json, Diagnostics> {
    if let Some(entry) = environment.hosts.get(&request.name) {
        return Err(Diagnostic::error(
            codes::NAME_TAKEN,
            format!("host {} is declared already, in {}", request.name, entry.environment),
        )
        .at(environment.place(&entry.node))
        .fix(if entry.environment == environment.name.as_str() {
            format!("eos update host {} changes it", request.name)
        } else {
            // As the machine is reached there: what was asked for here may be no more than a default.
            let reached = [&entry.address, &entry.connection, &entry.nomad_node];
            let command = declare_here_too(environment, &request.name, reached);
            format!("a machine of two environments has a name in each: {command}")
        })
        .into());
    }
    Ok(host_entry(environment, request))
}
