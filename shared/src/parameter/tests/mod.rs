//! Tests of the catalogue: boundaries generated from its own rows, examples of the specification, rules that tie
//! parameters together.
#![allow(clippy::unwrap_used)]

mod boundaries;
mod complete;
mod fuzz;
mod lists;
mod lookup;
mod normalize;
mod operations;
mod proof;
mod samples;
mod set;
mod specification;

use super::Parameters;

/// A set of parameters from pairs.
fn parameters(pairs: &[(&str, &str)]) -> Parameters {
    pairs.iter().copied().collect()
}
