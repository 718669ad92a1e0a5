//! Codes, 3D data and standing instructions: what must come together, and what the absent shopper cannot give.

use super::super::{Operation, Parameters, Presence, Requirements, catalogue, check_complete};
use super::parameters;
use super::samples::samples;

/// A card payment with these, and with nothing that proves anything.
fn payment(more: &[(&'static str, &'static str)]) -> Parameters {
    let card = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "VISA"),
        ("card.number", "4200000000000000"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    parameters(&[&card[..], more].concat())
}

/// Faults of a payment that a merchant's server sends.
fn wrong_with(requirements: Requirements, more: &[(&'static str, &'static str)]) -> Vec<String> {
    let presence = Presence::of_server_request(&payment(more));
    let errors = check_complete(&payment(more), Operation::Payment, &Requirements { presence, ..requirements });
    errors.into_iter().map(|error| error.name).collect()
}

fn wrong(more: &[(&'static str, &'static str)]) -> Vec<String> {
    wrong_with(Requirements::default(), more)
}

const CODE: (&str, &str) = ("card.cvv", "123");
const INITIAL: (&str, &str) = ("standingInstruction.mode", "INITIAL");
const REPEATED: (&str, &str) = ("standingInstruction.mode", "REPEATED");
const CIT: (&str, &str) = ("standingInstruction.source", "CIT");
const MIT: (&str, &str) = ("standingInstruction.source", "MIT");
/// An authentication that somebody else made.
const RESULTS: [(&str, &str); 4] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
];

#[test]
fn without_the_shopper_there_is_neither_code_nor_3d_data() {
    assert_eq!(wrong(&[REPEATED, MIT, CODE]), ["card.cvv"]);
    assert_eq!(wrong(&[&[REPEATED, MIT], &RESULTS[..]].concat()), RESULTS.map(|(name, _)| name));
    assert_eq!(wrong(&[REPEATED, MIT, RESULTS[0]]), ["threeDSecure.eci"], "nobody asks for the rest of it");
    assert_eq!(wrong(&[REPEATED, MIT, ("threeDSecure.challengeIndicator", "04")]), ["threeDSecure.challengeIndicator"]);
    assert_eq!(wrong(&[REPEATED, CODE]), ["card.cvv"], "who names no source is the merchant");
    assert!(wrong(&[REPEATED, MIT]).is_empty());
    let absent = Requirements { presence: Presence::Merchant, ..Requirements::default() };
    let error = &check_complete(&payment(&[REPEATED, MIT, CODE]), Operation::Payment, &absent)[0];
    assert_eq!(error.value, None, "a code is never sent back");
}

#[test]
fn a_repeated_payment_that_the_shopper_starts_may_carry_them() {
    assert!(wrong(&[REPEATED, CIT, CODE]).is_empty(), "one-click may ask the code");
    assert!(wrong(&[&[REPEATED, CIT], &RESULTS[..]].concat()).is_empty(), "and authenticate");
    assert!(wrong(&[REPEATED, CIT]).is_empty());
    for (sent, presence) in [
        (&[REPEATED, CIT][..], Presence::Cardholder),
        (&[REPEATED, MIT], Presence::Merchant),
        (&[REPEATED], Presence::Merchant),
        (&[INITIAL, MIT], Presence::Cardholder),
        (&[MIT], Presence::Cardholder),
        (&[], Presence::Cardholder),
    ] {
        assert_eq!(Presence::of_server_request(&parameters(sent)), presence, "{sent:?}");
    }
}

#[test]
fn in_a_checkout_the_shopper_is_present_whatever_is_said() {
    let present = Requirements { collected_by_form: true, ..Requirements::default() };
    for sent in [&[REPEATED][..], &[REPEATED, MIT], &[MIT]] {
        let errors = check_complete(&payment(&[sent, &[CODE]].concat()), Operation::Payment, &present);
        assert_eq!(errors, [], "{sent:?}");
    }
    for operation in [Operation::CreateCheckout, Operation::UpdateCheckout] {
        let errors = check_complete(&payment(&[REPEATED, MIT]), operation, &Requirements::default());
        let names: Vec<&str> = errors.iter().map(|error| error.name.as_str()).collect();
        assert_eq!(names, [MIT.0], "{operation:?}");
        assert_eq!(check_complete(&payment(&[REPEATED]), operation, &Requirements::default()), []);
    }
}

#[test]
fn only_a_code_or_an_authentication_result_begins_a_series() {
    let fields = catalogue().filter(|row| row.name.starts_with("threeDSecure."));
    for row in fields.filter(|row| !RESULTS.iter().any(|(name, _)| *name == row.name)) {
        let value = samples(row.format).good.remove(0);
        let mut sent = payment(&[INITIAL]);
        sent.set(row.name, value);
        let errors = check_complete(&sent, Operation::Payment, &Requirements::default());
        assert!(errors.iter().any(|error| error.name == CODE.0), "{}: {errors:?}", row.name);
    }
    for without in 0..2 {
        let mut sent = RESULTS.to_vec();
        sent.remove(without);
        assert!(wrong(&[&[INITIAL], &sent[..]].concat()).iter().any(|name| name == CODE.0), "{sent:?}");
    }
}

