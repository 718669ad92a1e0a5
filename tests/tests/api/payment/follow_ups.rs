//! Follow-up payments: captures, reversals and refunds, and the reasons of refusals.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::*;

const FORCE: &str = "customParameters[forceResultCode]";
pub const REASON: (&str, &str) = ("chargebackResultCode", "000.100.203");

/// Sends a follow-up payment for an earlier payment. Returns any response.
pub async fn send_follow_up(shop: &MerchantClient, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.post(&format!("v1/payments/{id}"), fields).await
}

/// Captures (`CP`) or refunds (`RF`) an amount in euros. Returns any response.
pub async fn capture_or_refund(
    shop: &MerchantClient,
    id: &str,
    payment_type: &str,
    amount: &str,
) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[("paymentType", payment_type), ("amount", amount), ("currency", "EUR")]).await
}

pub async fn reverse_payment(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[("paymentType", "RV")]).await
}

pub async fn charge_back_payment(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[REASON, ("paymentType", "CB")]).await
}

/// Pays 92.00 EUR with this payment type, asserts the approval, and returns the payment's id.
pub async fn pay_successfully(shop: &MerchantClient, payment_type: &str) -> anyhow::Result<String> {
    let answer = shop.pay_by_card(&[("paymentType", payment_type)]).await?;
    assert_result(&answer, 200, "000.100.110");
    assert_eq!(answer.json["paymentType"], payment_type);
    Ok(answer.id().to_owned())
}

/// Asserts that a rule declined a follow-up payment: 400 with this code, no amount, and an id under which the same
/// result can be read.
pub async fn assert_declined(shop: &MerchantClient, answer: &ApiResponse, code: &str) -> anyhow::Result<()> {
    assert_result(answer, 400, code);
    assert!(has_shape(answer.id(), &format!("8a{}", "x".repeat(30))), "{}", answer.text);
    assert!(answer.json["amount"].is_null() && answer.json["currency"].is_null(), "{}", answer.text);
    let read = shop.get(&format!("v1/payments/{}", answer.id())).await?;
    assert_eq!(comparable_response(&read), comparable_response(answer));
    Ok(())
}

#[tokio::test]
async fn a_capture_is_a_payment_of_its_own_with_the_brand_and_account_of_the_first() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let authorised = shop.pay_by_card(&[("paymentType", "PA"), ("merchantTransactionId", "order-4711")]).await?;
    let fields = [
        ("paymentType", "CP"),
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("merchantTransactionId", "order-4711-1"),
        ("customParameters[shelf]", "7"),
    ];
    let captured = send_follow_up(&shop, authorised.id(), &fields).await?;
    assert_result(&captured, 200, "000.100.110");
    assert_envelope(&captured);
    assert!(has_shape(captured.id(), &format!("8a{}", "x".repeat(30))) && captured.id() != authorised.id());
    let names = member_names(&captured.json);
    let first = ["id", "paymentType", "paymentBrand", "amount", "currency", "descriptor", "result", "card"];
    assert_eq!(names[..first.len()], first, "{}", captured.text);
    for (name, value) in [("paymentType", "CP"), ("paymentBrand", "VISA"), ("amount", "92.00"), ("currency", "EUR")] {
        assert_eq!(captured.json[name], value, "{}", captured.text);
    }
    assert_eq!(captured.json["card"], authorised.json["card"]);
    assert_eq!(captured.json["merchantTransactionId"], "order-4711-1");
    assert_eq!(captured.json["customParameters"], serde_json::json!({ "shelf": "7" }));
    // Notifications and queries contain the referenced payment, this response does not.
    assert!(captured.json["referencedId"].is_null(), "{}", captured.text);
    let read = shop.get(&format!("v1/payments/{}", captured.id())).await?;
    assert_eq!(comparable_response(&read), comparable_response(&captured));
    // The preauthorization is unchanged except for its state and the captured amount.
    let (status, mut read) = comparable_response(&shop.get(&format!("v1/payments/{}", authorised.id())).await?);
    let followed = (read.remove("state"), read.remove("capturedAmount"));
    assert_eq!(followed, (Some("CAPTURED".into()), Some("92.00".into())));
    assert_eq!((status, read), comparable_response(&authorised));
    Ok(())
}

