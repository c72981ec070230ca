//! What a filter saw that no index has, because it follows from more than one resource: kept until the account changes.
//!
//! To look at a hundred thousand resources takes a filter longer than a client should wait. Whoever asks the same of the same
//! records again finds which have a value without looking. An index that is kept up to date would have to know
//! which resources each value follows from; this only has to know that nothing changed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::index::Digits;
use crate::model::account::{Account, Moment};

/// The resources that have each value.
pub type ByValue = BTreeMap<String, Vec<Digits>>;

/// As many are kept; each has some ten bytes for every resource.
const MOST: usize = 16;

#[derive(Default)]
pub struct Seen(Mutex<VecDeque<Entry>>);

struct Entry {
    moment: Moment,
    action: &'static str,
    filter: String,
    by_value: Arc<ByValue>,
}

impl Seen {
    /// What was seen of this very account, or what `look` sees now.
    pub fn get(
        &self,
        account: &Account,
        action: &'static str,
        filter: &str,
        look: impl FnOnce() -> ByValue,
    ) -> Arc<ByValue> {
        let moment = account.moment();
        let is_this =
            |entry: &&Entry| entry.action == action && entry.filter == filter && entry.moment.is(&moment);
        let entries = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = entries().iter().find(is_this) {
            return Arc::clone(&found.by_value);
        }
        // Not under the lock: others may look at something else meanwhile.
        let by_value = Arc::new(look());
        let mut entries = entries();
        entries.retain(|entry| entry.moment.is_of_now());
        entries.truncate(MOST - 1);
        let entry = Entry { moment, action, filter: filter.to_owned(), by_value: Arc::clone(&by_value) };
        entries.push_front(entry);
        by_value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::account::AccountId;
    use crate::model::settings::Settings;

    #[test]
    fn it_looks_once_until_something_changes() {
        let (seen, mut looks) = (Seen::default(), 0);
        let mut account = Account::new(AccountId::new("100000000001"));
        let mut ask = |account: &Account, filter: &str| {
            seen.get(account, "DescribeSubnets", filter, || {
                looks += 1;
                ByValue::from([(looks.to_string(), Vec::new())])
            })
            .keys()
            .next()
            .cloned()
        };
        assert_eq!(ask(&account, "state").as_deref(), Some("1"));
        // A copy that nobody changed is the same account.
        assert_eq!(ask(&account.clone(), "state").as_deref(), Some("1"));
        assert_eq!(ask(&account, "enable-dns64").as_deref(), Some("2"));
        let before = account.clone();
        account.settings.insert(Settings::default());
        assert_eq!(ask(&account, "state").as_deref(), Some("3"));
        assert_eq!(ask(&before, "state").as_deref(), Some("1"));
        drop(before);
        assert_eq!(ask(&account, "owner-id").as_deref(), Some("4"));
        // What nobody has any more is not kept.
        assert_eq!(seen.0.lock().unwrap_or_else(PoisonError::into_inner).len(), 2);
    }
}
