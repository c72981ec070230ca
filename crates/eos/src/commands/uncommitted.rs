//! Why a command wants a committed tree. The estate knows one reason, that of a command which commits; some only show,
//! and they have another.

use eos_model::{Diagnostics, codes};

use crate::args::spoken;

const DRY_RUN: &str = "a dry run shows what would come on top of the last commit, and these changes are not in it; it writes and commits nothing itself";
const PLAN: &str = "a plan is made for a commit, so that what was shown is what is applied, and these changes are in none; eos plan itself commits nothing";
const APPLY: &str = "what is applied belongs to a commit, so that it can be explained and taken back; these changes are in none";

/// Words the refusal of an unclean tree for the command that was typed.
pub fn word(found: &mut Diagnostics, words: &[String]) {
    let dry = words.iter().take_while(|word| *word != "--").any(|word| word == "--dry-run");
    let why = match spoken::bare_words(words).first() {
        _ if dry => DRY_RUN,
        Some(&"plan") => PLAN,
        Some(&"apply") => APPLY,
        _ => return,
    };
    for problem in found.0.iter_mut().filter(|problem| problem.code == codes::DIRTY_TREE) {
        problem.why = Some(why.to_owned());
    }
}
