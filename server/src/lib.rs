//! The gateway of Tillgate: checkout, payment and risk behind an HTTP edge, on SQLite.
//!
//! Dependencies point one way: `api` → `gateway` → `domain`, and `gateway` → `store`, `vault`, `connector`.
//! `domain` knows only the crate `tillgate-shared`; it holds every rule about money and does no I/O.

pub mod api;
pub mod cli;
pub mod clock;
pub mod connector;
pub mod directory;
pub mod domain;
pub mod form;
pub mod gateway;
pub mod outgoing;
pub mod store;
pub mod threeds;
pub mod vault;
pub mod wallet;
pub mod webhook;
pub mod worker;

/// Which build this is: 40 hexadecimal digits of its source, `@`, and when that was made, `yyyy-MM-dd HH:mm:ss +0000`.
pub const BUILD_NUMBER: &str = env!("TILLGATE_BUILD_NUMBER");
