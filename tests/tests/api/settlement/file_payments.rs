//! Payments that settlement files settle: in parts, of every kind, charged back, of sandboxes and of live entities.

use serde_json::{Value, json};
use tillgate_tests::TestGateway;

use crate::acquirer::payments::AcquirerScene;
use crate::settlement::files::*;
use crate::settlement::settlements::{read_records, settle_all};
use crate::support::*;

#[tokio::test]
async fn chargeback_lines_make_chargebacks_with_disputes_and_their_reversals() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let by_line = pay_externally(&shop, "92.00", "order-0001").await?;
    let by_hand = pay_externally(&shop, "50.00", "order-0002").await?;
    let requested = pay_externally(&shop, "20.00", "order-0003").await?;
    let other = pay_externally(&shop, "30.00", "order-0004").await?;
    let entity = shop.entity_id.as_str();
    gateway.run_command(&["dispute", "open", entity, by_hand.id(), "--reason", "000.100.203"])?;
    gateway.run_command(&["dispute", "open", entity, requested.id(), "--stage", "retrieval-request"])?;
    gateway.run_command(&["dispute", "open", entity, other.id(), "--amount", "29.00"])?;
    let charge = |payment, amount, reason| FileLine {
        kinds: "CHARGEBACK;DEBIT",
        payment,
        amount,
        fee: "15.00",
        reason,
        ..Default::default()
    };
    let text = format_file(&[
        charge(by_line.id(), "80.00", "000.100.221"),
        charge(by_hand.id(), "50.00", ""),
        charge(requested.id(), "20.00", "000.100.299"),
        // Its chargeback has another amount, so nobody knows whether this is another one.
        charge(other.id(), "30.00", ""),
    ]);
    let result = import_text(&gateway, &shop, &text, &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched", "chargebacks"]), [3, 1, 2], "{result}");
    let records = read_records(&shop).await?;
    assert_eq!(records[0]["payment"]["id"], by_line.id());
    assert_eq!(records[0]["result"]["code"], "000.100.221");
    let chargeback = records[0]["chargebackTransaction"]["id"].as_str().unwrap_or_default().to_owned();
    let made = shop.get(&format!("v1/payments/{chargeback}")).await?;
    assert_result(&made, 200, "000.100.221");
    assert_eq!((&made.json["paymentType"], &made.json["amount"]), (&json!("CB"), &json!("80.00")), "{}", made.text);
    assert_eq!(records[1]["result"]["code"], "000.100.203");
    let disputes = gateway.run_command(&["dispute", "list", entity])?;
    let stages: Vec<&Value> = disputes["disputes"].as_array().into_iter().flatten().map(|one| &one["stage"]).collect();
    assert_eq!(stages, [&json!("CHARGEBACK"); 4], "{disputes}");
    // The payments themselves are not settled yet: the chargebacks are, except the one of 29.00.
    assert_eq!(read_euros(&shop, "receivable").await?, 9200 + 5000 + 2000 + 3000 - 2900);
    // The same chargebacks in another file are not made again.
    let again = import_text(&gateway, &shop, format!("{text}\n"), &[])?;
    assert_eq!(counts(&again, ["records", "known", "chargebacks"]), [0, 4, 0], "{again}");
    let twice = format_file(&[FileLine { reference: "new", ..charge(by_line.id(), "80.00", "") }]);
    assert_eq!(counts(&import_text(&gateway, &shop, twice, &[])?, ["notMatched", "chargebacks"]), [1, 0]);
    let reverse =
        |payment, amount| FileLine { kinds: "CHARGEBACK REVERSAL;DEBIT", payment, amount, ..Default::default() };
    let text = format_file(&[
        reverse(by_line.id(), "80.00"),
        reverse(&chargeback, "80.00"),
        reverse(requested.id(), "20.01"),
        reverse(requested.id(), "5.00"),
    ]);
    let result = import_text(&gateway, &shop, &text, &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched", "chargebackReversals"]), [2, 2, 2], "{result}");
    let disputes = gateway.run_command(&["dispute", "list", entity, "--state", "ended"])?;
    assert_eq!(disputes["disputes"].as_array().map(Vec::len), Some(2), "{disputes}");
    assert_eq!(read_euros(&shop, "receivable").await?, 9200 + 5000 + 2000 + 3000 - 2900);
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_payment_is_settled_in_parts_and_never_twice() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = pay_externally(&shop, "92.00", "order-0001").await?;
    // Another payment of the same order and amount is not taken in its place.
    pay_externally(&shop, "92.00", "order-0001").await?;
    let part = |reference, amount| FileLine {
        reference,
        payment: paid.id(),
        order: "order-0001",
        amount,
        ..Default::default()
    };
    let lines = [part("1", "60.00"), part("2", "32.00"), part("3", "32.00"), part("4", "92.00")];
    let result = import_text(&gateway, &shop, format_file(&lines), &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched", "differenceCount"]), [2, 2, 2], "{result}");
    let difference = &result["differences"][0];
    let expected = [("line", json!(2)), ("amount", json!("60.00")), ("paymentAmount", json!("92.00"))];
    for (name, value) in expected {
        assert_eq!(difference[name], value, "{difference}");
    }
    assert_eq!(read_euros(&shop, "receivable").await?, 9200);
    // A payment in another currency than the line does not match, whatever else fits.
    let dollars = FileLine { payment: paid.id(), amount: "92.00", currency: "USD", ..Default::default() };
    assert_eq!(import_text(&gateway, &shop, format_file(&[dollars]), &[])?["notMatched"], 1);
    assert_verified(&gateway)
}

#[tokio::test]
async fn follow_up_payments_are_settled_by_lines_of_their_kind() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = pay_externally(&shop, "50.00", "order-0001").await?;
    follow_up(&shop, paid.id(), &[("paymentType", "RF"), ("amount", "20.00"), ("currency", "EUR")]).await?;
    let fields = [("paymentType", "PA"), ("testMode", "EXTERNAL"), ("merchantTransactionId", "order-0002")];
    let reserved = shop.pay_by_card(&fields).await?;
    follow_up(&shop, reserved.id(), &[("paymentType", "CP"), ("amount", "40.00"), ("currency", "EUR")]).await?;
    let credit =
        [("paymentType", "CD"), ("testMode", "EXTERNAL"), ("amount", "3.00"), ("merchantTransactionId", "order-0003")];
    assert_result(&shop.pay_by_card(&credit).await?, 200, "000.100.112");
    let line = |kinds, order, amount| FileLine { kinds, order, amount, ..Default::default() };
    let lines = [
        line("SETTLED;DEBIT", "order-0001", "50.00"),
        line("SETTLED;REFUND", "order-0001", "20.00"),
        line("SETTLED;DEBIT", "order-0002", "40.00"),
        line("SETTLED;CREDIT", "order-0003", "3.00"),
        line("FEE;AUTH_FEE", "order-0002", "0.02"),
        line("SETTLED;REFUND", "order-0001", "50.00"),
        line("SETTLED;BATCH", "", "67.00"),
    ];
    let result = import_text(&gateway, &shop, format_file(&lines), &[])?;
    assert_eq!(counts(&result, ["records", "matched", "multipleMatches", "notMatched"]), [7, 4, 1, 1], "{result}");
    assert_eq!((read_euros(&shop, "receivable").await?, read_euros(&shop, "payable").await?), (0, 0));
    assert_verified(&gateway)
}

#[tokio::test]
async fn payments_of_the_sandbox_are_settled_by_the_gateway_and_those_of_a_host_by_files() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let inside = shop.pay_by_card(&[("amount", "7.00")]).await?;
    let outside = pay_externally(&shop, "10.00", "order-0001").await?;
    let lines = [
        FileLine { payment: inside.id(), amount: "7.00", ..Default::default() },
        FileLine { payment: outside.id(), amount: "10.00", ..Default::default() },
    ];
    let result = import_text(&gateway, &shop, format_file(&lines), &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched"]), [1, 1], "{result}");
    settle_all(&shop, "25h").await?;
    assert_eq!(read_records(&shop).await?.len(), 4, "two lines, the sandbox's line and its total");
    assert_verified(&gateway)
}

#[tokio::test]
async fn payments_of_a_live_entity_are_settled_by_files() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &LIVE).await?;
    let shop = scene.gateway.create_merchant_with(&["--live", "--connector", "http"])?.behind_proxy();
    let paid = shop.pay_by_card(&[("merchantTransactionId", "order-0001")]).await?;
    assert_result(&paid, 200, "000.000.000");
    let lines = [
        FileLine { connector_id: connector_id(&paid), amount: "92.00", fee: "1.00", ..Default::default() },
        FileLine { kinds: "CHARGEBACK;DEBIT", order: "order-0001", amount: "92.00", ..Default::default() },
        FileLine { kinds: "CHARGEBACK REVERSAL;DEBIT", order: "order-0001", amount: "92.00", ..Default::default() },
    ];
    let result = import_text(&scene.gateway, &shop, format_file(&lines), &[])?;
    let names = ["matched", "chargebacks", "chargebackReversals"];
    assert_eq!(counts(&result, names), [3, 1, 1], "{result}");
    assert_eq!(read_euros(&shop, "receivable").await?, 0);
    assert_eq!(read_euros(&shop, "fees").await?, -100);
    assert_verified(&scene.gateway)
}
