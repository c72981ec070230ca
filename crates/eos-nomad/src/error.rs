//! What can go wrong between here and Nomad. A message names the call and never holds a body that was sent, a token, or
//! what a Nomad Variable contains.

/// `operation` is the call in words, such as "planning job redis".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `sent` is false when nobody can have received the request.
    #[error("{operation}: Nomad at {address} cannot be reached: {reason}")]
    Unreachable { operation: String, address: String, reason: String, sent: bool },
    #[error("{operation}: the Nomad cluster at {address} has no leader")]
    NoLeader { operation: String, address: String },
    #[error("{operation}: Nomad does not permit it with this token")]
    PermissionDenied { operation: String },
    #[error("{operation}: not found")]
    NotFound { operation: String },
    /// Somebody else was faster: the index the change was based on is not the current one.
    #[error("{operation}: changed by somebody else in the meantime: {message}")]
    Conflict { operation: String, message: String },
    #[error("{operation}: Nomad answered {status}: {body}")]
    Server { operation: String, status: u16, body: String },
    #[error("{operation}: Nomad's answer cannot be read: {reason}")]
    Answer { operation: String, reason: String },
    #[error("{what}: {reason}")]
    Setting { what: String, reason: String },
    #[error("{operation}: stopped")]
    Stopped { operation: String },
}

impl Error {
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::NotFound { .. })
    }

    /// Nobody could be asked, so nothing is known.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Error::Unreachable { .. } | Error::NoLeader { .. })
    }

    /// The request may have been carried out although there was no answer.
    pub fn is_uncertain(&self) -> bool {
        match self {
            Error::Unreachable { sent, .. } => *sent,
            Error::Answer { .. } => true,
            Error::Server { status, body, .. } => *status >= 500 && body.contains("leadership lost"),
            _ => false,
        }
    }
}

/// The error an answer with this status stands for.
pub(crate) fn from_status(operation: &str, address: &str, status: u16, body: &str) -> Error {
    let operation = operation.to_owned();
    let body = shorten(body);
    // The agent asked is there, and the servers behind it are not, or have only just begun.
    const LEADERLESS: &[&str] = &[
        "No cluster leader",
        "Not ready to serve consistent reads",
        "No Nomad Servers",
        "failed to get conn",
        "keyring has not been initialized yet",
    ];
    if status >= 500 && LEADERLESS.iter().any(|words| body.contains(words)) {
        return Error::NoLeader { operation, address: address.to_owned() };
    }
    if status >= 500 && body.ends_with("EOF") {
        return Error::Unreachable { operation, address: address.to_owned(), reason: body, sent: true };
    }
    match status {
        403 => Error::PermissionDenied { operation },
        404 => Error::NotFound { operation },
        409 => Error::Conflict { operation, message: "the check-and-set index is an old one".to_owned() },
        500 if body.starts_with("Enforcing job modify index") => Error::Conflict { operation, message: body },
        _ => Error::Server { operation, status, body },
    }
}

/// One line of bearable length.
fn shorten(body: &str) -> String {
    const LONGEST: usize = 400;
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_become_the_errors_they_stand_for() {
        let error = |status, body: &str| from_status("asking", "http://n", status, body);
        assert!(matches!(error(500, "No cluster leader"), Error::NoLeader { .. }));
        let early = "variable error: encrypt: keyring has not been initialized yet";
        assert!(matches!(error(500, early), Error::NoLeader { .. }));
        assert!(error(500, "rpc error: EOF").is_uncertain());
        assert!(matches!(error(403, "Permission denied"), Error::PermissionDenied { .. }));
        assert!(error(404, "job not found").is_not_found());
        assert!(matches!(
            error(500, "Enforcing job modify index 0: job already exists"),
            Error::Conflict { .. }
        ));
        // The body of this one is the other's variable, with its values.
        let conflict = error(409, "{\"Items\":{\"password\":\"hunter2\"}}");
        assert!(!conflict.to_string().contains("hunter2"));
        let long = error(500, &"x\n".repeat(1000));
        assert!(long.to_string().chars().count() < 500 && !long.to_string().contains('\n'));
        assert!(error(500, "leadership lost while committing log").is_uncertain());
    }
}
