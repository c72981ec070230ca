//! One executable out of an xz file or a zip. Nothing else of an archive is written, so no entry can leave its place.

use std::io::{Read, Write};

use camino::Utf8Path;
use fs_err::os::unix::fs::OpenOptionsExt;
use liblzma::read::XzDecoder;

use crate::failure::Failure;
use crate::progress::{Progress, Step};

/// An xz-compressed executable, as a bundle holds it.
pub(crate) fn xz(archive: &Utf8Path, target: &Utf8Path, progress: &mut dyn Progress) -> Result<(), Failure> {
    let file = fs_err::File::open(archive)?;
    let total = Some(file.metadata()?.len());
    let mut decoder = XzDecoder::new_multi_decoder(Counting { file, done: 0 });
    let mut output = executable_file(target)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let length = decoder.read(&mut buffer).map_err(|error| refused(archive, &error))?;
        if length == 0 {
            break;
        }
        output.write_all(&buffer[..length])?;
        progress.step(Step::Bytes { done: decoder.get_ref().done, total });
    }
    Ok(output.sync_all()?)
}

/// The executable of a release's zip: the entry of that name in any directory. HashiCorp's providers append the
/// protocol's number (`_x5`) to it.
pub(crate) fn zip(archive: &Utf8Path, executable: &str, target: &Utf8Path) -> Result<(), Failure> {
    let file = fs_err::File::open(archive)?;
    let mut zip = ::zip::ZipArchive::new(file).map_err(|error| refused(archive, &error))?;
    let entry = zip
        .file_names()
        .filter_map(Result::ok)
        .find(|name| {
            let file_name = name.rsplit('/').next().unwrap_or(name);
            file_name.strip_prefix(executable).is_some_and(|rest| rest.is_empty() || rest.starts_with("_x"))
        })
        .map(|name| name.into_owned())
        .ok_or_else(|| refused(archive, &format!("it has no file `{executable}`")))?;
    let mut entry = zip.by_name(&entry).map_err(|error| refused(archive, &error))?;
    let mut output = executable_file(target)?;
    std::io::copy(&mut entry, &mut output)?;
    Ok(output.sync_all()?)
}

fn executable_file(target: &Utf8Path) -> std::io::Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create_new(true);
    options.mode(0o755);
    options.open(target)
}

fn refused(archive: &Utf8Path, reason: &impl ToString) -> Failure {
    let what = archive.file_name().unwrap_or(archive.as_str()).to_owned();
    Failure::Unpack { what, reason: reason.to_string() }
}

/// Counts the compressed bytes, since only their total is known beforehand.
struct Counting {
    file: fs_err::File,
    done: u64,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.done += length as u64;
        Ok(length)
    }
}
