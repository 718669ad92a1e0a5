//! Refunds beside chargebacks: a refund of an open chargeback is refused, and a chargeback of a refunded payment is
//! booked and marked.

use std::sync::Arc;

use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};
use tokio::task::JoinSet;

use crate::settlement::files::*;
use crate::support::*;

const REASON: (&str, &str) = ("chargebackResultCode", "000.100.203");

async fn refund(shop: &MerchantClient, payment: &str, amount: &str) -> anyhow::Result<ApiResponse> {
    let fields = [("paymentType", "RF"), ("amount", amount), ("currency", "EUR")];
    shop.post(&format!("v1/payments/{payment}"), &fields).await
}

async fn charge_back(shop: &MerchantClient, payment: &str, amount: &str) -> anyhow::Result<ApiResponse> {
    let fields = [("paymentType", "CB"), ("amount", amount), ("currency", "EUR"), REASON];
    shop.post(&format!("v1/payments/{payment}"), &fields).await
}

/// Returns the only dispute of a payment.
async fn find_dispute(shop: &MerchantClient, payment: &str) -> anyhow::Result<Value> {
    let disputes = shop.get("v1/disputes?state=all").await?.json["disputes"].clone();
    let found = disputes.as_array().into_iter().flatten().find(|dispute| dispute["paymentId"] == payment).cloned();
    Ok(found.unwrap_or_default())
}

#[track_caller]
fn assert_marked(dispute: &Value, amount: Option<&str>) {
    let expected = amount.map_or(Value::Null, Value::from);
    assert_eq!(dispute["doublePayoutAmount"], expected, "{dispute}");
    let defence = amount.map_or(Value::Null, |_| "CREDIT_ALREADY_ISSUED".into());
    assert_eq!(dispute["proposedDefence"], defence, "{dispute}");
}

#[tokio::test]
async fn a_chargeback_of_a_refunded_payment_is_booked_and_marked_by_every_way() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let division = gateway.create_merchant_with(&["--level", "division"])?;
    let shop = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
    let operator = MerchantClient { token: division.token.clone(), ..shop.clone() };
    for (refunded, charged, twice) in [
        ("92.00", "92.00", Some("92.00")),
        ("20.00", "92.00", Some("20.00")),
        ("20.00", "80.00", Some("8.00")),
        ("20.00", "72.00", None),
        ("0.00", "92.00", None),
    ] {
        for way in ["payment", "dispute", "retrieval", "command", "file"] {
            let paid = pay_externally(&shop, "92.00", &format!("{way}-{refunded}-{charged}")).await?;
            if refunded != "0.00" {
                assert_result(&refund(&shop, paid.id(), refunded).await?, 200, "000.100.112");
            }
            let open = [("paymentId", paid.id()), REASON, ("amount", charged)];
            match way {
                "payment" => assert_result(&charge_back(&shop, paid.id(), charged).await?, 200, REASON.1),
                "dispute" => {
                    let opened =
                        operator.post("v1/disputes", &[&open[..], &[("stage", "CHARGEBACK")]].concat()).await?;
                    assert_marked(&opened.json, twice);
                }
                "retrieval" => {
                    let opened = operator.post("v1/disputes", &[open[0], ("stage", "RETRIEVAL_REQUEST")]).await?;
                    assert_marked(&opened.json, None);
                    let path = format!("v1/disputes/{}/advance", opened.id());
                    let moved = [("stage", "CHARGEBACK"), REASON, ("amount", charged)];
                    assert_marked(&operator.post(&path, &moved).await?.json, twice);
                }
                "command" => {
                    let command = ["dispute", "open", &shop.entity_id, paid.id(), "--amount", charged];
                    assert_marked(&gateway.run_command(&command)?, twice);
                }
                _ => {
                    let line = FileLine {
                        kinds: "CHARGEBACK;DEBIT",
                        payment: paid.id(),
                        amount: charged,
                        ..Default::default()
                    };
                    let result = import_text(&gateway, &shop, format_file(&[line]), &[])?;
                    assert_eq!(counts(&result, ["chargebacks", "doublePayouts"]), [1, u64::from(twice.is_some())]);
                }
            }
            assert_marked(&find_dispute(&shop, paid.id()).await?, twice);
            // The refund of what is left is refused while the bank has the money.
            assert_result(&refund(&shop, paid.id(), "0.01").await?, 400, "700.300.600");
        }
    }
    let shown = gateway.run_command(&["dispute", "list", &shop.entity_id])?;
    assert_marked(&shown["disputes"][0], None);
    assert_verified(&gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_refund_and_a_chargeback_at_once_the_refund_never_comes_second() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = Arc::new(gateway.create_merchant()?);
    for round in 0..24 {
        let mode = if round % 2 == 0 { "INTERNAL" } else { "EXTERNAL" };
        let paid = shop.pay_by_card(&[("testMode", mode)]).await?.id().to_owned();
        let mut sent = JoinSet::new();
        for number in 0..4 {
            let (shop, paid) = (Arc::clone(&shop), paid.clone());
            sent.spawn(async move {
                match number % 2 {
                    0 => refund(&shop, &paid, "50.00").await,
                    _ => charge_back(&shop, &paid, "92.00").await,
                }
            });
        }
        let answers: Vec<ApiResponse> = sent.join_all().await.into_iter().collect::<Result<_, _>>()?;
        let of_type =
            |code: &str| answers.iter().filter(|one| one.status == 200 && one.json["paymentType"] == code).count();
        let refunds = of_type("RF");
        assert_eq!(of_type("CB"), 1, "what the bank reports is booked: {answers:?}");
        assert!(refunds <= 1, "{answers:?}");
        // A refund that was decided first is marked, and none was decided after the chargeback.
        assert_marked(&find_dispute(&shop, &paid).await?, (refunds == 1).then_some("50.00"));
    }
    assert_verified(&gateway)
}
