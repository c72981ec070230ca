//! What is applied: one record a unit, one an environment, and the data that was kept when its unit went away.
//!
//! Records live in the estate's store, so that every clone sees them. They are written under the unit's lease; a
//! conflict therefore means that somebody works without one, and is an error, never merged.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, EnvName, Name, UnitId, codes};
use eos_store::{Batch, Records, StoreError, Version};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::agreed::without_keys;
use crate::observer::Seen;
use crate::problems::AGAIN;
use crate::record::Goal;
use crate::run_id::RunId;
use crate::unit::{Digest, InputSource};

/// The format written here; a newer one is refused.
const FORMAT: u32 = 1;

/// A unit that was applied, or that a run has begun to apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedUnit {
    /// The bytes that were applied to the end; none before the first time.
    pub digest: Option<Digest>,
    /// A run that began to change it and has not said how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// As of the applied bytes.
    #[serde(default)]
    pub needs: Vec<Name>,
    /// Variables with the values they were applied with.
    #[serde(default)]
    pub inputs: BTreeMap<String, Json>,
    /// Where those values come from.
    #[serde(default)]
    pub sources: BTreeMap<String, InputSource>,
    /// Without sensitive ones, which are named in `sensitive`.
    #[serde(default)]
    pub outputs: BTreeMap<String, Json>,
    #[serde(default)]
    pub sensitive: Vec<String>,
    /// Jobs with the version that was seen to work.
    #[serde(default, skip_serializing_if = "Seen::is_empty")]
    pub seen: Seen,
    pub commit: String,
    pub run: RunId,
    /// Seconds since 1970.
    pub at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub run: RunId,
    pub digest: Digest,
    pub goal: Goal,
    /// The run stopped and left the unit in order: nothing that it made is unrecorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over: bool,
    /// What it was to make anew in place of what was there: under these addresses a state may have the old one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub replaces: BTreeSet<String>,
    /// One that was not over when this one began: what it made may still be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<Attempt>>,
}

impl Attempt {
    /// This one and those it began upon that are not over.
    pub fn not_over(&self) -> impl Iterator<Item = &Attempt> {
        let all = std::iter::successors(Some(self), |attempt| attempt.earlier.as_deref());
        all.filter(|attempt| !attempt.over)
    }
}

impl AppliedUnit {
    /// The bytes that it was applied with, and those that runs began to apply.
    pub fn digests(&self) -> impl Iterator<Item = &Digest> {
        let attempts = std::iter::successors(self.attempt.as_ref(), |attempt| attempt.earlier.as_deref());
        self.digest.iter().chain(attempts.map(|attempt| &attempt.digest))
    }

    /// What runs began and did not say that they ended in order.
    pub fn not_over(&self) -> impl Iterator<Item = &Attempt> {
        self.attempt.iter().flat_map(Attempt::not_over)
    }
}

/// What an environment was last applied from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedEnvironment {
    pub commit: String,
    pub run: RunId,
    pub at: i64,
}

/// Whether what an environment was last applied from allows a run; asked when the run has its leases.
pub type Judge<'a> = &'a dyn Fn(Option<&AppliedEnvironment>) -> Result<(), Diagnostic>;

/// Objects with data that stayed in the world when their unit or resource went away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub objects: Vec<KeptObject>,
}

impl Kept {
    /// Whether something of this resource was kept; the address has no instance keys.
    pub fn has(&self, address: &str) -> bool {
        self.objects.iter().any(|object| without_keys(&object.address) == address)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptObject {
    pub address: String,
    pub provider: String,
    /// The provider's id, by which the object is taken over again.
    pub id: Option<String>,
    /// Its data class, when the unit names one.
    pub class: Option<String>,
    /// The declared host it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Where its data lies, when the unit said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// The bytes that tofu had it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The commit that compiles to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub run: RunId,
    pub at: i64,
}

/// A drifted field that somebody decided to live with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IgnoredDrift {
    pub address: String,
    /// The attribute; none for the resource as a whole.
    pub path: Option<String>,
    /// The very difference; another one of the same resource is told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    #[serde(default)]
    pub because: String,
    #[serde(default)]
    pub by: String,
    /// Seconds since 1970.
    #[serde(default)]
    pub at: i64,
}

/// What of a unit was found to differ from what was applied, when somebody last looked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenDrift {
    pub addresses: Vec<String>,
    /// Seconds since 1970.
    pub at: i64,
}

