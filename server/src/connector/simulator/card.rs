//! Cards in the simulator: what is wrong with a card is looked for in the order of the code below, and everything else
//! succeeds. The values that mean something are in [`test_data`].
//!
//! The address check (`result.avsResponse`) answers a payment that has `billing.street1` or `billing.postcode`; the check
//! of the security code (`result.cvvResponse`) one whose card was typed, unless the brand has cards without a code. Neither
//! check changes the outcome: what to do about it is the merchant's to decide.

use jiff::civil::Date;
use tillgate_shared::result::{ResultCode, codes};

use super::super::{Address, ConnectorResult, Entry, FullCard, Order};
use super::test_data;

pub(super) fn authorize(order: &Order, card: &FullCard, forced: Option<ResultCode>, today: Date) -> ConnectorResult {
    // Whoever asks for it twice has been authenticated in between.
    let forced = forced.filter(|code| *code != codes::SOFT_DECLINED || !order.is_authenticated());
    if let Some(code) = forced {
        return checked(
            order,
            card,
            ConnectorResult::from(code).with_acquirer_response(if code.is_success() { "00" } else { "05" }),
        );
    }
    if !card.number.luhn_valid() {
        return test_data::WRONG_CHECK_DIGIT.result();
    }
    if !order.brand.accepts(card.number.digits()) {
        return test_data::OTHER_BRAND.result();
    }
    let this_month = (today.year().unsigned_abs(), today.month().unsigned_abs());
    if card.expiry.is_past(this_month) {
        return test_data::EXPIRED.result();
    }
    if let Some(code) = &card.code
        && !order.brand.code_lengths().iter().any(|length| usize::from(*length) == code.digits().len())
    {
        return test_data::CODE_LENGTH.result();
    }
    let known = test_data::CARDS.iter().find(|known| known.number == card.number.digits());
    let outcome = match known.map(|known| known.outcome) {
        // What moves no money needs nobody's word.
        Some(soft) if soft.result == codes::SOFT_DECLINED && (order.is_authenticated() || order.amount.is_zero()) => {
            &test_data::GOOD
        }
        Some(outcome) => outcome,
        None => &test_data::GOOD,
    };
    checked(order, card, outcome.result())
}

/// Adds what the issuer says of address and code.
fn checked(order: &Order, card: &FullCard, result: ConnectorResult) -> ConnectorResult {
    ConnectorResult { avs: avs(&order.address), cvv: cvv(order, card), ..result }
}

fn avs(address: &Address) -> Option<char> {
    match (&address.street, &address.postcode) {
        (None, None) => None,
        (Some(_), Some(postcode)) => {
            let known = test_data::POSTCODES.iter().find(|known| known.value == postcode);
            Some(known.unwrap_or(&test_data::ADDRESS_MATCHES).letter)
        }
        (Some(_), None) | (None, Some(_)) => Some(test_data::ADDRESS_INCOMPLETE.letter),
    }
}

fn cvv(order: &Order, card: &FullCard) -> Option<char> {
    let Some(code) = &card.code else {
        let expected = card.entry == Entry::Keyed && order.shopper_present && !order.brand.code_optional();
        return expected.then_some(test_data::CODE_MISSING.letter);
    };
    let number = code.digits().parse().ok();
    let known = test_data::SECURITY_CODES.iter().find(|known| Some(known.value) == number);
    Some(known.map_or(test_data::CODE_MATCHES.letter, |known| known.letter))
}
