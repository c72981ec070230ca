//! Deployments: Nomad's way from one version of a service to the next.

use std::collections::BTreeMap;

use serde::Deserialize;
use ureq::http::Method;

use crate::client::{Ask, Client, escape, newer_than};
use crate::error::Error;
use crate::job::or_default;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Deployment {
    #[serde(rename = "ID")]
    pub id: String,
    pub job_version: u64,
    pub job_create_index: u64,
    pub create_index: u64,
    /// pending, blocked, running, paused, unblocking, successful, failed, cancelled
    pub status: String,
    pub status_description: String,
    #[serde(deserialize_with = "or_default")]
    pub task_groups: BTreeMap<String, GroupState>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct GroupState {
    pub desired_total: u64,
    pub placed_allocs: u64,
    pub healthy_allocs: u64,
    pub unhealthy_allocs: u64,
}

impl Deployment {
    pub fn is_successful(&self) -> bool {
        self.status == "successful"
    }

    /// It will not become healthy any more.
    pub fn has_failed(&self) -> bool {
        matches!(self.status.as_str(), "failed" | "cancelled")
    }

    /// Desired, placed, healthy and unhealthy allocations of all groups.
    pub fn counts(&self) -> GroupState {
        self.task_groups.values().fold(GroupState::default(), |sum, group| GroupState {
            desired_total: sum.desired_total + group.desired_total,
            placed_allocs: sum.placed_allocs + group.placed_allocs,
            healthy_allocs: sum.healthy_allocs + group.healthy_allocs,
            unhealthy_allocs: sum.unhealthy_allocs + group.unhealthy_allocs,
        })
    }
}

impl Client {
    /// Ends a deployment as failed; Nomad then goes back to an older version where the job asks for that.
    pub fn fail_deployment(&self, id: &str) -> Result<(), Error> {
        let ask = Ask {
            method: Method::POST,
            path: format!("/v1/deployment/fail/{}", escape(id)),
            query: Vec::new(),
            body: None,
            repeatable: true,
            operation: format!("ending deployment {id}"),
        };
        self.ask(&ask).map(|_| ())
    }

    /// The deployments of the job as it is registered now, newest first, as soon as there is something newer than
    /// `index` or a second has passed; and the index for the next call.
    pub fn deployments(&self, job: &str, index: u64) -> Result<(Vec<Deployment>, u64), Error> {
        let path = format!("/v1/job/{}/deployments", escape(job));
        let operation = format!("reading the deployments of job {job}");
        let (all, index) =
            self.get_indexed::<Option<Vec<Deployment>>>(path, &newer_than(index), operation)?;
        let mut all = all.unwrap_or_default();
        all.sort_by_key(|deployment| std::cmp::Reverse(deployment.create_index));
        Ok((all, index))
    }
}
