//! Codes, 3-D Secure data and standing instructions: parameters that must come together, and those that an absent
//! shopper cannot send.

use super::super::{Operation, Parameters, Presence, Requirements, all_parameters, check_complete};
use super::build_parameters;
use super::samples::format_samples;

/// Returns a card payment with more parameters and without any proof.
fn card_payment(more: &[(&'static str, &'static str)]) -> Parameters {
    let card = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "VISA"),
        ("card.number", "4200000000000000"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    build_parameters(&[&card[..], more].concat())
}

/// Returns the names of parameters at fault in a card payment that a merchant's server sends.
fn faulty_names_with(requirements: Requirements, more: &[(&'static str, &'static str)]) -> Vec<String> {
    let presence = Presence::from_server_request(&card_payment(more));
    let errors = check_complete(&card_payment(more), Operation::Payment, &Requirements { presence, ..requirements });
    errors.into_iter().map(|error| error.name).collect()
}

fn faulty_names(more: &[(&'static str, &'static str)]) -> Vec<String> {
    faulty_names_with(Requirements::default(), more)
}

const CODE: (&str, &str) = ("card.cvv", "123");
const INITIAL: (&str, &str) = ("standingInstruction.mode", "INITIAL");
const REPEATED: (&str, &str) = ("standingInstruction.mode", "REPEATED");
const CIT: (&str, &str) = ("standingInstruction.source", "CIT");
const MIT: (&str, &str) = ("standingInstruction.source", "MIT");
/// Result of an external authentication.
const RESULTS: [(&str, &str); 4] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
];

#[test]
fn without_the_shopper_there_is_neither_code_nor_3d_data() {
    assert_eq!(faulty_names(&[REPEATED, MIT, CODE]), ["card.cvv"]);
    assert_eq!(faulty_names(&[&[REPEATED, MIT], &RESULTS[..]].concat()), RESULTS.map(|(name, _)| name));
    assert_eq!(faulty_names(&[REPEATED, MIT, RESULTS[0]]), ["threeDSecure.eci"], "nobody asks for the rest of it");
    assert_eq!(
        faulty_names(&[REPEATED, MIT, ("threeDSecure.challengeIndicator", "04")]),
        ["threeDSecure.challengeIndicator"]
    );
    assert_eq!(faulty_names(&[REPEATED, CODE]), ["card.cvv"], "who names no source is the merchant");
    assert!(faulty_names(&[REPEATED, MIT]).is_empty());
    let absent = Requirements { presence: Presence::Merchant, ..Requirements::default() };
    let error = &check_complete(&card_payment(&[REPEATED, MIT, CODE]), Operation::Payment, &absent)[0];
    assert_eq!(error.value, None, "a code is never sent back");
}

#[test]
fn a_repeated_payment_that_the_shopper_starts_may_carry_them() {
    assert!(faulty_names(&[REPEATED, CIT, CODE]).is_empty(), "one-click may ask the code");
    assert!(faulty_names(&[&[REPEATED, CIT], &RESULTS[..]].concat()).is_empty(), "and authenticate");
    assert!(faulty_names(&[REPEATED, CIT]).is_empty());
    for (sent, presence) in [
        (&[REPEATED, CIT][..], Presence::Cardholder),
        (&[REPEATED, MIT], Presence::Merchant),
        (&[REPEATED], Presence::Merchant),
        (&[INITIAL, MIT], Presence::Cardholder),
        (&[MIT], Presence::Cardholder),
        (&[], Presence::Cardholder),
    ] {
        assert_eq!(Presence::from_server_request(&build_parameters(sent)), presence, "{sent:?}");
    }
}

#[test]
fn in_a_checkout_the_shopper_is_present_whatever_is_said() {
    let present = Requirements { collected_by_form: true, ..Requirements::default() };
    for sent in [&[REPEATED][..], &[REPEATED, MIT], &[MIT]] {
        let errors = check_complete(&card_payment(&[sent, &[CODE]].concat()), Operation::Payment, &present);
        assert_eq!(errors, [], "{sent:?}");
    }
    for operation in [Operation::CreateCheckout, Operation::UpdateCheckout] {
        let errors = check_complete(&card_payment(&[REPEATED, MIT]), operation, &Requirements::default());
        let names: Vec<&str> = errors.iter().map(|error| error.name.as_str()).collect();
        assert_eq!(names, [MIT.0], "{operation:?}");
        assert_eq!(check_complete(&card_payment(&[REPEATED]), operation, &Requirements::default()), []);
    }
}

#[test]
fn only_a_code_or_an_authentication_result_begins_a_series() {
    let fields = all_parameters().filter(|row| row.name.starts_with("threeDSecure."));
    for row in fields.filter(|row| !RESULTS.iter().any(|(name, _)| *name == row.name)) {
        let value = format_samples(row.format).good.remove(0);
        let mut sent = card_payment(&[INITIAL]);
        sent.set(row.name, value);
        let errors = check_complete(&sent, Operation::Payment, &Requirements::default());
        assert!(errors.iter().any(|error| error.name == CODE.0), "{}: {errors:?}", row.name);
    }
    for without in 0..2 {
        let mut sent = RESULTS.to_vec();
        sent.remove(without);
        assert!(faulty_names(&[&[INITIAL], &sent[..]].concat()).iter().any(|name| name == CODE.0), "{sent:?}");
    }
}

