//! Progress lines: what is being done, and how long it took.

use std::cell::Cell;
use std::io::Write;
use std::time::Instant;

thread_local! {
    /// True in work beside other work that prints.
    static BESIDE: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, on a thread of its own, while other work prints: its steps are told in whole lines, when they are done.
pub fn beside<T>(work: impl FnOnce() -> T) -> T {
    BESIDE.set(true);
    work()
}

/// Says on standard error what comes next, for work that shows its own progress.
pub fn say(what: &str) {
    eprintln!("  {what} …");
}

/// Does `work` under a line on standard error that names it, and adds the time it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
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
