//! What clouds ask for: a table that comes with eos, and the estate's own `prices.toml`, which comes first.
//!
//! ```toml
//! format = 1
//! currency = "EUR"
//! as_of = "2026-11-01"
//! [resources.hcloud_load_balancer]
//! by = ["load_balancer_type"]
//! monthly = { lb11 = 7.49 }
//! [resources.hcloud_volume]
//! per = "size"
//! monthly = 0.05
//! ```

use std::collections::BTreeMap;

use camino::Utf8Path;
use eos_model::{Diagnostic, Place, codes};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::estate_file::{bad_toml, refuse_newer};
use crate::files;

pub const PRICES_FILE: &str = "prices.toml";
const FORMAT: u32 = 1;
const BUILT_IN: &str = include_str!("prices.toml");

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(rename = "format")]
    _format: u32,
    /// What amounts are in.
    #[serde(default)]
    pub currency: String,
    /// The day they were looked up.
    #[serde(default)]
    pub as_of: String,
    #[serde(default)]
    resources: BTreeMap<String, Row>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Attributes whose values name the price, joined by a slash where there are several.
    #[serde(default)]
    by: Vec<String>,
    /// The attribute that says how many of it there are.
    per: Option<String>,
    #[serde(default)]
    by_use: bool,
    monthly: Option<Monthly>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Monthly {
    Flat(f64),
    Named(BTreeMap<String, f64>),
}

/// What an object costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Price {
    Monthly(f64),
    ByUse,
    Unknown,
}

impl Prices {
    /// The estate's prices, over those that come with eos.
    pub fn of_estate(root: &Utf8Path) -> Result<Prices, Diagnostic> {
        let mut prices = Prices::parse(BUILT_IN)?;
        if let Some(bytes) = files::read(root, Utf8Path::new(PRICES_FILE))? {
            let own = Prices::parse(&String::from_utf8_lossy(&bytes))?;
            prices.resources.extend(own.resources);
            (prices.currency, prices.as_of) = (own.currency, own.as_of);
        }
        Ok(prices)
    }

    fn parse(text: &str) -> Result<Prices, Diagnostic> {
        let file = Utf8Path::new(PRICES_FILE);
        refuse_newer(text, file, FORMAT)?;
        let prices: Prices = toml::from_str(text).map_err(|error| bad_toml(file, text, &error))?;
        let costs = |row: &Row| match &row.monthly {
            Some(Monthly::Flat(amount)) => *amount != 0.0,
            Some(Monthly::Named(_)) => true,
            None => false,
        };
        if (prices.currency.is_empty() || prices.as_of.is_empty()) && prices.resources.values().any(costs) {
            return Err(Diagnostic::error(
                codes::BAD_ESTATE_FILE,
                format!("{file} has prices without a currency or the day they were looked up"),
            )
            .at(Place::file(file))
            .fix("currency = \"EUR\" and as_of = \"2026-11-01\" at its top"));
        }
        Ok(prices)
    }

    /// The price of an object of this type that has these attributes.
    pub fn price(&self, kind: &str, attributes: &BTreeMap<String, Json>) -> Price {
        self.find(kind, attributes).unwrap_or(Price::Unknown)
    }

    fn find(&self, kind: &str, attributes: &BTreeMap<String, Json>) -> Option<Price> {
        let row = self.resources.get(kind)?;
        if row.by_use {
            return Some(Price::ByUse);
        }
        let text = |name: &String| match attributes.get(name)? {
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let one = match row.monthly.as_ref()? {
            Monthly::Flat(amount) => *amount,
            Monthly::Named(amounts) => {
                let key: Option<Vec<String>> = row.by.iter().map(text).collect();
                *amounts.get(&key?.join("/"))?
            }
        };
        let count = match &row.per {
            Some(name) => attributes.get(name)?.as_f64()?,
            None => 1.0,
        };
        Some(Price::Monthly(one * count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn having(attributes: &[(&str, Json)]) -> BTreeMap<String, Json> {
        attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn a_price_may_depend_on_a_type_a_place_and_a_size() {
        let text = "format = 1\ncurrency = \"EUR\"\nas_of = \"2026-11-01\"\n[resources.a]\nby = [\"place\", \"type\"]\n\
                    monthly = { \"fsn1/big\" = 7.5 }\n[resources.b]\nper = \"size\"\nmonthly = 0.05\n[resources.c]\nby_use = true\n";
        let prices = Prices::parse(text).unwrap();
        let (big, place) = (("type", Json::from("big")), ("place", Json::from("fsn1")));
        assert_eq!(prices.price("a", &having(&[big.clone(), place])), Price::Monthly(7.5));
        assert_eq!(prices.price("a", &having(&[big])), Price::Unknown, "a value that is known later");
        assert_eq!(prices.price("b", &having(&[("size", Json::from(40))])), Price::Monthly(2.0));
        assert_eq!(prices.price("b", &having(&[])), Price::Unknown);
        assert_eq!(prices.price("c", &having(&[])), Price::ByUse);
        assert_eq!(prices.price("d", &having(&[])), Price::Unknown);
    }

    #[test]
    fn an_amount_has_a_currency_and_a_day() {
        let problem = Prices::parse("format = 1\n[resources.a]\nmonthly = 3\n").unwrap_err();
        assert_eq!(problem.code, codes::BAD_ESTATE_FILE);
        assert!(Prices::parse("format = 1\n[resources.a]\nmonthly = 0\n").is_ok());
        assert!(Prices::parse(BUILT_IN).is_ok());
        assert_eq!(Prices::parse("format = 2\n").unwrap_err().code, codes::NEWER_FORMAT);
    }
}
