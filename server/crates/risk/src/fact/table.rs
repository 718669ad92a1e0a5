//! The computed facts, one row each. The documentation and the errors of conditions come from these rows.

use tillgate_domain::risk::list::RiskListKind;

use super::super::input::{Reading, read};
use super::FactKind::{Amount, Duration, Flag, Number, Text, Time};
use super::Source::{Browser, Gateway, Merchant};
use super::{FactKind, FactRow, ReadFact, Source};

const fn new_row(name: &'static str, kind: FactKind, source: Source, read: ReadFact, note: &'static str) -> FactRow {
    FactRow {
        name,
        kind,
        source,
        note,
        needs_account: false,
        is_late: false,
        is_for_offers: false,
        follows: &[],
        read: Some(read),
    }
}

/// Creates a row whose source is the source of parameters, if one of them was sent.
const fn new_following(parameters: &'static [&'static str], row: FactRow) -> FactRow {
    FactRow { follows: parameters, ..row }
}

/// Parameters with the result of 3-D Secure.
const THREE_DS: &[&str] = &["threeDSecure.eci", "threeDSecure.authenticationStatus"];

/// Marks a row whose value may change until the payment is written: a result of its connector or issuer, or a row of
/// the store.
const fn read_late(row: FactRow) -> FactRow {
    FactRow { is_late: true, ..row }
}

/// Marks a row that is not known before a card or an account is chosen.
const fn of_account(row: FactRow) -> FactRow {
    FactRow { needs_account: true, ..row }
}

/// Marks a row that only offers can read.
const fn of_offer(row: FactRow) -> FactRow {
    FactRow { is_for_offers: true, ..row }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[FactRow] = &[
    new_row("amount", Amount, Merchant, read::amount, "Amount of the payment; `risk.amount` if it was sent."),
    new_row("currency", Text, Merchant, read::currency, "Currency of the payment, three letters."),
    of_account(new_row("brand", Text, Browser, read::brand, "Brand of the payment, such as VISA.")),
    of_account(new_row("bin", Text, Browser, read::bin, "First six digits of the card number.")),
    of_account(new_following(&["card.holder"], new_row("card.holder", Text, Browser, |r: &Reading<'_>| r.read_text("card.holder"), "Name on the card."))),
    of_account(new_following(&["card.expiryMonth"], new_row("card.expiryMonth", Number, Browser, |r: &Reading<'_>| r.read_number("card.expiryMonth"), "Month of the card's expiry, 1 to 12."))),
    of_account(new_following(&["card.expiryYear"], new_row("card.expiryYear", Number, Browser, |r: &Reading<'_>| r.read_number("card.expiryYear"), "Year of the card's expiry, four digits."))),
    of_account(new_row("card.country", Text, Browser, read::card_country, "Country of the card's issuer, two letters, if known.")),
    of_account(new_row("card.funding", Text, Browser, read::card_funding, "Funding of the card, if known: credit, debit, prepaid or charge.")),
    read_late(of_account(new_row("avs", Text, Gateway, read::avs, "Answer of the address check, one letter. Known after authorization."))),
    read_late(of_account(new_row("cvv", Text, Gateway, read::cvv, "Answer of the security code's check, one letter. Known after authorization."))),
    read_late(of_account(new_following(THREE_DS, new_row("threeDs.result", Text, Gateway, read::three_ds_result, "Transaction status of 3-D Secure, one letter: Y, A, N, U, R, C or I. The merchant may send one of another authentication.")))),
    read_late(of_account(new_following(THREE_DS, new_row("threeDs.eci", Text, Gateway, read::eci, "ECI of 3-D Secure, two digits. The merchant may send one of another authentication.")))),
    read_late(of_account(new_following(THREE_DS, new_row("threeDs.liabilityShifted", Flag, Gateway, read::liability_shifted, "True if the issuer bears the loss of a fraud, by that result.")))),
    new_following(&["billing.country", "shipping.country"], new_row("mismatch.country", Flag, Browser, |r: &Reading<'_>| r.compare_parameters("billing.country", "shipping.country"), "True if billing and shipping country differ.")),
    new_following(&["billing.postcode", "shipping.postcode"], new_row("mismatch.postcode", Flag, Browser, |r: &Reading<'_>| r.compare_parameters("billing.postcode", "shipping.postcode"), "True if billing and shipping postcode differ. Only letters and digits count.")),
    new_following(&["billing.street1", "shipping.street1"], new_row("mismatch.street", Flag, Browser, |r: &Reading<'_>| r.compare_parameters("billing.street1", "shipping.street1"), "True if billing and shipping street differ. Only letters and digits count.")),
    of_account(new_following(&["billing.country"], new_row("mismatch.cardCountry", Flag, Browser, read::card_country_mismatch, "True if the card's country is not the billing country."))),
    new_following(&["billing.country"], new_row("mismatch.ipCountry", Flag, Browser, read::ip_country_mismatch, "True if the country of `ip` is not the billing country.")),
    new_following(&["customer.email"], new_row("email.domain", Text, Browser, read::email_domain, "Domain of `customer.email`.")),
    new_following(&["customer.email"], new_row("email.disposable", Flag, Browser, read::email_disposable, "True if that domain is on the operator's list of disposable domains.")),
    new_following(&["customer.ip"], new_row("ip", Text, Gateway, read::ip, "Address of the shopper's client as the gateway saw it, otherwise `customer.ip`. Shoppers can change it (VPN).")),
    new_following(&["customer.ip"], new_row("ip.network", Text, Gateway, read::ip_network, "Network of `ip`: its /24, or its /48 for IPv6.")),
    new_following(&["customer.ip"], new_row("ip.country", Text, Gateway, read::ip_country, "Country of `ip`, two letters, from the operator's table of networks.")),
    new_row("cart.total", Amount, Merchant, read::cart_total, "Sum of the items' `totalAmount`, or of price times quantity. Missing if an item has neither."),
    new_row("cart.count", Number, Merchant, read::cart_count, "Number of items in the cart."),
    new_row("cart.difference", Amount, Merchant, read::cart_difference, "`cart.total` less `amount`; may be negative."),
    new_row("time", Time, Gateway, read::time, "Time of the check in the rules' zone, to the minute."),
    new_row("hour", Number, Gateway, read::hour, "Hour of the check in the rules' zone, 0 to 23."),
    new_row("minute", Number, Gateway, read::minute, "Minute of the check, 0 to 59."),
    new_row("weekday", Text, Gateway, read::weekday, "Weekday of the check in the rules' zone, such as monday."),
    new_row("device.fingerprint", Text, Browser, read::device_fingerprint, "The first of `customer.browserFingerprint.id`, `.value` and `customer.browser.deviceId` that was sent."),
    read_late(new_row("account.age", Duration, Gateway, read::account_age, "Time since the account was first seen with this merchant.")),
    new_row("registration.age", Duration, Gateway, read::registration_age, "Time since the stored account of this payment was registered."),
    of_offer(new_row("score", Number, Gateway, read::score, "In offers: score of the rules for what is known of the checkout.")),
    of_offer(new_row("list.allow", Flag, Gateway, |r: &Reading<'_>| r.is_on_list(RiskListKind::Allow), "In offers: true if the list allow has an entry for the checkout.")),
    of_offer(new_row("list.review", Flag, Gateway, |r: &Reading<'_>| r.is_on_list(RiskListKind::Review), "In offers: the same for the list review.")),
    of_offer(new_row("list.deny", Flag, Gateway, |r: &Reading<'_>| r.is_on_list(RiskListKind::Deny), "In offers: the same for the list deny.")),
];
