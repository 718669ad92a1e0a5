//! Checks of payment attempts by the schemes' rules for retries. A card that was declined may not be tried again, or
//! not yet; the gateway then declines the payment itself, and sends nothing.
//!
//! The rules decide and count in the write that comes before the request to the connector, so that concurrent attempts
//! see each other. They apply to cards of the schemes in the table, at external connectors. The simulator is shared by
//! all tests of a sandbox, so there they apply only if the request asks for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tillgate_connector::{ConnectorResult, Order, PaymentRoute};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::retry_rules::{
    AttemptHistory, AttemptRecords, NewAttempt, RetryMark, RetryRefusal, SchemeRules,
};
use tillgate_domain::payment::{ConnectorTxIds, Payment, PaymentType};
use tillgate_domain::three_ds::Proof;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;
use tillgate_store::{AttemptKeys, AttemptName, AttemptRow, Changes};

use crate::Gateway;
use crate::payment::account_parameters::StorableAccount;

/// Parameter by which a sandbox merchant applies the rules to a payment in the simulator.
const APPLIED_RULES: &str = "customParameters[applyRetryRules]";
/// Beginning of the hashed text of a name. Stored names depend on it.
const NAME_TEXT: &str = "card attempts";

/// The check of an attempt, which is made under the write lock.
#[derive(Debug, Clone)]
pub(crate) struct AttemptCheck {
    scheme: Arc<SchemeRules>,
    keys: AttemptKeys,
    is_live: bool,
    /// Month and year of the card.
    expiry: String,
}

impl Gateway {
    /// Prepares the check of a new payment, and its mark for the outcome. `None` if no rule applies to it: another
    /// account than a card of a scheme with rules, a credit, or a payment in the simulator that does not ask for it.
    pub(super) fn prepare_attempt_check(
        &self,
        (payment, parameters): (&Payment, &Parameters),
        payer: &Entity,
        order: &Order,
        route: &PaymentRoute,
        account: Option<&StorableAccount>,
    ) -> Option<(AttemptCheck, RetryMark)> {
        let is_external = route.connector.capabilities().is_external;
        let is_subject = is_external || parameters.get(APPLIED_RULES) == Some("true");
        let moves_money = order.payment_type != PaymentType::Credit && !order.amount.is_zero();
        let account = account.filter(|_| is_subject && moves_money)?;
        // Found before the index is computed, because most payments of other brands need no index.
        self.options.retry_rules.find_scheme(&payment.brand, &payment.account)?;
        let index = self.account_index.index_account(&account.identity);
        let masked_index = self.account_index.mask_index(&payment.id, &index)?;
        let check = self.make_attempt_check(payment, payer, &index)?;
        Some((check, RetryMark { masked_index, is_counted: false }))
    }

    /// Returns the check of a stored payment whose attempt is not over. `None` if no rule applies to it.
    pub(crate) fn find_attempt_check(&self, payment: &Payment) -> Option<AttemptCheck> {
        let mark = payment.retry.as_ref()?;
        let payer = self.directory.find_entity(&payment.entity)?;
        let index = self.account_index.mask_index(&payment.id, &mark.masked_index)?;
        self.make_attempt_check(payment, &payer, &index)
    }

    fn make_attempt_check(&self, payment: &Payment, payer: &Entity, index: &str) -> Option<AttemptCheck> {
        let scheme = Arc::clone(self.options.retry_rules.find_scheme(&payment.brand, &payment.account)?);
        let card = payment.account.as_card()?;
        let merchant = payer.merchant_or_self();
        Some(AttemptCheck {
            scheme,
            keys: AttemptKeys {
                card: hash_name(merchant, index, None),
                amount: hash_name(merchant, index, Some(payment.connector_amount())),
            },
            is_live: payer.live,
            expiry: format!("{}{}", card.expiry_month, card.expiry_year),
        })
    }
}

/// Returns the name of the record of a merchant's attempts on a card, with one amount or any. Channels share the
/// records of their merchant, so that another channel is no way around a rule. Two merchants, and two amounts, have
/// unrelated names.
fn hash_name(merchant: &EntityId, index: &str, amount: Option<Amount>) -> AttemptName {
    let amount =
        amount.map(|amount| format!("{} {}", amount.hundredths(), amount.currency().code())).unwrap_or_default();
    let digest: [u8; 32] = Sha256::digest([NAME_TEXT, merchant.as_str(), index, &amount].join("\n")).into();
    let mut name = AttemptName::default();
    name.copy_from_slice(&digest[..16]);
    name
}

impl AttemptCheck {
    /// Returns the keys of the records to load.
    pub(crate) fn keys(&self) -> AttemptKeys {
        self.keys
    }

