//! Requests in general: formats, encodings, limits, and clients of other gateways.

pub mod amplification;
pub mod bodies;
pub mod catalogue;
pub mod compatibility;
pub mod constraints;
pub mod encodings;
pub mod formats;
pub mod fuzz;
pub mod get_bodies;
pub mod indexes;
pub mod older_clients;
pub mod parameter_names;
pub mod repeated_parameters;
pub mod tolerance;
