//! Phases of a run with their times. Some run in parallel.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Finished phases, with the start of the run.
pub struct Phases {
    started: Instant,
    /// Phases run on several threads, which add them when they end.
    done: Mutex<Vec<Phase>>,
}

/// A finished phase: its start and its end in seconds since the start of the run.
struct Phase {
    name: String,
    from: f64,
    to: f64,
}

impl Phases {
    /// Starts the clock.
    pub fn start() -> Self {
        Self { started: Instant::now(), done: Mutex::default() }
    }

    /// Runs `work` and notes its time as the phase `name`. Returns its result.
    pub fn time_phase<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let from = self.started.elapsed().as_secs_f64();
        let result = work();
        let to = self.started.elapsed().as_secs_f64();
        let phase = Phase { name: name.to_owned(), from, to };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(phase);
        result
    }

    /// Prints the phases in the order of their starts.
    pub fn print_times(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.sort_by(|a, b| a.from.total_cmp(&b.from));
        println!("\nPhase                          seconds     from       to");
        for Phase { name, from, to } in &*done {
            println!("{name:<30} {:>7.1} {from:>8.1} {to:>8.1}", to - from);
        }
    }
}
