//! The engine: two worlds and a pipeline between them.
//!
//! `head` is the world as the last accepted change left it; changes are decided on it one after the other,
//! each on a copy that is kept or dropped. `durable` is the world as the disk has it; every Describe reads it
//! without waiting for anyone. A change moves from one to the other when its batch is on disk, and only then
//! is it answered. If the store fails, `head` can no longer be trusted: changes are refused until restart.
//!
//! On a store that several gateways share there is no head: `durable` follows the store (`followed`), and changes are
//! decided on it and written one group at a time (`shared`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use eos_store::{Pending, Records, StoreError};
use hive_api::{ApiError, ApiResult, Params};
use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::action::{Entry, Outcome};
use super::call::{Call, Entropy, Prepared};
use super::client_token::ClientToken;
use super::common::Common;
use super::environment::Environment;
use super::followed::Followed;
use super::leftovers::{Leftover, leftovers};
use super::shared::{self, Shared};
use super::world::{World, WorldError, batch_of, key_of, stored_value};
use crate::model::account::{Account, AccountId};
use crate::node::{Node, Order, Report, Reports, Work};
use crate::{action, rules};

const NETWORK_RETRY: std::time::Duration = std::time::Duration::from_secs(1);

pub struct EngineConfig {
    pub environment: Environment,
    pub records: Arc<dyn Records>,
    pub node: Arc<dyn Node>,
    pub entropy: Entropy,
    /// Time from outside, for reports that arrive without a request.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Accounts that exist; each gets its default VPC when it is first seen.
    pub accounts: Vec<AccountId>,
    /// Refuse parameters that an action does not know instead of counting them.
    pub strict: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("cannot prepare account {account}: {reason}")]
    Bootstrap { account: String, reason: ApiError },
}

struct Head {
    world: World,
    broken: bool,
}

pub struct Engine {
    pub(super) config: EngineConfig,
    head: Mutex<Head>,
    pub(super) durable: ArcSwap<World>,
    /// Only for a store that other gateways write too.
    pub(super) shared: Option<Shared>,
    pub(super) reports: Reports,
    unknown: Mutex<BTreeMap<(&'static str, String), u64>>,
}

/// A change that was decided: on its way to the disk.
struct Decided {
    outcome: Outcome,
    world: World,
    pending: Pending,
    orders: Vec<Order>,
}

impl Engine {
    /// Reads the store, prepares new accounts, gives unfinished orders again, and starts to follow reports.
    /// Must be called inside a tokio runtime.
    pub async fn start(config: EngineConfig) -> Result<Arc<Engine>, EngineError> {
        let (reports, incoming) = unbounded_channel();
        let (queue, jobs) = unbounded_channel();
        let (shared, world) = match Followed::open(&config.records)? {
            Some((followed, world)) => (Some(Shared { followed, queue }), world),
            None => (None, World::load(config.records.all()?)?),
        };
        // Nobody looks at the head of a shared store; it would only keep old records in memory.
        let head = if shared.is_some() { World::default() } else { world.clone() };
        let engine = Arc::new(Engine {
            durable: ArcSwap::from_pointee(world),
            head: Mutex::new(Head { world: head, broken: false }),
            shared,
            reports,
            unknown: Mutex::default(),
            config,
        });
        if engine.shared.is_some() {
            tokio::spawn(shared::write(Arc::downgrade(&engine), jobs));
            tokio::spawn(shared::finish_for_others(Arc::downgrade(&engine)));
        }
        for account in engine.config.accounts.clone() {
            let prepared = engine.perform(&account, "Bootstrap", rules::bootstrap::bootstrap);
            let failed = |reason| EngineError::Bootstrap { account: account.to_string(), reason };
            prepared.await.map_err(failed)?;
        }
        engine.resume_orders().await;
        tokio::spawn(follow_reports(Arc::downgrade(&engine), incoming));
        Ok(engine)
    }

    pub fn environment(&self) -> &Environment {
        &self.config.environment
    }

