//! What stays of a name that is deleted, and how one made again under it comes back to its data.

use eos_catalog::{Catalog, Component, Setting, SettingType};
use eos_model::{Diagnostic, Diagnostics, article::with_article, codes};
use eos_pillar::ComponentEntry;
use eos_pillar::entry::Backing;
use serde_json::{Map, Value as Json};

use super::complete::{Completer, Draft, object, with_features};
use super::verbs::{kept_secret, under_data};

/// Where data is, which program wrote it, and what was chosen for that.
const REMEMBERED: &[&str] =
    &["kind", "host", "runtime", "version", "binary", "job", "tier", "cpu", "memory", "features", "volumes"];

/// Choices that one made again has as before, unless something else is said.
const AS_BEFORE: &[&str] = &["tier", "cpu", "memory"];

/// Whether there may be data under a name that stays when the name goes: in volumes, or in objects of a cloud.
pub fn holds_data(catalog: &Catalog, entry: &ComponentEntry) -> bool {
    let in_cloud = |kind: &Component| !kind.cloud.data_classes.is_empty();
    !entry.volumes.is_empty() || with_features(catalog, entry).is_ok_and(|kind| in_cloud(&kind))
}

/// What the pillar says of a deleted name whose data stays.
pub fn remembered(entry: &ComponentEntry, component: Option<&Component>) -> Json {
    let field = |field: &&str| Some(((*field).to_owned(), entry.node.get(field)?.to_json()));
    let mut kept: Map<String, Json> = REMEMBERED.iter().filter_map(field).collect();
    // Secrets have files of their own; hosts and names may be others by then, unless the data hangs on them.
    let is_own = |setting: &Setting| {
        let names =
            setting.names_hosts() || [Some(setting.kind), setting.of].contains(&Some(SettingType::Name));
        setting.kind != SettingType::Secret && (setting.fixed || !names)
    };
    let settings: Map<String, Json> = entry
        .settings
        .iter()
        .filter(|(name, _)| component.and_then(|kind| kind.settings.get(*name)).is_some_and(is_own))
        .map(|(name, node)| (name.clone(), node.to_json()))
        .collect();
    if !settings.is_empty() {
        kept.insert("settings".to_owned(), Json::Object(settings));
    }
    Json::Object(kept)
}

impl Completer<'_> {
    /// One made again goes where the data of its name is, as the program that wrote it.
    pub fn take_up_kept(&mut self, draft: &mut Draft<'_>, base: &Component) -> Result<(), Diagnostics> {
        let environment = self.chooser.environment;
        if environment.components.contains_key(draft.name) {
            return Ok(());
        }
        let kept = environment.kept.get(draft.name).filter(|_| !draft.request.never_applied);
        let Some(kept) = kept else { return Ok(()) };
        if let Some(gone) = kept.host.as_ref().filter(|host| !self.chooser.hosts().contains(*host)) {
            // Whoever names another host knows that the data is not there.
            if !draft.request.common.contains_key("host") {
                return Err(host_is_gone(kept, gone).at(environment.place(&kept.node)).into());
            }
            let note = format!("its data was kept on host {gone}, which is not declared; it starts empty");
            self.note_choice(draft, note);
            return Ok(());
        }
        let refusals = match kept.kind == draft.kind {
            true => refusals(kept, &*with_features(self.chooser.catalog, kept)?, draft),
            false => refusals(kept, base, draft),
        };
        if !refusals.is_empty() {
            let at = |refusal: Diagnostic| refusal.at(environment.place(&kept.node));
            return Err(Diagnostics(refusals.into_iter().map(at).collect()));
        }
        for (field, value) in [
            ("host", &kept.host),
            ("runtime", &kept.runtime),
            ("binary", &kept.binary),
            ("version", &kept.version),
            // A job that was taken over and let go of may still be at this data: it is found by its id.
            ("job", &kept.job),
        ] {
            if let Some(value) = value {
                draft.entry.entry(field.to_owned()).or_insert_with(|| Json::from(value.as_str()));
            }
        }
        for (field, node) in AS_BEFORE.iter().filter_map(|field| Some((*field, kept.node.get(field)?))) {
            if !draft.entry.contains_key(field) {
                draft.entry.insert(field.to_owned(), node.to_json());
                draft.as_before.push((field.to_owned(), node.to_json()));
            }
        }
        for (name, node) in &kept.settings {
            let settings = object(&mut draft.entry, "settings");
            if !settings.contains_key(name) {
                settings.insert(name.clone(), node.to_json());
                draft.as_before.push((name.clone(), node.to_json()));
            }
        }
        let variant = self.variant(draft)?;
        let mut paths = Vec::new();
        for (name, volume) in &kept.volumes {
            let shared = variant.storage.get(name).is_some_and(|volume| volume.shared_by.is_some());
            if volume.backing == Backing::Shared && !shared {
                let path = &volume.path;
                self.note_choice(draft, format!("does not use what was kept in {path}, a shared filesystem"));
                continue;
            }
            if let Some(node) = kept.node.get("volumes").and_then(|volumes| volumes.get(name)) {
                object(&mut draft.entry, "volumes").insert(name.clone(), node.to_json());
                paths.push(volume.path.as_str());
            }
        }
        if !paths.is_empty() {
            let host = kept.host.as_ref().map(|host| format!("back on host {host}, ")).unwrap_or_default();
            let version = kept.version.as_ref().map(|version| format!(", of version {version}"));
            let version = version.unwrap_or_default();
            let program = draft.entry.get("binary").and_then(Json::as_str);
            let program = program.filter(|program| kept.binary.as_deref() == Some(*program));
            let program = program.map(|path| format!(", run by {path} as before")).unwrap_or_default();
            self.note_choice(
                draft,
                format!("{host}with the data that was kept in {}{version}{program}", paths.join(", ")),
            );
        }
        Ok(())
    }
}

