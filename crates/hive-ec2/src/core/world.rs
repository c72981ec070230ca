//! Every account's resources at one moment. Copies share everything that did not change.

use std::collections::BTreeMap;

use eos_store::{Batch, Record, Version};
use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use super::table::Stored;
use crate::model::account::{Account, AccountId};
use crate::node::NodeId;

/// The form of stored records; a newer one is refused, not guessed at.
const FORMAT: u32 = 1;

#[derive(Clone, Default)]
pub struct World {
    pub accounts: RedBlackTreeMapSync<AccountId, Account>,
    /// How many changes led here: a later world replaces an earlier one, never the other way round.
    pub sequence: u64,
}

/// A stored record as it is read.
#[derive(Deserialize)]
struct Envelope<'a> {
    format: u32,
    account: &'a str,
    node: &'a str,
    kind: &'a str,
    #[serde(borrow)]
    value: &'a serde_json::value::RawValue,
}

impl<'a> Envelope<'a> {
    fn read(key: &str, record: &'a [u8]) -> Result<Envelope<'a>, WorldError> {
        let envelope: Envelope<'_> = serde_json::from_slice(record)
            .map_err(|e| WorldError::Unreadable { key: key.to_owned(), reason: e.to_string() })?;
        if envelope.format > FORMAT {
            return Err(WorldError::NewerFormat { key: key.to_owned(), found: envelope.format });
        }
        Ok(envelope)
    }

    fn load_into(
        &self,
        account: &mut Account,
        key: &str,
        version: Version,
        own: &NodeId,
    ) -> Result<(), WorldError> {
        let unreadable = |reason: String| WorldError::Unreadable { key: key.to_owned(), reason };
        let stored = Stored { version, node: self.node, own };
        let known =
            account.load(self.kind, stored, self.value.get()).map_err(|e| unreadable(e.to_string()))?;
        if known { Ok(()) } else { Err(unreadable(format!("nothing here knows the kind {}", self.kind))) }
    }
}

/// A stored record without its value.
#[derive(Serialize)]
struct Header<'a> {
    format: u32,
    account: &'a str,
    node: &'a str,
    kind: &'a str,
}

impl Header<'_> {
    /// The record. The value is JSON already, and is copied as it is: parsing it again would cost as much as making it.
    fn around(&self, value: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
        let mut record = serde_json::to_vec(self)?;
        record.pop();
        record.reserve_exact(value.len() + 10);
        record.extend_from_slice(b",\"value\":");
        record.extend_from_slice(value);
        record.push(b'}');
        Ok(record)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    #[error("the record {key} cannot be read: {reason}")]
    Unreadable { key: String, reason: String },
    #[error("the record {key} has format {found}; this program knows {FORMAT}: use a newer one")]
    NewerFormat { key: String, found: u32 },
}

/// `account/node/kind/id`
fn record_key(account: &str, node: &str, kind: &str, id: &str) -> String {
    format!("{account}/{node}/{kind}/{id}")
}

/// Account, kind and id.
pub fn parts_of_key(key: &str) -> Option<(&str, &str, &str)> {
    let mut parts = key.splitn(4, '/');
    let (account, _, kind, id) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some((account, kind, id))
}

impl World {
    /// As a gateway of the node `own` reads it.
    pub fn load(records: Vec<Record>, own: &NodeId) -> Result<World, WorldError> {
        let mut accounts: BTreeMap<AccountId, Account> = BTreeMap::new();
        for Record { key, version, value } in records {
            let envelope = Envelope::read(&key, &value)?;
            let id = AccountId::new(envelope.account);
            let account = accounts.entry(id.clone()).or_insert_with(|| Account::new(id));
            envelope.load_into(account, &key, version, own)?;
        }
        Ok(World { accounts: accounts.into_iter().collect(), sequence: 0 })
    }

    /// One record as somebody's change left it; None: it is gone.
    pub fn apply(
        &mut self,
        key: &str,
        version: Version,
        value: Option<&[u8]>,
        own: &NodeId,
    ) -> Result<(), WorldError> {
        let Some(value) = value else {
            if let Some((account, kind, id)) = parts_of_key(key)
                && let Some(account) = self.accounts.get_mut(&AccountId::new(account))
            {
                account.unload(kind, id);
            }
            return Ok(());
        };
        let envelope = Envelope::read(key, value)?;
        let id = AccountId::new(envelope.account);
        if !self.accounts.contains_key(&id) {
            self.accounts.insert_mut(id.clone(), Account::new(id.clone()));
        }
        match self.accounts.get_mut(&id) {
            Some(account) => envelope.load_into(account, key, version, own),
            None => Ok(()),
        }
    }

    pub fn account(&self, id: &AccountId) -> Account {
        self.accounts.get(id).cloned().unwrap_or_else(|| Account::new(id.clone()))
    }
}

/// The store's form of what changed in `account`; what is new belongs to `node`.
pub fn batch_of(account: &mut Account, node: &NodeId) -> Result<Batch, serde_json::Error> {
    let mut batch = Batch::default();
    add_to(&mut batch, account, node)?;
    Ok(batch)
}

pub fn add_to(batch: &mut Batch, account: &mut Account, node: &NodeId) -> Result<(), serde_json::Error> {
    let id = account.id.clone();
    for change in account.take_changes(node)? {
        let node = change.node.as_str();
        let key = record_key(&id, node, change.kind, &change.key);
        match change.value {
            None => batch.delete(key, change.expected),
            Some(value) => {
                let header = Header { format: FORMAT, account: &id, node, kind: change.kind };
                batch.put(key, change.expected, header.around(&value)?);
            }
        }
    }
    Ok(())
}

/// The stored value of one resource, for what is deliberately not kept in memory.
pub fn stored_value(record: &Record) -> Option<String> {
    let envelope: Envelope<'_> = serde_json::from_slice(&record.value).ok()?;
    Some(envelope.value.get().to_owned())
}

pub fn key_of(account: &AccountId, node: &NodeId, kind: &str, id: &str) -> String {
    record_key(account, node.as_str(), kind, id)
}
