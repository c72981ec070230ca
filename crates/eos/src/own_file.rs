//! The file eos keeps of a name, where files of somebody's own may speak of the same name. eos writes only what a command
//! changes, only over a file that is as eos wrote it, and only what counts once all files are merged.

use camino::{Utf8Path, Utf8PathBuf};
use eos_compile::intent::{entry_text, ours};
use eos_model::{Diagnostic, Diagnostics, Place, SecretRef, codes};
use eos_pillar::{Change, Environment, top};
use eos_yaml::{Node, Value};
use serde_json::{Map, Value as Json};

use crate::loaded::Loaded;

/// An entry as it is, merged from every file that speaks of it.
pub struct Known<'a> {
    pub section: &'a str,
    pub name: &'a str,
    pub node: &'a Node,
    /// The file eos keeps of it.
    pub path: Utf8PathBuf,
}

/// Adds an entry that is not there yet to a change. Its file may be: with something else of somebody's own in it.
pub fn write_new(
    loaded: &Loaded,
    section: &str,
    name: &str,
    path: Utf8PathBuf,
    wanted: &Json,
    change: &mut Change,
) -> Result<(), Diagnostic> {
    if loaded.tree.get(&path).is_some_and(|bytes| !ours(&path, bytes)) {
        return Err(not_ours(&path, Some(Place::file(&path))));
    }
    change.write(path, entry_text(section, name, wanted));
    Ok(())
}

/// Adds an entry as it shall be to a change.
pub fn rewrite(
    loaded: &Loaded,
    environment: &Environment,
    known: &Known<'_>,
    wanted: &Json,
    change: &mut Change,
) -> Result<(), Diagnostics> {
    let Known { section, name, node, path } = known;
    refuse_foreign(loaded, environment, node, path)?;
    if foreign(environment, node, path).is_none() {
        change.write(path.clone(), entry_text(section, name, wanted));
        return Ok(());
    }
    let own = loaded.tree.get(path).and_then(|bytes| eos_yaml::parse(path, bytes).ok());
    let own = own.and_then(|document| Some(entry(&document.root, section, name)?.to_json()));
    let before = node.to_json();
    let part = own_part(&own.unwrap_or_default(), &before, wanted);
    change.write(path.clone(), entry_text(section, name, &part));
    // A tree that cannot be read is told of when it is compiled.
    let Ok(after) = loaded.tree.with(change).environment(&environment.name) else { return Ok(()) };
    let Some(merged) = entry(&after.pillar, section, name) else { return Ok(()) };
    match overruled(Some(&before), Some(wanted), merged, String::new()) {
        None => Ok(()),
        Some((key, node)) => Err(decided_elsewhere(name, &key, wanted, path, after.place(node)).into()),
    }
}

/// eos writes only over files that are exactly as it wrote them.
pub fn refuse_foreign(
    loaded: &Loaded,
    environment: &Environment,
    node: &Node,
    path: &Utf8Path,
) -> Result<(), Diagnostic> {
    let is_own = |node: &Node| environment.sources.file(node.file) == Some(path);
    let is_ours = || loaded.tree.get(path).is_some_and(|bytes| ours(path, bytes));
    let own = Some(node).filter(|node| is_own(node)).or_else(|| find(node, &is_own));
    match own {
        Some(_) if is_ours() => Ok(()),
        own => Err(not_ours(path, environment.place(own.unwrap_or(node)))),
    }
}

/// What goes has to be spoken of in the file of eos's alone: a part of it would stay behind, and be nothing. In common/ it
/// is something as long as another environment has the rest.
pub fn refuse_part_left(
    loaded: &Loaded,
    environment: &Environment,
    node: &Node,
    (name, path): (&str, &Utf8Path),
) -> Result<(), Diagnostic> {
    refuse_foreign(loaded, environment, node, path)?;
    let Some(place) = foreign(environment, node, path).and_then(|node| environment.place(node)) else {
        return Ok(());
    };
    if top::is_common(&place.file) && loaded.is_elsewhere(&environment.name, name) {
        return Ok(());
    }
    let file = place.file.clone();
    Err(Diagnostic::error(codes::NOT_OURS, format!("{file} still speaks of {name}"))
        .at(Some(place))
        .why("that part would stay behind, and eos never rewrites somebody's own YAML")
        .fix(format!("take {name} out of {file} yourself, git commit it, then this command again")))
}

