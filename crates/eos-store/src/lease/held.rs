//! A lease that is held, and the thread that keeps it.
//!
//! Lost is final: nothing brings a lost lease back, and its callback runs exactly once.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::error::LeaseError;
use super::owner::{Broken, Owner};

/// Why a lease is no longer ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("the lease could not be renewed in time: {reason}")]
    Expired { reason: String },
    #[error("the lease was taken over by {by}")]
    Taken { by: Box<Owner> },
    #[error("the lease was broken by {}: {}", .0.by, .0.because)]
    Broken(Box<Broken>),
    #[error("the lease is gone: {reason}")]
    Gone { reason: String },
}

/// What an attempt to renew showed.
pub(super) enum Renewal {
    Renewed,
    Lost(Lost),
    /// Nothing is known; tried again until the time to live is over.
    Failed(String),
}

/// The part of a held lease that knows where it is kept. Only the keeper's thread uses it.
pub(super) trait Keep: Send {
    /// `within` bounds how long it may take.
    fn renew(&mut self, within: Duration) -> Renewal;
    /// Lets go, unless somebody else has it by now.
    fn release(&mut self) -> Result<(), LeaseError>;
}

/// How a lease is kept alive.
pub(super) struct Rhythm {
    pub every: Duration,
    /// After how long without a renewal it counts as lost; none where the system itself holds it.
    pub expires_after: Option<Duration>,
    /// When the first renewal, the acquisition itself, was sent.
    pub started: Duration,
}

/// Time since start of the machine, sleep included: a laptop that was closed wakes up knowing it is late.
pub(super) fn now() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

type Tell = Box<dyn FnOnce(Lost) + Send>;

#[derive(Default)]
struct State {
    lost: Option<Lost>,
    last_reason: Option<String>,
    /// When it ends unless renewed.
    ends: Option<Duration>,
    ending: bool,
    tell: Vec<Tell>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, lost: Lost) {
        let mut state = self.lock();
        if state.lost.is_some() {
            return;
        }
        state.lost = Some(lost.clone());
        let tell = std::mem::take(&mut state.tell);
        drop(state);
        for tell in tell {
            tell(lost.clone());
        }
    }

    /// Lost, also when only the clock says so yet.
    fn lost(&self) -> Option<Lost> {
        let expired = {
            let state = self.lock();
            if state.lost.is_some() {
                return state.lost.clone();
            }
            state.ends.is_some_and(|ends| now() >= ends).then(|| Lost::Expired {
                reason: state.last_reason.clone().unwrap_or_else(|| "no renewal was made".to_owned()),
            })
        };
        expired.map(|lost| {
            self.lose(lost.clone());
            self.lock().lost.clone().unwrap_or(lost)
        })
    }
}

/// A held lease. Dropping it releases it; [`Lease::release`] also says whether that worked.
pub struct Lease {
    key: String,
    fence: u64,
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<Result<(), LeaseError>>>,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Lease").field("key", &self.key).field("fence", &self.fence).finish_non_exhaustive()
    }
}

impl Lease {
    pub(super) fn keep(
        key: &str,
        fence: u64,
        rhythm: Rhythm,
        mut keep: Box<dyn Keep>,
    ) -> Result<Lease, LeaseError> {
        let shared = Arc::new(Shared::default());
        shared.lock().ends = rhythm.expires_after.map(|after| rhythm.started + after);
        let theirs = Arc::clone(&shared);
        let keeper = std::thread::Builder::new()
            .name("lease-keeper".into())
            .spawn(move || {
                keep_renewing(&theirs, &rhythm, keep.as_mut());
                keep.release()
            })
            .map_err(|e| LeaseError::Io {
                operation: "start the thread that keeps a lease",
                place: key.to_owned(),
                reason: e.to_string(),
            })?;
        Ok(Lease { key: key.to_owned(), fence, shared, keeper: Some(keeper) })
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    /// Higher than that of every earlier lease of this key.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// Whether it is lost, judged at this moment: a process that was frozen is told the truth at once.
    pub fn lost(&self) -> Option<Lost> {
        self.shared.lost()
    }

    /// Runs `tell` once when the lease is lost, on the thread that finds out; at once if it already is.
    pub fn on_lost(&self, tell: impl FnOnce(Lost) + Send + 'static) {
        let mut state = self.shared.lock();
        match state.lost.clone() {
            None => state.tell.push(Box::new(tell)),
            Some(lost) => {
                drop(state);
                tell(lost);
            }
        }
    }

    /// Lets go. A lease that is lost leaves whoever holds it now alone.
    pub fn release(mut self) -> Result<(), LeaseError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), LeaseError> {
        self.shared.lock().ending = true;
        self.shared.changed.notify_all();
        match self.keeper.take().map(JoinHandle::join) {
            Some(Ok(released)) => released,
            // Told before, or the thread died: the lease then ends by its time to live.
            None | Some(Err(_)) => Ok(()),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Nobody is left to tell; a lease that cannot be released ends by its time to live.
        let _ = self.end();
    }
}

/// Until the lease is lost or let go.
fn keep_renewing(shared: &Shared, rhythm: &Rhythm, keep: &mut dyn Keep) {
    let mut pause = rhythm.every;
    loop {
        let state = shared.lock();
        let left = state.ends.map(|ends| ends.saturating_sub(now()));
        let pause_now = left.map_or(pause, |left| left.min(pause));
        let (state, _) = shared
            .changed
            .wait_timeout_while(state, pause_now, |state| !state.ending && state.lost.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        if state.ending {
            return;
        }
        let ends = state.ends;
        drop(state);
        if shared.lost().is_some() {
            return;
        }
        let sent = now();
        let within = ends.map_or(rhythm.every, |ends| ends.saturating_sub(sent).min(rhythm.every));
        match keep.renew(within) {
            Renewal::Renewed => {
                let mut state = shared.lock();
                state.ends = rhythm.expires_after.map(|after| sent + after);
                state.last_reason = None;
                pause = rhythm.every;
            }
            Renewal::Lost(lost) => return shared.lose(lost),
            Renewal::Failed(reason) => {
                shared.lock().last_reason = Some(reason);
                pause = rhythm.every / 4;
            }
        }
    }
}
