//! `build/`: what the compiler gave, brought to disk. Only what differs is written; what is gone goes away.
//!
//! Everything here can be made again, so nothing is flushed and a file is written in place: a crash leaves at worst a
//! file that the next compilation finds different.

use std::collections::BTreeSet;
use std::io::Write as _;

use camino::Utf8Path;
use eos_compile::Files;
use eos_model::{Diagnostic, Diagnostics, EnvName, Place, ask_each, codes};
use eos_pillar::files;
use rustix::io::Errno;

use crate::build_stamp::{self, ContentDigest, Root, Seen, Stamp};

/// The folder of build/ that holds modules, shared by environments.
const MODULES: &str = "modules";

/// What a build folder has that the compiler did not give, and the other way round.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub same: usize,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    pub fn count(&self) -> usize {
        self.added.len() + self.changed.len() + self.removed.len()
    }
}

/// What shall be in an environment's build folder, and what it was made from.
pub struct Wanted<'a> {
    pub env: &'a EnvName,
    pub files: &'a Files,
    pub units: usize,
    /// Digest of the inputs; empty when the next compilation must not be skipped.
    pub inputs: String,
}

impl<'a> Wanted<'a> {
    /// What a command gives that does not know the digest of its inputs.
    fn once(env: &'a EnvName, files: &'a Files) -> Wanted<'a> {
        Wanted { env, files, units: 0, inputs: String::new() }
    }
}

/// What eos wrote last time and nobody touched since, found in the text of a stamp. It does not ask what is wanted, so
/// that it can be found out while the compiler works.
pub fn untouched<'t>(root: &Utf8Path, text: &'t str) -> Stamp<'t> {
    Stamp::of(text).still_so(Root::open(root).as_ref())
}

/// Compares an environment's build folder with what the compiler gave.
pub fn compare(root: &Utf8Path, env: &EnvName, files: &Files) -> Difference {
    let text = build_stamp::read(root, env);
    compare_with(root, &Wanted::once(env, files), &untouched(root, &text)).0
}

/// A warning for each file that somebody changed since eos wrote it: the change counts for nothing.
pub fn warnings(root: &Utf8Path, env: &EnvName) -> Diagnostics {
    let Some(folder) = Root::open(root) else { return Diagnostics::new() };
    let text = build_stamp::read(root, env);
    let edited = |(path, (seen, digest)): &(&str, (Seen, ContentDigest))| {
        Seen::below(&folder, path).is_some_and(|now| now != *seen)
            && fs_err::read(root.join(path)).is_ok_and(|found| ContentDigest::of(&found) != *digest)
    };
    let warning = |(path, _): (&str, _)| {
        Diagnostic::warning(codes::NOT_OURS, format!("{path} was changed by hand"))
            .why("build/ is written by eos and never read: the change has no effect and the next apply removes it")
            .fix(format!("eos why {path} names the settings behind it; eos update changes those"))
    };
    Diagnostics(Stamp::of(&text).files.into_iter().filter(edited).map(warning).collect())
}

/// Whether a file of build/ is no longer what eos wrote.
pub fn is_edited(root: &Utf8Path, env: &EnvName, path: &Utf8Path, content: &[u8]) -> bool {
    let text = build_stamp::read(root, env);
    let stamp = Stamp::of(&text);
    stamp.files.get(path.as_str()).is_some_and(|(_, digest)| ContentDigest::of(content) != *digest)
}

/// Brings an environment's build folder to what the compiler gave.
pub fn sync(root: &Utf8Path, env: &EnvName, files: &Files) -> Result<Difference, Diagnostic> {
    let text = build_stamp::read(root, env);
    sync_stamped(root, &Wanted::once(env, files), &untouched(root, &text))
}

/// How a file on disk compares with what is wanted.
enum Look {
    Missing,
    Other,
    Same(Seen, ContentDigest),
}

