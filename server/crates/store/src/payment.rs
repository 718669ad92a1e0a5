//! Payments: their rows, the effects of a write, and the searches for them.

pub mod attempts;
pub mod card;
mod change;
pub mod comment;
pub mod connector_message;
mod guards;
pub mod history;
pub mod listing;
pub mod load;
pub mod open_work;
pub mod queries;
pub mod responses;
mod rows;
pub mod search;
pub mod shared_parameters;
pub mod story;
