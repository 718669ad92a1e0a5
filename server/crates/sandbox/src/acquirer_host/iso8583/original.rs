//! Finds the original of a capture, an increment or a refund in the ledger.

use tillgate_connector::http::protocol::PaymentData;
use tillgate_store::StoreError;
use tillgate_store::acquirer_host::entry::{EntryKind, LedgerEntry};
use tillgate_store::acquirer_host::ledger::LedgerTransaction;

/// Data with which a capture, an increment or a refund names its original, next to the reference.
#[derive(Debug, Clone)]
pub(super) struct OriginalReference {
    /// Idempotency key of the original, from the original data elements.
    pub(super) key: Option<String>,
    /// Authorization code.
    pub(super) authorization_code: Option<String>,
}

/// Finds the original: by the original data elements, or else by the reference. An authorization code has to match it.
/// Of several entries with the reference, one is preferred that can be captured, raised or refunded, and among them the
/// first one that has enough left. Returns `None` if the merchant has no such entry.
pub(super) fn find_original(
    ledger: &LedgerTransaction<'_>,
    payment: &PaymentData,
    kind: EntryKind,
    reference: &OriginalReference,
) -> Result<Option<LedgerEntry>, StoreError> {
    let entries = match &reference.key {
        Some(key) => ledger.load_by_key(key)?.into_iter().collect(),
        None => ledger.load_by_payment(&payment.merchant_id, &payment.payment_id)?,
    };
    let code = reference.authorization_code.as_deref();
    let candidates = entries.into_iter().filter(|entry| {
        let is_money = !matches!(entry.entry.kind, EntryKind::Reversal | EntryKind::Unseen);
        is_money && code.is_none_or(|code| has_authorization_code(entry, code))
    });
    let rank = |entry: &LedgerEntry| {
        let has_room = entry.usable_amount().saturating_sub(entry.used) >= payment.amount;
        (is_original_of(entry.entry.kind, kind), entry.is_effective(), has_room)
    };
    // The maximum is the last of equal entries, and the first one is wanted.
    Ok(candidates.rev().max_by_key(rank))
}

/// Returns true if an entry can be captured, raised or refunded by a request of a kind.
fn is_original_of(original: EntryKind, kind: EntryKind) -> bool {
    match kind {
        EntryKind::Capture | EntryKind::Increment => original == EntryKind::Authorization,
        _ => matches!(original, EntryKind::Debit | EntryKind::Capture | EntryKind::Credit),
    }
}

/// Returns the authorization code of an entry's approval.
pub(super) fn make_authorization_code(number: i64) -> String {
    format!("{:06}", number % 1_000_000)
}

/// Returns true if an entry has the authorization code. A capture also has the code of its authorization.
fn has_authorization_code(entry: &LedgerEntry, code: &str) -> bool {
    let captured = entry.entry.original.filter(|_| entry.entry.kind == EntryKind::Capture);
    [Some(entry.number), captured].into_iter().flatten().any(|number| make_authorization_code(number) == code)
}
