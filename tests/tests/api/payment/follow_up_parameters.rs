//! Parameters of follow-up payments: those that are missing, not allowed, or taken from the first payment.

use tillgate_tests::ApiResponse;

use crate::payment::follow_ups::{assert_declined, capture_or_refund, pay_successfully, send_follow_up};
use crate::support::*;

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
async fn a_request_about_a_payment_names_what_is_missing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_successfully(&shop, "PA").await?;
    assert_errors(&send_follow_up(&shop, &id, &[]).await?, &["paymentType"]);
    for kind in ["DB", "CD", "PA.CP"] {
        assert_errors(&capture_or_refund(&shop, &id, kind, "1.00").await?, &["paymentType"]);
    }
    let increment = capture_or_refund(&shop, &id, "PA", "1.00").await?;
    assert_errors(&increment, &["standingInstruction.industryPractice"]);
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
