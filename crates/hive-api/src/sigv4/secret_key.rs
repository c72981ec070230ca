//! A secret access key, and the keys that are derived from it: the same for every request of a day, a region and a
//! service, so they are derived once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::authorization::Scope;
use super::verify::mac;

/// Scopes come from clients before anything is verified: only a few are remembered.
const REMEMBERED: usize = 8;

type Derived = (String, [u8; 32]);

#[derive(Clone)]
pub struct SecretKey(Arc<Inner>);

struct Inner {
    secret: String,
    derived: Mutex<Vec<Derived>>,
}

impl SecretKey {
    pub fn new(secret: impl Into<String>) -> Self {
        Self(Arc::new(Inner { secret: secret.into(), derived: Mutex::default() }))
    }

    pub fn expose(&self) -> &str {
        &self.0.secret
    }

    pub(super) fn signing_key(&self, scope: &Scope) -> [u8; 32] {
        let name = scope.without_key();
        // What is behind a poisoned lock is whole: entries are pushed complete.
        let mut derived = self.0.derived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = derived.iter().find(|(known, _)| *known == name) {
            return *key;
        }
        let day = mac(format!("AWS4{}", self.0.secret).as_bytes(), scope.day.as_bytes());
        let region = mac(&day, scope.region.as_bytes());
        let service = mac(&region, scope.service.as_bytes());
        let key = mac(&service, b"aws4_request");
        if derived.len() == REMEMBERED {
            derived.remove(0);
        }
        derived.push((name, key));
        key
    }
}

/// The secret does not get into logs by accident.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}
