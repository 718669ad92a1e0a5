//! Cards in the simulator.
//!
//! In this order: a number that fails Luhn's check (ISO/IEC 7812-1) gives 100.100.101; a number of another scheme than
//! the brand 100.100.700; an expired card 100.100.303; a code of the wrong length for the brand 100.100.601;
//! 4111111111111111 the code of external test mode; everything else succeeds.
//!
//! The address check (`result.avsResponse`) answers a payment that has `billing.street1` or `billing.postcode`. By the
//! postcode: 90001 A (the address matches, the postcode does not), 90002 Z (the other way round), 90003 N (neither),
//! 90004 U (not to be had), any other F (both); U when only one of the two was sent.
//!
//! The check of the security code (`result.cvvResponse`) answers by the code: 001 N (no match), 002 P (not processed),
//! 003 S (there should be one), 004 U (the issuer cannot), any other M (match); of a brand with four digits 0001 to 0004.
//! A card that was typed without a code gives S, unless its brand has cards without one. Neither check changes the
//! outcome: what to do about it is the merchant's to decide.
//!
//! `resultDetails.AcquirerResponse` is the response code of ISO 8583, field 39: 00 approved, 05 declined, 14 no such
//! card, 54 expired, 82 wrong code.

use jiff::civil::Date;
use tillgate_shared::result::{ResultCode, codes};

use super::super::{Address, Answer, Entry, FullCard, Order};

/// The card that answers as if the connector's own test system had.
const EXTERNAL_CARD: &str = "4111111111111111";

pub(super) fn authorize(order: &Order, card: &FullCard, forced: Option<ResultCode>, today: Date) -> Answer {
    if let Some(code) = forced {
        return checked(order, card, Answer::from(code).acquirer(if code.is_success() { "00" } else { "05" }));
    }
    if !card.number.luhn_valid() {
        return Answer::from(codes::INVALID_CARD_NUMBER).acquirer("14");
    }
    if !order.brand.accepts(card.number.digits()) {
        return Answer::from(codes::NUMBER_NOT_OF_BRAND).acquirer("14");
    }
    let this_month = (today.year().unsigned_abs(), today.month().unsigned_abs());
    if card.expiry.is_past(this_month) {
        return Answer::from(codes::CARD_EXPIRED).acquirer("54");
    }
    if let Some(code) = &card.code
        && !order.brand.code_lengths().iter().any(|length| usize::from(*length) == code.digits().len())
    {
        return Answer::from(codes::CODE_INVALID).acquirer("82");
    }
    let result = if card.number.digits() == EXTERNAL_CARD { codes::TEST_CONNECTOR } else { codes::TEST_INTERNAL };
    checked(order, card, Answer::from(result).acquirer("00"))
}

/// Adds what the issuer says of address and code.
fn checked(order: &Order, card: &FullCard, answer: Answer) -> Answer {
    Answer { avs: avs(&order.address), cvv: cvv(order, card), ..answer }
}

fn avs(address: &Address) -> Option<char> {
    Some(match (&address.street, &address.postcode) {
        (None, None) => return None,
        (Some(_), Some(postcode)) => match postcode.as_str() {
            "90001" => 'A',
            "90002" => 'Z',
            "90003" => 'N',
            "90004" => 'U',
            _ => 'F',
        },
        (Some(_), None) | (None, Some(_)) => 'U',
    })
}

fn cvv(order: &Order, card: &FullCard) -> Option<char> {
    let Some(code) = &card.code else {
        let expected = card.entry == Entry::Keyed && order.shopper_present && !order.brand.code_optional();
        return expected.then_some('S');
    };
    Some(match code.digits().trim_start_matches('0') {
        "1" => 'N',
        "2" => 'P',
        "3" => 'S',
        "4" => 'U',
        _ => 'M',
    })
}
