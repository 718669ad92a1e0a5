//! Mandates, exemptions and the kind of authentication that a merchant asks the issuer for, and what neither of them gets
//! around.

use super::cards::{never, strict};
use super::*;
use crate::registrations::pay_by;

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const MANDATED: (&str, &str) = ("threeDSecure.challengeMandatedIndicator", "Y");
const EXEMPTIONS: [(&str, &str); 8] = [
    ("threeDSecure.exemptionFlag", "01"),
    ("threeDSecure.exemptionFlag", "02"),
    ("threeDSecure.exemptionFlag", "03"),
    ("threeDSecure.exemptionFlag", "04"),
    ("threeDSecure.challengeIndicator", "05"),
    ("threeDSecure.challengeIndicator", "06"),
    ("threeDSecure.challengeIndicator", "07"),
    ("threeDSecure.challengeIndicator", "08"),
];
const EXEMPTED: &str = "dsTransactionId=uuid eci=07 enrollmentStatus=Y version=2.2.0";
const FRICTIONLESS: &str = "4200000000000026";
const FRICTIONLESS_METHOD: &str = "4200000000000091";
const ATTEMPT: &str = "4200000000000059";
const CHALLENGE: &str = "4200000000000018";
/// Declined softly until its cardholder is authenticated.
const SOFT: &str = "4200000000000083";
const TERMS: [(&str, &str); 4] = [
    ("standingInstruction.mode", "INITIAL"),
    ("standingInstruction.type", "RECURRING"),
    ("standingInstruction.expiry", "2099-01-01"),
    ("standingInstruction.frequency", "28"),
];

/// The result of an authentication that an answer tells of, without the wishes that are told again.
fn result(answer: &Answer) -> String {
    let told = told(answer);
    let wishes = ["authType", "challengeIndicator", "challengeMandatedIndicator", "exemptionFlag"];
    let results = told.split(' ').filter(|pair| !wishes.iter().any(|wish| pair.starts_with(wish)));
    results.collect::<Vec<_>>().join(" ")
}

/// Runs the method page of a pending payment and returns the page that the shopper sees then.
async fn method_and_visit(shop: &Merchant, paid: &Answer) -> anyhow::Result<String> {
    if let Some(method) = paid.json["redirect"]["preconditions"][0]["url"].as_str() {
        assert_eq!(visit(shop, method).await?.0, 200);
    }
    Ok(visit(shop, redirect(paid, "url")).await?.1)
}