/// Looks at one file, and reads it only when it is not known to be untouched.
fn look(root: &Utf8Path, folder: &Root, path: &str, content: &[u8], before: &Stamp<'_>) -> Look {
    let digest = ContentDigest::of(content);
    if let Some((seen, known)) = before.files.get(path) {
        return if *known == digest { Look::Same(*seen, digest) } else { Look::Other };
    }
    let Some(seen) = Seen::below(folder, path) else { return Look::Missing };
    let is_same = fs_err::read(root.join(path)).is_ok_and(|found| found == content);
    if is_same { Look::Same(seen, digest) } else { Look::Other }
}

/// The difference, and the files that are the same with how they look.
pub fn compare_with<'w>(
    root: &Utf8Path,
    wanted: &'w Wanted<'_>,
    before: &Stamp<'_>,
) -> (Difference, Stamp<'w>) {
    let opened = Root::open(root);
    let mut difference = Difference::default();
    let mut after = Stamp { inputs: &wanted.inputs, units: wanted.units, ..Stamp::default() };
    let files: Vec<(&String, &Vec<u8>)> = wanted.files.iter().collect();
    let looks = ask_each(&files, |(path, content)| match &opened {
        Some(folder) => look(root, folder, path, content, before),
        None => Look::Missing,
    });
    let mut same = Vec::with_capacity(files.len());
    for ((path, _), look) in files.into_iter().zip(looks) {
        match look {
            Look::Missing => difference.added.push(path.clone()),
            Look::Other => difference.changed.push(path.clone()),
            Look::Same(seen, digest) => {
                difference.same += 1;
                same.push((path.as_str(), (seen, digest)));
            }
        }
    }
    after.files = same.into_iter().collect();
    let folder = format!("build/{}/", wanted.env);
    let is_gone = |path: &&str| path.starts_with(&folder) && !wanted.files.contains_key(*path);
    difference.removed = if before.folders.is_empty() {
        let present = below(root, folder.trim_end_matches('/'));
        present.iter().map(String::as_str).filter(is_gone).map(str::to_owned).collect()
    } else {
        before.files.keys().copied().filter(is_gone).map(str::to_owned).collect()
    };
    (difference, after)
}

/// Like [`sync`], and remembers what the files were made from.
pub fn sync_stamped(
    root: &Utf8Path,
    wanted: &Wanted<'_>,
    before: &Stamp<'_>,
) -> Result<Difference, Diagnostic> {
    let opened = open(root)?;
    let folders = folders(wanted.files);
    refuse_links(&opened, wanted.env, &folders)?;
    let (difference, mut after) = compare_with(root, wanted, before);
    let written: Vec<(&String, &Vec<u8>)> = difference
        .added
        .iter()
        .chain(&difference.changed)
        .filter_map(|path| wanted.files.get_key_value(path))
        .collect();
    let looks = ask_each(&written, |(path, content)| {
        write(root, &opened, path, content).map(|seen| (seen, ContentDigest::of(content)))
    });
    for ((path, _), look) in written.into_iter().zip(looks) {
        after.files.insert(path, look?);
    }
    for path in &difference.removed {
        files::remove(root, path.as_str().into())?;
    }
    if !difference.is_empty() || before.inputs != after.inputs || before.folders.is_empty() {
        let seen = ask_each(&folders, |folder| Seen::below(&opened, folder));
        after.folders =
            folders.into_iter().zip(seen).filter_map(|(folder, seen)| Some((folder, seen?))).collect();
        after.write(root, wanted.env);
    }
    Ok(difference)
}

fn open(root: &Utf8Path) -> Result<Root, Diagnostic> {
    Root::open(root).ok_or_else(|| files::cannot_write("build".into(), &std::io::ErrorKind::NotFound.into()))
}

/// No folder of build/ may be a link: writing or removing below one could reach anything.
fn refuse_links(root: &Root, env: &EnvName, folders: &[&str]) -> Result<(), Diagnostic> {
    let own = format!("build/{env}");
    ["build", &own].into_iter().try_for_each(|folder| refuse_link(root, folder))?;
    ask_each(folders, |folder| refuse_link(root, folder)).into_iter().collect()
}

fn refuse_link(root: &Root, path: &str) -> Result<(), Diagnostic> {
    if root.is_link(path) { Err(is_link(path)) } else { Ok(()) }
}

