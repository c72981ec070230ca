//! A command cut off at each of its steps, built by hand: the next one ends in the old or the new tree.
#![allow(clippy::unwrap_used)]

mod support;

use camino::Utf8PathBuf;
use eos_model::codes;
use eos_pillar::intent_record::{INTENT, IntentRecord};
use eos_pillar::{Estate, git::Git};
use support::{FILE, Place, change, trailers};

const MADE: &str = "secrets/production/redis/password.v1.age";
const GONE: &str = "pillar/infrastructure/common/init.sls";

/// An estate in which a change of one file, making one and removing one, has its commit and its intent record, and no
/// more has happened.
struct CutOff {
    place: Place,
    base: String,
    commit: String,
    paths: Vec<Utf8PathBuf>,
}

fn cut_off() -> CutOff {
    let place = Place::with_estate();
    let base = place.head();
    let change = change(&[(FILE, Some("new: 2\n")), (MADE, Some("age")), (GONE, None)]);
    let git = Git::open(&place.root).unwrap();
    let commit = git
        .write_commit(git.head().unwrap(), &change, &trailers("update redis"))
        .unwrap()
        .unwrap()
        .to_string();
    let paths: Vec<Utf8PathBuf> = change.files.keys().cloned().collect();
    IntentRecord::new(Some(base.clone()), commit.clone(), git.branch(), paths.clone())
        .write(&place.root)
        .unwrap();
    CutOff { place, base, commit, paths }
}

impl CutOff {
    fn some_files_are_new(&self) {
        self.place.write(FILE, "new: 2\n");
        self.place.write("secrets/production/redis/.password.v1.age.eos-tmp", "a");
    }

    fn all_files_are_new(&self) {
        self.place.write(FILE, "new: 2\n");
        self.place.write(MADE, "age");
        fs_err::remove_file(self.place.root.join(GONE)).unwrap();
    }

    fn branch_has_moved(&self) {
        self.all_files_are_new();
        self.place.write(".git/refs/heads/main", &format!("{}\n", self.commit));
    }

    /// A lock of ours, as it is after a kill: a second name of a file in git's folder.
    fn own_lock(&self, own: &str, lock: &str) {
        let folder = self.place.root.join(".git");
        fs_err::write(folder.join(own), "cut off").unwrap();
        fs_err::hard_link(folder.join(own), folder.join(lock)).unwrap();
    }

    fn is_old(&self) {
        assert_eq!(self.place.head(), self.base);
        assert_eq!(self.place.read(FILE).as_deref(), Some("old: 1\n"));
        assert_eq!(self.place.read(MADE), None);
        assert!(self.place.read(GONE).is_some());
        assert!(!self.place.root.join("secrets").exists(), "folders made on the way are gone");
        self.place.is_tidy();
    }

    fn is_new(&self) {
        assert_eq!(self.place.head(), self.commit);
        assert_eq!(self.place.read(FILE).as_deref(), Some("new: 2\n"));
        assert_eq!(self.place.read(MADE).as_deref(), Some("age"));
        assert_eq!(self.place.read(GONE), None);
        self.place.is_tidy();
    }

    /// For looking and for changing alike.
    fn next_command_works(&self) {
        Estate::open(&self.place.root).unwrap();
        Estate::open_for_change(&self.place.root).unwrap();
    }
}

#[test]
fn files_untouched_is_the_old_tree() {
    let cut = cut_off();
    cut.next_command_works();
    cut.is_old();
}

#[test]
fn files_half_written_is_the_old_tree() {
    let cut = cut_off();
    cut.some_files_are_new();
    cut.next_command_works();
    cut.is_old();
}

#[test]
fn all_files_written_and_the_branch_not_moved_is_the_old_tree() {
    let cut = cut_off();
    cut.all_files_are_new();
    cut.next_command_works();
    cut.is_old();
}

#[test]
fn a_command_that_changes_recovers_first() {
    let cut = cut_off();
    cut.some_files_are_new();
    let commit = cut.place.commit("update again", &[(FILE, Some("newer: 3\n"))]).unwrap();
    assert_eq!(cut.place.git(&["rev-parse", &format!("{commit}^")]), cut.base);
    cut.place.is_tidy();
}

