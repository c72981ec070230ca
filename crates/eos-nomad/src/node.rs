//! The machines Nomad may place work on.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::client::Client;
use crate::error::Error;
use crate::job::or_default;

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
    /// What it can start tasks with, by name: docker, raw_exec.
    #[serde(deserialize_with = "or_default")]
    pub drivers: BTreeMap<String, Driver>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Driver {
    pub detected: bool,
    pub healthy: bool,
    pub health_description: String,
}

/// The agent that answers, as it says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// Empty where its file does not say one: then it is the machine's.
    pub node_name: String,
    /// Where its allocations are, on its own machine.
    pub data_folder: String,
}

impl Node {
    /// New work can go there.
    pub fn takes_work(&self) -> bool {
        self.status == "ready" && self.scheduling_eligibility == "eligible" && !self.drain
    }

    /// Why it cannot start tasks of a driver; none when it can.
    pub fn lacks(&self, driver: &str) -> Option<String> {
        match self.drivers.get(driver) {
            Some(found) if found.detected && found.healthy => None,
            Some(found) if !found.health_description.is_empty() => Some(found.health_description.clone()),
            Some(found) if found.detected => Some("it is not healthy".to_owned()),
            _ => Some("it is not there".to_owned()),
        }
    }
}

impl Client {
    /// The address of the leader; empty when there is none. The cheapest question there is.
    pub fn leader(&self) -> Result<String, Error> {
        self.in_namespace(None).get("/v1/status/leader".to_owned(), &[], "asking for the leader".to_owned())
    }

    /// Which agent it is that answers, and where it keeps what it runs. Needs a token that may read agents, where there are any.
    pub fn agent(&self) -> Result<Agent, Error> {
        let operation = "asking the agent about itself".to_owned();
        let found: Json = self.in_namespace(None).get("/v1/agent/self".to_owned(), &[], operation)?;
        let config = &found["config"];
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        Ok(Agent { node_name: text(&config["NodeName"]), data_folder: text(&config["DataDir"]) })
    }

    pub fn nodes(&self) -> Result<Vec<Node>, Error> {
        let client = self.in_namespace(None);
        Ok(client
            .get::<Option<_>>("/v1/nodes".to_owned(), &[], "listing nodes".to_owned())?
            .unwrap_or_default())
    }
}
