//! Random keys that the store keeps sealed by the vault. They are created on first use, and stay the same when the
//! vault's key changes.

use tillgate_engine::{Session, params};
use tillgate_vault::{AccountIndexKey, Sealed, Vault, VaultError};
use zeroize::Zeroizing;

use crate::keys::sealed::read_sealed;
use crate::{AdminStore, Sources, Store, StoreError};

/// The name of the key of the account index, both of its row and of its record in the vault.
const ACCOUNT_INDEX_KEY: &str = "account index key";

/// Reason for a missing key.
#[derive(Debug, thiserror::Error)]
pub enum SealedKeyError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault has another key than the one that sealed this key.
    #[error("the stored `{0}` cannot be opened: is this the vault's key of this store? {1}")]
    Vault(&'static str, VaultError),
}

/// Finds a sealed key by its name.
const LOAD: &str = "SELECT sealed FROM sealed_key WHERE name = ?1";

/// Loads a sealed key. Returns `None` before its first use.
fn load_sealed_key(session: &dyn Session, name: &str) -> Result<Option<Sealed>, StoreError> {
    Ok(session.query_optional(LOAD, [name], |row| read_sealed(row, 0))?)
}

/// Stores a key, unless another process has stored one first. Returns the stored one.
fn insert_sealed_key(session: &dyn Session, name: &str, sealed: &Sealed) -> Result<Sealed, StoreError> {
    let query = "INSERT INTO sealed_key (name, sealed) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    session.execute(query, params![name, sealed.as_bytes()])?;
    // Read back, because another process may have stored a key first, and all processes need the same one.
    Ok(session.query_one(LOAD, [name], |row| read_sealed(row, 0))?)
}

/// Creates a random key, sealed.
fn create_sealed_key(name: &'static str, sources: &Sources, vault: &Vault) -> Result<Sealed, SealedKeyError> {
    let mut bytes = Zeroizing::new([0; 32]);
    sources.randomness.fill_bytes(&mut *bytes).map_err(StoreError::from)?;
    vault.seal(name, &*bytes).map_err(|error| SealedKeyError::Vault(name, error))
}

fn open_key(name: &'static str, sealed: &Sealed, vault: &Vault) -> Result<Zeroizing<[u8; 32]>, SealedKeyError> {
    let bytes = vault.open(name, sealed).map_err(|error| SealedKeyError::Vault(name, error))?;
    let mut key = Zeroizing::new([0; 32]);
    if bytes.len() != key.len() {
        return Err(SealedKeyError::Vault(name, VaultError::damaged()));
    }
    key.copy_from_slice(&bytes);
    Ok(key)
}

/// Opens the key with a name. `None` before its first use.
pub(crate) fn open_stored_key(
    session: &dyn Session,
    name: &'static str,
    vault: &Vault,
) -> Result<Option<Zeroizing<[u8; 32]>>, SealedKeyError> {
    load_sealed_key(session, name)?.map(|sealed| open_key(name, &sealed, vault)).transpose()
}

/// Opens the key with a name, and creates it on first use.
pub(crate) fn make_stored_key(
    session: &dyn Session,
    name: &'static str,
    vault: &Vault,
) -> Result<Zeroizing<[u8; 32]>, SealedKeyError> {
    let sealed = match load_sealed_key(session, name)? {
        Some(sealed) => sealed,
        None => insert_sealed_key(session, name, &create_sealed_key(name, &Sources::system(), vault)?)?,
    };
    open_key(name, &sealed, vault)
}

impl Store {
    /// Opens the key with a name, and creates it on first use.
    pub(crate) async fn open_sealed_key(
        &self,
        name: &'static str,
        vault: &Vault,
    ) -> Result<Zeroizing<[u8; 32]>, SealedKeyError> {
        // Only the first start creates the key, so the others get by with a read.
        let found = match self.run_read(|session| load_sealed_key(session, name))? {
            Some(found) => found,
            None => {
                let created = create_sealed_key(name, &self.sources, vault)?;
                self.run_write(move |session| insert_sealed_key(session, name, &created)).await?
            }
        };
        open_key(name, &found, vault)
    }

    /// Opens the key of the account index, and creates it on first use.
    ///
    /// # Errors
    /// If the store cannot be read or written, or the vault has another key than the one that sealed it.
    pub async fn load_account_index_key(&self, vault: &Vault) -> Result<AccountIndexKey, SealedKeyError> {
        Ok(AccountIndexKey::new(self.open_sealed_key(ACCOUNT_INDEX_KEY, vault).await?))
    }
}

impl AdminStore {
    /// Opens the key of the account index, and creates it on first use.
    ///
    /// # Errors
    /// If the store cannot be read or written, or the vault has another key than the one that sealed it.
    pub fn load_account_index_key(&self, vault: &Vault) -> Result<AccountIndexKey, SealedKeyError> {
        Ok(AccountIndexKey::new(make_stored_key(&self.session, ACCOUNT_INDEX_KEY, vault)?))
    }
}
