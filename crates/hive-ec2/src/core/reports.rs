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
            // has them finished by whichever gateway reaches it next.
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
            for order in rules::lifecycle::unfinished(account) {
                self.config.node.accept(Work { account: id.clone(), order }, &self.reports).await;
            }
        }
    }
}
