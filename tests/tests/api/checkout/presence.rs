//! In a checkout the shopper is present: no parameter of a browser removes the challenge or the security code, in any
//! way of submitting the form.

use std::sync::OnceLock;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters};
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::checkout::browser_parameters::{concrete_name, sample_value};
use crate::support::*;
use crate::three_ds::BACK;

const CHALLENGE: &str = "4200000000000018";
const PENDING: &str = "000.200.000";
/// Number of concurrent requests.
pub const CONCURRENT_REQUESTS: usize = 8;

/// A flow in which a browser submits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SubmitFlow {
    /// The hosted form.
    Form,
    /// The form without scripts.
    Plain,
    /// The hosted form with a summary page, and the merchant's confirmation.
    Summary,
    /// A stored card.
    OneClick,
    /// A checkout that stores a card, which is charged afterwards.
    Registration,
}

/// All flows.
pub const SUBMIT_FLOWS: [SubmitFlow; 5] =
    [SubmitFlow::Form, SubmitFlow::Plain, SubmitFlow::Summary, SubmitFlow::OneClick, SubmitFlow::Registration];

/// Names and values of a form's fields.
pub type FormFields = Vec<(String, String)>;

/// Returns the shared merchant whose channel requires 3-D Secure.
fn three_ds_required_shop() -> MerchantClient {
    static STRICT: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&STRICT, &["--3d", "required"])
}

