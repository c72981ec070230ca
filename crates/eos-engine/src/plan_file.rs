//! A plan as a file: `eos plan --out`, `eos apply FILE`. Saved plans of tofu are inside, encrypted by tofu itself; what
//! eos shows of them, Nomad's and Salt's previews included, is redacted. What is shown and what is done are bound together by a seal that takes the key of state
//! and plans: a file that was changed is refused.

use std::collections::BTreeMap;

use camino::Utf8Path;
use eos_model::{Diagnostic, codes};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::plan::RunPlan;
use crate::unit::hex;

/// The format written here; a newer one is refused. The first had no previews.
pub const FORMAT: u32 = 2;

/// What Nomad and Salt said of a plan, by the resource's own name.
pub type Previews = BTreeMap<String, String>;

const MAKE_ONE: &str = "eos plan --out FILE keeps a plan, eos apply FILE carries it out";

#[derive(Serialize, Deserialize)]
struct PlanFile {
    format: u32,
    #[serde(default)]
    seal: String,
    #[serde(default)]
    previews: Previews,
    #[serde(flatten)]
    plan: RunPlan,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// Writes the plan, readable by its owner only, sealed when there is a key.
pub fn write(
    path: &Utf8Path,
    plan: &RunPlan,
    previews: &Previews,
    key: Option<&[u8; 32]>,
) -> Result<(), Diagnostic> {
    let (plan, previews) = (plan.clone(), previews.clone());
    let file = PlanFile { format: FORMAT, seal: String::new(), previews, plan };
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    if let Some(key) = key {
        let seal = seal_of(key, &text);
        text = text.replacen(&seal_line(""), &seal_line(&seal), 1);
    }
    files::write(path, text.as_bytes())
        .map_err(|e| Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write the plan {path}: {e}")))
}

fn seal_line(seal: &str) -> String {
    format!("\"seal\": \"{seal}\"")
}

/// Of the file with nothing as its seal.
fn seal_of(key: &[u8; 32], text: &str) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(b"a kept plan of eos\n");
    mac.update(text.as_bytes());
    hex(&mac.finalize().into_bytes())
}

/// With a key only what was sealed with it, and is as it was then, is a plan.
pub fn read(path: &Utf8Path, key: Option<&[u8; 32]>) -> Result<(RunPlan, Previews), Diagnostic> {
    let bytes = fs_err::read(path).map_err(|e| {
        let missing = e.kind() == std::io::ErrorKind::NotFound;
        let code = if missing { codes::UNKNOWN_NAME } else { codes::CANNOT_READ };
        Diagnostic::error(code, format!("cannot read the plan: {e}")).fix(MAKE_ONE)
    })?;
    let not_one = |e: serde_json::Error| {
        Diagnostic::error(codes::PLAN_STALE, format!("{path} is not a plan of eos: {e}")).fix(MAKE_ONE)
    };
    let format = serde_json::from_slice::<FormatOnly>(&bytes).map_err(not_one)?.format;
    if format > FORMAT {
        return Err(Diagnostic::error(
            codes::NEWER_FORMAT,
            format!("{path} has format {format}; this eos reads up to {FORMAT}"),
        )
        .fix("use the newer eos, or plan again with this one"));
    }
    let file = serde_json::from_slice::<PlanFile>(&bytes).map_err(not_one)?;
    if let Some(key) = key {
        let text = String::from_utf8_lossy(&bytes).replacen(&seal_line(&file.seal), &seal_line(""), 1);
        if seal_of(key, &text) != file.seal {
            return Err(Diagnostic::error(
                codes::PLAN_STALE,
                format!("{path} is not as eos plan of this estate kept it"),
            )
            .why("what it shows and what it would do may differ; a plan is applied exactly as it was shown, or not at all")
            .fix("eos plan --out FILE makes a new one"));
        }
    }
    Ok((file.plan, file.previews))
}

/// Bytes as base64 text.
pub(crate) mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> RunPlan {
        let env = "production".parse().unwrap();
        RunPlan { env, commit: "c1".into(), at: 7, units: BTreeMap::new(), order: Vec::new() }
    }

    #[test]
    fn what_was_shown_of_a_plan_is_kept_with_it_and_sealed() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("kept.plan");
        let previews = Previews::from([("production/web/job".to_owned(), "1 task restarts".to_owned())]);
        let key = [7; 32];
        write(&path, &plan(), &previews, Some(&key)).unwrap();
        assert_eq!(read(&path, Some(&key)).unwrap(), (plan(), previews));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("1 task restarts", "nothing happens")).unwrap();
        assert_eq!(read(&path, Some(&key)).unwrap_err().code, codes::PLAN_STALE);
    }

    #[test]
    fn a_plan_of_an_older_eos_has_no_previews() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("old.plan");
        let older = r#"{"format": 1, "seal": "", "env": "production", "commit": "c1", "at": 7, "units": {}, "order": []}"#;
        std::fs::write(&path, older).unwrap();
        assert_eq!(read(&path, None).unwrap(), (plan(), Previews::new()));
        std::fs::write(&path, older.replace("\"format\": 1", "\"format\": 3")).unwrap();
        assert_eq!(read(&path, None).unwrap_err().code, codes::NEWER_FORMAT);
    }
}
