//! A stack of component folders with the components read from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Diagnostics, Place, codes, nearest::nearest};
use serde_json::Value as Json;

use crate::component::{Component, FORMAT};
use crate::discovery::add_need;
use crate::folder::{COMPONENT_FILE, Folder};
use crate::layers::{self, Written};
use crate::overlay::lay_over;
use crate::schema;

/// Where a component comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    BuiltIn,
    /// The copy an estate keeps so that a newer eos changes nothing by itself.
    Pinned,
    Estate,
}

struct Entry {
    folder: Folder,
    origin: Origin,
    /// Of the folder of the same name that it took the place of.
    replaces: Option<Origin>,
    digest: OnceLock<String>,
}

/// A component as read: typed, and as the data overlays work on.
#[derive(Debug)]
struct Read {
    component: Arc<Component>,
    json: Json,
}

/// Kind, runtime and features: what a component with its overlays depends on.
type VariantKey = (String, Option<String>, BTreeSet<String>);

/// All kinds that can be created.
pub struct Catalog {
    entries: BTreeMap<String, Entry>,
    read: Mutex<HashMap<String, Arc<Result<Read, Diagnostics>>>>,
    variants: Mutex<HashMap<VariantKey, Arc<Component>>>,
}

impl Catalog {
    /// The built-in components and nothing else.
    pub fn built_in() -> Catalog {
        Catalog::from_layers([(Origin::BuiltIn, Folder::built_in())])
    }

    /// Later layers win.
    pub fn from_layers(layers: impl IntoIterator<Item = (Origin, BTreeMap<String, Folder>)>) -> Catalog {
        let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
        for (origin, folders) in layers {
            for (kind, folder) in folders {
                let replaces = entries.get(&kind).map(|below| below.origin);
                entries.insert(kind, Entry { folder, origin, replaces, digest: OnceLock::new() });
            }
        }
        Catalog { entries, read: Mutex::default(), variants: Mutex::default() }
    }

    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub fn origin(&self, kind: &str) -> Option<Origin> {
        self.entries.get(kind).map(|entry| entry.origin)
    }

    /// Whether a kind is an estate's own and has taken the place of one that eos has.
    pub fn takes_a_place(&self, kind: &str) -> bool {
        self.entries.get(kind).is_some_and(|entry| entry.origin == Origin::Estate && entry.replaces.is_some())
    }

    pub fn folder(&self, kind: &str) -> Option<&Folder> {
        self.entries.get(kind).map(|entry| &entry.folder)
    }

    /// The digest of a kind's folder.
    pub fn digest(&self, kind: &str) -> Option<&str> {
        self.entries.get(kind).map(|entry| entry.digest.get_or_init(|| entry.folder.digest()).as_str())
    }

    /// The kind a word stands for: itself, or the one that has it as an alias.
    pub fn resolve(&self, word: &str) -> Result<&str, Diagnostics> {
        if let Some((kind, _)) = self.entries.get_key_value(word) {
            return Ok(kind);
        }
        let alias = |kind: &&String| self.component(kind).is_ok_and(|c| c.aliases.iter().any(|a| a == word));
        match self.entries.keys().find(alias) {
            Some(kind) => Ok(kind),
            None => Err(self.unknown_kind(word).into()),
        }
    }

    pub fn unknown_kind(&self, word: &str) -> Diagnostic {
        let fix = match nearest(word, self.kinds()) {
            Some(kind) => format!("did you mean {kind}? eos catalog list shows all kinds"),
            None => "eos catalog list shows all kinds; eos catalog new makes one of your own".to_owned(),
        };
        Diagnostic::error(codes::UNKNOWN_KIND, format!("there is no kind {word:?}")).fix(fix)
    }

    /// A component as its file says it.
    pub fn component(&self, kind: &str) -> Result<Arc<Component>, Diagnostics> {
        match &*self.read(kind) {
            Ok(read) => Ok(Arc::clone(&read.component)),
            Err(found) => Err(found.clone()),
        }
    }

