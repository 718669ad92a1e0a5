//! Follow-up payments: captures, reversals, refunds and chargebacks, and the reasons of refusals.

use std::sync::Arc;

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::support::*;

const FORCE: &str = "customParameters[forceResultCode]";
const REASON: (&str, &str) = ("chargebackResultCode", "000.100.203");

/// Sends a follow-up payment for an earlier payment. Returns any response.
async fn send_follow_up(shop: &MerchantClient, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.post(&format!("v1/payments/{id}"), fields).await
}

/// Captures (`CP`) or refunds (`RF`) an amount in euros. Returns any response.
async fn capture_or_refund(
    shop: &MerchantClient,
    id: &str,
    payment_type: &str,
    amount: &str,
) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[("paymentType", payment_type), ("amount", amount), ("currency", "EUR")]).await
}

async fn reverse_payment(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[("paymentType", "RV")]).await
}

async fn charge_back_payment(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[REASON, ("paymentType", "CB")]).await
}

/// Pays 92.00 EUR with this payment type, asserts the approval, and returns the payment's id.
async fn pay_successfully(shop: &MerchantClient, payment_type: &str) -> anyhow::Result<String> {
    let answer = shop.pay_by_card(&[("paymentType", payment_type)]).await?;
    assert_result(&answer, 200, "000.100.110");
    assert_eq!(answer.json["paymentType"], payment_type);
    Ok(answer.id().to_owned())
}

/// Asserts that a rule declined a follow-up payment: 400 with this code, no amount, and an id under which the same
/// result can be read.
async fn assert_declined(shop: &MerchantClient, answer: &ApiResponse, code: &str) -> anyhow::Result<()> {
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

#[tokio::test]
async fn a_chargeback_answers_with_its_reason_and_ends_refunds_and_reversals() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let authorised = pay_successfully(&shop, "PA").await?;
    let captured = capture_or_refund(&shop, &authorised, "CP", "92.00").await?.id().to_owned();
    for id in [pay_successfully(&shop, "DB").await?, pay_successfully(&shop, "PA.CP").await?, captured.clone()] {
        let charged_back = charge_back_payment(&shop, &id).await?;
        assert_result(&charged_back, 200, "000.100.203");
        for (name, value) in
            [("paymentType", "CB"), ("amount", "92.00"), ("currency", "EUR"), ("chargebackResultCode", "000.100.203")]
        {
            assert_eq!(charged_back.json[name], value, "{}", charged_back.text);
        }
        let read = shop.get(&format!("v1/payments/{}", charged_back.id())).await?;
        assert_eq!(comparable_response(&read), comparable_response(&charged_back));
        assert_declined(&shop, &charge_back_payment(&shop, &id).await?, "700.400.400").await?;
        assert_declined(&shop, &capture_or_refund(&shop, &id, "RF", "1.00").await?, "700.300.600").await?;
        let undo = if id == captured { "700.300.100" } else { "700.300.600" };
        assert_declined(&shop, &reverse_payment(&shop, &id).await?, undo).await?;
        assert_declined(&shop, &charge_back_payment(&shop, charged_back.id()).await?, "700.400.550").await?;
    }
    for kind in ["PA", "CD"] {
        assert_declined(
            &shop,
            &charge_back_payment(&shop, &pay_successfully(&shop, kind).await?).await?,
            "700.400.550",
        )
        .await?;
    }
    let reversed = pay_successfully(&shop, "DB").await?;
    reverse_payment(&shop, &reversed).await?;
    assert_declined(&shop, &charge_back_payment(&shop, &reversed).await?, "700.400.400").await?;
    Ok(())
}

#[tokio::test]
async fn a_chargeback_may_be_of_a_part_and_come_after_a_refund() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "DB").await?;
    assert_result(&capture_or_refund(&shop, &id, "RF", "90.00").await?, 200, "000.100.110");
    let over = [REASON, ("paymentType", "CB"), ("amount", "92.01"), ("currency", "EUR")];
    assert_declined(&shop, &send_follow_up(&shop, &id, &over).await?, "700.100.300").await?;
    let part =
        send_follow_up(&shop, &id, &[REASON, ("paymentType", "CB"), ("amount", "50.00"), ("currency", "EUR")]).await?;
    assert_result(&part, 200, "000.100.203");
    assert_eq!(part.json["amount"], "50.00");
    Ok(())
}

