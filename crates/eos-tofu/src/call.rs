//! One call of tofu: captured in memory when its answer may hold secrets, logged to files when it may outlive us.

use std::io::{Read, Write as _};
use std::process::{Command, Stdio};

use camino::Utf8PathBuf;
use zeroize::Zeroizing;

use crate::classify::classify;
use crate::log::{self, LogReader};
use crate::running::Running;
use crate::{Exit, Failure, Session, SilentServer, TofuError, ToolDiagnostic};

/// Calls that change nothing: they may be ended at any time.
const LOOKS: &[&str] = &[" init", " plan", " show", " output", " state pull", " state list"];

/// A call that ended, however it ended.
pub(crate) struct Ended {
    pub exit: Exit,
    pub interrupted: bool,
    /// The server it was ended for.
    pub silent: Option<SilentServer>,
    pub stderr: String,
}

/// Where a logged call writes.
pub(crate) struct Log {
    pub stdout: Utf8PathBuf,
    pub stderr: Utf8PathBuf,
}

impl Session {
    pub(crate) fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(self.tofu.binary());
        command.args(arguments).current_dir(self.folder.dir()).env_clear().envs(self.environment.iter());
        command.stdin(Stdio::null());
        command
    }

    /// `tofu plan`, for messages.
    pub(crate) fn name_of(&self, arguments: &[String]) -> String {
        let verbs: Vec<&str> =
            arguments.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).take(2).collect();
        format!("{} {}", self.tofu.flavor().command(), verbs.join(" "))
    }

    pub(crate) fn start(&self, command: Command, name: &str) -> Result<Running, TofuError> {
        let only_looks = LOOKS.iter().any(|words| name.ends_with(words));
        if only_looks && let Some(server) = self.children.silent() {
            return Err(TofuError::NoAnswer {
                server: Box::new(server),
                failure: Box::new(never_started(name)),
            });
        }
        let started = Running::start(command, only_looks, &self.children);
        match started {
            Ok(Some(running)) => Ok(running),
            Ok(None) => Err(TofuError::Interrupted { failure: Box::new(never_started(name)) }),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound && self.folder.dir().is_dir() => {
                Err(TofuError::NotInstalled {
                    binary: self.tofu.binary().to_owned(),
                    reason: source.to_string(),
                })
            }
            Err(source) => Err(TofuError::Io { operation: format!("start {name}"), source }),
        }
    }

    /// Runs to the end and hands over its standard output, which touches no disk.
    pub(crate) fn capture(&self, arguments: &[String]) -> Result<Zeroizing<Vec<u8>>, TofuError> {
        self.exchange(self.command(arguments), &self.name_of(arguments), b"")
    }

    /// The same with something to read on its standard input, which touches no disk either.
    pub(crate) fn exchange(
        &self,
        mut command: Command,
        name: &str,
        input: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, TofuError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = self.start(command, name)?;
        let (stdout, stderr) = (running.child().stdout.take(), running.child().stderr.take());
        let (stdin, control) = (running.child().stdin.take(), running.control());
        let (out, err, ended) = std::thread::scope(|scope| {
            // Closed at the end. One that does not read it says itself what was wrong.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            let out = scope.spawn(move || read_all(stdout));
            let err = scope.spawn(move || read_all(stderr));
            let ended = running.wait(&mut || ());
            (out.join(), err.join(), ended)
        });
        let (exit, interrupted) = ended.map_err(TofuError::io(format!("wait for {name}")))?;
        let lost = || std::io::Error::other("its reader ended early");
        let stdout =
            out.unwrap_or_else(|_| Err(lost())).map_err(TofuError::io(format!("read from {name}")))?;
        let stderr =
            err.unwrap_or_else(|_| Err(lost())).map_err(TofuError::io(format!("read from {name}")))?;
        if exit == Exit::Code(0) {
            return Ok(stdout);
        }
        let stderr = log::keep_end(&stderr);
        let diagnostics = ToolDiagnostic::all_from_text(&stderr);
        let failure = Failure { command: name.to_owned(), exit, diagnostics, stderr };
        Err(self.judge(failure, interrupted, control.silent()))
    }

    /// The files of a logged call, in the unit's data folder.
    pub(crate) fn log(&self, stem: &str) -> Log {
        let folder = self.folder.own_data();
        Log { stdout: folder.join(format!("{stem}.log")), stderr: folder.join(format!("{stem}.stderr")) }
    }

    /// Sends a command's output to fresh log files.
    pub(crate) fn write_to(&self, command: &mut Command, log: &Log) -> Result<(), TofuError> {
        for (path, output) in [(&log.stdout, true), (&log.stderr, false)] {
            let file = log::create(path).map_err(TofuError::io(format!("make the log {path}")))?;
            if output {
                command.stdout(file);
            } else {
                command.stderr(file);
            }
        }
        Ok(())
    }

    /// Waits for a logged call, handing over its lines as they come.
    pub(crate) fn follow(
        &self,
        running: Running,
        log: &Log,
        name: &str,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Ended, TofuError> {
        let read = || TofuError::io(format!("read the log {}", log.stdout));
        let control = running.control();
        let mut reader = LogReader::open(&log.stdout).map_err(read())?;
        let mut broken = None;
        let (exit, interrupted) = running
            .wait(&mut || {
                if let Err(error) = reader.read(on_line) {
                    broken.get_or_insert(error);
                }
            })
            .map_err(TofuError::io(format!("wait for {name}")))?;
        if let Some(error) = broken {
            return Err(read()(error));
        }
        reader.finish(on_line).map_err(read())?;
        let stderr = log::tail(&log.stderr).map_err(TofuError::io(format!("read the log {}", log.stderr)))?;
        Ok(Ended { exit, interrupted, silent: control.silent(), stderr })
    }

    /// Runs a command whose words matter only when it fails.
    pub(crate) fn run(&self, stem: &str, arguments: &[String]) -> Result<(), TofuError> {
        let name = self.name_of(arguments);
        let mut command = self.command(arguments);
        let log = self.log(stem);
        self.write_to(&mut command, &log)?;
        let running = self.start(command, &name)?;
        let ended = self.follow(running, &log, &name, &mut |_| ())?;
        if ended.exit == Exit::Code(0) {
            return Ok(());
        }
        Err(self.failed(name, ended, Vec::new()))
    }

    /// The error of a call that ended badly. Its text is read when its stream had nothing to say.
    pub(crate) fn failed(
        &self,
        name: String,
        ended: Ended,
        mut diagnostics: Vec<ToolDiagnostic>,
    ) -> TofuError {
        if !diagnostics.iter().any(ToolDiagnostic::is_error) {
            diagnostics.extend(ToolDiagnostic::all_from_text(&ended.stderr));
        }
        let failure = Failure { command: name, exit: ended.exit, diagnostics, stderr: ended.stderr };
        let is_apply = failure.command.ends_with(" apply");
        if is_apply && failure.diagnostics.iter().any(ToolDiagnostic::says_that_state_was_not_saved) {
            let file = self.folder.unsaved_state().map(|unsaved| unsaved.file);
            return TofuError::StateNotSaved { file, failure: Box::new(failure) };
        }
        self.judge(failure, ended.interrupted, ended.silent)
    }

    /// One that was ended for a silent server says nothing of its own, unless somebody said stop as well.
    fn judge(&self, failure: Failure, interrupted: bool, silent: Option<SilentServer>) -> TofuError {
        match silent.filter(|_| !self.children.is_interrupted()) {
            Some(server) => TofuError::NoAnswer { server: Box::new(server), failure: Box::new(failure) },
            None => classify(failure, interrupted),
        }
    }
}

fn read_all(stream: Option<impl Read>) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

pub(crate) fn never_started(name: &str) -> Failure {
    let interrupt = rustix::process::Signal::INT.as_raw();
    Failure {
        command: name.to_owned(),
        exit: Exit::Signal(interrupt),
        diagnostics: Vec::new(),
        stderr: String::new(),
    }
}
