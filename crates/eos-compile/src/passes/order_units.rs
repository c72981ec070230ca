//! The order units are applied in: every unit behind the ones it needs, names deciding between equals.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Name, codes};

use crate::work::Work;

pub fn run(work: &mut Work<'_>) {
    let upstream: BTreeMap<&Name, &BTreeSet<Name>> =
        work.units.iter().map(|(name, unit)| (name, &unit.upstream)).collect();
    match order(&upstream) {
        Ok(order) => work.order = order,
        Err(cycle) => {
            let path: Vec<&str> = cycle.iter().map(|name| name.as_str()).collect();
            let place = cycle
                .first()
                .and_then(|name| work.units.get(name))
                .and_then(|unit| work.place(&unit.entry.node));
            let diagnostic =
                Diagnostic::error(codes::CYCLE, format!("needs go in a circle: {}", path.join(" → ")))
                    .at(place)
                    .why("none of them could be applied first")
                    .fix("let one of them do without, or use another of its kind");
            work.push(diagnostic);
        }
    }
}

/// A topological order, smallest ready name first; on a circle, its path with the first name repeated at the end.
pub fn order(upstream: &BTreeMap<&Name, &BTreeSet<Name>>) -> Result<Vec<Name>, Vec<Name>> {
    let mut waiting: BTreeMap<&Name, usize> = BTreeMap::new();
    let mut downstream: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
    for (name, needs) in upstream {
        let present = needs.iter().filter(|need| upstream.contains_key(need));
        waiting.insert(name, present.clone().count());
        present.for_each(|need| downstream.entry(need).or_default().push(name));
    }
    let mut ready: BTreeSet<&Name> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    let mut order = Vec::with_capacity(upstream.len());
    while let Some(name) = ready.pop_first() {
        order.push(name.clone());
        for next in downstream.get(name).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(next);
                }
            }
        }
    }
    if order.len() == upstream.len() { Ok(order) } else { Err(find_cycle(upstream, &order)) }
}

fn find_cycle(upstream: &BTreeMap<&Name, &BTreeSet<Name>>, done: &[Name]) -> Vec<Name> {
    let done: BTreeSet<&Name> = done.iter().collect();
    let mut path: Vec<&Name> = upstream.keys().copied().filter(|name| !done.contains(name)).take(1).collect();
    while let Some(last) = path.last().copied() {
        // Whatever is left waits for something left: following that must come back.
        let next = upstream
            .get(last)
            .and_then(|needs| needs.iter().find(|need| upstream.contains_key(need) && !done.contains(need)));
        let Some(next) = next else { break };
        if let Some(start) = path.iter().position(|name| *name == next) {
            let mut cycle: Vec<Name> = path[start..].iter().map(|name| (*name).clone()).collect();
            cycle.push(next.clone());
            return cycle;
        }
        path.push(next);
    }
    path.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(index: usize) -> Name {
        format!("n{index}").parse().unwrap()
    }

    fn graph(size: usize, edges: &[(usize, usize)]) -> BTreeMap<Name, BTreeSet<Name>> {
        let mut graph: BTreeMap<Name, BTreeSet<Name>> =
            (0..size).map(|index| (name(index), BTreeSet::new())).collect();
        for (from, to) in edges {
            graph.get_mut(&name(*from)).unwrap().insert(name(*to));
        }
        graph
    }

    fn borrowed(graph: &BTreeMap<Name, BTreeSet<Name>>) -> BTreeMap<&Name, &BTreeSet<Name>> {
        graph.iter().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn every_need_comes_first_in_random_graphs_of_2000(edges in prop::collection::vec((0usize..2000, 0usize..2000), 0..6000)) {
            // Edges only towards smaller numbers: no circle by construction.
            let edges: Vec<_> = edges.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.max(b), a.min(b))).collect();
            let graph = graph(2000, &edges);
            let order = order(&borrowed(&graph)).unwrap();
            let position: BTreeMap<&Name, usize> = order.iter().enumerate().map(|(at, name)| (name, at)).collect();
            prop_assert_eq!(position.len(), 2000);
            for (from, to) in edges {
                prop_assert!(position[&name(to)] < position[&name(from)]);
            }
        }

        #[test]
        fn a_circle_is_reported_as_a_path_of_real_needs(edges in prop::collection::vec((0usize..50, 0usize..50), 0..120), start in 0usize..49) {
            let mut edges: Vec<_> = edges.into_iter().filter(|(a, b)| a != b).collect();
            edges.extend([(start, start + 1), (start + 1, start)]);
            let graph = graph(50, &edges);
            let cycle = order(&borrowed(&graph)).unwrap_err();
            prop_assert_eq!(cycle.first(), cycle.last());
            prop_assert!(cycle.len() >= 3);
            for pair in cycle.windows(2) {
                prop_assert!(graph[&pair[0]].contains(&pair[1]));
            }
        }
    }
}
