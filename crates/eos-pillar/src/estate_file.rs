//! `eos.toml`: what environments an estate has and where its servers are.

use std::collections::BTreeMap;
use std::num::NonZero;

use camino::Utf8Path;
use eos_model::{Diagnostic, EnvName, Name, Place, codes};
use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use crate::lock_file::LOCK_FILE;

/// Its name in the estate's root.
pub const ESTATE_FILE: &str = "eos.toml";
/// The format this version reads and writes.
pub const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstateFile {
    pub format: u32,
    /// Part of every backend key.
    pub name: String,
    /// The environment meant when none is named.
    pub default_environment: EnvName,
    /// The executor of this estate: tofu or terraform.
    #[serde(default = "tofu")]
    pub executor: String,
    #[serde(default)]
    pub backend: Backend,
    /// Where Nomad answers; the environment's NOMAD_ADDR, or this machine's agent, when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nomad: Option<NomadServer>,
    /// Where salt-api answers; hosts that are not masterless need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<SaltServer>,
    /// Where leases and what was applied are shared between machines; this machine alone when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nats: Option<NatsServer>,
    /// Which variables of the environment a provider reads that eos does not know, by its source. Names alone: what they
    /// hold is in nobody's file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, Vec<String>>,
    pub environments: BTreeMap<EnvName, EnvironmentSettings>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentSettings {
    /// Sizes of tasks: production, staging or dev.
    #[serde(default)]
    pub tier: Tier,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Dev,
    #[default]
    Production,
    Staging,
}

impl Tier {
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Dev => "dev",
            Tier::Production => "production",
            Tier::Staging => "staging",
        }
    }
}

