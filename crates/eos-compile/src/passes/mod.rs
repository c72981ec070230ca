//! The passes, in order. A pass is a function over [`Work`]; there is no pass manager.

pub(crate) mod check_ports;
pub(crate) mod check_storage;
pub(crate) mod check_unique;
pub(crate) mod emit_nomad;
pub(crate) mod emit_operations;
pub(crate) mod emit_orchestration;
pub(crate) mod emit_salt;
pub(crate) mod emit_tofu;
pub(crate) mod expand_features;
pub(crate) mod find_providers;
pub(crate) mod nomad_task;
pub(crate) mod order_units;
pub(crate) mod place_units;
pub(crate) mod resolve_names;
pub(crate) mod write_units;

use crate::work::Work;

/// A named pass. After a barrier nothing runs when there were errors.
pub struct Pass {
    pub name: &'static str,
    pub run: fn(&mut Work<'_>),
    pub barrier: bool,
}

/// What compiling does, from top to bottom.
pub const PASSES: &[Pass] = &[
    Pass { name: "resolve names", run: resolve_names::run, barrier: false },
    Pass { name: "place units on hosts", run: place_units::run, barrier: false },
    Pass { name: "find who provides each need", run: find_providers::run, barrier: false },
    Pass { name: "expand features", run: expand_features::run, barrier: true },
    Pass { name: "order units", run: order_units::run, barrier: false },
    Pass { name: "warn of loopback in containers", run: place_units::warn_of_loopback, barrier: false },
    Pass { name: "check ports", run: check_ports::run, barrier: false },
    Pass { name: "check what only one can have", run: check_unique::run, barrier: false },
    Pass { name: "check storage", run: check_storage::run, barrier: true },
    Pass { name: "emit Nomad jobs", run: emit_nomad::run, barrier: false },
    Pass { name: "emit Salt states", run: emit_salt::run, barrier: true },
    Pass { name: "emit OpenTofu", run: emit_tofu::run, barrier: true },
    Pass { name: "write units with their provenance", run: write_units::run, barrier: true },
    Pass { name: "emit operations", run: emit_operations::run, barrier: false },
    Pass { name: "emit orchestration", run: emit_orchestration::run, barrier: true },
];
