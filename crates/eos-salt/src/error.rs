//! What can go wrong between eos and Salt. A state that fails is no such thing: it is in the report.

use std::io;
use std::path::PathBuf;

/// Every text in here may be shown: secrets are hidden before an error is made.
#[derive(Debug, thiserror::Error)]
pub enum SaltError {
    #[error("there is no Salt at {}: neither salt-call nor bin/salt-call", .path.display())]
    NotInstalled { path: PathBuf },

    #[error("cannot {doing} {}: {source}", .path.display())]
    Files { doing: &'static str, path: PathBuf, source: io::Error },

    #[error("{} did not start: {source}", .program.display())]
    Start { program: PathBuf, source: io::Error },

    /// Salt's process ended, or said something that is no answer.
    #[error("Salt ended without an answer for {target}{}", said(.output))]
    NoAnswer { target: String, output: String },

    #[error("Salt cannot read the states for {target}:\n{}", .errors.join("\n"))]
    Compile { target: String, errors: Vec<String> },

    #[error("the pillar of {target} does not render:\n{}", .errors.join("\n"))]
    Pillar { target: String, errors: Vec<String> },

    #[error("{target} is busy with another state run: {running}")]
    Busy { target: String, running: String },

    /// Salt refused the call itself: no such function, or an exception.
    #[error("Salt could not run the states on {target}: {message}")]
    Call { target: String, message: String },

    #[error("Salt answered for {target} what is not the result of states: {answer}")]
    Unexpected { target: String, answer: String },

    #[error("Salt gave no result for {}: {target} has not run them", .states.join(", "))]
    LeftOut { target: String, states: Vec<String> },

    #[error("stopped{}", .rest.as_deref().map(|rest| format!(": {rest}")).unwrap_or_default())]
    Stopped { begun: bool, rest: Option<String> },

    #[error("salt-api at {address} cannot be reached: {reason}")]
    Unreachable { address: String, reason: String },

    #[error("salt-api at {address} does not accept the login of {user}")]
    BadLogin { address: String, user: String },

    #[error("salt-api at {address} refuses {what}: the token has expired, or its user may not do that")]
    Forbidden { address: String, what: String },

    #[error("salt-api at {address} failed at {what} with status {status}: {text}")]
    Api { address: String, what: String, status: u16, text: String },

    #[error("the master knows no minion {target}")]
    UnknownTarget { target: String },

    #[error("minion {target} did not return: it is down, or cannot reach its master")]
    NoReturn { target: String },

    /// The job was started; what became of it is not known.
    #[error("job {job} on {target} was lost: {reason}")]
    JobLost { target: String, job: String, reason: String },

    #[error("{address} is not an address for salt-api: {reason}")]
    BadAddress { address: String, reason: String },

    #[error("the credentials for salt-api cannot be used: {reason}")]
    BadCredentials { reason: String },

    #[error("the states for {target} need {what}, which only Salt can work out: a minion gets plain YAML")]
    NeedsRenderer { target: String, what: String },

    #[error(
        "the pillar for {target} holds a secret: a Salt master keeps the arguments of every job in its cache"
    )]
    SecretThroughMaster { target: String },
}

impl SaltError {
    /// Whether nothing can be known about the target now, in contrast to something being wrong with it or the states.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            SaltError::Unreachable { .. }
                | SaltError::NoReturn { .. }
                | SaltError::UnknownTarget { .. }
                | SaltError::JobLost { .. }
        )
    }

    /// Whether states may have been applied before it came to this.
    pub fn may_have_begun(&self) -> bool {
        match self {
            SaltError::NoAnswer { .. }
            | SaltError::JobLost { .. }
            | SaltError::LeftOut { .. }
            | SaltError::Unexpected { .. } => true,
            SaltError::Stopped { begun, .. } => *begun,
            _ => false,
        }
    }

    /// What to do about it, where that is not plain from the message.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            SaltError::NotInstalled { .. } => "eos tools install salt",
            SaltError::Unreachable { .. } => {
                "see that salt-api runs there (systemctl status salt-api) and that eos.toml names it under [salt]"
            }
            SaltError::BadLogin { .. } => {
                "check user, password and eauth against external_auth in the master's configuration"
            }
            SaltError::Forbidden { .. } => {
                "log in again, or let the user run state.high, test.ping and saltutil.find_job in the master's external_auth"
            }
            SaltError::UnknownTarget { .. } => "salt-key -L on the master lists the minions it has accepted",
            SaltError::NoReturn { .. } => {
                "see that salt-minion runs on that host and that it reaches its master"
            }
            SaltError::NeedsRenderer { .. } => {
                "write the states without Jinja, include, extend and exclude, with #!yaml as the first line"
            }
            SaltError::SecretThroughMaster { .. } => {
                "keep the secret in the master's own pillar (gpg, Vault) and read it there; masterless hosts take it from eos"
            }
            SaltError::Busy { .. } => "wait for the other run to end, then try again",
            SaltError::Pillar { .. } => "eos show --pillar checks the estate's own tree",
            _ => return None,
        })
    }

    pub(crate) fn files(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> SaltError {
        let path = path.into();
        move |source| SaltError::Files { doing, path, source }
    }
}

fn said(output: &str) -> String {
    if output.trim().is_empty() { String::new() } else { format!("; it said:\n{}", output.trim()) }
}
