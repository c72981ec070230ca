//! The Nomad a job is for.

use eos_model::Diagnostics;
use eos_nomad::{Client, Connection, Goal, Patience, Tls};

use super::spec::Spec;
use super::trouble;
use crate::call::Call;
use crate::value::Object;

/// A client in the job's namespace.
pub fn client(call: &Call, spec: &Spec, object: &Object, patience: Patience) -> Result<Client, Diagnostics> {
    let client = any_namespace(call, patience)?;
    let namespace = spec.namespace(object, client.namespace());
    Ok(client.in_namespace(namespace.as_deref()))
}

/// A client as the environment says.
pub fn any_namespace(call: &Call, patience: Patience) -> Result<Client, Diagnostics> {
    let settings = call.settings.nomad.clone();
    let connection = Connection {
        address: settings.address,
        token: settings.token.map(Into::into),
        namespace: settings.namespace,
        region: settings.region,
        tls: Tls {
            ca_certificate: settings.ca_certificate,
            client_certificate: settings.client_certificate,
            client_key: settings.client_key,
            server_name: settings.tls_server_name,
        },
    };
    Client::new(&connection, patience, call.stop.clone()).map_err(trouble::diagnostics)
}

pub fn goal(object: &Object) -> Goal {
    if object.text("wait") == Some("complete") { Goal::Complete } else { Goal::Healthy }
}
