//! Fields of a callback: those of the decision, and those of its transaction.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_domain::payment::{Account, BankSummary, CardSummary, Payment, VirtualSummary};
use tillgate_domain::review::decision::{DecisionType, ReviewDecision};
use tillgate_shared::parameter::{ParameterGroup, find_parameter};

/// A field whose value becomes a pair of a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CallbackField {
    /// The id by which both systems know the transaction.
    TransactionId,
    /// `APPROVE`, `CANCEL` or `PENDING`.
    Decision,
    /// The analyst's id.
    UserId,
    /// The numeric reason of a cancellation.
    CancelReason,
    /// The analyst's note.
    Note,
    /// The time of the decision.
    ProcessDate,
    /// A field of the transaction, by the name that responses and requests have for it.
    Payment(String),
}

/// Reason why a name is no field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldFault {
    /// There is no such field.
    #[error("there is no field `{0}`; docs/review-callbacks.md lists all fields")]
    Unknown(String),
    /// The value is secret.
    #[error("`{0}` is secret and is never sent")]
    Secret(String),
}

/// The fields of a decision, by name.
const DECISION_FIELDS: [(&str, CallbackField); 6] = [
    ("transactionId", CallbackField::TransactionId),
    ("decision", CallbackField::Decision),
    ("userId", CallbackField::UserId),
    ("cancelReason", CallbackField::CancelReason),
    ("note", CallbackField::Note),
    ("processDate", CallbackField::ProcessDate),
];

/// Reads a field of a payment. Returns `None` if the payment has no value for it.
type ReadPayment = fn(&Payment) -> Option<String>;

/// Fields of a payment that are no parameters of its request.
const PAYMENT_FIELDS: [(&str, ReadPayment); 31] = [
    ("id", |payment| Some(payment.id.to_string())),
    ("shortId", |payment| Some(payment.id.short_id())),
    ("entityId", |payment| Some(payment.entity.to_string())),
    ("referencedId", |payment| payment.referenced.as_ref().map(ToString::to_string)),
    ("registrationId", |payment| payment.registration.as_ref().map(ToString::to_string)),
    ("timestamp", |payment| Some(payment.created.strftime("%Y-%m-%d %H:%M:%S+0000").to_string())),
    ("paymentType", |payment| Some(payment.payment_type.code().to_owned())),
    ("paymentBrand", |payment| Some(payment.brand.clone())),
    ("amount", |payment| Some(payment.amount.to_string())),
    ("currency", |payment| Some(payment.amount.currency().code().to_owned())),
    ("descriptor", |payment| Some(payment.descriptor.clone())),
    ("result.code", |payment| Some(payment.result.code().to_owned())),
    ("result.description", |payment| Some(payment.result.description().to_owned())),
    ("result.avsResponse", |payment| payment.avs.map(String::from)),
    ("result.cvvResponse", |payment| payment.cvv.map(String::from)),
    ("card.bin", |payment| Some(card_of(payment)?.bin.clone())),
    ("card.last4Digits", |payment| Some(card_of(payment)?.last4.clone())),
    ("card.holder", |payment| card_of(payment)?.holder.clone()),
    ("card.expiryMonth", |payment| Some(card_of(payment)?.expiry_month.clone())),
    ("card.expiryYear", |payment| Some(card_of(payment)?.expiry_year.clone())),
    ("bankAccount.holder", |payment| bank_of(payment)?.holder.clone()),
    ("bankAccount.iban", |payment| bank_of(payment)?.iban.clone()),
    ("bankAccount.last4Digits", |payment| bank_of(payment)?.last4.clone()),
    ("bankAccount.bic", |payment| bank_of(payment)?.bic.clone()),
    ("bankAccount.bankCode", |payment| bank_of(payment)?.bank_code.clone()),
    ("bankAccount.bankName", |payment| bank_of(payment)?.bank_name.clone()),
    ("bankAccount.country", |payment| bank_of(payment)?.country.clone()),
    ("virtualAccount.accountId", |payment| Some(provider_account_of(payment)?.account_id.clone())),
    ("virtualAccount.holder", |payment| provider_account_of(payment)?.holder.clone()),
    ("risk.score", |payment| Some(payment.risk.as_ref()?.decision.as_ref()?.score.to_string())),
    ("merchantTransactionId", |payment| payment.merchant_transaction_id().map(str::to_owned)),
];

/// Beginning of the names of the acquirer's data.
const DETAILS: &str = "resultDetails.";
/// Names of the acquirer's transaction ids.
const CONNECTOR_IDS: [&str; 3] = ["ConnectorTxID1", "ConnectorTxID2", "ConnectorTxID3"];

