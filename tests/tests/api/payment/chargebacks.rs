//! Chargebacks of payments: their reasons and amounts, and the refunds and reversals that they end.

use crate::payment::follow_ups::{
    REASON, assert_declined, capture_or_refund, charge_back_payment, pay_successfully, reverse_payment, send_follow_up,
};
use crate::support::*;

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