/// Where tofu keeps its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Backend {
    #[default]
    Local,
    Http {
        address: String,
        /// The password comes from TF_HTTP_PASSWORD.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        username: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NomadServer {
    /// The environment's NOMAD_ADDR, or this machine's agent, when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where the estate's jobs are; `default` when not said. A shell's NOMAD_NAMESPACE does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// A file with the CA that signed the server's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaltServer {
    pub api: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatsServer {
    pub url: String,
    /// After how many seconds without a sign of life a run counts as gone and others may take over; 30 when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<NonZero<u32>>,
    /// How many servers of a cluster keep a copy of each record and lease: 1, 3 or 5; 1 when not said.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub replicas: usize,
}

fn one() -> usize {
    1
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

/// Where Nomad puts jobs that say nothing.
pub const DEFAULT_NAMESPACE: &str = "default";

fn tofu() -> String {
    "tofu".to_owned()
}

impl EstateFile {
    /// What `eos init` writes.
    pub fn new(name: &str, executor: &str) -> EstateFile {
        let env = |name: &str| name.parse::<EnvName>().ok();
        let environments = [("production", Tier::Production), ("staging", Tier::Staging)]
            .into_iter()
            .filter_map(|(name, tier)| Some((env(name)?, EnvironmentSettings { tier })))
            .collect::<BTreeMap<_, _>>();
        let default_environment =
            environments.keys().next().cloned().unwrap_or_else(|| unreachable!("production is a name"));
        EstateFile {
            format: FORMAT,
            name: name.to_owned(),
            default_environment,
            executor: executor.to_owned(),
            backend: Backend::Local,
            nomad: None,
            salt: None,
            nats: None,
            credentials: BTreeMap::new(),
            environments,
        }
    }

    /// The namespace of the estate's jobs.
    pub fn namespace(&self) -> &str {
        let said = self.nomad.as_ref().and_then(|nomad| nomad.namespace.as_deref());
        said.unwrap_or(DEFAULT_NAMESPACE)
    }

    pub fn parse(text: &str) -> Result<EstateFile, Diagnostic> {
        let file = Utf8Path::new(ESTATE_FILE);
        refuse_newer(text, file, FORMAT)?;
        let parsed: EstateFile = toml::from_str(text).map_err(|error| bad_toml(file, text, &error))?;
        if let Err(problem) = parsed.name.parse::<Name>() {
            return Err(Diagnostic::error(codes::BAD_ESTATE_FILE, format!("name: {problem}"))
                .at(key_place(file, text, "name"))
                .why("it is part of every state's key, which may be a path")
                .fix("name = \"shop\", for example; git log -p eos.toml shows what it was before"));
        }
        if !["tofu", "terraform"].contains(&parsed.executor.as_str()) {
            return Err(Diagnostic::error(
                codes::BAD_ESTATE_FILE,
                format!("executor is {:?}, which eos cannot run", parsed.executor),
            )
            .at(Place::file(file))
            .fix("executor = \"tofu\" or executor = \"terraform\""));
        }
        if !parsed.environments.contains_key(&parsed.default_environment) {
            return Err(Diagnostic::error(
                codes::BAD_ESTATE_FILE,
                format!(
                    "default_environment is {:?}, which is not under [environments]",
                    parsed.default_environment.as_str()
                ),
            )
            .at(Place::file(file))
            .why("a command that names no environment acts there")
            .fix(format!("add [environments.{}] or name another default", parsed.default_environment)));
        }
        if let Some(nats) = parsed.nats.as_ref().filter(|nats| ![1, 3, 5].contains(&nats.replicas)) {
            return Err(Diagnostic::error(
                codes::BAD_ESTATE_FILE,
                format!("[nats] replicas is {}, which is not 1, 3 or 5", nats.replicas),
            )
            .at(Place::file(file))
            .why("NATS goes on while more than half of the copies are there: an even number is no safer than one less")
            .fix("replicas = 3 in a cluster of three servers; 1 where there is one"));
        }
        let named = parsed.credentials.values().flatten();
        if let Some(name) = named.into_iter().find(|name| !may_be_given(name)) {
            return Err(Diagnostic::error(
                codes::BAD_ESTATE_FILE,
                format!("[credentials] names {name:?}, which is not handed to a provider"),
            )
            .at(Place::file(file))
            .why("it is no name of a variable, or one that says how tofu and its plugins are run: those are set by eos")
            .fix("name the variables that the provider's own documentation says it reads"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let namespace = parsed.namespace();
        if !(1..=128).contains(&namespace.len()) || !namespace.chars().all(plain) {
            return Err(Diagnostic::error(
                codes::BAD_ESTATE_FILE,
                format!("[nomad] namespace is {namespace:?}, which is no namespace of Nomad's"),
            )
            .at(Place::file(file))
            .why("it has letters, digits and hyphens, up to 128 of them")
            .fix("nomad namespace list shows those that there are"));
        }
        Ok(parsed)
    }

    pub fn write(&self) -> String {
        let body = toml::to_string(self).unwrap_or_default();
        format!("# The estate. eos reads it; you may edit it.\n{body}")
    }
}

/// Whether it is the name of a variable, and none by which a child would be run otherwise than eos does it.
fn may_be_given(name: &str) -> bool {
    const OURS: [&str; 6] = ["CHECKPOINT_DISABLE", "GOGC", "GOMEMLIMIT", "HOME", "PATH", "TMPDIR"];
    const OUR_BEGINNINGS: [&str; 3] = ["EOS_", "LD_", "TF_"];
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(letters)
        && !OURS.contains(&name)
        && !OUR_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

/// The line, from one, that a key such as `environments:production:tier` is written on; none where it is not said.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?.into_inner();
    let mut table = Some(&root);
    let mut start = None;
    for step in key.split(':') {
        let (name, value) = table?.iter().find(|(name, _)| name.get_ref().as_ref() == step)?;
        start = Some(name.span().start);
        table = value.get_ref().as_table();
    }
    Some(text[..start?].matches('\n').count() + 1)
}

/// The place of a key; the file as a whole where it is not said.
fn key_place(file: &Utf8Path, text: &str, key: &str) -> Place {
    let Some(line) = line_of(text, key) else { return Place::file(file) };
    let text = text.lines().nth(line - 1).unwrap_or_default().to_owned();
    Place { file: file.to_owned(), line, column: 1, text }
}

/// Refuses a file of a newer format before its unknown fields confuse anyone.
pub fn refuse_newer(text: &str, file: &Utf8Path, known: u32) -> Result<(), Diagnostic> {
    let format = toml::from_str::<toml::Table>(text).ok().and_then(|table| table.get("format")?.as_integer());
    match format {
        Some(newer) if newer > i64::from(known) => Err(Diagnostic::error(
            codes::NEWER_FORMAT,
            format!("{file} has format {newer}; this eos reads up to {known}"),
        )
        .at(Place::file(file))
        .why("a newer eos wrote it and may mean something this one does not know")
        .fix("use the newer eos")),
        _ => Ok(()),
    }
}

/// A TOML error with its place.
pub fn bad_toml(file: &Utf8Path, text: &str, error: &toml::de::Error) -> Diagnostic {
    let mut place = Place::file(file);
    if let Some((index, line)) = text.lines().enumerate().find(|(_, line)| line.starts_with("<<<<<<<")) {
        (place.line, place.column, place.text) = (index + 1, 1, line.to_owned());
        let fix = match file.as_str() {
            LOCK_FILE => {
                format!("git checkout --ours {file}, git add {file}, finish the merge, then eos upgrade")
            }
            _ => format!(
                "leave there what both sides mean, without the lines of git, then git add {file} and finish the merge"
            ),
        };
        return Diagnostic::error(codes::BAD_ESTATE_FILE, format!("{file} holds a merge conflict"))
            .at(place)
            .why("two clones changed it, and git does not know which lines count")
            .fix(fix);
    }
    if let Some(span) = error.span() {
        let before = &text[..span.start.min(text.len())];
        place.line = before.matches('\n').count() + 1;
        place.column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        place.text = text.lines().nth(place.line - 1).unwrap_or_default().to_owned();
    }
    Diagnostic::error(codes::BAD_ESTATE_FILE, format!("{file}: {}", error.message()))
        .at(place)
        .fix(format!("correct it there; git log -p {file} shows what it was before"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_init_writes_reads_back() {
        let file = EstateFile::new("shop", "tofu");
        assert_eq!(EstateFile::parse(&file.write()).unwrap(), file);
        assert_eq!(file.default_environment.as_str(), "production");
    }

    #[test]
    fn a_key_is_found_on_its_line() {
        let text = EstateFile::new("shop", "tofu").write();
        let line = |key| line_of(&text, key).and_then(|line| text.lines().nth(line - 1));
        assert_eq!(line("name"), Some("name = \"shop\""));
        assert_eq!(line("environments:staging:tier"), Some("tier = \"staging\""));
        assert_eq!(line("nomad:namespace"), None);
    }

    #[test]
    fn copies_in_nats_are_an_odd_number_and_one_when_not_said() {
        let with = |more: &str| {
            let text = EstateFile::new("shop", "tofu").write();
            EstateFile::parse(&format!("{text}\n[nats]\nurl = \"nats://127.0.0.1:4222\"\n{more}"))
        };
        let replicas = |more: &str| with(more).unwrap().nats.unwrap().replicas;
        assert_eq!((replicas(""), replicas("replicas = 1"), replicas("replicas = 3")), (1, 1, 3));
        for wrong in ["replicas = 0", "replicas = 2", "replicas = 7", "replicas = -1"] {
            assert_eq!(with(wrong).unwrap_err().code, codes::BAD_ESTATE_FILE, "{wrong}");
        }
    }

    #[test]
    fn credentials_are_names_of_variables_that_a_provider_may_have() {
        let with = |names: &str| {
            let text = EstateFile::new("shop", "tofu").write();
            EstateFile::parse(&format!("{text}\n[credentials]\n\"somebody/dns\" = [{names}]\n"))
        };
        assert_eq!(with("\"DNS_TOKEN\"").unwrap().credentials["somebody/dns"], ["DNS_TOKEN"]);
        for wrong in ["PATH", "LD_PRELOAD", "TF_CLI_ARGS", "EOS_IDENTITY", "", "A=B", "1A"] {
            assert_eq!(with(&format!("{wrong:?}")).unwrap_err().code, codes::BAD_ESTATE_FILE, "{wrong}");
        }
    }

    /// It ends up in paths, keys and expressions of tofu's.
    #[test]
    fn the_name_is_one_that_init_would_take() {
        let named = |name: &str| {
            let text = EstateFile::new("shop", "tofu").write();
            EstateFile::parse(&text.replace("name = \"shop\"", &format!("name = {name}")))
        };
        assert_eq!(named("'my-shop.2'").unwrap().name, "my-shop.2");
        for wrong in ["''", "'../../tmp/pwn'", "'${x}'", "'a\"b'", "'a b'"] {
            let refused = named(wrong).unwrap_err();
            assert_eq!(refused.code, codes::BAD_ESTATE_FILE, "{wrong}");
            assert!(refused.place.unwrap().text.starts_with("name = "), "{wrong}");
        }
    }

    #[test]
    fn newer_formats_and_unknown_fields_are_refused() {
        let newer = EstateFile::parse("format = 2\nsurprise = 1\n").unwrap_err();
        assert_eq!(newer.code, codes::NEWER_FORMAT);
        let text = EstateFile::new("shop", "tofu").write() + "\n[surprise]\n";
        assert_eq!(EstateFile::parse(&text).unwrap_err().code, codes::BAD_ESTATE_FILE);
    }
}
