//! Progress lines: the step that is running, and the time it took.

use std::cell::Cell;
use std::io::Write;
use std::time::Instant;

thread_local! {
    /// True on a thread whose work runs beside other work that prints.
    static BESIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on this thread while other threads print. From then on, steps of this thread are printed as whole lines
/// when they are done.
pub fn run_beside<T>(work: impl FnOnce() -> T) -> T {
    BESIDE.set(true);
    work()
}

/// Prints the next step on standard error, for work that shows its own progress.
pub fn print_step(what: &str) {
    eprintln!("  {what} …");
}

/// Runs `work` and prints a line on standard error with its name, `done` or `no`, and its time.
pub fn run_step<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let beside = BESIDE.get();
    if !beside {
        eprint!("  {what} … ");
        let _ = std::io::stderr().flush();
    }
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f32();
    let outcome = if result.is_ok() { "done" } else { "no" };
    if beside {
        eprintln!("  {what} … {outcome} ({seconds:.1} s)");
    } else {
        eprintln!("{outcome} ({seconds:.1} s)");
    }
    result
}
