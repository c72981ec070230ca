//! A plan as a file: `eos plan --out`, `eos apply FILE`. Saved plans of tofu are inside, encrypted by tofu itself; what
//! eos shows of them is redacted.

use camino::Utf8Path;
use eos_model::{Diagnostic, codes};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::plan::RunPlan;

/// The format written here; a newer one is refused.
pub const FORMAT: u32 = 1;

const MAKE_ONE: &str = "eos plan --out FILE keeps a plan, eos apply FILE carries it out";

#[derive(Serialize, Deserialize)]
struct PlanFile {
    format: u32,
    #[serde(flatten)]
    plan: RunPlan,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// Writes the plan, readable by its owner only.
pub fn write(path: &Utf8Path, plan: &RunPlan) -> Result<(), Diagnostic> {
    let file = PlanFile { format: FORMAT, plan: plan.clone() };
    let text = serde_json::to_vec_pretty(&file).unwrap_or_default();
    files::write(path, &text)
        .map_err(|e| Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write the plan {path}: {e}")))
}

pub fn read(path: &Utf8Path) -> Result<RunPlan, Diagnostic> {
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
    serde_json::from_slice::<PlanFile>(&bytes).map(|file| file.plan).map_err(not_one)
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
