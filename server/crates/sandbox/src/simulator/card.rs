//! Cards in the simulator. A card is checked for errors in the order of the code below, and any other card succeeds.
//! The values with a special meaning are in [`test_data`].
//!
//! The address check (`result.avsResponse`) runs if a payment has `billing.street1` or `billing.postcode`. The check of
//! the security code (`result.cvvResponse`) runs if a code was sent, or if the shopper typed a card whose brand
//! requires a code. Neither check changes the outcome: the merchant decides what to do about the result.

use jiff::Timestamp;
use tillgate_connector::{CardSource, ConnectorResult, FullCard, Order};
use tillgate_shared::format::expiry::last_month;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, codes};

use crate::test_data;

/// Returns the result of an order, with the forced advice code of the scheme, if there is one: a success becomes a
/// decline, because the simulator has no approvals with an advice.
pub(super) fn authorize_card(
    order: &Order,
    card: &FullCard,
    forced: Option<ResultCode>,
    now: Timestamp,
) -> ConnectorResult {
    let result = decide_card(order, card, forced, now);
    let Some(advice) = &order.forced_advice_code else { return result };
    let is_code = advice.len() == 2 && advice.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let result = match result.code.is_success() {
        _ if !is_code => return codes::FORCED_CODE_UNKNOWN.into(),
        true => with_check_results(order, card, (&test_data::ADVISED).into()),
        false => result,
    };
    result.with_advice_code(advice)
}

/// Returns the result of an order: the forced code, else the first error, else that of the test card, else success. A
/// forced code has the acquirer's response 00 if it is a success, 05 otherwise. An error, unlike any other result, has
/// no results of the address and security code checks.
fn decide_card(order: &Order, card: &FullCard, forced: Option<ResultCode>, now: Timestamp) -> ConnectorResult {
    // A forced soft decline applies only once: the repeated payment is authenticated.
    let forced = forced.filter(|code| *code != codes::SOFT_DECLINED || !order.is_authenticated());
    if let Some(code) = forced {
        return with_check_results(
            order,
            card,
            ConnectorResult::from(code).with_acquirer_response(if code.is_success() { "00" } else { "05" }),
        );
    }
    if !card.number.is_luhn_valid() {
        return (&test_data::WRONG_CHECK_DIGIT).into();
    }
    if !order.brand.allows_number(card.number.digits()) {
        return (&test_data::OTHER_BRAND).into();
    }
    if card.expiry.is_past(last_month(now.as_second())) {
        return (&test_data::EXPIRED).into();
    }
    if let Some(code) = &card.security_code
        && !order.brand.code_lengths().iter().any(|length| usize::from(*length) == code.digits().len())
    {
        return (&test_data::CODE_LENGTH).into();
    }
    let known = test_data::CARDS.iter().find(|known| known.number == card.number.digits());
    let outcome = match known.map(|known| known.outcome) {
        // A zero-amount verification needs no authentication, so it is never declined softly.
        Some(soft) if soft.result == codes::SOFT_DECLINED && (order.is_authenticated() || order.amount.is_zero()) => {
            &test_data::GOOD
        }
        Some(outcome) => outcome,
        None => &test_data::GOOD,
    };
    let approved_amount = find_approved_part(order).filter(|_| outcome.result.is_success());
    with_check_results(order, card, ConnectorResult { approved_amount, ..outcome.into() })
}

/// Returns the half of the amount if an order accepts a part and has the test amount of partial approvals. `None` if
/// the whole amount is approved.
fn find_approved_part(order: &Order) -> Option<Amount> {
    let is_part = order.accepts_partial_approval && order.amount.hundredths() == test_data::PARTLY_APPROVED;
    let part = || Amount::from_hundredths(order.amount.hundredths() / 2, order.amount.currency());
    is_part.then(part).flatten()
}

/// Adds the results of the address and security code checks to a result.
fn with_check_results(order: &Order, card: &FullCard, result: ConnectorResult) -> ConnectorResult {
    ConnectorResult {
        avs: test_data::check_address(order.address.street.as_deref(), order.address.postcode.as_deref()),
        cvv: check_security_code(order, card),
        ..result
    }
}

/// Returns the letter for the security code. Without a code: the letter of a missing code if the shopper typed a card
/// whose brand requires one, otherwise `None`.
fn check_security_code(order: &Order, card: &FullCard) -> Option<char> {
    let Some(code) = &card.security_code else {
        let is_expected = card.source == CardSource::Keyed && order.shopper_present && !order.brand.is_code_optional();
        return is_expected.then_some(test_data::CODE_MISSING.letter);
    };
    Some(test_data::check_security_code(code.digits()))
}
