//! Why allocations failed, in lines a person reads: events, checks, and the end of the log.
//!
//! What a task wrote may hold its secrets: whoever shows the lines blanks them out.

use std::collections::BTreeSet;

use crate::allocation::{Allocation, LogStream, TaskState};
use crate::client::Client;

/// More of them say the same.
const ALLOCATIONS: usize = 2;
const EVENTS: usize = 5;
const LOG_LINES: usize = 12;
/// That are looked through for as many different ones: a program that is started over and over says the same each time.
const READ_LINES: usize = 120;

/// Lines about those that did not do well, newest first; nothing when all did.
pub fn explain(client: &Client, allocations: &[Allocation]) -> Vec<String> {
    // One whose task is started over and over has not failed yet, as Nomad sees it.
    let troubled = |one: &&Allocation| one.is_unhealthy() || one.task_states.values().any(is_guilty);
    let failing = allocations.iter().filter(troubled);
    let mut told = BTreeSet::new();
    failing.take(ALLOCATIONS).flat_map(|allocation| explain_one(client, allocation, &mut told)).collect()
}

fn is_guilty(state: &TaskState) -> bool {
    state.failed || state.restarts > 0
}

/// `told` are the log lines of allocations before, which are not repeated.
fn explain_one(client: &Client, allocation: &Allocation, told: &mut BTreeSet<String>) -> Vec<String> {
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
        let log = once_each(log(client, &allocation.id, name));
        let all = log.len();
        let new: Vec<String> = log.into_iter().filter(|line| told.insert(but_for_times(line))).collect();
        if new.len() < all {
            lines.push(
                "  its log says the same as the one above".to_owned()
                    + if new.is_empty() { "" } else { ", and" },
            );
        }
        lines.extend(new.into_iter().map(|line| format!("  > {line}")));
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
        let lines = client.last_log_lines(allocation, task, stream, READ_LINES).unwrap_or_default();
        if !lines.is_empty() {
            return lines;
        }
    }
    Vec::new()
}

/// The last lines, each once: of those that differ in times and process numbers alone the last is kept.
fn once_each(lines: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let last_of_each = lines.into_iter().rev().filter(|line| seen.insert(but_for_times(line)));
    let mut kept: Vec<String> = last_of_each.take(LOG_LINES).collect();
    kept.reverse();
    kept
}

/// A line without what differs each time a program says it: words that begin with a digit and have at least three, such as
/// `12:30:01`, `ts=2026-11-16T07:03:01Z`, `[4711]` and `4711:M`.
fn but_for_times(line: &str) -> String {
    let plain = |word: &str| -> String {
        let value = word.rsplit_once('=').map_or(word, |(_, value)| value);
        let starts = value
            .trim_start_matches(|c: char| !c.is_alphanumeric())
            .starts_with(|c: char| c.is_ascii_digit());
        match starts && word.chars().filter(char::is_ascii_digit).count() >= 3 {
            true => word.replace(|c: char| c.is_ascii_digit(), ""),
            false => word.to_owned(),
        }
    };
    line.split(' ').map(plain).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_says_the_same_at_each_start_is_heard_once() {
        let start = |pid: u32, second: u32| {
            [
                format!("{pid}:C 18 Nov 2026 02:13:{second}.120 * oO0OoO0OoO0Oo Redis is starting"),
                format!("ts=2026-11-18T02:13:{second}.121Z level=error msg=\"cannot listen on port 6379\""),
                "  at listen (server.js:12:5)".to_owned(),
                "  at start (server.js:99:7)".to_owned(),
            ]
        };
        let lines: Vec<String> = (0..20).flat_map(|n| start(4711 + n, 10 + n)).collect();
        let told = once_each(lines);
        assert_eq!(told, start(4730, 29), "the last start, whole");
        // What says something else stays, in its order.
        let others = ["port 80 is taken", "port 81 is taken", "bye"].map(str::to_owned);
        assert_eq!(once_each(others.to_vec()), others);
        let many: Vec<String> = (0..50).map(|n| format!("step{n}")).collect();
        assert_eq!(once_each(many), (38..50).map(|n| format!("step{n}")).collect::<Vec<_>>());
    }
}
