//! The order units are applied in: every unit behind the ones it needs, names deciding between equals.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Name, codes};

use crate::work::Work;

pub fn run(work: &mut Work<'_>) {
    let upstream: BTreeMap<&Name, &BTreeSet<Name>> =
        work.units.iter().map(|(name, unit)| (name, &unit.upstream)).collect();
    match order(&upstream) {
        Ok(order) => work.order = order,
        Err(cycles) => cycles.iter().for_each(|cycle| work.push(in_a_circle(work, cycle))),
    }
}

fn in_a_circle(work: &Work<'_>, cycle: &[Name]) -> Diagnostic {
    let path: Vec<&str> = cycle.iter().map(|name| name.as_str()).collect();
    let first = cycle.first().and_then(|name| work.units.get(name));
    Diagnostic::error(codes::CYCLE, format!("needs go in a circle: {}", path.join(" → ")))
        .at(first.and_then(|unit| work.place(&unit.entry.node)))
        .why("none of them could be applied first")
        .fix("let one of them do without, or use another of its kind")
}

type Upstream<'a> = BTreeMap<&'a Name, &'a BTreeSet<Name>>;

/// A topological order, smallest ready name first; where there are circles, the path of each with its first name repeated at
/// the end. Circles that share a name are told one after the other, as one is mended.
pub fn order(upstream: &Upstream<'_>) -> Result<Vec<Name>, Vec<Vec<Name>>> {
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
    if order.len() == upstream.len() { Ok(order) } else { Err(find_cycles(upstream, &order)) }
}

fn find_cycles(upstream: &Upstream<'_>, done: &[Name]) -> Vec<Vec<Name>> {
    let done: BTreeSet<&Name> = done.iter().collect();
    let mut left: BTreeSet<&Name> = upstream.keys().copied().filter(|name| !done.contains(name)).collect();
    let mut cycles = Vec::new();
    while let Some(first) = left.first().copied() {
        let (way, start) = walk(upstream, &left, first);
        // Without a circle it ends at what waits only for circles that are told already.
        let over = start.unwrap_or(way.len() - 1);
        if start.is_some() {
            cycles.push(way[over..].iter().chain([&way[over]]).map(|name| (*name).clone()).collect());
        }
        way[over..].iter().for_each(|name| {
            left.remove(name);
        });
    }
    cycles
}

/// Follows what is left from need to need: the way, and where in it a circle starts when it comes back to itself.
fn walk<'a>(
    upstream: &Upstream<'a>,
    left: &BTreeSet<&'a Name>,
    first: &'a Name,
) -> (Vec<&'a Name>, Option<usize>) {
    let mut way = vec![first];
    let mut last = first;
    while let Some(next) = upstream.get(last).and_then(|needs| needs.iter().find(|need| left.contains(need)))
    {
        if let Some(start) = way.iter().position(|name| *name == next) {
            return (way, Some(start));
        }
        way.push(next);
        last = next;
    }
    (way, None)
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
            let cycles = order(&borrowed(&graph)).unwrap_err();
            prop_assert!(!cycles.is_empty());
            for cycle in cycles {
                prop_assert_eq!(cycle.first(), cycle.last());
                prop_assert!(cycle.len() >= 3);
                for pair in cycle.windows(2) {
                    prop_assert!(graph[&pair[0]].contains(&pair[1]));
                }
            }
        }
    }

    #[test]
    fn circles_apart_are_all_told_and_what_waits_for_one_is_none() {
        let graph = graph(6, &[(0, 1), (1, 2), (2, 1), (3, 4), (4, 3), (5, 1), (5, 3)]);
        let paths: Vec<String> = order(&borrowed(&graph))
            .unwrap_err()
            .iter()
            .map(|cycle| cycle.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(paths, ["n1 n2 n1", "n3 n4 n3"]);
    }
}
