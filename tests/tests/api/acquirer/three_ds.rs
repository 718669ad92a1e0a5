//! 3-D Secure of payments at an acquirer's host: the cardholder is authenticated first, the issuer's result is sent to
//! the host with the order, and nothing is sent before.

use serde_json::{Value, json};
use tillgate_tests::ApiResponse;
use tokio::task::JoinHandle;

use crate::acquirer::payments::AcquirerScene;
use crate::support::*;
use crate::three_ds::{
    self, BACK, CARDHOLDER_DATA, DONE_ELSEWHERE, challenge_transaction, post_to_page, read_payment, redirect_field,
    visit_page,
};

const PAID: &str = "000.100.112";
const PENDING: &str = "000.200.000";
const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");
const CHALLENGE: &str = "4200000000000018";
/// The code on the page of the simulated issuer that authenticates the cardholder.
const CONFIRMS: &str = "000.100.110";

/// Pays with a Visa card at the host, with all data that 3-D Secure needs. Returns any response.
async fn pay_externally(scene: &AcquirerScene, number: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    three_ds::pay_by_card(&scene.shop, "VISA", number, &[&[EXTERNAL], fields].concat()).await
}

/// Confirms the challenge of a payment in a new task, and waits until the host has booked the debit. Returns the task,
/// which ends with the page's response.
async fn confirm_until_booked(
    scene: &AcquirerScene,
    paid: &ApiResponse,
) -> anyhow::Result<JoinHandle<anyhow::Result<(u16, String)>>> {
    let url = redirect_field(paid, "url").to_owned();
    let transaction = challenge_transaction(&visit_page(&scene.shop, &url).await?.1).to_owned();
    let shop = scene.shop.clone();
    let confirmation = tokio::spawn(async move {
        post_to_page(&shop, &url, &[("transaction", &transaction), ("returnCode", CONFIRMS)]).await
    });
    scene.wait_until_booked("debit", 1).await?;
    Ok(confirmation)
}

/// Answers the challenge of a payment with a return code. Returns status and text of the response.
async fn answer_challenge(scene: &AcquirerScene, paid: &ApiResponse, code: &str) -> anyhow::Result<(u16, String)> {
    let url = redirect_field(paid, "url");
    let (_, page) = visit_page(&scene.shop, url).await?;
    post_to_page(&scene.shop, url, &[("transaction", challenge_transaction(&page)), ("returnCode", code)]).await
}

/// Returns the 3-D Secure result in a payment's status, under the names of the host's protocol.
fn three_ds_result(answer: &ApiResponse) -> Value {
    let result = &answer.json["threeDSecure"];
    json!({
        "version": result["version"], "status": result["authenticationStatus"], "eci": result["eci"],
        "cavv": result["verificationId"], "dsTransactionId": result["dsTransactionId"],
    })
}

#[tokio::test]
async fn the_result_of_a_frictionless_authentication_reaches_the_host() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for (number, status, eci) in [("4200000000000026", "Y", "05"), ("4200000000000059", "A", "06")] {
        let paid = pay_externally(&scene, number, &[]).await?;
        assert_result(&paid, 200, PAID);
        let booked = scene.booked_entries("debit").await?;
        let sent = &booked.last().expect("an entry")["threeDs"];
        assert_eq!(sent, &three_ds_result(&paid), "{}", paid.text);
        assert_eq!((&sent["status"], &sent["eci"], &sent["version"]), (&json!(status), &json!(eci), &json!("2.2.0")));
        for name in ["cavv", "dsTransactionId"] {
            assert!(sent[name].as_str().is_some_and(|value| value.len() >= 28), "{sent}");
        }
    }
    let unlisted = scene.pay_by_card("1.00", &[]).await?;
    assert_result(&unlisted, 200, PAID);
    assert!(scene.booked_entries("debit").await?[2]["threeDs"].is_null());
    scene.reconcile().await
}

