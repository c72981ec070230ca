//! The side socket on which eos hears what tofu has no place for: a target's own preview, progress, log lines.
//!
//! One connection a message, one line of JSON in it. A listener that is gone or stuck must not hold up the work: a
//! message that cannot be written within a second is lost.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value as Json;

use crate::unix_socket::connect_at_once;

const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Plan,
    Apply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Preview,
    Progress,
    Log,
}

#[derive(Debug, Serialize)]
pub struct Message<'a> {
    /// The resource's `name` attribute.
    pub name: &'a str,
    pub phase: Phase,
    pub kind: Kind,
    pub text: &'a str,
    #[serde(skip_serializing_if = "Json::is_null")]
    pub details: Json,
}

pub fn send(path: &Path, message: &Message) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut stream = connect_at_once(path)?;
    stream.set_write_timeout(Some(LONGEST))?;
    stream.write_all(&line)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_message_is_one_line_and_then_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("side");
        let listener = UnixListener::bind(&path).unwrap();
        let message = Message {
            name: "a/b",
            phase: Phase::Plan,
            kind: Kind::Preview,
            text: "x\ny",
            details: Json::Null,
        };
        send(&path, &message).unwrap();
        let mut heard = String::new();
        listener.accept().unwrap().0.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "{\"name\":\"a/b\",\"phase\":\"plan\",\"kind\":\"preview\",\"text\":\"x\\ny\"}\n");
        // Nobody accepts: the queue fills, and then a message is lost instead of waited for.
        while send(&path, &message).is_ok() {}
        drop(listener);
        assert!(send(&path, &message).is_err());
    }
}
