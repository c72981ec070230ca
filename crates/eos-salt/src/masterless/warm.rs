//! A warm Salt process: started once, asked many times, ended with its owner.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::child_environment;
use super::conversation::{Broken, Conversation};
use super::folder::PrivateFolder;
use super::installation::Installation;
use crate::error::SaltError;
use crate::redact::Redactor;
use crate::run::{StateRun, Stop};

const SCRIPT: &str = include_str!("../../python/warm.py");
/// Where the process writes what it has to say beside its answers.
const ERRORS: &str = "errors";
/// How long an idle process may take to go.
const UNTIL_GONE: Duration = Duration::from_secs(10);

/// Owned by whoever started it; goes with them.
pub(crate) struct WarmProcess {
    child: Child,
    /// None once it is told to go.
    conversation: Option<Conversation>,
    folder: PrivateFolder,
}

impl WarmProcess {
    pub fn start(
        installation: &Installation,
        temp: &Path,
        search_path: &str,
        listen_at: Option<&Path>,
        stop: Stop<'_>,
    ) -> Result<WarmProcess, SaltError> {
        let folder = PrivateFolder::make(temp)?;
        let script = folder.write("warm.py", SCRIPT)?;
        let errors_path = folder.join(ERRORS);
        let start = |source| SaltError::Start { program: installation.python.clone(), source };
        let (ours, theirs) = UnixStream::pair().map_err(start)?;
        let errors = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&errors_path)
            .map_err(SaltError::files("write", &errors_path))?;
        let mut command = Command::new(&installation.python);
        command.args(["-I", "-B"]).arg(&script).arg(folder.path()).args(listen_at);
        child_environment(&mut command, folder.path(), search_path);
        // A group of its own: an interrupt from the terminal is for its owner, who knows how to end it.
        command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(errors.into_file())
            .current_dir(folder.path())
            .process_group(0);
        let mut child = command.spawn().map_err(start)?;
        // The command holds the child's end of the pair; while it lives we would not see the child go.
        drop(command);
        match Conversation::greeted(ours, stop) {
            Ok(conversation) => Ok(WarmProcess { child, conversation: Some(conversation), folder }),
            Err(problem) => {
                let _ = child.kill();
                let _ = child.wait();
                let said = last_words(&errors_path, &Redactor::new([]));
                Err(SaltError::Start {
                    program: installation.python.clone(),
                    source: std::io::Error::other(format!("{problem}; {said}")),
                })
            }
        }
    }

    pub fn run(
        &mut self,
        minion: Json,
        run: &StateRun<'_>,
        at_work: &Path,
        stop: Stop<'_>,
    ) -> Result<Returned, SaltError> {
        let redactor = run.pillar.redactor();
        let errors = self.folder.join(ERRORS);
        let answer = match &mut self.conversation {
            Some(conversation) => ask(conversation, minion, run, at_work, stop),
            None => Err(Broken::default()),
        };
        let answer = answer.map_err(|_| SaltError::NoAnswer {
            target: run.target.to_owned(),
            output: last_words(&errors, &redactor),
        })?;
        understood(answer, run.target, &redactor)
    }
}

impl Drop for WarmProcess {
    fn drop(&mut self) {
        // Closing is the sign to go; a state that is being applied is finished first, and that is left alone.
        self.conversation = None;
        let begin = Instant::now();
        while begin.elapsed() < UNTIL_GONE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                _ => return,
            }
        }
    }
}

pub(crate) fn ask(
    conversation: &mut Conversation,
    minion: Json,
    run: &StateRun<'_>,
    at_work: &Path,
    stop: Stop<'_>,
) -> Result<Json, Broken> {
    let request = json!({"run": {
        "minion": minion,
        "sls": run.sls,
        "pillar": run.pillar.expose(),
        "test": run.test,
        "at_work": at_work,
    }});
    conversation.ask(&request, stop)
}

/// What Salt gave back, and whether it was told to end after the state it was at.
pub(crate) struct Returned {
    pub value: Json,
    pub stopped: bool,
}

/// The return value of an answer.
pub(crate) fn understood(mut answer: Json, target: &str, redactor: &Redactor) -> Result<Returned, SaltError> {
    if let Some(message) = answer.get("error").and_then(Json::as_str) {
        let message = redactor.text(message);
        return Err(SaltError::Call { target: target.to_owned(), message });
    }
    Ok(Returned { stopped: answer["stopped"] == true, value: answer["return"].take() })
}

pub(crate) fn stopped_after(done: usize) -> SaltError {
    let rest = match done {
        0 => "no state was applied".to_owned(),
        1 => "the first state was applied, the others were not begun".to_owned(),
        done => format!("{done} states were applied, the others were not begun"),
    };
    SaltError::Stopped { begun: done > 0, rest: Some(rest) }
}

/// The end of what a process wrote.
fn last_words(path: &Path, redactor: &Redactor) -> String {
    last_lines(&String::from_utf8_lossy(&fs_err::read(path).unwrap_or_default()), redactor)
}

pub(crate) fn last_lines(text: &str, redactor: &Redactor) -> String {
    const LINES: usize = 20;
    let lines: Vec<&str> = text.lines().collect();
    redactor.text(&lines[lines.len().saturating_sub(LINES)..].join("\n"))
}

/// A warm Salt process for a whole run of eos: every provider of the run asks it through a socket.
pub struct WarmServer {
    _process: WarmProcess,
    socket: PathBuf,
}

impl WarmServer {
    /// Starts Salt and listens at `socket`, whose folder should be private. `temp` is where private folders are made,
    /// `search_path` where states find programs. It goes when this value is dropped.
    pub fn start(
        installation: &Installation,
        temp: &Path,
        search_path: &str,
        socket: &Path,
        stop: Stop<'_>,
    ) -> Result<WarmServer, SaltError> {
        let process = WarmProcess::start(installation, temp, search_path, Some(socket), stop)?;
        Ok(WarmServer { _process: process, socket: socket.to_owned() })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }
}
