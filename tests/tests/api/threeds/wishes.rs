//! What a merchant sends: what has to be known, what is wished for, and results of an authentication made elsewhere.

use super::cards::strict;
use super::*;
use crate::registrations::pay_by;

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const CHALLENGE: &str = "4200000000000018";
const FRICTIONLESS: &str = "4200000000000026";
const PLAIN: &str = "4200000000000000";
const ELSEWHERE: [(&str, &str); 5] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
    ("threeDSecure.dsTransactionId", "c5b808e7-1de1-4069-a17b-f70d3b3b1645"),
];

#[tokio::test]
async fn version_2_names_everything_that_it_has_to_know_and_was_not_sent() -> anyhow::Result<()> {
    let shop = shop();
    let names = KNOWN.map(|(name, _)| name);
    for number in [CHALLENGE, FRICTIONLESS, "4200000000000091", "4012001037461114"] {
        assert_errors(&shop.pay(&[("card.number", number), BACK]).await?, &names);
        for name in names {
            assert_errors(&pay(&shop, "VISA", number, &[(name, "")]).await?, &[name]);
        }
    }
    // The windows of the protocol are five.
    let window = |window| [("customer.browser.challengeWindow", window)];
    assert_answer(&pay(&shop, "VISA", FRICTIONLESS, &window("05")).await?, 200, PAID);
    assert_errors(&pay(&shop, "VISA", FRICTIONLESS, &window("06")).await?, &["customer.browser.challengeWindow"]);
    // Neither version 1, nor a card that is not enrolled, nor one that no directory knows asks for any of it.
    for (number, code) in [("4711100000000000", PENDING), ("4012001037141112", PAID), (PLAIN, PAID)] {
        assert_answer(&shop.pay(&[("card.number", number), BACK]).await?, 200, code);
    }
    // The shopper has to be able to come back.
    assert_errors(&pay(&shop, "VISA", CHALLENGE, &[("shopperResultUrl", "")]).await?, &["shopperResultUrl"]);
    assert_answer(&pay(&shop, "VISA", FRICTIONLESS, &[("shopperResultUrl", "")]).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn a_series_that_is_authenticated_says_how_long_it_lasts() -> anyhow::Result<()> {
    let recurring = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.type", "RECURRING")];
    let missing = ["standingInstruction.expiry", "standingInstruction.frequency"];
    assert_errors(&pay(&shop(), "VISA", FRICTIONLESS, &recurring).await?, &missing);
    let terms = [("standingInstruction.expiry", "2099-01-01"), ("standingInstruction.frequency", "28")];
    // An authentication proves as much as a code.
    let fields = [&recurring[..], &terms, &[("card.cvv", "")]].concat();
    assert_answer(&pay(&shop(), "VISA", FRICTIONLESS, &fields).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn what_was_authenticated_elsewhere_is_passed_through_and_nobody_is_asked() -> anyhow::Result<()> {
    let shop = shop();
    for number in [CHALLENGE, "4200000000000034", "4200000000000083", "4711100000000000"] {
        let paid = shop.pay(&[&[("card.number", number)], &ELSEWHERE[..]].concat()).await?;
        assert_answer(&paid, 200, PAID);
        for (name, value) in ELSEWHERE {
            assert_eq!(paid.json["threeDSecure"][name.trim_start_matches("threeDSecure.")], value, "{}", paid.text);
        }
        assert_eq!(paid.json["threeDSecure"].as_object().map(|told| told.len()), Some(ELSEWHERE.len()));
    }
    // Also where authentication is required, and in a checkout, whose browser cannot send it.
    assert_answer(&strict().pay(&ELSEWHERE).await?, 200, PAID);
    let made = shop.checkout(&ELSEWHERE).await?;
    shop.submit(made.id(), &[("card.number", CHALLENGE)]).await?;
    assert_answer(&shop.status(made.id()).await?, 200, PAID);
    let made = shop.checkout(&[BACK]).await?;
    let submitted = shop.submit(made.id(), &[&[("card.number", CHALLENGE)], &ELSEWHERE[..]].concat()).await?;
    assert_answer(&submitted, 200, PENDING);
    Ok(())
}

#[tokio::test]
async fn nobody_is_asked_where_nobody_sits_before_a_browser() -> anyhow::Result<()> {
    let shop = shop();
    for fields in [
        &[("transactionCategory", "MO")][..],
        &[("transactionCategory", "TO")],
        &[("transactionCategory", "MOTO")],
        &[("transactionCategory", "PO")],
        &[("paymentType", "CD")],
        &[("customParameters[forceResultCode]", PAID)],
    ] {
        let paid = shop.pay(&[&[("card.number", CHALLENGE)], fields].concat()).await?;
        assert_answer(&paid, 200, PAID);
        assert!(paid.json["threeDSecure"].is_null(), "{}", paid.text);
    }
    // The acquirer's host has no issuer that could be asked.
    let external = shop.pay(&[("card.number", CHALLENGE), ("testMode", "EXTERNAL")]).await?;
    assert_answer(&external, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_merchant_who_charges_alone_never_meets_an_issuer_and_a_shopper_who_pays_with_a_stored_card_does()
-> anyhow::Result<()> {
    let shop = shop();
    let card =
        [("paymentBrand", "VISA"), ("card.number", CHALLENGE), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let initial =
        [("standingInstruction.mode", "INITIAL"), ("standingInstruction.type", "UNSCHEDULED"), ("card.cvv", "123")];
    let stored = shop.post("v1/registrations", &[&card[..], &initial].concat()).await?;
    assert_answer(&stored, 200, PAID);
    let repeated = [("standingInstruction.mode", "REPEATED"), ("standingInstruction.type", "UNSCHEDULED")];
    let alone = pay_by(&shop, stored.id(), &[&repeated[..], &[("standingInstruction.source", "MIT")]].concat()).await?;
    assert_answer(&alone, 200, PAID);
    let present = [&repeated[..], &[("standingInstruction.source", "CIT"), BACK]].concat();
    let missing = pay_by(&shop, stored.id(), &present).await?;
    assert_errors(&missing, &KNOWN.map(|(name, _)| name));
    let asked = pay_by(&shop, stored.id(), &[&present[..], &KNOWN].concat()).await?;
    assert_answer(&asked, 200, PENDING);
    let url = redirect(&asked, "url");
    let (_, page) = visit(&shop, url).await?;
    post(&shop, url, &[("transaction", transaction(&page)), ("returnCode", PAID)]).await?;
    let read = status(&shop, asked.id()).await?;
    assert_answer(&read, 200, PAID);
    assert_eq!(
        (read.json["registrationId"].as_str(), &read.json["threeDSecure"]["eci"]),
        (Some(stored.id()), &"05".into())
    );
    Ok(())
}

#[tokio::test]
async fn an_outcome_may_be_asked_for_with_any_card() -> anyhow::Result<()> {
    let shop = shop();
    const ENROLLED: (&str, &str) = ("customParameters[3DS2_enrolled]", "true");
    const FLOW: &str = "customParameters[3DS2_flow]";
    for (number, fields, code) in [
        (PLAIN, &[ENROLLED][..], PAID),
        (PLAIN, &[ENROLLED, (FLOW, "frictionless")], PAID),
        (PLAIN, &[ENROLLED, (FLOW, "challenge")], PENDING),
        (PLAIN, &[("threeDSecure.challengeIndicator", "4")], PENDING),
        (FRICTIONLESS, &[("threeDSecure.challengeIndicator", "4")], PENDING),
        (FRICTIONLESS, &[("threeDSecure.challengeIndicator", "04")], PENDING),
        (FRICTIONLESS, &[("threeDSecure.challengeIndicator", "09"), ("threeDSecure.version", "2.2.0")], PENDING),
        (CHALLENGE, &[(FLOW, "frictionless")], PAID),
    ] {
        let paid = pay(&shop, "VISA", number, fields).await?;
        assert_answer(&paid, 200, code);
        if code == PAID {
            assert_eq!(paid.json["threeDSecure"]["eci"], "05", "{fields:?} {}", paid.text);
        }
    }
    let out = pay(&shop, "VISA", CHALLENGE, &[("customParameters[3DS2_enrolled]", "false")]).await?;
    assert_answer(&out, 200, PAID);
    assert!(out.json["threeDSecure"].is_null());
    // A browser cannot ask for it.
    let made = shop.checkout(&[BACK]).await?;
    shop.submit(made.id(), &[ENROLLED, (FLOW, "challenge")]).await?;
    assert_answer(&shop.status(made.id()).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn the_shopper_agrees_to_the_amount_for_the_authentication_and_pays_the_payments_own() -> anyhow::Result<()> {
    let shop = shop();
    let paid = pay(&shop, "VISA", CHALLENGE, &[("risk.amount", "80.00")]).await?;
    let (_, page) = visit(&shop, redirect(&paid, "url")).await?;
    assert!(page.contains("80.00 EUR") && !page.contains("92.00"), "{page}");
    assert_eq!(paid.json["amount"], "92.00");
    let fields = [("risk.amount", "80.50"), ("currency", "JPY")];
    assert_errors(&pay(&shop, "VISA", CHALLENGE, &fields).await?, &["risk.amount"]);
    Ok(())
}

#[tokio::test]
async fn the_wishes_of_a_merchant_are_told_again_beside_the_result() -> anyhow::Result<()> {
    let wishes = [
        ("threeDSecure.version", "2.1.0"),
        ("threeDSecure.authType", "02"),
        ("threeDSecure.challengeMandatedIndicator", "N"),
        ("threeDSecure.challengeIndicator", "02"),
    ];
    let paid = pay(&shop(), "VISA", FRICTIONLESS, &wishes).await?;
    assert_eq!(
        told(&paid),
        "authType=02 authenticationStatus=Y challengeIndicator=02 challengeMandatedIndicator=N dsTransactionId=uuid eci=05 \
         enrollmentStatus=Y verificationId=cavv version=2.1.0"
    );
    Ok(())
}

#[tokio::test]
async fn version_1_hands_the_issuer_a_request_and_its_transaction() -> anyhow::Result<()> {
    let shop = shop();
    let paid = shop.pay(&[("card.number", "4711100000000000"), BACK]).await?;
    assert_answer(&paid, 200, PENDING);
    assert_eq!(redirect(&paid, "method"), "POST");
    let url = redirect(&paid, "url");
    let parameters = paid.json["redirect"]["parameters"].as_array().cloned().unwrap_or_default();
    let text = |field: &serde_json::Value, name: &str| field[name].as_str().unwrap_or_default().to_owned();
    let fields: Vec<_> = parameters.iter().map(|field| (text(field, "name"), text(field, "value"))).collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PaReq", "MD", "TermUrl"]);
    assert_eq!(fields[2].1, url);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (found, page) = post(&shop, url, &fields).await?;
    assert_eq!((found, transaction(&page)), (200, fields[1].1), "{page}");
    Ok(())
}
