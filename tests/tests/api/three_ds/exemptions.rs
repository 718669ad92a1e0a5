//! Challenge mandates, exemptions and the authentication type that a merchant requests from the issuer, and the rules
//! that these requests cannot circumvent.

use super::cards::{three_ds_never_shop, three_ds_required_shop};
use super::*;
use crate::registration::registrations::pay_by_registration;

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
/// A card that gets a soft decline until its cardholder is authenticated.
const SOFT: &str = "4200000000000083";
const TERMS: [(&str, &str); 4] = [
    ("standingInstruction.mode", "INITIAL"),
    ("standingInstruction.type", "RECURRING"),
    ("standingInstruction.expiry", "2099-01-01"),
    ("standingInstruction.frequency", "28"),
];

/// Returns the 3-D Secure result in a response, without the repeated request parameters.
fn three_ds_result(answer: &ApiResponse) -> String {
    let fields = three_ds_fields(answer);
    let requested = ["authType", "challengeIndicator", "challengeMandatedIndicator", "exemptionFlag"];
    let results = fields.split(' ').filter(|pair| !requested.iter().any(|name| pair.starts_with(name)));
    results.collect::<Vec<_>>().join(" ")
}

/// Loads the method page of a pending payment, if it has one, and returns the page that the shopper sees next.
async fn run_method_and_visit(shop: &MerchantClient, paid: &ApiResponse) -> anyhow::Result<String> {
    if let Some(method) = paid.json["redirect"]["preconditions"][0]["url"].as_str() {
        assert_eq!(visit_page(shop, method).await?.0, 200);
    }
    Ok(visit_page(shop, redirect_field(paid, "url")).await?.1)
}

#[tokio::test]
async fn a_mandated_challenge_challenges_the_holder_of_a_frictionless_card() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for number in [FRICTIONLESS, FRICTIONLESS_METHOD, ATTEMPT, "4200000000000109"] {
        let paid = pay_by_card(&shop, "VISA", number, &[MANDATED]).await?;
        assert_result(&paid, 200, PENDING);
        let page = run_method_and_visit(&shop, &paid).await?;
        let answer = [("transaction", challenge_transaction(&page)), ("returnCode", PAID)];
        assert_eq!(post_to_page(&shop, redirect_field(&paid, "url"), &answer).await?.0, 200, "{number} {page}");
        let read = read_payment(&shop, paid.id()).await?;
        assert_result(&read, 200, PAID);
        assert_eq!(read.json["threeDSecure"]["eci"], "05", "{}", read.text);
    }
    // N does not mandate a challenge, and other flows than the frictionless one do not change.
    assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[(MANDATED.0, "N")]).await?, 200, PAID);
    for (number, status, code) in
        [("4012001037461114", 200, PAID), ("4012001037141112", 200, PAID), ("4200000000000034", 400, "100.390.114")]
    {
        assert_result(&pay_by_card(&shop, "VISA", number, &[MANDATED]).await?, status, code);
    }
    assert_result(&three_ds_never_shop().pay_by_card(&[("card.number", FRICTIONLESS), MANDATED]).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn an_exemption_spares_the_holder_of_a_frictionless_card_and_shifts_no_liability() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for exemption in EXEMPTIONS {
        let paid = pay_by_card(&shop, "VISA", FRICTIONLESS, &[exemption]).await?;
        assert_result(&paid, 200, PAID);
        assert_eq!(three_ds_result(&paid), EXEMPTED, "{exemption:?}");
        let field = exemption.0.trim_start_matches("threeDSecure.");
        assert_eq!(paid.json["threeDSecure"][field], exemption.1, "{}", paid.text);
    }
    let paid = pay_by_card(&shop, "MASTER", "5200000000000056", &[EXEMPTIONS[1]]).await?;
    assert_eq!(three_ds_result(&paid), EXEMPTED.replace("07", "06"));
    // The exemption also applies after the issuer's method page.
    let paid = pay_by_card(&shop, "VISA", FRICTIONLESS_METHOD, &[EXEMPTIONS[0]]).await?;
    assert_result(&paid, 200, PENDING);
    assert_eq!(challenge_transaction(&run_method_and_visit(&shop, &paid).await?), "");
    let read = read_payment(&shop, paid.id()).await?;
    assert_result(&read, 200, PAID);
    assert_eq!(three_ds_result(&read), EXEMPTED);
    Ok(())
}

#[tokio::test]
async fn an_exemption_gets_around_no_challenge_card_no_mandate_and_no_refusal() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for exemption in EXEMPTIONS {
        assert_result(&pay_by_card(&shop, "VISA", CHALLENGE, &[exemption]).await?, 200, PENDING);
        assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[exemption, MANDATED]).await?, 200, PENDING);
        assert_result(&pay_by_card(&shop, "VISA", "4200000000000034", &[exemption]).await?, 400, "100.390.114");
        let attempted = pay_by_card(&shop, "VISA", ATTEMPT, &[exemption]).await?;
        assert_eq!((attempted.result_code(), attempted.json["threeDSecure"]["eci"].as_str()), (PAID, Some("06")));
        let version = ("threeDSecure.version", "2.1.0");
        assert_errors(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[exemption, version]).await?, &[exemption.0]);
    }
    let flag = EXEMPTIONS[1];
    for wish in ["04", "09"] {
        let wish = ("threeDSecure.challengeIndicator", wish);
        assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[flag, wish]).await?, 200, PENDING);
    }
    Ok(())
}