    /// Runs one action for `account` and gives the content of its response element.
    pub async fn call(
        self: &Arc<Self>,
        account: &AccountId,
        name: &str,
        params: Params,
    ) -> ApiResult<String> {
        let Some(entry) = action::find(name) else {
            return Err(ApiError::invalid_action(name, "this web service"));
        };
        let mut own = params;
        let common = Common::take(&mut own, &entry.accepts)?;
        if entry.is_read_only() || common.dry_run {
            self.refresh().await?;
        }
        if entry.is_read_only() {
            return self.read(account, entry, &own, common);
        }
        if common.dry_run {
            return self.dry_run(account, entry, &own, common);
        }
        let prepared = match entry.prepare {
            None => Prepared::Nothing,
            Some(prepare) => {
                let (params, entropy) = (own.clone(), Arc::clone(&self.config.entropy));
                let work = tokio::task::spawn_blocking(move || prepare(&params, &entropy));
                work.await.map_err(|_| ApiError::internal("The request could not be prepared"))??
            }
        };
        self.write(account, entry, own, common, prepared).await
    }

    /// With this a Describe is never older than the last change that any gateway answered.
    pub async fn refresh(&self) -> ApiResult<()> {
        match &self.shared {
            Some(shared) => shared.followed.refresh(&self.durable).await,
            None => Ok(()),
        }
    }

    fn read(&self, account: &AccountId, entry: &Entry, params: &Params, common: Common) -> ApiResult<String> {
        let mut account = self.durable.load().account(account);
        let dry_run = common.dry_run;
        let mut call = self.call_on(&mut account, entry.name, common);
        let outcome = (entry.run)(params, &mut call)?;
        self.note_unknown(entry.name, &outcome.unknown)?;
        if dry_run { Err(would_succeed()) } else { Ok(outcome.content) }
    }

    /// DryRun: the whole action on a copy that nobody keeps.
    fn dry_run(
        &self,
        account: &AccountId,
        entry: &Entry,
        params: &Params,
        common: Common,
    ) -> ApiResult<String> {
        let mut copy = match self.shared {
            Some(_) => self.durable.load().account(account),
            None => self.lock_head().world.account(account),
        };
        let mut call = self.call_on(&mut copy, entry.name, common);
        let outcome = (entry.run)(params, &mut call)?;
        self.note_unknown(entry.name, &outcome.unknown)?;
        Err(would_succeed())
    }

    async fn write(
        self: &Arc<Self>,
        account: &AccountId,
        entry: &'static Entry,
        params: Params,
        common: Common,
        prepared: Prepared,
    ) -> ApiResult<String> {
        let token = common.client_token.as_deref().map(|token| {
            let parameters = ClientToken::digest(&params, &common.tag_specifications);
            ClientToken::new(entry.name, token, parameters, (self.config.clock)())
        });
        let token_id = token.as_ref().map(|token| token.id.clone());
        let earlier = Arc::new(AtomicBool::new(false));
        // May run more than once: whatever it found out the last time is what counts.
        let run = {
            let (engine, earlier) = (Arc::clone(self), Arc::clone(&earlier));
            move |call: &mut Call<'_>| {
                earlier.store(false, Ordering::Relaxed);
                if let Some(token) = &token
                    && let Some(known) = call.account.client_tokens.get(&token.id)
                    && !known.is_expired(call.now)
                {
                    earlier.store(known.parameters == token.parameters, Ordering::Relaxed);
                    return Err(ClientToken::mismatch());
                }
                call.prepared = prepared.clone();
                let outcome = (entry.run)(&params, call)?;
                engine.note_unknown(entry.name, &outcome.unknown)?;
                if let Some(token) = &token {
                    call.account.client_tokens.insert(token.with_answer(&outcome.content));
                }
                Ok(outcome)
            }
        };
        let answer = match &self.shared {
            Some(shared) => shared.submit(account, entry.name, common, Box::new(run)).await,
            None => match self.change(account, entry.name, common, run) {
                Err(error) => Err(error),
                Ok(decided) => {
                    // A task of its own: a client that hangs up must not keep a durable change from being seen.
                    let (engine, account) = (Arc::clone(self), account.clone());
                    tokio::spawn(async move { engine.finish(&account, decided).await })
                        .await
                        .unwrap_or_else(|_| Err(ApiError::internal("The change could not be finished")))
                }
            },
        };
        match token_id {
            Some(id) if earlier.load(Ordering::Relaxed) => self.answer_again(account, &id).await,
            _ => answer,
        }
    }

