//! The days of a request for reconciliation files or records.

use jiff::civil::Date;
use tillgate_shared::parameter::{ParameterError, Parameters};

use crate::refusal::Refusal;

/// Days from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRange {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
}

impl DayRange {
    /// Reads `date.from` and `date.to`. Both are required and have no time.
    ///
    /// # Errors
    /// 400 with each parameter that is missing or no day; 400 if `date.to` is before `date.from`.
    pub fn require_from(parameters: &Parameters) -> Result<Self, Refusal> {
        let read_day = |name: &'static str| match parameters.get(name) {
            None => Err(ParameterError::new(name, None, "may not be empty")),
            Some(text) => text
                .parse()
                .ok()
                .filter(|day: &Date| day.to_string() == text)
                .ok_or_else(|| ParameterError::new(name, Some(text), "must be a day in the form yyyy-MM-dd")),
        };
        match (read_day("date.from"), read_day("date.to")) {
            (Ok(from), Ok(to)) if from <= to => Ok(Self { from, to }),
            (Ok(_), Ok(to)) => {
                Err(Refusal::invalid_parameter("date.to", Some(&to.to_string()), "must not lie before date.from"))
            }
            (from, to) => Err(Refusal::invalid_parameters([from.err(), to.err()].into_iter().flatten().collect())),
        }
    }
}