#[tokio::test]
async fn an_exemption_replaces_no_authentication_that_has_to_be() -> anyhow::Result<()> {
    for exemption in EXEMPTIONS {
        // The channel accepts authenticated cards only, so the exemption is ignored.
        let paid = pay_by_card(&three_ds_required_shop(), "VISA", FRICTIONLESS, &[exemption]).await?;
        assert_eq!(
            (paid.result_code(), paid.json["threeDSecure"]["eci"].as_str()),
            (PAID, Some("05")),
            "{}",
            paid.text
        );
        assert_result(
            &pay_by_card(&three_ds_required_shop(), "VISA", "4012001037141112", &[exemption]).await?,
            400,
            "000.400.102",
        );
        // The first payment of a series without a security code requires the authentication.
        let first =
            pay_by_card(&sandbox_shop(), "VISA", FRICTIONLESS, &[&TERMS[..], &[exemption, ("card.cvv", "")]].concat())
                .await?;
        assert_eq!(
            (first.result_code(), first.json["threeDSecure"]["eci"].as_str()),
            (PAID, Some("05")),
            "{}",
            first.text
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_exemption_that_the_bank_declines_softly_ends_with_the_result_of_the_challenge() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let wishes = [BACK, EXEMPTIONS[0], ("customParameters[3DS2_enrolled]", "true")];
    for (answer, code, status_code) in [(PAID, PAID, 200), ("100.390.100", "100.390.100", 400)] {
        let made = shop.create_checkout(&wishes).await?;
        let submitted = shop.submit_card(made.id(), &[("card.number", SOFT)]).await?;
        assert_result(&submitted, 200, PENDING);
        let url = redirect_field(&submitted, "url");
        let (_, page) = visit_page(&shop, url).await?;
        assert_eq!(
            post_to_page(&shop, url, &[("transaction", challenge_transaction(&page)), ("returnCode", answer)]).await?.0,
            200
        );
        let read = shop.read_status(made.id()).await?;
        assert_result(&read, status_code, code);
        let passed =
            "authenticationStatus=Y dsTransactionId=uuid eci=05 enrollmentStatus=Y verificationId=cavv version=2.2.0";
        let failed =
            "authenticationStatus=N dsTransactionId=uuid enrollmentStatus=Y transactionStatusReason=01 version=2.2.0";
        assert_eq!(three_ds_result(&read), if code == PAID { passed } else { failed });
    }
    Ok(())
}

#[tokio::test]
async fn the_kind_of_authentication_chooses_the_page_of_the_challenge() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (kind, title) in [
        ("01", "Enter your password"),
        ("02", "Enter your one-time code"),
        ("03", "Confirm in your bank's app"),
        ("04", "Confirm later, on another device"),
        ("", "Confirm your payment"),
    ] {
        let paid = pay_by_card(&shop, "VISA", CHALLENGE, &[("threeDSecure.authType", kind)]).await?;
        let url = redirect_field(&paid, "url");
        let (_, page) = visit_page(&shop, url).await?;
        assert!(page.contains(&format!("<h1>{title}</h1>")) && page.contains("<title>"), "{kind} {page}");
        // Every page has the same answers and asks for no secret.
        assert!(page.contains(r#"<select id="returnCode" name="returnCode">"#), "{page}");
        assert!(!page.contains(r#"type="password""#) && !page.contains(r#"type="text""#), "{page}");
        assert_eq!(
            post_to_page(&shop, url, &[("transaction", challenge_transaction(&page)), ("returnCode", PAID)]).await?.0,
            200
        );
        assert_result(&read_payment(&shop, paid.id()).await?, 200, PAID);
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_asks_neither_for_an_exemption_nor_against_a_mandate() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK, MANDATED]).await?;
    let asked = [("card.number", FRICTIONLESS), (MANDATED.0, "N"), EXEMPTIONS[0]];
    assert_result(&shop.submit_card(made.id(), &asked).await?, 200, PENDING);
    let made = shop.create_checkout(&[BACK]).await?;
    shop.submit_card(made.id(), &[("card.number", FRICTIONLESS), EXEMPTIONS[0]]).await?;
    assert_eq!(shop.read_status(made.id()).await?.json["threeDSecure"]["eci"], "05");
    Ok(())
}

#[tokio::test]
async fn a_stored_card_is_exempted_like_a_typed_one() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", FRICTIONLESS),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let stored = shop.post("v1/registrations", &card).await?;
    assert_result(&stored, 200, PAID);
    let paid =
        pay_by_registration(&shop, stored.id(), &[&[BACK, EXEMPTIONS[0]], &CARDHOLDER_DATA[..]].concat()).await?;
    assert_result(&paid, 200, PAID);
    assert_eq!(three_ds_result(&paid), EXEMPTED);
    Ok(())
}

#[tokio::test]
async fn the_reference_lists_every_wish_in_one_table() -> anyhow::Result<()> {
    let reference = sandbox_shop().client.get(format!("{}reference", sandbox_shop().base)).send().await?.text().await?;
    let table = reference.split_once(r#"id="test-3d-wishes""#).map_or("", |(_, rest)| rest);
    let table = table.split("</table>").next().unwrap_or_default();
    for part in ["challengeMandatedIndicator=Y", "exemptionFlag=01 to 04", "authType=04", "Enter your one-time code"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    Ok(())
}
