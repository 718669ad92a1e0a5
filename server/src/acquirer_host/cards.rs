//! Judgement of an account and an amount: which test numbers and amounts are approved, and which are declined.
//!
//! The host takes the same documented test numbers as the gateway's sandbox, from the same table, and no other card.

use jiff::civil::Date;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;

use crate::connector::http::wire::{AccountData, AuthorizationRequest, BankData, CardData};
use crate::connector::simulator::{test_data, test_numbers};

/// Amounts from 1000.00 to 1000.99 in minor units: the last two digits are the response code.
const AMOUNTS_OF_CODES: std::ops::RangeInclusive<u64> = 100_000..=100_099;

/// The issuer's judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Response code.
    pub code: String,
    /// Result of the address check.
    pub avs: Option<char>,
    /// Result of the check of the security code.
    pub cvv: Option<char>,
    /// The account as it may be shown.
    pub account: Option<String>,
}

/// Judges a request on a day. Returns `None` for an account that cannot be read.
pub fn judge(request: &AuthorizationRequest, today: Date) -> Option<Judgement> {
    let (code, account, cvv) = match &request.account {
        AccountData::Card(card) => {
            let number = CardNumber::parse(card.number.expose()).ok()?;
            let expiry = Expiry::parse(&card.expiry_month, &card.expiry_year).ok()?;
            let shown = format!("{}******{}", number.bin().get(..6)?, number.last4());
            (card_code(request, &number, expiry, today), shown, cvv(card))
        }
        AccountData::Bank(bank) => {
            let number = bank.iban.as_ref().or(bank.number.as_ref())?.expose();
            let shown = number.char_indices().nth_back(3).and_then(|(start, _)| number.get(start..))?;
            (bank_code(bank), format!("******{shown}"), None)
        }
    };
    let code = match code {
        "00" if AMOUNTS_OF_CODES.contains(&request.amount) => {
            format!("{:02}", request.amount - AMOUNTS_OF_CODES.start())
        }
        code => code.to_owned(),
    };
    Some(Judgement { code, avs: avs(request), cvv, account: Some(account) })
}

fn card_code(request: &AuthorizationRequest, number: &CardNumber, expiry: Expiry, today: Date) -> &'static str {
    let digits = number.digits();
    let is_of_brand = Brand::find(&request.brand).is_some_and(|brand| brand.accepts(digits));
    if !number.luhn_valid() || !test_numbers::is_test_number(digits) || !is_of_brand {
        return "14";
    }
    if expiry.is_past((today.year().unsigned_abs(), today.month().unsigned_abs())) {
        return "54";
    }
    let status = request.three_ds.as_ref().and_then(|three_ds| three_ds.status.as_deref());
    let is_authenticated = matches!(status, Some("Y" | "A")) || request.amount == 0;
    match test_data::CARDS.iter().find(|card| card.number == digits).map_or("00", |card| card.outcome.acquirer) {
        // A soft decline: the cardholder has to be authenticated first.
        "1A" if is_authenticated => "00",
        code => code,
    }
}

fn bank_code(bank: &BankData) -> &'static str {
    let iban = bank.iban.as_ref().map(|iban| iban.expose());
    test_data::ACCOUNTS
        .iter()
        .find(|account| Some(account.iban) == iban)
        .map_or("00", |account| account.outcome.acquirer)
}

fn avs(request: &AuthorizationRequest) -> Option<char> {
    match (&request.billing.street, &request.billing.postcode) {
        (None, None) => None,
        (Some(_), Some(postcode)) => {
            let known = test_data::POSTCODES.iter().find(|known| known.value == postcode);
            Some(known.unwrap_or(&test_data::ADDRESS_MATCHES).letter)
        }
        (Some(_), None) | (None, Some(_)) => Some(test_data::ADDRESS_INCOMPLETE.letter),
    }
}

fn cvv(card: &CardData) -> Option<char> {
    let number = card.security_code.as_ref()?.expose().parse().ok();
    let known = test_data::SECURITY_CODES.iter().find(|known| Some(known.value) == number);
    Some(known.map_or(test_data::CODE_MATCHES.letter, |known| known.letter))
}
