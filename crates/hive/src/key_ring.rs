//! The keys that are let in: those of `credentials.json`, which a running gateway looks at again each second and whenever
//! it is asked who it is.
//!
//! A key that is gone from the file is refused first; one of a new account is let in once the account is prepared. A
//! file that cannot be read changes nothing: half of an edit must not shut everybody out.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, PoisonError, RwLock};

use hive_api::sigv4::{Credential, SecretKey};
use hive_ec2::{AccountId, Engine, Log};
use tokio::sync::Mutex;

use crate::credentials::{AccessKey, Credentials};
use crate::data_directory::DataDirectory;
use crate::request::Principal;

type Keys = HashMap<String, Credential<Arc<Principal>>>;

pub(crate) struct KeyRing {
    data: DataDirectory,
    engine: Arc<Engine>,
    log: Log,
    keys: RwLock<Arc<Keys>>,
    /// Held while somebody looks.
    last: Mutex<Look>,
}

/// What the last look found.
#[derive(Default)]
struct Look {
    file: Option<Stamp>,
    /// Said once, not each second.
    trouble: Option<String>,
}

/// Another one means another file, or another content.
#[derive(PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl KeyRing {
    /// With keys of accounts that are prepared.
    pub fn new(data: DataDirectory, engine: Arc<Engine>, credentials: &Credentials, log: Log) -> Self {
        let keys = RwLock::new(Arc::new(credentials.keys.iter().map(entry).collect()));
        Self { data, engine, log, keys, last: Mutex::default() }
    }

    pub fn get(&self, id: &str) -> Option<Credential<Arc<Principal>>> {
        self.now().get(id).cloned()
    }

    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.now().keys().cloned().collect();
        ids.sort();
        ids
    }

    /// Takes up what changed in the file, if anything did.
    pub async fn look(&self) {
        let mut last = self.last.lock().await;
        let trouble = self.take_up(&mut last.file).await.err();
        if let Some(trouble) = trouble.iter().find(|_| trouble != last.trouble) {
            self.log.say(format!("the keys stay as they were for now: {trouble}"));
        }
        last.trouble = trouble;
    }

    async fn take_up(&self, seen: &mut Option<Stamp>) -> Result<(), String> {
        // Taken before the file is read: what is written meanwhile is seen at the next look.
        let file = Stamp::of(&self.data).map_err(|error| format!("{}: {error}", Credentials::FILE))?;
        if seen.as_ref() == Some(&file) {
            return Ok(());
        }
        let found = Credentials::read(&self.data).map_err(|error| error.to_string())?;
        let found = found.ok_or_else(|| format!("there is no {}", Credentials::FILE))?;
        let before = self.now();
        let prepared: BTreeSet<&AccountId> = before.values().map(|key| &key.principal.account).collect();
        // What is gone is gone now, whatever becomes of what is new.
        self.let_in(found.keys.iter().filter(|key| prepared.contains(&key.account)));
        for account in found.accounts().iter().filter(|account| !prepared.contains(account)) {
            let made = self.engine.prepare(account).await;
            made.map_err(|error| format!("account {account} cannot be prepared: {}", error.message))?;
        }
        self.let_in(&found.keys);
        *seen = Some(file);
        self.say_what_changed(&before);
        Ok(())
    }

    fn let_in<'a>(&self, keys: impl IntoIterator<Item = &'a AccessKey>) {
        let keys = Arc::new(keys.into_iter().map(entry).collect());
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    fn now(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn say_what_changed(&self, before: &Keys) {
        let now = self.now();
        let secret = |keys: &Keys, id: &str| keys.get(id).map(|key| key.principal.key.1.clone());
        let other = |these: &Keys, those: &Keys| {
            these.keys().filter(|id| secret(these, id) != secret(those, id)).count()
        };
        let (new, gone) = (other(&now, before), other(before, &now));
        if new + gone > 0 {
            self.log.say(format!("keys changed: {new} let in from now on, {gone} no more"));
        }
    }
}

impl Stamp {
    fn of(data: &DataDirectory) -> std::io::Result<Self> {
        let file = std::fs::metadata(data.file(Credentials::FILE))?;
        let changed = (file.ctime(), file.ctime_nsec());
        Ok(Self { inode: file.ino(), size: file.len(), changed })
    }
}

fn entry(key: &AccessKey) -> (String, Credential<Arc<Principal>>) {
    let principal = Principal {
        account: key.account.clone(),
        arn: key.arn(),
        user_id: key.access_key_id.clone(),
        key: (key.access_key_id.clone(), key.secret_access_key.clone()),
        is_session: false,
    };
    let credential = Credential {
        secret_access_key: SecretKey::new(&*key.secret_access_key),
        session_token: None,
        expires: None,
        principal: Arc::new(principal),
    };
    (key.access_key_id.clone(), credential)
}
