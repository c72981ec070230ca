//! For tests: the real tools as `make test` gets them, and servers of their own on loopback. The products' crates never read
//! the environment; this one does, in their tests' place.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod nats;
mod nomad;
mod ports;
mod scenarios;

use std::io::Write;

use camino::Utf8PathBuf;

pub use nats::{NatsServer, NatsSettings};
pub use nomad::{Nomad, UNWANTED, runs_as};
pub use ports::free_ports;
pub use scenarios::{Scenario, run_scenarios};

/// Where a tool is, on PATH or in the cache. None, said where people see it, when it is not there.
pub fn tool(name: &str, test: &str) -> Option<Utf8PathBuf> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let cache = match variable("XDG_CACHE_HOME") {
        unset if unset.is_empty() => format!("{}/.cache", variable("HOME")),
        cache => cache,
    };
    let settings = eos_deps::Settings {
        cache: format!("{cache}/eos").into(),
        search_path: variable("PATH").split(':').map(Utf8PathBuf::from).collect(),
        ..eos_deps::Settings::default()
    };
    let found = eos_deps::Tools::new(settings).ok().and_then(|tools| tools.find(name).ok().flatten());
    if found.is_none() {
        skipped(test, &format!("{name} is not there; eos tools install {name}"));
    }
    found.map(|found| found.path)
}

/// Says that a test was skipped, and why. `make test` counts these lines.
pub fn skipped(test: &str, why: &str) {
    // Not eprintln: the test harness would swallow it for a test that passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}