    /// Returns the refusal of an attempt at a moment that the rules forbid.
    pub(crate) fn find_refusal(
        &self,
        records: &AttemptRecords,
        now: Timestamp,
        is_authenticated: bool,
    ) -> Option<RetryRefusal> {
        self.scheme.find_refusal(records, NewAttempt { now, is_authenticated, expiry: &self.expiry })
    }

    /// Counts the attempt of a payment that is about to be sent, if the card was declined with the amount before.
    /// Returns the changes to write with the payment.
    pub(crate) fn count_attempt(&self, payment: &mut Payment, records: &AttemptRecords, now: Timestamp) -> Changes {
        let counted = self.scheme.after_sending(records, &payment.id, now);
        if let Some(mark) = &mut payment.retry {
            mark.is_counted = counted.is_some();
        }
        self.write_records(AttemptRecords { card: None, amount: counted })
    }

    /// Counts the attempt of a new payment that is sent now, or settles it with the result that an in-process connector
    /// has given already. Returns the changes to write with the payment.
    pub(super) fn record_attempt(&self, payment: &mut Payment, records: &AttemptRecords, is_sent: bool) -> Changes {
        let now = payment.created;
        if is_sent {
            return self.count_attempt(payment, records, now);
        }
        self.settle_attempt(payment, (payment.result, &payment.details), records, now)
    }

    /// Returns the changes that follow from the connector's result of a payment, its code and its details: an approval
    /// ends the count, and a decline counts and has the consequences of its codes. The records of an approved payment
    /// need not be loaded if its mark tells that it was counted.
    pub(crate) fn settle_attempt(
        &self,
        payment: &Payment,
        result: (ResultCode, &BTreeMap<String, String>),
        records: &AttemptRecords,
        now: Timestamp,
    ) -> Changes {
        if result.0.is_pending() {
            return Changes::default();
        }
        if result.0.is_success() {
            // Without an earlier decline nothing was counted, so most approvals write nothing.
            let is_marked = payment.retry.as_ref().is_some_and(|mark| mark.is_counted);
            let is_counted = is_marked || *records != AttemptRecords::default();
            return if is_counted { Changes::default().without_attempts(self.keys) } else { Changes::default() };
        }
        let attempt = NewAttempt { now, is_authenticated: false, expiry: &self.expiry };
        self.write_records(self.scheme.after_decline(records, &payment.id, result, (attempt, self.is_live)))
    }

    fn write_records(&self, records: AttemptRecords) -> Changes {
        let row = |name, history: AttemptHistory| AttemptRow { name, ends: self.scheme.end_of(&history), history };
        let card = records.card.map(|history| row(self.keys.card, history));
        let amount = records.amount.map(|history| row(self.keys.amount, history));
        card.into_iter().chain(amount).fold(Changes::default(), Changes::with_attempt_row)
    }
}

/// Returns true if 3-D Secure has authenticated the cardholder of a payment, here or elsewhere.
pub(crate) fn is_authenticated(payment: &Payment) -> bool {
    Proof::from_parameters(&payment.parameters).is_some_and(|proof| proof.is_authenticated())
}

/// Returns the result of a payment that is refused after it was written.
pub(crate) fn refused_result(refusal: RetryRefusal) -> ConnectorResult {
    ConnectorResult { details: refusal.details(), ..refusal.code.into() }
}

/// Changes a drafted payment to one declined by the rules, without the data of a connector, and returns the changes
/// that store it.
pub(super) fn decline_attempt(payment: Payment, refusal: RetryRefusal) -> (Changes, Arc<Payment>) {
    let payment = Payment {
        connector_tx_ids: ConnectorTxIds::default(),
        retry: None,
        details: refusal.details(),
        ..payment.declined(refusal.code).without_connector().without_response_details()
    };
    let payment = Arc::new(payment);
    (Changes::default().with_payment(Arc::clone(&payment)), payment)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::money::Currency;

    use super::*;

    #[test]
    fn merchants_cards_amounts_and_currencies_have_unrelated_names() {
        let merchant = |number| EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]);
        let amount =
            |hundredths, currency: &str| Amount::from_hundredths(hundredths, Currency::parse(currency).unwrap());
        let mut names = vec![
            hash_name(&merchant(1), "00", amount(9200, "EUR")),
            hash_name(&merchant(2), "00", amount(9200, "EUR")),
            hash_name(&merchant(1), "01", amount(9200, "EUR")),
            hash_name(&merchant(1), "00", amount(9201, "EUR")),
            hash_name(&merchant(1), "00", amount(9200, "USD")),
            hash_name(&merchant(1), "00", None),
        ];
        assert_eq!(names[0], hash_name(&merchant(1), "00", amount(9200, "EUR")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 6);
    }
}
