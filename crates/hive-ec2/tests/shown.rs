//! Filters find exactly what answers show: each value of an answer at the place that a filter is about.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hive_ec2::{ACTIONS, Engine};
use support::elements::Element;
use support::{call, engine, everything, runtime};

/// What is found without being shown: an instance that is gone no longer says where it was.
const FINDS_MORE: &[(&str, &str)] = &[("DescribeInstances", "subnet-id"), ("DescribeInstances", "vpc-id")];

/// As many values of a filter are tried.
const VALUES: usize = 12;

/// `http-tokens` as answers write it: `httpTokens`.
fn element_of(word: &str) -> String {
    let mut pieces = word.split('-');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |name, piece| name + &piece[..1].to_uppercase() + &piece[1..])
}

/// Whether a filter is named after a place in an answer: `route.gateway-id` after `routeSet.gatewayId`.
fn is_named_after(filter: &str, place: &[&str]) -> bool {
    let words: Vec<String> = filter.split('.').map(element_of).collect();
    let alike = |(word, element): (&String, &&str)| {
        matches!(element.strip_prefix(word.as_str()), Some("" | "s" | "Set"))
    };
    words.len() == place.len() && words.iter().zip(place).all(alike)
}

/// The places of the other filters of an action; nothing for one on what is never there.
fn places(action: &str) -> BTreeMap<&'static str, Option<&'static str>> {
    let mut lines = include_str!("support/places.txt").lines();
    let line = lines.find_map(|line| line.strip_prefix(action)?.strip_prefix(' ')).unwrap_or_default();
    let place =
        |word: &'static str| word.split_once('=').map_or((word, None), |(name, place)| (name, Some(place)));
    line.split(' ').filter(|word| !word.is_empty()).map(place).collect()
}

/// What a Describe lists.
async fn items(engine: &Arc<Engine>, query: &str) -> Vec<Element> {
    let answer = call(engine, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
    let lists = Element::all(&answer).into_iter().flat_map(|list| list.children);
    // One that is a text alone is a name of another.
    let items = lists.filter(|child| child.name == "item" && !child.children.is_empty());
    // A reservation is a list of instances, which are what filters choose.
    let instances = |item: Element| match item.children.iter().find(|child| child.name == "instancesSet") {
        Some(set) => set.children.clone(),
        None => vec![item],
    };
    items.flat_map(instances).collect()
}

fn sent(value: &str) -> String {
    let value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    // Not a wildcard here.
    let value = value.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?");
    value.replace('%', "%25").replace('+', "%2B").replace('&', "%26").replace('=', "%3D")
}

#[test]
fn a_filter_finds_exactly_what_shows_its_value() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = engine(dir.path()).await;
        let made = everything(&engine).await;
        support::settled(&engine).await;
        let (mut wrong, mut never_held, mut count) = (Vec::new(), Vec::new(), 0);
        for entry in ACTIONS.iter().filter(|entry| entry.accepts.filters.is_some()) {
            // Which versions are meant has to be said.
            let action = match entry.name {
                "DescribeLaunchTemplateVersions" => {
                    format!("{}&LaunchTemplateId={}", entry.name, made.get("template"))
                }
                // A few of very many, among them machines without a hypervisor, and fewer than a page holds.
                "DescribeInstanceTypes" | "DescribeInstanceTypeOfferings" => {
                    let some = "Filter.1.Name=instance-type&Filter.1.Value.1=t?.micro&Filter.1.Value.2=m5.*";
                    format!("{}&{some}", entry.name)
                }
                name => name.to_owned(),
            };
            let (all, places) = (items(&engine, &action).await, places(entry.name));
            for filter in entry.accepts.filters.map(|names| names()).unwrap_or_default() {
                let shown = |item: &Element| -> BTreeSet<String> {
                    let is_there = |place: &[&str]| match places.get(filter) {
                        Some(known) => known.is_some_and(|known| known.split('.').eq(place.iter().copied())),
                        None => is_named_after(filter, place),
                    };
                    let texts = item.texts().into_iter().filter(|(place, _)| is_there(place));
                    texts.map(|(_, text)| text.to_owned()).collect()
                };
                let values: BTreeSet<String> = all.iter().flat_map(shown).collect();
                if values.is_empty() && !matches!(places.get(filter), Some(None)) {
                    never_held.push((entry.name, filter));
                }
                for value in values.iter().take(VALUES) {
                    count += 1;
                    let query = format!("{action}&Filter.2.Name={filter}&Filter.2.Value.1={}", sent(value));
                    let found: BTreeSet<Element> = items(&engine, &query).await.into_iter().collect();
                    let wanted: BTreeSet<Element> =
                        all.iter().filter(|item| shown(item).contains(value)).cloned().collect();
                    let more = FINDS_MORE.contains(&(entry.name, filter)) && found.is_superset(&wanted);
                    if found != wanted && !more {
                        let (found, wanted) = (found.len(), wanted.len());
                        wrong.push(format!("{action} {filter}={value}: {found} found, {wanted} show it"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let nothing: [(&str, &str); 0] = [];
        assert_eq!(never_held, nothing, "give them a place in support/places.txt, or something that has it");
        assert!(count > 500, "{count}");
    });
}
