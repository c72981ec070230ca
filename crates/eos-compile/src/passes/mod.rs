//! The passes, in order. A pass is a function over [`Work`]; there is no pass manager.

pub(crate) mod check_networks;
pub(crate) mod check_ports;
pub(crate) mod check_reserved;
pub(crate) mod check_secrets;
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
pub(crate) mod volume_places;
pub(crate) mod warn_of_little_memory;
pub(crate) mod warn_of_loopback;
pub(crate) mod warn_of_shared_addresses;
pub(crate) mod write_units;

use crate::work::{Emitted, Unit, Work};
use OnErrors::{Check, GoOn, Stop};

/// A named pass, and what follows it when there were errors.
pub struct Pass {
    pub name: &'static str,
    pub run: Run,
    pub on_errors: OnErrors,
}

/// What follows a pass when there were errors, its own or before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnErrors {
    /// The next pass, which does not need what may be missing.
    GoOn,
    /// The passes up to the next stop, which look at what is sound: mistakes that have nothing to do with each other are
    /// told together, and none that only follows from another.
    Check,
    Stop,
}

/// What a pass works on. Passes over units that follow each other are run unit by unit, on several threads: what one
/// emits is written out and gone before the next unit begins.
pub enum Run {
    Estate(fn(&mut Work<'_>)),
    Unit(fn(&Work<'_>, &Unit<'_>, &mut Emitted)),
}

/// What compiling does, from top to bottom.
pub const PASSES: &[Pass] = &[
    Pass { name: "resolve names", run: Run::Estate(resolve_names::run), on_errors: GoOn },
    Pass { name: "place units on hosts", run: Run::Estate(place_units::run), on_errors: GoOn },
    Pass { name: "find who provides each need", run: Run::Estate(find_providers::run), on_errors: GoOn },
    Pass { name: "expand features", run: Run::Estate(expand_features::run), on_errors: Check },
    Pass { name: "order units", run: Run::Estate(order_units::run), on_errors: GoOn },
    Pass { name: "warn of loopback in containers", run: Run::Estate(warn_of_loopback::run), on_errors: GoOn },
    Pass {
        name: "warn of hosts at one address",
        run: Run::Estate(warn_of_shared_addresses::run),
        on_errors: GoOn,
    },
    Pass { name: "warn of little memory", run: Run::Estate(warn_of_little_memory::run), on_errors: GoOn },
    Pass { name: "check networks", run: Run::Estate(check_networks::run), on_errors: GoOn },
    Pass { name: "check ports", run: Run::Estate(check_ports::run), on_errors: GoOn },
    Pass { name: "check what only one can have", run: Run::Estate(check_unique::run), on_errors: GoOn },
    Pass { name: "check what is a provider's own", run: Run::Estate(check_reserved::run), on_errors: GoOn },
    Pass { name: "check secrets", run: Run::Estate(check_secrets::run), on_errors: GoOn },
    Pass { name: "check storage", run: Run::Estate(check_storage::run), on_errors: GoOn },
    Pass { name: "check operations", run: Run::Estate(emit_operations::check), on_errors: Stop },
    Pass { name: "emit Nomad jobs", run: Run::Unit(emit_nomad::run), on_errors: GoOn },
    Pass { name: "emit Salt states", run: Run::Unit(emit_salt::run), on_errors: Stop },
    Pass { name: "emit OpenTofu", run: Run::Unit(emit_tofu::run), on_errors: Stop },
    Pass { name: "write units with their provenance", run: Run::Unit(write_units::run), on_errors: Stop },
    Pass { name: "emit operations", run: Run::Estate(emit_operations::run), on_errors: GoOn },
    Pass { name: "emit orchestration", run: Run::Estate(emit_orchestration::run), on_errors: Stop },
];

/// How far the passes got.
#[derive(Clone, Copy)]
pub struct Reached {
    /// How many were run before the first that errors were found by; those that only look at what is sound do not count.
    pub passes: usize,
    /// How many of the findings were there by then.
    pub found: usize,
}

/// Runs the passes that tell what the units are: their hosts, needs, features and so their ports. What is wrong with them
/// is said when they are compiled.
pub fn describe(work: &mut Work<'_>) {
    for pass in PASSES {
        if let Run::Estate(run) = pass.run {
            run(work);
        }
        // What follows only checks, and emits.
        if pass.on_errors == Check {
            return;
        }
    }
}

/// Runs the passes up to the first that emits: what the units are, for those who only look.
pub fn resolve(work: &mut Work<'_>) {
    for pass in PASSES {
        match pass.run {
            Run::Estate(run) => run(work),
            Run::Unit(_) => return,
        }
    }
}

/// Runs the passes in order, until one that stops on errors.
pub fn run(work: &mut Work<'_>) -> Reached {
    let mut rest = PASSES;
    let mut reached = None;
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
        let passes = PASSES.len() - rest.len() + group;
        let on_errors = |wanted: OnErrors| rest[..group].iter().any(|pass| pass.on_errors == wanted);
        if work.found.has_errors() && (on_errors(Check) || on_errors(Stop)) {
            let here = Reached { passes, found: work.found.0.len() };
            let first = reached.get_or_insert(here);
            if on_errors(Stop) {
                return *first;
            }
        }
        rest = &rest[group..];
    }
    Reached { passes: PASSES.len(), found: work.found.0.len() }
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
    let emitted: usize = results.iter().map(|(files, _)| files.len()).sum();
    let mut all = Vec::with_capacity(work.files.len() + emitted);
    all.extend(std::mem::take(&mut work.files));
    for (files, problems) in results {
        all.extend(files);
        work.found.0.extend(problems);
    }
    // Made from a list at once: one by one, each of thousands looks for its place.
    work.files = all.into_iter().collect();
}