#[tokio::test]
async fn a_chargeback_takes_any_reason_from_000_100_200_to_000_100_299() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "DB").await?;
    assert_errors(&send_follow_up(&shop, &id, &[("paymentType", "CB")]).await?, &["chargebackResultCode"]);
    for wrong in ["000.100.110", "000.100.2", "000.100.2x0", "000.100.2000", "700.400.400", "x"] {
        let answer = send_follow_up(&shop, &id, &[("paymentType", "CB"), ("chargebackResultCode", wrong)]).await?;
        assert_errors(&answer, &["chargebackResultCode"]);
    }
    assert_result(&charge_back_payment(&shop, &id).await?, 200, "000.100.203");
    for reason in ["000.100.200", "000.100.212", "000.100.250", "000.100.298", "000.100.299"] {
        let id = pay_successfully(&shop, "DB").await?;
        let answer = send_follow_up(&shop, &id, &[("paymentType", "CB"), ("chargebackResultCode", reason)]).await?;
        assert_result(&answer, 200, reason);
        // The stored payment has the same code.
        let read = shop.get(&format!("v1/payments/{}", answer.id())).await?;
        assert_eq!((read.result_code(), read.json["paymentType"].as_str()), (reason, Some("CB")), "{}", read.text);
    }
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
async fn two_hundred_refunds_of_one_capture_at_once_give_back_exactly_what_was_captured() -> anyhow::Result<()> {
    const REFUNDS: usize = 200;
    let shop = sandbox_shop();
    let authorised = pay_successfully(&shop, "PA").await?;
    // 92.00 is thirteen refunds of 7.00 and one of 1.00.
    let captured = capture_or_refund(&shop, &authorised, "CP", "92.00").await?.id().to_owned();
    let start = Arc::new(Barrier::new(REFUNDS));
    let mut posts = JoinSet::new();
    for _ in 0..REFUNDS {
        let (shop, id, start) = (shop.clone(), captured.clone(), Arc::clone(&start));
        posts.spawn(async move {
            start.wait().await;
            capture_or_refund(&shop, &id, "RF", "7.00").await
        });
    }
    let answers: Vec<ApiResponse> = posts.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    let refunded = answers.iter().filter(|answer| answer.result_code() == "000.100.110").count();
    assert_eq!(refunded, 13);
    for refused in answers.iter().filter(|answer| answer.result_code() != "000.100.110") {
        assert_result(refused, 400, "700.400.200");
    }
    let mut ids: Vec<&str> = answers.iter().map(ApiResponse::id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), REFUNDS);
    assert_declined(&shop, &capture_or_refund(&shop, &captured, "RF", "1.01").await?, "700.400.200").await?;
    assert_result(&capture_or_refund(&shop, &captured, "RF", "1.00").await?, 200, "000.100.110");

    // The database agrees: every refund is stored, and the approved ones add up to the whole amount.
    let database = open_database(TestGateway::shared())?;
    let (all, sum): (i64, i64) = database.query_row(
        "SELECT count(*), sum(approved * hundredths) FROM payment_link WHERE referenced = ?1 AND type = 'RF'",
        [&captured],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    assert_eq!((all, sum), (202, 9200));
    Ok(())
}

#[tokio::test]
async fn fifty_captures_and_a_reversal_at_once_are_one_or_the_other() -> anyhow::Result<()> {
    const POSTS: usize = 51;
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "PA").await?;
    let start = Arc::new(Barrier::new(POSTS));
    let mut posts = JoinSet::new();
    for index in 0..POSTS {
        let (shop, id, start) = (shop.clone(), id.clone(), Arc::clone(&start));
        posts.spawn(async move {
            start.wait().await;
            if index == POSTS / 2 {
                reverse_payment(&shop, &id).await
            } else {
                capture_or_refund(&shop, &id, "CP", "10.00").await
            }
        });
    }
    let answers: Vec<ApiResponse> = posts.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    let succeeded =
        |kind: &str| answers.iter().filter(|answer| answer.status == 200 && answer.json["paymentType"] == kind).count();
    let found = (succeeded("RV"), succeeded("CP"));
    assert!(matches!(found, (1, 0) | (0, 9)), "{found:?}");
    Ok(())
}

