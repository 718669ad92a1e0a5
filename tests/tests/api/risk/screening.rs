//! Risk checks of payments: the outcomes that the test data ask for, before and after the approval, and what merchants
//! see of them.

use std::sync::OnceLock;

use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::acquirer::payments::AcquirerScene;
use crate::payment::asynchronous::{pay_by_brand, press_button, redirect_url};
use crate::risk::payments::{create_shop_with_rules, format_rule};
use crate::support::*;
use crate::three_ds;

/// Returns the shared merchant that checks payments before their connector is asked.
fn checking_shop() -> MerchantClient {
    static SHOP: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&SHOP, &["--risk", "on"])
}

/// Returns the shared merchant that checks payments after the approval.
fn reversing_shop() -> MerchantClient {
    static SHOP: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&SHOP, &["--risk", "on", "--screen", "after"])
}

/// The customer whose surname asks for an outcome.
pub fn simulate(surname: &str) -> [(&str, &str); 2] {
    [("customer.givenName", "simulate"), ("customer.surname", surname)]
}

/// Returns type and result code of a payment's linked payments.
pub async fn list_linked_payments(shop: &MerchantClient, payment: &str) -> anyhow::Result<Vec<(String, String)>> {
    let found = shop.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = found.json["payments"].as_array().cloned().unwrap_or_default();
    let linked = all.iter().filter(|one| one["referencedId"] == payment);
    Ok(linked.map(|one| (text(&one["paymentType"]), text(&one["result"]["code"]))).collect())
}

