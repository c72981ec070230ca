//! A change becomes one commit, whatever the repository looks like.
#![allow(clippy::unwrap_used)]

mod support;

use camino::Utf8Path;
use eos_model::codes;
use eos_pillar::{Estate, Trailers};
use support::{FILE, Place, change, trailers};

#[test]
fn the_first_commit_is_made_on_an_unborn_branch() {
    let place = Place::empty();
    place.init().unwrap();
    assert_eq!(
        place.git(&["log", "--format=%P|%an|%ae|%at|%s"]),
        "|Kim|kim@example.org|1790000000|make the estate shop"
    );
    assert_eq!(place.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(place.git(&["reflog", "--format=%gs"]), "eos: make the estate shop");
    place.is_tidy();
}

#[test]
fn an_estate_can_be_made_in_a_repository_with_a_history() {
    let place = Place::empty();
    place.git(&["init", "-q", "-b", "trunk", "."]);
    place.write("README", "ours");
    place.write(".gitignore", "*.o");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "before"]);
    place.init().unwrap();
    assert_eq!(place.git(&["log", "--format=%s"]), "make the estate shop\nbefore");
    assert_eq!(place.git(&["symbolic-ref", "HEAD"]), "refs/heads/trunk");
    assert_eq!(place.read("README").as_deref(), Some("ours"));
    assert_eq!(
        place.read(".gitignore").as_deref(),
        Some("*.o\n/.eos/\n/build/\n.*.eos-tmp\n"),
        "the lines that were there stay"
    );
    place.is_tidy();
}

/// A lock that somebody else holds on the branch fails the commit when the files are written already.
#[test]
fn an_init_that_fails_leaves_the_users_own_files_as_they_were() {
    let place = Place::empty();
    place.git(&["init", "-q", "-b", "main", "."]);
    place.write(".gitignore", "*.o");
    place.write(".git/refs/heads/main.lock", "");
    place.init().err().unwrap();
    assert_eq!(place.read(".gitignore").as_deref(), Some("*.o"));
    assert_eq!(place.read("eos.toml"), None);
    fs_err::remove_file(place.root.join(".git/refs/heads/main.lock")).unwrap();
    place.init().unwrap();
    assert_eq!(place.read(".gitignore").as_deref(), Some("*.o\n/.eos/\n/build/\n.*.eos-tmp\n"));
    place.is_tidy();
}

