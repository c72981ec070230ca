//! Lines of the pillar that are not shown with a message about them: they hold a secret that somebody wrote there in clear,
//! or what looks like one. Whoever is sent the message would be told it.
//!
//! Looked at as text: the file may be no YAML at all, and the key one that nobody knows. A line too many is no loss, since
//! the message names it.

use std::collections::BTreeMap;

use eos_catalog::password_in_address::has_password;
use eos_catalog::{Catalog, Folder, Origin, SettingType};
use eos_model::{Diagnostics, nearest::nearest};
use eos_pillar::top::PILLAR;
use eos_pillar::{Estate, files};
use serde_json::Value as Json;

use crate::args::component;
use crate::context::Context;

/// Words of a key that stand for a secret, whatever the kind.
const WORDS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "key",
    "keys",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "pw",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// Sections of the pillar whose keys are names, which may be any word.
const OF_NAMES: &[&str] = &["components", "hosts", "kept", "operations"];

/// Takes away the lines that hold one.
pub fn blank(context: &Context, found: &mut Diagnostics) {
    let places = found.0.iter_mut().filter_map(|one| one.place.as_mut());
    let mut places =
        places.filter(|place| place.file.starts_with(PILLAR) && !place.text.is_empty()).peekable();
    if places.peek().is_none() {
        return;
    }
    // The estate is not opened: whoever prints may hold its lock.
    let root = Estate::find_root(&context.directory).ok();
    let own = root.as_ref().and_then(|root| Folder::below(&root.join("catalog")).ok()).unwrap_or_default();
    let layers = [(Origin::BuiltIn, Folder::built_in()), (Origin::Estate, own)];
    let known = Known::of(&Catalog::from_layers(layers));
    for place in places {
        let bytes = root.as_ref().and_then(|root| files::read(root, &place.file).ok().flatten());
        let source = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let before: Vec<&str> = source.lines().take(place.line.saturating_sub(1)).collect();
        if known.holds_secret(&before, &place.text) {
            place.text.clear();
        }
    }
}

/// Settings of the catalogue, and whether they are secrets in any kind.
struct Known(BTreeMap<String, bool>);

impl Known {
    fn of(catalog: &Catalog) -> Known {
        let mut known = BTreeMap::new();
        for component in catalog.kinds().filter_map(|kind| component::every(catalog, kind).ok()) {
            for (name, setting) in &component.settings {
                *known.entry(name.clone()).or_default() |= setting.kind == SettingType::Secret;
            }
        }
        Known(known)
    }

    /// Whether a line holds a secret; `before` are those above it in its file.
    fn holds_secret(&self, before: &[&str], line: &str) -> bool {
        let pairs = pairs(line);
        let is_open = |(key, value): &(&str, &str)| self.is_secret(key) && !is_harmless(value);
        let is_below_one = || self.is_any_secret(&above(before, line));
        has_password(&Json::from(line))
            || pairs.iter().any(is_open)
            // A text in several lines, a list, or what stands below secrets:.
            || (pairs.iter().all(|(_, value)| !is_harmless(value)) && is_below_one())
    }

    fn is_any_secret(&self, above: &[&str]) -> bool {
        let is_name = |at: usize| above.get(at + 1).is_some_and(|section| OF_NAMES.contains(section));
        above.iter().enumerate().any(|(at, key)| !is_name(at) && self.is_secret(key))
    }

    fn is_secret(&self, key: &str) -> bool {
        let key = key.to_lowercase().replace('-', "_");
        if let Some(is_secret) = self.0.get(&key) {
            return *is_secret;
        }
        let secrets = self.0.iter().filter(|(_, is_secret)| **is_secret).map(|(name, _)| name.as_str());
        nearest(&key, secrets).is_some()
            || key.split('_').any(|word| {
                WORDS.contains(&word) || (word.len() > 4 && nearest(word, ["password", "secret"]).is_some())
            })
    }
}

/// The keys on a line, each with all that stands behind it.
fn pairs(line: &str) -> Vec<(&str, &str)> {
    let colons = line.match_indices(':').map(|(at, _)| (&line[..at], line[at + 1..].trim()));
    let pairs = colons.map(|(before, value)| {
        let is_key = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let before = before.trim_end().trim_end_matches(['"', '\'']);
        (before.rsplit(|c: char| !is_key(c)).next().unwrap_or_default(), value)
    });
    // The colon of an address.
    pairs.filter(|(key, value)| !key.is_empty() && !value.starts_with("//")).collect()
}

/// Whether what stands behind a key gives nothing away: nothing, a reference, or mappings and lists of those.
fn is_harmless(value: &str) -> bool {
    let value = value.trim_start();
    if let Some(inside) = value.strip_prefix('{') {
        let inside = inside.split('}').next().unwrap_or_default();
        return pairs(inside).iter().all(|(_, value)| is_harmless(value));
    }
    if let Some(inside) = value.strip_prefix('[') {
        return inside.split(']').next().unwrap_or_default().split(',').all(is_harmless);
    }
    let word = value.split([' ', ',', '}']).next().unwrap_or_default();
    let is_of_next_lines = word.starts_with(['|', '>', '#', '&']) && word == value;
    is_of_next_lines
        || ["", "null", "~"].contains(&word)
        || word.trim_start_matches(['"', '\'']).starts_with("secret://")
}

/// The keys that a line stands below, innermost first.
fn above<'l>(before: &[&'l str], line: &str) -> Vec<&'l str> {
    // An item of a list may stand as far left as its key.
    let indent = |line: &str| {
        let text = line.trim_start();
        line.len() - text.len() + usize::from(text.starts_with("- "))
    };
    let mut found = Vec::new();
    let mut left = indent(line);
    for line in before.iter().rev().filter(|line| !line.trim().is_empty()) {
        if indent(line) < left {
            left = indent(line);
            found.extend(pairs(line).first().map(|(key, _)| *key));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> bool {
        let known = Known::of(&Catalog::built_in());
        let lines: Vec<&str> = text.lines().collect();
        let (line, before) = lines.split_last().unwrap();
        known.holds_secret(before, line)
    }

    #[test]
    fn secrets_in_clear_are_found_wherever_they_stand() {
        for text in [
            "  password: hunter2",
            "  admin_pasword: hunter2",
            "  admin_password: hunter2: x",
            "  password:hunter2",
            "  \"db-token\" : 5",
            "  apiKey_of_mine: hunter2",
            "a: {settings: {prot: 1, password: hunter2}}",
            "a: {secrets: {whatever: hunter2}, kind: redis}",
            "  tls_key: [a, b]",
            "settings:\n  password:\n    hunter2",
            "settings:\n  tls_key: |\n    a: b\n    hunter2",
            "settings:\n  keys:\n  - hunter2",
            "  redis:\n    secrets:\n      whatever: hunter2",
            "  port: 5, url: https://bob:hunter2@example.org",
        ] {
            assert!(holds(text), "{text}");
        }
    }

    #[test]
    fn other_lines_are_shown() {
        for text in [
            "    kind: grafana",
            "    settings: {admin_password: 'secret://production/grafana/admin_password?v=1', prot: 3001}",
            "    secrets: {whatever: 'secret://production/grafana/whatever?v=1'}",
            "    secrets:",
            "    password: |",
            "    ssh_key: ssh-ed25519 AAAA",
            "    hostname: keycloak.example.org",
            "components:\n  token:\n    kind: redis",
            "components:\n  redis:\n    kind: redis",
            "  password: null",
            "hello",
        ] {
            assert!(!holds(text), "{text}");
        }
    }
}
