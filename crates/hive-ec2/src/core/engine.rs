//! The engine: two worlds and a pipeline between them.
//!
//! `head` is the world as the last accepted change left it; changes are decided on it one after the other,
//! each on a copy that is kept or dropped. `durable` is the world as the disk has it; every Describe reads it
//! without waiting for anyone. A change moves from one to the other when its batch is on disk, and only then
//! is it answered. If the store fails, `head` can no longer be trusted: changes are refused until restart.
//!
//! On a store that several gateways share there is no head: `durable` follows the store (`followed`), and changes are
//! decided on it and written one group at a time (`shared`). What has to do with a head is in `alone`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use eos_store::{Records, StoreError};
use hive_api::{ApiError, ApiResult, Params};
use jiff::Timestamp;
use tokio::sync::mpsc::unbounded_channel;

use super::action::{Entry, Outcome};
use super::alone::Head;
use super::call::{Call, Entropy, Prepared};
use super::client_token::ClientToken;
use super::common::{Common, would_succeed};
use super::environment::Environment;
use super::followed::Followed;
use super::leftovers::{Leftover, leftovers};
use super::log::Log;
use super::reports::{follow_networks, follow_reports, give_again};
use super::shared::{self, Shared};
use super::store_failed::store_failed;
use super::table::Resource as _;
use super::to_the_end::ToTheEnd;
use super::unknown::Unknown;
use super::world::{World, WorldError, key_of, stored_value};
use crate::data::{parameters, refused};
use crate::model::account::{Account, AccountId};
use crate::node::{Node, Order, Reports};
use crate::{action, rules};

pub struct EngineConfig {
    pub environment: Environment,
    pub records: Arc<dyn Records>,
    pub node: Arc<dyn Node>,
    pub entropy: Entropy,
    /// Time from outside, for reports that arrive without a request.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Accounts that exist; each is prepared.
    pub accounts: Vec<AccountId>,
    /// Refuse parameters that an action does not know instead of counting them.
    pub strict: bool,
    pub log: Log,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("the records are of the region {found}, not {asked}")]
    Region { found: String, asked: String },
    #[error("cannot prepare account {account}: {reason}")]
    Bootstrap { account: String, reason: ApiError },
}

pub struct Engine {
    pub(super) config: EngineConfig,
    pub(super) head: Mutex<Head>,
    pub(super) durable: ArcSwap<World>,
    /// Only for a store that other gateways write too.
    pub(super) shared: Option<Shared>,
    pub(super) reports: Reports,
    /// Those that could not be made and are about to be ordered again.
    pub(super) late_networks: Mutex<BTreeSet<(AccountId, Order)>>,
    unknown: Unknown,
    looked_at: AtomicU64,
}

impl Engine {
    /// Reads the store, prepares new accounts, gives unfinished orders again, and starts to follow reports.
    /// Must be called inside a tokio runtime.
    pub async fn start(config: EngineConfig) -> Result<Arc<Engine>, EngineError> {
        let (reports, incoming) = unbounded_channel();
        let (queue, jobs) = unbounded_channel();
        let (networks, changed_networks) = unbounded_channel();
        let own = &config.environment.node;
        let (shared, world) = match Followed::open(&config.records, own, networks, &config.log)? {
            Some((followed, world)) => (Some(Shared { followed, queue }), world),
            None => (None, World::load(config.records.all()?, own)?),
        };
        check_region(&world, &config.environment.region)?;
        // Nobody looks at the head of a shared store; it would only keep old records in memory.
        let head = if shared.is_some() { World::default() } else { world.clone() };
        let engine = Arc::new(Engine {
            durable: ArcSwap::from_pointee(world),
            head: Mutex::new(Head { world: head, broken: false }),
            shared,
            reports,
            late_networks: Mutex::default(),
            unknown: Unknown::default(),
            looked_at: AtomicU64::new(0),
            config,
        });
        if engine.shared.is_some() {
            tokio::spawn(shared::write(Arc::downgrade(&engine), jobs));
        }
        for account in engine.config.accounts.clone() {
            let failed = |reason| EngineError::Bootstrap { account: account.to_string(), reason };
            engine.prepare(&account).await.map_err(failed)?;
        }
        engine.resume_orders().await;
        tokio::spawn(follow_reports(Arc::downgrade(&engine), incoming));
        tokio::spawn(follow_networks(Arc::downgrade(&engine), changed_networks));
        tokio::spawn(give_again(Arc::downgrade(&engine)));
        Ok(engine)
    }

