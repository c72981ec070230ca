//! The estate's commits shared with others.
//!
//! What passes between repositories goes through the git program: it knows the user's keys, helpers and settings.

use std::process::{Command, Stdio};

use eos_model::{Diagnostic, codes};

use crate::git::{Git, failed};
use crate::history::Recorded;

/// Where the branch one is on is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub remote: String,
    /// The branch there, without `refs/heads/`.
    pub branch: String,
}

/// What each side has and the other has not, newest first.
#[derive(Debug)]
pub struct Distance {
    /// The other side's commit; none when it does not have the branch yet.
    pub there: Option<String>,
    pub ahead: Vec<Recorded>,
    pub behind: Vec<Recorded>,
}

impl Git {
    /// Whether anybody could be given commits, or give some.
    pub fn has_remote(&self) -> bool {
        self.repository.remotes().is_ok_and(|remotes| !remotes.is_empty())
    }

    /// What git is told to follow; else `origin`, else the only remote there is.
    pub fn upstream(&self) -> Result<Upstream, Diagnostic> {
        let full = self.branch();
        let branch = full.strip_prefix("refs/heads/").unwrap_or(&full).to_owned();
        let told = || {
            let remote = self.repository.branch_upstream_remote(&full).ok()?;
            let merge = self.repository.branch_upstream_merge(&full).ok()?;
            let merge = merge.as_str().ok()?;
            Some(Upstream {
                remote: remote.as_str().ok()?.to_owned(),
                branch: merge.strip_prefix("refs/heads/")?.to_owned(),
            })
        };
        if let Some(upstream) = told() {
            return Ok(upstream);
        }
        let remotes = self.repository.remotes().map_err(|e| failed("read its remotes", &e))?;
        let remotes: Vec<&str> = remotes.iter().flatten().flatten().collect();
        let remote = match remotes.as_slice() {
            names if names.contains(&"origin") => "origin",
            [one] => one,
            [] => {
                return Err(Diagnostic::error(
                    codes::NO_REMOTE,
                    "the estate is shared with nobody: it has no remote",
                )
                .fix("git remote add origin <url>, then eos sync"));
            }
            several => {
                let message = format!("{branch} follows none of the remotes {}", several.join(", "));
                return Err(Diagnostic::error(codes::NO_REMOTE, message)
                    .fix(format!("git branch --set-upstream-to={}/{branch}, then eos sync", several[0])));
            }
        };
        Ok(Upstream { remote: remote.to_owned(), branch })
    }

    /// Gets the other side's commits, without touching a file or a branch of this one.
    pub fn fetch(&self, upstream: &Upstream) -> Result<(), Diagnostic> {
        self.run(&["fetch", "--quiet", &upstream.remote])
    }

    /// How far the branch and what was last fetched are apart.
    pub fn distance(&self, upstream: &Upstream) -> Result<Distance, Diagnostic> {
        let tracked = format!("refs/remotes/{}/{}", upstream.remote, upstream.branch);
        let there = match self.repository.refname_to_id(&tracked) {
            Ok(there) => Some(there),
            Err(error) if error.code() == git2::ErrorCode::NotFound => None,
            Err(error) => return Err(failed("read what was fetched", &error)),
        };
        let here = self.head()?;
        let behind = there.map_or(Ok(Vec::new()), |there| self.between(here, there))?;
        let ahead = here.map_or(Ok(Vec::new()), |here| self.between(there, here))?;
        Ok(Distance { there: there.map(|there| there.to_string()), ahead, behind })
    }

    /// Moves branch and files on to a commit that has everything the branch has.
    pub fn fast_forward(&self, commit: &str) -> Result<(), Diagnostic> {
        self.run(&["merge", "--quiet", "--ff-only", commit])
    }

    /// Gives a commit to the other side, which refuses it when it has one that this side has not.
    pub fn push(&self, upstream: &Upstream, commit: &str) -> Result<(), Diagnostic> {
        self.run(&["push", "--quiet", &upstream.remote, &format!("{commit}:refs/heads/{}", upstream.branch)])
    }

    fn run(&self, args: &[&str]) -> Result<(), Diagnostic> {
        let what = format!("git {}", args.join(" "));
        // A question that nobody can see is never answered.
        let asks = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(args).stdin(Stdio::null()).env("LC_ALL", "C");
        if !asks {
            command.env("GIT_TERMINAL_PROMPT", "0");
        }
        let output = command.output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Diagnostic::error(codes::GIT, "there is no git program on this machine")
                    .why("eos records changes by itself; to share them it uses git with your keys")
                    .fix("apt-get install git, then eos sync")
            }
            _ => Diagnostic::error(codes::GIT, format!("{what}: {error}")),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
        Err(Diagnostic::error(codes::GIT, format!("{what} failed"))
            .why(said.join("; "))
            .fix("run it by hand to see all of it; the estate's branch and files are as they were"))
    }
}
