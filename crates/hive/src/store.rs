//! Opens the store that the configuration names.

use std::fs::{File, TryLockError};
use std::sync::Arc;

use eos_store::{EmbeddedRecords, Nats, NatsAccess, NatsRecords, NatsSettings, Records, StoreError};

use crate::config::{Config, NatsUrl, Store};
use crate::data_directory::DataDirectory;
use crate::error::HiveError;

/// The records, and what keeps a second gateway out of the data directory.
pub(crate) async fn open(
    data: &DataDirectory,
    config: &Config,
) -> Result<(Arc<dyn Records>, File), HiveError> {
    let lock = lock(data)?;
    let records: Arc<dyn Records> = match &config.store {
        Store::Embedded => {
            let records = EmbeddedRecords::open(&data.store(), config.durability)?;
            data.make_private(&data.store())?;
            Arc::new(records)
        }
        Store::Nats(NatsUrl(url)) => {
            let (url, bucket) = (url.clone(), format!("hive-{}", config.region));
            let opening = tokio::task::spawn_blocking(move || {
                let access = NatsAccess::from_environment(|name| std::env::var(name).ok());
                let nats = Nats::connect(&url, &access)?;
                NatsRecords::open(&nats, &bucket, &NatsSettings::default())
            });
            Arc::new(opening.await.unwrap_or(Err(StoreError::Closed))?)
        }
    };
    Ok((records, lock))
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