    /// Gives an account its default VPC when it is first seen.
    pub async fn prepare(&self, account: &AccountId) -> ApiResult<()> {
        self.perform(account, "Bootstrap", rules::bootstrap::bootstrap).await
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
            return Err(match refused::why(name) {
                Some(why) => ApiError::client("UnsupportedOperation", format!("{name} is refused: {why}")),
                None => ApiError::invalid_action(name, "this web service"),
            });
        };
        let mut own = params;
        let common = Common::take(&mut own, entry.name, &entry.accepts)?;
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
        let world = self.durable.load();
        let mut account = world.account(account);
        let dry_run = common.dry_run;
        let mut call = self.call_on(&world, &mut account, entry.name, common);
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
        let world = match self.shared {
            Some(_) => World::clone(&self.durable.load()),
            None => self.lock_head().world.clone(),
        };
        let mut copy = world.account(account);
        let token = self.token(entry, params, &common);
        let mut call = self.call_on(&world, &mut copy, entry.name, common);
        if let Some(token) = &token
            && let Some(known) = token.used(&call)
        {
            // With the same parameters the answer would be that of the first time.
            let same = known.parameters == token.parameters;
            return Err(if same { would_succeed() } else { ClientToken::mismatch() });
        }
        let outcome = (entry.run)(params, &mut call)?;
        rules::limits::check(&call)?;
        self.note_unknown(entry.name, &outcome.unknown)?;
        Err(would_succeed())
    }

    /// The token of a request, if it came with one.
    fn token(&self, entry: &Entry, params: &Params, common: &Common) -> Option<ClientToken> {
        let token = common.client_token.as_deref()?;
        let parameters = ClientToken::digest(params, &common.tag_specifications);
        Some(ClientToken::new(entry.name, token, parameters, (self.config.clock)()))
    }

    async fn write(
        self: &Arc<Self>,
        account: &AccountId,
        entry: &'static Entry,
        params: Params,
        common: Common,
        prepared: Prepared,
    ) -> ApiResult<String> {
        let token = self.token(entry, &params, &common);
        // The key of an earlier request with the same token and parameters.
        let earlier = Arc::new(Mutex::new(None));
        // May run more than once: whatever it found out the last time is what counts.
        let run = {
            let (engine, earlier) = (Arc::clone(self), Arc::clone(&earlier));
            move |call: &mut Call<'_>| {
                let mut earlier = earlier.lock().unwrap_or_else(PoisonError::into_inner);
                *earlier = None;
                if let Some(token) = &token
                    && let Some(known) = token.used(call)
                {
                    if known.parameters == token.parameters {
                        let node = call.account.client_tokens.node_of(&token.id, &call.environment.node);
                        *earlier = Some(key_of(&call.account.id, &node, ClientToken::KIND.name, &token.id));
                    }
                    return Err(ClientToken::mismatch());
                }
                call.prepared = prepared.clone();
                let outcome = (entry.run)(&params, call)?;
                rules::limits::check(call)?;
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
                    // A client that hangs up must not keep a durable change from being seen.
                    let (engine, account) = (Arc::clone(self), account.clone());
                    ToTheEnd::new(async move { engine.finish(&account, decided).await }).await
                }
            },
        };
        let earlier = earlier.lock().unwrap_or_else(PoisonError::into_inner).take();
        match earlier {
            Some(key) => self.answer_again(key).await,
            None => answer,
        }
    }

    /// The stored answer of an earlier request, once that request is durable itself.
    async fn answer_again(&self, key: String) -> ApiResult<String> {
        self.config.records.submit(eos_store::Batch::default()).await.map_err(store_failed)?;
        let records = Arc::clone(&self.config.records);
        let reading = tokio::task::spawn_blocking(move || records.get(&key)).await;
        let record = reading.unwrap_or(Err(StoreError::Closed)).map_err(store_failed)?;
        record
            .and_then(|record| ClientToken::answer_in(&stored_value(&record)?))
            .ok_or_else(|| ApiError::unavailable("The earlier request did not finish; try again"))
    }

    /// A change that nobody asked for by an action.
    pub(super) async fn perform(
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

    /// Forgets what was kept only for a while. Meant for a timer; idempotent.
    pub async fn sweep(&self) -> ApiResult<()> {
        for id in self.durable.load_full().accounts.keys() {
            let more = Arc::new(AtomicBool::new(true));
            while more.load(Ordering::Relaxed) {
                let more = Arc::clone(&more);
                let sweep = move |call: &mut Call<'_>| {
                    more.store(rules::lifecycle::sweep(call), Ordering::Relaxed);
                    Ok(())
                };
                self.perform(id, "Sweep", sweep).await?;
            }
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

    pub(super) fn call_on<'a>(
        &'a self,
        world: &'a World,
        account: &'a mut Account,
        action: &'static str,
        common: Common,
    ) -> Call<'a> {
        Call {
            account,
            world,
            environment: &self.config.environment,
            notice: self.config.node.notice(),
            now: (self.config.clock)(),
            common,
            prepared: Prepared::Nothing,
            action,
            entropy: &self.config.entropy,
            looked_at: &self.looked_at,
            orders: Vec::new(),
        }
    }

    /// How many resources filters were held against since the start: it tells which filters find nothing by an index.
    pub fn looked_at(&self) -> u64 {
        self.looked_at.load(Ordering::Relaxed)
    }

    /// How often each parameter came that its action does not know.
    pub fn unknown_parameters(&self) -> Vec<(&'static str, String, u64)> {
        self.unknown.list()
    }

    /// For actions that are not in the table: refuses the unknown parameters that AWS knows, counts the others.
    pub fn refuse_or_count(
        &self,
        action: &'static str,
        unknown: &[String],
        params: &Params,
    ) -> ApiResult<()> {
        parameters::refuse(action, unknown, params)?;
        self.note_unknown(action, unknown)
    }

    fn note_unknown(&self, action: &'static str, names: &[String]) -> ApiResult<()> {
        // What AWS knows and was not refused asks for nothing.
        let foreign = names.iter().find(|name| !parameters::knows(action, name));
        if let (true, Some(name)) = (self.config.strict, foreign) {
            return Err(ApiError::unknown_parameter(name));
        }
        for name in self.unknown.note(action, names) {
            self.config
                .log
                .say(format!("{action} came with {name}, which it does not know; counted from now on"));
        }
        Ok(())
    }
}

/// Records name zones, so they are of the region that they were made in.
fn check_region(world: &World, asked: &str) -> Result<(), EngineError> {
    let zones = world.accounts.values().flat_map(|account| {
        let subnets = account.subnets.iter().map(|subnet| &subnet.availability_zone);
        subnets.chain(account.volumes.iter().map(|volume| &volume.availability_zone))
    });
    let mut regions = zones.map(|zone| zone.trim_end_matches(|letter: char| letter.is_ascii_lowercase()));
    match regions.find(|region| *region != asked) {
        Some(found) => Err(EngineError::Region { found: found.to_owned(), asked: asked.to_owned() }),
        None => Ok(()),
    }
}
