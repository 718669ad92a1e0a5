//! The search for the payments that a line settles: by the acquirer's id, by the payment's id, and by the merchant's
//! reference with the amount. The first of them that leads to a payment decides.

use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::settlement::file_format::matching::LineEffect;
use tillgate_domain::settlement::file_format::matching::fits_type;
use tillgate_domain::settlement::file_format::matching::is_settled_by_institute;
use tillgate_domain::settlement::reconciliation::{ReconciliationRecord, RecordType};
use tillgate_store::settlement::file::EntityScope;
use tillgate_store::{AdminStore, StoreError};

/// Largest number of payments that a record with several matches keeps.
const MAX_CANDIDATES: usize = 100;

/// Result of a search.
#[derive(Debug)]
pub(super) enum SearchResult {
    /// Exactly one payment matches.
    One(Box<MatchTarget>),
    /// Several match.
    Several(Vec<Payment>),
    /// None matches.
    NotFound,
}

/// A payment that a line settles, charges back, or is about.
#[derive(Debug)]
pub(super) struct MatchTarget {
    /// The payment. For a chargeback and its reversal, the one that was charged.
    pub(super) payment: Payment,
    /// The effect of the line on it.
    pub(super) effect: TargetEffect,
}

/// Effect of a line on its payment.
#[derive(Debug)]
pub(super) enum TargetEffect {
    /// Settles the payment, of which so many hundredths are open.
    Settle { open: i64 },
    /// Belongs to the payment, and settles nothing.
    Describe,
    /// Charges the payment back. The chargeback is there already if it was made before.
    ChargeBack(Option<Box<Payment>>),
    /// Reverses a chargeback of the payment. The reversal is there already if it was made before.
    ReverseChargeback { chargeback: Box<Payment>, reversal: Option<Box<Payment>> },
}

/// Reason why a line does not settle a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// It is not approved, or the gateway itself settles it.
    NotOfInstitute,
    /// Its currency is another one.
    OtherCurrency,
    /// It is a payment of another type than the line.
    OtherType,
    /// It belongs to another merchant than the line names.
    OtherMerchant,
    /// It is settled already as a whole.
    AlreadySettled,
    /// The line has more than the part that no line has settled yet.
    AboveOpenAmount,
    /// It has a chargeback, or a reversal, with another amount or settled by another line.
    OtherChargeback,
    /// It has no chargeback that could be reversed.
    NoChargeback,
    /// The line is about more than the payment's amount.
    AmountTooHigh,
}

impl Mismatch {
    /// Returns the name of the reason in texts for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotOfInstitute => "not_of_institute",
            Self::OtherCurrency => "other_currency",
            Self::OtherType => "other_type",
            Self::OtherMerchant => "other_merchant",
            Self::AlreadySettled => "already_settled",
            Self::AboveOpenAmount => "above_open_amount",
            Self::OtherChargeback => "other_chargeback",
            Self::NoChargeback => "no_chargeback",
            Self::AmountTooHigh => "amount_too_high",
        }
    }

    /// Returns the reason as a message about the payment.
    pub fn message(self) -> &'static str {
        match self {
            Self::NotOfInstitute => "is not approved, or not settled by an institute",
            Self::OtherCurrency => "has another currency",
            Self::OtherType => "is a payment of another type than the line",
            Self::OtherMerchant => "belongs to another merchant than the line names",
            Self::AlreadySettled => "is settled already",
            Self::AboveOpenAmount => "has less to settle than the line",
            Self::OtherChargeback => "has a chargeback with another amount, or one that another line has settled",
            Self::NoChargeback => "has no chargeback",
            Self::AmountTooHigh => "has a lower amount than the line",
        }
    }
}

/// Finds the payment that the line of a record settles, among those of some entities.
pub(super) fn find_target(
    store: &AdminStore,
    scope: &EntityScope,
    record: &ReconciliationRecord,
) -> Result<SearchResult, StoreError> {
    for rule in SearchRule::ALL {
        let mut targets: Vec<MatchTarget> = Vec::new();
        let mut is_identified = false;
        for payment in rule.find_payments(store, scope, record)? {
            if rule == SearchRule::ConnectorId && contradicts_line(record, &payment) {
                continue;
            }
            let ignores_amount = rule != SearchRule::Reference || record.record_type == RecordType::Fee;
            if !ignores_amount && payment.amount != record.amount {
                continue;
            }
            match resolve_whole_line(store, record, payment)? {
                Ok(target) if targets.iter().any(|found| found.payment.id == target.payment.id) => {}
                Ok(target) => targets.push(target),
                Err(mismatch) => is_identified |= mismatch != Mismatch::OtherType,
            }
        }
        match (targets.pop(), targets.is_empty()) {
            // The line names a payment that it cannot settle. A weaker rule would lead to another one by chance.
            (None, _) if is_identified => return Ok(SearchResult::NotFound),
            (None, _) => {}
            (Some(target), true) => return Ok(SearchResult::One(Box::new(target))),
            (Some(last), false) => {
                let all = targets.into_iter().chain([last]).take(MAX_CANDIDATES);
                return Ok(SearchResult::Several(all.map(|target| target.payment).collect()));
            }
        }
    }
    Ok(SearchResult::NotFound)
}

