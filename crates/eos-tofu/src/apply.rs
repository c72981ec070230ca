//! Applying a saved plan. Its log is a file named after the child, so that a later run can read what became of an apply
//! that outlived the eos which started it.

use camino::Utf8Path;
use serde::de::IgnoredAny;

use crate::call::Log;
use crate::log::{LogReader, create};
use crate::running::Running;
use crate::{Action, ChangeCounts, ChildIdentity, Event, Exit, Outputs, Session, TofuError, ToolDiagnostic};

/// A plan that somebody else makes at the same moment holds the state's lock for a little while.
const LOCK_TIMEOUT: &str = "-lock-timeout=20s";

/// Beside the log of an apply whose state was handed over later; it goes with that log.
pub(crate) const PUSHED: &str = "apply-pushed";

/// An apply that went to its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Applied {
    pub counts: ChangeCounts,
    pub outputs: Outputs,
    pub warnings: Vec<ToolDiagnostic>,
}

/// An apply under way. Dropping it leaves tofu running.
pub struct Applying {
    session: Session,
    running: Running,
    log: Log,
    name: String,
}

/// What the log of an earlier apply of this unit tells, whoever started it: read after a crash.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastApply {
    pub events: Vec<Event>,
    /// Set when the log has its closing summary: the apply went to its end.
    pub applied: Option<Applied>,
    pub errors: Vec<ToolDiagnostic>,
    /// Not all of it is there: the disk was full, for one.
    pub cut_off: bool,
    /// Its state was not taken at first, and handed over since.
    pub state_pushed: bool,
    /// When it began with its first resource, as it wrote it: from before that on it had the state's lock.
    pub at_work_since: Option<String>,
}

impl Session {
    /// Starts applying a saved plan. `announce` gets the child's identity before tofu runs; when it fails, or this
    /// process dies in it, tofu is never started. So a journal always knows of a tofu that may be applying.
    pub fn start_apply(
        &self,
        file: &Utf8Path,
        announce: &mut dyn FnMut(ChildIdentity) -> std::io::Result<()>,
    ) -> Result<Applying, TofuError> {
        let arguments = ["apply", "-json", "-no-color", "-input=false", LOCK_TIMEOUT, "--", file.as_str()]
            .map(String::from);
        let name = self.name_of(&arguments);
        let mut command = Running::gated(&self.command(&arguments));
        let unnamed = self.log("apply");
        for (path, output) in [(&unnamed.stdout, true), (&unnamed.stderr, false)] {
            let file = create(path).map_err(TofuError::io(format!("make the log {path}")))?;
            if output {
                command.stdout(file);
            } else {
                command.stderr(file);
            }
        }
        let mut running = self.start(command, &name)?;
        let log = self.log(&stem(running.identity()));
        let announced = (|| {
            std::fs::rename(&unnamed.stdout, &log.stdout)?;
            std::fs::rename(&unnamed.stderr, &log.stderr)?;
            announce(running.identity())?;
            self.forget_applies_before(&stem(running.identity()))?;
            running.open_gate()
        })();
        if let Err(source) = announced {
            drop(running.child().stdin.take());
            let _ = running.wait(&mut || ());
            return Err(TofuError::Io { operation: format!("note down {name} before it starts"), source });
        }
        Ok(Applying { session: self.clone(), running, log, name })
    }

    /// Applies a saved plan and waits for it.
    pub fn apply(&self, file: &Utf8Path, on_event: &mut dyn FnMut(Event)) -> Result<Applied, TofuError> {
        self.start_apply(file, &mut |_| Ok(()))?.wait(on_event)
    }

