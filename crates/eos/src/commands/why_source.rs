//! Where a value was written: the file, the line, and the change that wrote it last.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use eos_catalog::Origin;
use eos_catalog::folder::COMPONENT_FILE;
use eos_model::date;
use eos_pillar::estate_file::{self, ESTATE_FILE};
use eos_pillar::history::Recorded;
use eos_pillar::lock_file::VENDORED_CATALOG;
use serde_json::{Value as Json, json};

use crate::loaded::Loaded;
use crate::views::style::Style;
use crate::views::wrap::below;

/// Finds the change that last wrote a key; each file is asked once.
pub struct Blame<'a> {
    loaded: &'a Loaded,
    files: HashMap<Utf8PathBuf, Option<Vec<Option<Recorded>>>>,
}

pub struct Source {
    file: Utf8PathBuf,
    key: String,
    line: Option<usize>,
    change: Option<Recorded>,
    /// It stands in a file of the estate, and in no commit.
    is_uncommitted: bool,
}

impl<'a> Blame<'a> {
    pub fn new(loaded: &'a Loaded) -> Blame<'a> {
        Blame { loaded, files: HashMap::new() }
    }

    /// `origin` is a file and a key in it, as the provenance has them.
    pub fn source(&mut self, origin: String) -> Source {
        let (file, key) = origin.split_once('#').unwrap_or((&origin, ""));
        let (file, line) = self.place(Utf8Path::new(file), key);
        let estate = &self.loaded.estate;
        let changes = self.files.entry(file.clone()).or_insert_with(|| {
            let content = fs_err::read(estate.root.join(&file)).ok()?;
            Some(estate.git.blame(&file, &content).unwrap_or_default())
        });
        let is_here = changes.is_some() && line.is_some();
        let changes = changes.as_deref().unwrap_or_default();
        let change = line.and_then(|line| changes.get(line - 1).cloned().flatten());
        Source { key: key.to_owned(), file, line, is_uncommitted: is_here && change.is_none(), change }
    }

    /// The file where a person finds it, and the line. A pinned kind is read in the copy that the estate keeps.
    fn place(&self, file: &Utf8Path, key: &str) -> (Utf8PathBuf, Option<usize>) {
        if file == ESTATE_FILE {
            let text = fs_err::read_to_string(self.loaded.estate.root.join(file)).unwrap_or_default();
            return (file.to_owned(), estate_file::line_of(&text, key));
        }
        let Some(kind) = file.strip_prefix("catalog").ok().and_then(|rest| rest.parent()) else {
            let bytes = self.loaded.tree.get(file);
            return (file.to_owned(), bytes.and_then(|bytes| line_of(file, bytes, key)));
        };
        let folder = self.loaded.catalog.folder(kind.as_str());
        let bytes = folder.and_then(|folder| folder.files.get(COMPONENT_FILE));
        let line = bytes.and_then(|bytes| line_of(file, bytes, key));
        let copy = Utf8Path::new(VENDORED_CATALOG).join(kind).join(COMPONENT_FILE);
        let is_copied = self.loaded.catalog.origin(kind.as_str()) != Some(Origin::Estate)
            && self.loaded.estate.root.join(&copy).is_file();
        (if is_copied { copy } else { file.to_owned() }, line)
    }
}

/// The line of a key: steps are keys of mappings, and elements of lists by their number or by what they are.
fn line_of(file: &Utf8Path, bytes: &[u8], key: &str) -> Option<usize> {
    let document = eos_yaml::parse(file, bytes).ok()?;
    let mut node = &document.root;
    let mut mark = node.mark;
    for step in key.split(':') {
        (mark, node) = match (node.as_map(), node.as_list()) {
            (Some(entries), _) => {
                let (key, value) = entries.iter().find(|(key, _)| key.as_str() == Some(step))?;
                (key.mark, value)
            }
            (_, Some(items)) => {
                let named = items.iter().find(|item| item.as_str() == Some(step));
                let item = named.or_else(|| items.get(step.parse::<usize>().ok()?))?;
                (item.mark, item)
            }
            _ => return None,
        };
    }
    Some(mark.line as usize)
}

impl Source {
    pub fn change_id(&self) -> Option<&str> {
        let id = self.change.as_ref().map(|change| change.commit.as_str());
        if self.is_uncommitted { Some("") } else { id }
    }

    pub fn key_line(&self, style: Style, width: usize) -> String {
        let place = self.line.map_or_else(|| self.file.to_string(), |line| format!("{}:{line}", self.file));
        let short = self
            .key
            .strip_prefix("eos:")
            .unwrap_or(&self.key)
            .strip_prefix("components:")
            .unwrap_or(&self.key);
        let fits = 7 + short.chars().count() + 2 + place.chars().count() <= width;
        let between = if fits { "  " } else { "\n         " };
        format!("       {}{between}{}\n", style.cyan(short), style.dim(&place))
    }

    pub fn change_line(&self, width: usize) -> String {
        let Some(change) = &self.change else {
            let told = "         not committed\n".to_owned();
            return if self.is_uncommitted { told } else { String::new() };
        };
        let who = change.user.as_deref().unwrap_or(&change.author);
        let what = change.command.as_deref().unwrap_or(&change.subject);
        let said = format!("{} {} by {who}: {what}", &change.commit[..10], date::minute(change.time));
        below("         ", "         ", &said, width, 11)
    }

    pub fn json(&self) -> Json {
        json!({"file": self.file, "key": self.key, "line": self.line, "change": self.change})
    }
}
