//! An estate shared through a git remote.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Run, Sandbox};

/// An estate, the bare repository it is shared through, and a colleague's clone of it.
struct Team {
    sandbox: Sandbox,
}

impl Team {
    fn new() -> Team {
        let team = Team { sandbox: Sandbox::with_estate() };
        team.sandbox.git(&["init", "-q", "--bare", "-b", "main", "../remote.git"]);
        team.sandbox.git(&["remote", "add", "origin", "../remote.git"]);
        team.mine(&["sync"], 0);
        team.sandbox.git(&["clone", "-q", "../remote.git", "../theirs"]);
        team
    }

    fn mine(&self, args: &[&str], exit: i32) -> Run {
        ran(self.sandbox.run(args), args, exit)
    }

    fn theirs(&self, args: &[&str], exit: i32) -> Run {
        ran(self.sandbox.run(&[&["-C", "../theirs"], args].concat()), args, exit)
    }

    /// The newest commits: mine, theirs and the remote's.
    fn heads(&self) -> [String; 3] {
        [".", "../theirs", "../remote.git"]
            .map(|folder| self.sandbox.git(&["-C", folder, "rev-parse", "main"]).trim().to_owned())
    }
}

fn ran(run: Run, args: &[&str], exit: i32) -> Run {
    assert_eq!(run.code, exit, "eos {args:?}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
    run
}

#[test]
fn changes_are_taken_and_given() {
    let team = Team::new();
    assert_eq!(team.mine(&["sync"], 0).stdout, "Nothing to do: origin has what you have.\n");
    team.theirs(&["create", "redis"], 0);
    let given = team.theirs(&["sync"], 0).stdout;
    assert!(given.starts_with("Given to origin: 1 change.\n  "), "{given}");
    assert!(given.contains("kim  eos -C ../theirs create redis\n"), "{given}");

    let [mine, theirs, remote] = team.heads();
    assert!(mine != theirs && theirs == remote);
    assert!(team.mine(&["sync", "--dry-run"], 0).stdout.starts_with("Would take from origin: 1 change.\n"));
    assert_eq!(team.heads(), [mine, theirs.clone(), remote.clone()], "a dry run moves nothing");

    let taken = team.mine(&["sync"], 0).stdout;
    assert!(taken.starts_with("Taken from origin: 1 change.\n"), "{taken}");
    assert_eq!(team.heads(), [theirs.clone(), theirs, remote]);
    assert!(team.mine(&["list"], 0).stdout.contains("redis"));
    assert_eq!(team.sandbox.git(&["status", "--porcelain"]), "");
    team.mine(&["delete", "redis"], 0);
}

#[test]
fn where_both_changed_nothing_moves_until_people_decide() {
    let team = Team::new();
    team.theirs(&["create", "redis"], 0);
    team.theirs(&["sync"], 0);
    team.mine(&["create", "host", "spare", "--address", "10.0.0.9"], 0);
    let before = team.heads();
    let refused = team.mine(&["sync"], 4).stderr;
    assert!(refused.contains("E0115"), "{refused}");
    assert!(refused.contains("git merge origin/main"), "{refused}");
    assert_eq!(team.heads(), before);
    team.sandbox.git(&[
        "-c",
        "user.name=Kim",
        "-c",
        "user.email=k@example.org",
        "merge",
        "-q",
        "origin/main",
    ]);
    assert_eq!(team.sandbox.json(&["sync"])["given"].as_array().unwrap().len(), 2, "mine, and the merge");
    team.theirs(&["sync"], 0);
    let [mine, theirs, remote] = team.heads();
    assert!(mine == theirs && theirs == remote);
}

#[test]
fn what_stands_in_the_way_is_said_and_nothing_moves() {
    let alone = Sandbox::with_estate();
    assert!(ran(alone.run(&["sync"]), &["sync"], 3).stderr.contains("E0114"));

    let team = Team::new();
    team.theirs(&["create", "redis"], 0);
    team.theirs(&["sync"], 0);
    team.sandbox.write("pillar/hosts/local.sls", "unfinished");
    let before = team.heads();
    assert!(team.mine(&["sync"], 4).stderr.contains("E0103"));
    assert_eq!(team.heads(), before);
    team.sandbox.git(&["checkout", "-q", "."]);

    team.mine(&["sync"], 0);
    team.mine(&["create", "redis", "other", "--port", "6390"], 0);
    let path = "pillar/infrastructure/production/other.sls";
    team.sandbox.write(path, team.sandbox.read(path).replace("6390", "6379"));
    team.sandbox.commit_by_hand();
    let before = team.heads();
    assert!(team.mine(&["sync"], 3).stderr.contains("E0404"), "what does not compile is not given");
    assert_eq!(team.heads(), before);

    std::fs::rename(team.sandbox.path().join("remote.git"), team.sandbox.path().join("elsewhere")).unwrap();
    let gone = team.mine(&["sync"], 1).stderr;
    assert!(gone.contains("E0105") && gone.contains("git fetch --quiet origin failed"), "{gone}");
    assert!(gone.contains("does not appear to be a git repository"), "{gone}");
}
