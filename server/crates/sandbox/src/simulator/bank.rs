//! Bank accounts in the simulator. A direct debit is checked for errors in the order of the code below. Then the
//! accounts of [`test_data`] have their outcomes, and any other account succeeds.
//!
//! Payments by the shopper's own bank return 000.200.000 and a redirect.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tillgate_connector::{BankNumber, ConnectorResult, FullBank, Order};
use tillgate_shared::brand::PaymentMethod;
use tillgate_shared::result::ResultCode;

use crate::test_data;

/// Returns the result of an order: the forced code, else the first error, else that of the test account, else success.
/// A forced code has the acquirer's response 00 if it is a success, MS03 otherwise.
pub(super) fn authorize_bank_account(
    order: &Order,
    bank: &FullBank,
    forced: Option<ResultCode>,
    now: Timestamp,
) -> ConnectorResult {
    if let Some(code) = forced {
        return ConnectorResult::from(code).with_acquirer_response(if code.is_success() { "00" } else { "MS03" });
    }
    // All direct debits of the simulator are SEPA direct debits, which are in EUR only.
    if order.brand.method == PaymentMethod::DirectDebit && order.amount.currency().code() != "EUR" {
        return (&test_data::OTHER_CURRENCY).into();
    }
    let iban = match &bank.number {
        Some(BankNumber::Iban(iban)) => Some(iban),
        _ => None,
    };
    let country = bank.summary.bic.as_deref().and_then(|bic| bic.get(4..6));
    if let (Some(iban), Some(country)) = (iban, country)
        && !country.eq_ignore_ascii_case(iban.country())
    {
        return (&test_data::OTHER_COUNTRY).into();
    }
    if order.mandate_signed.is_some_and(|signed| signed > now.to_zoned(TimeZone::UTC).date()) {
        return (&test_data::FUTURE_MANDATE).into();
    }
    let known = test_data::ACCOUNTS.iter().find(|known| iban.is_some_and(|iban| iban.characters() == known.iban));
    known.map_or(&test_data::GOOD, |known| known.outcome).into()
}