/// Finds the payments that the line of a record names in any way, at most `limit`, each with the reason why the line
/// does not settle it.
pub(super) fn find_candidates(
    store: &AdminStore,
    scope: &EntityScope,
    record: &ReconciliationRecord,
    limit: usize,
) -> Result<Vec<(Payment, Option<Mismatch>)>, StoreError> {
    let mut found: Vec<(Payment, Option<Mismatch>)> = Vec::new();
    for rule in SearchRule::ALL {
        for payment in rule.find_payments(store, scope, record)? {
            if found.len() < limit && !found.iter().any(|(other, _)| other.id == payment.id) {
                let mismatch = resolve_whole_line(store, record, payment.clone())?.err();
                found.push((payment, mismatch));
            }
        }
    }
    Ok(found)
}

/// A way to find payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchRule {
    ConnectorId,
    PaymentId,
    Reference,
}

impl SearchRule {
    /// The rules, first one first.
    const ALL: [Self; 3] = [Self::ConnectorId, Self::PaymentId, Self::Reference];

    fn find_payments(
        self,
        store: &AdminStore,
        scope: &EntityScope,
        record: &ReconciliationRecord,
    ) -> Result<Vec<Payment>, StoreError> {
        let Some(import) = &record.import else { return Ok(Vec::new()) };
        Ok(match self {
            Self::ConnectorId => find_by_connector_id(store, scope, &record.institute.tx_ids)?,
            Self::PaymentId => match &import.payment {
                Some(id) => store.find_by_id(scope, id)?.into_iter().collect(),
                None => Vec::new(),
            },
            Self::Reference => match &import.merchant_transaction_id {
                Some(reference) => store.find_by_reference(scope, reference)?,
                None => Vec::new(),
            },
        })
    }
}

/// Finds the payments with the first of the acquirer's ids that a line names, or without one, or with too many such
/// payments, with the second one.
fn find_by_connector_id(
    store: &AdminStore,
    scope: &EntityScope,
    named: &[Option<String>],
) -> Result<Vec<Payment>, StoreError> {
    let [first, second] = [0, 1].map(|place| named.get(place).and_then(Option::as_ref));
    let find = |id: Option<&String>| match id {
        Some(id) => store.find_by_connector_id(scope, id),
        None => Ok(Vec::new()),
    };
    let mut found = find(first)?;
    if found.is_empty() || found.len() > MAX_CANDIDATES {
        let by_second = find(second)?;
        if !by_second.is_empty() {
            found = by_second;
        }
    }
    Ok(found)
}

/// Returns true if a payment has another id than the line of a record names. Numbers of requests come again, so such a
/// payment is another one. The second id of other connectors is none by which institutes name a payment.
fn contradicts_line(record: &ReconciliationRecord, payment: &Payment) -> bool {
    let pairs = record.institute.tx_ids.iter().take(2).zip(0..);
    let mut differing = pairs.filter(|(named, place)| {
        named.as_ref().zip(payment.connector_tx_ids.get(*place)).is_some_and(|(named, own)| named != own)
    });
    payment.place.is_some() && differing.next().is_some()
}

/// Returns the effect of a line that is about one payment only, or the reason why there is none.
pub(super) fn resolve_whole_line(
    store: &AdminStore,
    record: &ReconciliationRecord,
    payment: Payment,
) -> Result<Result<MatchTarget, Mismatch>, StoreError> {
    Ok(match resolve_target(store, record, payment)? {
        Ok(MatchTarget { effect: TargetEffect::Settle { open }, .. }) if record.amount.hundredths() > open => {
            Err(Mismatch::AboveOpenAmount)
        }
        resolved => resolved,
    })
}

/// Returns the effect of a line on a payment, of which the line may settle a part, or the reason why there is none.
pub(super) fn resolve_target(
    store: &AdminStore,
    record: &ReconciliationRecord,
    payment: Payment,
) -> Result<Result<MatchTarget, Mismatch>, StoreError> {
    if !is_settled_by_institute(&payment) {
        return Ok(Err(Mismatch::NotOfInstitute));
    }
    let referenced = match (&payment.referenced, payment.payment_type) {
        (Some(referenced), PaymentType::Reversal) => store.load_payment_type(&payment.entity, referenced)?,
        _ => None,
    };
    if !fits_type(record, payment.payment_type, referenced) {
        return Ok(Err(Mismatch::OtherType));
    }
    if !is_within_named_merchants(store, record, &payment)? {
        return Ok(Err(Mismatch::OtherMerchant));
    }
    let effect = LineEffect::of_record(record);
    if payment.amount.currency() != record.amount.currency() && effect != LineEffect::Describe {
        return Ok(Err(Mismatch::OtherCurrency));
    }
    match effect {
        LineEffect::Describe => Ok(Ok(MatchTarget { payment, effect: TargetEffect::Describe })),
        LineEffect::Settle => match load_open_amount(store, &payment)? {
            0 => Ok(Err(Mismatch::AlreadySettled)),
            open => Ok(Ok(MatchTarget { payment, effect: TargetEffect::Settle { open } })),
        },
        LineEffect::ChargeBack => resolve_chargeback(store, record, payment),
        LineEffect::ReverseChargeback => resolve_reversal(store, record, payment),
    }
}

