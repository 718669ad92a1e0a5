//! Limits of this process: how many files it may open, and that its memory is not written to disk or read by other
//! processes of the same user.

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

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