fn is_link(path: &str) -> Diagnostic {
    Diagnostic::error(codes::LEAVES_ESTATE, format!("{path} is a link, and build/ holds none"))
        .at(Place::file(path))
        .why("writing through a link could change a file that is not the estate's")
        .fix(format!("rm {path}, then eos compile"))
}

/// Every folder on the way to a file, once: `build/a/b/c` is in build, build/a and build/a/b.
fn folders(files: &Files) -> Vec<&str> {
    let mut found = Vec::new();
    let mut before = "";
    for path in files.keys() {
        // In the order of names the files of a folder follow each other.
        let ends = path.match_indices('/').map(|(at, _)| at);
        found.extend(ends.filter(|at| !before.starts_with(&path[..=*at])).map(|at| &path[..at]));
        before = path;
    }
    found
}

/// Files of ours under build/ that no environment has any more: an environment that is gone, a module nobody calls.
/// `wanted` gives the files of all environments; it is asked only when there are modules.
pub fn strays(
    root: &Utf8Path,
    environments: &[EnvName],
    wanted: impl FnOnce() -> BTreeSet<String>,
) -> Vec<String> {
    let folders = root.join("build").read_dir_utf8().into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found = Vec::new();
    let mut modules = Vec::new();
    for entry in folders.filter(|entry| !environments.iter().any(|env| env.as_str() == entry.file_name())) {
        let files = below(root, &format!("build/{}", entry.file_name()));
        if entry.file_name() == MODULES { modules = files } else { found.extend(files) }
    }
    if !modules.is_empty() {
        let wanted = wanted();
        found.extend(modules.into_iter().filter(|path| !wanted.contains(path)));
    }
    found.sort();
    found
}

/// Removes files that [`strays`] found.
pub fn remove(root: &Utf8Path, paths: &[String]) -> Result<(), Diagnostic> {
    let opened = open(root)?;
    paths.iter().try_for_each(|path| {
        // Never through a link: what is behind one is not ours.
        path.match_indices('/').try_for_each(|(at, _)| refuse_link(&opened, &path[..at]))?;
        files::remove(root, path.as_str().into())
    })
}

/// What an environment's build folder was given last time.
pub fn known_files(root: &Utf8Path, env: &EnvName) -> Vec<String> {
    Stamp::of(&build_stamp::read(root, env)).files.into_keys().map(str::to_owned).collect()
}

/// Whether the folder is what these inputs gave last time, without compiling.
pub fn is_current(root: &Utf8Path, env: &EnvName, inputs: &str) -> Option<usize> {
    if inputs.is_empty() { None } else { build_stamp::units_if_current(root, env, inputs) }
}

/// Writes a file in place, in a folder that is made when it is not there, and says how it looks then.
fn write(root: &Utf8Path, opened: &Root, path: &str, content: &[u8]) -> Result<Seen, Diagnostic> {
    let failed = |error: std::io::Error| files::cannot_write(path.into(), &error);
    let made = match opened.create(path) {
        Err(Errno::NOENT) => {
            let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
            fs_err::create_dir_all(root.join(folder)).map_err(failed)?;
            opened.create(path)
        }
        made => made,
    };
    let mut file = match made {
        Err(Errno::LOOP) => return Err(is_link(path)),
        made => made.map_err(|error| failed(error.into()))?,
    };
    file.write_all(content).and_then(|()| Seen::open(&file)).map_err(failed)
}

/// What tofu leaves beside a unit when a backend did not take its state: the only copy there is.
const ERRORED: &str = "errored.tfstate";

/// Files of ours below a folder; what tofu keeps there (`.terraform`, its lock, a state that it could not save) is not ours.
fn below(root: &Utf8Path, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = root.join(&folder).read_dir_utf8() else { continue };
        let is_tofus = |name: &str| name.starts_with('.') || name == ERRORED;
        for entry in entries.flatten().filter(|entry| !is_tofus(entry.file_name())) {
            let path = format!("{folder}/{}", entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}
