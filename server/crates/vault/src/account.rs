//! Accounts of registrations, sealed: their parameters as JSON, padded so that a record's length reveals little.

use tillgate_shared::parameter::Parameters;
use zeroize::Zeroizing;

use super::{Sealed, Vault, VaultError};

/// Accounts are padded with spaces to a multiple of this, in bytes.
const PADDING_BLOCK: usize = 128;
/// Initial buffer size; larger than any serialised account, so the buffer never reallocates.
const BUFFER_SIZE: usize = 8 * 1024;

impl Vault {
    /// Seals the parameters of an account for the record with this id.
    pub fn seal_account(&self, record: &str, account: &Parameters) -> Result<Sealed, VaultError> {
        // The buffer has its full size from the start: a growing buffer leaves copies of its content in memory.
        let mut text = Zeroizing::new(Vec::with_capacity(BUFFER_SIZE));
        serde_json::to_writer(&mut *text, account).map_err(|_| VaultError("seal"))?;
        let padded = text.len().next_multiple_of(PADDING_BLOCK);
        text.resize(padded, b' ');
        self.seal(record, &text)
    }

    /// Opens the parameters of the account of the record with this id.
    ///
    /// # Errors
    /// Same as [`Vault::open`]; if the content is no account.
    pub fn open_account(&self, record: &str, sealed: &Sealed) -> Result<Parameters, VaultError> {
        serde_json::from_slice(&self.open(record, sealed)?).map_err(|_| VaultError::damaged())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::MasterKey;

    fn account(holder: &str) -> Parameters {
        [("card.number", "4200000000000000"), ("card.holder", holder)].into_iter().collect()
    }

    #[test]
    fn a_sealed_account_opens_for_its_record_only_and_its_length_tells_no_short_name_from_a_longer_one() {
        let vault = Vault::new(&MasterKey::from_bytes([1; 32]));
        let sealed = vault.seal_account("8a01", &account("Jo")).unwrap();
        assert_eq!(vault.open_account("8a01", &sealed).unwrap().get("card.holder"), Some("Jo"));
        assert!(vault.open_account("8a02", &sealed).is_err());
        let longer = vault.seal_account("8a01", &account("Johanna Jones")).unwrap();
        assert_eq!(sealed.as_bytes().len(), longer.as_bytes().len());
    }

    #[test]
    fn a_record_without_an_account_is_an_error() {
        let vault = Vault::new(&MasterKey::from_bytes([1; 32]));
        let sealed = vault.seal("8a01", b"4200000000000000").unwrap();
        assert!(vault.open_account("8a01", &sealed).is_err());
    }
}
