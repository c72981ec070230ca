//! One call of tofu: what the work may use, whom it tells what it does, and how it learns that it should end.

use std::sync::{Mutex, PoisonError};

use eos_model::Diagnostic;
use eos_nomad::Stop;
use serde_json::Value as Json;

use crate::protocol;
use crate::settings::Settings;
use crate::side_socket::{Kind, Message, Phase, send};

pub struct Call<'a> {
    pub settings: &'a Settings,
    /// Set by tofu when a person interrupts it, and when tofu is gone.
    pub stop: &'a Stop,
    phase: Phase,
    warnings: Mutex<Vec<protocol::Diagnostic>>,
}

impl<'a> Call<'a> {
    pub fn new(settings: &'a Settings, stop: &'a Stop, phase: Phase) -> Call<'a> {
        Call { settings, stop, phase, warnings: Mutex::default() }
    }

    /// Something a person should know, that stops nothing.
    pub fn warn(&self, diagnostic: &Diagnostic) {
        self.push(protocol::Diagnostic {
            severity: protocol::diagnostic::Severity::Warning.into(),
            ..crate::diagnostics::to_wire(diagnostic)
        });
    }

    /// What the target itself says would happen: to eos over the side socket, else as a warning. `name` is the
    /// resource's own `name` attribute. Whatever could be secret has been taken out by the caller.
    pub fn preview(&self, name: &str, title: &str, text: &str, details: Json) {
        let message = Message { name, phase: self.phase, kind: Kind::Preview, text, details };
        if !self.tell(&message) {
            self.push(protocol::Diagnostic {
                severity: protocol::diagnostic::Severity::Warning.into(),
                summary: title.to_owned(),
                detail: text.to_owned(),
                attribute: None,
            });
        }
    }

    /// As [`Call::preview`], and nothing where only a warning could say it.
    pub fn preview_quietly(&self, name: &str, text: &str, details: Json) {
        self.tell(&Message { name, phase: self.phase, kind: Kind::Preview, text, details });
    }

    /// How far the work is; nobody hears it without eos, since tofu prints its own.
    pub fn progress(&self, name: &str, text: &str, details: Json) {
        self.tell(&Message { name, phase: self.phase, kind: Kind::Progress, text, details });
    }

    /// A line of the target's own output.
    pub fn log(&self, name: &str, text: &str) {
        self.tell(&Message { name, phase: self.phase, kind: Kind::Log, text, details: Json::Null });
    }

    /// The warnings of the call, for the answer.
    pub fn into_warnings(self) -> Vec<protocol::Diagnostic> {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, message: &Message) -> bool {
        self.settings.preview_socket.as_deref().is_some_and(|path| send(path, message).is_ok())
    }

    fn push(&self, diagnostic: protocol::Diagnostic) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    }
}
