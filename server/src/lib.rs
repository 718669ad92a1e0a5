//! The gateway of Tillgate: checkouts, payments and risk checks behind an HTTP API, stored in SQLite.
//!
//! Dependencies point one way: `api` → `gateway` → `domain`, and `gateway` → `store`, `vault`, `connector`. `domain`
//! depends only on the crate `tillgate-shared`; it contains every business rule about money and does no I/O.

use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

pub mod acquirer_host;
pub mod api;
pub mod app;
pub mod cli;
pub mod file_push;
pub mod form;
pub mod ftp;
pub mod gateway;
pub mod registry;
pub mod test_data;
pub mod worker;

/// Build number: 40 hexadecimal digits of the source's commit, `@`, and its time, `yyyy-MM-dd HH:mm:ss +0000`.
pub const BUILD_NUMBER: &str = env!("TILLGATE_BUILD_NUMBER");

/// Memory is often allocated by one thread and freed by another: an order by the store's writer, a request by the
/// worker thread of its connection. The system's allocator makes the threads wait for each other's arenas; this one
/// does not. It is declared in the library, so that the baselines of the benchmark use it too. Memory is zeroed when
/// it is freed, because card numbers pass through buffers of libraries that do not treat them as secrets.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);
