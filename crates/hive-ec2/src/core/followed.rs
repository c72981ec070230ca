//! The world as a store that several gateways share has it: what the store tells, in its order, and nothing else.
//!
//! Whatever this gateway writes comes back the same way as what others write, so there is one order of changes, and
//! no older one can come over a newer one. Before anything is read or decided, the store is asked how far it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use eos_store::{Records, StoreError, Watch};
use hive_api::{ApiError, ApiResult};

use super::engine::EngineError;
use super::world::World;
use crate::node::NodeId;

/// How long a request waits for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Followed {
    records: Arc<dyn Records>,
    /// The node of this gateway.
    own: NodeId,
    state: Mutex<State>,
}

struct State {
    watch: Watch,
    /// A change could not be read: what follows it cannot be trusted. The next start says which it is.
    unreadable: bool,
}

impl Followed {
    /// The world as it is now; None for a store that one process has alone.
    pub fn open(records: &Arc<dyn Records>, own: &NodeId) -> Result<Option<(Followed, World)>, EngineError> {
        let Some(mut watch) = records.watch()? else { return Ok(None) };
        let world = World::load(std::mem::take(&mut watch.start), own)?;
        let state = Mutex::new(State { watch, unreadable: false });
        Ok(Some((Followed { records: Arc::clone(records), own: own.clone(), state }, world)))
    }

    /// Brings `world` to where the store was when this was called, or later.
    pub async fn refresh(&self, world: &ArcSwap<World>) -> ApiResult<()> {
        // The timer is for a store that answers nobody: a request must not wait with it.
        let caught_up = tokio::time::timeout(PATIENCE, self.records.caught_up(PATIENCE)).await;
        match caught_up {
            Ok(Ok(_)) => {}
            Ok(Err(StoreError::Damaged { .. })) => return Err(damaged()),
            Ok(Err(_)) | Err(_) => {
                return Err(ApiError::unavailable(
                    "The store that the gateways share does not answer; try again",
                ));
            }
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next: Option<World> = None;
        while let Some(changes) = state.watch.try_next() {
            let next = next.get_or_insert_with(|| World::clone(&world.load()));
            for change in changes.changes {
                let applied = next.apply(&change.key, change.version, change.value.as_deref(), &self.own);
                state.unreadable |= applied.is_err();
            }
        }
        if state.unreadable {
            return Err(damaged());
        }
        if let Some(next) = next {
            world.store(Arc::new(next));
        }
        Ok(())
    }
}

fn damaged() -> ApiError {
    ApiError::unavailable(
        "The store that the gateways share holds something that this gateway cannot read: a newer one may",
    )
}
