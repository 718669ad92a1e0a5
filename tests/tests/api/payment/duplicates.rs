//! An entity whose `merchantTransactionId` can be paid once (`tillgate entity create --refuse-duplicates`).

use std::sync::OnceLock;

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};
use tokio::task::JoinSet;

use crate::support::*;

const DECLINE: (&str, &str) = ("card.number", "4200000000000001");

/// Returns the shared merchant that refuses duplicate orders.
fn duplicate_refusing_shop() -> MerchantClient {
    static CAREFUL: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&CAREFUL, &["--refuse-duplicates"])
}

/// Asserts that a payment was declined as a duplicate (800.110.100), with an id and without an amount.
#[track_caller]
fn assert_duplicate(answer: &ApiResponse) {
    assert_result(answer, 400, "800.110.100");
    assert!(has_shape(answer.id(), &format!("8a{}", "x".repeat(30))), "{}", answer.text);
    assert!(answer.json.get("amount").is_none(), "{}", answer.text);
}

#[tokio::test]
async fn the_second_payment_of_a_reference_is_declined_and_keeps_no_card() -> anyhow::Result<()> {
    let shop = duplicate_refusing_shop();
    let order = [("merchantTransactionId", "second-payment")];
    let paid = shop.pay_by_card(&order).await?;
    assert_result(&paid, 200, "000.100.110");
    let again = shop.pay_by_card(&order).await?;
    assert_duplicate(&again);
    assert_ne!(again.id(), paid.id());
    // The merchant can read the duplicate, and its card number is not stored.
    assert_eq!(
        comparable_response(&shop.get(&format!("v1/payments/{}", again.id())).await?),
        comparable_response(&again)
    );
    let query = "SELECT count(*) FROM card WHERE payment = ?1";
    let cards = |id: &str| {
        open_database(TestGateway::shared())?
            .query_row(query, [id], |row| row.get::<_, u32>(0))
            .map_err(anyhow::Error::from)
    };
    assert_eq!((cards(paid.id())?, cards(again.id())?), (1, 0));
    // A third payment is a duplicate too. Payments with another reference or without one are not.
    assert_duplicate(&shop.pay_by_card(&order).await?);
    assert_result(&shop.pay_by_card(&[("merchantTransactionId", "second-payment-2")]).await?, 200, "000.100.110");
    for _ in 0..2 {
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_declined_order_may_be_paid_after_all() -> anyhow::Result<()> {
    let shop = duplicate_refusing_shop();
    let order = ("merchantTransactionId", "declined-first");
    for _ in 0..3 {
        assert_result(&shop.pay_by_card(&[order, DECLINE]).await?, 400, "100.100.101");
    }
    assert_result(&shop.pay_by_card(&[order]).await?, 200, "000.100.110");
    assert_duplicate(&shop.pay_by_card(&[order]).await?);
    Ok(())
}

#[tokio::test]
async fn of_fifty_payments_of_one_reference_at_once_one_goes_through() -> anyhow::Result<()> {
    let shop = duplicate_refusing_shop();
    let mut posts = JoinSet::new();
    for _ in 0..50 {
        let shop = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        posts.spawn(async move { shop.pay_by_card(&[("merchantTransactionId", "fifty-at-once")]).await });
    }
    let answers: Vec<ApiResponse> = posts.join_all().await.into_iter().collect::<Result<_, _>>()?;
    let (paid, declined): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(paid.len(), 1);
    for answer in declined {
        assert_duplicate(answer);
    }
    Ok(())
}

#[tokio::test]
async fn a_second_checkout_of_an_order_says_that_the_order_is_paid() -> anyhow::Result<()> {
    let shop = duplicate_refusing_shop();
    let order = [("merchantTransactionId", "two-checkouts")];
    let (first, second) = (shop.create_checkout(&order).await?, shop.create_checkout(&order).await?);
    for made in [&first, &second] {
        assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    }
    assert_result(&shop.read_status(first.id()).await?, 200, "000.100.110");
    assert_duplicate(&shop.read_status(second.id()).await?);
    // A repeated submit of the first checkout is not a second payment.
    assert_result(&shop.submit_card(first.id(), &[]).await?, 200, "000.000.100");
    assert_result(&shop.read_status(first.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_reference_belongs_to_its_entity_and_others_do_not_ask() -> anyhow::Result<()> {
    let (careful, plain) = (duplicate_refusing_shop(), sandbox_shop());
    let order = [("merchantTransactionId", "one-of-many")];
    for _ in 0..2 {
        assert_result(&plain.pay_by_card(&order).await?, 200, "000.100.110");
    }
    assert_result(&careful.pay_by_card(&order).await?, 200, "000.100.110");
    assert_duplicate(&careful.pay_by_card(&order).await?);
    Ok(())
}

#[tokio::test]
async fn what_follows_a_payment_may_carry_its_reference() -> anyhow::Result<()> {
    let shop = duplicate_refusing_shop();
    let order = ("merchantTransactionId", "capture-and-refund");
    let reserved = shop.pay_by_card(&[order, ("paymentType", "PA")]).await?;
    assert_result(&reserved, 200, "000.100.110");
    let amount = [("amount", "92.00"), ("currency", "EUR"), order];
    let mut about = reserved.id().to_owned();
    for kind in ["CP", "RF"] {
        let fields: Vec<_> = amount.into_iter().chain([("paymentType", kind)]).collect();
        let answer = shop.post(&format!("v1/payments/{about}"), &fields).await?;
        assert_result(&answer, 200, "000.100.110");
        about = answer.id().to_owned();
    }
    assert_duplicate(&shop.pay_by_card(&[order]).await?);
    Ok(())
}
