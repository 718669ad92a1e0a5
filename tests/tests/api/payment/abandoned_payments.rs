//! Abandoned payments: the shopper cancels or closes the brand's page, or pays with another brand instead.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway};
use tokio::task::JoinSet;

use crate::payment::asynchronous::{BACK, press_button, read_checkout_state, read_text, redirect_url, submit_pending};
use crate::support::*;

/// Queries a payment with its linked payments. Returns type, result code and referenced id of each, or nothing if the
/// query fails.
async fn query_linked_payments(shop: &MerchantClient, payment: &str) -> anyhow::Result<Vec<(String, String, Value)>> {
    let found = shop.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry =
        |entry: &Value| (text(&entry["paymentType"]), text(&entry["result"]["code"]), entry["referencedId"].clone());
    Ok(found.json["payments"].as_array().into_iter().flatten().map(entry).collect())
}

/// Counts a checkout's stored payments with 000.100.110 that have no approved reversal.
fn count_unreversed_charges(gateway: &TestGateway, checkout: &str) -> anyhow::Result<usize> {
    let database = open_database(gateway)?;
    let mut reversals = database
        .prepare("SELECT EXISTS (SELECT 1 FROM payment_link WHERE referenced = ?1 AND type = 'RV' AND approved)")?;
    let mut count = 0;
    for payment in stored_payments(gateway, checkout)? {
        let is_reversed: bool = reversals.query_row([payment["id"].as_str()], |row| row.get(0))?;
        count += usize::from(payment["result"] == "000.100.110" && !is_reversed);
    }
    Ok(count)
}

#[tokio::test]
async fn after_a_cancelled_or_closed_payment_the_shopper_pays_with_the_same_brand_or_another() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for button in ["cancel", "close"] {
        for next in ["PAYPAL", "IDEAL", "VISA"] {
            let made = shop.create_checkout(&[BACK]).await?;
            let first = submit_pending(&shop, made.id(), "PAYPAL").await?;
            read_text(press_button(&shop, &first, button).await?, 200).await?;
            if next == "VISA" {
                assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
            } else {
                let second = submit_pending(&shop, made.id(), next).await?;
                assert_ne!(first, second);
                read_text(press_button(&shop, &second, "success").await?, 200).await?;
            }
            let told = shop.read_status(made.id()).await?;
            assert_result(&told, 200, "000.100.110");
            assert_eq!(told.json["paymentBrand"], next);
            assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 2);
            // The page of the first payment shows that payment's outcome.
            read_text(press_button(&shop, &first, "success").await?, 409).await?;
            assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 1);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_brand_that_was_abandoned_for_another_and_succeeds_late_is_reversed_by_itself() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (kind, brand) in [("DB", "VISA"), ("PA", "VISA"), ("DB", "IDEAL"), ("PA", "IDEAL")] {
        let made = shop.create_checkout(&[BACK, ("paymentType", kind)]).await?;
        let abandoned = submit_pending(&shop, made.id(), "PAYPAL").await?;
        let first = shop.read_status(made.id()).await?.id().to_owned();
        // Another brand replaces the pending one: a card pays at once, another brand on its page.
        if brand == "VISA" {
            assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
        } else {
            let page = submit_pending(&shop, made.id(), brand).await?;
            read_text(press_button(&shop, &page, "success").await?, 200).await?;
        }
        let told = shop.read_status(made.id()).await?;
        assert_result(&told, 200, "000.100.110");
        assert_eq!(told.json["paymentBrand"], brand);
        let late = read_text(press_button(&shop, &abandoned, "success").await?, 200).await?;
        assert!(late.contains("This payment is given back") && late.contains("given back by itself"), "{late}");
        let reversed = shop.get(&format!("v1/payments/{first}")).await?;
        assert_result(&reversed, 200, "000.100.110");
        assert_eq!(reversed.json["state"], "REVERSED", "{}", reversed.text);
        let chain = query_linked_payments(&shop, &first).await?;
        let success = "000.100.110".to_owned();
        let expected = [(kind.to_owned(), success.clone(), Value::Null), ("RV".to_owned(), success, json!(first))];
        assert_eq!(chain, expected);
        // A repeated success reverses the payment only once, and the checkout keeps the payment that paid it.
        read_text(press_button(&shop, &abandoned, "success").await?, 200).await?;
        assert_eq!(query_linked_payments(&shop, &first).await?.len(), 2);
        assert_eq!(comparable_response(&shop.read_status(made.id()).await?), comparable_response(&told));
        assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 1);
    }
    Ok(())
}

#[tokio::test]
async fn an_abandoned_payment_neither_pays_its_checkout_nor_opens_it_again() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let first = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let second = submit_pending(&shop, made.id(), "IDEAL").await?;
    let third = submit_pending(&shop, made.id(), "ALIPAY").await?;
    // A repeated submit of the pending brand returns the same payment.
    assert_eq!(submit_pending(&shop, made.id(), "ALIPAY").await?, third);
    assert_ne!(submit_pending(&shop, made.id(), "PAYPAL").await?, first);
    let fifth = submit_pending(&shop, made.id(), "ALIPAY").await?;
    for (page, button) in [(&first, "success"), (&second, "cancel"), (&third, "close")] {
        read_text(press_button(&shop, page, button).await?, 200).await?;
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
        assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 0);
    }
    read_text(press_button(&shop, &fifth, "success").await?, 200).await?;
    assert_eq!(read_checkout_state(&shop, made.id()).await?, "PAID");
    assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 1);
    Ok(())
}

