//! The simulated issuer: approves or declines test numbers and test amounts.
//!
//! The host accepts the same documented test numbers as the gateway's sandbox, from the same table, and no other cards.

use jiff::Timestamp;
use tillgate_connector::http::protocol::{AccountData, AuthorizationRequest, BankData, CardData, SecretText};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::{Expiry, last_month};
use tillgate_store::acquirer_host::entry::{EntryKind, NewEntry};

use crate::test_data::{self, published_numbers};

/// Amounts from 1000.00 to 1000.99 in minor units: the last two digits are the response code.
const AMOUNTS_OF_CODES: std::ops::RangeInclusive<u64> = 100_000..=100_099;
/// Amounts from 1001.00 to 1001.99 in minor units: declined, with the last two digits as the scheme's advice code.
const AMOUNTS_OF_ADVICE: std::ops::RangeInclusive<u64> = 100_100..=100_199;
/// Response code of a decline with an advice code.
const DECLINED_WITH_ADVICE: &str = "05";
/// Response code of an approval of a part of the amount. This issuer approves a half, also if the merchant has not said
/// that it accepts a part: an issuer in the field may do so as well.
const PARTIALLY_APPROVED: &str = "10";

/// The issuer's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerDecision {
    /// Response code.
    pub code: String,
    /// Result of the address check.
    pub avs: Option<char>,
    /// Result of the check of the security code.
    pub cvv: Option<char>,
    /// The account in its displayable form.
    pub account: Option<String>,
    /// Approved amount in minor units, if only a part is approved.
    pub approved_amount: Option<u64>,
}

/// Decides an authorization request at a moment by its account; a provider's account is always approved. If approved,
/// an amount from 1000.00 to 1000.99 replaces the code by its last two digits, and one from 1001.00 to 1001.99 by a
/// decline. The checks of address and code do
/// not change the decision. Returns `None` if the account cannot be read.
pub fn decide_authorization(request: &AuthorizationRequest, now: Timestamp) -> Option<IssuerDecision> {
    let (code, account, cvv) = match &request.account {
        AccountData::Card(card) => {
            let number = CardNumber::parse(card.number.expose()).ok()?;
            let expiry = Expiry::parse(&card.expiry_month, &card.expiry_year).ok()?;
            let masked = format!("{}******{}", number.bin().get(..6)?, number.last4());
            (card_response_code(request, &number, expiry, now), masked, check_security_code(card))
        }
        AccountData::Bank(bank) => {
            let last4 = match bank.iban.as_ref().or(bank.number.as_ref()).map(SecretText::expose) {
                Some(number) => number.char_indices().nth_back(3).and_then(|(start, _)| number.get(start..))?,
                // The shopper enters the account on a page of the bank.
                None if request.return_url.is_some() => "",
                None => return None,
            };
            (bank_response_code(bank), format!("******{last4}"), None)
        }
        // The shopper logs in to the account and decides on the provider's page.
        AccountData::Provider(_) => ("00", "provider".to_owned(), None),
    };
    let code = match code {
        "00" if AMOUNTS_OF_CODES.contains(&request.payment.amount) => {
            format!("{:02}", request.payment.amount - AMOUNTS_OF_CODES.start())
        }
        "00" if AMOUNTS_OF_ADVICE.contains(&request.payment.amount) => DECLINED_WITH_ADVICE.to_owned(),
        code => code.to_owned(),
    };
    let avs = test_data::check_address(request.billing.street.as_deref(), request.billing.postcode.as_deref());
    let approved_amount = (code == PARTIALLY_APPROVED).then_some(request.payment.amount / 2);
    Some(IssuerDecision { code, avs, cvv, account: Some(account), approved_amount })
}

/// Returns the scheme's advice code in the response to a payment that is declined because of its amount. `None` for
/// another entry.
pub fn find_advice_code(entry: &NewEntry) -> Option<String> {
    let is_payment = matches!(entry.kind, EntryKind::Authorization | EntryKind::Debit);
    let is_declined = !entry.approved && entry.code == DECLINED_WITH_ADVICE;
    let is_advised = is_payment && is_declined && AMOUNTS_OF_ADVICE.contains(&entry.amount);
    is_advised.then(|| format!("{:02}", entry.amount - AMOUNTS_OF_ADVICE.start()))
}

/// Decides an increment by its amount, like an authorization. The codes of a part and of an unknown outcome approve it.
pub fn decide_increment(amount: u64) -> String {
    if !AMOUNTS_OF_CODES.contains(&amount) {
        return "00".to_owned();
    }
    match format!("{:02}", amount - AMOUNTS_OF_CODES.start()).as_str() {
        PARTIALLY_APPROVED | "68" => "00".to_owned(),
        code => code.to_owned(),
    }
}

/// Returns the response code of a card: 14 if it is no test number of the brand, 54 if it has expired, otherwise the
/// code of the test data, or 00. A soft decline (1A) becomes 00 if 3-D Secure has authenticated the cardholder or
/// attempted to, or if the amount is zero.
fn card_response_code(
    request: &AuthorizationRequest,
    number: &CardNumber,
    expiry: Expiry,
    now: Timestamp,
) -> &'static str {
    let digits = number.digits();
    let fits_brand = Brand::find(&request.brand).is_some_and(|brand| brand.allows_number(digits));
    if !number.is_luhn_valid() || !published_numbers::is_test_number(digits) || !fits_brand {
        return "14";
    }
    if expiry.is_past(last_month(now.as_second())) {
        return "54";
    }
    let status = request.three_ds.as_ref().and_then(|three_ds| three_ds.status.as_deref());
    let is_authenticated = matches!(status, Some("Y" | "A")) || request.payment.amount == 0;
    match test_data::CARDS.iter().find(|card| card.number == digits).map_or("00", |card| card.outcome.acquirer) {
        // A soft decline: the cardholder has to be authenticated first.
        "1A" if is_authenticated => "00",
        code => code,
    }
}

/// Returns the response code that the test data have for the IBAN; 00 for any other account, also one without an IBAN.
fn bank_response_code(bank: &BankData) -> &'static str {
    let iban = bank.iban.as_ref().map(|iban| iban.expose());
    test_data::ACCOUNTS
        .iter()
        .find(|account| Some(account.iban) == iban)
        .map_or("00", |account| account.outcome.acquirer)
}

/// Returns the result of the check of the security code. `None` if the request has no code.
fn check_security_code(card: &CardData) -> Option<char> {
    Some(test_data::check_security_code(card.security_code.as_ref()?.expose()))
}
