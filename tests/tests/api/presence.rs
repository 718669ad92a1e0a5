//! In a checkout the shopper is present: no parameter of a browser takes away the challenge or the security code, through
//! whichever way the form is submitted.

use std::sync::OnceLock;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tillgate_shared::brand::{Brand, Kind};
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{Group, Parameter, catalogue};
use tillgate_tests::{Answer, Merchant};

use crate::browser_parameters::{concrete, sample};
use crate::support::*;
use crate::threeds::BACK;

const CHALLENGE: &str = "4200000000000018";
const PENDING: &str = "000.200.000";
/// Requests under way at a time.
pub const AT_ONCE: usize = 8;

/// A way in which a browser submits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// The hosted form.
    Form,
    /// The form without scripts.
    Plain,
    /// The hosted form in front of a summary page, and the merchant's word after it.
    Summary,
    /// A stored card.
    OneClick,
    /// A checkout that stores a card, which is paid with afterwards.
    Registration,
}

pub const WAYS: [Way; 5] = [Way::Form, Way::Plain, Way::Summary, Way::OneClick, Way::Registration];

pub type Fields = Vec<(String, String)>;

/// A merchant whose channel demands an authentication.
fn strict() -> Merchant {
    static STRICT: OnceLock<Merchant> = OnceLock::new();
    account(&STRICT, &["--3d", "required"])
}

