//! Parameters that came and that their action does not know: counted, so that coverage can say what is missed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Counts = BTreeMap<(&'static str, String), u64>;

/// Bounded: a hostile client could make up names without end, and names of any length.
const MOST: usize = 10_000;
const LONGEST: usize = 200;

#[derive(Default)]
pub struct Unknown(Mutex<Counts>);

impl Unknown {
    /// Gives those that came for the first time.
    pub fn note(&self, action: &'static str, names: &[String]) -> Vec<String> {
        let mut new = Vec::new();
        // Nearly always nothing, and then no other request has to wait.
        if names.is_empty() {
            return new;
        }
        let mut counts = self.counts();
        for name in names.iter().map(|name| name.chars().take(LONGEST).collect::<String>()) {
            let full = counts.len() >= MOST;
            match counts.entry((action, name)) {
                Entry::Occupied(mut count) => *count.get_mut() += 1,
                Entry::Vacant(_) if full => {}
                Entry::Vacant(place) => {
                    new.push(place.key().1.clone());
                    place.insert(1);
                }
            }
        }
        new
    }

    /// Action, parameter, how often.
    pub fn list(&self) -> Vec<(&'static str, String, u64)> {
        self.counts().iter().map(|((action, name), count)| (*action, name.clone(), *count)).collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