    /// What the log of an apply says that was announced with this identity; none when it is not this unit's latest.
    pub fn past_apply(&self, identity: ChildIdentity) -> Result<Option<PastApply>, TofuError> {
        let log = self.log(&stem(identity));
        let failed = || TofuError::io(format!("read the log {}", log.stdout));
        let reader = match LogReader::open(&log.stdout) {
            Ok(reader) => reader,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed()(error)),
        };
        let mut story = Story::default();
        let mut events = Vec::new();
        let mut at_work_since = None;
        let mut cut_off = false;
        let mut note = |line: &str| {
            let event = story.note(line);
            cut_off |= line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_err();
            if at_work_since.is_none() && matches!(event, Event::ApplyStart { .. }) {
                at_work_since = Event::time(line);
            }
            events.push(event);
        };
        reader.finish(&mut note).map_err(failed())?;
        let errors = story.diagnostics.iter().filter(|said| said.is_error()).cloned().collect();
        let applied = if story.ended { Some(story.applied()) } else { None };
        let state_pushed = self.folder.own_data().join(PUSHED).exists();
        Ok(Some(PastApply { events, applied, errors, cut_off, state_pushed, at_work_since }))
    }

    /// Only the latest apply of a unit can be asked about; those before it once that is announced.
    fn forget_applies_before(&self, latest: &str) -> std::io::Result<()> {
        for entry in self.folder.own_data().read_dir_utf8()? {
            let entry = entry?;
            if entry.file_name().starts_with("apply-") && !entry.file_name().starts_with(latest) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl PastApply {
    /// It came to its end, well or not: it did not leave off in the middle of something.
    pub fn came_to_its_end(&self) -> bool {
        self.applied.is_some() || !self.errors.is_empty()
    }

    /// Its state tells of all that it made: it wrote that before it said how it ended.
    pub fn saved_its_state(&self) -> bool {
        let was_saved = !self.errors.iter().any(ToolDiagnostic::says_that_state_was_not_saved);
        self.state_pushed || (self.came_to_its_end() && was_saved && !self.cut_off)
    }

    /// What was finished, with the provider's id where it has one. Tofu 1.12 writes a state at the end or every 20 seconds
    /// at most, a local one too: after a kill this may be all that is known of an object.
    pub fn completed(&self) -> impl Iterator<Item = (&str, &Action, Option<&str>)> {
        self.events.iter().filter_map(|event| match event {
            Event::ApplyComplete { address, action, id, .. } => {
                Some((address.as_str(), action, id.as_deref()))
            }
            _ => None,
        })
    }
}

impl Applying {
    pub fn identity(&self) -> ChildIdentity {
        self.running.identity()
    }

    /// One SIGINT; calling it again does nothing.
    pub fn interrupt(&self) {
        self.running.interrupt();
    }

    /// Waits for the end, handing over each event as it comes.
    pub fn wait(self, on_event: &mut dyn FnMut(Event)) -> Result<Applied, TofuError> {
        let mut story = Story::default();
        let ended = self.session.follow(self.running, &self.log, &self.name, &mut |line| {
            on_event(story.note(line));
        })?;
        if ended.exit == Exit::Code(0) {
            return Ok(story.applied());
        }
        if story.diagnostics.is_empty() {
            story.diagnostics = ToolDiagnostic::all_from_text(&story.other);
        }
        Err(self.session.failed(self.name, ended, story.diagnostics))
    }
}

fn stem(identity: ChildIdentity) -> String {
    format!("apply-{}-{}", identity.pid, identity.start_time)
}

/// What is gathered from the lines of an apply.
#[derive(Default)]
struct Story {
    counts: ChangeCounts,
    outputs: Outputs,
    diagnostics: Vec<ToolDiagnostic>,
    other: String,
    ended: bool,
}

impl Story {
    fn note(&mut self, line: &str) -> Event {
        let event = Event::parse(line);
        match &event {
            Event::Diagnostic(diagnostic) => self.diagnostics.push(diagnostic.clone()),
            // The plan's own summary comes first; a destroy has a word of its own.
            Event::ChangeSummary { operation, counts } if operation != "plan" => {
                self.counts = *counts;
                self.ended = true;
            }
            Event::Outputs { outputs } if self.ended => {
                self.outputs =
                    outputs.iter().map(|(name, output)| (name.clone(), output.clone().into())).collect();
            }
            Event::Other { kind, message } if kind.is_empty() => self.other += &format!("{message}\n"),
            _ => {}
        }
        event
    }

    fn applied(&self) -> Applied {
        let warnings = self.diagnostics.iter().filter(|said| !said.is_error()).cloned().collect();
        Applied { counts: self.counts, outputs: self.outputs.clone(), warnings }
    }
}
