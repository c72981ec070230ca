//! JSON lines with a warm Salt process over a unix socket.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::run::Stop;

/// How often the stop is looked at while Salt works.
const EVERY: Duration = Duration::from_millis(100);
/// Python loads Salt's modules from disk; on a busy machine that takes its time.
const UNTIL_READY: Duration = Duration::from_secs(120);
/// The protocol of `warm.py`.
const PROTOCOL: u64 = 1;

pub(crate) struct Conversation {
    stream: UnixStream,
    buffer: Vec<u8>,
}

/// The other side is gone, or does not speak as it should.
#[derive(Debug, Default, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Broken(String);

impl Conversation {
    /// With the warm process that listens at `path`.
    pub fn connect(path: &Path, stop: Stop<'_>) -> Result<Conversation, Broken> {
        let broken = |error: std::io::Error| Broken(error.to_string());
        // Secrets are told it: it has to be ours.
        if fs_err::metadata(path).map_err(broken)?.uid() != rustix::process::geteuid().as_raw() {
            return Err(Broken("it belongs to somebody else".to_owned()));
        }
        let stream = UnixStream::connect(path).map_err(broken)?;
        Conversation::greeted(stream, stop)
    }

    /// Waits for the greeting.
    pub fn greeted(stream: UnixStream, stop: Stop<'_>) -> Result<Conversation, Broken> {
        stream.set_read_timeout(Some(EVERY)).map_err(|error| Broken(error.to_string()))?;
        let mut conversation = Conversation { stream, buffer: Vec::new() };
        let begin = Instant::now();
        loop {
            if let Some(greeting) = conversation.line()? {
                return match greeting.get("ready").and_then(Json::as_u64) {
                    Some(PROTOCOL) => Ok(conversation),
                    _ => Err(Broken(format!("a greeting of another kind: {greeting}"))),
                };
            }
            if stop() || begin.elapsed() > UNTIL_READY {
                return Err(Broken(format!("not ready after {} s", begin.elapsed().as_secs())));
            }
        }
    }

    /// Asks, and waits for the answer; a stop is passed on, and the answer still awaited.
    pub fn ask(&mut self, request: &Json, stop: Stop<'_>) -> Result<Json, Broken> {
        self.send(request)?;
        let mut stopped = false;
        loop {
            if let Some(answer) = self.line()? {
                return Ok(answer);
            }
            if !stopped && stop() {
                stopped = true;
                self.send(&json!({"stop": true}))?;
            }
        }
    }

    fn send(&mut self, message: &Json) -> Result<(), Broken> {
        let line = zeroize::Zeroizing::new(format!("{message}\n"));
        self.stream.write_all(line.as_bytes()).map_err(|error| Broken(error.to_string()))
    }

    /// The next line, or None when there is none yet.
    fn line(&mut self) -> Result<Option<Json>, Broken> {
        if let Some(line) = self.buffered()? {
            return Ok(Some(line));
        }
        let mut chunk = [0; 1 << 16];
        match self.stream.read(&mut chunk) {
            Ok(0) => return Err(Broken("it closed the connection".to_owned())),
            Ok(length) => self.buffer.extend_from_slice(&chunk[..length]),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(Broken(error.to_string())),
        }
        self.buffered()
    }

    fn buffered(&mut self) -> Result<Option<Json>, Broken> {
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        serde_json::from_slice(&line).map(Some).map_err(|error| Broken(format!("not JSON: {error}")))
    }
}
