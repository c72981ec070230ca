//! The names of files that a task is given: they lie in the task's own folder, and nowhere else.

use camino::{Utf8Component, Utf8Path};

use crate::component::{Component, Task};

/// What is wrong with the names of a component's files.
pub fn problems(component: &Component) -> Vec<String> {
    let provisions = component.offers.values().filter_map(|offer| offer.provision.as_ref());
    let tasks: Vec<&Task> = component.tasks.values().chain(provisions).collect();
    let names = tasks.iter().flat_map(|task| task.files.keys());
    names
        .filter(|name| !is_plain(name))
        .map(|name| format!("file {name:?} is no plain relative name"))
        .collect()
}

fn is_plain(name: &str) -> bool {
    let is_normal = |part: Utf8Component<'_>| matches!(part, Utf8Component::Normal(_));
    !name.is_empty() && !name.ends_with('/') && Utf8Path::new(name).components().all(is_normal)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_stay_in_the_folder_of_the_task() {
        for name in ["nats.conf", "conf.d/a.yml", "..a"] {
            assert!(super::is_plain(name), "{name}");
        }
        for name in ["../../../../etc/passwd", "/etc/passwd", "a/../../b", "", "a/", "."] {
            assert!(!super::is_plain(name), "{name}");
        }
    }
}
