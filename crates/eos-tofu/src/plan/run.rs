//! Planning to a file, and reading the file.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;

use super::parse::parse;
use super::{Plan, PlanOptions, Planned, Refresh};
use crate::{Event, Exit, Session, TofuError, ToolDiagnostic};

impl Session {
    /// Plans to `options.out`. The stream is handed over as it comes.
    pub fn plan(&self, options: &PlanOptions, on_event: &mut dyn FnMut(Event)) -> Result<Planned, TofuError> {
        let arguments = options.arguments();
        let name = self.name_of(&arguments);
        let mut command = self.command(&arguments);
        let log = self.log("plan");
        self.write_to(&mut command, &log)?;
        let running = self.start(command, &name)?;
        let mut planned = Planned::default();
        let (mut diagnostics, mut other) = (Vec::new(), String::new());
        let ended = self.follow(running, &log, &name, &mut |line| {
            let event = Event::parse(line);
            match &event {
                Event::PlannedChange { address, action, .. } => {
                    planned.planned.push((address.clone(), action.clone()));
                }
                Event::Drift { address, action } => planned.drift.push((address.clone(), action.clone())),
                Event::Diagnostic(diagnostic) => diagnostics.push(diagnostic.clone()),
                Event::ChangeSummary { counts, .. } => planned.counts = *counts,
                Event::Outputs { outputs } => planned.outputs = outputs.clone(),
                Event::Other { kind, message } if kind.is_empty() => other += &format!("{message}\n"),
                _ => {}
            }
            on_event(event);
        })?;
        planned.changes = match ended.exit {
            Exit::Code(0) => false,
            Exit::Code(2) => true,
            _ => {
                if diagnostics.is_empty() {
                    diagnostics = ToolDiagnostic::all_from_text(&other);
                }
                return Err(self.failed(name, ended, diagnostics));
            }
        };
        planned.warnings = diagnostics;
        // Terraform's plans hold secrets in clear.
        std::fs::set_permissions(&options.out, std::fs::Permissions::from_mode(0o600))
            .map_err(TofuError::io(format!("protect the plan {}", options.out)))?;
        Ok(planned)
    }

    /// Reads a saved plan, redacted.
    pub fn show_plan(&self, file: &Utf8Path) -> Result<Plan, TofuError> {
        let stdout = self.capture(&["show", "-json", "-no-color", "--", file.as_str()].map(String::from))?;
        parse(&stdout)
    }
}

impl PlanOptions {
    fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["plan", "-json", "-no-color", "-input=false", "-detailed-exitcode"].map(String::from).into();
        arguments.push(format!("-out={}", self.out));
        if self.destroy {
            arguments.push("-destroy".into());
        }
        match self.refresh {
            Refresh::Yes => {}
            Refresh::No => arguments.push("-refresh=false".into()),
            Refresh::Only => arguments.push("-refresh-only".into()),
        }
        if !self.lock_timeout.is_zero() {
            arguments.push(format!("-lock-timeout={}ms", self.lock_timeout.as_millis()));
        }
        arguments.extend(self.replace.iter().map(|address| format!("-replace={address}")));
        arguments.extend(self.targets.iter().map(|address| format!("-target={address}")));
        arguments
    }
}
