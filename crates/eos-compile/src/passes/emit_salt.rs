//! Salt states: where data lives, and what the host needs.

use std::collections::BTreeMap;

use eos_catalog::component::DataClass;
use eos_model::Size;
use eos_pillar::entry::{Backing, VolumeChoice};
use serde_json::json;

use crate::passes::check_storage::filesystem;
use crate::passes::emit_nomad::bad_reference;
use crate::render;
use crate::scope::Scope;
use crate::sink;
use crate::traced::{Traced, TracedValue};
use crate::work::{Document, Emitted, Unit, Work};

/// Sls of the volumes, of the host, and of what undoes either.
pub const VOLUMES: &str = "salt/volumes.sls";
pub const VOLUMES_UNDO: &str = "salt/volumes-undo.sls";
pub const HOST: &str = "salt/host.sls";
pub const UNDO: &str = "salt/host-undo.sls";

pub fn run(work: &Work<'_>, unit: &Unit<'_>, emitted: &mut Emitted) {
    let undo = states(work, unit, &unit.component.undo_states);
    let all = [
        (VOLUMES, volumes(work, unit)),
        (VOLUMES_UNDO, Ok(without_volumes(unit))),
        (HOST, host(work, unit)),
        (UNDO, undo),
    ];
    for (path, states) in all {
        match states {
            Ok(states) if states.is_empty() => {}
            Ok(states) => {
                emitted.documents.insert(path.to_owned(), Document::Sls(states));
            }
            Err(problem) => emitted.problems.push(bad_reference(work, unit, &problem)),
        }
    }
}

/// A state as Salt writes it: `id: {module.function: [{argument: value}, …]}`.
fn state(function: &'static str, arguments: Vec<(&'static str, Traced)>) -> Traced {
    let arguments = arguments.into_iter().map(|(name, value)| Traced::map().with(name, value)).collect();
    Traced::map().with(function, Traced::list(arguments))
}

/// A package without what Debian recommends beside it: services of others' would start with it, on ports of their own.
fn alone(package: &str) -> Vec<(&'static str, Traced)> {
    vec![("name", package.into()), ("install_recommends", false.into())]
}

