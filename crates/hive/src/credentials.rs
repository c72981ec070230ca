//! Accounts and their access keys, in `credentials.json` of the data directory.

use std::fmt;
use std::path::Path;

use hive_ec2::AccountId;
use serde::{Deserialize, Serialize};

use crate::config::parse_account;
use crate::data_directory::DataDirectory;
use crate::error::HiveError;

const FORMAT: u32 = 1;

#[derive(Clone, Serialize, Deserialize)]
pub struct AccessKey {
    pub account: AccountId,
    pub user: String,
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// The secret does not get into logs by accident.
impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKey")
            .field("account", &self.account)
            .field("access_key_id", &self.access_key_id)
            .field("secret_access_key", &"•••")
            .finish()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Credentials {
    format: u32,
    pub keys: Vec<AccessKey>,
}

impl Credentials {
    pub(crate) const FILE: &'static str = "credentials.json";

    /// Reads them; makes one account with one key if there are none yet.
    pub(crate) fn open(data: &DataDirectory) -> Result<Self, HiveError> {
        let _alone = data.lock()?;
        Self::read_or_make(data)
    }

    fn read_or_make(data: &DataDirectory) -> Result<Self, HiveError> {
        if let Some(found) = Self::read(data)? {
            return Ok(found);
        }
        let made = Self { format: FORMAT, keys: vec![AccessKey::generate("100000000001", "admin")] };
        made.write(data)?;
        Ok(made)
    }

    /// Of two changes at the same time the second one sees what the first one wrote.
    fn change<T>(
        data: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, HiveError>,
    ) -> Result<T, HiveError> {
        let data = DataDirectory::open(data)?;
        let _alone = data.lock()?;
        let mut credentials = Self::read_or_make(&data)?;
        let changed = change(&mut credentials)?;
        credentials.write(&data)?;
        Ok(changed)
    }

    pub(crate) fn read(data: &DataDirectory) -> Result<Option<Self>, HiveError> {
        let Some(text) = data.read(Self::FILE)? else { return Ok(None) };
        let unreadable = |reason: String| HiveError::Unreadable { path: data.file(Self::FILE), reason };
        let found: Self = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        if found.format > FORMAT {
            return Err(unreadable(format!("its format {} is newer than {FORMAT}", found.format)));
        }
        for key in &found.keys {
            parse_account(&key.account).map_err(|why| unreadable(format!("{}: {why}", key.account)))?;
        }
        Ok(Some(found))
    }

    fn write(&self, data: &DataDirectory) -> Result<(), HiveError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| HiveError::Unreadable {
            path: data.file(Self::FILE),
            reason: error.to_string(),
        })?;
        data.write_private(Self::FILE, &text)
    }

    /// Another key, and with it an account where there was none.
    pub fn add_account(data: &Path, account: &str, user: &str) -> Result<AccessKey, HiveError> {
        parse_account(account).map_err(|why| HiveError::Account(account.to_owned(), why))?;
        Self::change(data, |credentials| {
            let key = AccessKey::generate(account, user);
            credentials.keys.push(key.clone());
            Ok(key)
        })
    }

    /// Takes a key away, and with it every session that it issued.
    pub fn revoke(data: &Path, access_key_id: &str) -> Result<AccessKey, HiveError> {
        let place = |keys: &[AccessKey]| {
            let place = keys.iter().position(|key| key.access_key_id == access_key_id);
            place.ok_or_else(|| HiveError::UnknownKey(access_key_id.to_owned()))
        };
        // A folder is not made only to find that the key is not there.
        place(&Self::list(data)?)?;
        Self::change(data, |credentials| Ok(credentials.keys.remove(place(&credentials.keys)?)))
    }

    /// Every key there is, in the order in which they were made; none is made.
    pub fn list(data: &Path) -> Result<Vec<AccessKey>, HiveError> {
        let found = Self::read(&DataDirectory::look(data))?;
        Ok(found.map(|credentials| credentials.keys).unwrap_or_default())
    }

    pub(crate) fn accounts(&self) -> Vec<AccountId> {
        let mut accounts: Vec<AccountId> = self.keys.iter().map(|key| key.account.clone()).collect();
        accounts.sort();
        accounts.dedup();
        accounts
    }
}

impl AccessKey {
    fn generate(account: &str, user: &str) -> Self {
        Self {
            account: AccountId::new(account),
            user: user.to_owned(),
            access_key_id: format!("AKIA{}", random_text(16, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
            secret_access_key: random_text(
                40,
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            ),
        }
    }

    pub(crate) fn arn(&self) -> String {
        format!("arn:aws:iam::{}:user/{}", self.account, self.user)
    }
}

/// Alphabets have 32 or 64 letters, so every letter is equally likely.
fn random_text(length: usize, alphabet: &[u8]) -> String {
    let mut bytes = vec![0; length];
    crate::gateway::fill_random(&mut bytes);
    bytes.iter().map(|byte| alphabet[*byte as usize % alphabet.len()] as char).collect()
}
