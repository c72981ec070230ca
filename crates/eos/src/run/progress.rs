//! What a person sees of a run: a line a unit, kept up to date on a terminal, plain lines elsewhere. All on stderr.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use eos_engine::{Goal, Observer, Progress};
use eos_model::{Name, codes};
use eos_tofu::{Action, Event};
use rustix::process::Signal;

use super::screen;
use crate::context::Context;
use crate::views::plan_lines::resource;
use crate::views::report::of_unit;
use crate::views::style::Style;
use crate::views::table::shorten;

/// After how long a line says what a unit is at, where there is no terminal.
const SILENCE: Duration = Duration::from_secs(15);

pub struct Bars {
    terminal: bool,
    quiet: bool,
    style: Style,
    width: usize,
    stop_after: Option<u32>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    units: Vec<Name>,
    rows: BTreeMap<Name, Row>,
    planned: usize,
    /// The lease that is waited for.
    waiting: Option<String>,
}

struct Row {
    since: Instant,
    /// When a line was last written of it, where there is no terminal.
    told: Instant,
    what: String,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Good,
    Stopped,
    Bad,
}

impl Bars {
    pub fn new(context: &Context) -> Bars {
        Bars {
            terminal: context.stderr_is_terminal,
            quiet: context.json && !context.stderr_is_terminal,
            style: Style(context.color_stderr),
            width: context.width,
            stop_after: context.stop_after,
            state: Mutex::default(),
        }
    }

    /// Says how far one resource is: a message of a provider.
    pub fn detail(&self, unit: &str, text: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = state.rows.iter_mut().find(|(name, row)| name.as_str() == unit && row.end.is_none());
        if let Some((_, row)) = known {
            text.clone_into(&mut row.what);
            self.draw(&state);
        }
    }

    /// Runs something, and lets a person see that it goes on: seconds that count on a terminal, a line now and then
    /// elsewhere.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.quiet {
            return work();
        }
        let (over, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while ended.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
                    if self.terminal {
                        self.draw(&self.state.lock().unwrap_or_else(PoisonError::into_inner));
                        continue;
                    }
                    for line in self.overdue(SILENCE) {
                        let _ = writeln!(std::io::stderr(), "{line}");
                    }
                }
            });
            let done = work();
            drop(over);
            done
        })
    }

    /// What units are at that nothing was said of for this long.
    fn overdue(&self, silence: Duration) -> Vec<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for (name, row) in state.rows.iter_mut() {
            if row.end.is_none() && row.told.elapsed() >= silence {
                row.told = Instant::now();
                lines.push(format!("{name}: {} ({} s)", row.what, row.since.elapsed().as_secs()));
            }
        }
        lines
    }

    fn set(&self, unit: &Name, what: &str, end: Option<End>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let row = state.rows.entry(unit.clone()).or_insert_with(|| Row {
            since: Instant::now(),
            told: Instant::now(),
            what: String::new(),
            end: None,
        });
        if row.what == what && row.end == end {
            return;
        }
        what.clone_into(&mut row.what);
        (row.end, row.told) = (end, Instant::now());
        if self.terminal {
            self.draw(&state);
        } else if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{unit}: {what}");
        }
    }

    fn say(&self, text: &str) {
        if self.quiet {
            return;
        }
        screen::say(text);
        self.draw(&self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn draw(&self, state: &State) {
        if self.terminal {
            screen::draw(&self.lines(state));
        }
    }

    /// The bar and the units at work; those that are over leave the screen but for the bar, which is as long as what is
    /// done.
    fn lines(&self, state: &State) -> Vec<String> {
        let total = state.units.len().max(state.rows.len()).max(1);
        let ended = |end: End| state.rows.values().filter(|row| row.end == Some(end)).count();
        let (good, stopped, bad) = (ended(End::Good), ended(End::Stopped), ended(End::Bad));
        let mut lines = Vec::new();
        if !state.units.is_empty() {
            const WIDE: usize = 30;
            let filled = good * WIDE / total;
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDE - filled));
            let bar = match (bad, stopped) {
                (0, 0) => self.style.green(&bar),
                (0, _) => self.style.yellow(&bar),
                _ => self.style.red(&bar),
            };
            let counted = |count: usize, what: &str| match count {
                0 => String::new(),
                count => format!(", {count} {what}"),
            };
            let others = counted(bad, "failed") + &counted(stopped, "stopped");
            lines.push(format!("{bar} {good} of {total}{others}"));
        }
        for (name, row) in state.rows.iter().filter(|(_, row)| row.end.is_none()).take(8) {
            let seconds = row.since.elapsed().as_secs();
            let line = format!("  {name}: {} ({seconds} s)", row.what);
            lines.push(line.chars().take(self.width).collect());
        }
        lines
    }

    /// Takes the bar away, before results are printed.
    pub fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.terminal {
            screen::clear();
        }
        state.rows.clear();
        state.units.clear();
    }
}