/// Returns the part of a payment that no line of any file has settled, in hundredths. Called in the transaction that
/// writes the line, so imports at the same time never settle a part twice.
pub(super) fn load_open_amount(store: &AdminStore, payment: &Payment) -> Result<i64, StoreError> {
    Ok(payment.amount.hundredths().saturating_sub(store.sum_settled(&payment.id)?).max(0))
}

/// Returns true if a payment belongs to every merchant that a line names: by the merchant's id at the institute, or by
/// the id of the payment's entity or of one above it.
fn is_within_named_merchants(
    store: &AdminStore,
    record: &ReconciliationRecord,
    payment: &Payment,
) -> Result<bool, StoreError> {
    let named = record.import.as_ref().map(|import| import.merchants.as_slice()).unwrap_or_default();
    if named.is_empty() {
        return Ok(true);
    }
    let Some(entity) = store.load_entity(&payment.entity)? else { return Ok(false) };
    let ancestors = store.load_ancestors(&entity)?;
    // The id at the institute may have been set after the payment, so the one of today counts as well.
    let is_payment_of = |name: &String| {
        payment.acquirer_merchant_id() == name
            || entity.acquirer_merchant_id() == name
            || std::iter::once(&entity).chain(&ancestors).any(|owner| owner.id.as_str() == name)
    };
    Ok(named.iter().all(is_payment_of))
}

/// Resolves the line of a chargeback that leads to the charged payment, or to its chargeback.
fn resolve_chargeback(
    store: &AdminStore,
    record: &ReconciliationRecord,
    payment: Payment,
) -> Result<Result<MatchTarget, Mismatch>, StoreError> {
    let payment = match payment.payment_type {
        PaymentType::Chargeback => match load_referenced(store, &payment)? {
            Some(charged) => charged,
            None => return Ok(Err(Mismatch::OtherType)),
        },
        _ => payment,
    };
    let chargeback = store.load_single_follow_up(&payment, PaymentType::Chargeback)?;
    if let Some(mismatch) = find_mismatch(store, record, chargeback.as_ref(), &payment)? {
        return Ok(Err(mismatch));
    }
    Ok(Ok(MatchTarget { payment, effect: TargetEffect::ChargeBack(chargeback.map(Box::new)) }))
}

/// Resolves the line of a reversed chargeback that leads to the charged payment, the chargeback, or its reversal.
fn resolve_reversal(
    store: &AdminStore,
    record: &ReconciliationRecord,
    payment: Payment,
) -> Result<Result<MatchTarget, Mismatch>, StoreError> {
    let chargeback = match payment.payment_type {
        PaymentType::Chargeback => Some(payment),
        PaymentType::ChargebackReversal => load_referenced(store, &payment)?,
        _ => store.load_single_follow_up(&payment, PaymentType::Chargeback)?,
    };
    let Some(chargeback) = chargeback else { return Ok(Err(Mismatch::NoChargeback)) };
    let Some(payment) = load_referenced(store, &chargeback)? else { return Ok(Err(Mismatch::NoChargeback)) };
    let reversal = store.load_single_follow_up(&chargeback, PaymentType::ChargebackReversal)?;
    if let Some(mismatch) = find_mismatch(store, record, reversal.as_ref(), &chargeback)? {
        return Ok(Err(mismatch));
    }
    let effect = TargetEffect::ReverseChargeback { chargeback: Box::new(chargeback), reversal: reversal.map(Box::new) };
    Ok(Ok(MatchTarget { payment, effect }))
}

/// Returns the reason why a line does not fit a follow-up payment that was made before, or cannot make one of
/// `referenced`.
fn find_mismatch(
    store: &AdminStore,
    record: &ReconciliationRecord,
    made: Option<&Payment>,
    referenced: &Payment,
) -> Result<Option<Mismatch>, StoreError> {
    Ok(match made {
        Some(made) if made.amount != record.amount || store.sum_settled(&made.id)? > 0 => {
            Some(Mismatch::OtherChargeback)
        }
        Some(_) => None,
        None => (record.amount > referenced.amount).then_some(Mismatch::AmountTooHigh),
    })
}

fn load_referenced(store: &AdminStore, payment: &Payment) -> Result<Option<Payment>, StoreError> {
    match &payment.referenced {
        Some(referenced) => store.load_payment(&payment.entity, referenced),
        None => Ok(None),
    }
}
