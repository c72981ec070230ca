//! How other processes on this machine ask a running gateway: a socket in its data directory, so whoever may
//! enter the directory may ask. One line in, JSON out.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use hive_ec2::Engine;

use crate::data_directory::DataDirectory;
use crate::error::HiveError;
use crate::key_ring::KeyRing;

/// How long a question may take to come and be answered.
const ANSWER: Duration = Duration::from_secs(8);
/// How long whoever asks for the keys waits for a store that has to take a new account first.
const NEW_KEYS: Duration = Duration::from_secs(2);

/// What a running gateway says about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Running {
    pub endpoint: String,
    pub region: String,
    pub process: u32,
    /// What it was started with, by the names of the options. Without passwords.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The ids of the keys that it lets in.
    #[serde(default)]
    pub keys: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub account: String,
    pub kind: String,
    pub id: String,
}

/// A parameter that clients sent and an action does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownParameter {
    pub action: String,
    pub parameter: String,
    pub count: u64,
}

/// Who runs on this data directory, if anyone.
pub fn running(data: &Path) -> Result<Running, HiveError> {
    ask(data, "running")
}

/// Everything beyond what accounts were born with.
pub fn leftovers(data: &Path) -> Result<Vec<Leftover>, HiveError> {
    ask(data, "leftovers")
}

pub fn unknown_parameters(data: &Path) -> Result<Vec<UnknownParameter>, HiveError> {
    ask(data, "unknown-parameters")
}

/// Asks the gateway to end and waits until its process has ended: only then has it let go of the store for certain.
pub fn stop(data: &Path) -> Result<(), HiveError> {
    // Taken before it is asked, so that it cannot be another process with the same number.
    let process = Pid::from_raw(running(data)?.process.cast_signed())
        .filter(|process| *process != getpid())
        .and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
    let () = ask(data, "stop")?;
    for _ in 0..200 {
        let is_gone = match &process {
            Some(process) => has_ended(process),
            None => matches!(running(data), Err(HiveError::NotRunning(_))),
        };
        if is_gone {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(HiveError::Answer("it was asked to stop and still runs".to_owned()))
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(process, PollFlags::IN)];
    poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ended| ended == 1)
}

fn ask<T: serde::de::DeserializeOwned>(data: &Path, question: &str) -> Result<T, HiveError> {
    let path = data.join("control.sock");
    let mut stream = BlockingStream::connect(&path).map_err(|_| HiveError::NotRunning(data.to_owned()))?;
    let mut line = String::new();
    let exchange = stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .and_then(|()| stream.write_all(format!("{question}\n").as_bytes()))
        .and_then(|()| BufReader::new(&stream).read_line(&mut line));
    exchange.map_err(HiveError::file("ask", &path))?;
    serde_json::from_str(&line).map_err(|error| HiveError::Answer(error.to_string()))
}

pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
    running: Running,
}

impl Control {
    /// A lock, the store's or our own, says that no other gateway is alive here, so a socket that exists is a dead
    /// one's.
    pub fn open(data: &DataDirectory, running: Running) -> Result<Self, HiveError> {
        let path = data.socket();
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(HiveError::file("listen on", &path))?;
        data.make_private(&path)?;
        Ok(Self { listener, path, running })
    }

    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Answers until someone asks to stop.
    pub async fn serve(self, engine: Arc<Engine>, keys: Arc<KeyRing>) {
        // Each by itself: whoever connects and asks nothing keeps nobody waiting.
        let mut answers = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let (engine, keys) = (Arc::clone(&engine), Arc::clone(&keys));
                        let running = self.running.clone();
                        answers.spawn(async move {
                            let answer = answer(stream, &engine, &keys, running);
                            tokio::time::timeout(ANSWER, answer).await.unwrap_or(false)
                        });
                    }
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
                Some(stop) = answers.join_next() => {
                    if stop.unwrap_or(false) {
                        return;
                    }
                }
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// True if the question was to stop.
async fn answer(mut stream: UnixStream, engine: &Engine, keys: &Arc<KeyRing>, running: Running) -> bool {
    let mut question = String::new();
    let mut reader = tokio::io::BufReader::new(&mut stream);
    if reader.read_line(&mut question).await.is_err() {
        return false;
    }
    let json = |value: serde_json::Result<String>| value.unwrap_or_else(|_| "null".to_owned());
    let question = question.trim();
    let text = match question {
        "running" => {
            // Whoever asks may have made a key a moment ago. The look goes on without them if need be.
            let look = {
                let keys = Arc::clone(keys);
                async move { keys.look().await }
            };
            let _ = tokio::time::timeout(NEW_KEYS, tokio::spawn(look)).await;
            json(serde_json::to_string(&Running { keys: keys.ids(), ..running }))
        }
        "leftovers" => match engine.refresh().await {
            Ok(()) => json(serde_json::to_string(&engine.leftovers())),
            // Not a list: whoever asked must not take it for one.
            Err(error) => json(serde_json::to_string(&error.message)),
        },
        "unknown-parameters" => {
            let all = engine.unknown_parameters().into_iter();
            let named = all.map(|(action, parameter, count)| UnknownParameter {
                action: action.to_owned(),
                parameter,
                count,
            });
            json(serde_json::to_string(&named.collect::<Vec<_>>()))
        }
        "stop" => "null".to_owned(),
        other => json(serde_json::to_string(&format!("unknown question {other}"))),
    };
    let _ = stream.write_all(format!("{text}\n").as_bytes()).await;
    question == "stop"
}
