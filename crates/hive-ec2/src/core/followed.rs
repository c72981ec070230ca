//! The world as a store that several gateways share has it: what the store tells, in its order, and nothing else.
//!
//! Whatever this gateway writes comes back the same way as what others write, so there is one order of changes, and
//! no older one can come over a newer one. Before anything is read or decided, the store is asked how far it is.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use eos_store::{Changed, Records, StoreError, Watch};
use hive_api::{ApiError, ApiResult};
use tokio::sync::mpsc::UnboundedSender;

use super::engine::EngineError;
use super::id::Id;
use super::log::Log;
use super::world::{World, WorldError, parts_of_key};
use crate::model::account::AccountId;
use crate::model::vpc::Vpc;
use crate::node::NodeId;
use crate::rules;

/// How long a request waits for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A VPC of whose network another gateway changed something.
pub type ChangedNetwork = (AccountId, Id<Vpc>);

pub struct Followed {
    records: Arc<dyn Records>,
    /// Told at once, and not by whoever happens to ask: a client that hangs up must not keep it from the node.
    networks: UnboundedSender<ChangedNetwork>,
    log: Log,
    /// The store did not answer the last time: said once.
    silent: AtomicBool,
    /// The node of this gateway.
    own: NodeId,
    state: Mutex<State>,
}

struct State {
    watch: Watch,
    /// Networks that this gateway wrote a change of and does not know whether it is in: if it is seen, it was.
    in_doubt: BTreeSet<ChangedNetwork>,
    /// A change could not be read: what follows it cannot be trusted. The next start says which it is.
    unreadable: bool,
}

impl Followed {
    /// The world as it is now; None for a store that one process has alone.
    pub fn open(
        records: &Arc<dyn Records>,
        own: &NodeId,
        networks: UnboundedSender<ChangedNetwork>,
        log: &Log,
    ) -> Result<Option<(Followed, World)>, EngineError> {
        let Some(mut watch) = records.watch()? else { return Ok(None) };
        let world = World::load(std::mem::take(&mut watch.start), own)?;
        let followed = Followed {
            records: Arc::clone(records),
            networks,
            log: log.clone(),
            silent: AtomicBool::new(false),
            own: own.clone(),
            state: Mutex::new(State { watch, in_doubt: BTreeSet::new(), unreadable: false }),
        };
        Ok(Some((followed, world)))
    }

    /// Brings `world` to where the store was when this was called, or later.
    pub async fn refresh(&self, world: &ArcSwap<World>) -> ApiResult<()> {
        // The timer is for a store that answers nobody: a request must not wait with it.
        let caught_up = tokio::time::timeout(PATIENCE, self.records.caught_up(PATIENCE)).await;
        match caught_up.unwrap_or(Err(StoreError::Closed)) {
            Ok(_) => {
                if self.silent.swap(false, Ordering::Relaxed) {
                    self.log.say("the store answers again");
                }
            }
            Err(error) => {
                if !self.silent.swap(true, Ordering::Relaxed) {
                    self.log.say(format!("the store does not answer, and so every request fails: {error}"));
                }
                return Err(match error {
                    StoreError::Damaged { .. } => damaged(),
                    _ => {
                        ApiError::unavailable("The store that the gateways share does not answer; try again")
                    }
                });
            }
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next: Option<World> = None;
        while let Some(changes) = state.watch.try_next() {
            let next = next.get_or_insert_with(|| World::clone(&world.load()));
            for change in changes.changes {
                if let Err(error) = self.apply(next, &change, &mut state.in_doubt) {
                    self.log.say(format!("every request fails until a newer gateway is started: {error}"));
                    state.unreadable = true;
                }
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

    /// Nobody knows whether a change of these that this gateway wrote is in.
    pub fn doubt(&self, networks: impl IntoIterator<Item = ChangedNetwork>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).in_doubt.extend(networks);
    }

    /// This gateway's node has a part of every network, so it is told of what others change; of what this gateway
    /// changes it was told, unless that was in doubt.
    fn apply(
        &self,
        world: &mut World,
        change: &Changed,
        in_doubt: &mut BTreeSet<ChangedNetwork>,
    ) -> Result<(), WorldError> {
        let told = change.own && in_doubt.is_empty();
        let networks = |world: &World| {
            let (account, kind, id) = parts_of_key(&change.key).filter(|_| !told)?;
            let account = world.accounts.get(&AccountId::new(account))?;
            let found = rules::networks::of(account, kind, id).into_iter();
            Some(found.map(|vpc| (account.id.clone(), vpc)).collect::<Vec<_>>())
        };
        let before = networks(world);
        world.apply(&change.key, change.version, change.value.as_deref(), &self.own)?;
        let networks = before.into_iter().chain(networks(world)).flatten();
        let untold: BTreeSet<_> =
            networks.filter(|network| !change.own || in_doubt.contains(network)).collect();
        for network in untold {
            if change.own {
                in_doubt.remove(&network);
            }
            // A receiver that is gone has ended with the engine.
            let _ = self.networks.send(network);
        }
        Ok(())
    }
}

fn damaged() -> ApiError {
    ApiError::unavailable(
        "The store that the gateways share holds something that this gateway cannot read: a newer one may",
    )
}