#[test]
fn the_branch_moved_and_the_index_not_is_the_new_tree() {
    let cut = cut_off();
    cut.branch_has_moved();
    assert_ne!(cut.place.git(&["status", "--porcelain"]), "", "the index is behind");
    cut.next_command_works();
    cut.is_new();
}

#[test]
fn the_branch_moved_and_a_file_lost_is_the_new_tree() {
    let cut = cut_off();
    cut.branch_has_moved();
    cut.place.write(FILE, "");
    cut.next_command_works();
    cut.is_new();
}

#[test]
fn everything_done_but_forgetting_the_intent_is_the_new_tree() {
    let cut = cut_off();
    cut.branch_has_moved();
    cut.place.git(&["add", "-A"]);
    cut.next_command_works();
    cut.is_new();
}

#[test]
fn locks_of_ours_are_cleared_in_the_old_tree() {
    let cut = cut_off();
    cut.some_files_are_new();
    cut.own_lock("eos-index", "index.lock");
    cut.own_lock("eos-branch", "refs/heads/main.lock");
    Estate::open(&cut.place.root).unwrap();
    cut.is_old();
    assert!(cut.place.commit("update again", &[(FILE, Some("newer: 3\n"))]).is_some());
}

#[test]
fn locks_of_ours_are_cleared_in_the_new_tree() {
    let cut = cut_off();
    cut.branch_has_moved();
    cut.own_lock("eos-index", "index.lock");
    cut.place.write(".eos/state/index.draft", "cut off");
    cut.place.write(".eos/state/index.draft.lock", "cut off");
    Estate::open(&cut.place.root).unwrap();
    cut.is_new();
}

/// Killed after the lock took the branch's name and before its first name was removed: both are one file.
#[test]
fn a_first_name_left_does_not_harm_the_branch() {
    let cut = cut_off();
    cut.branch_has_moved();
    let folder = cut.place.root.join(".git");
    fs_err::hard_link(folder.join("refs/heads/main"), folder.join("eos-branch")).unwrap();
    fs_err::hard_link(folder.join("index"), folder.join("eos-index")).unwrap();
    Estate::open(&cut.place.root).unwrap();
    cut.is_new();
}

#[test]
fn the_lock_of_another_branch_is_found_by_the_record() {
    let cut = cut_off();
    cut.own_lock("eos-branch", "refs/heads/main.lock");
    cut.place.git(&["checkout", "-q", "-b", "other"]);
    Estate::open(&cut.place.root).unwrap();
    cut.is_old();
}

#[test]
fn the_index_lock_of_another_program_is_respected() {
    let place = Place::with_estate();
    let base = place.head();
    place.write(".git/index.lock", "somebody else's");
    place.write(".git/eos-index", "of an eos that was killed before");
    let mut estate = Estate::open_for_change(&place.root).unwrap();
    let refused = estate.commit(&change(&[(FILE, Some("new: 2\n"))]), &trailers("update redis")).unwrap_err();
    drop(estate);
    assert_eq!(support::codes(&refused), [codes::GIT]);
    assert!(refused.0[0].message.contains("another git command holds .git/index.lock"), "{refused}");
    assert_eq!(place.read(".git/index.lock").as_deref(), Some("somebody else's"));
    assert_eq!((place.head(), place.read(FILE).as_deref()), (base, Some("old: 1\n")), "nothing has happened");
    Estate::open(&place.root).unwrap();
    fs_err::remove_file(place.root.join(".git/index.lock")).unwrap();
    place.is_tidy();
    assert!(place.commit("update redis", &[(FILE, Some("new: 2\n"))]).is_some());
}

#[test]
fn the_branch_lock_of_another_program_is_respected() {
    let place = Place::with_estate();
    place.write(".git/refs/heads/main.lock", "somebody else's");
    let mut estate = Estate::open_for_change(&place.root).unwrap();
    let refused = estate.commit(&change(&[(FILE, Some("new: 2\n"))]), &trailers("update redis")).unwrap_err();
    drop(estate);
    assert_eq!(support::codes(&refused), [codes::GIT]);
    assert_eq!(place.read(".git/refs/heads/main.lock").as_deref(), Some("somebody else's"));
    assert_eq!(place.read(FILE).as_deref(), Some("old: 1\n"));
    fs_err::remove_file(place.root.join(".git/refs/heads/main.lock")).unwrap();
    place.is_tidy();
}

