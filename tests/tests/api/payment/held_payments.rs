//! Payments that the risk check holds until an analyst has decided. The decisions come from an outside review system.

use std::sync::Arc;

use reqwest::Method;
use tillgate_tests::{ApiResponse, MerchantClient, Receiver, TestGateway, encode_form};
use tokio::task::JoinSet;

use crate::delivery::notifications::LOOPBACK;
use crate::payment::asynchronous::{BACK, pay_by_brand, press_button, redirect_url};
use crate::review::callback::set_config;
use crate::support::*;
use crate::three_ds;

pub const HELD: &str = "100.400.500";
const PAID: &str = "000.100.110";
pub const DENIED: &str = "100.400.142";
pub const REVERSED: &str = "100.400.147";
/// Rules that want every payment reviewed.
pub const REVIEW_EVERYTHING: &str = "[[rule]]\nname = 'everything'\nwhen = 'amount > 0'\noutcome = 'review'\n";
/// The configuration with which an outside system decides.
pub const CONFIG: &str = r#"
keys = [
  { name = "TransactionID", field = "transactionId" },
  { name = "Decision", field = "decision" },
  { name = "ProcessbyUserID", field = "userId" },
  { name = "CancelCode", field = "cancelReason" },
]
[receiving]
credentials = [{ header = "X-Api-Key", secret = "key of the header" }]
"#;

/// Creates a merchant whose payments are all reviewed, with this setting. `arguments` are added.
pub async fn create_reviewed_shop(
    gateway: &TestGateway,
    review: &str,
    arguments: &[&str],
) -> anyhow::Result<MerchantClient> {
    let shop = gateway.create_merchant_with(&[&["--risk", "on", "--review", review], arguments].concat())?;
    review_payments(gateway, &shop).await?;
    Ok(shop)
}

/// Lets a merchant's rules review every payment, and an outside system decide.
pub async fn review_payments(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<()> {
    let added = shop.post("v2/risk/rules", &[("rules", REVIEW_EVERYTHING)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    set_config(gateway, &shop.entity_id, CONFIG)?;
    Ok(())
}

/// Posts a decision of an outside system about a transaction. Returns the status.
pub async fn decide(shop: &MerchantClient, transaction: &str, decision: &str, user: &str) -> anyhow::Result<u16> {
    let mut fields = vec![("TransactionID", transaction), ("Decision", decision), ("ProcessbyUserID", user)];
    if decision == "CANCEL" {
        fields.push(("CancelCode", "7"));
    }
    let request = shop
        .bare_request(Method::POST, &format!("v2/reviewDecisions/{}", shop.entity_id))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-api-key", "key of the header")
        .body(encode_form(fields));
    Ok(request.send().await?.status().as_u16())
}

/// Reads a payment as its merchant.
pub async fn read(shop: &MerchantClient, payment: &ApiResponse) -> anyhow::Result<ApiResponse> {
    shop.get(&format!("v1/payments/{}", payment.id())).await
}

/// Returns the types and codes of the payments that refer to a payment.
async fn linked(shop: &MerchantClient, payment: &ApiResponse) -> anyhow::Result<Vec<(String, String)>> {
    let found = shop.get(&format!("v1/query/{}?includeLinkedTransactions=true", payment.id())).await?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let records = found.json["payments"].as_array().cloned().unwrap_or_default();
    let others = records.iter().filter(|record| record["id"] != payment.id());
    Ok(others.map(|record| (text(&record["paymentType"]), text(&record["result"]["code"]))).collect())
}

#[tokio::test]
async fn a_held_payment_is_executed_when_it_is_approved_and_not_before() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let paid = shop.pay_by_card(&[("merchantTransactionId", "hold-4711")]).await?;
    assert_result(&paid, 200, HELD);
    assert!(paid.json["result"]["cvvResponse"].is_null(), "nobody was asked: {}", paid.text);
    assert_eq!(paid.json["amount"], "92.00");
    // A pending payment is neither refunded nor captured nor reversed.
    for change in ["RF", "RV", "CP"] {
        let fields = [("paymentType", change), ("amount", "92.00"), ("currency", "EUR")];
        let fields = if change == "RV" { &fields[..1] } else { &fields };
        assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), fields).await?, 400, "700.400.570");
    }
    assert_eq!(decide(&shop, "hold-4711", "PENDING", "jane").await?, 200);
    assert_result(&read(&shop, &paid).await?, 200, HELD);
    assert_eq!(decide(&shop, "hold-4711", "APPROVE", "jane").await?, 200);
    let read_again = read(&shop, &paid).await?;
    assert_result(&read_again, 200, PAID);
    assert_eq!(read_again.json["timestamp"], paid.json["timestamp"]);
    // The same decision is accepted again; another one finds no held payment.
    assert_eq!(decide(&shop, "hold-4711", "APPROVE", "jane").await?, 200);
    assert_eq!(decide(&shop, "hold-4711", "CANCEL", "jane").await?, 404);
    assert_eq!(decide(&shop, paid.id(), "APPROVE", "joe").await?, 404);
    assert_result(&read(&shop, &paid).await?, 200, PAID);
    let refund = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn a_cancelled_payment_is_declined_and_what_was_reserved_is_reversed() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    for (review, code, reversals) in [("hold", DENIED, 0), ("authorize", REVERSED, 1)] {
        let shop = create_reviewed_shop(gateway, review, &[]).await?;
        for payment_type in ["DB", "PA"] {
            let paid = shop.pay_by_card(&[("paymentType", payment_type)]).await?;
            assert_result(&paid, 200, HELD);
            assert_eq!(decide(&shop, paid.id(), "CANCEL", "jane").await?, 200);
            assert_result(&read(&shop, &paid).await?, 400, code);
            let expected = vec![("RV".to_owned(), PAID.to_owned()); reversals];
            assert_eq!(linked(&shop, &paid).await?, expected, "{review} {payment_type}");
            assert_eq!(decide(&shop, paid.id(), "APPROVE", "jane").await?, 404);
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_authorized_payment_is_what_the_merchant_asked_for_after_its_approval() -> anyhow::Result<()> {
    let shop = create_reviewed_shop(TestGateway::shared(), "authorize", &[]).await?;
    for (payment_type, change) in [("DB", "RF"), ("PA", "CP")] {
        let paid = shop.pay_by_card(&[("paymentType", payment_type)]).await?;
        assert_result(&paid, 200, HELD);
        assert_eq!(decide(&shop, paid.id(), "APPROVE", "jane").await?, 200);
        assert_result(&read(&shop, &paid).await?, 200, PAID);
        let fields = [("paymentType", change), ("amount", "92.00"), ("currency", "EUR")];
        assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &fields).await?, 200, PAID);
    }
    // A payout is not executed before its approval, and a decline of the connector needs no review.
    let payout = shop.pay_by_card(&[("paymentType", "CD")]).await?;
    assert_result(&payout, 200, HELD);
    assert!(payout.json["resultDetails"].is_null(), "{}", payout.text);
    assert_eq!(decide(&shop, payout.id(), "CANCEL", "jane").await?, 200);
    assert_result(&read(&shop, &payout).await?, 400, DENIED);
    let declined = ("customParameters[forceResultCode]", "800.100.151");
    assert_result(&shop.pay_by_card(&[declined]).await?, 400, declined.1);
    Ok(())
}

