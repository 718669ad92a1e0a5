//! 3-D Secure parameters of a merchant: required data, preferences, and results of an external authentication.

use super::cards::three_ds_required_shop;
use super::*;
use crate::registration::registrations::pay_by_registration;

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const CHALLENGE: &str = "4200000000000018";
const FRICTIONLESS: &str = "4200000000000026";
const PLAIN: &str = "4200000000000000";
const EXTERNAL_THREE_DS: [(&str, &str); 5] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
    ("threeDSecure.dsTransactionId", "c5b808e7-1de1-4069-a17b-f70d3b3b1645"),
];

#[tokio::test]
async fn version_2_names_everything_that_it_has_to_know_and_was_not_sent() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let names = CARDHOLDER_DATA.map(|(name, _)| name);
    for number in [CHALLENGE, FRICTIONLESS, "4200000000000091", "4012001037461114"] {
        assert_errors(&shop.pay_by_card(&[("card.number", number), BACK]).await?, &names);
        for name in names {
            assert_errors(&pay_by_card(&shop, "VISA", number, &[(name, "")]).await?, &[name]);
        }
    }
    // The protocol defines five window sizes.
    let window = |window| [("customer.browser.challengeWindow", window)];
    assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &window("05")).await?, 200, PAID);
    assert_errors(
        &pay_by_card(&shop, "VISA", FRICTIONLESS, &window("06")).await?,
        &["customer.browser.challengeWindow"],
    );
    // Version 1, cards that are not enrolled, and cards that are not in the directory need none of this data.
    for (number, code) in [("4711100000000000", PENDING), ("4012001037141112", PAID), (PLAIN, PAID)] {
        assert_result(&shop.pay_by_card(&[("card.number", number), BACK]).await?, 200, code);
    }
    // A challenge needs an address for the shopper's return.
    assert_errors(&pay_by_card(&shop, "VISA", CHALLENGE, &[("shopperResultUrl", "")]).await?, &["shopperResultUrl"]);
    assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[("shopperResultUrl", "")]).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn a_series_that_is_authenticated_says_how_long_it_lasts() -> anyhow::Result<()> {
    let recurring = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.type", "RECURRING")];
    let missing = ["standingInstruction.expiry", "standingInstruction.frequency"];
    assert_errors(&pay_by_card(&sandbox_shop(), "VISA", FRICTIONLESS, &recurring).await?, &missing);
    let terms = [("standingInstruction.expiry", "2099-01-01"), ("standingInstruction.frequency", "28")];
    // An authentication can replace the security code.
    let fields = [&recurring[..], &terms, &[("card.cvv", "")]].concat();
    assert_result(&pay_by_card(&sandbox_shop(), "VISA", FRICTIONLESS, &fields).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn what_was_authenticated_elsewhere_is_passed_through_and_nobody_is_asked() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for number in [CHALLENGE, "4200000000000034", "4200000000000083", "4711100000000000"] {
        let paid = shop.pay_by_card(&[&[("card.number", number)], &EXTERNAL_THREE_DS[..]].concat()).await?;
        assert_result(&paid, 200, PAID);
        for (name, value) in EXTERNAL_THREE_DS {
            assert_eq!(paid.json["threeDSecure"][name.trim_start_matches("threeDSecure.")], value, "{}", paid.text);
        }
        assert_eq!(paid.json["threeDSecure"].as_object().map(|told| told.len()), Some(EXTERNAL_THREE_DS.len()));
    }
    // The same applies if the channel requires authentication, and in a checkout, whose browser cannot send these
    // parameters.
    assert_result(&three_ds_required_shop().pay_by_card(&EXTERNAL_THREE_DS).await?, 200, PAID);
    let made = shop.create_checkout(&EXTERNAL_THREE_DS).await?;
    shop.submit_card(made.id(), &[("card.number", CHALLENGE)]).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, PAID);
    let made = shop.create_checkout(&[BACK]).await?;
    let submitted =
        shop.submit_card(made.id(), &[&[("card.number", CHALLENGE)], &EXTERNAL_THREE_DS[..]].concat()).await?;
    assert_result(&submitted, 200, PENDING);
    Ok(())
}