impl Completer<'_> {
    /// What one made again has as it had, and which features it had and has not.
    pub fn tell_of_what_was(&mut self, draft: &Draft<'_>) {
        let Some(kept) = self.chooser.environment.kept.get(draft.name) else { return };
        if draft.as_before.is_empty() && kept.features.is_empty() {
            return;
        }
        let now =
            |name: &str| draft.entry.get("settings").and_then(|all| all.get(name)).or(draft.entry.get(name));
        let still = draft.as_before.iter().filter(|(name, value)| now(name) == Some(value));
        let shown = |(name, value): &(String, Json)| match value {
            Json::String(text) => format!("{name} {text}"),
            value => format!("{name} {value}"),
        };
        let still: Vec<String> = still.map(shown).collect();
        if !still.is_empty() {
            self.note_choice(draft, format!("{} as before", still.join(", ")));
        }
        let on = |feature: &&String| {
            let features = draft.entry.get("features").and_then(Json::as_array);
            features.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(feature.as_str())))
        };
        let off: Vec<String> =
            kept.features.iter().filter(|feature| !on(feature)).map(|it| format!("--{it}")).collect();
        if !off.is_empty() {
            self.note_choice(draft, format!("without {}, which it had before", off.join(", ")));
        }
    }
}

/// One made again elsewhere would start empty, and the pillar would forget where the data is.
fn host_is_gone(kept: &ComponentEntry, host: &str) -> Diagnostic {
    let name = &kept.name;
    Diagnostic::error(codes::FIXED_CHOICE, format!("data of {name} is kept on host {host}, which is not declared"))
        .why(format!("on another host {name} would start empty, and nothing would say any more where its data is"))
        .fix(format!(
            "eos create host {host} declares it again; or take another name; if that host is lost for good: --host <another> starts empty"
        ))
}

/// What was asked for and does not go with the data.
fn refusals(kept: &ComponentEntry, base: &Component, draft: &Draft<'_>) -> Vec<Diagnostic> {
    let name = draft.name;
    let paths: Vec<&str> = kept.volumes.values().map(|volume| volume.path.as_str()).collect();
    let paths = paths.join(", ");
    let elsewhere = format!("take another name; or eos purge {name} destroys the data that was kept");
    if kept.kind != draft.kind {
        let message = format!("{name} was {}, and its data is kept in {paths}", with_article(&kept.kind));
        return vec![
            Diagnostic::error(codes::NAME_TAKEN, message)
                .why(format!("{} would find files there that are not its own", with_article(draft.kind)))
                .fix(elsewhere),
        ];
    }
    let asked = draft.request.common.get("host").and_then(Json::as_str);
    if let (Some(asked), Some(host)) = (asked, kept.host.as_deref())
        && asked != host
    {
        let message = format!("data of {name} is kept on host {host}, and --host names {asked}");
        return vec![
            Diagnostic::error(codes::FIXED_CHOICE, message)
                .why(format!(
                    "{name} was deleted and its data stayed in {paths}; on {asked} it would start empty"
                ))
                .fix(format!("leave out --host; or {elsewhere}")),
        ];
    }
    let mut found = under_data(kept, base, draft.request);
    let opens = |key: &&String| kept_secret(kept, base, key).is_some();
    for key in draft.request.secrets.iter().filter(opens) {
        let flag = key.replace('_', "-");
        let message = format!("the data kept of {name} was made with the {key} that was kept with it");
        found.push(
            Diagnostic::error(codes::FIXED_CHOICE, message)
                .why("a new one would open nothing of it")
                .fix(format!("leave out --{flag}, and {name} has its old one; or {elsewhere}")),
        );
    }
    let is_fixed = |name: &str| base.settings.get(name).is_some_and(|setting| setting.fixed);
    for (setting, node) in kept.settings.iter().filter(|(setting, _)| is_fixed(setting)) {
        if draft.request.settings.get(setting).is_some_and(|asked| *asked != node.to_json()) {
            let message = format!("the data kept of {name} was made with another {setting}");
            let flag = setting.replace('_', "-");
            found.push(
                Diagnostic::error(codes::FIXED_CHOICE, message)
                    .fix(format!("leave out --{flag}; or {elsewhere}")),
            );
        }
    }
    found
}
