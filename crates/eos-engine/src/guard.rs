//! Whether this clone may run at all: it must have what was applied before it, and the state that belongs to it.

use camino::Utf8Path;
use eos_model::{Ancestry, Diagnostic, EnvName, codes};

use crate::applied::AppliedEnvironment;
use crate::files;
use crate::layout::Layout;

/// Refuses a clone whose commit does not contain the one that was last applied. `ancestry` says how `head` stands to the
/// commit that it is given.
pub fn refuse_stale(
    env: &EnvName,
    last: Option<&AppliedEnvironment>,
    head: &str,
    ancestry: impl FnOnce(&str) -> Result<Ancestry, Diagnostic>,
) -> Result<(), Diagnostic> {
    let Some(last) = last else { return Ok(()) };
    if last.commit == head {
        return Ok(());
    }
    let short = |commit: &str| commit.chars().take(10).collect::<String>();
    let (commit, head) = (short(&last.commit), short(head));
    let refusal = Diagnostic::error(
        codes::STALE_CLONE,
        format!("{env} was last applied from {commit}, which is not part of what you have ({head})"),
    );
    Err(match ancestry(&last.commit)? {
        Ancestry::Contains => return Ok(()),
        Ancestry::Behind => refusal
            .why("applying now would take back what others applied")
            .fix("pull first: eos sync, then eos plan"),
        // It was applied and then rebased or amended, most likely: nobody has anything to give that would help.
        Ancestry::Beside => refusal
            .why("the history was rewritten since, or it is on another branch: applying now might take it back")
            .fix(format!("git merge {commit} makes it part of what you have; then eos plan")),
    })
}

/// The name of the local state in this clone.
pub fn local_state(layout: &Layout) -> Result<Option<String>, Diagnostic> {
    match fs_err::read_to_string(layout.state_id()) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Diagnostic::error(codes::CANNOT_READ, format!("cannot read .eos/state/id: {error}")))
        }
    }
}

/// Gives the local state of this clone a name, once; the estate then records it.
pub fn name_local_state(layout: &Layout, random: [u8; 16]) -> Result<String, Diagnostic> {
    if let Some(name) = local_state(layout)? {
        return Ok(name);
    }
    let name = crate::unit::hex(&random);
    files::write(&layout.state_id(), format!("{name}\n").as_bytes())
        .map_err(|e| Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write .eos/state/id: {e}")))?;
    Ok(name)
}

/// Refuses a clone without the local state that the estate names.
pub fn refuse_missing_state(estate: Option<&str>, clone: Option<&str>) -> Result<(), Diagnostic> {
    match (estate, clone) {
        (None, _) => Ok(()),
        (Some(named), Some(found)) if named == found => Ok(()),
        (Some(_), found) => Err(Diagnostic::error(
            codes::STATE_ELSEWHERE,
            "this clone does not have the state that the estate was applied with",
        )
        .why(match found {
            Some(_) => "its own state is that of another history: everything would be created a second time",
            None => "without it everything that runs already looks new and would be created a second time",
        })
        .fix("run eos where the state is, bring .eos/state here as a whole, or use a shared [backend] in eos.toml")),
    }
}

/// A path as a person in the estate writes it.
pub(crate) fn shown<'p>(layout: &Layout, path: &'p Utf8Path) -> &'p Utf8Path {
    path.strip_prefix(layout.root()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(commit: &str) -> AppliedEnvironment {
        let run = crate::run_id::RunId::new(0, 0);
        AppliedEnvironment { commit: commit.to_owned(), run, at: 0 }
    }

    #[test]
    fn only_a_descendant_of_what_was_applied_may_run() {
        let env = "production".parse().unwrap();
        let check =
            |last: Option<&AppliedEnvironment>, how: Ancestry| refuse_stale(&env, last, "head", |_| Ok(how));
        assert!(check(None, Ancestry::Behind).is_ok());
        assert!(check(Some(&last("head")), Ancestry::Behind).is_ok());
        assert!(check(Some(&last("before")), Ancestry::Contains).is_ok());
        for how in [Ancestry::Beside, Ancestry::Behind] {
            assert_eq!(check(Some(&last("other")), how).unwrap_err().code, codes::STALE_CLONE);
        }
    }

    #[test]
    fn a_clone_needs_the_state_the_estate_names() {
        assert!(refuse_missing_state(None, None).is_ok());
        assert!(refuse_missing_state(None, Some("a")).is_ok());
        assert!(refuse_missing_state(Some("a"), Some("a")).is_ok());
        for clone in [None, Some("b")] {
            assert_eq!(refuse_missing_state(Some("a"), clone).unwrap_err().code, codes::STATE_ELSEWHERE);
        }
    }

    #[test]
    fn a_name_is_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(camino::Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap());
        assert_eq!(local_state(&layout).unwrap(), None);
        let name = name_local_state(&layout, [7; 16]).unwrap();
        assert_eq!(name_local_state(&layout, [8; 16]).unwrap(), name);
    }
}
