//! Reasons why a store is not copied.

use crate::StoreError;

/// Reason why a store is not copied, or not moved.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing to copy.
    #[error("there is no store in {0}")]
    NoStore(String),
    /// The source has another version of the schema.
    #[error(
        "the store in {0} is of another version: start and stop this version of Tillgate on it once, and repeat this"
    )]
    OtherVersion(String),
    /// The vault does not open the key of the audit log.
    #[error(
        "the audit log of {0} has a key: copying it needs the vault's key. The place of the copy needs the same key, so \
         copy the key file beside the new data folder, or name it with --key-file"
    )]
    NeedsKey(String),
    /// The rows of the source differ from its seal.
    #[error(
        "the store in {place} is not copied, because another program has changed it: {fault}. See `tillgate verify`"
    )]
    Unsound {
        /// The source.
        place: String,
        /// The first difference.
        fault: String,
    },
    /// The source is a copy that is not complete.
    #[error("{0} is a copy that is not complete, so it cannot be copied")]
    HalfCopied(String),
    /// The source has moved to another place.
    #[error("the store in {from} has moved to {to}: copy it from there")]
    MovedElsewhere {
        /// The source.
        from: String,
        /// The place of the store.
        to: String,
    },
    /// A store that should be opened again has not moved.
    #[error("the store in {0} has not moved, so it is open")]
    NotMoved(String),
    /// The move is done.
    #[error("the store in {from} has moved to {to} already: start the gateway there")]
    AlreadyMoved {
        /// The source.
        from: String,
        /// The place of the store.
        to: String,
    },
    /// The target has a store.
    #[error("{0} has a store already, and no copy replaces a store: name an empty data folder or database")]
    NotEmpty(String),
    /// The target is a part of a copy of another store.
    #[error("{place} has a part of a copy of {from}: continue with that one, or name an empty data folder or database")]
    OtherCopy {
        /// The target.
        place: String,
        /// The source of the copy.
        from: String,
    },
    /// A server or another copy uses the target.
    #[error("{0} is in use by a server or another copy: stop it first")]
    TargetInUse(String),
    /// Rows are not read back as they were written.
    #[error("rows of the table {0} cannot be stored in the new place as they are")]
    CannotStore(String),
    /// The copy differs from the source although both were compared.
    #[error("the copy differs from its source in {0}, so nothing has moved: repeat the command")]
    Differs(String),
}

/// Failures of a database inside of a copy.
impl From<tillgate_engine::Error> for CopyError {
    fn from(error: tillgate_engine::Error) -> Self {
        Self::Store(error.into())
    }
}