#[tokio::test]
async fn nobody_decides_and_the_payment_is_cancelled_and_told_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&[&LOOPBACK[..], &["--review-lifetime", "5h"]].concat())?;
    let receiver = Receiver::start().await?;
    for (review, code) in [("hold", DENIED), ("authorize", REVERSED)] {
        let shop = create_reviewed_shop(&gateway, review, &[]).await?;
        let paid = shop.pay_by_card(&[("notificationUrl", &receiver.url("notify"))]).await?;
        assert_result(&paid, 200, HELD);
        shop.advance_clock("4h59m").await?;
        assert_result(&read(&shop, &paid).await?, 200, HELD);
        shop.advance_clock("2m").await?;
        let told = receiver.next_request().await?;
        assert!(told.target.contains(paid.id()), "{}", told.target);
        assert_result(&read(&shop, &paid).await?, 400, code);
        assert_eq!(decide(&shop, paid.id(), "APPROVE", "jane").await?, 404);
    }
    // The reversal of what was reserved is told, too, and nothing else.
    let more = receiver.drain_requests().await;
    assert!(more.len() <= 1, "{more:?}");
    Ok(())
}

#[tokio::test]
async fn the_shopper_of_a_held_payment_returns_to_the_shop_and_cannot_pay_again() -> anyhow::Result<()> {
    let shop = create_reviewed_shop(TestGateway::shared(), "hold", &[]).await?;
    let made = shop.create_checkout(&[BACK]).await?;
    let submitted = shop.submit_card(made.id(), &[]).await?;
    assert_eq!((submitted.status, &submitted.json["flow"]), (200, &"now".into()), "{}", submitted.text);
    assert_eq!(submitted.json["redirect"]["url"], BACK.1);
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, HELD);
    assert_eq!(status.json["checkoutState"], "HELD");
    // The browser does not learn of the review.
    let state = shop.get(&format!("v1/checkouts/{}/state", made.id())).await?;
    assert_eq!(state.json["checkoutState"], "PAID", "{}", state.text);
    assert!(!submitted.text.contains(HELD) && !state.text.contains(HELD));
    // Neither the same account nor another brand makes a second payment.
    for fields in [&[][..], &[("paymentBrand", "PAYPAL")], &[("card.number", "4200000000000018")]] {
        shop.submit_card(made.id(), fields).await?;
        let again = shop.read_status(made.id()).await?;
        assert_eq!(again.id(), status.id(), "{}", again.text);
    }
    assert_eq!(decide(&shop, status.id(), "APPROVE", "jane").await?, 200);
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, PAID);
    assert_eq!(status.json["checkoutState"], "PAID");
    Ok(())
}

