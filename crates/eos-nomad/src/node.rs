//! The machines Nomad may place work on.

use serde::Deserialize;

use crate::client::Client;
use crate::error::Error;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Node {
    #[serde(rename = "ID")]
    pub id: String,
    pub name: String,
    pub datacenter: String,
    /// initializing, ready, down, disconnected
    pub status: String,
    /// eligible, ineligible
    pub scheduling_eligibility: String,
    pub drain: bool,
}

impl Node {
    /// New work can go there.
    pub fn takes_work(&self) -> bool {
        self.status == "ready" && self.scheduling_eligibility == "eligible" && !self.drain
    }
}

impl Client {
    /// The address of the leader; empty when there is none. The cheapest question there is.
    pub fn leader(&self) -> Result<String, Error> {
        self.in_namespace(None).get("/v1/status/leader".to_owned(), &[], "asking for the leader".to_owned())
    }

    pub fn nodes(&self) -> Result<Vec<Node>, Error> {
        let client = self.in_namespace(None);
        Ok(client
            .get::<Option<_>>("/v1/nodes".to_owned(), &[], "listing nodes".to_owned())?
            .unwrap_or_default())
    }
}
