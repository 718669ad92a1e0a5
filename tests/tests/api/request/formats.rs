//! Formats at their limits, by parameter. The limits are copied from the specification and not from the catalogue, so
//! that this test compares both.

mod order;

use std::collections::HashSet;

use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters};
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::support::*;

/// Accepted and refused values of parameters.
struct Boundary {
    names: &'static [&'static str],
    good: Vec<String>,
    bad: Vec<String>,
}

fn owned_values(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn boundary(names: &'static [&'static str], good: &[&str], bad: &[&str]) -> Boundary {
    Boundary { names, good: owned_values(good), bad: owned_values(bad) }
}

/// Returns values of a text of `min` to `max` characters (not bytes) on one line: both lengths, and as refused values
/// shorter and longer texts and control characters.
fn text_boundary(names: &'static [&'static str], min: usize, max: usize) -> Boundary {
    let letters = |count: usize| "é".repeat(count);
    // An empty value is treated as absent, so a minimum length of one has no shorter value.
    let short = (min > 1).then(|| letters(min - 1));
    let bad = [letters(max + 1), "line\nbreak in a line".to_owned(), "bell\u{7}bell".to_owned()];
    Boundary { names, good: vec![letters(min), letters(max)], bad: short.into_iter().chain(bad).collect() }
}

/// Returns mail addresses of 6 to 128 characters, and texts that name no mailbox.
fn email_boundary(names: &'static [&'static str]) -> Boundary {
    let address = |length: usize| format!("{}@ab.de", "é".repeat(length - 6));
    let good = ["a@b.de".to_owned(), address(128), "Jo <jo@shop.example>".to_owned()];
    let bad = ["a@b.c", "abcdef", "a@b.de, c@d.de", "jo doe@shop.example", "jo@shop.example\u{7}"].map(str::to_owned);
    Boundary { names, good: good.to_vec(), bad: bad.into_iter().chain([address(129)]).collect() }
}

/// Returns values of `min` to `max` ASCII digits: both lengths, and as refused values fewer and more digits, letters,
/// signs and Arabic-Indic digits.
fn digits_boundary(names: &'static [&'static str], min: usize, max: usize) -> Boundary {
    let short = (min > 1).then(|| "7".repeat(min - 1));
    let bad = ["7".repeat(max + 1), "x".repeat(min), "-".repeat(min), "٣".repeat(min)];
    Boundary { names, good: vec!["7".repeat(min), "7".repeat(max)], bad: short.into_iter().chain(bad).collect() }
}

const PHONES: (&str, &str) = ("+49 (170) 77.77/77-7", "0170 777777");
const BAD_PHONES: [&str; 5] = ["(0170) 77777", "0170+777777", "0170 7777x7", "-0170 777777", "0170_777777"];
const FLAGS: (&[&str], &[&str]) = (&["true", "false"], &["tru", "2", "yes", "01"]);
const DAYS: (&[&str], &[&str]) =
    (&["2000-02-29", "1931-12-31"], &["2001-02-29", "2000-13-01", "2000-1-1", "01-02-2000", "2000/01/01", "20000101"]);
const ADDRESSES: (&[&str], &[&str]) = (
    &["https://shop.example/result?a=1&b=2", "http://shop.example:8081"],
    &["shop.example", "javascript:alert(1)", "//shop.example", "https://", "https://shop .example"],
);

