//! Every card of the directory: what it comes to in a channel that authenticates where it can, that requires it, and that
//! never does.

use std::sync::OnceLock;

use tillgate::connector::simulator::directory::{CARDS, Flow, look_up};
use tillgate_shared::parameter::Parameters;
use tillgate_tests::Merchant;

use super::*;

/// A channel that takes only cards whose cardholder is authenticated.
pub fn strict() -> Merchant {
    static REQUIRED: OnceLock<Merchant> = OnceLock::new();
    account(&REQUIRED, &["--3d", "required"])
}

/// A channel that never authenticates.
pub fn never() -> Merchant {
    static NEVER: OnceLock<Merchant> = OnceLock::new();
    account(&NEVER, &["--3d", "never"])
}

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";

/// What is told of a card with a flow in the end, when its challenge is passed: `E` and `A` stand for the indicators of the
/// brand.
fn proof(flow: Flow) -> &'static str {
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

fn of_brand(proof: &str, brand: &str) -> String {
    let mastercard = matches!(brand, "MASTER" | "MAESTRO");
    let (full, attempted) = if mastercard { ("eci=02", "eci=01") } else { ("eci=05", "eci=06") };
    proof.replace("eci=E", full).replace("eci=A", attempted)
}

/// What the payment's own answer is, and the outcome in the end, where the channel authenticates when it can and where it
/// requires it.
fn codes(flow: Flow) -> [(&'static str, &'static str); 2] {
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
        for (shop, (at_once, in_the_end)) in [shop(), strict()].into_iter().zip(codes(card.flow)) {
            let paid = pay(&shop, card.brand, card.number, &[]).await?;
            let expected = if at_once.starts_with("000.1") || at_once == PENDING { 200 } else { 400 };
            assert_answer(&paid, expected, at_once);
            let preconditions = paid.json["redirect"]["preconditions"].as_array().map_or(0, Vec::len);
            assert_eq!(preconditions, usize::from(card.flow.has_method()), "{card:?} {}", paid.text);
            if at_once == PENDING {
                let url = redirect(&paid, "url").to_owned();
                if let Some(method) = paid.json["redirect"]["preconditions"][0]["url"].as_str() {
                    assert_eq!(visit(&shop, method).await?.0, 200);
                }
                let (_, page) = visit(&shop, &url).await?;
                let id = transaction(&page);
                if !id.is_empty() {
                    let answer = [("transaction", id), ("returnCode", PAID)];
                    assert_eq!(post(&shop, &url, &answer).await?.0, 200, "{card:?}");
                }
                let challenged = matches!(card.flow, Flow::ChallengeMethod | Flow::Challenge | Flow::Version1);
                assert_eq!(!id.is_empty(), challenged, "{card:?} {page}");
            }
            let read = status(&shop, paid.id()).await?;
            assert_eq!(read.code(), in_the_end, "{card:?} {}", read.text);
            assert_eq!(told(&read), of_brand(proof(card.flow), card.brand), "{card:?}");
            assert!(read.json["redirect"].is_null());
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_channel_that_never_authenticates_pays_at_once_and_tells_of_no_authentication() -> anyhow::Result<()> {
    let shop = never();
    for card in CARDS.iter().filter(|card| ["VISA", "MASTER", "AMEX"].contains(&card.brand)) {
        let paid = shop.pay(&[("paymentBrand", card.brand), ("card.number", card.number), code(card.brand)]).await?;
        assert_answer(&paid, 200, PAID);
        assert!(paid.json["threeDSecure"].is_null(), "{card:?} {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_card_that_no_directory_knows_pays_unless_the_channel_requires_an_authentication() -> anyhow::Result<()> {
    assert!(look_up("4200000000000000", &Parameters::default()).is_none());
    let paid = shop().pay(&[]).await?;
    assert_answer(&paid, 200, PAID);
    assert!(paid.json["threeDSecure"].is_null(), "{}", paid.text);
    assert_answer(&strict().pay(&[]).await?, 400, "000.400.109");
    // What is wrong with the card itself is said as ever.
    assert_answer(&strict().pay(&[("card.number", "4200000000000001")]).await?, 400, "100.100.101");
    assert_answer(&strict().pay(&[("card.expiryYear", "2020")]).await?, 400, "100.100.303");
    Ok(())
}

#[tokio::test]
async fn the_documents_name_every_card_and_every_answer() -> anyhow::Result<()> {
    let simulator = include_str!("../../../../docs/simulator.md");
    let reference = shop().client.get(format!("{}reference", shop().base)).send().await?.text().await?;
    for card in &CARDS {
        assert!(reference.contains(card.number), "{card:?}");
        let usual = ["VISA", "MASTER", "AMEX"].contains(&card.brand);
        assert_eq!(simulator.contains(card.number), usual, "{card:?}");
    }
    for answer in &tillgate::connector::simulator::issuer::ANSWERS {
        assert!(reference.contains(answer.words), "{answer:?}");
    }
    Ok(())
}
