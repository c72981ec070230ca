//! A harness for test programs that are two things: the runner of scenarios, and what a tool starts of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

/// A test of such a program; what all of them share is passed in.
pub type Scenario<Shared> = (&'static str, fn(&Shared));

/// Runs the scenarios that the command line selects, some side by side, and says how each ended. `shared` is made when there
/// is something to run; None, said aloud, skips all of them.
pub fn run_scenarios<Shared: Sync>(
    scenarios: &[Scenario<Shared>],
    side_by_side: usize,
    shared: impl FnOnce() -> Option<Shared>,
) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        scenarios.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(*filter));
    let wanted: Vec<_> = scenarios.iter().filter(|(name, _)| wanted(name)).collect();
    if wanted.is_empty() {
        return ExitCode::SUCCESS;
    }
    let Some(shared) = shared() else { return ExitCode::SUCCESS };
    let all = wanted.len();
    let (queue, failed) = (Mutex::new(wanted.into_iter()), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..side_by_side {
            scope.spawn(|| {
                while let Some((name, scenario)) = { queue.lock().unwrap().next() } {
                    let begin = Instant::now();
                    let ok = catch_unwind(AssertUnwindSafe(|| scenario(&shared))).is_ok();
                    let word = if ok { "ok" } else { "FAILED" };
                    println!("test {name} ... {word} ({:.1} s)", begin.elapsed().as_secs_f32());
                    *failed.lock().unwrap() += usize::from(!ok);
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, all - failed);
    println!("\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
