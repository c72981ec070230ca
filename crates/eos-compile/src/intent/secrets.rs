//! Secrets of an entry: its secret settings, and those that the offers it uses generate for it.

use std::collections::BTreeSet;

use eos_catalog::{Component, SettingType, setting::SECRET_LENGTH};
use eos_model::{Diagnostic, Name, SecretRef, codes};
use serde_json::Value as Json;

use super::complete::{Completer, Draft, object};
use super::request::{SecretSource, SecretToMake};

impl Completer<'_> {
    pub fn choose_secrets(&mut self, draft: &mut Draft<'_>, component: &Component) {
        for (key, setting) in
            component.settings.iter().filter(|(_, setting)| setting.kind == SettingType::Secret)
        {
            if draft.request.wrong.contains(key) {
                continue;
            }
            let given = draft.request.secrets.contains(key);
            if !given && draft.entry.get("settings").is_some_and(|settings| settings.get(key).is_some()) {
                continue;
            }
            let length = setting.generate.unwrap_or(SECRET_LENGTH);
            if !given && length == 0 {
                let flag = key.replace('_', "-");
                let verb = if draft.because.is_some() {
                    format!("eos create {} --{flag} -, then this command again", draft.kind)
                } else {
                    format!("--{flag} -")
                };
                self.found.push(
                    Diagnostic::error(
                        codes::MISSING_SETTING,
                        format!("{} needs {key}: {}", draft.name, setting.help),
                    )
                    .fix(verb),
                );
                continue;
            }
            let source = if given { SecretSource::Given } else { SecretSource::Generate(length) };
            let before = draft.entry.get("settings").and_then(|settings| settings.get(key)).cloned();
            if let Some(reference) = self.make_secret(draft.name, key, before.as_ref(), source) {
                object(&mut draft.entry, "settings").insert(key.clone(), Json::from(reference));
            }
        }
        let wanted: BTreeSet<String> = self.generated_for(draft, component);
        object(&mut draft.entry, "secrets").retain(|key, _| wanted.contains(key));
        for key in wanted {
            if draft.entry.get("secrets").is_some_and(|secrets| secrets.get(&key).is_some()) {
                continue;
            }
            if let Some(reference) =
                self.make_secret(draft.name, &key, None, SecretSource::Generate(SECRET_LENGTH))
            {
                object(&mut draft.entry, "secrets").insert(key, Json::from(reference));
            }
        }
        self.tell_of_kept(draft);
    }

    /// Nobody is shown a secret that was there before: it is said that it holds.
    fn tell_of_kept(&mut self, draft: &Draft<'_>) {
        let ours = |secret: &&SecretToMake| {
            secret.source == SecretSource::Kept && secret.reference.name.as_str() == draft.name
        };
        let kept: Vec<String> = self
            .planned
            .secrets
            .iter()
            .filter(ours)
            .map(|secret| format!("{}/{}", draft.name, secret.reference.key))
            .collect();
        if let Some(first) = kept.first() {
            let all = kept.join(", ");
            self.note_choice(
                draft,
                format!("{all}: as before, kept in the estate (eos secret show {first})"),
            );
        }
    }

    /// The keys of the secrets that the offers this entry uses generate for it.
    fn generated_for(&self, draft: &Draft<'_>, component: &Component) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        for (need_name, need) in &component.needs {
            let Some(provider) =
                draft.entry.get("needs").and_then(|needs| needs.get(need_name)).and_then(Json::as_str)
            else {
                continue;
            };
            let offer = self.chooser.offer(provider, &need.offer);
            let generates = offer.map(|offer| offer.generates.as_slice()).unwrap_or_default();
            keys.extend(generates.iter().map(|secret| format!("{need_name}_{secret}")));
        }
        keys
    }

    /// A reference to a new secret, to the next version of one that was there, or to one kept from before.
    fn make_secret(
        &mut self,
        name: &str,
        key: &str,
        before: Option<&Json>,
        source: SecretSource,
    ) -> Option<String> {
        let before = before.and_then(Json::as_str).and_then(|text| text.parse::<SecretRef>().ok());
        let env = self.chooser.environment.name.clone();
        let (name, key): (Name, Name) = (name.parse().ok()?, key.parse().ok()?);
        let same = |kept: &&SecretRef| kept.env == env && kept.name == name && kept.key == key;
        let newest = self.kept.iter().filter(same).map(|kept| kept.version).max();
        let (version, source) = match (before, newest, source) {
            (None, Some(newest), SecretSource::Generate(_)) => (newest, SecretSource::Kept),
            (before, newest, source) => {
                (before.map(|before| before.version).max(newest).unwrap_or(0) + 1, source)
            }
        };
        let reference = SecretRef { env, name, key, version };
        let text = reference.to_string();
        self.planned.secrets.push(SecretToMake { reference, source });
        Some(text)
    }
}