#[test]
fn the_first_payment_of_a_series_proves_that_the_card_is_there() {
    assert_eq!(wrong(&[INITIAL]), ["card.cvv"]);
    assert!(wrong(&[INITIAL, CODE]).is_empty());
    assert!(wrong(&[&[INITIAL], &RESULTS[..]].concat()).is_empty());
    assert_eq!(wrong(&[INITIAL, ("customer.browser.userAgent", "x")]), ["card.cvv"], "a browser proves nothing");
    let names = |brand: &'static str| {
        let sent = [("amount", "1"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", brand), INITIAL];
        let errors = check_complete(&parameters(&sent), Operation::PaymentByRegistration, &Requirements::default());
        errors.into_iter().map(|error| error.name).collect::<Vec<_>>()
    };
    assert_eq!(names("VISA"), ["card.cvv"], "a stored card needs its code as well");
    assert!(names("DIRECTDEBIT_SEPA").is_empty() && names("PAYPAL").is_empty(), "other accounts have no code");
}

#[test]
fn an_authentication_made_elsewhere_is_told_in_full() {
    let names = RESULTS.map(|(name, _)| name);
    assert!(wrong(&RESULTS).is_empty());
    for (missing, name) in names.iter().enumerate() {
        let mut some = RESULTS.to_vec();
        some.remove(missing);
        assert_eq!(wrong(&some), [*name]);
    }
    for alone in [
        ("threeDSecure.xid", "CAACCVVUlwCXUyhQNlSXAAAAAAA="),
        ("threeDSecure.dsTransactionId", "c5b808e7-1de1-4069-a17b-f70d3b3b1645"),
    ] {
        let mut missing = wrong(&[alone]);
        missing.sort_unstable();
        let mut all = names.to_vec();
        all.sort_unstable();
        assert_eq!(missing, all, "{}", alone.0);
    }
    for wish in [("threeDSecure.challengeIndicator", "04"), ("threeDSecure.merchant.name", "Shop")] {
        assert!(wrong(&[wish]).is_empty(), "{}", wish.0);
    }
}

#[test]
fn an_authentication_without_an_end_has_neither_indicator_nor_value() {
    for statuses in [["Y", "U"], ["Y", "N"], ["U", "U"], ["N", "N"]] {
        let sent = [("threeDSecure.enrollmentStatus", statuses[0]), ("threeDSecure.authenticationStatus", statuses[1])];
        assert!(wrong(&sent).is_empty(), "{statuses:?}");
    }
    assert_eq!(wrong(&[("threeDSecure.enrollmentStatus", "N")]), ["threeDSecure.authenticationStatus"]);
}

#[test]
fn who_authenticates_for_a_series_learns_how_long_it_lasts_and_how_often_it_charges() {
    let both = ["standingInstruction.expiry", "standingInstruction.frequency"];
    let series = |kind, more: &[(&'static str, &'static str)]| {
        wrong(&[&[("standingInstruction.type", kind)], &RESULTS[..], more].concat())
    };
    assert_eq!(series("RECURRING", &[]), both);
    assert_eq!(series("INSTALLMENT", &[]), [&both[..], &["standingInstruction.numberOfInstallments"]].concat());
    assert!(series("UNSCHEDULED", &[]).is_empty());
    let told = [("standingInstruction.expiry", "2030-12-31"), ("standingInstruction.frequency", "30")];
    assert!(series("RECURRING", &told).is_empty());
    let installments = [&told[..], &[("standingInstruction.numberOfInstallments", "12")]].concat();
    assert!(series("INSTALLMENT", &installments).is_empty());
    assert!(wrong(&[("standingInstruction.type", "RECURRING"), CODE]).is_empty(), "without 3D nobody asks");
}

#[test]
fn the_gateways_own_authentication_needs_the_browser_and_the_address() {
    const NEEDED: [(&str, &str); 11] = [
        ("customer.browser.acceptHeader", "*/*"),
        ("customer.browser.language", "de"),
        ("customer.browser.screenHeight", "800"),
        ("customer.browser.screenWidth", "600"),
        ("customer.browser.timezone", "-60"),
        ("customer.browser.userAgent", "x"),
        ("customer.browser.javaEnabled", "false"),
        ("billing.street1", "High Street 1"),
        ("billing.city", "Ulm"),
        ("billing.postcode", "89073"),
        ("billing.country", "DE"),
    ];
    let ours = Requirements { authenticates: true, ..Requirements::default() };
    assert_eq!(wrong_with(ours, &[]), NEEDED.map(|(name, _)| name));
    assert!(wrong_with(ours, &NEEDED).is_empty());
    assert!(wrong_with(ours, &[&NEEDED[..], &[INITIAL]].concat()).is_empty(), "it proves that the card is there");
    let recurring = [&NEEDED[..], &[("standingInstruction.type", "RECURRING")]].concat();
    assert_eq!(wrong_with(ours, &recurring), ["standingInstruction.expiry", "standingInstruction.frequency"]);
    assert!(wrong_with(ours, &[REPEATED, MIT]).is_empty(), "who is absent authenticates nothing");
}

#[test]
fn late_wishes_need_a_late_version() {
    let with = |version, wish| wrong(&[("threeDSecure.version", version), wish]);
    for wish in [
        ("threeDSecure.challengeIndicator", "05"),
        ("threeDSecure.challengeIndicator", "09"),
        ("threeDSecure.exemptionFlag", "01"),
    ] {
        assert_eq!(with("2.1.0", wish), [wish.0]);
        assert_eq!(with("1.0.2", wish), [wish.0]);
        assert!(with("2.2.0", wish).is_empty() && with("2.3.1", wish).is_empty() && wrong(&[wish]).is_empty());
    }
    assert!(with("2.1.0", ("threeDSecure.challengeIndicator", "04")).is_empty());
}
