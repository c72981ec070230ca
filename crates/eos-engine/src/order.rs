//! In which order units are done, and which wait for which.
//!
//! A unit comes after what it needs. A unit that goes comes after everything that still uses it; one that nobody uses
//! goes first, so that its ports and names are free for what comes.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::Name;

use crate::record::{Edge, Goal};

/// Unit → the units it needs.
pub type Needs = BTreeMap<Name, Vec<Name>>;

/// Unit → the units of the same run that must be over before, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    pub after: BTreeMap<Name, BTreeMap<Name, Edge>>,
}

impl Graph {
    /// `compiled` is what is needed from now on, `applied` what was needed until now; both may speak of units that take
    /// no part, through which an order is kept.
    pub fn new(goals: &BTreeMap<Name, Goal>, compiled: &Needs, applied: &Needs) -> Graph {
        let mut after: BTreeMap<Name, BTreeMap<Name, Edge>> =
            goals.keys().map(|name| (name.clone(), BTreeMap::new())).collect();
        let is_gone = |name: &Name| goals.get(name) == Some(&Goal::Gone);
        for (name, goal) in goals {
            if *goal == Goal::Present {
                for need in nearest(name, compiled, goals).into_iter().filter(|need| !is_gone(need)) {
                    after.entry(name.clone()).or_default().insert(need, Edge::Needs);
                }
            }
            for used in nearest(name, applied, goals).into_iter().filter(is_gone) {
                after.entry(used).or_default().insert(name.clone(), Edge::Needs);
            }
        }
        let free: Vec<Name> = goals
            .keys()
            .filter(|name| is_gone(name))
            .filter(|name| all_before(name, &after).iter().all(is_gone))
            .cloned()
            .collect();
        for (name, before) in &mut after {
            if !is_gone(name) {
                before.extend(free.iter().map(|free| (free.clone(), Edge::Order)));
            }
        }
        Graph { after }
    }

    /// From edges that were written down.
    pub fn from_edges<'e>(edges: impl Iterator<Item = (&'e Name, &'e BTreeMap<Name, Edge>)>) -> Graph {
        Graph { after: edges.map(|(name, after)| (name.clone(), after.clone())).collect() }
    }

    /// The other way round, for taking things back. Order alone is not kept: it was about making room.
    pub fn reversed(&self) -> Graph {
        let mut after: BTreeMap<Name, BTreeMap<Name, Edge>> =
            self.after.keys().map(|name| (name.clone(), BTreeMap::new())).collect();
        for (name, before) in &self.after {
            for (other, _) in before.iter().filter(|(_, edge)| **edge == Edge::Needs) {
                after.entry(other.clone()).or_default().insert(name.clone(), Edge::Needs);
            }
        }
        Graph { after }
    }

    /// Every unit after those it waits for; by name where nothing else decides.
    pub fn sorted(&self) -> Vec<Name> {
        let mut sorted: Vec<Name> = Vec::new();
        let mut left: BTreeSet<&Name> = self.after.keys().collect();
        while !left.is_empty() {
            let ready: Vec<&Name> = left
                .iter()
                .copied()
                .filter(|name| !self.after[*name].keys().any(|before| left.contains(before)))
                .collect();
            // The compiler refuses cycles; should one get here, it is broken by name.
            let ready = if ready.is_empty() { left.iter().copied().take(1).collect() } else { ready };
            for name in ready {
                left.remove(name);
                sorted.push(name.clone());
            }
        }
        sorted
    }
}

/// How many units need each one, directly or not.
pub fn blast_radius(needs: &Needs) -> BTreeMap<Name, usize> {
    let mut users: BTreeMap<&Name, BTreeSet<&Name>> =
        needs.keys().map(|name| (name, BTreeSet::new())).collect();
    for (name, needed) in needs {
        let mut left: Vec<&Name> = needed.iter().collect();
        while let Some(next) = left.pop() {
            if next != name && users.entry(next).or_default().insert(name) {
                left.extend(needs.get(next).into_iter().flatten());
            }
        }
    }
    users.into_iter().map(|(name, users)| (name.clone(), users.len())).collect()
}

/// The nearest units that take part, along `needs` and through those that do not.
fn nearest(name: &Name, needs: &Needs, goals: &BTreeMap<Name, Goal>) -> BTreeSet<Name> {
    let mut seen: BTreeSet<&Name> = BTreeSet::new();
    let mut found = BTreeSet::new();
    let mut left: Vec<&Name> = needs.get(name).into_iter().flatten().collect();
    while let Some(next) = left.pop() {
        if next == name || !seen.insert(next) {
            continue;
        }
        if goals.contains_key(next) {
            found.insert(next.clone());
        } else {
            left.extend(needs.get(next).into_iter().flatten());
        }
    }
    found
}

fn all_before(name: &Name, after: &BTreeMap<Name, BTreeMap<Name, Edge>>) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&Name> = after.get(name).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(next) = left.pop() {
        if found.insert(next.clone()) {
            left.extend(after.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn needs(list: &[(&str, &[&str])]) -> Needs {
        list.iter().map(|(unit, needs)| (name(unit), needs.iter().map(|need| name(need)).collect())).collect()
    }

    fn goals(present: &[&str], gone: &[&str]) -> BTreeMap<Name, Goal> {
        let present = present.iter().map(|unit| (name(unit), Goal::Present));
        present.chain(gone.iter().map(|unit| (name(unit), Goal::Gone))).collect()
    }

    fn sorted(graph: &Graph) -> Vec<String> {
        graph.sorted().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn needs_come_first_also_through_units_that_take_no_part() {
        let compiled = needs(&[("db", &[]), ("cache", &["db"]), ("web", &["cache"])]);
        let graph = Graph::new(&goals(&["web", "db"], &[]), &compiled, &Needs::new());
        assert_eq!(sorted(&graph), ["db", "web"]);
    }

    #[test]
    fn destroying_goes_from_dependents_to_what_they_need() {
        let applied = needs(&[("db", &[]), ("cache", &["db"]), ("web", &["cache", "db"])]);
        let graph = Graph::new(&goals(&[], &["web", "db", "cache"]), &Needs::new(), &applied);
        assert_eq!(sorted(&graph), ["web", "cache", "db"]);
    }

    #[test]
    fn what_is_replaced_by_another_goes_after_its_users_have_moved() {
        let compiled = needs(&[("new", &[]), ("web", &["new"])]);
        let applied = needs(&[("old", &[]), ("web", &["old"])]);
        let graph = Graph::new(&goals(&["new", "web"], &["old"]), &compiled, &applied);
        assert_eq!(sorted(&graph), ["new", "web", "old"]);
    }

    #[test]
    fn what_nobody_uses_goes_first() {
        let compiled = needs(&[("web", &[])]);
        let graph = Graph::new(&goals(&["web"], &["zombie"]), &compiled, &needs(&[("zombie", &[])]));
        assert_eq!(sorted(&graph), ["zombie", "web"]);
        assert_eq!(graph.after[&name("web")][&name("zombie")], Edge::Order);
    }

    #[test]
    fn the_blast_radius_is_transitive() {
        let radius = blast_radius(&needs(&[("a", &[]), ("b", &["a"]), ("c", &["b", "a"]), ("d", &["c"])]));
        assert_eq!(radius[&name("a")], 3);
        assert_eq!(radius[&name("c")], 1);
        assert_eq!(radius[&name("d")], 0);
    }
}
