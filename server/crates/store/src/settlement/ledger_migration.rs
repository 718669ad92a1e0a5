//! Entries of the audit log that migrations write. The migration 40 writes those of payments from before there was a
//! log, and the migration 48 the one with the first digest of the reconciliation records.

use jiff::Timestamp;
use serde::Deserialize;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::PaymentType;
use tillgate_domain::settlement::ledger::ApprovedPayment;
use tillgate_engine::Session;
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::{ResultCode, ResultGroup};

use crate::StoreError;
use crate::document::read_document;
use crate::ledger;
use crate::settlement::booking;
use crate::settlement::booking::EntryActor;
use crate::settlement::record_digest::{DigestChange, RecordDigest, compute_digest};

/// The fields of a stored payment that its movement depends on. Documents of tests have only some of them.
#[derive(Deserialize)]
struct StoredPayment {
    id: Option<PaymentId>,
    entity: Option<EntityId>,
    created: Option<Timestamp>,
    payment_type: Option<PaymentType>,
    amount: Option<(String, String)>,
    result: Option<String>,
    referenced: Option<PaymentId>,
}

impl StoredPayment {
    /// Returns the approved payment with its time. `None` if it is not approved.
    fn find_approved(&self) -> Option<(ApprovedPayment<'_>, Timestamp)> {
        let result = ResultCode::find(self.result.as_deref()?)?;
        let payment_type = self.payment_type?;
        let is_chargeback = payment_type == PaymentType::Chargeback && result.group() == ResultGroup::Chargeback;
        if !result.is_success() && !is_chargeback {
            return None;
        }
        let (amount, currency) = self.amount.as_ref()?;
        let amount = Amount::parse(amount, Currency::parse(currency)?).ok()?;
        let (id, entity) = (self.id.as_ref()?, self.entity.as_ref()?);
        Some((
            ApprovedPayment { id, entity, payment_type, amount, referenced: self.referenced.as_ref() },
            self.created?,
        ))
    }
}

/// Writes the entries of all stored payments.
pub(crate) fn record_earlier_payments(session: &dyn Session) -> Result<(), StoreError> {
    let now = Timestamp::now();
    let query = "SELECT document FROM payment ORDER BY entity, id";
    let mut rows = session.query(query, ())?;
    while let Some(row) = rows.next()? {
        let stored: StoredPayment = read_document(&row, 0)?;
        if let Some((payment, created)) = stored.find_approved() {
            booking::write_payment_entry(session, now, created, &payment, EntryActor::default())?;
        }
    }
    Ok(())
}

/// Stores the digest of the records that are there already, with an entry in the audit log.
pub(crate) fn begin_digest(session: &dyn Session) -> Result<(), StoreError> {
    let digest = compute_digest(session)?;
    if digest == RecordDigest::default() {
        return Ok(());
    }
    DigestChange::of_digest(digest).save_change(session)?;
    let now = Timestamp::now();
    ledger::write_entry(session, None, &AuditEntry::new(now, "migration", "record_digest"), now)
}
