//! One request on its way through an action: the account as it may be changed, and everything from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hive_api::pattern::{is_pattern, matches};
use hive_api::{ApiError, ApiResult};
use jiff::Timestamp;

use super::common::Common;
use super::environment::{Environment, zone_id};
use super::filter::{Filter, Filters, Matcher, found_behind};
use super::id::Id;
use super::index::{Field, Found};
use super::page::{Page, read_token, token};
use super::table::{Listed, Resource, Table};
use super::tags::Tags;
use super::world::World;
use crate::model::account::Account;
use crate::model::departed::Departed;
use crate::node::Order;
use crate::rules::key_material::KeyMaterial;

/// Randomness from outside: fills the buffer.
pub type Entropy = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// What an action prepared before it had its turn.
#[derive(Clone, Default)]
pub enum Prepared {
    #[default]
    Nothing,
    KeyMaterial(KeyMaterial),
}

pub struct Call<'a> {
    pub account: &'a mut Account,
    /// Every account as it was before this call: public addresses are everyone's.
    pub(crate) world: &'a World,
    pub environment: &'a Environment,
    pub now: Timestamp,
    pub common: Common,
    /// What the node says about every instance, if anything.
    pub notice: Option<&'static str>,
    pub prepared: Prepared,
    pub(crate) action: &'static str,
    pub(crate) entropy: &'a Entropy,
    /// How many resources filters were held against.
    pub(crate) looked_at: &'a AtomicU64,
    /// What the node shall do once this change is durable.
    pub(crate) orders: Vec<Order>,
}

