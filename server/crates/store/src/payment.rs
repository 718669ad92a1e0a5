//! Payments: their rows, the effects of a write, and the searches for them.

pub mod card;
mod change;
mod guards;
pub mod history;
pub mod load;
pub mod queries;
pub mod responses;
mod rows;
pub mod shared_parameters;