pub fn not_ours(path: &Utf8Path, place: Option<Place>) -> Diagnostic {
    let file: Utf8PathBuf = place.as_ref().map_or_else(|| path.to_owned(), |place| place.file.clone());
    Diagnostic::error(codes::NOT_OURS, format!("{file} was written or edited by hand"))
        .at(place)
        .why("eos never rewrites somebody's own YAML: comments and order would be lost")
        .fix(format!("change or remove {file} yourself, git commit it, then eos compile"))
}

fn decided_elsewhere(
    name: &str,
    key: &str,
    wanted: &Json,
    path: &Utf8Path,
    place: Option<Place>,
) -> Diagnostic {
    let file = place.as_ref().map_or_else(|| path.to_owned(), |place| place.file.clone());
    let slot = wanted.pointer(&format!("/{}", key.replace('.', "/"))).and_then(Json::as_str);
    let mut place = place;
    // In clear where a reference belongs it may be a secret.
    if let (Some(place), true) = (&mut place, slot.is_some_and(|text| text.parse::<SecretRef>().is_ok())) {
        place.text.clear();
    }
    Diagnostic::error(codes::NOT_OURS, format!("{file} decides {key} of {name}"))
        .at(place)
        .why(format!("what eos writes into {path} would have no effect, so nothing was recorded"))
        .fix("change or remove that line yourself, git commit it, then eos compile")
}

fn entry<'n>(root: &'n Node, section: &str, name: &str) -> Option<&'n Node> {
    root.get("eos")?.get(section)?.get(name)
}

/// The first part of an entry that another file than `path` wrote.
pub fn foreign<'n>(environment: &Environment, node: &'n Node, path: &Utf8Path) -> Option<&'n Node> {
    find(node, &|node: &Node| environment.sources.file(node.file).is_some_and(|file| file != path))
}

/// A value before the mapping it is in: a merged mapping only says where it began.
fn find<'n>(node: &'n Node, is_it: &dyn Fn(&Node) -> bool) -> Option<&'n Node> {
    let inside = match &node.value {
        Value::Map(entries) => entries.iter().find_map(|(_, value)| find(value, is_it)),
        _ => None,
    };
    inside.or_else(|| Some(node).filter(|node| is_it(node)))
}

/// What a file says of an entry, with what is wanted otherwise than it is.
fn own_part(own: &Json, before: &Json, wanted: &Json) -> Json {
    let Json::Object(fields) = wanted else { return wanted.clone() };
    let mut part = Map::new();
    for (key, wanted) in fields {
        let (own, before) = (own.get(key), before.get(key));
        let said = match before {
            Some(before) if before == wanted => own.cloned(),
            Some(before) if before.is_object() && wanted.is_object() => {
                Some(own_part(own.unwrap_or(&Json::Null), before, wanted))
            }
            _ => Some(wanted.clone()),
        };
        part.extend(said.map(|said| (key.clone(), said)));
    }
    Json::Object(part)
}

/// The first key that was to change and is something else after all, and what decides it.
fn overruled<'n>(
    before: Option<&Json>,
    wanted: Option<&Json>,
    after: &'n Node,
    key: String,
) -> Option<(String, &'n Node)> {
    let is_map = |value: Option<&Json>| value.is_none_or(Json::is_object);
    if let (Some(entries), true) = (after.as_map(), is_map(wanted) && is_map(before)) {
        return entries.iter().find_map(|(word, node)| {
            let word = word.as_str()?;
            let path = if key.is_empty() { word.to_owned() } else { format!("{key}.{word}") };
            overruled(before.and_then(|b| b.get(word)), wanted.and_then(|w| w.get(word)), node, path)
        });
    }
    let is_empty = after.as_list().is_some_and(<[Node]>::is_empty) || after.is_null();
    let as_wanted = wanted.map_or(is_empty, |wanted| after.to_json() == *wanted);
    (before != wanted && !as_wanted).then_some((key, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_changes_is_taken_over() {
        let own = json!({"kind": "redis", "settings": {"port": 1}});
        let before = json!({"kind": "redis", "settings": {"port": 2, "size": "1G"}, "tier": "dev"});
        let wanted = json!({"kind": "redis", "cpu": 5, "settings": {"port": 2, "size": "2G"}});
        let part = own_part(&own, &before, &wanted);
        assert_eq!(part, json!({"kind": "redis", "cpu": 5, "settings": {"port": 1, "size": "2G"}}));
    }
}
