//! Tests of the catalogue: boundaries generated from its own rows, examples of the specification, rules about several
//! parameters.
#![allow(clippy::unwrap_used)]

mod boundaries;
mod complete;
mod fuzz;
mod lists;
mod lookup;
mod normalize;
mod operations;
mod presence;
mod samples;
mod set;
mod specification;

use super::Parameters;

/// Creates a set of parameters from pairs.
fn build_parameters(pairs: &[(&str, &str)]) -> Parameters {
    pairs.iter().copied().collect()
}
