//! A plan as a file: `eos plan --out`, `eos apply FILE`. Saved plans of tofu are inside, encrypted; what eos shows of them,
//! Nomad's and Salt's previews included, is redacted. What is shown and what is done are bound together by a seal that
//! takes the key of state and plans: a file that was changed is refused.

use std::collections::BTreeMap;

use camino::Utf8Path;
use eos_model::{Diagnostic, codes};
use serde::{Deserialize, Serialize};

use crate::plan::{RunPlan, Verdict};
use crate::unit::hex;
use crate::{files, plan_cipher, seal};

/// The format written here; a newer one is refused. The first had no previews, the second tofu's plans as they are.
pub const FORMAT: u32 = 3;

/// The last format that kept tofu's plans as tofu made them.
const AS_TOFU_MADE_THEM: u32 = 2;

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

/// Writes the plan, readable by its owner only.
pub fn write(path: &Utf8Path, plan: &RunPlan, previews: &Previews, key: &[u8; 32]) -> Result<(), Diagnostic> {
    let (mut plan, previews) = (plan.clone(), previews.clone());
    for tfplan in saved_plans(&mut plan) {
        *tfplan = plan_cipher::conceal(key, tfplan);
    }
    let file = PlanFile { format: FORMAT, seal: String::new(), previews, plan };
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    let text = text.replacen(&seal_line(""), &seal_line(&seal_of(key, &text)), 1);
    files::write(path, text.as_bytes())
        .map_err(|e| Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write the plan {path}: {e}")))
}

fn seal_line(seal: &str) -> String {
    format!("\"seal\": \"{seal}\"")
}

/// Of the file with nothing as its seal.
fn seal_of(key: &[u8; 32], text: &str) -> String {
    hex(&seal::of(key, "a kept plan of eos\n", text.as_bytes()))
}

fn saved_plans(plan: &mut RunPlan) -> impl Iterator<Item = &mut Vec<u8>> {
    plan.units.values_mut().filter_map(|unit| match &mut unit.verdict {
        Verdict::Changes { tfplan, .. } => Some(tfplan),
        _ => None,
    })
}

/// Only what was sealed with the key, and is as it was then, is a plan.
pub fn read(path: &Utf8Path, key: &[u8; 32]) -> Result<(RunPlan, Previews), Diagnostic> {
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
    let mut file = serde_json::from_slice::<PlanFile>(&bytes).map_err(not_one)?;
    let text = String::from_utf8_lossy(&bytes).replacen(&seal_line(&file.seal), &seal_line(""), 1);
    if seal_of(key, &text) != file.seal {
        return Err(not_as_kept(path));
    }
    if format > AS_TOFU_MADE_THEM {
        for tfplan in saved_plans(&mut file.plan) {
            *tfplan = plan_cipher::reveal(key, tfplan).ok_or_else(|| not_as_kept(path))?;
        }
    }
    Ok((file.plan, file.previews))
}

fn not_as_kept(path: &Utf8Path) -> Diagnostic {
    Diagnostic::error(codes::PLAN_STALE, format!("{path} is not as eos plan of this estate kept it"))
        .why("what it shows and what it would do may differ; a plan is applied exactly as it was shown, or not at all")
        .fix("eos plan --out FILE makes a new one")
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

    const KEY: [u8; 32] = [7; 32];

    /// With one unit that has something to do, by a plan of tofu's with a password in it.
    fn plan() -> RunPlan {
        let unit = serde_json::json!({
            "goal": "present", "digest": "0".repeat(64), "applied": null, "kind": "web", "host": null, "after": {},
            "blast_radius": 0, "inputs": {}, "treatment": crate::treatment::Treatment::default(), "warnings": [],
            "verdict": {"verdict": "changes", "changes": [], "outputs": {}, "tfplan": "aHVudGVyMg=="},
        });
        let units = BTreeMap::from([("web".parse().unwrap(), serde_json::from_value(unit).unwrap())]);
        let env = "production".parse().unwrap();
        RunPlan { env, commit: "c1".into(), at: 7, units, order: Vec::new() }
    }

    fn place() -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("kept.plan");
        (folder, path)
    }

    #[test]
    fn what_was_shown_of_a_plan_is_kept_with_it_and_sealed() {
        let (_folder, path) = place();
        let previews = Previews::from([("production/web/job".to_owned(), "1 task restarts".to_owned())]);
        write(&path, &plan(), &previews, &KEY).unwrap();
        assert_eq!(read(&path, &KEY).unwrap(), (plan(), previews));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("aHVudGVyMg"), "tofu's plan is in clear: {text}");
        std::fs::write(&path, text.replace("1 task restarts", "nothing happens")).unwrap();
        assert_eq!(read(&path, &KEY).unwrap_err().code, codes::PLAN_STALE);
    }

    #[test]
    fn a_plan_of_an_older_eos_is_read_when_it_was_sealed() {
        let (_folder, path) = place();
        let file = PlanFile { format: 2, seal: String::new(), previews: Previews::new(), plan: plan() };
        let text = serde_json::to_string_pretty(&file).unwrap();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read(&path, &KEY).unwrap_err().code, codes::PLAN_STALE);
        let sealed = |text: &str| text.replacen(&seal_line(""), &seal_line(&seal_of(&KEY, text)), 1);
        std::fs::write(&path, sealed(&text)).unwrap();
        assert_eq!(read(&path, &KEY).unwrap(), (plan(), Previews::new()));
        std::fs::write(&path, sealed(&text.replace("\"format\": 2", "\"format\": 4"))).unwrap();
        assert_eq!(read(&path, &KEY).unwrap_err().code, codes::NEWER_FORMAT);
    }
}
