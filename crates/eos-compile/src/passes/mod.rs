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

use crate::work::{Emitted, Unit, Work};

/// A named pass. After a barrier nothing runs when there were errors.
pub struct Pass {
    pub name: &'static str,
    pub run: Run,
    pub barrier: bool,
}

/// What a pass works on. Passes over units that follow each other are run unit by unit, on several threads: what one
/// emits is written out and gone before the next unit begins.
pub enum Run {
    Estate(fn(&mut Work<'_>)),
    Unit(fn(&Work<'_>, &Unit<'_>, &mut Emitted)),
}

/// What compiling does, from top to bottom.
pub const PASSES: &[Pass] = &[
    Pass { name: "resolve names", run: Run::Estate(resolve_names::run), barrier: false },
    Pass { name: "place units on hosts", run: Run::Estate(place_units::run), barrier: false },
    Pass { name: "find who provides each need", run: Run::Estate(find_providers::run), barrier: false },
    Pass { name: "expand features", run: Run::Estate(expand_features::run), barrier: true },
    Pass { name: "order units", run: Run::Estate(order_units::run), barrier: false },
    Pass {
        name: "warn of loopback in containers",
        run: Run::Estate(place_units::warn_of_loopback),
        barrier: false,
    },
    Pass {
        name: "warn of hosts at one address",
        run: Run::Estate(place_units::warn_of_shared_addresses),
        barrier: false,
    },
    Pass { name: "check ports", run: Run::Estate(check_ports::run), barrier: false },
    Pass { name: "check what only one can have", run: Run::Estate(check_unique::run), barrier: false },
    Pass { name: "check storage", run: Run::Estate(check_storage::run), barrier: true },
    Pass { name: "emit Nomad jobs", run: Run::Unit(emit_nomad::run), barrier: false },
    Pass { name: "emit Salt states", run: Run::Unit(emit_salt::run), barrier: true },
    Pass { name: "emit OpenTofu", run: Run::Unit(emit_tofu::run), barrier: true },
    Pass { name: "write units with their provenance", run: Run::Unit(write_units::run), barrier: true },
    Pass { name: "emit operations", run: Run::Estate(emit_operations::run), barrier: false },
    Pass { name: "emit orchestration", run: Run::Estate(emit_orchestration::run), barrier: true },
];

/// Runs the passes in order; a barrier stops when there were errors. Says how many were run.
pub fn run(work: &mut Work<'_>) -> usize {
    let mut rest = PASSES;
    while let Some(first) = rest.first() {
        let group = match first.run {
            Run::Estate(run) => {
                run(work);
                1
            }
            Run::Unit(_) => {
                let group = rest.iter().take_while(|pass| matches!(pass.run, Run::Unit(_))).count();
                run_units(work, &rest[..group]);
                group
            }
        };
        if rest[..group].iter().any(|pass| pass.barrier) && work.found.has_errors() {
            return PASSES.len() - rest.len() + group;
        }
        rest = &rest[group..];
    }
    PASSES.len()
}

fn run_units(work: &mut Work<'_>, passes: &[Pass]) {
    let results = work.each_unit(|work, unit| {
        let mut emitted = Emitted::default();
        for pass in passes {
            if let (Run::Unit(run), true) = (&pass.run, emitted.problems.is_empty()) {
                run(work, unit, &mut emitted);
            }
        }
        (emitted.files, emitted.problems)
    });
    let mut all: Vec<(String, Vec<u8>)> = std::mem::take(&mut work.files).into_iter().collect();
    for (files, problems) in results {
        all.extend(files);
        work.found.0.extend(problems);
    }
    // Made from a list at once: one by one, each of thousands looks for its place.
    work.files = all.into_iter().collect();
}
