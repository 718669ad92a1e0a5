//! The outcome of every test card of the directory, in a channel that authenticates if possible, one that requires
//! authentication, and one that never authenticates.

use std::sync::OnceLock;

use tillgate_sandbox::test_data::three_ds::{CARDS, ThreeDsFlow as Flow};
use tillgate_tests::MerchantClient;

use super::*;

/// Returns the shared merchant whose channel requires 3-D Secure.
pub fn three_ds_required_shop() -> MerchantClient {
    static REQUIRED: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&REQUIRED, &["--3d", "required"])
}

/// Returns the shared merchant whose channel never uses 3-D Secure.
pub fn three_ds_never_shop() -> MerchantClient {
    static NEVER: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&NEVER, &["--3d", "never"])
}

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";

/// Returns the final 3-D Secure result of a card with this flow, if its challenge is passed, in the format of
/// `three_ds_fields`. `E` and `A` are placeholders for the ECI values of the brand.
fn expected_result(flow: Flow) -> &'static str {
    use Flow::*;
    match flow {
        FrictionlessMethod | Frictionless | ChallengeMethod | Challenge => {
            "authenticationStatus=Y dsTransactionId=uuid eci=E enrollmentStatus=Y verificationId=cavv version=2.2.0"
        }
        AttemptMethod | Attempt => {
            "authenticationStatus=A dsTransactionId=uuid eci=A enrollmentStatus=Y verificationId=cavv version=2.2.0"
        }
        TechnicalError => {
            "authenticationStatus=U dsTransactionId=uuid enrollmentStatus=Y transactionStatusReason=22 version=2.2.0"
        }
        NotEnrolled => "eci=A enrollmentStatus=N",
        NotParticipating => "enrollmentStatus=U",
        Rejected => {
            "authenticationStatus=N dsTransactionId=uuid enrollmentStatus=Y transactionStatusReason=11 version=2.2.0"
        }
        Version1 => "authenticationStatus=Y eci=E enrollmentStatus=Y verificationId=cavv version=1.0.2 xid=xid",
    }
}

/// Replaces the placeholders with the ECI values of the brand: 02 and 01 for Mastercard and Maestro, 05 and 06 for
/// others.
fn with_brand_eci(result: &str, brand: &str) -> String {
    let mastercard = matches!(brand, "MASTER" | "MAESTRO");
    let (authenticated, attempted) = if mastercard { ("eci=02", "eci=01") } else { ("eci=05", "eci=06") };
    result.replace("eci=E", authenticated).replace("eci=A", attempted)
}

/// Returns the first and the final result code of a card with this flow: in a channel that authenticates if possible,
/// and in one that requires it.
fn expected_codes(flow: Flow) -> [(&'static str, &'static str); 2] {
    use Flow::*;
    match flow {
        FrictionlessMethod | AttemptMethod | ChallengeMethod | Challenge | Version1 => [(PENDING, PAID); 2],
        Frictionless | Attempt => [(PAID, PAID); 2],
        TechnicalError => [(PAID, PAID), ("000.400.103", "000.400.103")],
        NotEnrolled => [(PAID, PAID), ("000.400.102", "000.400.102")],
        NotParticipating => [(PAID, PAID), ("000.400.101", "000.400.101")],
        Rejected => [("100.390.114", "100.390.114"); 2],
    }
}

#[tokio::test]
async fn every_card_of_the_directory_comes_to_what_it_is_there_to_show() -> anyhow::Result<()> {
    for card in &CARDS {
        for (shop, (at_once, in_the_end)) in
            [sandbox_shop(), three_ds_required_shop()].into_iter().zip(expected_codes(card.flow))
        {
            let paid = pay_by_card(&shop, card.brand, card.number, &[]).await?;
            let expected = if at_once.starts_with("000.1") || at_once == PENDING { 200 } else { 400 };
            assert_result(&paid, expected, at_once);
            let preconditions = paid.json["redirect"]["preconditions"].as_array().map_or(0, Vec::len);
            assert_eq!(preconditions, usize::from(card.flow.has_method()), "{card:?} {}", paid.text);
            if at_once == PENDING {
                let url = redirect_field(&paid, "url").to_owned();
                if let Some(method) = paid.json["redirect"]["preconditions"][0]["url"].as_str() {
                    assert_eq!(visit_page(&shop, method).await?.0, 200);
                }
                let (_, page) = visit_page(&shop, &url).await?;
                let id = challenge_transaction(&page);
                if !id.is_empty() {
                    let answer = [("transaction", id), ("returnCode", PAID)];
                    assert_eq!(post_to_page(&shop, &url, &answer).await?.0, 200, "{card:?}");
                }
                let challenged = matches!(card.flow, Flow::ChallengeMethod | Flow::Challenge | Flow::Version1);
                assert_eq!(!id.is_empty(), challenged, "{card:?} {page}");
            }
            let read = read_payment(&shop, paid.id()).await?;
            assert_eq!(read.result_code(), in_the_end, "{card:?} {}", read.text);
            assert_eq!(three_ds_fields(&read), with_brand_eci(expected_result(card.flow), card.brand), "{card:?}");
            assert!(read.json["redirect"].is_null());
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_channel_that_never_authenticates_pays_at_once_and_tells_of_no_authentication() -> anyhow::Result<()> {
    let shop = three_ds_never_shop();
    for card in CARDS.iter().filter(|card| ["VISA", "MASTER", "AMEX"].contains(&card.brand)) {
        let paid = shop
            .pay_by_card(&[("paymentBrand", card.brand), ("card.number", card.number), security_code(card.brand)])
            .await?;
        assert_result(&paid, 200, PAID);
        assert!(paid.json["threeDSecure"].is_null(), "{card:?} {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_card_that_no_directory_knows_pays_unless_the_channel_requires_an_authentication() -> anyhow::Result<()> {
    assert!(CARDS.iter().all(|card| card.number != "4200000000000000"));
    let paid = sandbox_shop().pay_by_card(&[]).await?;
    assert_result(&paid, 200, PAID);
    assert!(paid.json["threeDSecure"].is_null(), "{}", paid.text);
    assert_result(&three_ds_required_shop().pay_by_card(&[]).await?, 400, "000.400.109");
    // Errors of the card itself take precedence.
    assert_result(
        &three_ds_required_shop().pay_by_card(&[("card.number", "4200000000000001")]).await?,
        400,
        "100.100.101",
    );
    assert_result(&three_ds_required_shop().pay_by_card(&[("card.expiryYear", "2020")]).await?, 400, "100.100.303");
    Ok(())
}

#[tokio::test]
async fn the_documents_name_every_card_and_every_answer() -> anyhow::Result<()> {
    let simulator = include_str!("../../../../docs/simulator.md");
    let reference = sandbox_shop().client.get(format!("{}reference", sandbox_shop().base)).send().await?.text().await?;
    for card in &CARDS {
        assert!(reference.contains(card.number), "{card:?}");
        let usual = ["VISA", "MASTER", "AMEX"].contains(&card.brand);
        assert_eq!(simulator.contains(card.number), usual, "{card:?}");
    }
    for answer in challenge_answers() {
        assert!(reference.contains(answer.label), "{answer:?}");
    }
    Ok(())
}
