//! A build from a Go module. Go checks the module against its checksum database, eos against its own table; compiler and module caches are throw-away, since
//! they take many gigabytes.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::build;
use crate::cache::Lock;
use crate::failure::{Failure, require_space};
use crate::progress::Progress;
use crate::source::{OWN_TABLE, require_sum};
use crate::table::{GoModule, Tool};

/// Builds the tool's executable to `target` with everything it needs in `work`; returns who vouched for it.
pub(crate) fn fetch(
    tool: &Tool,
    recipe: &GoModule,
    search_path: &[Utf8PathBuf],
    (work, target): (&Utf8Path, &Utf8Path),
    lock: &Lock,
    progress: &mut dyn Progress,
) -> Result<String, Failure> {
    let go = build::program("go", search_path)?;
    require_space(work, recipe.free_gb * 1_000_000_000)?;
    let log = work.join("build.log");
    let command = |directory: &Utf8Path| {
        let mut command = Command::new(&go);
        command
            .current_dir(directory)
            // Without modcacherw the cache could not be deleted.
            .env("GOFLAGS", "-buildvcs=false -modcacherw")
            .env("GOCACHE", work.join("go-build"))
            .env("GOMODCACHE", work.join("go-mod"))
            .env("GOTMPDIR", work)
            // A workspace file somewhere above would change what is built.
            .env("GOWORK", "off");
        command
    };
    let module = format!("{}@{}", recipe.module, tool.fill(&recipe.module_version));
    let what = format!("go mod download {module}");
    let answer =
        build::run(&what, command(work).args(["mod", "download", "-json", &module]), lock, &log, progress)?;
    let downloaded: Downloaded = serde_json::from_str(&answer)
        .map_err(|error| Failure::Broken(format!("`{what}` gave an unknown answer: {error}")))?;

    let mut vouched_by = format!("Go's checksums of {module}");
    if let Some(pinned) = &recipe.sum {
        require_sum(&module, pinned, &downloaded.sum, OWN_TABLE)?;
        vouched_by = format!("{OWN_TABLE}, {vouched_by}");
    }

    // Out of the module cache, in which Go builds nothing; the cache itself is ours.
    let source = work.join("source");
    fs_err::rename(&downloaded.dir, &source)?;
    for file in ["go.mod", "go.sum"] {
        make_writable(&source.join(file))?;
    }
    for edit in &recipe.edits {
        let what = format!("go mod edit {edit}");
        build::run(&what, command(&source).args(["mod", "edit", edit]), lock, &log, progress)?;
    }
    let ldflags = format!("-s -w {}", recipe.ldflags);
    let mut build = command(&source);
    build.args(["build", "-trimpath", "-ldflags", ldflags.trim(), "-o", target.as_str()]);
    if !recipe.edits.is_empty() {
        build.arg("-mod=mod");
    }
    build.arg(&recipe.package);
    build::run(&format!("go build {module} {}", recipe.package), &mut build, lock, &log, progress)?;
    let file = fs_err::File::open(target)?;
    file.sync_all()?;
    Ok(match &recipe.note {
        Some(note) => format!("{vouched_by} ({note})"),
        None => vouched_by,
    })
}

#[derive(Deserialize)]
struct Downloaded {
    #[serde(rename = "Dir")]
    dir: Utf8PathBuf,
    #[serde(rename = "Sum")]
    sum: String,
}

fn make_writable(path: &Utf8Path) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Ok(_) => fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