#[tokio::test]
async fn captures_are_partial_several_and_never_over() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "PA").await?;
    for amount in ["42.00", "49.99"] {
        let captured = capture_or_refund(&shop, &id, "CP", amount).await?;
        assert_result(&captured, 200, "000.100.110");
        assert_eq!(captured.json["amount"], amount);
    }
    assert_declined(&shop, &capture_or_refund(&shop, &id, "CP", "0.02").await?, "700.400.100").await?;
    assert_result(&capture_or_refund(&shop, &id, "CP", "0.01").await?, 200, "000.100.110");
    assert_declined(&shop, &capture_or_refund(&shop, &id, "CP", "0.01").await?, "700.400.100").await?;
    Ok(())
}

#[tokio::test]
async fn refunds_are_partial_several_and_never_over_of_all_that_moved_money() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let authorised = pay_successfully(&shop, "PA").await?;
    let captured = capture_or_refund(&shop, &authorised, "CP", "92.00").await?.id().to_owned();
    for id in [
        pay_successfully(&shop, "DB").await?,
        pay_successfully(&shop, "CD").await?,
        pay_successfully(&shop, "PA.CP").await?,
        captured,
    ] {
        assert_declined(&shop, &capture_or_refund(&shop, &id, "RF", "92.01").await?, "700.400.200").await?;
        let refunded = capture_or_refund(&shop, &id, "RF", "91.99").await?;
        assert_result(&refunded, 200, "000.100.110");
        assert_eq!((&refunded.json["paymentType"], &refunded.json["amount"]), (&"RF".into(), &"91.99".into()));
        assert_declined(&shop, &capture_or_refund(&shop, &id, "RF", "0.02").await?, "700.400.200").await?;
        assert_result(&capture_or_refund(&shop, &id, "RF", "0.01").await?, 200, "000.100.110");
        assert_declined(&shop, &capture_or_refund(&shop, &id, "RF", "0.01").await?, "700.400.200").await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_refund_of_what_took_no_money_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let authorised = pay_successfully(&shop, "PA").await?;
    assert_declined(&shop, &capture_or_refund(&shop, &authorised, "RF", "1.00").await?, "700.400.520").await?;
    let refunded = capture_or_refund(&shop, &pay_successfully(&shop, "DB").await?, "RF", "92.00").await?;
    assert_declined(&shop, &capture_or_refund(&shop, refunded.id(), "RF", "1.00").await?, "700.400.520").await?;
    let declined = shop.pay_by_card(&[(FORCE, "800.100.151")]).await?;
    assert_declined(&shop, &capture_or_refund(&shop, declined.id(), "RF", "1.00").await?, "700.400.520").await?;
    Ok(())
}

#[tokio::test]
async fn a_capture_of_anything_but_a_preauthorization_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for kind in ["DB", "CD", "PA.CP"] {
        assert_declined(
            &shop,
            &capture_or_refund(&shop, &pay_successfully(&shop, kind).await?, "CP", "1.00").await?,
            "700.400.510",
        )
        .await?;
    }
    let declined = shop.pay_by_card(&[("paymentType", "PA"), (FORCE, "800.100.151")]).await?;
    assert_declined(&shop, &capture_or_refund(&shop, declined.id(), "CP", "1.00").await?, "700.400.510").await?;
    Ok(())
}

