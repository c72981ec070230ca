//! Why a line of a unit's Salt states is there.

use serde_json::{Value as Json, json};

use super::{Cause, Path, Step};
use crate::passes::emit_salt::{HOST, UNDO};
use crate::work::Unit;

/// What a state of a volume is called after → why there is one.
const VOLUME: &[(&str, &str)] = &[
    ("directory", "the folder that the program keeps its data in"),
    (
        "filesystem",
        "a blank volume gets its filesystem: of its data class, or chosen for it; one with data on it never",
    ),
    ("grown", "the filesystem grows with its volume"),
    ("mount", "the volume is there after the next start, too"),
    ("mounted", "nothing is written below a shared filesystem that is not mounted"),
    ("no-directory", "the data goes, once a person has named it"),
    ("no-volume", "the data goes, once a person has named it"),
    ("parent", "a folder on the way, which other units may pass through"),
    ("tools", "what makes and grows the volume"),
    ("unmounted", "the data goes, once a person has named it"),
    ("volume", "the data class asks for a logical volume"),
];

/// What all volumes of a unit have in common goes last.
const FOLDERS: (&str, &str) =
    ("no-folders", "empty folders that eos made on the way to the data go with it; what others made stays");

/// What a state of a package is called after → the key of the runtime behind it, and why there is one.
const PACKAGE: &[(&str, &str, &str)] = &[
    ("package", "package", "with --runtime host the program is Debian's"),
    ("package-free", "service", "a service that somebody here uses is not stopped"),
    ("package-mark", "service", "what was installed for eos is told from what was there before"),
    ("package-service", "service", "Nomad runs the program; Debian's service would hold its port"),
];

/// Salt's renderer, on the first line.
const RENDERER: &str = "plain YAML: Salt renders nothing in it";

pub fn causes(unit: &Unit<'_>, file: &str, path: &Path) -> Vec<Cause> {
    let Some(id) = path.first() else { return vec![Cause::Compiler(RENDERER)] };
    let own = id.name.strip_prefix(unit.id.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
    match file {
        HOST => package(own, unit).unwrap_or_else(|| {
            // What the compiler puts before the component's own states moves them down.
            let shown = packages_before(unit);
            let moved = Step { name: id.name.clone(), at: id.at.saturating_sub(shown) };
            let path: Path = [moved].into_iter().chain(path[1..].iter().cloned()).collect();
            vec![Cause::Component(within("states", &json!(unit.component.states), &path))]
        }),
        UNDO => vec![Cause::Component(within("undo_states", &json!(unit.component.undo_states), path))],
        _ if own == Some(FOLDERS.0) => vec![Cause::Compiler(FOLDERS.1)],
        _ => volume(own, unit).or_else(|| package(own, unit)).unwrap_or_default(),
    }
}

fn volume(own: Option<&str>, unit: &Unit<'_>) -> Option<Vec<Cause>> {
    let states = unit.component.storage.keys().filter_map(|volume| {
        let what = own?.strip_prefix(volume.as_str())?.strip_prefix('-')?;
        let (_, why) = VOLUME.iter().find(|(known, _)| *known == what)?;
        Some((volume, *why))
    });
    let (volume, why) = states.max_by_key(|(volume, _)| volume.len())?;
    let chosen = format!("volumes:{volume}");
    Some(vec![Cause::Compiler(why), Cause::component(&["storage", volume]), Cause::chosen(chosen)])
}

fn package(own: Option<&str>, unit: &Unit<'_>) -> Option<Vec<Cause>> {
    let host = unit.component.runtimes.host.as_ref().filter(|_| unit.runtime() == Some("host"))?;
    let (_, key, why) = PACKAGE.iter().find(|(known, ..)| Some(*known) == own)?;
    let key = if host.service.is_some() { key } else { "package" };
    Some(vec![Cause::Compiler(why), Cause::component(&["runtimes", "host", key]), Cause::chosen("runtime")])
}

/// How many states of the package stand before the component's own.
fn packages_before(unit: &Unit<'_>) -> usize {
    let installed = unit.runtime() == Some("host") && unit.entry.binary.is_none();
    match unit.component.runtimes.host.as_ref().filter(|_| installed && unit.component.storage.is_empty()) {
        None => 0,
        Some(host) if host.service.is_none() => 1,
        Some(_) => PACKAGE.len(),
    }
}

/// The path in the catalogue of a value that data of its was rendered to: keys are the same, save those with references
/// in them, which are known by their place.
pub fn within(section: &str, data: &Json, path: &[Step]) -> Vec<String> {
    let mut found: Vec<String> = section.split(':').map(str::to_owned).collect();
    let mut data = data;
    for step in path {
        let next = match data {
            Json::Array(items) => items.get(step.at).map(|item| (step.at.to_string(), item)),
            Json::Object(entries) => entries
                .get_key_value(&step.name)
                .or_else(|| {
                    let by_place = entries.iter().nth(step.at)?;
                    by_place.0.contains("@{").then_some(by_place)
                })
                .map(|(key, value)| (key.clone(), value)),
            _ => None,
        };
        let Some((key, value)) = next else { break };
        found.push(key);
        data = value;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(VOLUME.is_sorted() && PACKAGE.is_sorted());
    }

    #[test]
    fn keys_with_references_are_known_by_their_place() {
        let data = json!({"plain": 1, "@{name}-file": {"file.managed": [{"name": "/x"}, "@{collected.y}"]}});
        let step = |name: &str, at| Step { name: name.to_owned(), at };
        let path = [step("shop-file", 1), step("file.managed", 0), step("1", 1), step("0", 0)];
        assert_eq!(within("states", &data, &path).join("/"), "states/@{name}-file/file.managed/1");
        assert_eq!(within("states", &data, &[step("other", 0)]).join("/"), "states");
    }
}