fn volumes(work: &Work<'_>, unit: &Unit<'_>) -> Result<Traced, String> {
    let scope = Scope::of(work, unit);
    let mut states = if unit.component.storage.is_empty() { Traced::map() } else { package(unit) };
    let mut parents: BTreeMap<&str, String> = BTreeMap::new();
    for (name, volume) in &unit.component.storage {
        let Some(choice) = unit.entry.volumes.get(name) else { continue };
        let origins = scope.volume_path(name)?.1;
        let path = || Traced::scalar(choice.path.as_str(), origins.clone());
        let id = |what: &str| format!("{}-{name}-{what}", unit.id.name);
        let mut requires = Vec::new();
        if choice.backing == Backing::Lvm {
            let group = volume_group(unit, choice).unwrap_or_default();
            let logical = logical_volume(unit, name);
            let device = format!("/dev/{group}/{logical}");
            let word = word(&device);
            let kind = filesystem(volume.class, choice).unwrap_or("ext4");
            let size = choice.size.as_deref().map(Size::spelled).unwrap_or_default();
            let size = Traced::scalar(size, origins.clone());
            let tools = id("tools");
            let packages = json!(["lvm2", filesystem_package(kind)]);
            // Salt finds its module for LVM only once the package is there.
            states.set(
                tools.clone(),
                state("pkg.installed", vec![("pkgs", packages.into()), ("reload_modules", true.into())]),
            );
            states.set(
                id("volume"),
                state(
                    "lvm.lv_present",
                    vec![
                        ("name", logical.into()),
                        ("vgname", group.into()),
                        ("size", size),
                        ("resizefs", (kind != "btrfs").into()),
                        ("require", require("pkg", tools)),
                    ],
                ),
            );
            states.set(
                id("filesystem"),
                state(
                    "blockdev.formatted",
                    vec![
                        ("name", device.as_str().into()),
                        ("fs_type", kind.into()),
                        // In a preview the volume is not there yet, which blockdev would call a failure.
                        ("onlyif", json!([format!("test -b {word}")]).into()),
                        // Left to itself Salt formats whatever is not of this type, data and all: only a blank device may be.
                        ("unless", json!([format!("wipefs --noheadings {word} | grep -q .")]).into()),
                        ("require", require("lvm", id("volume"))),
                    ],
                ),
            );
            states.set(
                id("mount"),
                state(
                    "mount.mounted",
                    vec![
                        ("name", path()),
                        ("device", device.into()),
                        ("fstype", kind.into()),
                        ("mkmnt", true.into()),
                        ("persist", true.into()),
                        ("require", require("blockdev", id("filesystem"))),
                    ],
                ),
            );
            requires.push(Traced::fields([("mount", id("mount").into())]));
            if kind == "btrfs" {
                // LVM knows how to grow the others with the volume.
                let grow = format!("btrfs filesystem resize max {}", quoted(&choice.path));
                let when = require("lvm", id("volume"));
                states.set(
                    id("grown"),
                    state(
                        "cmd.run",
                        vec![
                            ("name", grow.into()),
                            ("onchanges", when),
                            ("require", require("mount", id("mount"))),
                        ],
                    ),
                );
            }
        }
        if let Some(mount) = shared_mount(unit, name, choice) {
            // Not mounted, the folders would be made on the disk below, and the program start anew in them. In a preview
            // the mount may still be to come: a command is not run then.
            states.set(id("mounted"), mounted(unit, mount, "to keep its files"));
            requires.push(Traced::fields([("cmd", id("mounted").into())]));
        }
        if choice.backing != Backing::Lvm
            && let Some((parent, _)) = choice.path.rsplit_once('/').filter(|(parent, _)| !parent.is_empty())
        {
            // `makedirs` gives every folder on the way to the volume's owner, and then others cannot get through.
            let parent_id = parents.entry(parent).or_insert_with(|| {
                let there = Traced::list(vec![format!("test -d {}", quoted(parent)).into()]);
                let mut arguments = vec![
                    ("name", parent.into()),
                    ("makedirs", true.into()),
                    ("mode", "0755".into()),
                    ("unless", there),
                ];
                if !requires.is_empty() {
                    arguments.push(("require", Traced::list(requires.clone())));
                }
                states.set(id("parent"), state("file.directory", arguments));
                id("parent")
            });
            requires.push(Traced::fields([("file", parent_id.as_str().into())]));
        }
        let mut arguments = vec![("name", path()), ("makedirs", true.into()), ("mode", "0750".into())];
        if let Some(owner) = volume.owner.filter(|_| unit.runtime() == Some("container")) {
            arguments.push(("user", owner.into()));
            arguments.push(("group", owner.into()));
        } else if let Some(user) = unit.component.tasks.values().find_map(|task| unit.account(task)) {
            arguments.push(("user", user.into()));
            // What root wrote before the program had an account is the account's too.
            if unit.package_account().is_some() {
                arguments.push(("recurse", json!(["user"]).into()));
            }
        }
        if !requires.is_empty() {
            arguments.push(("require", Traced::list(requires)));
        }
        states.set(id("directory"), state("file.directory", arguments));
    }
    Ok(states)
}