/// Returns the limits of payments, cards, customers, billing, 3-D Secure and stored credentials. The others are in
/// [`order`].
#[rustfmt::skip] // keeps each row on one line
fn boundaries() -> Vec<Boundary> {
    let long_address = |length: usize| format!("https://shop.example/{}", "a".repeat(length - 21));
    let mut addresses = boundary(&["shopperResultUrl", "notificationUrl"], ADDRESSES.0, ADDRESSES.1);
    addresses.good.push(long_address(2048));
    addresses.bad.push(long_address(2049));
    // A browser may be sent to an app, and a request needs http or https.
    let app = boundary(&["shopperResultUrl"], &["my.app://custom/url", "ftp://shop.example"], &["data:text/html,x", "a_b://x"]);
    let request = boundary(&["notificationUrl"], &[], &["my.app://custom/url", "ftp://shop.example"]);
    let mut custom = boundary(&["customParameters[a.b_1]"], &["x", "two\nlines"], &["bell\u{7}bell"]);
    custom.good.push("é".repeat(2048));
    custom.bad.push("é".repeat(2049));
    let mut phone = boundary(&["customer.phone"], &[PHONES.0, PHONES.1, "+1234567", "12345678"], &BAD_PHONES);
    phone.bad.extend(["1234567".to_owned(), "1".repeat(27)]);
    phone.good.push("1".repeat(26));
    let mut mobile = boundary(&["customer.mobile"], &[PHONES.0, PHONES.1, "+12345", "123456"], &BAD_PHONES);
    mobile.bad.extend(["12345".to_owned(), "1".repeat(27)]);
    mobile.good.push("1".repeat(26));
    vec![
        // basic payment
        boundary(&["amount", "taxAmount", "risk.amount"], &["1", "0.07", "9999999999.99"], &["1.5", "1.555", "-1", "+1", "1,50", "12345678901", "1e3", "٣"]),
        boundary(&["currency"], &["EUR", "JPY", "KWD"], &["eur", "EU", "EURO", "ZZZ", "978"]),
        boundary(&["paymentBrand"], &["VISA", "SIBS_MULTIBANCO", "x9"], &["VI SA", "VISA-", "VISÄ", "A23456789012345678901234567890123"]),
        boundary(&["paymentType"], &["PA", "DB", "CD", "PA.CP"], &["db", "D", "DBX", "XX", "CP", "RV", "RF", "CB", "SD", "RS", "DS"]),
        boundary(&["overridePaymentType[VISA]"], &["PA", "DB", "CD"], &["db", "D", "XX", "CP", "RV", "RF", "PA.CP"]),
        text_boundary(&["descriptor"], 1, 127),
        text_boundary(&["merchantTransactionId", "merchantInvoiceId", "merchantMemo"], 8, 255),
        boundary(&["transactionCategory"], &["EC", "MO", "TO", "RC", "IN", "PO", "PM", "MOTO"], &["ec", "XX", "MOTOR"]),
        boundary(&["partialApproval"], &["accept", "decline"], &["ACCEPT", "true", "part"]),
        boundary(&["finalCapture"], &["true", "false"], &["TRUE", "yes", "1"]),
        boundary(&["testMode"], &["EXTERNAL", "INTERNAL"], &["internal", "LIVE", "TEST"]),
        boundary(&["integrity", "createRegistration", "overrideHolder"], FLAGS.0, FLAGS.1),
        boundary(&["registrationsDeletable", "customer.browser.javaEnabled"], FLAGS.0, FLAGS.1),
        boundary(&["registrationsCreatable", "registrationsRequireCvv", "requireCvv"], FLAGS.0, FLAGS.1),
        boundary(&["brands"], &["VISA", "VISA MASTER", "MASTER,VISA"], &["visa", "NOBODY", "VISA;MASTER", ","]),
        // card
        text_boundary(&["card.holder"], 3, 128),
        digits_boundary(&["card.number"], 12, 19),
        boundary(&["card.expiryMonth"], &["01", "12"], &["1", "00", "13", "012", "xx", "1 "]),
        boundary(&["card.expiryYear"], &["1999", "2000", "2034"], &["34", "1834", "2134", "20345", "203x"]),
        digits_boundary(&["card.cvv"], 3, 4),
        // customer
        text_boundary(&["customer.merchantCustomerId", "customer.ip", "customer.merchantReference", "customer.browserFingerprint.id"], 1, 255),
        text_boundary(&["customer.browserFingerprint.value"], 1, 4096),
        text_boundary(&["customer.middleName"], 2, 50),
        boundary(&["customer.givenName", "customer.surname"], &["J", "A name that is longer than forty-eight characters is cut, not refused"], &["line\nbreak"]),
        boundary(&["customer.sex"], &["M", "F"], &["m", "X", "MF"]),
        boundary(&["customer.birthDate", "standingInstruction.expiry"], DAYS.0, DAYS.1),
        phone,
        mobile,
        text_boundary(&["customer.workPhone"], 1, 25),
        email_boundary(&["customer.email"]),
        text_boundary(&["customer.companyName"], 1, 60),
        boundary(&["customer.identificationDocType"], &["IDCARD", "PASSPORT", "TAXSTATEMENT"], &["idcard", "DRIVER"]),
        text_boundary(&["customer.identificationDocId"], 8, 64),
        boundary(&["customer.salutation"], &["MR", "MRS", "MS", "MX"], &["Mr", "DR", "MRSX"]),
        boundary(&["customer.language"], &["DE", "EN"], &["de", "D", "DEU", "D1"]),
        boundary(&["customer.category"], &["INDIVIDUAL", "COMPANY"], &["individual", "CLUB"]),
        boundary(&["customer.status"], &["NEW", "EXISTING"], &["new", "OLD"]),
        text_boundary(&["customer.browser.acceptHeader", "customer.browser.userAgent"], 1, 2048),
        boundary(&["customer.browser.language"], &["d", "de", "de-AT", "zh-Hant1"], &["zh-Hant12", "de_AT", "de AT"]),
        digits_boundary(&["customer.browser.screenHeight", "customer.browser.screenWidth"], 1, 6),
        boundary(&["customer.browser.timezone"], &["0", "-60", "-720", "+60", "840"], &["-", "1.5", "123456", "UTC", "6-0"]),
        digits_boundary(&["customer.browser.screenColorDepth"], 1, 2),
        digits_boundary(&["customer.browser.challengeWindow"], 1, 2),
        text_boundary(&["customer.browser.deviceId"], 1, 32),
        // billing
        text_boundary(&["billing.street1", "billing.street2", "billing.houseNumber1", "billing.houseNumber2"], 1, 100),
        text_boundary(&["billing.city"], 1, 48),
        text_boundary(&["billing.state"], 1, 10),
        text_boundary(&["billing.postcode"], 1, 16),
        boundary(&["billing.country"], &["DE", "US", "JP"], &["de", "D", "DEU", "D1", "ZZ"]),
        text_boundary(&["billing.normalized", "billing.validationStatus"], 1, 255),
        // custom, asynchronous
        custom,
        addresses,
        app,
        request,
        // 3-D Secure results of an external authentication
        boundary(&["threeDSecure.eci"], &["01", "08"], &["00", "09", "5", "005", "xx"]),
        boundary(&["threeDSecure.verificationId"], &["AAACAgSRBklmQCFgMpEGAAAAAAA=", "a+/a+/a+/a+/a+/a+/a+/a+/a+/a"], &["AAACAgSRBklmQCFgMpEGAAAAAA==x", "AAACAgSRBklmQCFgMpEGAAAAAA=", "AAACAgSRBklmQCFgMpEGAAAAAA-_"]),
        boundary(&["threeDSecure.xid"], &["CAACCVVUlwCXUyhQNlSXAAAAAAA="], &["CAACCVVUlwCXUyhQNlSX AAAAAA=", "CAACCVVUlwCXUyhQNlSXAAAAAAACAACCVVUlwCXUyhQNlSXAAAAAAACAACCVVUlwC"]),
        boundary(&["threeDSecure.enrollmentStatus"], &["Y", "U", "N"], &["y", "A", "YES"]),
        boundary(&["threeDSecure.authenticationStatus"], &["Y", "A", "U", "N"], &["y", "R", "YES"]),
        text_boundary(&["threeDSecure.merchant.name"], 1, 100),
        text_boundary(&["threeDSecure.merchant.url"], 1, 2048),
        boundary(&["threeDSecure.merchant.country"], &["DEU", "USA"], &["DE", "DEUT", "D3U"]),
        boundary(&["threeDSecure.dsTransactionId"], &["c5b808e7-1de1-4069-a17b-f70d3b3b1645"], &["c5b808e7-1de1-4069-a17b-f70d3b3b164", "c5b808e7-1de1-4069-a17b-f70d3b3b16450", "c5b808e7_1de1_4069_a17b_f70d3b3b1645"]),
        boundary(&["threeDSecure.version"], &["1.0.2", "2.1.0", "2.2.0"], &["2", "2.1", "3.0.0", "2.10.0", "2.1.0.0", "0.1.0"]),
        boundary(&["threeDSecure.challengeIndicator"], &["01", "09", "4"], &["00", "10", "1", "xx"]),
        boundary(&["threeDSecure.challengeMandatedIndicator"], &["Y", "N"], &["y", "U"]),
        boundary(&["threeDSecure.authType", "threeDSecure.exemptionFlag"], &["01", "04"], &["00", "05", "1"]),
        digits_boundary(&["threeDSecure.transactionStatusReason"], 2, 2),
        text_boundary(&["threeDSecure.v1.visa.requestorId", "threeDSecure.v1.mastercard.requestorId", "threeDSecure.v1.amex.requestorId", "threeDSecure.v1.diners.requestorId", "threeDSecure.v1.discover.requestorId", "threeDSecure.v1.jcb.requestorId", "threeDSecure.v1.cartebancaire.requestorId"], 1, 100),
        text_boundary(&["threeDSecure.v1.visa.password", "threeDSecure.v1.jcb.password"], 1, 100),
        text_boundary(&["threeDSecure.v2.visa.requestorId", "threeDSecure.v2.mastercard.requestorId", "threeDSecure.v2.amex.requestorId", "threeDSecure.v2.diners.requestorId", "threeDSecure.v2.jcb.requestorId", "threeDSecure.v2.cartebancaire.requestorId"], 1, 100),
        text_boundary(&["threeDSecure.v2.visa.requestorName", "threeDSecure.v2.mastercard.requestorName", "threeDSecure.v2.amex.requestorName", "threeDSecure.v2.diners.requestorName", "threeDSecure.v2.jcb.requestorName", "threeDSecure.v2.cartebancaire.requestorName"], 1, 100),
        // registration, stored credentials
        boundary(&["registrations[0].id", "registrationId"], &["8a0123456789abcdef0123456789abcd", "8AC7A4A0-0000-4000-8000-000000000000"], &["8a0123456789abcdef0123456789abc", "8a0123456789abcdef0123456789ab d", "8a0123456789abcdef0123456789abcdef012"]),
        digits_boundary(&["recurring.numberOfInstallments", "standingInstruction.numberOfInstallments"], 1, 3),
        boundary(&["standingInstruction.type"], &["UNSCHEDULED", "INSTALLMENT", "RECURRING"], &["recurring", "ONCE"]),
        boundary(&["standingInstruction.mode"], &["INITIAL", "REPEATED"], &["initial", "FIRST"]),
        boundary(&["standingInstruction.source"], &["CIT", "MIT"], &["cit", "XIT"]),
        boundary(&["standingInstruction.industryPractice"], &["INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"], &["no_show", "SHOW"]),
        text_boundary(&["standingInstruction.initialTransactionId"], 1, 255),
        digits_boundary(&["standingInstruction.frequency"], 1, 4),
    ]
}

