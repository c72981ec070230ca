//! Why allocations failed, in lines a person reads: events, checks, and the end of the log.
//!
//! What a task wrote may hold its secrets: whoever shows the lines blanks them out.

use crate::allocation::{Allocation, LogStream, TaskState};
use crate::client::Client;

/// More of them say the same.
const ALLOCATIONS: usize = 2;
const EVENTS: usize = 5;
const LOG_LINES: usize = 12;

/// Lines about those that did not do well, newest first; nothing when all did.
pub fn explain(client: &Client, allocations: &[Allocation]) -> Vec<String> {
    // One whose task is started over and over has not failed yet, as Nomad sees it.
    let troubled = |one: &&Allocation| one.is_unhealthy() || one.task_states.values().any(is_guilty);
    let failing = allocations.iter().filter(troubled);
    failing.take(ALLOCATIONS).flat_map(|allocation| explain_one(client, allocation)).collect()
}

fn is_guilty(state: &TaskState) -> bool {
    state.failed || state.restarts > 0
}

fn explain_one(client: &Client, allocation: &Allocation) -> Vec<String> {
    let what = match allocation.client_description.as_str() {
        "" => allocation.client_status.clone(),
        description => format!("{}, {description}", allocation.client_status),
    };
    let (id, node, group) = (allocation.short_id(), &allocation.node_name, &allocation.task_group);
    let mut lines = vec![format!("allocation {id} of group {group} on {node}: {what}")];
    let any_guilty = allocation.task_states.values().any(is_guilty);
    for (name, state) in allocation.task_states.iter().filter(|(_, state)| is_guilty(state) || !any_guilty) {
        lines.push(format!("task {name}:"));
        let events = &state.events[state.events.len().saturating_sub(EVENTS)..];
        lines.extend(events.iter().map(|event| format!("  {}: {}", event.kind, event.display_message)));
        lines.extend(log(client, &allocation.id, name).into_iter().map(|line| format!("  > {line}")));
    }
    for check in client.checks(&allocation.id).unwrap_or_default() {
        if check.status == "failure" {
            let output = check.output.lines().next().unwrap_or_default().to_owned();
            lines.push(format!("check {} of {} fails: {output}", check.check, check.service));
        }
    }
    lines
}

/// The end of stderr, or of stdout where that is empty. A log that cannot be had is no reason to say less.
fn log(client: &Client, allocation: &str, task: &str) -> Vec<String> {
    for stream in [LogStream::Stderr, LogStream::Stdout] {
        let lines = client.last_log_lines(allocation, task, stream, LOG_LINES).unwrap_or_default();
        if !lines.is_empty() {
            return lines;
        }
    }
    Vec::new()
}
