//! What a component could say and does not: unknown means absent, and nothing is made up in its place.

use serde::Serialize;

use crate::component::{Component, Task};

/// Something that nobody has found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    pub what: What,
    /// The image or the task it is not known of.
    pub of: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Of an image.
    Version,
    /// Of an image.
    Digest,
    /// Of a task, in any tier.
    Resources,
    /// Of the software.
    Docs,
}

impl What {
    /// What follows from it.
    pub fn means(self) -> &'static str {
        match self {
            What::Docs => "nobody is told where it is documented",
            What::Digest => "a registry may give another image for its tag",
            What::Resources => "a task gets what is usual in its tier",
            What::Version => "--version has to be given",
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            What::Docs => "docs",
            What::Digest => "digest",
            What::Resources => "resources",
            What::Version => "version",
        }
    }
}

/// All that is not known of a component.
pub fn unknown(component: &Component) -> Vec<Unknown> {
    let mut found = Vec::new();
    let mut add = |what, of: String| found.push(Unknown { what, of });
    if let Some(container) = &component.runtimes.container {
        if container.version.is_none() {
            add(What::Version, container.image.clone());
        }
        if container.digest.is_none() {
            add(What::Digest, container.image.clone());
        }
        // The one digest that there is room for is that of the component's own image.
        for image in tasks(component).filter_map(|(_, task)| task.image.clone()) {
            add(What::Digest, image);
        }
    }
    for (name, _) in tasks(component).filter(|(_, task)| task.resources.is_empty()) {
        add(What::Resources, name.to_owned());
    }
    if component.docs.is_none() {
        add(What::Docs, component.kind.clone());
    }
    found.dedup();
    found
}

/// The component's processes, and those that provision what it offers.
fn tasks(component: &Component) -> impl Iterator<Item = (&str, &Task)> {
    let own = component.tasks.iter().map(|(name, task)| (name.as_str(), task));
    let offered = component.offers.iter();
    own.chain(offered.filter_map(|(name, offer)| Some((name.as_str(), offer.provision.as_ref()?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_known() {
        let component = |container: &str, task: &str| -> Component {
            let text = format!(
                "{{format: 1, kind: x, summary: x, docs: y, proof: validates, runtimes: {{container: {container}}}, tasks: {{server: {task}}}}}"
            );
            let document = eos_yaml::parse("x".into(), text.as_bytes()).unwrap();
            serde_json::from_value(document.root.to_json()).unwrap()
        };
        let sized = "{resources: {production: {cpu: 1, memory: 1}}}";
        assert_eq!(unknown(&component("{image: x, version: '1', digest: 'sha256:0'}", sized)), []);
        let of = |what, of: &str| Unknown { what, of: of.to_owned() };
        assert_eq!(
            unknown(&component("{image: x}", "{image: y}")),
            [
                of(What::Version, "x"),
                of(What::Digest, "x"),
                of(What::Digest, "y"),
                of(What::Resources, "server")
            ]
        );
    }
}