#[tokio::test]
async fn a_challenged_payment_goes_to_the_host_once_the_cardholder_has_confirmed() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = pay_externally(&scene, CHALLENGE, &[("paymentType", "PA"), ("createRegistration", "true")]).await?;
    assert_result(&paid, 200, PENDING);
    assert!(scene.host.read_ledger().await?.is_empty(), "nothing was asked before");
    assert_eq!(answer_challenge(&scene, &paid, CONFIRMS).await?.0, 200);
    let read = read_payment(&scene.shop, paid.id()).await?;
    assert_result(&read, 200, PAID);
    let booked = scene.booked_entries("authorization").await?;
    assert_eq!(booked[0]["threeDs"], three_ds_result(&read));
    assert!(read.json["registrationId"].is_string(), "{}", read.text);
    assert_eq!(booked[0]["cvv"], "M", "the security code went along");
    // Answering again asks nobody again.
    assert_eq!(answer_challenge(&scene, &paid, CONFIRMS).await?.0, 409);
    assert_result(&scene.modify(paid.id(), "CP", "92.00").await?, 200, PAID);
    for code in ["100.390.114", "100.396.101"] {
        let paid = pay_externally(&scene, CHALLENGE, &[]).await?;
        assert_eq!(answer_challenge(&scene, &paid, code).await?.0, 200);
        assert_result(&read_payment(&scene.shop, paid.id()).await?, 400, code);
    }
    assert_eq!(scene.host.read_ledger().await?.len(), 2);
    scene.reconcile().await
}

#[tokio::test]
async fn the_result_of_an_authentication_elsewhere_is_passed_on_as_it_was_sent() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    // A card that would be challenged, and one that is in no directory.
    for number in [CHALLENGE, "4200000000000000"] {
        let paid = pay_externally(&scene, number, &DONE_ELSEWHERE).await?;
        assert_result(&paid, 200, PAID);
        let booked = scene.booked_entries("debit").await?;
        let expected = json!({
            "version": "2.1.0", "status": "Y", "eci": "05", "cavv": "AAACAgSRBklmQCFgMpEGAAAAAAA=",
            "dsTransactionId": "c75f23af-9454-43f6-ba17-130ed529507e",
        });
        assert_eq!(booked.last().expect("an entry")["threeDs"], expected);
    }
    scene.reconcile().await
}

