//! What nodes report, and orders that are given again until they are reported on.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hive_api::ApiResult;
use tokio::sync::mpsc::UnboundedReceiver;

use super::call::Call;
use super::engine::Engine;
use crate::model::account::AccountId;
use crate::node::{Order, Report, Work};
use crate::rules;

/// How often to look for orders that were not carried out.
const LOOK: Duration = Duration::from_secs(1);
/// The longest pause between two attempts at one order, in looks.
const LONGEST_PAUSE: u32 = 60;
const NETWORK_RETRY: Duration = Duration::from_secs(1);

pub async fn follow_reports(engine: Weak<Engine>, mut incoming: UnboundedReceiver<Report>) {
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
            // has them finished by whichever gateway reaches it next. So has an order that the node could not carry out.
            let _ = engine.report(&account, reports).await;
        }
    }
}

impl Engine {
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

    pub(super) async fn resume_orders(&self) {
        let world = self.durable.load_full();
        for (id, account) in &world.accounts {
            self.give(id, rules::lifecycle::unfinished(account)).await;
        }
    }

    pub(super) async fn give(&self, account: &AccountId, orders: Vec<Order>) {
        if orders.is_empty() {
            return;
        }
        let resources = self.durable.load().account(account);
        for order in orders {
            let node = rules::lifecycle::node_of(&resources, &order, &self.config.environment.node);
            self.config.node.accept(Work { account: account.clone(), node, order }, &self.reports).await;
        }
    }
}

/// An order that is open: how many looks ago it was given last, and how long the pause after that is.
struct Open {
    waited: u32,
    pause: u32,
}

/// Orders that the node could not carry out, or that a gateway gave and did not live to see done: whoever finds one
/// open for a while gives it again, which must be harmless (see [`crate::node`]), after ever longer pauses. Also takes
/// in what others change while nobody asks this gateway anything.
pub async fn give_again(engine: Weak<Engine>) {
    let mut before: BTreeMap<(AccountId, Order), Open> = BTreeMap::new();
    let mut seen = Arc::default();
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(engine) = engine.upgrade() else { return };
        if engine.refresh().await.is_err() {
            continue;
        }
        let world = engine.durable.load_full();
        if before.is_empty() && Arc::ptr_eq(&seen, &world) {
            continue;
        }
        let mut open = BTreeMap::new();
        for (account, resources) in &world.accounts {
            let mut again = Vec::new();
            for order in rules::lifecycle::unfinished(resources) {
                // Given to each node at its start and by whoever changes the network; never known to be done.
                if matches!(order, Order::ApplyNetwork(_)) {
                    continue;
                }
                let key = (account.clone(), order);
                let Open { mut waited, mut pause } =
                    before.remove(&key).unwrap_or(Open { waited: 0, pause: 1 });
                if waited >= pause {
                    again.push(key.1.clone());
                    (waited, pause) = (0, (pause * 2).min(LONGEST_PAUSE));
                }
                open.insert(key, Open { waited: waited + 1, pause });
            }
            engine.give(account, again).await;
        }
        (before, seen) = (open, world);
    }
}