/// Somebody committed between reading the estate and recording: the change was made for another tree.
#[test]
fn a_branch_moved_while_a_command_works_stops_it() {
    let place = Place::with_estate();
    let mut estate = Estate::open_for_change(&place.root).unwrap();
    place.git(&["commit", "-q", "--allow-empty", "-m", "by hand"]);
    let by_hand = place.head();
    let refused = estate.commit(&change(&[(FILE, Some("new: 2\n"))]), &trailers("update redis")).unwrap_err();
    drop(estate);
    assert_eq!(support::codes(&refused), [codes::HEAD_MOVED]);
    assert_eq!((place.head(), place.read(FILE).as_deref()), (by_hand, Some("old: 1\n")));
    place.is_tidy();
}

#[test]
fn a_branch_moved_after_the_crash_is_not_decided_by_eos() {
    let cut = cut_off();
    cut.some_files_are_new();
    cut.place.git(&["commit", "-q", "--allow-empty", "-m", "by hand"]);
    let refused = Estate::open(&cut.place.root).err().unwrap();
    assert_eq!(support::codes(&refused), [codes::HEAD_MOVED]);
    assert_eq!(cut.place.read(FILE).as_deref(), Some("new: 2\n"), "nothing is touched");
    // Once the files are settled by hand there is nothing left to decide.
    cut.place.git(&["checkout", "-q", "."]);
    Estate::open(&cut.place.root).unwrap();
    assert_eq!(cut.place.read(INTENT), None);
}

#[test]
fn only_the_files_it_names_are_touched() {
    let cut = cut_off();
    cut.some_files_are_new();
    cut.place.write("pillar/top.sls", "# somebody's edit\n");
    cut.place.write("notes.txt", "mine");
    Estate::open(&cut.place.root).unwrap();
    assert_eq!(cut.place.read("pillar/top.sls").as_deref(), Some("# somebody's edit\n"));
    assert_eq!(cut.place.read("notes.txt").as_deref(), Some("mine"));
    assert_eq!(cut.place.read(FILE).as_deref(), Some("old: 1\n"));
    assert_eq!(cut.paths.len(), 3);
}

#[test]
fn a_record_of_a_newer_eos_is_refused_and_kept() {
    let place = Place::with_estate();
    for text in
        ["{\"format\":2,\"base\":null,\"commit\":\"x\",\"branch\":\"y\",\"files\":[]}", "{\"format\":1", ""]
    {
        place.write(INTENT, text);
        let refused = Estate::open(&place.root).err().unwrap();
        assert_eq!(support::codes(&refused), [codes::NEWER_FORMAT], "{text}");
        assert_eq!(place.read(INTENT).as_deref(), Some(text));
    }
}

#[test]
fn an_init_cut_off_is_undone_and_can_be_done_again() {
    let place = Place::empty();
    let git = Git::init(&place.root).unwrap();
    let files = [("eos.toml", "half"), ("pillar/top.sls", "base: {}\n"), (".gitignore", "*.o\n/.eos/\n")];
    let change = change(&files.map(|(path, content)| (path, Some(content))));
    let commit = git.write_commit(None, &change, &trailers("init")).unwrap().unwrap();
    let paths = change.files.keys().cloned().collect();
    let own = [(".gitignore".into(), b"*.o".to_vec())].into();
    IntentRecord::new(None, commit.to_string(), git.branch(), paths).keeping(own).write(&place.root).unwrap();
    place.write("eos.toml", "half");
    place.write(".gitignore", "*.o\n/.eos/\n");
    let refused = Estate::open(&place.root).err().unwrap();
    assert_eq!(support::codes(&refused), [codes::NO_ESTATE]);
    assert_eq!(place.read("eos.toml"), None);
    assert_eq!(place.read(".gitignore").as_deref(), Some("*.o"));
    place.init().unwrap();
    place.is_tidy();
}

#[test]
fn a_branch_that_cannot_be_read_is_not_a_new_repository() {
    let place = Place::with_estate();
    for damaged in ["", "not a commit\n"] {
        place.write(".git/refs/heads/main", damaged);
        let refused = Estate::open_for_change(&place.root).err().unwrap();
        assert_eq!(support::codes(&refused), [codes::GIT], "{damaged:?}");
    }
}
