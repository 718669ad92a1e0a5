//! Phases of a run with their times. Some run beside each other.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What was done, from when to when.
pub struct Phases {
    started: Instant,
    done: Mutex<Vec<Phase>>,
}

struct Phase {
    name: String,
    from: f64,
    to: f64,
}

impl Phases {
    /// Begins to count.
    pub fn start() -> Self {
        Self { started: Instant::now(), done: Mutex::default() }
    }

    /// Does `work` as the phase `name`.
    pub fn time<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let from = self.started.elapsed().as_secs_f64();
        let made = work();
        let to = self.started.elapsed().as_secs_f64();
        let phase = Phase { name: name.to_owned(), from, to };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(phase);
        made
    }

    /// Prints them in the order in which they began.
    pub fn print(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.sort_by(|a, b| a.from.total_cmp(&b.from));
        println!("\nPhase                          seconds     from       to");
        for Phase { name, from, to } in &*done {
            println!("{name:<30} {:>7.1} {from:>8.1} {to:>8.1}", to - from);
        }
    }
}