    /// The stored answer of an earlier request, once that request is durable itself.
    async fn answer_again(&self, account: &AccountId, id: &str) -> ApiResult<String> {
        self.config.records.submit(eos_store::Batch::default()).await.map_err(store_failed)?;
        let key = key_of(account, &self.config.environment.node, "client-token", id);
        let records = Arc::clone(&self.config.records);
        let reading = tokio::task::spawn_blocking(move || records.get(&key)).await;
        let record = reading.unwrap_or(Err(StoreError::Closed)).map_err(store_failed)?;
        record
            .and_then(|record| ClientToken::answer_in(&stored_value(&record)?))
            .ok_or_else(|| ApiError::unavailable("The earlier request did not finish; try again"))
    }

    /// A change that nobody asked for by an action.
    async fn perform(
        &self,
        account: &AccountId,
        name: &'static str,
        mut run: impl FnMut(&mut Call<'_>) -> ApiResult<()> + Send + 'static,
    ) -> ApiResult<()> {
        let run = move |call: &mut Call<'_>| {
            run(call).map(|()| Outcome { content: String::new(), unknown: Vec::new() })
        };
        match &self.shared {
            Some(shared) => shared.submit(account, name, Common::default(), Box::new(run)).await?,
            None => {
                let decided = self.change(account, name, Common::default(), run)?;
                self.finish(account, decided).await?
            }
        };
        Ok(())
    }

    /// Decides a change on the head and queues it for the disk, in order.
    fn change(
        &self,
        id: &AccountId,
        action: &'static str,
        common: Common,
        run: impl FnOnce(&mut Call<'_>) -> ApiResult<Outcome>,
    ) -> ApiResult<Decided> {
        let mut head = self.lock_head();
        if head.broken {
            return Err(ApiError::unavailable("The store failed; changes are refused until a restart"));
        }
        let mut account = head.world.account(id);
        let mut call = self.call_on(&mut account, action, common);
        let outcome = run(&mut call)?;
        let mut orders = std::mem::take(&mut call.orders);
        orders.extend(rules::networks::changed(&account).into_iter().map(Order::ApplyNetwork));
        let batch = batch_of(&mut account, &self.config.environment.node)
            .map_err(|error| ApiError::internal(error.to_string()))?;
        head.world.accounts.insert_mut(id.clone(), account);
        head.world.sequence += 1;
        let pending = self.config.records.submit(batch);
        Ok(Decided { outcome, world: head.world.clone(), pending, orders })
    }

    /// Waits for the disk, publishes the new world, gives the orders.
    async fn finish(&self, account: &AccountId, decided: Decided) -> ApiResult<String> {
        if let Err(error) = decided.pending.await {
            self.lock_head().broken = true;
            return Err(store_failed(error));
        }
        self.durable.rcu(|current| {
            if current.sequence < decided.world.sequence {
                Arc::new(decided.world.clone())
            } else {
                Arc::clone(current)
            }
        });
        for order in decided.orders {
            self.config.node.accept(Work { account: account.clone(), order }, &self.reports).await;
        }
        Ok(decided.outcome.content)
    }

    /// Everything reported for one account in one change: a burst costs one sync.
    async fn report(&self, account: &AccountId, reports: Vec<Report>) -> ApiResult<()> {
        let apply = move |call: &mut Call<'_>| {
            reports.iter().try_for_each(|report| rules::lifecycle::apply(call, report))
        };
        self.perform(account, "Report", apply).await
    }