#[tokio::test]
async fn another_currency_and_no_amount_at_all_are_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "DB").await?;
    let dollars = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "USD")];
    assert_declined(&shop, &send_follow_up(&shop, &id, &dollars).await?, "700.100.500").await?;
    assert_declined(&shop, &capture_or_refund(&shop, &id, "RF", "0.00").await?, "100.550.300").await?;
    Ok(())
}

#[tokio::test]
async fn a_follow_up_payment_runs_in_the_mode_of_its_payment_whatever_it_says() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (mode, other, code) in [("INTERNAL", "EXTERNAL", "000.100.110"), ("EXTERNAL", "INTERNAL", "000.100.112")] {
        let pay = async |kind| shop.pay_by_card(&[("paymentType", kind), ("testMode", mode)]).await;
        let (debit, reserved) = (pay("DB").await?, pay("PA").await?);
        let follow = async |of: &str, kind: &str, amount: &str, sent: &str| {
            let fields = [("paymentType", kind), ("amount", amount), ("currency", "EUR"), ("testMode", sent)];
            let fields = if kind == "RV" { &[fields[0], fields[3]][..] } else { &fields };
            let made = send_follow_up(&shop, of, fields).await?;
            assert_result(&made, 200, code);
            assert_eq!(made.json["testMode"], mode, "{kind}: {}", made.text);
            anyhow::Ok(made.id().to_owned())
        };
        follow(debit.id(), "RF", "30.00", other).await?;
        follow(debit.id(), "RF", "1.00", mode).await?;
        let captured = follow(reserved.id(), "CP", "50.00", other).await?;
        follow(&captured, "RF", "20.00", other).await?;
        follow(pay("DB").await?.id(), "RV", "", other).await?;
        let charged_back = [("paymentType", "CB"), ("amount", "5.00"), ("currency", "EUR"), ("testMode", other)];
        let fields = [&charged_back[..], &[("chargebackResultCode", "000.100.203")]].concat();
        assert_result(&send_follow_up(&shop, &captured, &fields).await?, 200, "000.100.203");
    }
    // A live entity refuses the parameter in a new payment only: see outcomes.rs.
    let paid = shop.pay_by_card(&[]).await?;
    let fields = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR"), ("testMode", "EXTERNAL")];
    let refund = send_follow_up(&shop, paid.id(), &fields).await?;
    assert_result(&refund, 200, "000.100.110");
    assert!(refund.json.get("testMode").is_none(), "{}", refund.text);
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
async fn a_request_about_a_payment_names_what_is_missing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "PA").await?;
    assert_errors(&send_follow_up(&shop, &id, &[]).await?, &["paymentType"]);
    for kind in ["PA", "DB", "CD", "PA.CP"] {
        assert_errors(&capture_or_refund(&shop, &id, kind, "1.00").await?, &["paymentType"]);
    }
    for kind in ["CP", "RF"] {
        assert_errors(&send_follow_up(&shop, &id, &[("paymentType", kind)]).await?, &["amount", "currency"]);
        assert_errors(&send_follow_up(&shop, &id, &[("paymentType", kind), ("amount", "1.00")]).await?, &["currency"]);
        assert_errors(&send_follow_up(&shop, &id, &[("paymentType", kind), ("currency", "EUR")]).await?, &["amount"]);
    }
    assert_errors(&send_follow_up(&shop, &id, &[("paymentType", "RV"), ("currency", "EUR")]).await?, &["amount"]);
    let yen = [("paymentType", "CP"), ("amount", "12.50"), ("currency", "JPY")];
    assert_errors(&send_follow_up(&shop, &id, &yen).await?, &["amount"]);
    assert_result(&capture_or_refund(&shop, &id, "CP", "92.00").await?, 200, "000.100.110");
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
async fn what_refers_to_a_payment_does_not_stand_alone() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (kind, code) in [("CP", "700.400.510"), ("RV", "700.400.530"), ("RF", "700.400.520"), ("CB", "700.400.550")] {
        let alone = shop.pay_by_card(&[("paymentType", kind)]).await?;
        assert_result(&alone, 400, code);
        assert!(alone.json["id"].is_null(), "{}", alone.text);
    }
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

