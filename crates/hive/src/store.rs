//! Opens the store that the configuration names.

use std::fs::{File, TryLockError};
use std::sync::Arc;

use eos_store::{EmbeddedRecords, Nats, NatsAccess, NatsRecords, NatsSettings, Records, StoreError};

use crate::config::{Config, NatsUrl, Store};
use crate::data_directory::DataDirectory;
use crate::error::HiveError;

/// The records, and what keeps a second gateway out of the data directory: the embedded store does that itself.
pub(crate) async fn open(
    data: &DataDirectory,
    config: &Config,
) -> Result<(Arc<dyn Records>, Option<File>), HiveError> {
    match &config.store {
        Store::Embedded => Ok((Arc::new(EmbeddedRecords::open(&data.store(), config.durability)?), None)),
        Store::Nats(NatsUrl(url)) => {
            let lock = lock(data)?;
            let (url, bucket) = (url.clone(), format!("hive-{}", config.region));
            let opening = tokio::task::spawn_blocking(move || {
                let access = NatsAccess::from_environment(|name| std::env::var(name).ok());
                let nats = Nats::connect(&url, &access)?;
                NatsRecords::open(&nats, &bucket, &NatsSettings::default())
            });
            let records = opening.await.unwrap_or(Err(StoreError::Closed))?;
            Ok((Arc::new(records), Some(lock)))
        }
    }
}

fn lock(data: &DataDirectory) -> Result<File, HiveError> {
    let path = data.file("gateway.lock");
    let file = File::create(&path).map_err(HiveError::file("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(HiveError::InUse(data.path().to_owned())),
        Err(TryLockError::Error(error)) => Err(HiveError::file("lock", &path)(error)),
    }
}
