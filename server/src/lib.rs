//! The program of Tillgate: its command line, which starts the server, the worker of a running server, and the socket
//! between both. Everything else is in the crates of `server/crates/`.
//!
//! Knows the options, and puts the parts together. It never decides about money, and speaks neither HTTP nor SQL.

use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

pub mod cli;
pub mod control;
pub mod worker;

/// Memory is often allocated by one thread and freed by another: an order by the store's writer, a request by the
/// worker thread of its connection. The system's allocator makes the threads wait for each other's arenas; this one
/// does not. It is declared in the library, so that the baselines of the benchmark use it too. Memory is zeroed when
/// it is freed, because card numbers pass through buffers of libraries that do not treat them as secrets.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);
