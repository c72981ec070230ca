//! Where the identity for secrets lies: outside of every estate, or what it opens is committed together with the key.

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, codes};
use eos_pillar::Estate;

use crate::context::Context;

/// Refuses an identity that lies, or would lie, in the estate of this root.
pub fn refuse_inside(root: &Utf8Path, context: &Context) -> Result<(), Diagnostic> {
    let file = &context.identity_file;
    if !real(file).starts_with(real(root)) {
        return Ok(());
    }
    let fix = match file.exists() {
        true => {
            "move it out of there, and export EOS_IDENTITY=<where it is>; was it committed, make another and rotate every secret"
        }
        false => "export EOS_IDENTITY=<a file outside of the estate>, or HOME as it is for you",
    };
    Err(Diagnostic::error(
        codes::IDENTITY_IN_ESTATE,
        format!("the identity {file} is inside the estate {root}"),
    )
    .why("git add would take it along, and whoever has a clone could read every secret")
    .fix(fix))
}

/// The same about the estate one is in, where there is an identity.
pub fn refuse_here(context: &Context) -> Result<(), Diagnostic> {
    match Estate::find_root(&context.directory) {
        Ok(root) if context.identity_file.exists() => refuse_inside(&root, context),
        _ => Ok(()),
    }
}

/// A path without links, as far as it is there.
fn real(path: &Utf8Path) -> Utf8PathBuf {
    let whole = camino::absolute_utf8(path).unwrap_or_else(|_| path.to_owned());
    let there = whole.ancestors().find_map(|folder| Some((folder, folder.canonicalize_utf8().ok()?)));
    let Some((folder, real)) = there else { return whole };
    whole.strip_prefix(folder).map_or_else(|_| whole.clone(), |rest| real.join(rest))
}
