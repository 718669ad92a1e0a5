//! Masks of the account indexes that earlier releases stored with payments without one.

use serde_json::Value;
use tillgate_domain::id::PaymentId;
use tillgate_engine::{Session, params};
use tillgate_vault::{AccountIndexKey, Vault};

use crate::document::{decode_document, encode_document};
use crate::keys::sealed_key::SealedKeyError;
use crate::{Store, StoreError};

/// Number of payments that are changed in one transaction. A longer one would delay payments of other processes.
const BATCH: u16 = 500;

/// Masks the indexes of a batch of payments. Returns false if none is left.
fn mask_batch(session: &dyn Session, key: &AccountIndexKey) -> Result<bool, StoreError> {
    // `LEFT JOIN` keeps rows whose payment is missing, so that they are deleted below and do not come back in each
    // batch.
    let query = "SELECT unmasked.entity, unmasked.payment, document
        FROM unmasked_index AS unmasked LEFT JOIN payment
        ON payment.entity = unmasked.entity AND payment.id = unmasked.payment LIMIT ?1";
    // Collected first, because the statements below delete the rows of this query.
    let rows: Vec<(String, String, Option<Vec<u8>>)> = session.query_all(query, [BATCH], |row| row.read())?;
    for (entity, payment, document) in &rows {
        if let Some(document) = document {
            let masked = mask_document(payment, document, key)?;
            let update = "UPDATE payment SET document = ?3 WHERE entity = ?1 AND id = ?2";
            session.execute(update, params![entity, payment, masked])?;
        }
        let done = "DELETE FROM unmasked_index WHERE entity = ?1 AND payment = ?2";
        session.execute(done, [entity, payment])?;
    }
    Ok(rows.len() == usize::from(BATCH))
}

/// Replaces the index of the account in a payment's document by its mask. Nothing stays if it has no index.
fn mask_document(payment: &str, document: &[u8], key: &AccountIndexKey) -> Result<Vec<u8>, StoreError> {
    let mut payment_document: Value = decode_document(document)?;
    let context = payment_document.pointer_mut("/risk/context").and_then(Value::as_object_mut);
    if let Some(context) = context {
        context.remove("card");
        let index = context.remove("account");
        let id = PaymentId::parse(payment);
        let masked = id.zip(index.as_ref().and_then(Value::as_str)).and_then(|(id, index)| key.mask_index(&id, index));
        match masked {
            Some(masked) => context.insert("masked_index".to_owned(), masked.into()),
            None => context.remove("masked_index"),
        };
    }
    Ok(encode_document(&payment_document))
}

impl Store {
    /// Loads the key of the account index, and masks the indexes that earlier releases stored with payments without a
    /// mask. Call it before the first request.
    ///
    /// # Errors
    /// Same as [`Store::load_account_index_key`]; also if the store cannot be written.
    pub async fn open_account_index(&self, vault: &Vault) -> Result<AccountIndexKey, SealedKeyError> {
        let key = self.load_account_index_key(vault).await?;
        loop {
            let key = key.clone();
            if !self.run_write(move |session| mask_batch(session, &key)).await? {
                break;
            }
        }
        Ok(key)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};
    use tillgate_engine::sqlite::SqliteSession;
    use zeroize::Zeroizing;

    use crate::keys::masked_index::*;

    #[test]
    fn earlier_payments_keep_six_digits_and_a_masked_index() {
        let session = SqliteSession::open_in_memory().unwrap();
        crate::schema::migrations::migrate_to(&session, 48);
        let (key, index) = (AccountIndexKey::new(Zeroizing::new([7; 32])), "0f".repeat(32));
        let ids: Vec<PaymentId> = (1..=3).map(|number| PaymentId::new(Timestamp::UNIX_EPOCH, [number; 9])).collect();
        let context = json!({ "card": index, "account": index, "bin": "42000012", "card_country": "DE" });
        for (id, risk) in ids.iter().zip([json!({ "context": context }), json!({ "context": {} }), Value::Null]) {
            let document = json!({ "id": id.as_str(), "risk": risk, "amount": ["1.00", "EUR"] }).to_string();
            let insert = "INSERT INTO payment (entity, id, document) VALUES ('e1', ?1, ?2)";
            session.execute(insert, params![id.as_str(), document.as_bytes()]).unwrap();
        }
        crate::schema::migrations::migrate(&session).unwrap();
        assert!(!mask_batch(&session, &key).unwrap());
        let load = |id: &PaymentId| -> Value {
            let query = "SELECT document FROM payment WHERE id = ?1";
            let document: Vec<u8> = session.query_one(query, [id.as_str()], |row| row.get(0)).unwrap();
            serde_json::from_slice(&document).unwrap()
        };
        let masked = key.mask_index(&ids[0], &index).unwrap();
        let context = json!({ "bin": "420000", "card_country": "DE", "masked_index": masked });
        let expected = json!({ "id": ids[0].as_str(), "risk": { "context": context }, "amount": ["1.00", "EUR"] });
        assert_eq!(load(&ids[0]), expected);
        assert_eq!((&load(&ids[1])["risk"], &load(&ids[2])["risk"]), (&json!({ "context": {} }), &Value::Null));
        let left: i64 = session.query_one("SELECT count(*) FROM unmasked_index", (), |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
    }
}
