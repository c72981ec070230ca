//! Evaluations: Nomad's decisions where to place what, and why it could not.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::client::{Client, escape};
use crate::error::Error;
use crate::job::or_default;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Evaluation {
    #[serde(rename = "ID")]
    pub id: String,
    /// pending, blocked, complete, failed, canceled
    pub status: String,
    pub status_description: String,
    pub job_modify_index: u64,
    pub create_index: u64,
    #[serde(rename = "BlockedEval")]
    pub blocked: String,
    /// By group, what could not be placed.
    #[serde(rename = "FailedTGAllocs", deserialize_with = "or_default")]
    pub placement_failures: BTreeMap<String, PlacementFailure>,
}

/// Why a group found no place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PlacementFailure {
    pub nodes_evaluated: u64,
    pub nodes_filtered: u64,
    pub nodes_exhausted: u64,
    #[serde(deserialize_with = "or_default")]
    pub constraint_filtered: BTreeMap<String, u64>,
    #[serde(deserialize_with = "or_default")]
    pub dimension_exhausted: BTreeMap<String, u64>,
    #[serde(deserialize_with = "or_default")]
    pub quota_exhausted: Vec<String>,
    /// Further allocations of the group with the same fate.
    pub coalesced_failures: u64,
}

impl PlacementFailure {
    /// No node was taken into account because of what it is, and none was only full: waiting for room is in vain.
    pub fn is_excluded_everywhere(&self) -> bool {
        self.nodes_exhausted == 0 && self.dimension_exhausted.is_empty() && self.quota_exhausted.is_empty()
    }

    /// The reasons in words, at least one.
    pub fn reasons(&self) -> Vec<String> {
        let nodes = |count: &u64| if *count == 1 { "1 node".to_owned() } else { format!("{count} nodes") };
        let mut reasons = Vec::new();
        if self.nodes_evaluated == 0 {
            reasons.push("no node is there to be looked at".to_owned());
        }
        for (constraint, count) in &self.constraint_filtered {
            reasons.push(format!("{} excluded by {constraint}", nodes(count)));
        }
        for (dimension, count) in &self.dimension_exhausted {
            reasons.push(format!("{} without enough {dimension}", nodes(count)));
        }
        reasons.extend(self.quota_exhausted.iter().map(|quota| format!("quota {quota} is used up")));
        if reasons.is_empty() {
            reasons.push(format!(
                "{} looked at, {} filtered, {} full",
                nodes(&self.nodes_evaluated),
                self.nodes_filtered,
                self.nodes_exhausted
            ));
        }
        reasons
    }
}

/// A line a group: who found no place and why.
pub fn describe_placement(failures: &BTreeMap<String, PlacementFailure>) -> Vec<String> {
    let line = |(group, failure): (&String, &PlacementFailure)| {
        let more = match failure.coalesced_failures {
            0 => String::new(),
            count => format!(" ({} allocations)", count + 1),
        };
        format!("group {group} cannot be placed{more}: {}", failure.reasons().join("; "))
    };
    failures.iter().map(line).collect()
}

impl Client {
    /// The job's evaluations, newest first.
    pub fn evaluations(&self, job: &str) -> Result<Vec<Evaluation>, Error> {
        let path = format!("/v1/job/{}/evaluations", escape(job));
        let mut all: Vec<Evaluation> = self
            .get::<Option<_>>(path, &[], format!("reading the evaluations of job {job}"))?
            .unwrap_or_default();
        all.sort_by_key(|evaluation| std::cmp::Reverse(evaluation.create_index));
        Ok(all)
    }

    pub fn evaluation(&self, id: &str) -> Result<Evaluation, Error> {
        self.get(format!("/v1/evaluation/{}", escape(id)), &[], format!("reading evaluation {id}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_stood_in_the_way() {
        let failure = PlacementFailure {
            nodes_evaluated: 3,
            nodes_filtered: 2,
            nodes_exhausted: 1,
            constraint_filtered: [("${node.unique.name} = db1".to_owned(), 2)].into(),
            dimension_exhausted: [("memory".to_owned(), 1)].into(),
            coalesced_failures: 1,
            ..PlacementFailure::default()
        };
        assert_eq!(
            describe_placement(&[("server".to_owned(), failure)].into()),
            [
                "group server cannot be placed (2 allocations): 2 nodes excluded by ${node.unique.name} = db1; \
              1 node without enough memory"
            ]
        );
        let full = PlacementFailure { nodes_evaluated: 1, nodes_exhausted: 1, ..PlacementFailure::default() };
        assert!(!full.is_excluded_everywhere() && PlacementFailure::default().is_excluded_everywhere());
        assert_eq!(PlacementFailure::default().reasons(), ["no node is there to be looked at"]);
    }
}
