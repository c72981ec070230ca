//! A history that was rewritten after it had been applied.

use crate::place::Place;

/// What was applied is put back into the history by the command that the refusal tells.
#[test]
fn an_amended_commit_that_was_applied_is_made_part_of_the_history_again() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let applied = place.head();
    place.git(&["commit", "--quiet", "--amend", "--message", "A better message"]);
    let refused = place.exits(4, &["plan"]).stderr;
    let merge = format!("git merge {}", &applied[..10]);
    assert!(refused.contains("E0905") && refused.contains(&merge), "{refused}");
    place.git(&["merge", "--quiet", &applied[..10]]);
    place.is_settled();
}
