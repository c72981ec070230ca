//! Remedies where an estate has no remote: nobody has anything to give it, and `eos sync` is refused.

use eos_model::{Diagnostics, codes};
use eos_pillar::Estate;
use eos_pillar::git::Git;

use crate::context::Context;

/// How a remedy begins, and how it does without others.
const INSTEAD: [(&str, &str); 2] = [
    ("eos sync, then ", ""),
    (
        "pull first: eos sync, then ",
        "git merge <that commit> (where git does not know it: git fetch <the clone that has it> before); then ",
    ),
];

/// Offers what can be done alone.
pub fn word(found: &mut Diagnostics, context: &Context) {
    let stale = found.0.iter_mut().filter(|problem| problem.code == codes::STALE_CLONE);
    for fix in stale.filter_map(|problem| problem.fix.as_mut()) {
        let rest = |(with, alone)| Some(format!("{alone}{}", fix.strip_prefix(with)?));
        if let Some(instead) = INSTEAD.into_iter().find_map(rest)
            && has_no_remote(context)
        {
            *fix = instead;
        }
    }
}

fn has_no_remote(context: &Context) -> bool {
    let git = Estate::find_root(&context.directory).and_then(|root| Git::open(&root));
    git.is_ok_and(|git| !git.has_remote())
}
