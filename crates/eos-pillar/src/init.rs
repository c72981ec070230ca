//! Making an estate: its first commit, in a new folder or beside what is there.

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, Place, codes};
use rustix::fs::FlockOperation;

use crate::change::{Change, Trailers};
use crate::estate::{Estate, lock, recover};
use crate::estate_file::{ESTATE_FILE, EstateFile};
use crate::files;
use crate::git::Git;
use crate::intent_record::INTENT;
use crate::lock_file::{LOCK_FILE, LockFile};

/// What git must not see: made again, or private to this clone.
pub const GITIGNORE: &str = "/.eos/\n/build/\n.*.eos-tmp\n";

/// Files come out of git as they were put in: with other line ends they would look edited by hand.
const ATTRIBUTES: &str = ".gitattributes";

impl Estate {
    /// Makes the folder of an estate, and nothing in it: who is refused finds what is there as it was. What a crash has
    /// left is looked at when the estate is made.
    pub fn make_folder(
        root: &Utf8Path,
        file: &EstateFile,
        lock_file: &LockFile,
        mut first: Change,
    ) -> Result<(), Diagnostics> {
        if root.join(INTENT).exists() {
            return Ok(());
        }
        fs_err::create_dir_all(root).map_err(|error| cannot_make(root, &error))?;
        if root.join(ESTATE_FILE).exists() {
            return Err(there(root).into());
        }
        if let Ok(git) = Git::open(root) {
            refuse_unfinished(root, &git, git.head()?)?;
        }
        add_files(root, file, lock_file, &mut first)?;
        refuse_overwriting(root, &first)
    }

    /// Makes an estate in `root` and commits it.
    pub fn init(
        root: &Utf8Path,
        file: &EstateFile,
        lock_file: &LockFile,
        mut first: Change,
        trailers: &Trailers,
    ) -> Result<Estate, Diagnostics> {
        Estate::make_folder(root, file, lock_file, first.clone())?;
        let guard = lock(root, FlockOperation::LockExclusive)?;
        let git = Git::init(root)?;
        recover(root, &git)?;
        if root.join(ESTATE_FILE).exists() {
            return Err(there(root).into());
        }
        let base = git.head()?;
        refuse_unfinished(root, &git, base)?;
        add_files(root, file, lock_file, &mut first)?;
        refuse_overwriting(root, &first)?;
        let mut estate = Estate {
            root: root.to_owned(),
            file: file.clone(),
            lock: lock_file.clone(),
            git,
            base,
            _guard: Some(guard),
        };
        estate.commit(&first, trailers)?;
        Ok(estate)
    }
}

fn there(root: &Utf8Path) -> Diagnostic {
    Diagnostic::error(codes::ESTATE_EXISTS, format!("{root} is an estate already"))
        .fix(format!("cd {root} && eos list"))
}

/// Everything that an estate begins with.
fn add_files(
    root: &Utf8Path,
    file: &EstateFile,
    lock_file: &LockFile,
    first: &mut Change,
) -> Result<(), Diagnostic> {
    first.write(ESTATE_FILE, file.write());
    first.write(LOCK_FILE, lock_file.write());
    first.write(".gitignore", ignoring(root)?);
    // Somebody's own rules stay as they are.
    if files::read(root, Utf8Path::new(ATTRIBUTES))?.is_none() {
        first.write(ATTRIBUTES, "* -text\n");
    }
    first.write("pillar/top.sls", crate::top::top_file(file.environments.keys()));
    for env in std::iter::once("common").chain(file.environments.keys().map(|env| env.as_str())) {
        let what =
            if env == "common" { "every environment".to_owned() } else { format!("the environment {env}") };
        let text = format!(
            "#!yaml\n# Pillar of {what}. Yours to edit; eos writes files of its own beside it.\n{{}}\n"
        );
        first.write(format!("pillar/infrastructure/{env}/init.sls"), text);
    }
    Ok(())
}

fn cannot_make(root: &Utf8Path, error: &std::io::Error) -> Diagnostic {
    // As /proc says it of whatever somebody wants to make there.
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "the folder it would be in takes no others".to_owned(),
        _ => files::reason(error),
    };
    Diagnostic::error(codes::CANNOT_WRITE, format!("the folder {root} cannot be made"))
        .why(why)
        .fix("name a folder below one that you may write to: eos init <folder>")
}

/// The user's `.gitignore` with the lines eos needs.
fn ignoring(root: &Utf8Path) -> Result<Vec<u8>, Diagnostic> {
    let mut text = files::read(root, Utf8Path::new(".gitignore"))?.unwrap_or_default();
    let missing: Vec<&str> = GITIGNORE
        .lines()
        .filter(|line| !text.split(|byte| *byte == b'\n').any(|there| there == line.as_bytes()))
        .collect();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    for line in missing {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    Ok(text)
}

/// The user's `.gitignore` becomes a part of the first commit; lines that nobody has committed yet do not.
fn refuse_unfinished(root: &Utf8Path, git: &Git, base: Option<git2::Oid>) -> Result<(), Diagnostic> {
    let path = Utf8Path::new(".gitignore");
    let Some(there) = files::read(root, path)?.filter(|_| base.is_some()) else { return Ok(()) };
    if git.blob(base, path)?.is_some_and(|(_, recorded)| recorded == there) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::DIRTY_TREE, ".gitignore has changes that are not committed")
        .at(Place::file(path))
        .why("eos init adds lines to it, and must not sweep yours into its own commit")
        .fix("git add .gitignore && git commit, or git stash -u; then run this again"))
}

/// An estate may be made in a folder that has files; none of them is written over.
fn refuse_overwriting(root: &Utf8Path, first: &Change) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    for (path, content) in first.files.iter().filter(|(path, _)| *path != ".gitignore") {
        if files::read(root, path)?.is_some_and(|there| Some(&there) != content.as_ref()) {
            found.push(
                Diagnostic::error(
                    codes::NOT_OURS,
                    format!("{path} is there already, and eos init would write over it"),
                )
                .at(Place::file(path))
                .why("eos never rewrites somebody's own file")
                .fix("make the estate in a new folder, or move the file away"),
            );
        }
    }
    if found.has_errors() { Err(found) } else { Ok(()) }
}
