//! Progress lines: what is being done, and how long it took.

use std::io::Write;
use std::time::Instant;

/// Says on standard error what comes next, for work that shows its own progress.
pub fn say(what: &str) {
    eprintln!("  {what} …");
}

/// Does `work` under a line on standard error that names it, and adds the time it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    eprint!("  {what} … ");
    let _ = std::io::stderr().flush();
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f32();
    match &result {
        Ok(_) => eprintln!("done ({seconds:.1} s)"),
        Err(_) => eprintln!("no ({seconds:.1} s)"),
    }
    result
}