#[tokio::test]
async fn nobody_is_asked_where_nobody_sits_before_a_browser() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for fields in [
        &[("transactionCategory", "MO")][..],
        &[("transactionCategory", "TO")],
        &[("transactionCategory", "MOTO")],
        &[("transactionCategory", "PO")],
        &[("paymentType", "CD")],
        &[("customParameters[forceResultCode]", PAID)],
    ] {
        let paid = shop.pay_by_card(&[&[("card.number", CHALLENGE)], fields].concat()).await?;
        assert_result(&paid, 200, PAID);
        assert!(paid.json["threeDSecure"].is_null(), "{}", paid.text);
    }
    // The simulator and an external acquirer have the same requirements.
    let external = [("card.number", CHALLENGE), ("testMode", "EXTERNAL")];
    assert_errors(&shop.pay_by_card(&external).await?, &CARDHOLDER_DATA.map(|(name, _)| name));
    let by_mail = shop.pay_by_card(&[&external[..], &[("transactionCategory", "MO")]].concat()).await?;
    assert_result(&by_mail, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_merchant_who_charges_alone_never_meets_an_issuer_and_a_shopper_who_pays_with_a_stored_card_does()
-> anyhow::Result<()> {
    let shop = sandbox_shop();
    let card =
        [("paymentBrand", "VISA"), ("card.number", CHALLENGE), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let initial =
        [("standingInstruction.mode", "INITIAL"), ("standingInstruction.type", "UNSCHEDULED"), ("card.cvv", "123")];
    let stored = shop.post("v1/registrations", &[&card[..], &initial].concat()).await?;
    assert_result(&stored, 200, PAID);
    let repeated = [("standingInstruction.mode", "REPEATED"), ("standingInstruction.type", "UNSCHEDULED")];
    let alone =
        pay_by_registration(&shop, stored.id(), &[&repeated[..], &[("standingInstruction.source", "MIT")]].concat())
            .await?;
    assert_result(&alone, 200, PAID);
    let present = [&repeated[..], &[("standingInstruction.source", "CIT"), BACK]].concat();
    let missing = pay_by_registration(&shop, stored.id(), &present).await?;
    assert_errors(&missing, &CARDHOLDER_DATA.map(|(name, _)| name));
    let asked = pay_by_registration(&shop, stored.id(), &[&present[..], &CARDHOLDER_DATA].concat()).await?;
    assert_result(&asked, 200, PENDING);
    let url = redirect_field(&asked, "url");
    let (_, page) = visit_page(&shop, url).await?;
    post_to_page(&shop, url, &[("transaction", challenge_transaction(&page)), ("returnCode", PAID)]).await?;
    let read = read_payment(&shop, asked.id()).await?;
    assert_result(&read, 200, PAID);
    assert_eq!(
        (read.json["registrationId"].as_str(), &read.json["threeDSecure"]["eci"]),
        (Some(stored.id()), &"05".into())
    );
    Ok(())
}

#[tokio::test]
async fn an_outcome_may_be_asked_for_with_any_card() -> anyhow::Result<()> {
    let shop = sandbox_shop();
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
        let paid = pay_by_card(&shop, "VISA", number, fields).await?;
        assert_result(&paid, 200, code);
        if code == PAID {
            assert_eq!(paid.json["threeDSecure"]["eci"], "05", "{fields:?} {}", paid.text);
        }
    }
    let out = pay_by_card(&shop, "VISA", CHALLENGE, &[("customParameters[3DS2_enrolled]", "false")]).await?;
    assert_result(&out, 200, PAID);
    assert!(out.json["threeDSecure"].is_null());
    // A browser cannot set these parameters.
    let made = shop.create_checkout(&[BACK]).await?;
    shop.submit_card(made.id(), &[ENROLLED, (FLOW, "challenge")]).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn the_shopper_agrees_to_the_amount_for_the_authentication_and_pays_the_payments_own() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = pay_by_card(&shop, "VISA", CHALLENGE, &[("risk.amount", "80.00")]).await?;
    let (_, page) = visit_page(&shop, redirect_field(&paid, "url")).await?;
    assert!(page.contains("80.00 EUR") && !page.contains("92.00"), "{page}");
    assert_eq!(paid.json["amount"], "92.00");
    let fields = [("risk.amount", "80.50"), ("currency", "JPY")];
    assert_errors(&pay_by_card(&shop, "VISA", CHALLENGE, &fields).await?, &["risk.amount"]);
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
    let paid = pay_by_card(&sandbox_shop(), "VISA", FRICTIONLESS, &wishes).await?;
    assert_eq!(
        three_ds_fields(&paid),
        "authType=02 authenticationStatus=Y challengeIndicator=02 challengeMandatedIndicator=N dsTransactionId=uuid eci=05 \
         enrollmentStatus=Y verificationId=cavv version=2.1.0"
    );
    Ok(())
}

#[tokio::test]
async fn version_1_hands_the_issuer_a_request_and_its_transaction() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = shop.pay_by_card(&[("card.number", "4711100000000000"), BACK]).await?;
    assert_result(&paid, 200, PENDING);
    assert_eq!(redirect_field(&paid, "method"), "POST");
    let url = redirect_field(&paid, "url");
    let parameters = paid.json["redirect"]["parameters"].as_array().cloned().unwrap_or_default();
    let text = |field: &serde_json::Value, name: &str| field[name].as_str().unwrap_or_default().to_owned();
    let fields: Vec<_> = parameters.iter().map(|field| (text(field, "name"), text(field, "value"))).collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PaReq", "MD", "TermUrl"]);
    assert_eq!(fields[2].1, url);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (found, page) = post_to_page(&shop, url, &fields).await?;
    assert_eq!((found, challenge_transaction(&page)), (200, fields[1].1), "{page}");
    Ok(())
}