#[tokio::test]
async fn a_cardholder_is_authenticated_before_the_payment_is_held() -> anyhow::Result<()> {
    for review in ["hold", "authorize"] {
        let shop = create_reviewed_shop(TestGateway::shared(), review, &[]).await?;
        let made = shop.create_checkout(&[BACK]).await?;
        let fields = [&three_ds::CARDHOLDER_DATA[..], &[("card.number", "4200000000000018")]].concat();
        let submitted = shop.submit_card(made.id(), &fields).await?;
        let page = redirect_url(&submitted);
        let transaction = three_ds::visit_page(&shop, &page).await?.1;
        let answer = [("transaction", three_ds::challenge_transaction(&transaction)), ("returnCode", PAID)];
        assert_eq!(three_ds::post_to_page(&shop, &page, &answer).await?.0, 200);
        let held = shop.read_status(made.id()).await?;
        assert_result(&held, 200, HELD);
        assert!(held.json["redirect"].is_null(), "nobody has to visit a page any more: {}", held.text);
        // Whatever the browser sends now changes nothing.
        for code in [PAID, "100.380.501"] {
            let again = [answer[0], ("returnCode", code)];
            three_ds::post_to_page(&shop, &page, &again).await?;
        }
        shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
        shop.advance_clock("40m").await?;
        assert_result(&shop.read_status(made.id()).await?, 200, HELD);
        assert_eq!(decide(&shop, held.id(), "APPROVE", "jane").await?, 200);
        let paid = shop.read_status(made.id()).await?;
        assert_result(&paid, 200, PAID);
        assert_eq!(paid.json["threeDSecure"]["eci"], "05", "{review}: {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_on_the_brands_page_is_held_after_its_approval() -> anyhow::Result<()> {
    let shop = create_reviewed_shop(TestGateway::shared(), "hold", &[]).await?;
    for (decision, code) in [("APPROVE", PAID), ("CANCEL", REVERSED)] {
        let paid = pay_by_brand(&shop, "PAYPAL", &[]).await?;
        press_button(&shop, &redirect_url(&paid), "success").await?;
        assert_result(&read(&shop, &paid).await?, 200, HELD);
        // The shopper decides no longer.
        for button in ["cancel", "success", "close"] {
            press_button(&shop, &redirect_url(&paid), button).await?;
        }
        shop.advance_clock("31m").await?;
        assert_result(&read(&shop, &paid).await?, 200, HELD);
        assert_eq!(decide(&shop, paid.id(), decision, "jane").await?, 200);
        assert_result(&read(&shop, &paid).await?, if decision == "APPROVE" { 200 } else { 400 }, code);
        assert_eq!(linked(&shop, &paid).await?.len(), usize::from(decision == "CANCEL"));
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_its_shopper_makes_meanwhile_is_reversed_although_its_channel_checks_before()
-> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &["--screen", "after"]).await?;
    let names = [("customer.givenName", "simulate"), ("customer.surname", "red")];
    let (held, denied) = (pay_by_brand(&shop, "PAYPAL", &[]).await?, pay_by_brand(&shop, "PAYPAL", &names).await?);
    gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--screen", "before"])?;
    tillgate_tests::poll_until("payments are checked before the approval", async || {
        let refused = shop.pay_by_card(&names).await?;
        Ok((refused.result_code() == DENIED).then_some(()))
    })
    .await?;
    for payment in [&held, &denied] {
        press_button(&shop, &redirect_url(payment), "success").await?;
    }
    assert_result(&read(&shop, &held).await?, 200, HELD);
    assert_eq!(decide(&shop, held.id(), "CANCEL", "jane").await?, 200);
    for payment in [&held, &denied] {
        assert_result(&read(&shop, payment).await?, 400, REVERSED);
        assert_eq!(linked(&shop, payment).await?, [("RV".to_owned(), PAID.to_owned())]);
    }
    Ok(())
}

#[tokio::test]
async fn a_check_after_the_approval_holds_what_is_executed() -> anyhow::Result<()> {
    for (arguments, payment_type) in [(&["--screen", "after"][..], "DB"), (&[], "PA.CP")] {
        let shop = create_reviewed_shop(TestGateway::shared(), "hold", arguments).await?;
        for (decision, status, code) in [("APPROVE", 200, PAID), ("CANCEL", 400, REVERSED)] {
            let paid = shop.pay_by_card(&[("paymentType", payment_type)]).await?;
            assert_result(&paid, 200, HELD);
            assert_eq!(paid.json["result"]["cvvResponse"], "M", "{}", paid.text);
            assert_eq!(decide(&shop, paid.id(), decision, "jane").await?, 200);
            assert_result(&read(&shop, &paid).await?, status, code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_account_is_registered_when_its_payment_is_approved() -> anyhow::Result<()> {
    for review in ["hold", "authorize"] {
        let shop = create_reviewed_shop(TestGateway::shared(), review, &[]).await?;
        let fields = [("createRegistration", "true")];
        for (decision, is_stored) in [("CANCEL", false), ("APPROVE", true)] {
            let paid = shop.pay_by_card(&fields).await?;
            assert_result(&paid, 200, HELD);
            assert!(paid.json["registrationId"].is_null(), "{}", paid.text);
            assert_eq!(decide(&shop, paid.id(), decision, "jane").await?, 200);
            let ended = read(&shop, &paid).await?;
            assert_eq!(ended.json["registrationId"].is_string(), is_stored, "{}", ended.text);
            if let Some(registration) = ended.json["registrationId"].as_str() {
                let path = format!("v1/registrations/{registration}/payments");
                let charge = [("paymentType", "DB"), ("amount", "5.00"), ("currency", "EUR")];
                let charged = shop.post(&path, &charge).await?;
                assert_result(&charged, 200, HELD);
                assert_eq!(decide(&shop, charged.id(), "APPROVE", "jane").await?, 200);
                assert_result(&read(&shop, &charged).await?, 200, PAID);
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn of_thirty_decisions_at_once_one_counts() -> anyhow::Result<()> {
    for review in ["hold", "authorize"] {
        let shop = create_reviewed_shop(TestGateway::shared(), review, &[]).await?;
        let paid = Arc::new(shop.pay_by_card(&[]).await?);
        let mut decisions = JoinSet::new();
        for number in 0..30 {
            let (shop, paid) = (shop.clone(), Arc::clone(&paid));
            decisions.spawn(async move {
                let decision = if number % 2 == 0 { "APPROVE" } else { "CANCEL" };
                decide(&shop, paid.id(), decision, &format!("user-{number}")).await
            });
        }
        let statuses: Vec<u16> = decisions.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        let ended = read(&shop, &paid).await?;
        assert_ne!(ended.result_code(), HELD);
        assert!(linked(&shop, &paid).await?.len() <= 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_held_payment_survives_a_power_failure_with_its_card_and_without_its_code() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, HELD);
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&read(&shop, &paid).await?, 200, HELD);
    assert_eq!(decide(&shop, paid.id(), "APPROVE", "jane").await?, 200);
    let ended = read(&shop, &paid).await?;
    assert_result(&ended, 200, PAID);
    assert_ne!(ended.json["result"]["cvvResponse"], "M", "{}", ended.text);
    // Its card is kept for follow-up payments, as that of every payment, and nowhere else.
    let count = |table: &str| -> anyhow::Result<u32> {
        let query = format!("SELECT count(*) FROM {table} WHERE payment = ?1");
        Ok(open_database(&gateway)?.query_row(&query, [paid.id()], |row| row.get(0))?)
    };
    assert_eq!((count("card")?, count("promise")?), (1, 0));
    Ok(())
}

#[tokio::test]
async fn a_card_is_kept_as_long_as_its_review_lasts() -> anyhow::Result<()> {
    let Err(error) = TestGateway::start_with(&["--review-lifetime", "25h"]) else { anyhow::bail!("it starts") };
    assert!(error.to_string().contains("--card-window"), "{error}");
    // A shorter window shortens the review.
    let gateway = TestGateway::start_with(&["--card-window", "1h"])?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let paid = shop.pay_by_card(&[]).await?;
    let late = shop.pay_by_card(&[]).await?;
    shop.advance_clock("59m").await?;
    assert_eq!(decide(&shop, paid.id(), "APPROVE", "jane").await?, 200);
    assert_result(&read(&shop, &paid).await?, 200, PAID);
    shop.advance_clock("2m").await?;
    tillgate_tests::poll_until("the review ends", async || {
        Ok((read(&shop, &late).await?.result_code() == DENIED).then_some(()))
    })
    .await
}
