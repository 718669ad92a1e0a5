//! This process: how many files it may open, that its memory is not written to disk or read by other processes of the
//! same user, who runs it, and the priority of its threads.

use std::cell::Cell;

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Priority of threads that read many rows or settle, as a `nice` value: about a tenth of the processor share of
/// others.
pub const BACKGROUND: i32 = 10;
/// Priority of threads that serve requests which need much computation, as a `nice` value: about half of the
/// processor share of others. Somebody waits for them, also beside other programs that keep the machine busy.
pub const HEAVY_REQUESTS: i32 = 3;

thread_local! {
    /// True on a thread of low priority.
    static IS_LOW_PRIORITY: Cell<bool> = const { Cell::new(false) };
}

/// Raises the soft limit of open files to the hard limit. Returns the soft limit that then applies: the old one if the
/// system refuses, and `u64::MAX` if there is none.
pub fn raise_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    limit.unwrap_or(u64::MAX)
}

/// Forbids core dumps, and reading or tracing this process by other processes of the same user: its memory holds keys,
/// and card numbers of payments in flight.
///
/// # Errors
/// If the system refuses. Core dumps may be forbidden already.
pub fn forbid_dumps() -> std::io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Returns the name of the user who runs this process: that of the environment, or the number of the user.
pub fn find_user() -> String {
    let name = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok().filter(|name| is_user(name)));
    name.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}

/// Returns the user who runs this process, with the number that the environment cannot change: `jo (uid 1000)`.
pub fn describe_user() -> String {
    describe_user_of(&find_user(), rustix::process::getuid().as_raw())
}

/// Describes the user who runs another process, with the name that this process has told: `jo (uid 1000)`. A name that
/// is long or not printable is left out.
pub fn describe_user_of(name: &str, number: u32) -> String {
    let number = format!("uid {number}");
    if name == number || !is_user(name) { number } else { format!("{name} ({number})") }
}

/// Returns true if a name from the environment is short and printable.
fn is_user(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= 64 && !name.chars().any(char::is_control)
}

/// Lowers the priority of this thread to a `nice` value, such as [`BACKGROUND`]; logs a failure. The lowest priority
/// could suspend a thread that holds a lock, or a snapshot that keeps the WAL from being truncated. Elsewhere than on
/// Linux a thread has no priority of its own, and only what it asks of others comes later.
pub fn lower_priority(nice: i32) {
    IS_LOW_PRIORITY.set(true);
    // On Linux a thread has its own priority under its own id.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), nice) {
        tracing::warn!(%error, "a thread of low priority runs with the priority of payments");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

/// Returns true if the priority of this thread was lowered.
pub fn is_low_priority() -> bool {
    IS_LOW_PRIORITY.get()
}