    /// The records do not wait for a network, so there is nothing to note; one that could not be made is ordered
    /// again until it can.
    fn network_applied(self: &Arc<Self>, report: Report) {
        if report.result.is_err() {
            let engine = Arc::downgrade(self);
            tokio::spawn(async move {
                tokio::time::sleep(NETWORK_RETRY).await;
                if let Some(engine) = engine.upgrade() {
                    engine.config.node.accept(report.work, &engine.reports).await;
                }
            });
        }
    }

    async fn resume_orders(&self) {
        let world = self.durable.load_full();
        for (id, account) in &world.accounts {
            for order in rules::lifecycle::unfinished(account) {
                self.config.node.accept(Work { account: id.clone(), order }, &self.reports).await;
            }
        }
    }

    /// Forgets what was kept only for a while. Meant for a timer; idempotent.
    pub async fn sweep(&self) -> ApiResult<()> {
        for id in self.durable.load_full().accounts.keys() {
            self.perform(id, "Sweep", |call| {
                rules::lifecycle::sweep(call);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    pub fn leftovers(&self) -> Vec<Leftover> {
        self.durable.load().accounts.values().flat_map(leftovers).collect()
    }

    /// References that lead nowhere, over all accounts: always empty, or there is a bug.
    pub fn dangling(&self) -> Vec<String> {
        self.durable.load().accounts.values().flat_map(super::integrity::dangling).collect()
    }

    /// How often each parameter came that its action does not know.
    pub fn unknown_parameters(&self) -> Vec<(&'static str, String, u64)> {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.iter().map(|((action, name), count)| (*action, name.clone(), *count)).collect()
    }

    fn note_unknown(&self, action: &'static str, names: &[String]) -> ApiResult<()> {
        if let (true, Some(name)) = (self.config.strict, names.first()) {
            return Err(ApiError::unknown_parameter(name));
        }
        // Bounded: a hostile client could make up names without end.
        const MOST: usize = 10_000;
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            if unknown.len() < MOST || unknown.contains_key(&(action, name.clone())) {
                *unknown.entry((action, name.clone())).or_default() += 1;
            }
        }
        Ok(())
    }

    pub(super) fn call_on<'a>(
        &'a self,
        account: &'a mut Account,
        action: &'static str,
        common: Common,
    ) -> Call<'a> {
        Call {
            account,
            environment: &self.config.environment,
            notice: self.config.node.notice(),
            now: (self.config.clock)(),
            common,
            prepared: Prepared::Nothing,
            action,
            entropy: &self.config.entropy,
            orders: Vec::new(),
        }
    }

    /// A panic inside an action drops its copy, so the head behind a poisoned lock is still whole.
    fn lock_head(&self) -> MutexGuard<'_, Head> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn follow_reports(engine: std::sync::Weak<Engine>, mut incoming: UnboundedReceiver<Report>) {
    let mut burst = Vec::new();
    while incoming.recv_many(&mut burst, 256).await > 0 {
        let Some(engine) = engine.upgrade() else { return };
        let mut by_account: BTreeMap<AccountId, Vec<Report>> = BTreeMap::new();
        for report in burst.drain(..) {
            if let Order::ApplyNetwork(_) = report.work.order {
                engine.network_applied(report);
                continue;
            }
            by_account.entry(report.work.account.clone()).or_default().push(report);
        }
        for (account, reports) in by_account {
            // A store that fails has broken the head; the orders are given again after the restart. A shared one
            // has them finished by whichever gateway reaches it next.
            let _ = engine.report(&account, reports).await;
        }
    }
}

fn would_succeed() -> ApiError {
    ApiError::client("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
        .with_status(412)
}

pub(super) fn store_failed(error: StoreError) -> ApiError {
    match error {
        StoreError::Conflict { .. } => {
            ApiError::unavailable("Another gateway changed this resource; try again")
        }
        StoreError::TooLarge { .. } => ApiError::client(
            "RequestLimitExceeded",
            "The store cannot take this change in one piece; ask for less at once",
        )
        .with_status(503),
        StoreError::Unknown { .. } => ApiError::unavailable(
            "The store fell silent during the change; whether it was made will show when it is back",
        ),
        _ => ApiError::unavailable("The store does not accept changes"),
    }
}
