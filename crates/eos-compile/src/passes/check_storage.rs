//! Every volume of a unit has a place that fits its data class.

use eos_catalog::component::{DataClass, Filesystem};
use eos_model::{Diagnostic, Size, codes};
use eos_pillar::entry::{Backing, VolumeChoice};

use crate::intent::DATA_FOLDER;
use crate::passes::emit_salt::volume_group;
use crate::passes::volume_places;
use crate::work::{Unit, Work};

/// The filesystem of a volume: the one it was made with, else that of its data class; none for what may be lost. Another
/// catalogue does not change it under data that is there.
pub fn filesystem(class: DataClass, choice: &VolumeChoice) -> Option<&str> {
    match class {
        DataClass::Shared => Some("cephfs"),
        _ => choice.filesystem.as_deref().or(class.filesystem().map(Filesystem::as_str)),
    }
}

/// The word for a data class.
pub fn class_name(class: DataClass) -> &'static str {
    match class {
        DataClass::Backup => "backup",
        DataClass::Boot => "boot",
        DataClass::Cache => "cache",
        DataClass::Database => "database",
        DataClass::Files => "files",
        DataClass::Shared => "shared",
    }
}

pub fn run(work: &mut Work<'_>) {
    let mut found = Vec::new();
    for unit in work.sound() {
        let node = unit.entry.node.get("volumes").unwrap_or(&unit.entry.node);
        let place = || work.place(node);
        for (name, volume) in &unit.component.storage {
            let Some(choice) = unit.entry.volumes.get(name) else {
                found.push(
                    Diagnostic::error(
                        codes::MISSING_SETTING,
                        format!("{} does not say where its volume {name:?} lives", unit.id.name),
                    )
                    .at(place())
                    .why("eos chooses a place once and writes it down: data has to be where it was")
                    .fix(where_to_say(work, unit, name, volume.class)),
                );
                continue;
            };
            let group = volume_group(unit, choice);
            let problem = match choice.backing {
                Backing::Lvm if group.is_none() => Some((
                    "its host has no volume group",
                    "eos update host <host> --volume-group <group>".to_owned(),
                )),
                Backing::Lvm if choice.size.as_ref().is_none_or(|size| size.parse::<Size>().is_err()) => {
                    Some((
                        "a logical volume needs a size",
                        "write one beside its path, for example size: 20G".to_owned(),
                    ))
                }
                Backing::Shared if volume.shared_by.is_none() => {
                    Some(("it is not a shared volume", elsewhere(unit)))
                }
                Backing::Directory | Backing::Lvm if volume.class == DataClass::Shared => {
                    Some(("files of several hosts need a shared filesystem", elsewhere(unit)))
                }
                _ => None,
            };
            if let Some(word) = choice.filesystem.as_deref().filter(|word| !is_filesystem(word)) {
                let known = Filesystem::ALL.map(Filesystem::as_str).join(", ");
                let message = format!("{}: volume {name} has filesystem {word:?}", unit.id.name);
                let wrong = Diagnostic::error(codes::BAD_VALUE, message).at(place());
                found.push(wrong.fix(format!("one of {known}, or leave it out: its data class has one")));
            }
            let no_size = choice.size.as_deref().and_then(|size| size.parse::<Size>().err());
            if let Some(wrong) = no_size.filter(|_| choice.backing != Backing::Lvm) {
                let message = format!("{}: volume {name}: {wrong}", unit.id.name);
                let wrong = Diagnostic::error(codes::BAD_VALUE, message).at(place());
                let wrong = wrong.why("it is the size that a logical volume of it would get");
                found.push(wrong.fix("write another size there, such as 20G"));
            }
            if choice.backing == Backing::Shared {
                found.extend(
                    not_mounted(work, unit, volume.shared_by.as_deref())
                        .map(|diagnostic| diagnostic.at(place())),
                );
            }
            found.extend(problem.map(|(problem, fix)| {
                Diagnostic::error(
                    codes::BAD_VALUE,
                    format!(
                        "{}: volume {name} cannot be backed by {}: {problem}",
                        unit.id.name,
                        choice.backing.as_str()
                    ),
                )
                .at(place())
                .fix(fix)
            }));
        }
        for name in unit.entry.volumes.keys().filter(|name| !unit.component.storage.contains_key(*name)) {
            found.push(
                Diagnostic::error(
                    codes::UNKNOWN_SETTING,
                    format!("{} has no volume {name:?}", unit.entry.kind),
                )
                .at(place()),
            );
        }
    }
    found.extend(volume_places::used_twice(work));
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// What makes a volume have a place: eos, in an entry of its own; in somebody else's they do.
fn where_to_say(work: &Work<'_>, unit: &Unit<'_>, volume: &str, class: DataClass) -> String {
    let (env, name) = (&unit.id.env, &unit.id.name);
    if !work.is_by_hand(unit) {
        return format!("eos update {name} chooses a place and writes it down");
    }
    let (backing, root) = match class {
        DataClass::Shared => ("shared", "<where it is mounted>"),
        _ => ("directory", unit.host.and_then(|host| host.data_folder.as_deref()).unwrap_or(DATA_FOLDER)),
    };
    format!(
        "write into {name}: volumes: {{{volume}: {{backing: {backing}, path: {root}/{env}/{name}/{volume}}}}}"
    )
}

fn is_filesystem(word: &str) -> bool {
    Filesystem::ALL.iter().any(|filesystem| filesystem.as_str() == word)
}

/// A volume keeps the place it was made in.
fn elsewhere(unit: &Unit<'_>) -> String {
    let (kind, name) = (&unit.entry.kind, &unit.id.name);
    format!(
        "its data stays where it is: eos create {kind} <another name> with this from the start, move the data, eos delete {name}"
    )
}

/// A shared filesystem is mounted on its own nodes only; elsewhere the path is a folder of the host's disk.
fn not_mounted(work: &Work<'_>, unit: &Unit<'_>, need: Option<&str>) -> Option<Diagnostic> {
    let host = unit.host?;
    let provider = unit.needs.get(need?)?.first().and_then(|provider| work.units.get(&provider.name))?;
    if work.unsound.contains(&provider.id.name) {
        return None;
    }
    let nodes = provider.state_hosts();
    if nodes.iter().any(|node| node == host.name.as_str()) {
        return None;
    }
    let all: Vec<&str> = nodes.iter().map(String::as_str).chain([host.name.as_str()]).collect();
    Some(
        Diagnostic::error(
            codes::BAD_VALUE,
            format!("{} is on host {}, where {} is not mounted", unit.id.name, host.name, provider.id.name),
        )
        .why("its files would end up on that host's own disk")
        .fix(format!(
            "eos update {} --{} {}, or eos update {} --host {}",
            provider.id.name,
            provider.component.states_on.as_deref().unwrap_or("host").replace('_', "-"),
            all.join(","),
            unit.id.name,
            nodes.first().map_or("<host>", String::as_str)
        )),
    )
}