#[test]
fn init_sweeps_no_unfinished_edit_into_its_commit() {
    let place = Place::empty();
    place.git(&["init", "-q", "."]);
    place.write(".gitignore", "*.o\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "before"]);
    place.write(".gitignore", "*.o\nunfinished\n");
    let refused = place.init().err().unwrap();
    assert_eq!(support::codes(&refused), [codes::DIRTY_TREE]);
    assert_eq!(place.read(".gitignore").as_deref(), Some("*.o\nunfinished\n"));
    assert!(!place.root.join(".eos").exists(), "who is refused finds everything as it was");
}

#[test]
fn a_pillar_file_that_git_ignores_is_refused() {
    let place = Place::with_estate();
    place.write(".git/info/exclude", "*mine*\n");
    place.write("pillar/infrastructure/production/mine.sls", "a: 1\n");
    place.write("pillar/infrastructure/production/.mine.sls", "nobody reads it\n");
    place.write("catalog/mine/notes", "nor this\n");
    let refused = Estate::open_for_change(&place.root).err().unwrap();
    assert_eq!(support::codes(&refused), [codes::DIRTY_TREE]);
    assert!(refused.0[0].message.contains("pillar/infrastructure/production/mine.sls"), "{refused:?}");
    fs_err::remove_file(place.root.join("pillar/infrastructure/production/mine.sls")).unwrap();
    Estate::open_for_change(&place.root).unwrap();
}

#[test]
fn a_split_index_is_told_with_what_to_type() {
    let place = Place::with_estate();
    place.git(&["update-index", "--split-index"]);
    let refused = Estate::open_for_change(&place.root).err().unwrap();
    assert!(refused.0[0].fix.as_deref().unwrap_or_default().contains("--no-split-index"), "{refused:?}");
    place.git(&["update-index", "--no-split-index"]);
    Estate::open_for_change(&place.root).unwrap();
}

#[test]
fn init_writes_over_nothing() {
    let place = Place::empty();
    place.write("pillar/top.sls", "base: {'*': [mine]}\n");
    place.write("pillar/infrastructure/common/init.sls", "mine: 1\n");
    let refused = place.init().err().unwrap();
    assert_eq!(support::codes(&refused), [codes::NOT_OURS, codes::NOT_OURS]);
    assert_eq!(place.read("pillar/top.sls").as_deref(), Some("base: {'*': [mine]}\n"));
    assert_eq!(place.read("eos.toml"), None);
}

#[test]
fn an_estate_is_not_made_twice() {
    let place = Place::with_estate();
    assert_eq!(support::codes(&place.init().err().unwrap()), [codes::ESTATE_EXISTS]);
}

#[test]
fn a_detached_head_can_be_looked_at_and_not_changed() {
    let place = Place::with_estate();
    let main = place.head();
    place.git(&["checkout", "-q", "--detach"]);
    let refused = Estate::open_for_change(&place.root).err().unwrap();
    assert_eq!(support::codes(&refused), [codes::DETACHED]);
    assert_eq!((place.head(), place.git(&["rev-parse", "main"])), (main.clone(), main));
    assert!(Estate::open(&place.root).is_ok());
    place.is_tidy();
    place.git(&["switch", "-q", "-c", "side"]);
    let commit = place.commit("update redis", &[(FILE, Some("new: 2\n"))]).unwrap();
    assert_eq!(place.git(&["rev-parse", "side"]), commit);
}

#[test]
fn a_branch_that_is_only_packed_moves() {
    let place = Place::with_estate();
    let base = place.head();
    place.git(&["gc", "-q"]);
    place.git(&["pack-refs", "--all", "--prune"]);
    assert_eq!(place.read(".git/refs/heads/main"), None);
    let commit = place.commit("update redis", &[(FILE, Some("new: 2\n"))]).unwrap();
    assert_eq!(place.git(&["rev-parse", "main", "main^"]), format!("{commit}\n{base}"));
    place.is_tidy();
}

#[test]
fn a_linked_working_tree_has_its_own_branch_and_index() {
    let place = Place::with_estate();
    let main = place.head();
    let linked = place.root.with_file_name("linked");
    place.git(&["worktree", "add", "-q", "-b", "side", linked.as_str()]);
    let mut estate = Estate::open_for_change(&linked).unwrap();
    let commit =
        estate.commit(&change(&[(FILE, Some("new: 2\n"))]), &trailers("update redis")).unwrap().unwrap();
    drop(estate);
    assert_eq!(place.git_in(&linked, &["rev-parse", "HEAD", "side"]), format!("{commit}\n{commit}"));
    assert_eq!(place.git_in(&linked, &["status", "--porcelain"]), "");
    assert_eq!(place.git_in(&linked, &["reflog", "-1", "--format=%gs"]), "eos: update redis");
    assert_eq!(place.git(&["rev-parse", "HEAD", "main"]), format!("{main}\n{main}"));
    assert_eq!(
        place.git(&["reflog", "-1", "--format=%gs"]),
        "eos: create redis",
        "the other's HEAD did not move"
    );
    place.is_tidy();
}

#[test]
fn the_author_is_who_the_caller_says_with_or_without_an_identity() {
    let place = Place::with_estate();
    place.git(&["config", "user.name", "Lee"]);
    place.git(&["config", "user.email", "lee@example.org"]);
    let estate = Estate::open(&place.root).unwrap();
    assert_eq!(estate.git.identity(), Some(("Lee".to_owned(), "lee@example.org".to_owned())));
    drop(estate);
    let odd = [
        ("Kim", "kim@example.org", "Kim|kim@example.org"),
        ("a <b>\nc", "x>y", "a  b  c|x y"),
        (" ", "", "eos|eos"),
    ];
    for (number, (name, email, expected)) in odd.into_iter().enumerate() {
        let said = Trailers { author: (name.to_owned(), email.to_owned()), ..trailers("update redis") };
        let change = change(&[(FILE, Some(&format!("new: {number}\n")))]);
        Estate::open_for_change(&place.root).unwrap().commit(&change, &said).unwrap();
        assert_eq!(place.git(&["log", "-1", "--format=%an|%ae"]), expected);
    }
    place.is_tidy();
}

#[test]
fn a_dirty_tree_is_refused_and_kept() {
    type Dirt<'a> = (&'a str, &'a dyn Fn(&Place));
    let dirt: [Dirt<'_>; 4] = [
        (FILE, &|place| place.write(FILE, "edited: 1\n")),
        ("pillar/new.sls", &|place| place.write("pillar/new.sls", "new: 1\n")),
        ("eos.toml", &|place| fs_err::remove_file(place.root.join("eos.toml")).unwrap()),
        ("secrets/x.age", &|place| {
            place.write("secrets/x.age", "staged");
            place.git(&["add", "secrets"]);
        }),
    ];
    for (path, make) in dirt {
        let place = Place::with_estate();
        make(&place);
        let before = (place.head(), place.git(&["status", "--porcelain"]), place.read(path));
        let refused = Estate::open_for_change(&place.root).err().unwrap();
        let expected = if path == "eos.toml" { codes::NO_ESTATE } else { codes::DIRTY_TREE };
        assert_eq!(support::codes(&refused), [expected], "{path}");
        assert_eq!((place.head(), place.git(&["status", "--porcelain"]), place.read(path)), before);
    }
}

#[test]
fn files_that_are_not_the_estates_do_not_matter() {
    let place = Place::with_estate();
    place.write("notes.txt", "mine");
    place.write("pillar/.redis.sls.eos-tmp", "a killed eos");
    assert!(place.commit("update redis", &[(FILE, Some("new: 2\n"))]).is_some());
    assert_eq!(place.git(&["status", "--porcelain"]), "?? notes.txt", "it is not swept in");
}

#[test]
fn a_change_that_changes_nothing_is_no_commit() {
    let place = Place::with_estate();
    let base = place.head();
    assert_eq!(place.commit("again", &[(FILE, Some("old: 1\n")), ("pillar/none.sls", None)]), None);
    assert_eq!(place.head(), base);
    place.is_tidy();
}

#[test]
fn two_changes_by_one_command_follow_each_other() {
    let place = Place::with_estate();
    let mut estate = Estate::open_for_change(&place.root).unwrap();
    let first = estate.commit(&change(&[(FILE, Some("a: 1\n"))]), &trailers("one")).unwrap().unwrap();
    let second = estate.commit(&change(&[(FILE, None)]), &trailers("two")).unwrap().unwrap();
    drop(estate);
    assert_eq!(place.git(&["rev-parse", "HEAD", "HEAD^"]), format!("{second}\n{first}"));
    assert_eq!(place.read(FILE), None);
    place.is_tidy();
}

#[test]
fn trailers_come_back_from_history_as_they_were() {
    let place = Place::with_estate();
    let said = Trailers {
        command: "eos create redis --hostname 'a: b' --because 'größer: x'".to_owned(),
        user: "lee".to_owned(),
        reason: Some("Eos-User: nobody\nEos-Command: rm -rf".to_owned()),
        ..trailers("update redis: Eos-User: root")
    };
    let mut estate = Estate::open_for_change(&place.root).unwrap();
    let commit = estate.commit(&change(&[(FILE, Some("new: 2\n"))]), &said).unwrap().unwrap();
    let history = estate.git.history(&[], 10).unwrap();
    assert_eq!(history.len(), 3);
    let newest = &history[0];
    assert_eq!(newest.commit, commit);
    assert_eq!(newest.subject, said.subject);
    assert_eq!(newest.command.as_deref(), Some(said.command.as_str()));
    assert_eq!(newest.user.as_deref(), Some("lee"));
    assert_eq!(newest.reason.as_deref(), Some("Eos-User: nobody Eos-Command: rm -rf"));
    assert_eq!(newest.time, said.time);
    let trailer =
        |key: &str| place.git(&["log", "-1", &format!("--format=%(trailers:key={key},valueonly,unfold)")]);
    assert_eq!(trailer("Eos-Command"), said.command, "git reads them as trailers too");
    assert_eq!(trailer("Eos-User"), "lee");
    let only = estate.git.history(&[FILE.into()], 10).unwrap();
    assert_eq!(
        only.iter().map(|change| change.subject.as_str()).collect::<Vec<_>>(),
        ["update redis: Eos-User: root", "create redis"]
    );
    let file = Utf8Path::new(FILE);
    let recorded = place.read(FILE).unwrap();
    let lines = |content: String| -> Vec<Option<String>> {
        let blamed = estate.git.blame(file, content.as_bytes()).unwrap();
        blamed.into_iter().map(|change| change.map(|change| change.commit)).collect()
    };
    assert_eq!(lines(recorded.clone())[0].as_ref(), Some(&commit));
    // What nobody committed is nobody's, and moves nobody's lines.
    assert_eq!(lines(format!("# mine\n{recorded}"))[..2], [None, Some(commit)]);
}

#[test]
fn a_subject_alone_forges_no_trailer() {
    let place = Place::with_estate();
    place.git(&["commit", "-q", "--allow-empty", "-m", "Eos-Command: rm -rf\n\nby hand"]);
    let estate = Estate::open(&place.root).unwrap();
    assert_eq!(estate.git.history(&[], 1).unwrap()[0].command, None);
}

#[test]
fn a_file_is_read_as_older_commits_have_it() {
    const OTHER: &str = "pillar/infrastructure/production/other.sls";
    let place = Place::with_estate();
    let first = place.head();
    let asked = place.commit("ask", &[(OTHER, Some("one\n"))]).unwrap();
    place.commit("something else", &[("pillar/hosts/h.sls", Some("h\n"))]).unwrap();
    let changed = place.commit("change", &[(OTHER, Some("two\n"))]).unwrap();
    let gone = place.commit("delete", &[(OTHER, None)]).unwrap();
    let git = Estate::open(&place.root).unwrap().git;
    let path = Utf8Path::new(OTHER);
    let at = |commit: &str| git.file_at(commit, path).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(
        [at(&first), at(&asked), at(&changed), at(&gone)].map(|text| text.unwrap_or_default()),
        ["", "one\n", "two\n", ""]
    );
    assert_eq!(git.paths_at(&changed, "pillar/hosts/").unwrap(), ["pillar/hosts/h.sls"]);
    assert_eq!(git.first_commit(&gone).unwrap(), place.git(&["rev-list", "--max-parents=0", "HEAD"]));
    // Only where it changed, the latest first, and no further than is asked for.
    let seen = |until: Option<&str>| {
        let mut seen = Vec::new();
        git.versions_before(&gone, path, |bytes| {
            seen.push(bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()));
            seen.last().unwrap().as_deref() != until
        })
        .unwrap();
        seen
    };
    let (one, two) = (Some("one\n".to_owned()), Some("two\n".to_owned()));
    assert_eq!(seen(Some("two\n")), std::slice::from_ref(&two));
    assert_eq!(seen(None), [two, one, None]);
}