impl Call<'_> {
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.entropy)(&mut bytes);
        bytes
    }

    /// `prefix-` and 17 hexadecimal digits.
    pub fn random_id(&self, prefix: &str) -> String {
        let digits = super::text::hex(&self.random::<9>());
        format!("{prefix}-{}", &digits[..17])
    }

    pub fn new_id<T: Resource>(&self) -> Id<T> {
        Id::new(self.random_id(T::KIND.prefix))
    }

    /// The tags given for new resources of a kind.
    pub fn new_tags<T: Resource>(&self) -> Tags {
        self.tags_for(T::KIND.name)
    }

    pub fn tags_for(&self, resource_type: &str) -> Tags {
        let mut all = self.common.tag_specifications.iter();
        all.find(|(kind, _)| kind == resource_type).map(|(_, tags)| tags.clone()).unwrap_or_default()
    }

    pub fn order(&mut self, order: Order) {
        self.orders.push(order);
    }

    /// Takes a snapshot or image away from the records, and tells the node.
    pub fn depart(&mut self, departed: Departed) {
        let account = &mut *self.account;
        let place = match &departed {
            Departed::Image(id) => {
                let place = account.images.place(id);
                account.images.remove(id);
                place
            }
            Departed::Snapshot(id) => {
                let place = account.snapshots.place(id);
                account.snapshots.remove(id);
                place
            }
        };
        let order = departed.order();
        account.departed.insert_at(place, departed);
        self.order(order);
    }

    pub fn arn(&self, resource: &str) -> String {
        self.environment.arn(&self.account.id, resource)
    }

    /// Lists a table by ids (each must exist), filters and pages.
    pub fn select<T: Resource>(
        &self,
        table: &Table<T>,
        ids: &[String],
        known: &Filters<T>,
    ) -> ApiResult<Page<Arc<T>>> {
        self.select_where(table, ids, known, |_| true)
    }

    /// Lists those of a table that are to be seen at all.
    pub fn select_where<T: Resource>(
        &self,
        table: &Table<T>,
        ids: &[String],
        known: &Filters<T>,
        visible: impl Fn(&T) -> bool,
    ) -> ApiResult<Page<Arc<T>>> {
        self.select_in(table, &[], None, ids, known, visible)
    }

    /// The same where all of them stand where it is said.
    pub fn select_within<T: Resource>(
        &self,
        table: &Table<T>,
        within: Found,
        ids: &[String],
        known: &Filters<T>,
        visible: impl Fn(&T) -> bool,
    ) -> ApiResult<Page<Arc<T>>> {
        self.select_in(table, &[], Some(within), ids, known, visible)
    }

    /// Lists a table together with what everyone sees, which is sorted by key.
    pub fn select_among<T: Resource>(
        &self,
        table: &Table<T>,
        everyone: &[Arc<T>],
        ids: &[String],
        known: &Filters<T>,
        visible: impl Fn(&T) -> bool,
    ) -> ApiResult<Page<Arc<T>>> {
        self.select_in(table, everyone, None, ids, known, visible)
    }

    fn select_in<T: Resource>(
        &self,
        table: &Table<T>,
        everyone: &[Arc<T>],
        within: Option<Found>,
        ids: &[String],
        known: &Filters<T>,
        visible: impl Fn(&T) -> bool,
    ) -> ApiResult<Page<Arc<T>>> {
        self.check_ids(ids)?;
        let after = self.after()?;
        let after = after.as_deref();
        if !ids.is_empty() {
            let mut items = Vec::with_capacity(ids.len());
            for id in ids {
                let public = || everyone.iter().find(|item| item.key() == id).cloned();
                items.push(table.shared(id).or_else(public).ok_or_else(|| T::KIND.missing(id))?);
            }
            items.sort_by(|a, b| a.key().cmp(b.key()));
            items.dedup_by(|a, b| a.key() == b.key());
            return self.select_from(items.into_iter().filter(|item| visible(item)), known);
        }
        let filters = self.common.filters.iter();
        let found = filters.filter_map(|filter| self.found_by(table, known, filter)).chain(within).collect();
        let all = || merged(table.iter_shared(after), everyone).filter(|item| visible(item));
        let look = |_: &Arc<T>| {
            self.looked_at.fetch_add(1, Ordering::Relaxed);
        };
        match table.candidates(found, after) {
            Some(found) => {
                let found = merged(found.inspect(look), everyone).filter(|item| visible(item));
                let page = self.select_from(found, known)?;
                debug_assert!(
                    page.items.iter().map(|item| item.key()).eq(self
                        .select_from(all(), known)?
                        .items
                        .iter()
                        .map(|item| item.key())),
                    "the index of {} and its filters differ on {:?}",
                    T::KIND.name,
                    self.common.filters
                );
                Ok(page)
            }
            None => self.select_from(all().inspect(look), known),
        }
    }

    /// Where all stands that a filter can match; None if that may be anywhere.
    fn found_by<T: Resource>(&self, table: &Table<T>, known: &Filters<T>, filter: &Filter) -> Option<Found> {
        filter.value.iter().map(|value| known.found(table, self, &filter.name, value)).collect()
    }

    /// What others lead to that a filter of theirs can match; None if that may be anything.
    pub fn found_through<T: Resource>(
        &self,
        table: &Table<T>,
        known: &Filters<T>,
        (name, pattern): (&str, &str),
        leads_to: impl Fn(&T) -> Found,
    ) -> Option<Found> {
        self.found_from(table, known.found(table, self, name, pattern)?, leads_to)
    }

    /// The same for others that stand where it is said.
    pub fn found_from<T: Resource>(
        &self,
        table: &Table<T>,
        found: Found,
        leads_to: impl Fn(&T) -> Found,
    ) -> Option<Found> {
        /// For more than this it is no worse to look at everything, which ends with the page.
        const MOST: usize = 4096;
        let mut all = Found::nothing();
        for item in table.candidates(vec![found], None)? {
            all = all.or(leads_to(&item));
            if all.size() > MOST {
                return None;
            }
        }
        Some(all)
    }

    /// Where all stands whose zone has an id that matches.
    pub fn found_in_zone<T>(&self, zones: Field<T>, pattern: &str) -> Option<Found> {
        let fits = |zone: &String| matches(pattern, &zone_id(zone));
        self.environment.zone_names().filter(fits).map(|zone| zones.found(&zone)).collect()
    }

    /// Where all stands whose ARN matches, by what stands in it behind the kind.
    pub fn found_by_arn(
        &self,
        kind: &str,
        pattern: &str,
        found: impl Fn(&str) -> Option<Found>,
    ) -> Option<Found> {
        found_behind(&self.arn(&format!("{kind}/")), pattern, found)
    }

    /// The key after which this page begins.
    fn after(&self) -> ApiResult<Option<String>> {
        self.common.next_token.as_deref().map(|token| read_token(self.action, token)).transpose()
    }

    /// Lists what is not a table's row: `items` must come in the order of their keys.
    pub fn select_from<T: Listed, R: std::ops::Deref<Target = T>>(
        &self,
        items: impl Iterator<Item = R>,
        known: &Filters<T>,
    ) -> ApiResult<Page<R>> {
        let matcher = Matcher::new(&self.common.filters, known, self.account)?;
        let after = self.after()?;
        let mut page: Page<R> = Page { items: Vec::new(), next_token: None };
        if matcher.matches_nothing() {
            return Ok(page);
        }
        for item in items {
            if after.as_deref().is_some_and(|after| item.key() <= after) || !matcher.matches(&item, self) {
                continue;
            }
            if self.common.max_results == Some(page.items.len()) {
                page.next_token = page.items.last().map(|last| token(self.action, last.key()));
                break;
            }
            page.items.push(item);
        }
        Ok(page)
    }

    /// The values of a filter that has no wildcard, for what can be looked up by them.
    pub fn exact_filter(&self, name: &str) -> Option<&[String]> {
        let filter = self.common.filters.iter().find(|filter| filter.name == name)?;
        let exact = !filter.value.iter().any(|value| is_pattern(value));
        exact.then_some(&filter.value)
    }

    /// A few Describes refuse ids together with paging.
    fn check_ids(&self, ids: &[String]) -> ApiResult<()> {
        let refuses = PAGES_OR_IDS.contains(&self.action);
        if refuses && !ids.is_empty() && self.common.max_results.is_some() {
            return Err(ApiError::invalid_combination(
                "The parameter MaxResults cannot be used together with a list of ids",
            ));
        }
        Ok(())
    }
}

/// Those whose documentation says that MaxResults and a list of ids are not for one request; the others page the ids.
const PAGES_OR_IDS: &[&str] = &[
    "DescribeInstanceCreditSpecifications",
    "DescribeInstanceStatus",
    "DescribeInstances",
    "DescribeNetworkInterfaces",
];

/// Two lists in the order of their keys, as one.
fn merged<T: Listed>(own: impl Iterator<Item = Arc<T>>, everyone: &[Arc<T>]) -> impl Iterator<Item = Arc<T>> {
    let (mut own, mut everyone) = (own.peekable(), everyone.iter().peekable());
    std::iter::from_fn(move || match (own.peek(), everyone.peek()) {
        (Some(mine), Some(public)) if public.key() < mine.key() => everyone.next().cloned(),
        (None, _) => everyone.next().cloned(),
        _ => own.next(),
    })
}