    /// The line a kind is listed with. A shell that completes waits for it, so a plain one is read without the rest.
    pub fn summary(&self, kind: &str) -> String {
        let plain = self.text(kind).and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("summary: "))?;
            let is_plain = |c: char| c.is_alphanumeric() || " ,.-()/".contains(c);
            (line.starts_with(char::is_alphanumeric) && line.chars().all(is_plain))
                .then(|| line.trim().to_owned())
        });
        plain.unwrap_or_else(|| self.component(kind).map(|found| found.summary.clone()).unwrap_or_default())
    }

    /// The kinds whose components have operations, found without reading those that cannot.
    pub fn kinds_with_operations(&self) -> impl Iterator<Item = (&str, Arc<Component>)> {
        let may_have = |kind: &&str| self.text(kind).is_none_or(|text| text.contains("operations"));
        self.kinds().filter(may_have).filter_map(|kind| {
            let component = self.component(kind).ok()?;
            (!component.operations.is_empty()).then_some((kind, component))
        })
    }

    /// A component's file as text.
    fn text(&self, kind: &str) -> Option<&str> {
        std::str::from_utf8(self.folder(kind)?.files.get(COMPONENT_FILE)?).ok()
    }

    /// A component with the overlays of a runtime and of features laid over it.
    pub fn variant(
        &self,
        kind: &str,
        runtime: Option<&str>,
        features: &BTreeSet<String>,
    ) -> Result<Arc<Component>, Diagnostics> {
        let key = (kind.to_owned(), runtime.map(str::to_owned), features.clone());
        if let Some(known) = self.variants.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(known));
        }
        let variant = self.lay_overlays(kind, runtime, features)?;
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(variants.entry(key).or_insert(variant)))
    }

    /// The places in a kind's file that a value of [`Catalog::variant`] comes from.
    pub fn written(
        &self,
        kind: &str,
        runtime: Option<&str>,
        features: &BTreeSet<String>,
        path: &[&str],
    ) -> Vec<Written> {
        match &*self.read(kind) {
            Ok(read) => layers::written(&read.component, &read.json, runtime, features, path),
            Err(_) => Vec::new(),
        }
    }

    fn lay_overlays(
        &self,
        kind: &str,
        runtime: Option<&str>,
        features: &BTreeSet<String>,
    ) -> Result<Arc<Component>, Diagnostics> {
        let read = self.read(kind);
        let read = read.as_ref().as_ref().map_err(Clone::clone)?;
        let mut json = read.json.clone();
        if let Some(add) = runtime.and_then(|runtime| read.json.pointer(&format!("/runtimes/{runtime}/add")))
        {
            lay_over(&mut json, add);
        }
        for feature in read.component.features.keys().filter(|name| features.contains(*name)) {
            if let Some(add) = read.json.get("features").and_then(|all| all.get(feature)?.get("add")) {
                lay_over(&mut json, add);
            }
        }
        serde_json::from_value(json).map(Arc::new).map_err(|error| {
            Diagnostic::error(
                codes::BAD_COMPONENT,
                format!("{kind} with {features:?} and runtime {runtime:?}: {error}"),
            )
            .at(Place::file(self.file(kind)))
            .why("an overlay under `add` must itself have the shape of a component")
            .into()
        })
    }

    /// The file to show in messages about a kind.
    pub fn file(&self, kind: &str) -> Utf8PathBuf {
        Utf8Path::new("catalog").join(kind).join(COMPONENT_FILE)
    }

    /// The line of a kind's file that has a reference, `@{setting.port}`, with a filter or without; else the file.
    pub fn place_of_reference(&self, kind: &str, reference: &str) -> Place {
        let mut place = Place::file(self.file(kind));
        let open = reference.trim_end_matches('}');
        let refers = |line: &str| {
            let mut behind = line.match_indices(open).map(|(at, _)| (at, &line[at + open.len()..]));
            behind.find(|(_, rest)| rest.starts_with(['}', '|'])).map(|(at, _)| at)
        };
        let mut lines = self.text(kind).unwrap_or_default().lines().enumerate();
        if let Some((index, line, at)) = lines.find_map(|(index, line)| Some((index, line, refers(line)?))) {
            place.line = index + 1;
            place.column = line[..at].chars().count() + 1;
            place.text = line.to_owned();
        }
        place
    }

    fn read(&self, kind: &str) -> Arc<Result<Read, Diagnostics>> {
        if let Some(known) = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(kind) {
            return Arc::clone(known);
        }
        let result = Arc::new(match self.entries.get(kind) {
            None => Err(self.unknown_kind(kind).into()),
            Some(entry) => read_component(kind, &self.file(kind), entry),
        });
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.to_owned(), Arc::clone(&result));
        result
    }
}

fn read_component(kind: &str, file: &Utf8Path, entry: &Entry) -> Result<Read, Diagnostics> {
    let missing = || Diagnostic::error(codes::BAD_COMPONENT, format!("{file} is missing"));
    let bytes = entry.folder.files.get(COMPONENT_FILE).ok_or_else(missing)?;
    let document = eos_yaml::parse(file, bytes)?;
    let mut json = document.root.to_json();
    if let Some(newer) =
        json.get("format").and_then(Json::as_u64).filter(|format| *format > u64::from(FORMAT))
    {
        return Err(Diagnostic::error(
            codes::NEWER_FORMAT,
            format!("{file} has format {newer}; this eos reads up to {FORMAT}"),
        )
        .at(Place::file(file))
        .why("it was written for a newer eos and may mean something this one does not know")
        .fix("use a newer eos")
        .into());
    }
    add_need(&mut json);
    // The built-in ones were checked when eos was built; the schema's messages are for people's own.
    match serde_json::from_value::<Component>(json.clone()) {
        Ok(component) if component.kind == kind => Ok(Read { component: Arc::new(component), json }),
        Ok(component) => Err(Diagnostic::error(
            codes::BAD_COMPONENT,
            format!("{file} says kind {:?} but lies in the folder {kind:?}", component.kind),
        )
        .at(Place::file(file))
        .why("a kind is found by its folder")
        .fix("give the folder the kind's name")
        .into()),
        Err(error) => {
            let found = schema::check(&document, &json);
            if found.has_errors() {
                return Err(found);
            }
            Err(Diagnostic::error(codes::BAD_COMPONENT, format!("{file}: {error}"))
                .at(Place::file(file))
                .into())
        }
    }
}
