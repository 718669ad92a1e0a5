//! Limits of this process: how many files it may open, and that its memory is not written to disk or read by other
//! processes of the same user.

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Raises the soft limit of open files to the hard limit, and returns what it is then.
pub fn raise_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    limit.unwrap_or(u64::MAX)
}

/// Forbids core dumps, and attaching to this process: its memory holds keys, and card numbers of payments in flight.
///
/// # Errors
/// If the system refuses.
pub fn forbid_dumps() -> std::io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}
