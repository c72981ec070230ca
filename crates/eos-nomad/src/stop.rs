//! A wish to end early, shared by whoever may express it and by the work that looks for it.
//!
//! Waiting is done through the token, so that a wish ends a wait at once instead of at its end.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Cheap to clone; all clones are the same token.
#[derive(Clone, Default)]
pub struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Wakes everyone who waits. There is no way back.
    pub fn stop(&self) {
        let (wanted, changed) = &*self.0;
        *wanted.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    pub fn is_stopped(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the whole time, or less when stopped. True when stopped.
    pub fn wait(&self, time: Duration) -> bool {
        let (wanted, changed) = &*self.0;
        let end = Instant::now() + time;
        let mut stopped = wanted.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if *stopped || left.is_zero() {
                return *stopped;
            }
            (stopped, _) = changed.wait_timeout(stopped, left).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stop({})", self.is_stopped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_another_thread_stops_it() {
        let stop = Stop::new();
        assert!(!stop.wait(Duration::from_millis(1)));
        let waiting = stop.clone();
        let thread = std::thread::spawn(move || waiting.wait(Duration::from_secs(3600)));
        stop.stop();
        assert!(thread.join().unwrap());
        assert!(stop.is_stopped());
    }
}