impl CallbackField {
    /// Parses the name of a field: one of the decision, one that responses have, or a parameter of the catalogue.
    ///
    /// # Errors
    /// If there is no such field, or its value is secret.
    pub fn parse(name: &str) -> Result<Self, FieldFault> {
        if let Some((_, field)) = DECISION_FIELDS.iter().find(|(known, _)| *known == name) {
            return Ok(field.clone());
        }
        let is_detail = name.strip_prefix(DETAILS).is_some_and(|rest| (1..=64).contains(&rest.len()));
        if is_detail || PAYMENT_FIELDS.iter().any(|(known, _)| *known == name) {
            return Ok(Self::Payment(name.to_owned()));
        }
        match find_parameter(name) {
            Some(row) if row.secret || row.group == ParameterGroup::Authentication => {
                Err(FieldFault::Secret(name.to_owned()))
            }
            Some(_) => Ok(Self::Payment(name.to_owned())),
            None => Err(FieldFault::Unknown(name.to_owned())),
        }
    }

    /// Returns the name of the field.
    pub fn name(&self) -> &str {
        match self {
            Self::Payment(name) => name,
            other => DECISION_FIELDS.iter().find(|(_, field)| field == other).map_or("", |(name, _)| name),
        }
    }

    /// Returns the value for a callback. Returns `None` if the field does not apply or is empty: a reason that is not
    /// of a cancellation, a missing note, a parameter that was not sent.
    pub fn read_value(&self, decision: &ReviewDecision, payment: &Payment) -> Option<String> {
        let value = match self {
            Self::TransactionId => Some(decision.transaction_id.clone()),
            Self::Decision => Some(decision.decision.as_str().to_owned()),
            Self::UserId => Some(decision.user_id.clone()),
            Self::CancelReason => {
                let reason = decision.cancel_reason.filter(|_| decision.decision == DecisionType::Cancel);
                reason.map(|reason| reason.to_string())
            }
            Self::Note => decision.note.clone(),
            Self::ProcessDate => Some(format_process_date(decision.processed)),
            Self::Payment(name) => read_payment_field(name, payment),
        };
        value.filter(|value| !value.is_empty())
    }
}

impl fmt::Display for CallbackField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TryFrom<String> for CallbackField {
    type Error = FieldFault;

    fn try_from(name: String) -> Result<Self, FieldFault> {
        Self::parse(&name)
    }
}

impl From<CallbackField> for String {
    fn from(field: CallbackField) -> Self {
        field.name().to_owned()
    }
}

/// Formats the time of a decision as `yyyy-MM-dd HH:mm:ss.SSS`, in UTC.
pub(super) fn format_process_date(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S.%3f").to_string()
}

/// Returns a field of a payment by its name, or `None` if the payment has no value for it.
fn read_payment_field(name: &str, payment: &Payment) -> Option<String> {
    if let Some((_, read)) = PAYMENT_FIELDS.iter().find(|(known, _)| *known == name) {
        return read(payment);
    }
    if let Some(detail) = name.strip_prefix(DETAILS) {
        let id = CONNECTOR_IDS.iter().position(|known| *known == detail);
        let id = id.and_then(|place| payment.connector_tx_ids.get(place));
        return payment.details.get(detail).or(id).cloned();
    }
    payment.parameters.get(name).map(str::to_owned)
}

fn card_of(payment: &Payment) -> Option<&CardSummary> {
    payment.account.as_card()
}

fn bank_of(payment: &Payment) -> Option<&BankSummary> {
    match &payment.account {
        Account::Bank(bank) => Some(bank),
        _ => None,
    }
}

fn provider_account_of(payment: &Payment) -> Option<&VirtualSummary> {
    match &payment.account {
        Account::Virtual(account) => Some(account),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_parameter_has_the_name_of_a_field_of_the_decision() {
        for (name, field) in DECISION_FIELDS {
            assert!(find_parameter(name).is_none(), "{name}");
            assert_eq!((field.name(), CallbackField::parse(name)), (name, Ok(field.clone())));
        }
    }

    #[test]
    fn card_numbers_codes_and_credentials_are_no_fields() {
        for name in ["card.number", "card.cvv", "authentication.password", "authentication.userId"] {
            assert_eq!(CallbackField::parse(name), Err(FieldFault::Secret(name.to_owned())));
        }
        for name in ["", "card", "resultDetails.", "customParameters[", "no.such"] {
            assert!(matches!(CallbackField::parse(name), Err(FieldFault::Unknown(_))), "{name}");
        }
        for name in ["customer.email", "cart.items[0].name", "customParameters[shop]", "resultDetails.AcquirerResponse"]
        {
            assert_eq!(CallbackField::parse(name), Ok(CallbackField::Payment(name.to_owned())));
        }
    }
}
