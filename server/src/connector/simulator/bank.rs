//! Bank accounts in the simulator: what is wrong with a direct debit is looked for in the order of the code below, then
//! the accounts of [`test_data`] give their outcomes, and any other account is good.
//!
//! Ways to pay by the shopper's own bank answer 000.200.000 and a redirect.

use jiff::civil::Date;
use tillgate_shared::brand::Method;
use tillgate_shared::result::ResultCode;

use super::super::{BankNumber, ConnectorResult, FullBank, Order};
use super::test_data;

pub(super) fn authorize(order: &Order, bank: &FullBank, forced: Option<ResultCode>, today: Date) -> ConnectorResult {
    if let Some(code) = forced {
        return ConnectorResult::from(code).with_acquirer_response(if code.is_success() { "00" } else { "MS03" });
    }
    // The direct debits that there are belong to the euro area.
    if order.brand.method == Method::DirectDebit && order.amount.currency().code() != "EUR" {
        return test_data::OTHER_CURRENCY.result();
    }
    let iban = match &bank.number {
        Some(BankNumber::Iban(iban)) => Some(iban),
        _ => None,
    };
    let country = bank.about.bic.as_deref().and_then(|bic| bic.get(4..6));
    if let (Some(iban), Some(country)) = (iban, country)
        && !country.eq_ignore_ascii_case(iban.country())
    {
        return test_data::OTHER_COUNTRY.result();
    }
    if order.mandate_signed.is_some_and(|signed| signed > today) {
        return test_data::FUTURE_MANDATE.result();
    }
    let known = test_data::ACCOUNTS.iter().find(|known| iban.is_some_and(|iban| iban.characters() == known.iban));
    known.map_or(&test_data::GOOD, |known| known.outcome).result()
}