#[tokio::test]
async fn a_reversal_needs_no_amount_undoes_the_whole_and_happens_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for kind in ["PA", "DB", "CD", "PA.CP"] {
        let id = pay_successfully(&shop, kind).await?;
        let part = [("paymentType", "RV"), ("amount", "91.00"), ("currency", "EUR")];
        assert_declined(&shop, &send_follow_up(&shop, &id, &part).await?, "700.100.200").await?;
        let reversed = reverse_payment(&shop, &id).await?;
        assert_result(&reversed, 200, "000.100.110");
        for (name, value) in [("paymentType", "RV"), ("amount", "92.00"), ("currency", "EUR")] {
            assert_eq!(reversed.json[name], value, "{}", reversed.text);
        }
        assert_declined(&shop, &reverse_payment(&shop, &id).await?, "700.400.300").await?;
        assert_declined(&shop, &reverse_payment(&shop, reversed.id()).await?, "700.400.530").await?;
        // Nothing is left to capture or to refund.
        let (after, code) = if kind == "PA" { ("CP", "700.400.100") } else { ("RF", "700.400.200") };
        assert_declined(&shop, &capture_or_refund(&shop, &id, after, "1.00").await?, code).await?;
    }
    let whole = [("paymentType", "RV"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&send_follow_up(&shop, &pay_successfully(&shop, "DB").await?, &whole).await?, 200, "000.100.110");
    let whole = [("paymentType", "RV"), ("amount", "92.00")];
    assert_result(&send_follow_up(&shop, &pay_successfully(&shop, "DB").await?, &whole).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_was_captured_or_refunded_is_not_reversed() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let authorised = pay_successfully(&shop, "PA").await?;
    let captured = capture_or_refund(&shop, &authorised, "CP", "1.00").await?;
    assert_declined(&shop, &reverse_payment(&shop, &authorised).await?, "700.400.300").await?;
    assert_declined(&shop, &reverse_payment(&shop, captured.id()).await?, "700.300.100").await?;
    let debit = pay_successfully(&shop, "DB").await?;
    assert_result(&capture_or_refund(&shop, &debit, "RF", "1.00").await?, 200, "000.100.110");
    assert_declined(&shop, &reverse_payment(&shop, &debit).await?, "700.400.300").await?;
    Ok(())
}

#[tokio::test]
async fn after_the_cut_off_a_debit_is_refunded_and_no_longer_reversed() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--reversal-window", "0s"])?;
    let shop = gateway.create_merchant()?;
    for kind in ["DB", "CD", "PA.CP"] {
        let id = pay_successfully(&shop, kind).await?;
        assert_declined(&shop, &reverse_payment(&shop, &id).await?, "700.300.700").await?;
        assert_result(&capture_or_refund(&shop, &id, "RF", "92.00").await?, 200, "000.100.110");
    }
    // A reservation can be released as long as the authorization is valid.
    assert_result(&reverse_payment(&shop, &pay_successfully(&shop, "PA").await?).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_authorisation_expires_and_releases_what_was_not_captured() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let id = pay_successfully(&shop, "PA").await?;
    let captured = capture_or_refund(&shop, &id, "CP", "42.00").await?;
    assert_result(&captured, 200, "000.100.110");
    let gateway = gateway.kill_and_restart(&["--authorization-lifetime", "0s"])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), shop.token.clone());
    assert_declined(&shop, &capture_or_refund(&shop, &id, "CP", "50.00").await?, "700.300.400").await?;
    assert_declined(&shop, &reverse_payment(&shop, &id).await?, "700.300.700").await?;
    assert_eq!(read_payment_state(&shop, &id).await?, ["EXPIRED", "42.00", "", "50.00"]);
    // Captured amounts are not affected and can be refunded.
    assert_result(&capture_or_refund(&shop, captured.id(), "RF", "42.00").await?, 200, "000.100.110");
    Ok(())
}

/// Returns the state of a payment, and its captured, refunded and released amounts. A missing value is empty.
async fn read_payment_state(shop: &MerchantClient, id: &str) -> anyhow::Result<[String; 4]> {
    let read = shop.get(&format!("v1/payments/{id}")).await?;
    let text = |name: &str| read.json[name].as_str().unwrap_or_default().to_owned();
    Ok(["state", "capturedAmount", "refundedAmount", "releasedAmount"].map(text))
}

#[tokio::test]
async fn a_payments_status_says_what_has_become_of_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let authorised = pay_successfully(&shop, "PA").await?;
    assert_eq!(read_payment_state(&shop, &authorised).await?, ["", "", "", ""]);
    let captured = capture_or_refund(&shop, &authorised, "CP", "42.00").await?.id().to_owned();
    assert_eq!(read_payment_state(&shop, &authorised).await?, ["PARTIALLY_CAPTURED", "42.00", "", ""]);
    capture_or_refund(&shop, &authorised, "CP", "50.00").await?;
    assert_eq!(read_payment_state(&shop, &authorised).await?, ["CAPTURED", "92.00", "", ""]);
    capture_or_refund(&shop, &captured, "RF", "41.00").await?;
    assert_eq!(read_payment_state(&shop, &captured).await?, ["PARTIALLY_REFUNDED", "", "41.00", ""]);
    capture_or_refund(&shop, &captured, "RF", "1.01").await?;
    capture_or_refund(&shop, &captured, "RF", "1.00").await?;
    assert_eq!(read_payment_state(&shop, &captured).await?, ["REFUNDED", "", "42.00", ""]);

    let debit = pay_successfully(&shop, "DB").await?;
    capture_or_refund(&shop, &debit, "RF", "2.00").await?;
    charge_back_payment(&shop, &debit).await?;
    assert_eq!(read_payment_state(&shop, &debit).await?, ["CHARGED_BACK", "", "2.00", ""]);
    let reversed = pay_successfully(&shop, "PA").await?;
    reverse_payment(&shop, &reversed).await?;
    assert_eq!(read_payment_state(&shop, &reversed).await?, ["REVERSED", "", "", "92.00"]);
    Ok(())
}

