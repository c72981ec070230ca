//! The project's own release: a zip, checked against the table's sum, else against the release's own `SHA256SUMS`.

use camino::Utf8Path;

use crate::digest;
use crate::download::Downloader;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::source::{OWN_TABLE, require_sum};
use crate::table::{Release, Tool, arch, os};
use crate::unpack;

/// Brings the tool's executable to `target`; returns who vouched for it.
///
/// `base` stands in for the release's host, such as a mirror.
pub(crate) fn fetch(
    tool: &Tool,
    release: &Release,
    base: Option<&str>,
    target: &Utf8Path,
    progress: &mut dyn Progress,
) -> Result<String, Failure> {
    let downloader = Downloader::new(base.unwrap_or(&release.host));
    let path = tool.fill(&release.file);
    let file_name = path.rsplit('/').next().unwrap_or(&path);
    let (expected, vouched_by) = match release.sha256.get(&format!("{}-{}", os(), arch())) {
        Some(pinned) => (pinned.to_ascii_lowercase(), OWN_TABLE),
        // The list comes first: it is small, and without it the file is of no use.
        None => {
            let sums_path = tool.fill(&release.sums);
            let sums = downloader.text(&sums_path)?;
            let sum = digest::listed(&sums, file_name).ok_or_else(|| {
                Failure::Absent(format!("{} does not list {file_name}", downloader.url(&sums_path)))
            })?;
            (sum.to_ascii_lowercase(), "the release's own SHA256SUMS")
        }
    };
    let archive = target.with_extension("zip");
    let actual = downloader.file(&path, &archive, progress)?;
    require_sum(&downloader.url(&path), &expected, &actual, vouched_by)?;
    unpack::zip(&archive, &tool.executable(&tool.version), target)?;
    fs_err::remove_file(&archive)?;
    Ok(vouched_by.to_owned())
}