/// What takes the volumes away with all that is in them. The module protects them: this is reached only when a person has
/// named the data that may be destroyed.
fn without_volumes(unit: &Unit<'_>) -> Traced {
    let mut states = Traced::map();
    let (mut folders, mut directories) = (Vec::new(), Vec::new());
    for (name, choice) in unit
        .component
        .storage
        .keys()
        .filter_map(|name| unit.entry.volumes.get(name).map(|choice| (name, choice)))
    {
        let id = |what: &str| format!("{}-{name}-{what}", unit.id.name);
        if choice.backing == Backing::Lvm {
            let group = volume_group(unit, choice).unwrap_or_default();
            let logical = logical_volume(unit, name);
            states.set(
                id("unmounted"),
                state(
                    "mount.unmounted",
                    vec![
                        ("name", choice.path.as_str().into()),
                        ("device", format!("/dev/{group}/{logical}").into()),
                        ("persist", true.into()),
                    ],
                ),
            );
            states.set(
                id("no-volume"),
                state(
                    "lvm.lv_absent",
                    vec![
                        ("name", logical.into()),
                        ("vgname", group.into()),
                        ("require", json!([{"mount": id("unmounted")}]).into()),
                    ],
                ),
            );
        }
        let mut arguments = vec![("name", choice.path.as_str().into())];
        if choice.backing == Backing::Lvm {
            arguments.push(("require", json!([{"lvm": id("no-volume")}]).into()));
        }
        if let Some(mount) = shared_mount(unit, name, choice) {
            // Not mounted, nothing would be there to take away, and the data would live on.
            states.set(id("mounted"), mounted(unit, mount, "to lose its files"));
            arguments.push(("require", require("cmd", id("mounted"))));
        }
        states.set(id("no-directory"), state("file.absent", arguments));
        directories.push(id("no-directory"));
        folders.extend(own_folders(unit, name, &choice.path));
    }
    // The deepest first: that of the name, then that of the environment.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    folders.dedup();
    if !folders.is_empty() {
        let arguments = vec![
            ("name", remove_empty(&folders).into()),
            ("require", json!(directories.iter().map(|id| json!({"file": id})).collect::<Vec<_>>()).into()),
        ];
        states.set(format!("{}-no-folders", unit.id.name), state("cmd.run", arguments));
    }
    states
}

/// The folders on the way to a volume that bear the environment's and the unit's name: eos made them. What they are in
/// is the host's.
fn own_folders<'c>(unit: &Unit<'_>, volume: &str, path: &'c str) -> Vec<&'c str> {
    let of_name = path.strip_suffix(&format!("/{volume}"));
    let of_env = of_name.and_then(|folder| folder.strip_suffix(&format!("/{}", unit.id.name)));
    let is_own = of_env.is_some_and(|folder| folder.ends_with(&format!("/{}", unit.id.env)));
    if is_own { of_name.into_iter().chain(of_env).collect() } else { Vec::new() }
}

/// Takes folders away that are empty, and as they were made: what somebody gave another owner or mode is theirs. A place
/// where something is mounted stays, too.
fn remove_empty(folders: &[&str]) -> String {
    let folders: Vec<String> = folders.iter().map(|folder| quoted(folder)).collect();
    let look = "find \"$folder\" -maxdepth 0 -type d -empty -perm 0755 -uid \"$(id -u)\" -exec rmdir {} \\;";
    format!("for folder in {}; do {look} 2>/dev/null || true; done", folders.join(" "))
}

/// Where the shared filesystem of a volume is mounted: `/mnt/cephfs` of `/mnt/cephfs/production/cloud/data`.
fn shared_mount<'c>(unit: &Unit<'_>, volume: &str, choice: &'c VolumeChoice) -> Option<&'c str> {
    let below = format!("/{}/{}/{volume}", unit.id.env, unit.id.name);
    choice.path.strip_suffix(&below).filter(|_| choice.backing == Backing::Shared)
}

/// What fails where a shared filesystem is not mounted on the host.
fn mounted(unit: &Unit<'_>, mount: &str, what_for: &str) -> Traced {
    let told = format!("{mount} is not mounted on this host: {} is {what_for} there", unit.id.name);
    state(
        "cmd.run",
        vec![
            ("name", format!("echo {}; false", quoted(&told)).into()),
            ("unless", json!([format!("mountpoint -q {}", quoted(mount))]).into()),
        ],
    )
}

