//! What `cargo xtask bench` runs beside the gateway: a load generator and the sample data of its stores.
//! The chore itself, with its goals and its table, is in `xtask/src/bench`.

mod connection;
mod generator;
mod latency;
mod plan;
mod sample;

pub use generator::run;
pub use plan::{Outcome, Plan};
pub use sample::Sampler;
