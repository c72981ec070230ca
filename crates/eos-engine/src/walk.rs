//! Does something with each unit of a graph: after those it waits for, several at once where nothing forbids it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc;

use eos_model::Name;

use crate::order::Graph;
use crate::record::Edge;

/// What follows from a unit's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Go,
    /// What needs this unit is not begun.
    Block,
    /// Nothing more is begun; what runs is waited for.
    Halt,
}

/// Calls `act` for each unit on a thread of its own, at most `parallel` at once, and `judge` with each result as it
/// comes. Units that were not begun have no result.
pub fn walk<R: Send>(
    graph: &Graph,
    parallel: usize,
    act: &(dyn Fn(&Name) -> R + Sync),
    judge: &mut dyn FnMut(&Name, &R) -> Next,
) -> BTreeMap<Name, R> {
    let mut waiting: BTreeSet<&Name> = graph.after.keys().collect();
    let mut over: BTreeSet<&Name> = BTreeSet::new();
    let mut blocked: BTreeSet<&Name> = BTreeSet::new();
    let mut results = BTreeMap::new();
    let mut halted = false;
    let mut running = 0;
    let (done, finished) = mpsc::channel();
    std::thread::scope(|scope| {
        loop {
            // Blocking spreads along needs; names are few, so until nothing changes is simple and quick enough.
            loop {
                let newly: Vec<&Name> = waiting
                    .iter()
                    .copied()
                    .filter(|name| {
                        graph.after[*name]
                            .iter()
                            .any(|(before, edge)| *edge == Edge::Needs && blocked.contains(before))
                    })
                    .filter(|name| !blocked.contains(*name))
                    .collect();
                if newly.is_empty() {
                    break;
                }
                for name in newly {
                    waiting.remove(name);
                    blocked.insert(name);
                }
            }
            let is_over = |before: &Name| over.contains(before) || blocked.contains(before);
            let ready: Vec<&Name> = waiting
                .iter()
                .copied()
                .filter(|name| {
                    graph.after[*name]
                        .keys()
                        .all(|before| is_over(before) || !graph.after.contains_key(before))
                })
                .take(if halted { 0 } else { parallel.max(1) - running.min(parallel.max(1)) })
                .collect();
            for name in ready {
                waiting.remove(name);
                running += 1;
                let done = done.clone();
                scope.spawn(move || {
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(name)));
                    // The receiver lives until all have answered.
                    let _ = done.send((name, result));
                });
            }
            if running == 0 {
                break;
            }
            let Ok((name, result)) = finished.recv() else { break };
            running -= 1;
            let result = match result {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            match judge(name, &result) {
                Next::Go => {
                    over.insert(name);
                }
                Next::Block => {
                    blocked.insert(name);
                }
                Next::Halt => {
                    over.insert(name);
                    halted = true;
                }
            }
            results.insert(name.clone(), result);
        }
    });
    results
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;

    fn name(index: usize) -> Name {
        format!("u{index:02}").parse().unwrap()
    }

    /// Edges only from later to earlier numbers: no cycles.
    fn graph(size: usize, edges: &[(usize, usize, bool)]) -> Graph {
        let mut after: BTreeMap<Name, BTreeMap<Name, Edge>> =
            (0..size).map(|n| (name(n), BTreeMap::new())).collect();
        for (a, b, needs) in edges {
            let (low, high) = (a % size, b % size);
            if low != high {
                let edge = if *needs { Edge::Needs } else { Edge::Order };
                after.get_mut(&name(low.max(high))).unwrap().insert(name(low.min(high)), edge);
            }
        }
        Graph { after }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn everything_is_done_once_in_order_and_never_too_much_at_once(
            size in 1usize..12,
            edges in proptest::collection::vec((0usize..12, 0usize..12, any::<bool>()), 0..24),
            failing in proptest::collection::btree_set(0usize..12, 0..3),
            parallel in 1usize..4,
            halt in any::<bool>(),
        ) {
            let graph = graph(size, &edges);
            let failing: BTreeSet<Name> = failing.into_iter().map(name).collect();
            let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let log = Mutex::new(Vec::new());
            let act = |unit: &Name| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                log.lock().unwrap().push(format!("begin {unit}"));
                std::thread::yield_now();
                log.lock().unwrap().push(format!("end {unit}"));
                now.fetch_sub(1, Ordering::SeqCst);
                !failing.contains(unit)
            };
            let mut judge = |_: &Name, good: &bool| match (good, halt) {
                (true, _) => Next::Go,
                (false, true) => Next::Halt,
                (false, false) => Next::Block,
            };
            let results = walk(&graph, parallel, &act, &mut judge);
            prop_assert!(most.load(Ordering::SeqCst) <= parallel);
            let log = log.into_inner().unwrap();
            let at = |line: String| log.iter().position(|l| *l == line);
            for unit in results.keys() {
                prop_assert_eq!(log.iter().filter(|l| **l == format!("begin {unit}")).count(), 1);
                for (before, edge) in &graph.after[unit] {
                    if let Some(end) = at(format!("end {before}")) {
                        let begin = at(format!("begin {unit}")).unwrap();
                        prop_assert!(end < begin);
                    } else {
                        prop_assert!(*edge == Edge::Order, "{unit} began without {before}");
                    }
                    prop_assert!(halt || *edge == Edge::Order || results.get(before) == Some(&true));
                }
            }
            if failing.is_empty() {
                prop_assert_eq!(results.len(), size);
            }
        }
    }
}