#[tokio::test]
async fn the_bank_may_decline_or_delay_what_the_rules_allow() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "DB").await?;
    let refund = |code: &'static str| [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR"), (FORCE, code)];
    let declined = send_follow_up(&shop, &id, &refund("800.100.152")).await?;
    assert_declined(&shop, &declined, "800.100.152").await?;
    // A declined refund uses no amount. A pending refund reserves its amount.
    assert_result(&send_follow_up(&shop, &id, &refund("000.200.000")).await?, 200, "000.200.000");
    assert_declined(&shop, &capture_or_refund(&shop, &id, "RF", "0.01").await?, "700.400.200").await?;

    let pending = shop.pay_by_card(&[(FORCE, "000.200.000")]).await?;
    assert_declined(&shop, &capture_or_refund(&shop, pending.id(), "RF", "1.00").await?, "700.400.570").await?;
    assert_declined(&shop, &reverse_payment(&shop, pending.id()).await?, "700.400.570").await?;
    Ok(())
}

#[tokio::test]
async fn another_merchants_payment_can_be_neither_captured_nor_told_from_one_that_never_was() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let id = pay_successfully(&shop, "PA").await?;
    let never = format!("8a{}", "0".repeat(30));
    for (kind, code) in [("CP", "700.400.510"), ("RF", "700.400.520"), ("RV", "700.400.530"), ("CB", "700.400.550")] {
        let foreign = capture_or_refund(&stranger, &id, kind, "92.00").await?;
        assert_result(&foreign, 400, code);
        assert!(foreign.json["id"].is_null(), "{}", foreign.text);
        for unknown in [&never, "x", "8A00000000000000000000000000000F"] {
            assert_eq!(
                comparable_response(&capture_or_refund(&stranger, unknown, kind, "92.00").await?),
                comparable_response(&foreign),
                "{unknown}"
            );
        }
        // An invalid request does not distinguish them either.
        let mistake = [("paymentType", kind), ("currency", "EUR")];
        assert_eq!(
            comparable_response(&send_follow_up(&stranger, &id, &mistake).await?),
            comparable_response(&foreign)
        );
    }
    assert_result(&capture_or_refund(&shop, &id, "CP", "92.00").await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_payment_of_a_checkout_is_captured_and_refunded_like_any_other() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[("paymentType", "PA")]).await?;
    shop.submit_card(checkout.id(), &[]).await?;
    let before = shop.read_status(checkout.id()).await?;
    let captured = capture_or_refund(&shop, before.id(), "CP", "92.00").await?;
    assert_result(&captured, 200, "000.100.110");
    assert_result(&capture_or_refund(&shop, captured.id(), "RF", "92.00").await?, 200, "000.100.110");
    // The status of the checkout does not change.
    assert_eq!(comparable_response(&shop.read_status(checkout.id()).await?), comparable_response(&before));
    Ok(())
}

#[tokio::test]
async fn a_checkout_may_be_a_debit_in_two_steps() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[("paymentType", "PA.CP")]).await?;
    assert_result(&checkout, 200, "000.200.100");
    shop.submit_card(checkout.id(), &[]).await?;
    let made = shop.read_status(checkout.id()).await?;
    assert_result(&made, 200, "000.100.110");
    assert_eq!(made.json["paymentType"], "PA.CP");
    assert_result(&capture_or_refund(&shop, made.id(), "RF", "92.00").await?, 200, "000.100.110");
    Ok(())
}
