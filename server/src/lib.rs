//! The program of Tillgate: its HTTP API, its command line, its file servers and its worker, on the crates in
//! `server/crates/`.
//!
//! Dependencies point one way: `api` → `gateway` → `domain`, and `gateway` → `store`, `vault`, `connector`. The
//! compiler keeps that between the crates, and `cargo xtask check` between the modules here.

use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

pub mod api;
pub mod cli;
pub mod form;
pub mod worker;

/// Build number: 40 hexadecimal digits of the source's commit, `@`, and its time, `yyyy-MM-dd HH:mm:ss +0000`.
pub const BUILD_NUMBER: &str = env!("TILLGATE_BUILD_NUMBER");

/// Memory is often allocated by one thread and freed by another: an order by the store's writer, a request by the
/// worker thread of its connection. The system's allocator makes the threads wait for each other's arenas; this one
/// does not. It is declared in the library, so that the baselines of the benchmark use it too. Memory is zeroed when
/// it is freed, because card numbers pass through buffers of libraries that do not treat them as secrets.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);