#[tokio::test]
async fn a_mandated_challenge_challenges_the_holder_of_a_frictionless_card() -> anyhow::Result<()> {
    let shop = shop();
    for number in [FRICTIONLESS, FRICTIONLESS_METHOD, ATTEMPT, "4200000000000109"] {
        let paid = pay(&shop, "VISA", number, &[MANDATED]).await?;
        assert_answer(&paid, 200, PENDING);
        let page = method_and_visit(&shop, &paid).await?;
        let answer = [("transaction", transaction(&page)), ("returnCode", PAID)];
        assert_eq!(post(&shop, redirect(&paid, "url"), &answer).await?.0, 200, "{number} {page}");
        let read = status(&shop, paid.id()).await?;
        assert_answer(&read, 200, PAID);
        assert_eq!(read.json["threeDSecure"]["eci"], "05", "{}", read.text);
    }
    // N mandates nothing, and what is no frictionless card stays what it is.
    assert_answer(&pay(&shop, "VISA", FRICTIONLESS, &[(MANDATED.0, "N")]).await?, 200, PAID);
    for (number, status, code) in
        [("4012001037461114", 200, PAID), ("4012001037141112", 200, PAID), ("4200000000000034", 400, "100.390.114")]
    {
        assert_answer(&pay(&shop, "VISA", number, &[MANDATED]).await?, status, code);
    }
    assert_answer(&never().pay(&[("card.number", FRICTIONLESS), MANDATED]).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn an_exemption_spares_the_holder_of_a_frictionless_card_and_shifts_no_liability() -> anyhow::Result<()> {
    let shop = shop();
    for exemption in EXEMPTIONS {
        let paid = pay(&shop, "VISA", FRICTIONLESS, &[exemption]).await?;
        assert_answer(&paid, 200, PAID);
        assert_eq!(result(&paid), EXEMPTED, "{exemption:?}");
        let field = exemption.0.trim_start_matches("threeDSecure.");
        assert_eq!(paid.json["threeDSecure"][field], exemption.1, "{}", paid.text);
    }
    let paid = pay(&shop, "MASTER", "5200000000000056", &[EXEMPTIONS[1]]).await?;
    assert_eq!(result(&paid), EXEMPTED.replace("07", "06"));
    // After the issuer's method page too.
    let paid = pay(&shop, "VISA", FRICTIONLESS_METHOD, &[EXEMPTIONS[0]]).await?;
    assert_answer(&paid, 200, PENDING);
    assert_eq!(transaction(&method_and_visit(&shop, &paid).await?), "");
    let read = status(&shop, paid.id()).await?;
    assert_answer(&read, 200, PAID);
    assert_eq!(result(&read), EXEMPTED);
    Ok(())
}

#[tokio::test]
async fn an_exemption_gets_around_no_challenge_card_no_mandate_and_no_refusal() -> anyhow::Result<()> {
    let shop = shop();
    for exemption in EXEMPTIONS {
        assert_answer(&pay(&shop, "VISA", CHALLENGE, &[exemption]).await?, 200, PENDING);
        assert_answer(&pay(&shop, "VISA", FRICTIONLESS, &[exemption, MANDATED]).await?, 200, PENDING);
        assert_answer(&pay(&shop, "VISA", "4200000000000034", &[exemption]).await?, 400, "100.390.114");
        let attempted = pay(&shop, "VISA", ATTEMPT, &[exemption]).await?;
        assert_eq!((attempted.code(), attempted.json["threeDSecure"]["eci"].as_str()), (PAID, Some("06")));
        let version = ("threeDSecure.version", "2.1.0");
        assert_errors(&pay(&shop, "VISA", FRICTIONLESS, &[exemption, version]).await?, &[exemption.0]);
    }
    let flag = EXEMPTIONS[1];
    for wish in ["04", "09"] {
        let wish = ("threeDSecure.challengeIndicator", wish);
        assert_answer(&pay(&shop, "VISA", FRICTIONLESS, &[flag, wish]).await?, 200, PENDING);
    }
    Ok(())
}

#[tokio::test]
async fn an_exemption_replaces_no_authentication_that_has_to_be() -> anyhow::Result<()> {
    for exemption in EXEMPTIONS {
        // The channel takes authenticated cards alone: the issuer is asked as if nothing had been wished for.
        let paid = pay(&strict(), "VISA", FRICTIONLESS, &[exemption]).await?;
        assert_eq!((paid.code(), paid.json["threeDSecure"]["eci"].as_str()), (PAID, Some("05")), "{}", paid.text);
        assert_answer(&pay(&strict(), "VISA", "4012001037141112", &[exemption]).await?, 400, "000.400.102");
        // The authentication is the only proof of a series that begins without a security code.
        let first = pay(&shop(), "VISA", FRICTIONLESS, &[&TERMS[..], &[exemption, ("card.cvv", "")]].concat()).await?;
        assert_eq!((first.code(), first.json["threeDSecure"]["eci"].as_str()), (PAID, Some("05")), "{}", first.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_exemption_that_the_bank_declines_softly_ends_with_the_result_of_the_challenge() -> anyhow::Result<()> {
    let shop = shop();
    let wishes = [BACK, EXEMPTIONS[0], ("customParameters[3DS2_enrolled]", "true")];
    for (answer, code, status_code) in [(PAID, PAID, 200), ("100.390.100", "100.390.100", 400)] {
        let made = shop.checkout(&wishes).await?;
        let submitted = shop.submit(made.id(), &[("card.number", SOFT)]).await?;
        assert_answer(&submitted, 200, PENDING);
        let url = redirect(&submitted, "url");
        let (_, page) = visit(&shop, url).await?;
        assert_eq!(post(&shop, url, &[("transaction", transaction(&page)), ("returnCode", answer)]).await?.0, 200);
        let read = shop.status(made.id()).await?;
        assert_answer(&read, status_code, code);
        let passed =
            "authenticationStatus=Y dsTransactionId=uuid eci=05 enrollmentStatus=Y verificationId=cavv version=2.2.0";
        let failed =
            "authenticationStatus=N dsTransactionId=uuid enrollmentStatus=Y transactionStatusReason=01 version=2.2.0";
        assert_eq!(result(&read), if code == PAID { passed } else { failed });
    }
    Ok(())
}

#[tokio::test]
async fn the_kind_of_authentication_chooses_the_page_of_the_challenge() -> anyhow::Result<()> {
    let shop = shop();
    for (kind, title) in [
        ("01", "Enter your password"),
        ("02", "Enter your one-time code"),
        ("03", "Confirm in your bank's app"),
        ("04", "Confirm later, on another device"),
        ("", "Confirm your payment"),
    ] {
        let paid = pay(&shop, "VISA", CHALLENGE, &[("threeDSecure.authType", kind)]).await?;
        let url = redirect(&paid, "url");
        let (_, page) = visit(&shop, url).await?;
        assert!(page.contains(&format!("<h1>{title}</h1>")) && page.contains("<title>"), "{kind} {page}");
        // Every page takes the same answers and asks for no secret.
        assert!(page.contains(r#"<select id="returnCode" name="returnCode">"#), "{page}");
        assert!(!page.contains(r#"type="password""#) && !page.contains(r#"type="text""#), "{page}");
        assert_eq!(post(&shop, url, &[("transaction", transaction(&page)), ("returnCode", PAID)]).await?.0, 200);
        assert_answer(&status(&shop, paid.id()).await?, 200, PAID);
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_asks_neither_for_an_exemption_nor_against_a_mandate() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK, MANDATED]).await?;
    let asked = [("card.number", FRICTIONLESS), (MANDATED.0, "N"), EXEMPTIONS[0]];
    assert_answer(&shop.submit(made.id(), &asked).await?, 200, PENDING);
    let made = shop.checkout(&[BACK]).await?;
    shop.submit(made.id(), &[("card.number", FRICTIONLESS), EXEMPTIONS[0]]).await?;
    assert_eq!(shop.status(made.id()).await?.json["threeDSecure"]["eci"], "05");
    Ok(())
}

#[tokio::test]
async fn a_stored_card_is_exempted_like_a_typed_one() -> anyhow::Result<()> {
    let shop = shop();
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", FRICTIONLESS),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let stored = shop.post("v1/registrations", &card).await?;
    assert_answer(&stored, 200, PAID);
    let paid = pay_by(&shop, stored.id(), &[&[BACK, EXEMPTIONS[0]], &KNOWN[..]].concat()).await?;
    assert_answer(&paid, 200, PAID);
    assert_eq!(result(&paid), EXEMPTED);
    Ok(())
}

#[tokio::test]
async fn the_reference_lists_every_wish_in_one_table() -> anyhow::Result<()> {
    let reference = shop().client.get(format!("{}reference", shop().base)).send().await?.text().await?;
    let table = reference.split_once(r#"id="test-3d-wishes""#).map_or("", |(_, rest)| rest);
    let table = table.split("</table>").next().unwrap_or_default();
    for part in ["challengeMandatedIndicator=Y", "exemptionFlag=01 to 04", "authType=04", "Enter your one-time code"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    Ok(())
}
