//! What a plan does to the bill: the difference per month where prices are known, and what has no known price.

use eos_engine::{Billed, ChangeKind, RunPlan};
use eos_pillar::prices::{PRICES_FILE, Price, Prices};
use serde_json::{Value as Json, json};

use super::plan_lines::later;
use super::wrap::below;

/// Cents are shown; less than half a one is nothing.
const NOTHING: f64 = 0.005;

pub struct Cost {
    /// The difference per month of what has a price.
    monthly: f64,
    /// Whether anything has one that is not nothing.
    priced: bool,
    currency: String,
    as_of: String,
    by_use: Vec<String>,
    unknown: Vec<String>,
}

impl Cost {
    /// None when nothing of the plan is at a cloud.
    pub fn of(plan: &RunPlan, prices: &Prices) -> Option<Cost> {
        let mut cost = Cost {
            monthly: 0.0,
            priced: false,
            currency: prices.currency.clone(),
            as_of: prices.as_of.clone(),
            by_use: Vec::new(),
            unknown: Vec::new(),
        };
        let mut any = false;
        for change in plan.changes() {
            let Some(billed) = &change.billed else { continue };
            any = true;
            cost.add(&format!("{}'s {}", change.unit, change.address), change.kind, billed, prices);
        }
        for (name, unit) in &plan.units {
            let foreign = |address: &&String| {
                let kind = address.rsplit('.').nth(1).unwrap_or_default();
                !kind.starts_with("eos_") && kind != "terraform_data"
            };
            for address in later(unit).into_iter().filter(foreign) {
                any = true;
                let kind = address.rsplit('.').nth(1).unwrap_or_default();
                // Its attributes are not known yet, but some things cost nothing whatever they are.
                if prices.price(kind, &Default::default()) != Price::Monthly(0.0) {
                    cost.unknown.push(format!("{name}'s {address}"));
                }
            }
        }
        any.then_some(cost)
    }

    fn add(&mut self, what: &str, kind: ChangeKind, billed: &Billed, prices: &Prices) {
        let sides = match kind {
            ChangeKind::Destroy => [(-1.0, &billed.before), (0.0, &None)],
            ChangeKind::Create => [(0.0, &None), (1.0, &billed.after)],
            _ => [(-1.0, &billed.before), (1.0, &billed.after)],
        };
        let mut difference = 0.0;
        for (sign, attributes) in sides {
            let Some(attributes) = attributes else { continue };
            match prices.price(&billed.kind, attributes) {
                Price::Monthly(amount) => difference += sign * amount,
                Price::ByUse => return self.by_use.push(what.to_owned()),
                Price::Unknown => return self.unknown.push(what.to_owned()),
            }
            self.priced |= difference != 0.0;
        }
        self.monthly += difference;
    }

    /// A sentence or two.
    fn said(&self) -> String {
        let mut parts = Vec::new();
        if self.priced && self.monthly.abs() >= NOTHING {
            parts.push(format!("{:+.2} {} (prices of {})", self.monthly, self.currency, self.as_of));
        } else if self.priced || (self.unknown.is_empty() && self.by_use.is_empty()) {
            parts.push("no difference".to_owned());
        }
        if !self.by_use.is_empty() {
            parts.push(format!("billed by use: {}", self.by_use.join(", ")));
        }
        if !self.unknown.is_empty() {
            let hint = format!("{PRICES_FILE} in the estate may say it");
            parts.push(format!("not known for {} ({hint})", self.unknown.join(", ")));
        }
        parts.join("; ")
    }

    pub fn text(&self, width: usize) -> String {
        let head = "Cost per month: ";
        below(head, head, &self.said(), width, 2)
    }

    pub fn document(&self) -> Json {
        let cents = (self.monthly * 100.0).round() / 100.0;
        json!({"monthly": self.priced.then_some(cents), "currency": self.priced.then_some(&self.currency),
            "as_of": self.priced.then_some(&self.as_of), "by_use": self.by_use, "unknown": self.unknown})
    }
}
