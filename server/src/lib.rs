//! The gateway of Tillgate: checkout, payment and risk behind an HTTP edge, on SQLite.
//!
//! Dependencies point one way: `api` → `gateway` → `domain`, and `gateway` → `store`, `vault`, `connector`.
//! `domain` knows only the crate `tillgate-shared`; it holds every rule about money and does no I/O.

use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

pub mod acquirer_host;
pub mod api;
pub mod cli;
pub mod clock;
pub mod connector;
pub mod credential;
pub mod directory;
pub mod domain;
pub mod form;
pub mod gateway;
pub mod id_clock;
pub mod listener;
pub mod outgoing;
pub mod process;
pub mod randomness;
pub mod store;
pub mod vault;
pub mod wallet;
pub mod webhook;
pub mod worker;

/// Which build this is: 40 hexadecimal digits of its source, `@`, and when that was made, `yyyy-MM-dd HH:mm:ss +0000`.
pub const BUILD_NUMBER: &str = env!("TILLGATE_BUILD_NUMBER");

/// What one thread allocates here is freed by another all the time: an order by the store's writer, a request by whichever
/// worker its connection is on. The system's allocator has them wait for each other's arenas; this one does not. It stands
/// here, so that the floors of the bench have the same. Memory is zeroed when it is freed: card numbers pass through buffers
/// of libraries, which do not know that they are secrets.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);