#[tokio::test]
async fn what_nobody_vouches_for_never_reaches_the_host_of_a_channel_that_requires_it() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = scene.gateway.create_merchant_with(&["--3d", "required"])?;
    let force = ("customParameters[forceResultCode]", CONFIRMS);
    for (number, fields, code) in [
        ("4200000000000000", &[EXTERNAL][..], "000.400.109"),
        ("4012001037461114", &[EXTERNAL], "000.400.103"),
        // A wish that only the simulator hears does not take the authentication away.
        ("4200000000000000", &[EXTERNAL, force], "000.400.109"),
        (CHALLENGE, &[EXTERNAL, force], PENDING),
    ] {
        let paid = three_ds::pay_by_card(&shop, "VISA", number, fields).await?;
        assert_eq!(paid.result_code(), code, "{}", paid.text);
    }
    assert!(scene.host.read_ledger().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_host_without_an_answer_leaves_a_confirmed_payment_pending_until_it_is_found_out() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &["--acquirer-timeout", "1s"]).await?;
    for fault in ["silent", "dropped"] {
        let paid = pay_externally(&scene, CHALLENGE, &[]).await?;
        // The time with the issuer is no reason to give the question to the host up early.
        scene.shop.advance_clock("5m").await?;
        scene.host.schedule_fault("authorize", fault, 1).await?;
        let (found, page) = answer_challenge(&scene, &paid, CONFIRMS).await?;
        assert!(found == 200 && page.contains("This payment is being processed"), "{page}");
        let read = read_payment(&scene.shop, paid.id()).await?;
        if fault == "silent" {
            assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, PAID);
            continue;
        }
        assert_result(&read, 200, PENDING);
        assert!(read.json["redirect"].is_null(), "there is nowhere to go: {}", read.text);
        assert_eq!(answer_challenge(&scene, &paid, CONFIRMS).await?.0, 409);
        scene.shop.advance_clock("31s").await?;
        assert_result(&scene.wait_for_outcome(paid.id()).await?, 400, "900.100.300");
    }
    assert_eq!(scene.booked_entries("debit").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_answers_to_one_challenge_one_asks_the_host() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = pay_externally(&scene, CHALLENGE, &[]).await?;
    let url = redirect_field(&paid, "url").to_owned();
    let own = challenge_transaction(&visit_page(&scene.shop, &url).await?.1).to_owned();
    let answers = futures_util::future::join_all((0..20).map(|_| {
        let (shop, url, own) = (scene.shop.clone(), url.clone(), own.clone());
        async move { post_to_page(&shop, &url, &[("transaction", &own), ("returnCode", CONFIRMS)]).await }
    }));
    let taken = answers.await.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert_eq!(taken.iter().filter(|(status, _)| *status == 200).count(), 1);
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, PAID);
    assert_eq!(scene.booked_entries("debit").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_after_the_challenge_finds_out_afterwards() -> anyhow::Result<()> {
    let mut scene = AcquirerScene::start(&["--control"], &[]).await?;
    let paid = pay_externally(&scene, CHALLENGE, &[]).await?;
    scene.host.schedule_fault("authorize", "silent", 1).await?;
    let answering = confirm_until_booked(&scene, &paid).await?;
    scene = scene.restart_gateway()?;
    assert!(answering.await?.is_err(), "nobody has answered");
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_its_shopper_gives_up_while_the_host_is_asked_is_reversed() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &["--acquirer-timeout", "3s"]).await?;
    let made = scene.shop.create_checkout(&[EXTERNAL, BACK]).await?;
    let first =
        scene.shop.submit_card(made.id(), &[&[("card.number", CHALLENGE)], &CARDHOLDER_DATA[..]].concat()).await?;
    assert_result(&first, 200, PENDING);
    scene.host.schedule_fault("authorize", "silent", 1).await?;
    let answering = confirm_until_booked(&scene, &first).await?;
    // Another card: the first is given up while nobody knows what became of it.
    assert_eq!(scene.shop.submit_card(made.id(), &[]).await?.status, 200);
    assert_eq!(answering.await??.0, 200);
    scene.wait_until_booked("reversal", 1).await?;
    let debits = scene.booked_entries("debit").await?;
    assert_eq!(debits.iter().map(|entry| &entry["reversed"]).collect::<Vec<_>>(), [&json!(true), &json!(false)]);
    assert_result(&scene.shop.read_status(made.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn an_attempt_that_the_scheme_forbids_by_the_end_of_its_challenge_is_not_sent() -> anyhow::Result<()> {
    let folder = tempfile::TempDir::new()?;
    let rules = folder.path().join("rules.toml");
    let limit =
        "[schedules]\nstop = []\n[schemes.visa]\nbrands = ['VISA']\nlimits = [{ attempts = 2, within = '30d' }]\n";
    std::fs::write(&rules, limit)?;
    let scene = AcquirerScene::start(&[], &["--retry-rules", &rules.to_string_lossy()]).await?;
    let amount = ("amount", "1000.51");
    let challenged = pay_externally(&scene, CHALLENGE, &[amount]).await?;
    let in_time = pay_externally(&scene, CHALLENGE, &[amount]).await?;
    assert_result(&challenged, 200, PENDING);
    // The same card is declined once, while the shoppers are on the issuer's page.
    let elsewhere = pay_externally(&scene, CHALLENGE, &[&[amount], &DONE_ELSEWHERE[..]].concat()).await?;
    assert_result(&elsewhere, 400, "800.100.155");
    assert_eq!(answer_challenge(&scene, &in_time, CONFIRMS).await?.0, 200);
    assert_result(&read_payment(&scene.shop, in_time.id()).await?, 400, "800.100.155");
    let booked = scene.host.read_ledger().await?.len();
    assert_eq!(answer_challenge(&scene, &challenged, CONFIRMS).await?.0, 200);
    let refused = read_payment(&scene.shop, challenged.id()).await?;
    assert_result(&refused, 400, "700.600.002");
    assert!(refused.json["resultDetails"]["RetryAllowedFrom"].is_string(), "{}", refused.text);
    assert_eq!(scene.host.read_ledger().await?.len(), booked);
    // A new attempt does not even begin a challenge.
    assert_result(&pay_externally(&scene, CHALLENGE, &[amount]).await?, 400, "700.600.002");
    scene.reconcile().await
}
