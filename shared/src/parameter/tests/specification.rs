//! The specification's own limits, written down a second time on purpose: a slip in a row shows here.

use super::super::{Need, Parameters, catalogue, check_formats, find};

/// Name, fewest and most characters of texts that may hold anything.
#[rustfmt::skip] // rows
const TEXTS: &[(&str, usize, usize)] = &[
    ("descriptor", 1, 127), ("merchantTransactionId", 8, 255), ("merchantInvoiceId", 8, 255), ("merchantMemo", 8, 255),
    ("card.holder", 3, 128), ("customer.merchantCustomerId", 1, 255), ("customer.middleName", 2, 50),
    ("customer.workPhone", 1, 25), ("customer.email", 6, 128), ("customer.companyName", 1, 60),
    ("customer.identificationDocId", 8, 64), ("customer.ip", 1, 255), ("customer.merchantReference", 1, 255),
    ("customer.browserFingerprint.id", 1, 255), ("customer.browserFingerprint.value", 1, 4096),
    ("customer.browser.acceptHeader", 1, 2048), ("customer.browser.userAgent", 1, 2048),
    ("customer.browser.deviceId", 1, 32), ("billing.street1", 1, 100), ("billing.street2", 1, 100),
    ("billing.houseNumber1", 1, 100), ("billing.houseNumber2", 1, 100), ("billing.city", 1, 48),
    ("billing.state", 1, 10), ("billing.postcode", 1, 16), ("billing.normalized", 1, 255),
    ("billing.validationStatus", 1, 255), ("threeDSecure.merchant.name", 1, 100),
    ("threeDSecure.merchant.url", 0, 2048), ("customParameters[name]", 0, 2048),
];

/// Name, fewest and most digits.
#[rustfmt::skip] // rows
const DIGITS: &[(&str, usize, usize)] = &[
    ("card.number", 12, 19), ("card.cvv", 3, 4), ("customer.browser.screenHeight", 1, 6),
    ("customer.browser.screenWidth", 1, 6), ("customer.browser.screenColorDepth", 1, 2),
    ("customer.browser.challengeWindow", 2, 2), ("customer.browser.timezone", 1, 5), ("customer.phone", 8, 26),
    ("customer.mobile", 6, 26), ("threeDSecure.verificationId", 28, 28), ("threeDSecure.xid", 1, 64),
    ("threeDSecure.dsTransactionId", 36, 36), ("threeDSecure.transactionStatusReason", 2, 2), ("standingInstruction.frequency", 1, 4),
    ("standingInstruction.numberOfInstallments", 1, 3),
];

/// Name and words.
#[rustfmt::skip] // rows
const WORDS: &[(&str, &str)] = &[
    ("paymentType", "PA DB CD CP RV RF"), ("transactionCategory", "EC MO TO RC IN PO PM MOTO"),
    ("testMode", "EXTERNAL INTERNAL"), ("customer.sex", "M F"),
    ("customer.identificationDocType", "IDCARD PASSPORT TAXSTATEMENT"), ("customer.salutation", "MR MRS MS MX"),
    ("customer.category", "INDIVIDUAL COMPANY"), ("customer.status", "NEW EXISTING"),
    ("customer.browser.javaEnabled", "true false"), ("createRegistration", "true false"), ("overrideHolder", "true false"),
    ("threeDSecure.eci", "01 02 03 04 05 06 07 08"),
    ("threeDSecure.enrollmentStatus", "Y U N"), ("threeDSecure.authenticationStatus", "Y A U N"),
    ("threeDSecure.challengeIndicator", "01 02 03 04 05 06 07 08 09 4"),
    ("threeDSecure.challengeMandatedIndicator", "Y N"), ("threeDSecure.authType", "01 02 03 04"),
    ("threeDSecure.exemptionFlag", "01 02 03 04"), ("standingInstruction.type", "UNSCHEDULED INSTALLMENT RECURRING"), ("standingInstruction.mode", "INITIAL REPEATED"),
    ("standingInstruction.source", "CIT MIT"),
    ("standingInstruction.industryPractice", "INCREMENTAL_AUTH RESUBMISSION REAUTHORIZATION DELAYED_CHARGES NO_SHOW"),
];

fn takes(name: &str, value: &str) -> bool {
    let name = name.replace("[name]", "[abc]");
    assert!(find(&name).is_some(), "{name}");
    check_formats(&Parameters::from_iter([(name.as_str(), value)])).is_empty()
}

#[test]
fn lengths_are_those_of_the_specification() {
    for (rows, character) in [(TEXTS, "é"), (DIGITS, "1")] {
        for (name, min, max) in rows {
            assert!(takes(name, &character.repeat(*min)) && takes(name, &character.repeat(*max)), "{name}");
            assert!(*min == 0 || !takes(name, &character.repeat(min - 1)), "{name}");
            assert!(!takes(name, &character.repeat(max + 1)), "{name}");
        }
    }
    for (name, _, _) in DIGITS {
        assert!(!takes(name, "a.a a;a") && !takes(name, "ä"), "{name}");
    }
}

