//! One question asked of many things, on every processor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// From this many things on a second thread pays.
const MANY: usize = 64;

/// How many of them a thread takes at a time: few, so that none waits for another that has the slower ones.
const SHARE: usize = 16;

/// The answers, in the order of the items.
pub fn ask_each<T: Sync, A: Send>(items: &[T], question: impl Fn(&T) -> A + Sync) -> Vec<A> {
    if items.len() < MANY {
        return items.iter().map(question).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answered = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = items.chunks(SHARE).nth(at) else { return answered };
            answered.push((at, share.iter().map(&question).collect::<Vec<A>>()));
        }
    };
    let mut answered = thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len() / MANY);
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut answered = work();
        for other in others {
            match other.join() {
                Ok(more) => answered.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answered
    });
    answered.sort_unstable_by_key(|(at, _)| *at);
    let mut all = Vec::with_capacity(items.len());
    answered.into_iter().for_each(|(_, answers)| all.extend(answers));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_in_the_place_of_its_item() {
        for count in [0, 1, MANY, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(
                ask_each(&items, |item| item * 2),
                items.iter().map(|item| item * 2).collect::<Vec<_>>()
            );
        }
    }
}