/// Returns `risk.score` of a response.
fn score(answer: &ApiResponse) -> &str {
    answer.json["risk"]["score"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn the_names_of_the_test_data_ask_for_an_outcome_where_payments_are_checked() -> anyhow::Result<()> {
    let reversed = vec![("RV".to_owned(), "000.100.110".to_owned())];
    for (shop, surname, code, linked) in [
        (checking_shop(), "red", "100.400.142", &vec![]),
        (checking_shop(), "Yellow", "100.400.148", &reversed),
        (checking_shop(), "error", "100.400.145", &vec![]),
        (reversing_shop(), "RED", "100.400.147", &reversed),
        (reversing_shop(), "yellow", "100.400.148", &reversed),
        (reversing_shop(), "error", "100.400.150", &reversed),
    ] {
        let refused = shop.pay_by_card(&simulate(surname)).await?;
        assert_result(&refused, 400, code);
        assert!(refused.json.get("amount").is_none(), "{}", refused.text);
        assert_eq!(&list_linked_payments(&shop, refused.id()).await?, linked, "{surname}");
        let status = shop.get(&format!("v1/payments/{}", refused.id())).await?;
        assert_result(&status, 400, code);
        assert_eq!(score(&status), "0", "{}", status.text);
    }
    for shop in [checking_shop(), reversing_shop()] {
        assert_result(&shop.pay_by_card(&simulate("green")).await?, 200, "000.100.110");
    }
    // Without a risk check the names are names.
    assert_result(&sandbox_shop().pay_by_card(&simulate("red")).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_simulated_challenge_reverses_the_payment_of_an_authenticated_cardholder_too() -> anyhow::Result<()> {
    for shop in [checking_shop(), reversing_shop()] {
        let paid = three_ds::pay_by_card(&shop, "VISA", "4200000000000026", &simulate("yellow")).await?;
        assert_result(&paid, 400, "100.400.148");
        assert_eq!(paid.json["threeDSecure"]["authenticationStatus"], "Y", "{}", paid.text);
        assert_eq!(list_linked_payments(&shop, paid.id()).await?, [("RV".to_owned(), "000.100.110".to_owned())]);
    }
    Ok(())
}

#[tokio::test]
async fn the_names_mean_nothing_at_an_acquirer() -> anyhow::Result<()> {
    for shop in [checking_shop(), reversing_shop()] {
        for surname in ["red", "yellow", "error"] {
            let paid = shop.pay_by_card(&[&simulate(surname)[..], &[("testMode", "EXTERNAL")]].concat()).await?;
            assert_result(&paid, 200, "000.100.112");
            assert_eq!(score(&paid), "0", "{}", paid.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_approval_is_reversed_at_the_acquirer() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let rule = format_rule("large", "amount > 100", "outcome = 'deny'");
    let shop = create_shop_with_rules(&scene.gateway, &["--screen", "after"], &rule).await?;
    let pay = async |amount| shop.pay_by_card(&[("testMode", "EXTERNAL"), ("amount", amount)]).await;
    assert_result(&pay("99.00").await?, 200, "000.100.112");
    let refused = pay("101.00").await?;
    assert_result(&refused, 400, "100.400.147");
    scene.wait_until_booked("reversal", 1).await?;
    assert_eq!(scene.booked_entries("debit").await?.len(), 2);
    assert_eq!(scene.booked_entries("reversal").await?.len(), 1);
    tillgate_tests::poll_until("the reversal is approved", async || {
        let linked = list_linked_payments(&shop, refused.id()).await?;
        Ok((linked == [("RV".to_owned(), "000.100.112".to_owned())]).then_some(()))
    })
    .await?;
    scene.reconcile().await
}

#[tokio::test]
async fn an_accepted_payment_has_its_score_in_its_response_status_and_list() -> anyhow::Result<()> {
    for shop in [checking_shop(), reversing_shop()] {
        let sent = [("risk.amount", "10.00"), ("risk.score", "77"), ("merchantTransactionId", "order-scored")];
        let paid = shop.pay_by_card(&sent).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!((score(&paid), paid.json["risk"]["amount"].as_str()), ("0", Some("10.00")), "{}", paid.text);
        let status = shop.get(&format!("v1/payments/{}", paid.id())).await?;
        assert_eq!(score(&status), "0", "{}", status.text);
        let found = shop.get(&format!("v1/query/{}", paid.id())).await?;
        assert_eq!(score(&found), "0", "{}", found.text);
        let list = shop.get("v1/query?merchantTransactionId=order-scored").await?;
        let scores: Vec<&Value> = list.json["payments"].as_array().into_iter().flatten().collect();
        assert_eq!(scores.len(), 1, "{}", list.text);
        assert_eq!(scores[0]["risk"]["score"], "0", "{}", list.text);
    }
    let unchecked = sandbox_shop().pay_by_card(&[("risk.amount", "10.00")]).await?;
    assert_eq!((score(&unchecked), &unchecked.json["risk"]["amount"]), ("none", &"10.00".into()), "{}", unchecked.text);
    Ok(())
}

#[tokio::test]
async fn a_refused_payment_leaves_its_checkout_open_and_keeps_no_card() -> anyhow::Result<()> {
    for (shop, code) in [(checking_shop(), "100.400.142"), (reversing_shop(), "100.400.147")] {
        let checkout = shop.create_checkout(&[]).await?.id().to_owned();
        shop.submit_card(&checkout, &simulate("red")).await?;
        let refused = shop.read_status(&checkout).await?;
        assert_result(&refused, 400, code);
        let cards: u32 = open_database(TestGateway::shared())?.query_row(
            "SELECT count(*) FROM card WHERE payment = ?1",
            [refused.id()],
            |row| row.get(0),
        )?;
        assert_eq!(cards, 0);
        shop.submit_card(&checkout, &simulate("green")).await?;
        assert_result(&shop.read_status(&checkout).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_payment_stores_no_account_and_starts_no_series() -> anyhow::Result<()> {
    let store = [("createRegistration", "true"), ("standingInstruction.mode", "INITIAL")];
    let source = [("standingInstruction.source", "CIT"), ("standingInstruction.type", "UNSCHEDULED")];
    for shop in [checking_shop(), reversing_shop()] {
        let refused = shop.pay_by_card(&[&simulate("red")[..], &store, &source].concat()).await?;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.json.get("registrationId").is_none(), "{}", refused.text);
        assert!(refused.json["standingInstruction"].get("initialTransactionId").is_none(), "{}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_on_the_brands_page_is_checked_before_it_or_reversed_after_it() -> anyhow::Result<()> {
    let shop = checking_shop();
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentBrand", "PAYPAL"), ("paymentType", "DB")];
    let back = [("shopperResultUrl", "https://shop.example/back")];
    let refused = shop.post("v1/payments", &[&order[..], &back, &simulate("red")].concat()).await?;
    assert_result(&refused, 400, "100.400.142");
    assert_eq!(redirect_url(&refused), "");
    for (shop, surname, code) in [(checking_shop(), "yellow", "100.400.148"), (reversing_shop(), "red", "100.400.147")]
    {
        let pending = pay_by_brand(&shop, "PAYPAL", &simulate(surname)).await?;
        press_button(&shop, &redirect_url(&pending), "success").await?;
        let status = shop.get(&format!("v1/payments/{}", pending.id())).await?;
        assert_result(&status, 400, code);
        let linked = list_linked_payments(&shop, pending.id()).await?;
        assert_eq!(linked, [("RV".to_owned(), "000.100.110".to_owned())]);
    }
    Ok(())
}

#[tokio::test]
async fn a_failed_check_is_accepted_where_the_channel_says_so() -> anyhow::Result<()> {
    for arguments in [
        &["--risk", "on", "--risk-error", "accept"][..],
        &["--risk", "on", "--risk-error", "accept", "--screen", "after"],
    ] {
        let shop = TestGateway::shared().create_merchant_with(arguments)?;
        let accepted = shop.pay_by_card(&simulate("error")).await?;
        assert_result(&accepted, 200, "000.100.110");
        let status = shop.get(&format!("v1/payments/{}", accepted.id())).await?;
        for answer in [accepted, status] {
            let mark = serde_json::json!({ "score": "0", "resultCode": "100.400.145" });
            assert_eq!(answer.json["risk"], mark, "{}", answer.text);
        }
        let checked = shop.pay_by_card(&simulate("green")).await?;
        assert_eq!(checked.json["risk"], serde_json::json!({ "score": "0" }), "{}", checked.text);
        assert_eq!(shop.pay_by_card(&simulate("red")).await?.status, 400);
    }
    Ok(())
}

#[tokio::test]
async fn a_debit_in_two_steps_is_checked_between_them() -> anyhow::Result<()> {
    let shop = checking_shop();
    let refused = shop.pay_by_card(&[&simulate("red")[..], &[("paymentType", "PA.CP")]].concat()).await?;
    assert_result(&refused, 400, "100.400.147");
    assert_eq!(list_linked_payments(&shop, refused.id()).await?, [("RV".to_owned(), "000.100.110".to_owned())]);
    Ok(())
}

#[tokio::test]
async fn a_request_with_the_same_idempotency_key_is_checked_once() -> anyhow::Result<()> {
    let shop = reversing_shop();
    let pay = async || {
        let fields =
            [("entityId", shop.entity_id.as_str()), ("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        let body = tillgate_tests::encode_form([&fields[..], &tillgate_tests::CARD, &simulate("red")].concat());
        let request = shop.bare_request(reqwest::Method::POST, "v1/payments").bearer_auth(&shop.token);
        let request =
            request.header("content-type", "application/x-www-form-urlencoded").header("Idempotency-Key", "risk-1");
        ApiResponse::read_from(request.body(body).send().await?).await
    };
    let (first, again) = (pay().await?, pay().await?);
    assert_result(&first, 400, "100.400.147");
    assert_eq!(first.id(), again.id());
    assert_eq!(list_linked_payments(&shop, first.id()).await?.len(), 1);
    Ok(())
}