#[test]
fn the_first_payment_of_a_series_proves_that_the_card_is_there() {
    assert_eq!(faulty_names(&[INITIAL]), ["card.cvv"]);
    assert!(faulty_names(&[INITIAL, CODE]).is_empty());
    assert!(faulty_names(&[&[INITIAL], &RESULTS[..]].concat()).is_empty());
    assert_eq!(faulty_names(&[INITIAL, ("customer.browser.userAgent", "x")]), ["card.cvv"], "a browser proves nothing");
    let names = |brand: &'static str| {
        let sent = [("amount", "1"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", brand), INITIAL];
        let errors =
            check_complete(&build_parameters(&sent), Operation::PaymentByRegistration, &Requirements::default());
        errors.into_iter().map(|error| error.name).collect::<Vec<_>>()
    };
    assert_eq!(names("VISA"), ["card.cvv"], "a stored card needs its code as well");
    assert!(names("DIRECTDEBIT_SEPA").is_empty() && names("PAYPAL").is_empty(), "other accounts have no code");
}

#[test]
fn an_authentication_made_elsewhere_is_told_in_full() {
    let names = RESULTS.map(|(name, _)| name);
    assert!(faulty_names(&RESULTS).is_empty());
    for (missing, name) in names.iter().enumerate() {
        let mut some = RESULTS.to_vec();
        some.remove(missing);
        assert_eq!(faulty_names(&some), [*name]);
    }
    for alone in [
        ("threeDSecure.xid", "CAACCVVUlwCXUyhQNlSXAAAAAAA="),
        ("threeDSecure.dsTransactionId", "c5b808e7-1de1-4069-a17b-f70d3b3b1645"),
    ] {
        let mut missing = faulty_names(&[alone]);
        missing.sort_unstable();
        let mut all = names.to_vec();
        all.sort_unstable();
        assert_eq!(missing, all, "{}", alone.0);
    }
    for wish in [("threeDSecure.challengeIndicator", "04"), ("threeDSecure.merchant.name", "Shop")] {
        assert!(faulty_names(&[wish]).is_empty(), "{}", wish.0);
    }
}

#[test]
fn an_authentication_without_an_end_has_neither_indicator_nor_value() {
    for statuses in [["Y", "U"], ["Y", "N"], ["U", "U"], ["N", "N"]] {
        let sent = [("threeDSecure.enrollmentStatus", statuses[0]), ("threeDSecure.authenticationStatus", statuses[1])];
        assert!(faulty_names(&sent).is_empty(), "{statuses:?}");
    }
    assert_eq!(faulty_names(&[("threeDSecure.enrollmentStatus", "N")]), ["threeDSecure.authenticationStatus"]);
}

#[test]
fn who_authenticates_for_a_series_learns_how_long_it_lasts_and_how_often_it_charges() {
    let both = ["standingInstruction.expiry", "standingInstruction.frequency"];
    let series = |kind, more: &[(&'static str, &'static str)]| {
        faulty_names(&[&[("standingInstruction.type", kind)], &RESULTS[..], more].concat())
    };
    assert_eq!(series("RECURRING", &[]), both);
    assert_eq!(series("INSTALLMENT", &[]), [&both[..], &["standingInstruction.numberOfInstallments"]].concat());
    assert!(series("UNSCHEDULED", &[]).is_empty());
    let terms = [("standingInstruction.expiry", "2030-12-31"), ("standingInstruction.frequency", "30")];
    assert!(series("RECURRING", &terms).is_empty());
    let installments = [&terms[..], &[("standingInstruction.numberOfInstallments", "12")]].concat();
    assert!(series("INSTALLMENT", &installments).is_empty());
    assert!(faulty_names(&[("standingInstruction.type", "RECURRING"), CODE]).is_empty(), "without 3D nobody asks");
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
    let ours = Requirements { runs_three_ds: true, ..Requirements::default() };
    assert_eq!(faulty_names_with(ours, &[]), NEEDED.map(|(name, _)| name));
    assert!(faulty_names_with(ours, &NEEDED).is_empty());
    assert!(
        faulty_names_with(ours, &[&NEEDED[..], &[INITIAL]].concat()).is_empty(),
        "it proves that the card is there"
    );
    let recurring = [&NEEDED[..], &[("standingInstruction.type", "RECURRING")]].concat();
    assert_eq!(faulty_names_with(ours, &recurring), ["standingInstruction.expiry", "standingInstruction.frequency"]);
    assert!(faulty_names_with(ours, &[REPEATED, MIT]).is_empty(), "who is absent authenticates nothing");
}

#[test]
fn late_wishes_need_a_late_version() {
    let with = |version, wish| faulty_names(&[("threeDSecure.version", version), wish]);
    for wish in [
        ("threeDSecure.challengeIndicator", "05"),
        ("threeDSecure.challengeIndicator", "09"),
        ("threeDSecure.exemptionFlag", "01"),
    ] {
        assert_eq!(with("2.1.0", wish), [wish.0]);
        assert_eq!(with("1.0.2", wish), [wish.0]);
        assert!(with("2.2.0", wish).is_empty() && with("2.3.1", wish).is_empty() && faulty_names(&[wish]).is_empty());
    }
    assert!(with("2.1.0", ("threeDSecure.challengeIndicator", "04")).is_empty());
}
