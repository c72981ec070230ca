//! The offline bundle: a directory of `<name>-<version>-<os>-<arch>.xz` with a `SHA256SUMS` of these files.

use camino::Utf8Path;

use crate::digest;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::source::require_sum;
use crate::table::Tool;
use crate::unpack;

const SUMS: &str = "SHA256SUMS";

/// Whether the bundle has a file of that name; whether it is the right one is seen when it is unpacked.
pub(crate) fn has(tool: &Tool, bundle: Option<&Utf8Path>) -> bool {
    bundle.is_some_and(|bundle| bundle.join(tool.bundle_file()).is_file())
}

/// Unpacks the tool's executable to `target`; returns who vouched for it.
pub(crate) fn fetch(
    tool: &Tool,
    bundle: Option<&Utf8Path>,
    target: &Utf8Path,
    progress: &mut dyn Progress,
) -> Result<String, Failure> {
    let bundle = bundle.ok_or_else(|| Failure::Absent("no bundle is given".to_owned()))?;
    let file_name = tool.bundle_file();
    let archive = bundle.join(&file_name);
    if !archive.is_file() {
        return Err(Failure::Absent(format!("{bundle} has no {file_name}")));
    }
    let sums = fs_err::read_to_string(bundle.join(SUMS))?;
    let expected = digest::listed(&sums, &file_name)
        .ok_or_else(|| Failure::Absent(format!("{} does not list {file_name}", bundle.join(SUMS))))?;
    let vouched_by = format!("the bundle's {SUMS}");
    require_sum(&file_name, &expected.to_ascii_lowercase(), &digest::of_file(&archive)?, &vouched_by)?;
    unpack::xz(&archive, target, progress)?;
    Ok(vouched_by)
}
