//! The compiler: pure functions from a catalogue and a pillar to artifacts.
//!
//! [`compile`] runs a slice of named passes over one environment. No pass reads a file, the clock or the environment
//! of the process; the same inputs give the same bytes everywhere. [`intent`] is the other direction: what a person
//! asked for becomes pillar entries with every choice written down.

mod claims;
pub mod intent;
mod machines;
pub mod operation_note;
pub mod origin;
pub mod passes;
mod provenance;
pub mod reasons;
pub mod render;
pub mod scope;
pub mod secret_keys;
pub mod sink;
pub mod traced;
pub mod work;

use std::collections::BTreeMap;

use eos_model::{Diagnostics, Name};
use passes::check_ports;

pub use claims::Claims;
pub use operation_note::OperationNote;
pub use passes::Reached;
pub use passes::check_ports::{Listens, PortRange, port_settings};
pub use passes::resolve_names::OPERATIONS;
pub use work::{Input, Unit, Work};

/// Version of the emitters; recorded in eos.lock, so that a new eos changes nothing before somebody has seen it.
///
/// It is raised whenever the same pillar and the same catalogue give other bytes; `tests/emitted.rs` sees to it. What a
/// catalogue changes is pinned by the digests of its kinds.
pub const COMPILER: u32 = 9;

/// Files by path below the estate's root. Texts and not paths: comparing a path means taking it apart, and there are
/// thousands.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What compiling an environment gives.
#[derive(Debug)]
pub struct Compiled {
    /// Files by path below the estate's root, all of them under `build/`.
    pub files: Files,
    /// Units in the order they are applied.
    pub order: Vec<Name>,
    /// Unit → the units it needs.
    pub needs: BTreeMap<Name, Vec<Name>>,
    /// Unit → the ports of its host that what it starts listens on.
    pub listens: BTreeMap<Name, Vec<Listens>>,
    /// Address of a one-off operation's resource → what it does.
    pub operations: BTreeMap<String, OperationNote>,
    pub warnings: Diagnostics,
}

impl Compiled {
    /// What an operation does.
    pub fn operation(&self, id: &Name) -> Option<&OperationNote> {
        self.operations.get(&passes::emit_operations::address(id))
    }
}

/// Compiles one environment, or says everything that is wrong with it.
pub fn compile(input: &Input<'_>) -> Result<Compiled, Diagnostics> {
    let mut work = Work::new(input);
    passes::run(&mut work);
    let warnings = work.found.into_result()?;
    let needs = work
        .units
        .iter()
        .map(|(name, unit)| (name.clone(), unit.upstream.iter().cloned().collect()))
        .collect();
    let listens = work.units.iter().map(|(name, unit)| (name.clone(), check_ports::listens(unit))).collect();
    let Work { files, order, operations, .. } = work;
    Ok(Compiled { files, order, needs, listens, operations, warnings })
}

/// What is wrong with an environment, and how far it got: later passes might find more.
pub fn mistakes(input: &Input<'_>) -> (Reached, Diagnostics) {
    let mut work = Work::new(input);
    let reached = passes::run(&mut work);
    (reached, work.found)
}
