//! Changes on a store that several gateways share.
//!
//! What waits for an account is decided together on one copy of it and written as one batch. Every batch writes the
//! account's settings again, expecting the version on which it was decided: of two gateways that decide at the same
//! time one is refused, whatever the two changes were about, and decides again on what the other did. So a child is
//! never made in a parent that goes away, no address, name or client token is taken twice, and no rule has to say
//! which records it has read. Public addresses, which are unique over all accounts, have such a record of their own. One batch of an account is under way at a time, so no change ever builds on one that
//! may still be refused.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use eos_store::StoreError;
use hive_api::{ApiError, ApiResult};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use super::action::Outcome;
use super::call::Call;
use super::common::Common;
use super::engine::Engine;
use super::followed::Followed;
use super::store_failed::store_failed;
use super::table::Listed as _;
use super::world::{add_to, batch_of};
use crate::model::account::AccountId;
use crate::model::settings::Settings;
use crate::node::Order;
use crate::rules;

/// A group that loses against other gateways this often in a row is given up; nothing of it was written.
const MOST_ATTEMPTS: u32 = 40;
/// A batch with this many records takes no more: NATS has a limit of 999.
const FULL: usize = 300;

/// The account of what all accounts have together.
pub const EVERYONE: &str = "000000000000";

pub type Decide = Box<dyn FnMut(&mut Call<'_>) -> ApiResult<Outcome> + Send>;

pub struct Shared {
    pub followed: Followed,
    pub queue: UnboundedSender<Job>,
}

/// A change that waits for its turn.
pub struct Job {
    account: AccountId,
    action: &'static str,
    common: Common,
    run: Decide,
    answer: oneshot::Sender<ApiResult<String>>,
}

impl Shared {
    /// Answered once it is durable. Whoever goes away before does not take the change along.
    pub async fn submit(
        &self,
        account: &AccountId,
        action: &'static str,
        common: Common,
        run: Decide,
    ) -> ApiResult<String> {
        let (answer, answered) = oneshot::channel();
        // A writer that is gone drops the answer.
        let _ = self.queue.send(Job { account: account.clone(), action, common, run, answer });
        answered.await.unwrap_or_else(|_| Err(ApiError::internal("The change could not be finished")))
    }
}

/// Writes what is queued, as long as the engine is there.
pub async fn write(engine: Weak<Engine>, mut queue: UnboundedReceiver<Job>) {
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, 256).await > 0 {
        let Some(engine) = engine.upgrade() else { return };
        let mut accounts: BTreeMap<AccountId, VecDeque<Job>> = BTreeMap::new();
        for job in waiting.drain(..) {
            accounts.entry(job.account.clone()).or_default().push_back(job);
        }
        // Tasks of their own: an action that panics ends its group, and nothing else.
        let mut groups = tokio::task::JoinSet::new();
        for (account, jobs) in accounts {
            let engine = Arc::clone(&engine);
            groups.spawn(async move { engine.write_all(&account, jobs).await });
        }
        while groups.join_next().await.is_some() {}
    }
}

/// What one attempt decided, and has not yet answered.
struct Attempt {
    /// For each job in order.
    answers: Vec<ApiResult<String>>,
    orders: Vec<Order>,
    written: Result<(), StoreError>,
}

impl Engine {
    async fn write_all(&self, account: &AccountId, mut jobs: VecDeque<Job>) {
        let (mut attempts, mut full) = (0, FULL);
        while !jobs.is_empty() {
            let attempt = match self.attempt(account, jobs.make_contiguous(), full).await {
                Ok(attempt) => attempt,
                Err(error) => {
                    jobs.drain(..).for_each(|job| drop(job.answer.send(Err(error.clone()))));
                    return;
                }
            };
            let count = attempt.answers.len();
            match attempt.written {
                Ok(()) => {
                    (attempts, full) = (0, FULL);
                    self.give(account, attempt.orders).await;
                    for (job, answer) in jobs.drain(..count).zip(attempt.answers) {
                        let _ = job.answer.send(answer);
                    }
                }
                Err(StoreError::Conflict { .. }) if attempts < MOST_ATTEMPTS => {
                    attempts += 1;
                    tokio::time::sleep(self.pause(attempts)).await;
                }
                // Each by itself.
                Err(StoreError::TooLarge { .. }) if count > 1 => full = 0,
                Err(error) => {
                    // Who asked for too much at once is told, and can ask for less.
                    if !matches!(error, StoreError::TooLarge { .. }) {
                        self.doubt(account, attempt.orders).await;
                        let log = &self.config.log;
                        log.say(format!("the store did not take a change of account {account}: {error}"));
                    }
                    let error = store_failed(error);
                    jobs.drain(..count).for_each(|job| drop(job.answer.send(Err(error.clone()))));
                    (attempts, full) = (0, FULL);
                }
            }
        }
    }

    /// A change that the store did not answer may be in, or get in yet. Other orders are found open then; of networks
    /// the node is told now, and once more when the change is seen.
    async fn doubt(&self, account: &AccountId, orders: Vec<Order>) {
        let is_network = |order: &Order| matches!(order, Order::ApplyNetwork(_));
        let orders: Vec<Order> = orders.into_iter().filter(is_network).collect();
        if let Some(shared) = &self.shared {
            shared.followed.doubt(orders.iter().filter_map(|order| match order {
                Order::ApplyNetwork(vpc) => Some((account.clone(), vpc.clone())),
                _ => None,
            }));
        }
        self.give(account, orders).await;
    }

    /// Decides as many jobs as fit, each on what those before it left. Also a refusal holds only if the batch does:
    /// it may be about something that a job before it made.
    async fn attempt(&self, id: &AccountId, jobs: &mut [Job], full: usize) -> ApiResult<Attempt> {
        self.refresh().await?;
        let world = self.durable.load_full();
        let mut account = world.account(id);
        let (mut answers, mut orders) = (Vec::new(), Vec::new());
        for job in jobs {
            if !answers.is_empty() && account.changed() >= full {
                break;
            }
            let mut copy = account.clone();
            let mut call = self.call_on(&world, &mut copy, job.action, job.common.clone());
            let decided = (job.run)(&mut call);
            let wanted = std::mem::take(&mut call.orders);
            answers.push(decided.map(|outcome| {
                orders.extend(wanted);
                account = copy;
                outcome.content
            }));
        }
        if account.changed() == 0 {
            return Ok(Attempt { answers, orders, written: Ok(()) });
        }
        account.settings.edit(Settings::default().key())?;
        orders.extend(rules::networks::changed(&account).into_iter().map(Order::ApplyNetwork));
        let takes_public_address = rules::addresses::takes_public_address(&account);
        let own = &self.config.environment.node;
        let internal = |error: serde_json::Error| ApiError::internal(error.to_string());
        let mut batch = batch_of(&mut account, own).map_err(internal)?;
        if takes_public_address {
            // As the settings are for one account: of two that take an address at the same time one decides again.
            let mut everyone = world.account(&AccountId::new(EVERYONE));
            everyone.settings.insert(Settings::default());
            add_to(&mut batch, &mut everyone, own).map_err(internal)?;
        }
        let written = self.config.records.submit(batch).await;
        Ok(Attempt { answers, orders, written })
    }

    /// Not the same for two gateways, so that they do not meet again and again.
    fn pause(&self, attempts: u32) -> Duration {
        let mut byte = [0; 1];
        (self.config.entropy)(&mut byte);
        Duration::from_micros(u64::from(byte[0]) * 40 * u64::from(attempts.min(10)))
    }
}
