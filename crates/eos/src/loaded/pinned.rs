//! The kinds an estate has pinned: which they are, their copies, and what is not as the lock says.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use eos_catalog::{Catalog, Folder, Origin};
use eos_model::{Diagnostic, Diagnostics, Place, codes};
use eos_pillar::lock_file::{LOCK_FILE, VENDORED_CATALOG};
use eos_pillar::{Change, Environment, Estate, LockFile, files};

use super::Loaded;

impl Loaded {
    /// Warnings about kinds that were written by hand and never pinned: they would change with the next eos.
    pub(super) fn unpinned(&self, environment: &Environment) -> Diagnostics {
        let is_pinned = |kind: &str| {
            self.estate.lock.catalog.contains_key(kind) || self.catalog.origin(kind) != Some(Origin::BuiltIn)
        };
        let warn = |entry: &eos_pillar::ComponentEntry| {
            let message = format!("{} uses {}, which {LOCK_FILE} does not pin", entry.name, entry.kind);
            Diagnostic::warning(codes::CATALOG_CHANGED, message)
                .at(environment.place(&entry.node))
                .why("a newer eos would change what it compiles to without asking")
                .fix("eos upgrade pins it")
        };
        let unpinned = environment.components.values().filter(|entry| !is_pinned(&entry.kind));
        Diagnostics(unpinned.map(warn).collect())
    }

    /// Warnings about kinds of the estate's own that took the place of eos's.
    pub fn in_place<'k>(&self, kinds: impl Iterator<Item = &'k str>) -> Diagnostics {
        let kinds: BTreeSet<&str> = kinds.filter(|kind| self.catalog.takes_a_place(kind)).collect();
        let told = |kind| {
            let message = format!("{kind} is the estate's own, in place of the one that eos has");
            Diagnostic::warning(codes::IN_PLACE, message)
                .at(Place::file(self.catalog.file(kind)))
                .why("what a newer eos mends or changes about its own does not reach it")
                .fix(format!("nothing, if it is meant; else git rm -r catalog/{kind}"))
        };
        Diagnostics(kinds.into_iter().map(told).collect())
    }

    /// Copies of pinned kinds that are not what is pinned: this eos has the same built in, a newer one would not.
    pub fn changed_copies(&self) -> Diagnostics {
        let is_changed = |(kind, digest): &(&String, &String)| {
            let copy = Folder::read(&self.estate.root.join(VENDORED_CATALOG).join(kind));
            !copy.is_ok_and(|folder| folder.digest() == **digest)
        };
        let told = |(kind, _): (&String, &String)| {
            changed(format!("{VENDORED_CATALOG}/{kind} is not what {LOCK_FILE} pins"))
                .why("the copy was changed or lost: a newer eos could not compile it")
                .fix(format!("git log -- {VENDORED_CATALOG}/{kind} shows who changed it; bring it back"))
        };
        Diagnostics(self.estate.lock.catalog.iter().filter(is_changed).map(told).collect())
    }
}

/// The catalogue is not what the lock pins.
pub(super) fn changed(message: String) -> Diagnostic {
    Diagnostic::error(codes::CATALOG_CHANGED, message)
        .at(Place::file(LOCK_FILE))
        .why("a new eos must not change what runs before somebody has seen the difference")
        .fix("eos upgrade --dry-run shows what would change, eos upgrade does it")
}

/// Built-in components as the lock pins them, and the estate's own over them.
pub(super) fn pinned_catalog(estate: &Estate) -> Result<Catalog, Diagnostics> {
    let unreadable = |path: &str, error: &std::io::Error| files::cannot_read(path.into(), error);
    let mut built_in = Folder::built_in();
    let mut pinned = BTreeMap::new();
    for (kind, digest) in &estate.lock.catalog {
        if built_in.get(kind).is_some_and(|folder| folder.digest() == *digest) {
            continue;
        }
        let path = estate.root.join(VENDORED_CATALOG).join(kind);
        let copy = if path.is_dir() {
            Some(Folder::read(&path).map_err(|e| unreadable(VENDORED_CATALOG, &e))?)
        } else {
            None
        };
        match copy.filter(|folder| folder.digest() == *digest) {
            Some(folder) => {
                built_in.remove(kind);
                pinned.insert(kind.clone(), folder);
            }
            None => {
                return Err(changed(format!("{LOCK_FILE} pins another {kind} than this eos has, and {VENDORED_CATALOG}/{kind} is not it either"))
                    .why("the copy was changed or lost: what is pinned cannot be compiled any more")
                    .fix(format!("git log -- {LOCK_FILE} {VENDORED_CATALOG}/{kind} shows when; bring both back as they were"))
                    .into());
            }
        }
    }
    // A kind behind a link out of the estate would be another one in a clone.
    for entry in estate.root.join("catalog").read_dir_utf8().into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            files::stays_inside(&estate.root, &Utf8Path::new("catalog").join(entry.file_name()))?;
        }
    }
    let own = Folder::below(&estate.root.join("catalog")).map_err(|e| unreadable("catalog", &e))?;
    Ok(Catalog::from_layers([(Origin::BuiltIn, built_in), (Origin::Pinned, pinned), (Origin::Estate, own)]))
}

/// The lock with a kind pinned, and the copy to keep; nothing for what is pinned already or the estate's own.
pub fn pin(catalog: &Catalog, lock: &mut LockFile, change: &mut Change, kind: &str) {
    if catalog.origin(kind) != Some(Origin::BuiltIn) || lock.catalog.contains_key(kind) {
        return;
    }
    let Some(folder) = catalog.folder(kind) else { return };
    lock.catalog.insert(kind.to_owned(), folder.digest());
    for (path, bytes) in &folder.files {
        change.write(format!("{VENDORED_CATALOG}/{kind}/{path}"), bytes.to_vec());
    }
    change.write(LOCK_FILE, lock.write());
}
