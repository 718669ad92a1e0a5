//! Settlement files of clearing institutes: lines of CSV, read by a mapping, become reconciliation records.
//!
//! Everything here is pure: the text of a line goes in, and a line or a fault comes out.

mod field;
mod layout;
mod line;
mod loose_number;
mod mapping;
mod mapping_file;
pub mod matching;
mod number;
mod record;
mod source;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod time_format;

pub use field::SettlementField;
pub use layout::{FieldValues, LineLayout};
pub use line::{LineIdentity, SettlementLine};
pub use mapping::FileMapping;
pub use record::ImportContext;

/// Reason why a line is not taken. It contains no value of the line, because that may be a card number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFault {
    /// The field at fault. `None` if the line as a whole is.
    pub field: Option<SettlementField>,
    /// The rule that it violates.
    pub message: String,
}

impl LineFault {
    /// Creates the fault of a line as a whole.
    pub fn of_line(message: impl Into<String>) -> Self {
        Self { field: None, message: message.into() }
    }

    /// Creates the fault of a field.
    pub fn of_field(field: SettlementField, message: impl Into<String>) -> Self {
        Self { field: Some(field), message: message.into() }
    }
}
