//! Where volumes live: on a logical volume where the host has a volume group, else in a directory.

use eos_catalog::Component;
use eos_catalog::component::DataClass;
use eos_catalog::reference::{self, Segment};
use eos_model::{Diagnostic, Size, codes};
use serde_json::{Map, Value as Json, json};

use super::complete::{Completer, Draft, object};

/// Where volumes lie on a host that does not say otherwise.
pub const DATA_FOLDER: &str = "/srv/eos";

pub fn choose(completer: &mut Completer<'_>, draft: &mut Draft<'_>, component: &Component) {
    let Draft { name, entry, request, .. } = draft;
    let name = *name;
    let env = completer.chooser.environment.name.clone();
    let host = entry
        .get("host")
        .and_then(Json::as_str)
        .and_then(|host| completer.chooser.environment.hosts.get(host));
    let group = host.and_then(|host| host.volume_group.clone());
    let root = host.and_then(|host| host.data_folder.clone()).unwrap_or_else(|| DATA_FOLDER.to_owned());
    let mut plain = Vec::new();
    for (volume_name, volume) in &component.storage {
        let size = volume.size.as_ref().and_then(|template| text(component, entry, template));
        let size = size.map(|size| Size::spelled(&size));
        let known = entry.get("volumes").and_then(|volumes| volumes.get(volume_name)).cloned();
        if let Some(known) = known {
            // One that was never made can be of any size.
            if !request.never_applied
                && let Err(diagnostic) = keep(name, volume_name, &known, size.as_deref())
            {
                completer.found.push(diagnostic);
            }
            if let (Some(size), Some(choice)) = (size, object(entry, "volumes").get_mut(volume_name)) {
                choice["size"] = Json::from(size);
            }
            continue;
        }
        let below = |root: &str| format!("{root}/{env}/{name}/{volume_name}");
        let (backing, path) = match (&volume.shared_by, &group) {
            (Some(need), _) => {
                let provider = entry
                    .get("needs")
                    .and_then(|needs| needs.get(need))
                    .and_then(Json::as_str)
                    .unwrap_or_default();
                let offer = component.needs.get(need).map(|need| need.offer.clone()).unwrap_or_default();
                match offered(completer, provider, &offer, "path") {
                    Some(root) => ("shared", below(&root)),
                    None => {
                        completer.found.push(Diagnostic::error(
                            codes::NOTHING_OFFERS,
                            format!("{name}: {provider:?} does not say where its files are mounted"),
                        ));
                        continue;
                    }
                }
            }
            (None, Some(_)) if volume.class != DataClass::Cache && size.is_some() => ("lvm", below(&root)),
            _ => ("directory", below(&root)),
        };
        if backing == "directory" && volume.class != DataClass::Cache {
            plain.push(path.clone());
        }
        let mut choice = json!({"backing": backing, "path": path});
        if let Some(size) = size {
            choice["size"] = Json::from(size);
        }
        if let (Some(group), "lvm") = (&group, backing) {
            choice["group"] = Json::from(group.as_str());
            // Written down: a later catalogue may choose another, which would not fit what is on the disk.
            if let Some(filesystem) = volume.filesystem {
                choice["filesystem"] = Json::from(filesystem.as_str());
            }
        }
        object(entry, "volumes").insert(volume_name.clone(), choice);
    }
    if let Some(first) = plain.first() {
        let folder = if plain.len() == 1 {
            first.as_str()
        } else {
            first.rsplit_once('/').map_or("/", |(folder, _)| folder)
        };
        let host = entry.get("host").and_then(Json::as_str).unwrap_or("its host");
        completer
            .planned
            .notes
            .push(format!("{name}: data in {folder} ({host} has no volume group: no size limit)"));
    }
}

/// A volume that exists keeps its place, and never shrinks.
fn keep(name: &str, volume: &str, known: &Json, size: Option<&str>) -> Result<(), Diagnostic> {
    let bytes = |text: Option<&str>| text.and_then(|text| text.parse::<Size>().ok());
    match (bytes(known.get("size").and_then(Json::as_str)), bytes(size)) {
        (Some(before), Some(after)) if after < before => Err(Diagnostic::error(
            codes::FIXED_CHOICE,
            format!("{name}: {volume} has {before} and cannot shrink to {after}"),
        )
        .why("making a filesystem smaller can lose what is on it")
        .fix("keep the size, or create a new one and move the data")),
        _ => Ok(()),
    }
}

/// A text of literals and settings, from an entry or the defaults.
fn text(component: &Component, entry: &Map<String, Json>, template: &str) -> Option<String> {
    let mut out = String::new();
    for segment in reference::parse(template).ok()? {
        match segment {
            Segment::Text(text) => out.push_str(&text),
            Segment::Reference(reference) if reference.root == "setting" => {
                let given = entry.get("settings").and_then(|settings| settings.get(&reference.rest));
                let value = given.or_else(|| component.settings.get(&reference.rest)?.default.as_ref())?;
                out.push_str(value.as_str()?);
            }
            Segment::Reference(_) => return None,
        }
    }
    Some(out)
}

/// An output of somebody's offer, as far as settings alone tell it.
fn offered(completer: &Completer<'_>, provider: &str, offer: &str, output: &str) -> Option<String> {
    let component = completer.chooser.component(provider)?;
    let template = component.offers.get(offer)?.outputs.get(output)?;
    let planned = completer.planned.entries.iter().find(|entry| entry.name.as_str() == provider);
    let entry = match planned {
        Some(planned) => planned.entry.as_object().cloned()?,
        None => {
            completer.chooser.environment.components.get(provider)?.node.to_json().as_object().cloned()?
        }
    };
    text(component, &entry, template)
}
