//! The digest of all reconciliation records: the sum of the hashes of their rows. The audit log binds it, so the
//! verification finds any changed byte of a record, and any record that is missing.

use sha2::{Digest as _, Sha256};
use tillgate_domain::id::{RecordId, to_hex};
use tillgate_engine::{Row, Session, params};

use crate::StoreError;
use crate::value_encoding::encode_value;

/// The columns of a record.
const COLUMNS: &str = "id, owner, day, account, merchant, unfiled, filed, document";

/// A sum of hashes. The order of the records does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordDigest(u128);

impl RecordDigest {
    /// Adds a row with [`COLUMNS`].
    fn add_row(&mut self, row: &Row<'_>) -> tillgate_engine::Result<()> {
        // The sum wraps around, so that any record can be subtracted again in any order.
        self.0 = self.0.wrapping_add(hash_row(row)?);
        Ok(())
    }

    /// Returns the hexadecimal digits.
    pub fn to_hex(self) -> String {
        to_hex(&self.0.to_be_bytes())
    }

    fn parse(bytes: &[u8]) -> Self {
        Self(bytes.first_chunk::<16>().copied().map_or(0, u128::from_be_bytes))
    }
}

/// The change of a digest by the records of a commit.
#[derive(Debug, Default)]
pub(crate) struct DigestChange(u128);

impl DigestChange {
    /// Leaves out the stored version of a record. Returns false if the record is not stored.
    pub(crate) fn remove_record(&mut self, session: &dyn Session, id: &RecordId) -> Result<bool, StoreError> {
        let hash = load_hash(session, id)?;
        self.0 = self.0.wrapping_sub(hash.unwrap_or_default());
        Ok(hash.is_some())
    }

    /// Returns the change that adds all records of a digest.
    pub(crate) fn of_digest(digest: RecordDigest) -> Self {
        Self(digest.0)
    }

    /// Adds the stored version of a record.
    pub(crate) fn add_record(&mut self, session: &dyn Session, id: &RecordId) -> Result<(), StoreError> {
        self.0 = self.0.wrapping_add(load_hash(session, id)?.unwrap_or_default());
        Ok(())
    }

    /// Changes the stored digest. The next entry of the audit log binds it.
    pub(crate) fn save_change(self, session: &dyn Session) -> Result<(), StoreError> {
        let digest = load_digest(session)?.0.wrapping_add(self.0);
        session.execute(
            "INSERT INTO record_digest (id, digest, bound) VALUES (1, ?1, FALSE)
                 ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, bound = FALSE",
            [digest.to_be_bytes()],
        )?;
        Ok(())
    }
}

/// Returns the digest if no entry of the audit log has it yet, and marks it as bound.
pub(crate) fn bind_digest(session: &dyn Session) -> Result<Option<RecordDigest>, StoreError> {
    let query = "UPDATE record_digest SET bound = TRUE WHERE NOT bound RETURNING digest";
    let digest: Option<Vec<u8>> = session.query_optional(query, (), |row| row.get(0))?;
    Ok(digest.map(|digest| RecordDigest::parse(&digest)))
}

/// Loads the stored digest: 0 before the first record.
fn load_digest(session: &dyn Session) -> Result<RecordDigest, StoreError> {
    let query = "SELECT digest FROM record_digest";
    let found: Option<Vec<u8>> = session.query_optional(query, (), |row| row.get(0))?;
    Ok(found.map(|digest| RecordDigest::parse(&digest)).unwrap_or_default())
}

/// Computes the digest of all stored records.
pub(crate) fn compute_digest(session: &dyn Session) -> Result<RecordDigest, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM reconciliation_record");
    let mut rows = session.query(&query, ())?;
    let mut digest = RecordDigest::default();
    while let Some(row) = rows.next()? {
        digest.add_row(&row)?;
    }
    Ok(digest)
}

fn load_hash(session: &dyn Session, id: &RecordId) -> Result<Option<u128>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM reconciliation_record WHERE id = ?1");
    Ok(session.query_optional(&query, params![id.as_str()], hash_row)?)
}

/// Computes the hash of a row with [`COLUMNS`]: the first half of SHA-256 of the type, the length and the bytes of each
/// column.
fn hash_row(row: &Row<'_>) -> tillgate_engine::Result<u128> {
    let mut hash = Sha256::new();
    for column in 0..row.column_count() {
        encode_value(row.value(column)?, |bytes| hash.update(bytes));
    }
    Ok(hash.finalize().first_chunk::<16>().copied().map_or(0, u128::from_be_bytes))
}
