//! What `cargo xtask bench` runs beside the gateway: a load generator, the sample data of its stores, and the pages that
//! the form is measured in.
//! The chore itself, with its goals and its table, is in `xtask/src/bench`.

mod connection;
mod generator;
mod latency;
pub mod page;
mod plan;
mod sample;

pub use generator::run;
pub use plan::{Outcome, Plan};
pub use sample::Sampler;
