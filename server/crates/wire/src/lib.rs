//! The JSON that the API sends, as types: one type for each response and for each of its parts, and the schemas that
//! are derived from the types.
//!
//! It knows how a domain object looks to a merchant: the names, the order and the format of its fields. It reads no
//! store and no clock, decides nothing, and knows no HTTP: it is given the object, and the times that are not in it.

mod answer;
pub mod checkout;
pub mod dispute;
mod echo;
mod json_object;
pub mod payment;
pub mod registration;
pub mod report;
mod result;
pub mod review;
pub mod risk;
pub mod schedule;
mod schemas;
pub mod service;
pub mod settlement;
mod value;
mod webhook;

pub use answer::Answer;
use echo::echo_parameters;
pub use result::{ParameterErrorFields, RefusalFields, ResultFields};
pub use schemas::component_schemas;
pub use value::{AmountText, DayText, LocalTime, SumText, WireTime};
