//! Where a value of a component with its overlays was written: in the component itself, for a runtime, or for a feature.
//!
//! The other way round of [`crate::overlay::lay_over`], by the same rules: mappings merge, lists are appended, other
//! values replace.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::component::Component;

/// A part of `component.yaml` that makes up a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    Own,
    Runtime(String),
    Feature(String),
}

/// A place in `component.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub layer: Layer,
    /// `features`, `sso`, `add`, `tasks`, …; an element of a list by its number.
    pub key: Vec<String>,
}

/// The places that the value at `path` comes from: one for a plain value, several for a mapping or a list that more than
/// one layer adds to, the one that has it first before the others. Where the component has nothing at `path`, those of the
/// nearest it has on the way there.
pub(crate) fn written(
    component: &Component,
    json: &Json,
    runtime: Option<&str>,
    features: &BTreeSet<String>,
    path: &[&str],
) -> Vec<Written> {
    let mut found = vec![(Written { layer: Layer::Own, key: Vec::new() }, json)];
    let mut add = |layer: Layer, section: &str, name: &str| {
        if let Some(over) = json.get(section).and_then(|all| all.get(name)?.get("add")) {
            let key = [section, name, "add"].map(str::to_owned).into();
            found.push((Written { layer, key }, over));
        }
    };
    if let Some(runtime) = runtime {
        add(Layer::Runtime(runtime.to_owned()), "runtimes", runtime);
    }
    for feature in component.features.keys().filter(|name| features.contains(*name)) {
        add(Layer::Feature(feature.clone()), "features", feature);
    }
    for (depth, step) in path.iter().enumerate() {
        let next = below(&found, step);
        match (next.is_empty(), depth) {
            (true, 0) => return Vec::new(),
            (true, _) => break,
            (false, _) => found = next,
        }
    }
    found.into_iter().map(|(written, _)| written).collect()
}

/// What the layers have under a key or at a place of a list, without what a later one replaces.
fn below<'j>(layers: &[(Written, &'j Json)], step: &str) -> Vec<(Written, &'j Json)> {
    let mut found: Vec<(Written, &Json)> = Vec::new();
    let mut before = 0;
    for (written, json) in layers {
        let (step, value) = match json {
            Json::Array(items) => {
                let at = step.parse::<usize>().ok().and_then(|at| at.checked_sub(before));
                before += items.len();
                (at.map(|at| at.to_string()), at.and_then(|at| items.get(at)))
            }
            json => (Some(step.to_owned()), json.get(step)),
        };
        if let (Some(step), Some(value)) = (step, value) {
            let merges = |other: &&Json| {
                (value.is_object() && other.is_object()) || (value.is_array() && other.is_array())
            };
            if !found.iter().all(|(_, other)| merges(other)) {
                found.clear();
            }
            let key = written.key.iter().cloned().chain([step]).collect();
            found.push((Written { layer: written.layer.clone(), key }, value));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::{Catalog, Folder, Origin};

    use super::*;

    const COMPONENT: &str = "
format: 1
kind: x
summary: x
proof: validates
runtimes:
  container: {image: x, add: {tasks: {server: {args: [three]}}}}
tasks:
  server: {args: [one, two], env: {A: own, B: own}}
features:
  f: {help: f, add: {tasks: {server: {args: [four], env: {B: over, C: new}}}}}
  idle: {help: idle, add: {tasks: {server: {env: {A: never}}}}}
";

    fn keys(path: &str) -> Vec<String> {
        let files = BTreeMap::from([("component.yaml".to_owned(), COMPONENT.as_bytes().into())]);
        let folders = BTreeMap::from([("x".to_owned(), Folder { files })]);
        let catalog = Catalog::from_layers([(Origin::Estate, folders)]);
        let path: Vec<&str> = path.split(':').collect();
        let found = catalog.written("x", Some("container"), &BTreeSet::from(["f".to_owned()]), &path);
        found.into_iter().map(|written| written.key.join(":")).collect()
    }

    #[test]
    fn a_value_is_the_last_layers_that_has_it() {
        assert_eq!(keys("tasks:server:env:A"), ["tasks:server:env:A"]);
        assert_eq!(keys("tasks:server:env:B"), ["features:f:add:tasks:server:env:B"]);
        assert_eq!(keys("tasks:server:env:C"), ["features:f:add:tasks:server:env:C"]);
    }

    #[test]
    fn elements_of_a_list_are_counted_through_the_layers() {
        assert_eq!(keys("tasks:server:args:1"), ["tasks:server:args:1"]);
        assert_eq!(keys("tasks:server:args:2"), ["runtimes:container:add:tasks:server:args:0"]);
        assert_eq!(keys("tasks:server:args:3"), ["features:f:add:tasks:server:args:0"]);
    }

    #[test]
    fn what_several_layers_make_up_is_told_of_each() {
        assert_eq!(keys("tasks:server:env"), ["tasks:server:env", "features:f:add:tasks:server:env"]);
        assert_eq!(keys("tasks:server:args").len(), 3);
        // What nobody wrote is told by what is around it.
        assert_eq!(keys("tasks:server:env:D"), keys("tasks:server:env"));
        assert!(keys("stateless").is_empty());
    }
}