#[tokio::test]
async fn a_brands_own_type_is_no_matter_of_a_payment_server_to_server() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_errors(&shop.pay_by_card(&[("overridePaymentType[VISA]", "PA")]).await?, &["overridePaymentType[VISA]"]);
    let id = pay_successfully(&shop, "PA").await?;
    let capture = [("paymentType", "CP"), ("amount", "1.00"), ("currency", "EUR"), ("overridePaymentType[VISA]", "RF")];
    assert_errors(&send_follow_up(&shop, &id, &capture).await?, &["overridePaymentType[VISA]"]);
    Ok(())
}

#[tokio::test]
async fn merchant_name_stands_above_the_descriptor_and_both_are_kept_by_what_follows() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let shown = |answer: &ApiResponse| answer.json["descriptor"].as_str().unwrap_or_default().to_owned();
    let named = [("descriptor", "SPRING SALE"), ("merchant.name", "KILN*Mugs")];
    let debit = shop.pay_by_card(&named).await?;
    assert!(has_shape(&shown(&debit), "9999.9999.9999 KILN*Mugs"), "{}", debit.text);
    assert_eq!(debit.json["merchant"]["name"], "KILN*Mugs");
    let refund = capture_or_refund(&shop, debit.id(), "RF", "1.00").await?;
    assert!(has_shape(&shown(&refund), "9999.9999.9999 KILN*Mugs"), "{}", refund.text);
    assert_ne!(shown(&refund), shown(&debit));
    let own = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR"), ("descriptor", "SORRY")];
    let refund = send_follow_up(&shop, debit.id(), &own).await?;
    assert!(has_shape(&shown(&refund), "9999.9999.9999 SORRY"), "{}", refund.text);
    Ok(())
}

#[tokio::test]
async fn the_transaction_category_is_kept_and_echoed() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for category in ["EC", "MO", "TO", "RC", "IN", "PO", "PM", "MOTO"] {
        let made = shop.pay_by_card(&[("transactionCategory", category)]).await?;
        assert_result(&made, 200, "000.100.110");
        let read = shop.get(&format!("v1/payments/{}", made.id())).await?;
        assert_eq!(
            (&made.json["transactionCategory"], &read.json["transactionCategory"]),
            (&category.into(), &category.into())
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_earlier_payment_may_stand_among_the_parameters_instead_of_in_the_path() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "PA").await?;
    let named = ("referencedPaymentId", id.as_str());
    let money = [("amount", "60.00"), ("currency", "EUR")];
    let capture = [&[named, ("paymentType", "CP")], &money[..]].concat();
    let captured = shop.post("v1/payments", &capture).await?;
    assert_result(&captured, 200, "000.100.110");
    assert_eq!((&captured.json["paymentType"], &captured.json["amount"]), (&"CP".into(), &"60.00".into()));
    // Both notations refer to the same payment: only 32.00 is left.
    assert_declined(&shop, &shop.post("v1/payments", &capture).await?, "700.400.100").await?;
    assert_eq!(capture_or_refund(&shop, &id, "CP", "32.00").await?.status, 200);
    // If both are sent, they must be equal, and an initial payment has no reference.
    let other = pay_successfully(&shop, "PA").await?;
    assert_errors(&send_follow_up(&shop, &other, &capture).await?, &["referencedPaymentId"]);
    assert_errors(&shop.pay_by_card(&[named]).await?, &["referencedPaymentId"]);
    let foreign = other_shop().post("v1/payments", &[named, ("paymentType", "RV")]).await?;
    assert_result(&foreign, 400, "700.400.530");
    Ok(())
}
