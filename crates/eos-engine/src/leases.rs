//! The leases of a run: one a unit, taken in the order of names so that two runs never wait for each other in a circle.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eos_model::{Diagnostic, EnvName, Name, codes};
use eos_store::lease::{Lease, LeaseError, LeaseStatus, Owner, Terms};

use crate::engine::Engine;
use crate::observer::Progress;
use crate::problems;
use crate::run_id::RunId;

/// Held until dropped. A lease that is lost interrupts every tofu of the run, once.
pub(crate) struct HeldLeases {
    leases: Vec<Lease>,
    lost: Arc<Mutex<Option<String>>>,
}

#[derive(Debug, Clone, Copy)]
pub struct LeaseTerms {
    /// How long to wait for somebody else's run.
    pub wait: Duration,
    /// After how long without a sign of life others may take over.
    pub ttl: Duration,
}

impl Default for LeaseTerms {
    fn default() -> LeaseTerms {
        LeaseTerms { wait: Duration::ZERO, ttl: Duration::from_secs(30) }
    }
}

impl HeldLeases {
    pub fn take<'n>(
        engine: &Engine<'_>,
        run: &RunId,
        env: &EnvName,
        units: impl Iterator<Item = &'n Name>,
    ) -> Result<HeldLeases, Diagnostic> {
        let owner = Owner {
            user: engine.actor.user.clone(),
            host: engine.actor.machine.clone(),
            command: engine.actor.command.clone(),
            pid: std::process::id(),
            run: run.to_string(),
        };
        let mut names: Vec<&Name> = units.collect();
        names.sort();
        let mut held = HeldLeases { leases: Vec::new(), lost: Arc::default() };
        for name in names {
            let key = format!("{env}/{name}");
            let mut on_wait = |status: &LeaseStatus| {
                engine.observer.on(&Progress::WaitingForLease { holder: status });
                if engine.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let mut acquire = |wait| {
                let terms = Terms { ttl: engine.terms.ttl, wait, on_wait: &mut on_wait };
                engine.leases.acquire(&key, &owner, terms)
            };
            let lease = match acquire(engine.terms.wait) {
                // One without a sign of life is watched for as long as its lease lasts, by this machine's own clock;
                // listing them watches the others of this run at the same time.
                Err(LeaseError::Held { status, .. }) if status.stale => {
                    engine.leases.list().map_err(|e| problems::lease(&e))?;
                    acquire(status.ttl * 2)
                }
                other => other,
            };
            let lease = lease.map_err(|e| problems::lease(&e))?;
            let (lost, children) = (Arc::clone(&held.lost), engine.tools.children.clone());
            lease.on_lost(move |why| {
                let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
                lost.get_or_insert_with(|| format!("the lease of {key} was lost: {why}"));
                drop(lost);
                children.interrupt();
            });
            held.leases.push(lease);
        }
        Ok(held)
    }

    /// Why the run must stop, judged now: a process that was frozen learns it before its next step.
    pub fn lost(&self) -> Option<Diagnostic> {
        for lease in &self.leases {
            // Asking runs the callback of one that has just run out.
            lease.lost();
        }
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(
            Diagnostic::error(codes::LEASE_LOST, lost)
                .why("another run may be changing the unit now; tofu was interrupted once and nothing more was begun")
                .fix("eos locks shows who is at work; then eos resume or eos undo"),
        )
    }
}
