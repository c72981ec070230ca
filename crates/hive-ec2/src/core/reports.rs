//! What nodes report, and orders that are given again until they are reported on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hive_api::ApiError;
use tokio::sync::mpsc::UnboundedReceiver;

use super::call::Call;
use super::engine::Engine;
use super::followed::ChangedNetwork;
use super::log::Log;
use crate::model::account::{Account, AccountId};
use crate::node::{NodeId, Order, Report, Work};
use crate::rules;

/// How often to look for orders that were not carried out.
const LOOK: Duration = Duration::from_secs(1);
/// The longest pause between two attempts at one order, in looks.
const LONGEST_PAUSE: u32 = 60;
const NETWORK_RETRY: Duration = Duration::from_secs(1);

pub async fn follow_reports(engine: Weak<Engine>, mut incoming: UnboundedReceiver<Report>) {
    let mut burst = Vec::new();
    let mut troubles = Troubles::default();
    while incoming.recv_many(&mut burst, 256).await > 0 {
        let Some(engine) = engine.upgrade() else { return };
        let mut by_account: BTreeMap<AccountId, Vec<Report>> = BTreeMap::new();
        for report in burst.drain(..) {
            if let Order::ApplyNetwork(_) = report.work.order {
                troubles.note(&engine.config.log, &report, None);
                engine.network_applied(report);
                continue;
            }
            by_account.entry(report.work.account.clone()).or_default().push(report);
        }
        for (account, reports) in by_account {
            engine.report(&account, reports, &mut troubles).await;
        }
    }
}

/// The orders that could not be carried out, or whose reports could not be written, and why: said once, and once more
/// when it is over.
#[derive(Default)]
struct Troubles(BTreeMap<(AccountId, Order), String>);

impl Troubles {
    /// Most end with their resource, of which nobody tells.
    const MOST: usize = 10_000;

    fn note(&mut self, log: &Log, report: &Report, unwritten: Option<&ApiError>) {
        let Work { account, node, order } = &report.work;
        let unwritten = || unwritten.map(|error| format!("its report cannot be written: {error}"));
        let key = (account.clone(), order.clone());
        let Some(reason) = report.result.as_ref().err().cloned().or_else(unwritten) else {
            if self.0.remove(&key).is_some() {
                log.say(format!("{order:?} of account {account} is done after all"));
            }
            return;
        };
        if self.0.get(&key) != Some(&reason) {
            log.say(format!("{order:?} of account {account} on the node {}: {reason}", node.as_str()));
            if self.0.len() >= Self::MOST {
                self.0.clear();
            }
            self.0.insert(key, reason);
        }
    }
}

impl Engine {
    /// Everything reported for one account in one change: a burst costs one sync. What the store cannot take at once, or
    /// what the rules refuse, is halved until the rest is written. An order whose report is not written is given again,
    /// here or by another gateway.
    async fn report(&self, account: &AccountId, reports: Vec<Report>, troubles: &mut Troubles) {
        let mut waiting = vec![reports];
        while let Some(mut reports) = waiting.pop() {
            let together = reports.clone();
            let apply = move |call: &mut Call<'_>| {
                together.iter().try_for_each(|report| rules::lifecycle::apply(call, report))
            };
            let written = self.perform(account, "Report", apply).await;
            let error = written.err();
            // A store that is away is so for each of them.
            let refused = error.as_ref().is_some_and(|error| error.status < 500);
            if refused && reports.len() > 1 {
                let second = reports.split_off(reports.len() / 2);
                waiting.extend([second, reports]);
                continue;
            }
            for report in &reports {
                troubles.note(&self.config.log, report, error.as_ref());
            }
            if let (true, Some(error), Some(report)) = (refused, error, reports.pop()) {
                self.note_trouble(account, report.work.order, error.message).await;
            }
        }
    }

    /// So that whoever waits for the resource sees why it stays as it is.
    async fn note_trouble(&self, account: &AccountId, order: Order, reason: String) {
        let note =
            move |call: &mut Call<'_>| rules::lifecycle::note_trouble(call.account, &order, Some(&reason));
        if let Err(error) = self.perform(account, "Report", note).await {
            self.config
                .log
                .say(format!("what keeps an instance of account {account} cannot be noted: {error}"));
        }
    }

    /// The records do not wait for a network, so there is nothing to note; one that could not be made is ordered
    /// again until it can. However often it fails meanwhile, it is ordered once.
    fn network_applied(self: &Arc<Self>, report: Report) {
        if report.result.is_ok()
            || !self.late_networks().insert((report.work.account.clone(), report.work.order.clone()))
        {
            return;
        }
        let engine = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(NETWORK_RETRY).await;
            let Some(engine) = engine.upgrade() else { return };
            engine.late_networks().remove(&(report.work.account.clone(), report.work.order.clone()));
            engine.config.node.accept(report.work, &engine.reports).await;
        });
    }

    fn late_networks(&self) -> MutexGuard<'_, BTreeSet<(AccountId, Order)>> {
        self.late_networks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn resume_orders(&self) {
        let world = self.durable.load_full();
        for (id, account) in &world.accounts {
            self.give(id, rules::lifecycle::unfinished(account)).await;
        }
        // A VPC that was deleted, and the node not told of it any more: the records know nothing of it.
        for (id, vpc) in self.config.node.networks().await {
            if world.accounts.get(&id).is_none_or(|account| account.vpcs.get(&vpc).is_none()) {
                self.give(&id, vec![Order::ApplyNetwork(vpc)]).await;
            }
        }
    }

    /// A node whose orders stay open has no gateway that lives, or does not report: said once.
    fn note_lost_nodes(&self, lost: &mut BTreeSet<NodeId>, resources: &Account, orders: &[Order]) {
        let own = &self.config.environment.node;
        for order in orders {
            let node = rules::lifecycle::node_of(resources, order, own);
            if node != *own && lost.insert(node.clone()) {
                self.config.log.say(format!(
                    "the node {} does not carry out its orders, {order:?} among them: they are given to {}",
                    node.as_str(),
                    own.as_str()
                ));
            }
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
    let mut lost = BTreeSet::new();
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
                // Given at the start, by whoever changes a network, to whoever follows that, and again if it fails.
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
            engine.note_lost_nodes(&mut lost, resources, &again);
            engine.give(account, again).await;
        }
        if open.is_empty() {
            lost.clear();
        }
        (before, seen) = (open, world);
    }
}

/// Tells this gateway's node of the networks that others changed: it has a part of every one.
pub async fn follow_networks(engine: Weak<Engine>, mut changed: UnboundedReceiver<ChangedNetwork>) {
    let mut burst = Vec::new();
    while changed.recv_many(&mut burst, 256).await > 0 {
        let Some(engine) = engine.upgrade() else { return };
        let networks: BTreeSet<ChangedNetwork> = burst.drain(..).collect();
        for (account, network) in networks {
            engine.give(&account, vec![Order::ApplyNetwork(network)]).await;
        }
    }
}
