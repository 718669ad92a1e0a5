//! The parts of `cargo xtask bench` that run beside the gateway: a load generator, sample data for its stores, and the
//! pages that measure the form. The command itself, with its goals and its table, is in `xtask/src/bench`.

mod connection;
pub mod floor;
mod generator;
mod latency;
pub mod line_client;
pub mod page;
mod plan;
mod sample;

pub use generator::run_plan;
pub use plan::{LoadPlan, LoadResult};
pub use sample::Sampler;
