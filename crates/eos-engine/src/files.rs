//! Small files that are there whole or not at all.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::Utf8Path;

/// Writes through a neighbour, flushed before it takes the name; readable by its owner only.
pub(crate) fn write(path: &Utf8Path, content: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Utf8Path::new("."));
    fs_err::create_dir_all(folder)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".{}-{}-{number}.eos-tmp", path.file_name().unwrap_or("file"), std::process::id());
    let temporary = folder.join(name);
    let result = (|| {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs_err::rename(&temporary, path)?;
        fs_err::File::open(folder)?.sync_all()
    })();
    if result.is_err() {
        let _ = fs_err::remove_file(&temporary);
    }
    result
}