/// The records of the engine in a store.
#[derive(Clone, Copy)]
pub struct Applied<'a> {
    records: &'a dyn Records,
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    format: u32,
    #[serde(flatten)]
    value: T,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

impl<'a> Applied<'a> {
    pub fn new(records: &'a dyn Records) -> Applied<'a> {
        Applied { records }
    }

    pub fn unit(&self, unit: &UnitId) -> Result<Option<AppliedUnit>, Diagnostic> {
        Ok(self.get(&unit_key(unit))?.map(|(_, value)| value))
    }

    /// Every unit of an environment.
    pub fn units(&self, env: &EnvName) -> Result<BTreeMap<Name, AppliedUnit>, Diagnostic> {
        self.below(&format!("applied/{env}/"))
    }

    pub fn environment(&self, env: &EnvName) -> Result<Option<AppliedEnvironment>, Diagnostic> {
        Ok(self.get(&environment_key(env))?.map(|(_, value)| value))
    }

    /// Data that was kept, by unit.
    pub fn kept(&self, env: &EnvName) -> Result<BTreeMap<Name, Kept>, Diagnostic> {
        self.below(&format!("kept/{env}/"))
    }

    pub fn ignored_drift(&self, unit: &UnitId) -> Result<Vec<IgnoredDrift>, Diagnostic> {
        Ok(self.get::<Ignored>(&drift_key(unit))?.map(|(_, value)| value.ignored).unwrap_or_default())
    }

    pub fn ignore_drift(&self, unit: &UnitId, ignored: Vec<IgnoredDrift>) -> Result<(), Diagnostic> {
        self.write(vec![(drift_key(unit), (!ignored.is_empty()).then(|| json(&Ignored { ignored })))])
    }

    /// What differed when `eos drift` last looked, by unit.
    pub fn seen_drift(&self, env: &EnvName) -> Result<BTreeMap<Name, SeenDrift>, Diagnostic> {
        self.below(&format!("drifted/{env}/"))
    }

    /// Remembers what differs in a unit that was looked at; none where nothing does.
    pub fn see_drift(&self, unit: &UnitId, seen: Option<&SeenDrift>) -> Result<(), Diagnostic> {
        self.write(vec![(seen_key(unit), seen.map(json))])
    }

    /// Says that a run begins to change these units and that the environment is at its commit, all at once, and only on
    /// top of what was judged: when another run begins in between, that is judged in its turn.
    pub fn begin(
        &self,
        env: &EnvName,
        environment: &AppliedEnvironment,
        units: &[(Name, AppliedUnit)],
        judge: Judge<'_>,
    ) -> Result<(), Diagnostic> {
        let key = environment_key(env);
        loop {
            let last = self.get::<AppliedEnvironment>(&key)?;
            judge(last.as_ref().map(|(_, last)| last))?;
            let mut batch = self.batch(
                units.iter().map(|(name, unit)| (unit_key(&id(env, name)), Some(json(unit)))).collect(),
            )?;
            batch.put(key.clone(), last.map_or(0, |(version, _)| version), json(environment));
            match self.records.submit(batch).wait() {
                Err(StoreError::Conflict { key: other, .. }) if other == key => {}
                done => return done.map_err(|e| unusable("record what was applied", &e)),
            }
        }
    }

    /// Says that a run is at work on these units, all at once.
    pub fn attempt(&self, env: &EnvName, units: &[(Name, AppliedUnit)]) -> Result<(), Diagnostic> {
        self.write(units.iter().map(|(name, unit)| (unit_key(&id(env, name)), Some(json(unit)))).collect())
    }

    /// Says how a unit is now, and what of its data stayed behind.
    pub fn settle(
        &self,
        unit: &UnitId,
        applied: Option<&AppliedUnit>,
        kept: &Kept,
    ) -> Result<(), Diagnostic> {
        let kept = (!kept.objects.is_empty()).then(|| json(kept));
        // An apply brings back what differed: there is nothing left to ignore.
        self.write(vec![
            (unit_key(unit), applied.map(json)),
            (kept_key(unit), kept),
            (drift_key(unit), None),
            (seen_key(unit), None),
        ])
    }

    /// Says that a unit is as it was before a run that did not touch it. What was seen and accepted of it stays.
    pub fn put_back(&self, unit: &UnitId, before: Option<&AppliedUnit>) -> Result<(), Diagnostic> {
        self.write(vec![(unit_key(unit), before.map(json))])
    }

    /// Says which data of a unit is about to leave tofu's care.
    pub fn keep(&self, unit: &UnitId, kept: &Kept) -> Result<(), Diagnostic> {
        self.write(vec![(kept_key(unit), (!kept.objects.is_empty()).then(|| json(kept)))])
    }

    fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<(Version, T)>, Diagnostic> {
        let record = self.records.get(key).map_err(|e| unusable("read what was applied", &e))?;
        record.map(|record| Ok((record.version, parse(key, &record.value)?))).transpose()
    }

    fn below<T: DeserializeOwned>(&self, prefix: &str) -> Result<BTreeMap<Name, T>, Diagnostic> {
        let mut found = BTreeMap::new();
        for record in self.records.all().map_err(|e| unusable("read what was applied", &e))? {
            let Some(name) = record.key.strip_prefix(prefix) else { continue };
            let name: Name = name.parse().map_err(Diagnostic::from)?;
            found.insert(name, parse(&record.key, &record.value)?);
        }
        Ok(found)
    }

    /// Puts what has a value, deletes what has none and exists, all or nothing.
    fn write(&self, changes: Vec<(String, Option<Vec<u8>>)>) -> Result<(), Diagnostic> {
        let batch = self.batch(changes)?;
        if batch.is_empty() {
            return Ok(());
        }
        self.records.submit(batch).wait().map_err(|e| unusable("record what was applied", &e))
    }

    fn batch(&self, changes: Vec<(String, Option<Vec<u8>>)>) -> Result<Batch, Diagnostic> {
        let mut batch = Batch::default();
        for (key, value) in changes {
            let found = self.records.get(&key).map_err(|e| unusable("read what was applied", &e))?;
            match (found, value) {
                (Some(found), Some(value)) if found.value == value => {}
                (found, Some(value)) => batch.put(key, found.map_or(0, |found| found.version), value),
                (Some(found), None) => batch.delete(key, found.version),
                (None, None) => {}
            }
        }
        Ok(batch)
    }
}

#[derive(Serialize, Deserialize)]
struct Ignored {
    ignored: Vec<IgnoredDrift>,
}

fn id(env: &EnvName, name: &Name) -> UnitId {
    UnitId { env: env.clone(), name: name.clone() }
}

fn unit_key(unit: &UnitId) -> String {
    format!("applied/{unit}")
}

fn kept_key(unit: &UnitId) -> String {
    format!("kept/{unit}")
}

fn drift_key(unit: &UnitId) -> String {
    format!("ignored-drift/{unit}")
}

fn seen_key(unit: &UnitId) -> String {
    format!("drifted/{unit}")
}

fn environment_key(env: &EnvName) -> String {
    format!("environment/{env}")
}

fn json<T: Serialize>(value: &T) -> Vec<u8> {
    // Texts, numbers and JSON: nothing here can fail to be written.
    serde_json::to_vec(&Stored { format: FORMAT, value }).unwrap_or_default()
}

fn parse<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<T, Diagnostic> {
    let damaged = |e: serde_json::Error| {
        Diagnostic::error(codes::STORE, format!("the record {key} cannot be read: {e}"))
            .fix("bring the store back from a backup")
    };
    let format = serde_json::from_slice::<FormatOnly>(bytes).map_err(damaged)?.format;
    if format > FORMAT {
        return Err(Diagnostic::error(
            codes::NEWER_FORMAT,
            format!("the record {key} has format {format}; this eos reads up to {FORMAT}"),
        )
        .fix("use the newer eos"));
    }
    serde_json::from_slice::<Stored<T>>(bytes).map(|stored| stored.value).map_err(damaged)
}

fn unusable(doing: &str, error: &StoreError) -> Diagnostic {
    let found = Diagnostic::error(codes::STORE, format!("cannot {doing}: {error}"));
    match error {
        StoreError::Conflict { .. } => found
            .why("somebody else changed the record while this run held the unit's lease")
            .fix("eos locks shows who is at work; then eos resume"),
        StoreError::NewerFormat { .. } => found.fix("use the newer eos"),
        _ => found.fix(format!(
            "once the store can be used again: eos resume if eos status shows a run, else {AGAIN}"
        )),
    }
}