#[tokio::test]
async fn what_is_refused_abandons_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let page = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let refused = shop.submit_card(made.id(), &[("card.expiryMonth", "13")]).await?;
    assert_result(&refused, 400, "200.300.404");
    assert_result(&shop.submit_card(made.id(), &[("paymentBrand", "NOBODY")]).await?, 400, "200.300.404");
    read_text(press_button(&shop, &page, "success").await?, 200).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn of_fifty_submits_and_answers_at_once_one_charge_stays() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = sandbox_shop();
    for round in 0..4 {
        let made = shop.create_checkout(&[BACK]).await?;
        let brands = ["PAYPAL", "IDEAL", "ALIPAY", "GIROPAY", "VISA"];
        let mut shoppers = JoinSet::new();
        for number in 0..50 {
            let (shop, checkout) = (shop.clone(), made.id().to_owned());
            // Two rounds without cards, in which nothing is paid at once, and two rounds with cards.
            let brand = brands[(number + round) % if round % 2 == 0 { 4 } else { 5 }];
            shoppers.spawn(async move {
                let submitted = shop.submit_card(&checkout, &[("paymentBrand", brand)]).await?;
                assert_eq!(submitted.status, 200, "{}", submitted.text);
                if submitted.json["flow"] == "now" {
                    return anyhow::Ok(None);
                }
                let page = redirect_url(&submitted);
                let button = ["success", "later", "cancel"][number % 3];
                let status = press_button(&shop, &page, button).await?.status().as_u16();
                assert!(matches!(status, 200 | 409), "{status}");
                Ok(Some(page))
            });
        }
        let pages: Vec<_> = shoppers.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
        assert!(count_unreversed_charges(gateway, made.id())? <= 1);
        // All payments that are still pending succeed now.
        for page in pages.into_iter().flatten() {
            press_button(&shop, &page, "success").await?;
        }
        let paid = read_checkout_state(&shop, made.id()).await? == "PAID";
        assert_eq!(count_unreversed_charges(gateway, made.id())?, usize::from(paid));
        let told = shop.read_status(made.id()).await?;
        assert_eq!(told.result_code() == "000.100.110", paid, "{}", told.text);
        if !paid {
            // The last attempt was cancelled, so the checkout accepts another one.
            assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
            assert_eq!(count_unreversed_charges(gateway, made.id())?, 1);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_pending_payment_can_be_answered_after_the_half_hour_and_not_be_replaced() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (paid, cancelled) = (shop.create_checkout(&[BACK]).await?, shop.create_checkout(&[BACK]).await?);
    let pages =
        [submit_pending(&shop, paid.id(), "PAYPAL").await?, submit_pending(&shop, cancelled.id(), "PAYPAL").await?];
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        [paid.id(), cancelled.id()].iter().try_for_each(|id| backdate_checkout(data, id, 31 * 60))
    })?;
    let pages = pages.map(|page| page.replace(&shop.base, &gateway.base_url()));
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    for made in [&paid, &cancelled] {
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
        // After the expiry, another brand cannot replace the pending payment.
        let submitted = shop.submit_card(made.id(), &[]).await?;
        assert_result(&submitted, 200, "000.200.000");
    }
    read_text(press_button(&shop, &pages[0], "success").await?, 200).await?;
    read_text(press_button(&shop, &pages[1], "cancel").await?, 200).await?;
    assert_result(&shop.read_status(paid.id()).await?, 200, "000.100.110");
    assert_eq!(read_checkout_state(&shop, paid.id()).await?, "PAID");
    assert_result(&shop.read_status(cancelled.id()).await?, 400, "100.396.101");
    assert_eq!(read_checkout_state(&shop, cancelled.id()).await?, "EXPIRED");
    assert_result(&shop.submit_card(cancelled.id(), &[]).await?, 400, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn an_order_that_is_paid_once_may_change_its_brand() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--refuse-duplicates"])?;
    let order = ("merchantTransactionId", "order-once-4711");
    let made = shop.create_checkout(&[BACK, order]).await?;
    let abandoned = submit_pending(&shop, made.id(), "PAYPAL").await?;
    // Outside of this checkout, the order counts as pending.
    assert_result(&shop.pay_by_card(&[order]).await?, 400, "800.110.100");
    let second = submit_pending(&shop, made.id(), "IDEAL").await?;
    read_text(press_button(&shop, &abandoned, "success").await?, 200).await?;
    read_text(press_button(&shop, &second, "cancel").await?, 200).await?;
    // A reversed payment does not count as paid.
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&[order]).await?, 400, "800.110.100");
    Ok(())
}