/// Returns owned copies of fields.
pub fn to_fields(fields: &[(&str, &str)]) -> FormFields {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Returns one set of fields for each sample value of each parameter that a browser may set, except the card, its brand
/// and `registrationId`; sets that once removed the challenge; and all of them together.
pub fn browser_parameters() -> Vec<FormFields> {
    let rows = all_parameters().enumerate().filter(|(_, row)| row.browser && row.group != ParameterGroup::Card);
    let rows = rows.filter(|(_, row)| !matches!(row.name, "paymentBrand" | "registrationId"));
    let mut all: Vec<FormFields> = rows.flat_map(|(number, row)| sample_fields(row, number)).collect();
    // Values that once removed the challenge, and all parameters together.
    all.extend([
        to_fields(&[("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")]),
        to_fields(&[("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "MIT")]),
        to_fields(&[("standingInstruction.mode", "REPEATED"), ("standingInstruction.initialTransactionId", "1")]),
        to_fields(&[("walletPay.source", "web"), ("walletPay.paymentToken", "x")]),
        to_fields(&[("walletPay.source", "app"), EXTERNAL_THREE_DS[0], EXTERNAL_THREE_DS[1]]),
        to_fields(&EXTERNAL_THREE_DS),
        to_fields(&[("transactionCategory", "MOTO")]),
        to_fields(&[("customParameters[forceResultCode]", "000.100.110")]),
        to_fields(&[("customParameters[3DS2_enrolled]", "false"), ("customParameters[3DS2_flow]", "frictionless")]),
        to_fields(&[("paymentType", "CD"), ("overridePaymentType[VISA]", "CD")]),
        to_fields(&[("testMode", "EXTERNAL")]),
    ]);
    all.push(all.iter().flatten().cloned().collect());
    all
}

const EXTERNAL_THREE_DS: [(&str, &str); 4] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
];

/// Returns one set of fields for each sample value of a parameter: every word of an enumeration, otherwise two values.
fn sample_fields(row: &Parameter, number: usize) -> Vec<FormFields> {
    let name = concrete_name(row.name);
    let values: Vec<String> = match row.format {
        Format::OneOf(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        format => (0..2).map(|variant| sample_value(format, number, variant)).collect(),
    };
    values.into_iter().map(|value| vec![(name.clone(), value)]).collect()
}

/// Submits a card and `more` fields in this flow, in a checkout that the merchant creates with the fields `checkout`,
/// and returns the status that the merchant reads. A card that the flow `Registration` stores is charged in a second
/// checkout; if it is not stored, the status of the first is returned.
pub async fn submit_in_flow(
    shop: &MerchantClient,
    flow: SubmitFlow,
    number: &str,
    code: &str,
    checkout: &[(&str, &str)],
    more: &FormFields,
) -> anyhow::Result<ApiResponse> {
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", number),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
        ("card.expiry", "05/34"),
        ("card.holder", "Jane Jones"),
        ("card.cvv", code),
    ];
    let mut fields: Vec<(&str, &str)> = card.to_vec();
    fields.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    match flow {
        SubmitFlow::Form | SubmitFlow::Summary | SubmitFlow::Plain => {
            let made = shop.create_checkout(&[&[BACK], checkout].concat()).await?;
            let path = match flow {
                SubmitFlow::Plain => format!("v1/plainForm.html?checkoutId={}&brands=VISA", made.id()),
                _ => format!("v1/checkouts/{}/payment", made.id()),
            };
            if flow == SubmitFlow::Summary {
                fields.push(("useSummaryPage", "true"));
            }
            post_as_browser(shop, &path, &fields).await?;
            if flow == SubmitFlow::Summary {
                shop.post(&format!("v1/checkouts/{}/confirm", made.id()), &[]).await?;
            }
            shop.read_status(made.id()).await
        }
        SubmitFlow::OneClick => {
            let stored = shop.post("v1/registrations", &card[..4]).await?;
            pay_by_click(shop, stored.id(), code, checkout, more).await
        }
        SubmitFlow::Registration => {
            let opened = shop.post("v1/checkouts", &[&[("createRegistration", "true")], checkout].concat()).await?;
            let path = format!("v1/checkouts/{}/registration", opened.id());
            post_as_browser(shop, &path, &fields).await?;
            let status = shop.get(&path).await?;
            match status.json["paymentType"] == "RG" && status.status == 200 {
                true => pay_by_click(shop, status.id(), code, checkout, more).await,
                false => Ok(status),
            }
        }
    }
}

/// Offers a stored card in a new checkout with these fields, pays with it and its code as a browser does, and returns
/// the status that the merchant reads.
async fn pay_by_click(
    shop: &MerchantClient,
    stored: &str,
    code: &str,
    checkout: &[(&str, &str)],
    more: &FormFields,
) -> anyhow::Result<ApiResponse> {
    let made = shop.create_checkout(&[&[BACK, ("registrations[0].id", stored)], checkout].concat()).await?;
    let mut fields = vec![("registrationId", stored), ("card.cvv", code)];
    fields.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    post_as_browser(shop, &format!("v1/checkouts/{}/payment", made.id()), &fields).await?;
    shop.read_status(made.id()).await
}

/// Posts without credentials and without following redirects. Ignores the response, which may be a page.
pub async fn post_as_browser(shop: &MerchantClient, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<()> {
    let request = shop.browser.post(format!("{}{path}", shop.base));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    // The body is read to its end, so that the connection can be used again.
    request.body(tillgate_tests::encode_form(fields.iter().copied())).send().await?.bytes().await?;
    Ok(())
}

/// Asserts that a status has no success code (000.1…) and no paid checkout: the shopper is redirected to the issuer, or
/// the submit was refused.
#[track_caller]
pub fn assert_unpaid(status: &ApiResponse, flow: SubmitFlow, fields: &FormFields) {
    let case = || format!("{flow:?} {fields:?}: {}", status.text);
    assert!(!status.result_code().starts_with("000.1") && status.json["checkoutState"] != "PAID", "{}", case());
}

#[tokio::test]
async fn no_parameter_of_a_browser_takes_the_challenge_away() -> anyhow::Result<()> {
    let all = browser_parameters();
    assert!(all.len() > 100, "{}", all.len());
    let cases = SUBMIT_FLOWS.iter().flat_map(|way| all.iter().map(move |fields| (*way, fields)));
    let shop = &three_ds_required_shop();
    let asked: Vec<bool> = stream::iter(cases)
        .map(|(way, fields)| async move {
            let status = submit_in_flow(shop, way, CHALLENGE, "123", &[], fields).await?;
            assert_unpaid(&status, way, fields);
            anyhow::Ok(status.result_code() == PENDING && status.json["redirect"]["url"].is_string())
        })
        .buffer_unordered(CONCURRENT_REQUESTS)
        .try_collect()
        .await?;
    // Most values change nothing: the shopper is redirected to the issuer.
    let challenged = asked.iter().filter(|asked| **asked).count();
    assert!(challenged * 10 > asked.len() * 8, "{challenged} of {}", asked.len());
    Ok(())
}

#[tokio::test]
async fn no_brand_of_a_card_or_wallet_takes_the_challenge_away() -> anyhow::Result<()> {
    let brands = Brand::all().iter().filter(|brand| matches!(brand.kind, AccountType::Card | AccountType::Wallet));
    let cases: Vec<FormFields> = brands
        .flat_map(|brand| {
            let brand = ("paymentBrand", brand.code);
            [to_fields(&[brand]), to_fields(&[brand, ("walletPay.paymentToken", "{}"), ("walletPay.source", "web")])]
        })
        .collect();
    let shop = &three_ds_required_shop();
    for way in [SubmitFlow::Form, SubmitFlow::Plain, SubmitFlow::Summary, SubmitFlow::Registration] {
        stream::iter(&cases)
            .map(|fields| async move {
                assert_unpaid(&submit_in_flow(shop, way, CHALLENGE, "123", &[], fields).await?, way, fields);
                anyhow::Ok(())
            })
            .buffer_unordered(CONCURRENT_REQUESTS)
            .try_collect::<Vec<()>>()
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_checkout_that_says_its_shopper_is_absent_is_refused_when_it_is_opened_or_changed() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (repeated, mit) = (("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT"));
    for fields in [&[mit][..], &[repeated, mit], &[("standingInstruction.mode", "INITIAL"), mit]] {
        assert_errors(&shop.create_checkout(fields).await?, &[mit.0]);
        let made = shop.create_checkout(&[]).await?;
        assert_errors(&shop.post(&format!("v1/checkouts/{}", made.id()), fields).await?, &[mit.0]);
        assert_errors(
            &shop.post("v1/checkouts", &[fields, &[("createRegistration", "true")]].concat()).await?,
            &[mit.0],
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_repeated_payment_posted_by_a_browser_still_asks_for_the_challenge_and_takes_the_code() -> anyhow::Result<()>
{
    let shop = sandbox_shop();
    let (repeated, mit) = (("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT"));
    // The result is the same for a mode sent by the merchant or by the browser, and for a browser that sends MIT.
    for (opened, posted) in [
        (&[BACK, repeated][..], &[("card.number", CHALLENGE), mit][..]),
        (&[BACK], &[("card.number", CHALLENGE), repeated]),
        (&[BACK], &[("card.number", CHALLENGE), repeated, mit]),
    ] {
        let made = shop.create_checkout(opened).await?;
        shop.submit_card(made.id(), posted).await?;
        let status = shop.read_status(made.id()).await?;
        assert_result(&status, 200, PENDING);
        assert!(status.json["redirect"]["url"].is_string(), "{}", status.text);
        assert_eq!(status.json["standingInstruction"]["source"], "CIT", "{}", status.text);
    }
    let made = shop.create_checkout(&[repeated]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["result"]["cvvResponse"], "M");
    Ok(())
}

#[tokio::test]
async fn a_first_payment_of_a_series_without_a_code_needs_a_real_authentication() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let initial = [("standingInstruction.mode", "INITIAL"), ("card.cvv", "")];
    // Cards that are not enrolled or not authenticated: no cardholder authentication took place.
    for number in ["4200000000000000", "4012001037141112", "4532497088771651", "4012001037461114"] {
        for by_merchant in [true, false] {
            let made = shop.create_checkout(&[BACK, initial[0]][..if by_merchant { 2 } else { 1 }]).await?;
            shop.submit_card(made.id(), &[&initial[..], &[("card.number", number)]].concat()).await?;
            let status = shop.read_status(made.id()).await?;
            assert!(!status.result_code().starts_with("000.1"), "{number}: {}", status.text);
        }
        let opened = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
        let path = format!("v1/checkouts/{}/registration", opened.id());
        let fields = [&tillgate_tests::CARD[..5], &[initial[0]]].concat();
        assert_errors(&shop.post_as_browser(&path, &fields).await?, &["card.cvv"]);
    }
    // Other 3-D Secure parameters prove no authentication, whoever sends them.
    for (name, value) in [
        ("threeDSecure.challengeIndicator", "04"),
        ("threeDSecure.version", "2.2.0"),
        ("threeDSecure.merchant.name", "Shop"),
        ("threeDSecure.exemptionFlag", "01"),
    ] {
        assert_errors(&shop.pay_by_card(&[&initial[..], &[(name, value)]].concat()).await?, &["card.cvv"]);
        let made = shop.create_checkout(&[(name, value)]).await?;
        assert_errors(&shop.submit_card(made.id(), &initial).await?, &["card.cvv"]);
    }
    let made = shop.create_checkout(&[BACK]).await?;
    shop.submit_card(made.id(), &[&initial[..], &[("card.number", "4200000000000026")]].concat()).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_form_adds_no_term_to_an_agreement_of_the_merchants() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let agreed = [
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.type", "RECURRING"),
        ("bankAccount.mandate.id", "MANDATE4711"),
        ("recurring.numberOfInstallments", "6"),
    ];
    let made = shop.create_checkout(&agreed).await?;
    let weaker = [
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.type", "UNSCHEDULED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.expiry", "2001-01-01"),
        ("standingInstruction.frequency", "9999"),
        ("standingInstruction.numberOfInstallments", "1"),
        ("standingInstruction.industryPractice", "NO_SHOW"),
        ("recurring.numberOfInstallments", "36"),
    ];
    shop.submit_card(made.id(), &weaker).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["recurring"]["numberOfInstallments"], "6");
    let told = &status.json["standingInstruction"];
    assert_eq!((&told["mode"], &told["type"]), (&"INITIAL".into(), &"RECURRING".into()), "{}", status.text);
    assert!(told["initialTransactionId"].is_string(), "{}", status.text);
    assert_eq!(member_names(told).len(), 3, "{}", status.text);
    Ok(())
}