#[test]
fn words_are_those_of_the_specification() {
    for (name, words) in WORDS {
        let pattern = find(name).unwrap().format.pattern();
        assert_eq!(pattern, format!("^({})$", words.replace(' ', "|")), "{name}");
        assert!(words.split(' ').all(|word| takes(name, word)), "{name}");
        assert!(!takes(name, "OTHER") && !takes(name, &words.to_lowercase().replace("true false", "on")), "{name}");
    }
}

#[test]
fn every_row_is_among_these_or_checked_by_itself() {
    let by_itself = [
        "entityId",
        "amount",
        "taxAmount",
        "currency",
        "paymentBrand",
        "overridePaymentType[brand]",
        "integrity",
        "authentication.userId",
        "authentication.password",
        "authentication.entityId",
        "card.expiryMonth",
        "card.expiryYear",
        "customer.givenName",
        "customer.surname",
        "customer.birthDate",
        "customer.language",
        "customer.browser.language",
        "billing.country",
        "registrations[n].id",
        "registrationId",
        "recurring.numberOfInstallments",
        "shopperResultUrl",
        "notificationUrl",
        "standingInstruction.expiry",
        "standingInstruction.initialTransactionId",
        "shopOrigin",
        "forceUtf8",
        "threeDSecure.merchant.country",
    ];
    for row in catalogue() {
        // Requestor and password of each scheme have a test of their own.
        let listed = TEXTS.iter().chain(DIGITS).any(|(name, _, _)| *name == row.name)
            || WORDS.iter().any(|(name, _)| *name == row.name)
            || row.name.starts_with("threeDSecure.v1.")
            || row.name.starts_with("threeDSecure.v2.")
            || row.name == "threeDSecure.version"
            || by_itself.contains(&row.name);
        assert!(listed, "{} is not held against the specification", row.name);
    }
}

#[test]
fn formats_of_their_own() {
    for (name, good, bad) in [
        ("entityId", "8a829417539edb400153c1eae83932ac", "8A829417539EDB400153C1EAE83932AC"),
        ("amount", "92", "92.0"),
        ("taxAmount", "0.00", "0.0"),
        ("currency", "EUR", "eur"),
        ("paymentBrand", "DIRECTDEBIT_SEPA", "VISA-X"),
        ("overridePaymentType[VISA]", "PA", "PREAUTH"),
        ("integrity", "true", "1"),
        ("card.expiryMonth", "01", "1"),
        ("card.expiryYear", "2034", "34"),
        ("customer.givenName", "Zoë", ""),
        ("customer.birthDate", "1980-02-29", "1981-02-29"),
        ("customer.phone", "+49 (0)89/123-45.6", "++49891234"),
        ("customer.phone", "0049 89 1234", "(089) 12345"),
        ("customer.language", "DE", "de"),
        ("customer.browser.language", "de-AT", "de-DE-1996"),
        ("customer.browser.timezone", "-480", "-12345"),
        ("billing.country", "DE", "GER"),
        ("registrations[0].id", "8a82944a4cc25ebf014cc2c782423202", "8a82944a"),
        ("registrations[999].id", "550e8400-e29b-41d4-a716-446655440000", "550e8400_e29b-41d4-a716-446655440000"),
        ("shopperResultUrl", "https://shop.example/result?order=1", "javascript:alert(document.domain)"),
        ("notificationUrl", "http://10.0.0.1:8080/n", "http://"),
        ("threeDSecure.merchant.country", "DEU", "DE"),
        ("threeDSecure.version", "2.2.0", "2.2"),
        ("threeDSecure.v1.jcb.password", "secret", ""),
        ("threeDSecure.v2.cartebancaire.requestorName", "Shop", ""),
        ("standingInstruction.expiry", "2030-12-31", "2030-12-32"),
        ("standingInstruction.initialTransactionId", "MCC123456 0101", ""),
        ("recurring.numberOfInstallments", "12", "0x0c"),
    ] {
        assert!(takes(name, good), "{name} = {good}");
        assert!(!takes(name, bad), "{name} = {bad}");
    }
}

#[test]
fn what_is_required_is_what_the_specification_marks_so() {
    let required: Vec<&str> = catalogue().filter(|row| row.need == Need::Required).map(|row| row.name).collect();
    assert_eq!(required, ["amount", "currency", "paymentType", "card.number", "card.expiryMonth", "card.expiryYear"]);
}

#[test]
fn schemes_have_their_own_3d_credentials() {
    let known = |version: &str, field: &str| {
        let schemes = "visa mastercard amex diners discover jcb cartebancaire".split(' ');
        schemes.filter(|scheme| find(&format!("threeDSecure.{version}.{scheme}.{field}")).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(known("v1", "requestorId").len(), 7);
    assert_eq!(known("v1", "password"), ["visa", "jcb"]);
    for field in ["requestorId", "requestorName"] {
        assert_eq!(known("v2", field), ["visa", "mastercard", "amex", "diners", "jcb", "cartebancaire"]);
    }
}