/// Sends one value where formats are validated: with a checkout, or with a payment if only payments have the parameter.
/// A checkout accepts no source but the cardholder. Returns any response.
async fn send_value(shop: &MerchantClient, name: &str, value: &str) -> anyhow::Result<ApiResponse> {
    if name.starts_with("card.") || name == "standingInstruction.source" {
        shop.pay_by_card(&[(name, value)]).await
    } else {
        shop.create_checkout(&[(name, value)]).await
    }
}

#[tokio::test]
async fn every_parameter_takes_its_shortest_and_longest_value_and_refuses_what_lies_beyond() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for Boundary { names, good, bad } in boundaries().into_iter().chain(order::boundaries()) {
        for name in names {
            for value in &good {
                let answer = send_value(&shop, name, value).await?;
                // An id may have a valid format but not exist.
                let nobody = answer.result_code() == "100.150.200";
                assert!(
                    nobody || !answer.invalid_parameters().contains(name),
                    "{name}={value} is refused: {}",
                    answer.text
                );
                assert!(answer.status < 500, "{name}={value}: {}", answer.text);
            }
            for value in &bad {
                let answer = send_value(&shop, name, value).await?;
                assert_eq!(answer.status, 400, "{name}={value:?}");
                assert_errors(&answer, &[name]);
                let shown = &parameter_error(&answer, name)["value"];
                let secret =
                    ["card.number", "card.cvv", "bankAccount.number", "bankAccount.iban", "walletPay.paymentToken"];
                if secret.contains(name) || name.ends_with("password") {
                    assert!(shown.is_null(), "{}", answer.text);
                } else {
                    let shown = shown.as_str().unwrap_or_default();
                    assert!(!shown.is_empty() && value.starts_with(shown), "{name}={value}: {}", answer.text);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn no_parameter_is_without_a_boundary_test() {
    let boundaries: Vec<Boundary> = boundaries().into_iter().chain(order::boundaries()).collect();
    let tested: HashSet<&str> = boundaries.iter().flat_map(|boundary| boundary.names.iter().copied()).collect();
    let pattern = |row: &str| row.replace("[n]", "[0]").replace("[name]", "[a.b_1]").replace("[brand]", "[VISA]");
    // Credentials, queries and the form's own parameters have their own tests.
    let elsewhere = |row: &Parameter| {
        matches!(row.group, ParameterGroup::Authentication | ParameterGroup::Form)
            || row.group.title() == "Queries"
            || row.name == "entityId"
    };
    let rows = all_parameters().filter(|row| !elsewhere(row));
    let missing: Vec<&str> = rows.map(|row| row.name).filter(|name| !tested.contains(pattern(name).as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn messages_show_the_pattern() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (name, value, message) in [
        ("amount", "1.5", r"must match ^[0-9]{1,10}(\.[0-9]{2})?$"),
        ("paymentBrand", "VI SA", "must match ^[a-zA-Z0-9_]{1,32}$"),
        ("customer.browser.screenWidth", "wide", "must match ^[0-9]{1,6}$"),
        ("card.number", "4200", "must match ^[0-9]{12,19}$"),
        ("card.cvv", "12", "must match ^[0-9]{3,4}$"),
        ("testMode", "LIVE", "must be one of [EXTERNAL, INTERNAL]"),
        ("customer.sex", "x", "must be one of [M, F]"),
    ] {
        let refused = send_value(&shop, name, value).await?;
        assert_errors(&refused, &[name]);
        assert_eq!(parameter_error(&refused, name)["message"], message);
    }
    Ok(())
}

#[tokio::test]
async fn keys_of_the_senders_own_have_three_to_sixty_four_plain_characters() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let longest = format!("customParameters[{}]", "k".repeat(64));
    for name in ["customParameters[abc]", "customParameters[a.b_9]", "customParameters[123]", &longest] {
        assert_result(&shop.create_checkout(&[(name, "1")]).await?, 200, "000.200.100");
    }
    let too_long = format!("customParameters[{}]", "k".repeat(65));
    for name in
        ["customParameters[ab]", "customParameters[]", "customParameters[a-b]", "customParameters[äöü]", &too_long]
    {
        assert_errors(&shop.create_checkout(&[(name, "1")]).await?, &[name]);
    }
    Ok(())
}

#[tokio::test]
async fn every_wrong_parameter_is_named_at_once() -> anyhow::Result<()> {
    let wrong = [
        ("amount", "1.5"),
        ("currency", "ZZZ"),
        ("card.number", "1"),
        ("card.cvv", "1"),
        ("card.expiryMonth", "13"),
        ("billing.country", "xx"),
        ("customer.email", "a"),
    ];
    let refused = sandbox_shop().pay_by_card(&wrong).await?;
    assert_errors(&refused, &wrong.map(|(name, _)| name));
    for secret in ["card.number", "card.cvv"] {
        assert!(parameter_error(&refused, secret)["value"].is_null(), "{}", refused.text);
    }
    assert_eq!(parameter_error(&refused, "customer.email")["value"], "a");
    Ok(())
}
