//! Settlement files of clearing institutes: read in parts, matched with payments, and written with the movements of
//! their lines. The command line and the back office use them.

mod administration;
mod cells;
mod decoding;
mod import;
pub mod kept;
mod lines;
mod parsed;
mod preview;
mod request;
mod search;
mod source;
mod summary;
mod take;
pub mod unmatched;
pub mod user_act;

use std::io;

pub use preview::{FilePreview, PreviewLine, PreviewOutcome, PreviewValues};
pub use request::{ImportRequest, MAX_INSTITUTE};
pub use source::FileSource;
pub use summary::{ImportSummary, PaymentDifference, ReportedFault};

use tillgate_store::StoreError;

use crate::Failure;

/// Failure of an import or of a decision about a line.
#[derive(Debug, thiserror::Error)]
pub enum SettlementFileError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    File(#[from] io::Error),
    /// The system provides no random bytes.
    #[error("the system provides no random bytes")]
    Random,
    /// The file as a whole does not fit the mapping.
    #[error("{0}")]
    Layout(String),
    /// The decision is not possible.
    #[error("{0}")]
    Refused(String),
}

impl From<Failure> for SettlementFileError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => Self::Store(error),
            Failure::Random => Self::Random,
            other => Self::Refused(other.to_string()),
        }
    }
}
