//! Increments: preauthorizations that raise the amount of an earlier one.

use std::sync::Arc;

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::payment::follow_ups::{
    assert_declined, capture_or_refund, pay_successfully, reverse_payment, send_follow_up,
};
use crate::support::*;

/// The parameter that makes a preauthorization an increment.
pub const INCREMENT: (&str, &str) = ("standingInstruction.industryPractice", "INCREMENTAL_AUTH");

/// Raises a preauthorization by an amount in euros. Returns any response.
async fn raise(shop: &MerchantClient, id: &str, amount: &str) -> anyhow::Result<ApiResponse> {
    send_follow_up(shop, id, &[INCREMENT, ("paymentType", "PA"), ("amount", amount), ("currency", "EUR")]).await
}

#[tokio::test]
async fn an_increment_is_a_payment_of_its_own_and_raises_what_can_be_captured() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let reserved = pay_successfully(&shop, "PA").await?;
    let raised = raise(&shop, &reserved, "8.00").await?;
    assert_result(&raised, 200, "000.100.110");
    for (name, value) in [("paymentType", "PA"), ("paymentBrand", "VISA"), ("amount", "8.00"), ("currency", "EUR")] {
        assert_eq!(raised.json[name], value, "{}", raised.text);
    }
    let read = shop.get(&format!("v1/payments/{}", raised.id())).await?;
    assert_eq!(comparable_response(&read), comparable_response(&raised));
    let status = async || shop.get(&format!("v1/payments/{reserved}")).await;
    let first = status().await?;
    assert_eq!((&first.json["amount"], &first.json["authorizedAmount"]), (&"92.00".into(), &"100.00".into()));
    // By its id among the parameters, too.
    let fields = [("referencedPaymentId", reserved.as_str()), INCREMENT, ("paymentType", "PA")];
    let second = shop.post("v1/payments", &[&fields[..], &[("amount", "1.00"), ("currency", "EUR")]].concat()).await?;
    assert_result(&second, 200, "000.100.110");
    assert_result(&capture_or_refund(&shop, &reserved, "CP", "101.01").await?, 400, "700.400.100");
    let captured = capture_or_refund(&shop, &reserved, "CP", "101.00").await?;
    assert_result(&captured, 200, "000.100.110");
    assert_result(&capture_or_refund(&shop, captured.id(), "RF", "101.00").await?, 200, "000.100.110");
    let last = status().await?;
    assert_eq!((&last.json["state"], &last.json["capturedAmount"]), (&"CAPTURED".into(), &"101.00".into()));
    Ok(())
}

#[tokio::test]
async fn an_increment_that_does_not_fit_is_declined_with_the_reason() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let reserved = pay_successfully(&shop, "PA").await?;
    let raised = raise(&shop, &reserved, "8.00").await?.id().to_owned();
    // Nothing refers to an increment: it is captured and reversed with its preauthorization.
    assert_declined(&shop, &raise(&shop, &raised, "8.00").await?, "700.100.700").await?;
    assert_declined(&shop, &capture_or_refund(&shop, &raised, "CP", "8.00").await?, "700.400.510").await?;
    assert_declined(&shop, &reverse_payment(&shop, &raised).await?, "700.300.100").await?;
    assert_declined(&shop, &raise(&shop, &pay_successfully(&shop, "DB").await?, "8.00").await?, "700.100.700").await?;
    assert_declined(&shop, &raise(&shop, &reserved, "0.00").await?, "100.550.300").await?;
    let dollars = [INCREMENT, ("paymentType", "PA"), ("amount", "8.00"), ("currency", "USD")];
    assert_declined(&shop, &send_follow_up(&shop, &reserved, &dollars).await?, "700.100.500").await?;
    let forced = [("customParameters[forceResultCode]", "800.100.155"), INCREMENT];
    let fields = [("paymentType", "PA"), ("amount", "8.00"), ("currency", "EUR")];
    let declined = send_follow_up(&shop, &reserved, &[&forced[..], &fields].concat()).await?;
    assert_result(&declined, 400, "800.100.155");
    let reversal = reverse_payment(&shop, &reserved).await?;
    assert_eq!((reversal.status, &reversal.json["amount"]), (200, &"100.00".into()), "{}", reversal.text);
    assert_declined(&shop, &raise(&shop, &reserved, "8.00").await?, "700.300.300").await?;
    // Without the practice, or without an earlier payment, it is no increment.
    let plain = send_follow_up(&shop, &reserved, &fields).await?;
    assert_eq!((plain.status, plain.invalid_parameters()), (400, vec![INCREMENT.0]), "{}", plain.text);
    let unknown = raise(&shop, &"8".repeat(32), "8.00").await?;
    assert_result(&unknown, 400, "700.100.100");
    assert_result(&shop.pay_by_card(&[INCREMENT, ("paymentType", "PA")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn increments_end_with_the_lifetime_of_the_first_authorization() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let reserved = pay_successfully(&shop, "PA").await?;
    shop.advance_clock("144h").await?;
    assert_result(&raise(&shop, &reserved, "8.00").await?, 200, "000.100.110");
    shop.advance_clock("25h").await?;
    assert_declined(&shop, &raise(&shop, &reserved, "8.00").await?, "700.500.002").await?;
    assert_declined(&shop, &capture_or_refund(&shop, &reserved, "CP", "1.00").await?, "700.300.400").await?;
    let status = shop.get(&format!("v1/payments/{reserved}")).await?;
    assert_eq!((&status.json["state"], &status.json["releasedAmount"]), (&"EXPIRED".into(), &"100.00".into()));
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    Ok(())
}

#[tokio::test]
async fn fifty_captures_beside_two_increments_take_what_is_authorized_and_no_more() -> anyhow::Result<()> {
    const POSTS: usize = 52;
    let shop = sandbox_shop();
    let reserved = pay_successfully(&shop, "PA").await?;
    let start = Arc::new(Barrier::new(POSTS));
    let mut posts = JoinSet::new();
    for index in 0..POSTS {
        let (shop, id, start) = (shop.clone(), reserved.clone(), Arc::clone(&start));
        posts.spawn(async move {
            start.wait().await;
            if index < 2 { raise(&shop, &id, "4.00").await } else { capture_or_refund(&shop, &id, "CP", "4.00").await }
        });
    }
    let answers: Vec<ApiResponse> = posts.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    let succeeded =
        |kind: &str| answers.iter().filter(|answer| answer.status == 200 && answer.json["paymentType"] == kind).count();
    let (raised, captured) = (succeeded("PA"), succeeded("CP"));
    assert!(captured <= 23 + raised && captured >= 23, "{captured} captures and {raised} increments");
    // A capture may have been refused before the last increment, so the rest is captured now.
    for _ in captured..23 + raised {
        assert_result(&capture_or_refund(&shop, &reserved, "CP", "4.00").await?, 200, "000.100.110");
    }
    assert_result(&capture_or_refund(&shop, &reserved, "CP", "0.01").await?, 400, "700.400.100");
    Ok(())
}
