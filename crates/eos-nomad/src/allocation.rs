//! Allocations: a group of tasks on a node, what happened to them, and what they wrote.

use std::collections::BTreeMap;

use serde::Deserialize;
use ureq::http::Method;

use crate::client::{Ask, Client, escape, newer_than};
use crate::error::Error;
use crate::job::or_default;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Allocation {
    #[serde(rename = "ID")]
    pub id: String,
    pub name: String,
    pub node_name: String,
    pub task_group: String,
    pub job_version: u64,
    pub create_index: u64,
    pub modify_index: u64,
    /// run, stop, evict
    pub desired_status: String,
    /// pending, running, complete, failed, lost, unknown
    pub client_status: String,
    pub client_description: String,
    /// The one that replaces it.
    pub next_allocation: String,
    #[serde(rename = "FollowupEvalID")]
    pub followup_evaluation: String,
    pub deployment_status: Option<DeploymentStatus>,
    #[serde(deserialize_with = "or_default")]
    pub task_states: BTreeMap<String, TaskState>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DeploymentStatus {
    pub healthy: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskState {
    /// pending, running, dead
    pub state: String,
    pub failed: bool,
    pub restarts: u64,
    #[serde(deserialize_with = "or_default")]
    pub events: Vec<TaskEvent>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskEvent {
    #[serde(rename = "Type")]
    pub kind: String,
    pub display_message: String,
    pub time: i64,
}

/// A health check of a service that Nomad itself runs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct CheckResult {
    pub check: String,
    pub service: String,
    /// success, failure, pending
    pub status: String,
    pub output: String,
}

impl Allocation {
    /// Its tasks have ended for good.
    pub fn is_terminal(&self) -> bool {
        matches!(self.client_status.as_str(), "complete" | "failed" | "lost")
    }

    pub fn is_unhealthy(&self) -> bool {
        self.client_status == "failed"
            || self.deployment_status.as_ref().is_some_and(|status| status.healthy == Some(false))
    }

    /// A task of it has used up its restarts: it waits for the next interval, or for good.
    pub fn has_used_up_restarts(&self) -> bool {
        let last = |state: &TaskState| {
            let event = state.events.iter().max_by_key(|event| event.time)?;
            Some(event.display_message.starts_with("Exceeded allowed attempts"))
        };
        self.task_states.values().filter_map(last).any(|used_up| used_up)
    }

    /// The first letters of its id, as Nomad's own tools show it.
    pub fn short_id(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

impl Client {
    /// The allocations of the job as it is registered now, newest first, as soon as there is something newer than `index`
    /// or a second has passed; and the index for the next call. Those of a job that was purged are listed no more, though
    /// their tasks may still be ending.
    pub fn allocations(&self, job: &str, index: u64) -> Result<(Vec<Allocation>, u64), Error> {
        let path = format!("/v1/job/{}/allocations", escape(job));
        let operation = format!("reading the allocations of job {job}");
        let (all, index) = self.get_indexed(path, &newer_than(index), operation)?;
        Ok((newest_first(all), index))
    }

    /// The allocations of one deployment, newest first.
    pub fn deployment_allocations(&self, deployment: &str) -> Result<Vec<Allocation>, Error> {
        let path = format!("/v1/deployment/allocations/{}", escape(deployment));
        self.get(path, &[], format!("reading the allocations of deployment {deployment}")).map(newest_first)
    }

    /// The last complete lines a task wrote. Asks the node it ran on.
    pub fn last_log_lines(
        &self,
        allocation: &str,
        task: &str,
        stream: LogStream,
        count: usize,
    ) -> Result<Vec<String>, Error> {
        const TAIL: usize = 16 << 10;
        let query = [
            ("task", task.to_owned()),
            ("type", stream.name().to_owned()),
            ("plain", "true".to_owned()),
            ("origin", "end".to_owned()),
            ("offset", TAIL.to_string()),
        ];
        let ask = Ask {
            method: Method::GET,
            path: format!("/v1/client/fs/logs/{}", escape(allocation)),
            query: query.to_vec(),
            body: None,
            repeatable: true,
            operation: format!("reading the log of task {task}"),
        };
        let body = self.ask(&ask)?.body;
        Ok(tail(&String::from_utf8_lossy(&body), body.len() >= TAIL, count))
    }

    /// What Nomad's own health checks of an allocation said last.
    pub fn checks(&self, allocation: &str) -> Result<Vec<CheckResult>, Error> {
        let path = format!("/v1/client/allocation/{}/checks", escape(allocation));
        let all: Option<BTreeMap<String, CheckResult>> =
            self.get(path, &[], format!("reading the checks of allocation {allocation}"))?;
        Ok(all.unwrap_or_default().into_values().collect())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStream {
    Stdout,
    Stderr,
}

impl LogStream {
    fn name(self) -> &'static str {
        match self {
            LogStream::Stdout => "stdout",
            LogStream::Stderr => "stderr",
        }
    }
}

fn newest_first(all: Option<Vec<Allocation>>) -> Vec<Allocation> {
    let mut all = all.unwrap_or_default();
    all.sort_by_key(|allocation| std::cmp::Reverse(allocation.create_index));
    all
}

/// Where the text was cut, its first line is only the end of one: half a secret could not be told from other text.
fn tail(text: &str, cut: bool, count: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().skip(usize::from(cut)).collect();
    lines[lines.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_has_whole_lines_only() {
        assert_eq!(tail("a\nb\nc\n", false, 2), ["b", "c"]);
        assert_eq!(tail("ter2\nb\n", true, 5), ["b"]);
        assert!(tail("", false, 3).is_empty());
        assert!(tail("one long line", true, 3).is_empty());
    }
}