impl Observer for Bars {
    fn on(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Planning { unit } => {
                if self.terminal {
                    self.set(unit, "planning", None);
                }
            }
            Progress::Planned { unit, .. } => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.rows.remove(*unit);
                state.planned += 1;
                self.draw(&state);
            }
            Progress::Began { run, units } => {
                {
                    let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.units = units.to_vec();
                }
                self.say(&self.style.dim(&format!("Run {run}")));
            }
            Progress::WaitingForLease { holder } => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                let known = state.waiting.replace(holder.key.clone());
                drop(state);
                if known.as_ref() != Some(&holder.key) {
                    let (key, owner, age) = (&holder.key, &holder.owner, holder.age.as_secs());
                    self.say(&format!("Waiting for {key}: held by {owner} for {age} s now"));
                }
            }
            Progress::WaitingForPlan { unit, process } => {
                let who = if process.is_empty() { String::new() } else { format!(" (process {process})") };
                self.set(unit, &format!("waiting for another eos that plans it here{who}"), None);
            }
            Progress::WaitingForChild { unit, pid } => {
                self.set(unit, &format!("waiting for the tofu that still applies it (process {pid})"), None);
            }
            Progress::Applying { unit, goal: Goal::Present } => self.set(unit, "applying", None),
            Progress::Applying { unit, goal: Goal::Gone } => self.set(unit, "destroying", None),
            Progress::Verifying { unit } => self.set(unit, "looking whether it works", None),
            Progress::Done { unit } => self.set(unit, "done", Some(End::Good)),
            Progress::Failed { unit, problem } if problem.code == codes::STOPPED => {
                self.set(unit, "stopped", Some(End::Stopped));
            }
            Progress::Failed { unit, problem } => {
                let what = format!("failed: {}", of_unit(unit, &problem.message));
                let room = self.width.saturating_sub(unit.as_str().len() + 2);
                self.set(unit, &shorten(&what, room), Some(End::Bad));
            }
            Progress::Undoing { unit } => self.set(unit, "taking back", None),
            Progress::Undone { unit } => self.set(unit, "taken back", Some(End::Good)),
            Progress::Stuck { unit, .. } => self.set(unit, "stuck: a person is needed", Some(End::Bad)),
            Progress::Tofu { unit, event: Event::ApplyStart { address, action } } => {
                self.detail(unit.as_str(), &format!("{} {}", doing(action), resource(address)));
            }
            Progress::Journaled { number, .. } => {
                if self.stop_after == Some(*number) {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
                    // The signal may reach another thread first: this one must not go on meanwhile.
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
            Progress::Tofu { .. } => {}
        }
    }
}

fn doing(action: &Action) -> &'static str {
    match action {
        Action::Create => "creating",
        Action::Delete => "destroying",
        Action::Update => "changing",
        _ => "applying",
    }
}

#[cfg(test)]
mod tests {
    use eos_model::Diagnostic;

    use super::*;

    fn bars() -> Bars {
        Bars {
            terminal: false,
            quiet: false,
            style: Style(false),
            width: 80,
            stop_after: None,
            state: Mutex::default(),
        }
    }

    /// What was stopped or failed is over, and not done.
    #[test]
    fn the_bar_is_as_long_as_what_is_done() {
        let bars = bars();
        let names: [Name; 4] = ["done", "failed", "stopped", "waits"].map(|name| name.parse().unwrap());
        let run = "20261116-070301-3f2a".parse().unwrap();
        bars.on(&Progress::Began { run: &run, units: &names });
        let bar = || bars.lines(&bars.state.lock().unwrap())[0].clone();
        assert_eq!(bar(), format!("{} 0 of 4", "░".repeat(30)));
        bars.on(&Progress::Done { unit: &names[0] });
        let one = format!("{}{}", "█".repeat(7), "░".repeat(23));
        assert_eq!(bar(), format!("{one} 1 of 4"));
        let failed = Diagnostic::error(codes::APPLY_FAILED, "no");
        bars.on(&Progress::Failed { unit: &names[1], problem: &failed });
        let stopped = Diagnostic::error(codes::STOPPED, "stopped at it");
        bars.on(&Progress::Failed { unit: &names[2], problem: &stopped });
        assert_eq!(bar(), format!("{one} 1 of 4, 1 failed, 1 stopped"));
    }

    #[test]
    fn without_a_terminal_a_line_says_what_a_unit_is_at() {
        let bars = bars();
        let (slow, over): (Name, Name) = ("slow".parse().unwrap(), "over".parse().unwrap());
        bars.on(&Progress::Applying { unit: &slow, goal: Goal::Present });
        bars.on(&Progress::Done { unit: &over });
        assert!(bars.overdue(Duration::MAX).is_empty());
        let start = Event::ApplyStart { address: "eos_nomad_job.job".to_owned(), action: Action::Create };
        bars.on(&Progress::Tofu { unit: &over, event: &start });
        bars.on(&Progress::Tofu { unit: &slow, event: &start });
        assert!(bars.overdue(Duration::ZERO)[0].starts_with("slow: creating job ("));
        bars.detail("slow", "1 of 1 placed, 0 healthy; server: Task started by client");
        let told = bars.overdue(Duration::ZERO);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("slow: 1 of 1 placed, 0 healthy; server: Task started by client ("));
    }
}