pub fn owned(fields: &[(&str, &str)]) -> Fields {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Every value worth trying of each parameter that a browser may set, but those that make another card of it.
pub fn browser_parameters() -> Vec<Fields> {
    let rows = catalogue().enumerate().filter(|(_, row)| row.browser && row.group != Group::Card);
    let rows = rows.filter(|(_, row)| !matches!(row.name, "paymentBrand" | "registrationId"));
    let mut all: Vec<Fields> = rows.flat_map(|(number, row)| values(row, number)).collect();
    // What used to work, and everything at once.
    all.extend([
        owned(&[("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")]),
        owned(&[("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "MIT")]),
        owned(&[("standingInstruction.mode", "REPEATED"), ("standingInstruction.initialTransactionId", "1")]),
        owned(&[("walletPay.source", "web"), ("walletPay.paymentToken", "x")]),
        owned(&[("walletPay.source", "app"), ELSEWHERE[0], ELSEWHERE[1]]),
        owned(&ELSEWHERE),
        owned(&[("transactionCategory", "MOTO")]),
        owned(&[("customParameters[forceResultCode]", "000.100.110")]),
        owned(&[("customParameters[3DS2_enrolled]", "false"), ("customParameters[3DS2_flow]", "frictionless")]),
        owned(&[("paymentType", "CD"), ("overridePaymentType[VISA]", "CD")]),
        owned(&[("testMode", "EXTERNAL")]),
    ]);
    all.push(all.iter().flatten().cloned().collect());
    all
}

const ELSEWHERE: [(&str, &str); 4] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
];

fn values(row: &Parameter, number: usize) -> Vec<Fields> {
    let name = concrete(row.name);
    let values: Vec<String> = match row.format {
        Format::OneOf(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        format => (0..2).map(|variant| sample(format, number, variant)).collect(),
    };
    values.into_iter().map(|value| vec![(name.clone(), value)]).collect()
}

/// Submits a card with more fields, in a checkout that the merchant opens with fields of its own, and returns what the
/// merchant reads then.
pub async fn submit(
    shop: &Merchant,
    way: Way,
    number: &str,
    code: &str,
    checkout: &[(&str, &str)],
    more: &Fields,
) -> anyhow::Result<Answer> {
    let usual = [
        ("paymentBrand", "VISA"),
        ("card.number", number),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
        ("card.expiry", "05/34"),
        ("card.holder", "Jane Jones"),
        ("card.cvv", code),
    ];
    let mut fields: Vec<(&str, &str)> = usual.to_vec();
    fields.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    match way {
        Way::Form | Way::Summary | Way::Plain => {
            let made = shop.checkout(&[&[BACK], checkout].concat()).await?;
            let path = match way {
                Way::Plain => format!("v1/plainForm.html?checkoutId={}&brands=VISA", made.id()),
                _ => format!("v1/checkouts/{}/payment", made.id()),
            };
            if way == Way::Summary {
                fields.push(("useSummaryPage", "true"));
            }
            post(shop, &path, &fields).await?;
            if way == Way::Summary {
                shop.post(&format!("v1/checkouts/{}/confirm", made.id()), &[]).await?;
            }
            shop.status(made.id()).await
        }
        Way::OneClick => {
            let card: Vec<_> = usual[..4].to_vec();
            let stored = shop.post("v1/registrations", &card).await?;
            pay_by_click(shop, stored.id(), code, checkout, more).await
        }
        Way::Registration => {
            let opened = shop.post("v1/checkouts", &[&[("createRegistration", "true")], checkout].concat()).await?;
            let path = format!("v1/checkouts/{}/registration", opened.id());
            post(shop, &path, &fields).await?;
            let status = shop.get(&path).await?;
            match status.json["paymentType"] == "RG" && status.status == 200 {
                true => pay_by_click(shop, status.id(), code, checkout, more).await,
                false => Ok(status),
            }
        }
    }
}

async fn pay_by_click(
    shop: &Merchant,
    stored: &str,
    code: &str,
    checkout: &[(&str, &str)],
    more: &Fields,
) -> anyhow::Result<Answer> {
    let made = shop.checkout(&[&[BACK, ("registrations[0].id", stored)], checkout].concat()).await?;
    let mut fields = vec![("registrationId", stored), ("card.cvv", code)];
    fields.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    post(shop, &format!("v1/checkouts/{}/payment", made.id()), &fields).await?;
    shop.status(made.id()).await
}

/// Posts as a browser; the answer may be a page.
pub async fn post(shop: &Merchant, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<()> {
    let request = shop.bare(reqwest::Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    client.execute(request.body(tillgate_tests::form(fields.iter().copied())).build()?).await?;
    Ok(())
}

/// Nobody has been paid: either the issuer asks the shopper, or the submit was refused.
#[track_caller]
pub fn assert_unpaid(status: &Answer, way: Way, fields: &Fields) {
    let case = || format!("{way:?} {fields:?}: {}", status.text);
    assert!(!status.code().starts_with("000.1") && status.json["checkoutState"] != "PAID", "{}", case());
}

#[tokio::test]
async fn no_parameter_of_a_browser_takes_the_challenge_away() -> anyhow::Result<()> {
    let all = browser_parameters();
    assert!(all.len() > 100, "{}", all.len());
    let cases = WAYS.iter().flat_map(|way| all.iter().map(move |fields| (*way, fields)));
    let asked: Vec<bool> = stream::iter(cases)
        .map(|(way, fields)| async move {
            let status = submit(&strict(), way, CHALLENGE, "123", &[], fields).await?;
            assert_unpaid(&status, way, fields);
            anyhow::Ok(status.code() == PENDING && status.json["redirect"]["url"].is_string())
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    // Most of them change nothing: the shopper is sent to the issuer.
    let challenged = asked.iter().filter(|asked| **asked).count();
    assert!(challenged * 10 > asked.len() * 8, "{challenged} of {}", asked.len());
    Ok(())
}

#[tokio::test]
async fn no_brand_of_a_card_or_wallet_takes_the_challenge_away() -> anyhow::Result<()> {
    let brands = Brand::all().iter().filter(|brand| matches!(brand.kind, Kind::Card | Kind::Wallet));
    let cases: Vec<Fields> = brands
        .flat_map(|brand| {
            let brand = ("paymentBrand", brand.code);
            [owned(&[brand]), owned(&[brand, ("walletPay.paymentToken", "{}"), ("walletPay.source", "web")])]
        })
        .collect();
    for way in [Way::Form, Way::Plain, Way::Summary, Way::Registration] {
        stream::iter(&cases)
            .map(|fields| async move {
                assert_unpaid(&submit(&strict(), way, CHALLENGE, "123", &[], fields).await?, way, fields);
                anyhow::Ok(())
            })
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_checkout_that_says_its_shopper_is_absent_is_refused_when_it_is_opened_or_changed() -> anyhow::Result<()> {
    let shop = shop();
    let (repeated, mit) = (("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT"));
    for fields in [&[mit][..], &[repeated, mit], &[("standingInstruction.mode", "INITIAL"), mit]] {
        assert_errors(&shop.checkout(fields).await?, &[mit.0]);
        let made = shop.checkout(&[]).await?;
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
    let shop = shop();
    let (repeated, mit) = (("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT"));
    // It is the same if the merchant says that it is repeated, or the browser, or the browser says that nobody is there.
    for (opened, posted) in [
        (&[BACK, repeated][..], &[("card.number", CHALLENGE), mit][..]),
        (&[BACK], &[("card.number", CHALLENGE), repeated]),
        (&[BACK], &[("card.number", CHALLENGE), repeated, mit]),
    ] {
        let made = shop.checkout(opened).await?;
        shop.submit(made.id(), posted).await?;
        let status = shop.status(made.id()).await?;
        assert_answer(&status, 200, PENDING);
        assert!(status.json["redirect"]["url"].is_string(), "{}", status.text);
        assert_eq!(status.json["standingInstruction"]["source"], "CIT", "{}", status.text);
    }
    let made = shop.checkout(&[repeated]).await?;
    shop.submit(made.id(), &[]).await?;
    let status = shop.status(made.id()).await?;
    assert_answer(&status, 200, "000.100.110");
    assert_eq!(status.json["result"]["cvvResponse"], "M");
    Ok(())
}

#[tokio::test]
async fn a_first_payment_of_a_series_without_a_code_needs_a_real_authentication() -> anyhow::Result<()> {
    let shop = shop();
    let initial = [("standingInstruction.mode", "INITIAL"), ("card.cvv", "")];
    // Neither enrolled, nor answered by the issuer: nobody has authenticated the cardholder.
    for number in ["4200000000000000", "4012001037141112", "4532497088771651", "4012001037461114"] {
        for by_merchant in [true, false] {
            let made = shop.checkout(&[BACK, initial[0]][..if by_merchant { 2 } else { 1 }]).await?;
            shop.submit(made.id(), &[&initial[..], &[("card.number", number)]].concat()).await?;
            let status = shop.status(made.id()).await?;
            assert!(!status.code().starts_with("000.1"), "{number}: {}", status.text);
        }
        let opened = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
        let path = format!("v1/checkouts/{}/registration", opened.id());
        let fields = [&tillgate_tests::CARD[..5], &[initial[0]]].concat();
        assert_errors(&shop.post_as_browser(&path, &fields).await?, &["card.cvv"]);
    }
    // Other 3-D Secure parameters are no proof, whoever sends them.
    for (name, value) in [
        ("threeDSecure.challengeIndicator", "04"),
        ("threeDSecure.version", "2.2.0"),
        ("threeDSecure.merchant.name", "Shop"),
        ("threeDSecure.exemptionFlag", "01"),
    ] {
        assert_errors(&shop.pay(&[&initial[..], &[(name, value)]].concat()).await?, &["card.cvv"]);
        let made = shop.checkout(&[(name, value)]).await?;
        assert_errors(&shop.submit(made.id(), &initial).await?, &["card.cvv"]);
    }
    let made = shop.checkout(&[BACK]).await?;
    shop.submit(made.id(), &[&initial[..], &[("card.number", "4200000000000026")]].concat()).await?;
    assert_answer(&shop.status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_form_adds_no_term_to_an_agreement_of_the_merchants() -> anyhow::Result<()> {
    let shop = shop();
    let agreed = [
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.type", "RECURRING"),
        ("bankAccount.mandate.id", "MANDATE4711"),
        ("recurring.numberOfInstallments", "6"),
    ];
    let made = shop.checkout(&agreed).await?;
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
    shop.submit(made.id(), &weaker).await?;
    let status = shop.status(made.id()).await?;
    assert_answer(&status, 200, "000.100.110");
    assert_eq!(status.json["recurring"]["numberOfInstallments"], "6");
    let told = &status.json["standingInstruction"];
    assert_eq!((&told["mode"], &told["type"]), (&"INITIAL".into(), &"RECURRING".into()), "{}", status.text);
    assert!(told["initialTransactionId"].is_string(), "{}", status.text);
    assert_eq!(keys(told).len(), 3, "{}", status.text);
    Ok(())
}
