//! Changes on a store that this process has alone: decided one after the other, written together.

use std::sync::{Arc, MutexGuard, PoisonError};

use eos_store::Pending;
use hive_api::{ApiError, ApiResult};

use super::action::Outcome;
use super::call::Call;
use super::common::Common;
use super::engine::Engine;
use super::store_failed::store_failed;
use super::world::{World, batch_of};
use crate::model::account::AccountId;
use crate::node::Order;
use crate::rules;

pub struct Head {
    pub world: World,
    pub broken: bool,
}

/// A change that was decided: on its way to the disk.
pub struct Decided {
    outcome: Outcome,
    world: World,
    pending: Pending,
    orders: Vec<Order>,
}

impl Engine {
    /// Decides a change on the head and queues it for the disk, in order.
    pub(super) fn change(
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
        let mut call = self.call_on(&head.world, &mut account, action, common);
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
    pub(super) async fn finish(&self, account: &AccountId, decided: Decided) -> ApiResult<String> {
        if let Err(error) = decided.pending.await {
            if !std::mem::replace(&mut self.lock_head().broken, true) {
                self.config
                    .log
                    .say(format!("the store failed, and changes are refused until a restart: {error}"));
            }
            return Err(store_failed(error));
        }
        self.durable.rcu(|current| {
            if current.sequence < decided.world.sequence {
                Arc::new(decided.world.clone())
            } else {
                Arc::clone(current)
            }
        });
        self.give(account, decided.orders).await;
        Ok(decided.outcome.content)
    }

    /// A panic inside an action drops its copy, so the head behind a poisoned lock is still whole.
    pub(super) fn lock_head(&self) -> MutexGuard<'_, Head> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