/// What comes before: a state of a kind, by its id.
fn require(kind: &'static str, id: String) -> Traced {
    Traced::list(vec![Traced::fields([(kind, id.into())])])
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The same for what hardly ever needs its quotes.
fn word(text: &str) -> String {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c));
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// The program of a unit that runs on the host itself. It brings the user that owns the volumes, so it comes before them.
/// It stays when the unit goes: other things on the host may use it, and nothing of it runs.
fn package(unit: &Unit<'_>) -> Traced {
    let mut states = Traced::map();
    // With a program of one's own there is no package to install.
    let Some(host) = unit
        .component
        .runtimes
        .host
        .as_ref()
        .filter(|_| unit.runtime() == Some("host") && unit.entry.binary.is_none())
    else {
        return states;
    };
    let id = |what: &str| format!("{}-{what}", unit.id.name);
    let package = host.package.as_str();
    let Some(service) = &host.service else {
        states.set(id("package"), state("pkg.installed", alone(package)));
        return states;
    };
    // Debian starts the service at once, on the very port that Nomad's task is to have, so it is stopped; but not one
    // that somebody here uses. What was installed for eos is marked before it can start.
    let mark = format!("/var/lib/eos/packages/{package}");
    let in_use = json!([format!("test ! -e {mark} && service {service} status")]);
    let refusal = format!(
        "{service} runs on this host already, and not as a job of eos: stop and disable it, or place {} elsewhere",
        unit.id.name
    );
    states.set(
        id("package-free"),
        state(
            "test.fail_without_changes",
            // Salt shows the name when it only tests and the comment when it does not.
            vec![
                ("name", refusal.as_str().into()),
                ("comment", refusal.as_str().into()),
                ("onlyif", in_use.into()),
            ],
        ),
    );
    states.set(
        id("package-mark"),
        state(
            "file.managed",
            vec![
                ("name", mark.into()),
                ("contents", format!("eos runs the program of {package}; its service stays off.").into()),
                ("makedirs", true.into()),
                ("require", json!([{"test": id("package-free")}]).into()),
            ],
        ),
    );
    states.set(
        id("package"),
        state("pkg.installed", {
            let mut options = alone(package);
            options.push(("require", json!([{"file": id("package-mark")}]).into()));
            options
        }),
    );
    states.set(
        id("package-service"),
        state(
            "service.dead",
            vec![
                ("name", service.as_str().into()),
                ("enable", false.into()),
                ("require", json!([{"pkg": id("package")}]).into()),
            ],
        ),
    );
    states
}

/// The Debian package that makes and mends a filesystem.
fn filesystem_package(kind: &str) -> &'static str {
    match kind {
        "btrfs" => "btrfs-progs",
        "xfs" => "xfsprogs",
        _ => "e2fsprogs",
    }
}

/// Where a logical volume is: what was chosen for it when it was made, else what its host has.
pub fn volume_group<'a>(unit: &Unit<'a>, choice: &'a VolumeChoice) -> Option<&'a str> {
    choice.group.as_deref().or_else(|| unit.host?.volume_group.as_deref())
}

/// `production_crm_data`: LVM names take no dots or slashes.
pub fn logical_volume(unit: &Unit<'_>, volume: &str) -> String {
    format!("{}_{}_{volume}", unit.id.env, unit.id.name).replace(['.', '-'], "_")
}

fn host(work: &Work<'_>, unit: &Unit<'_>) -> Result<Traced, String> {
    let mut all = if unit.component.storage.is_empty() { package(unit) } else { Traced::map() };
    if let TracedValue::Map(entries) = states(work, unit, &unit.component.states)?.value {
        for (id, value) in entries {
            all.set(id, value);
        }
    }
    Ok(all)
}

fn states(work: &Work<'_>, unit: &Unit<'_>, data: &eos_catalog::component::Data) -> Result<Traced, String> {
    render::entries(&Scope::of(work, unit), data.iter(), &mut sink::salt)
}

/// The classes of data that a unit's volumes hold; what may be lost does not count.
pub fn data_classes(unit: &Unit<'_>) -> Vec<DataClass> {
    let mut classes: Vec<DataClass> = unit
        .component
        .storage
        .values()
        .map(|volume| volume.class)
        .filter(|class| *class != DataClass::Cache)
        .collect();
    classes.sort();
    classes.dedup();
    classes
}
