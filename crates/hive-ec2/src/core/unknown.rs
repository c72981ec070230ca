//! Parameters that came and that their action does not know: counted, so that coverage can say what is missed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Counts = BTreeMap<(&'static str, String), u64>;

/// Bounded: a hostile client could make up names without end.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Unknown(Mutex<Counts>);

impl Unknown {
    pub fn note(&self, action: &'static str, names: &[String]) {
        // Nearly always nothing, and then no other request has to wait.
        if names.is_empty() {
            return;
        }
        let mut counts = self.counts();
        for name in names {
            if counts.len() < MOST || counts.contains_key(&(action, name.clone())) {
                *counts.entry((action, name.clone())).or_default() += 1;
            }
        }
    }

    /// Action, parameter, how often.
    pub fn list(&self) -> Vec<(&'static str, String, u64)> {
        self.counts().iter().map(|((action, name), count)| (*action, name.clone(), *count)).collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
