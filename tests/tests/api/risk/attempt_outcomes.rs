//! Payment attempts whose outcome comes later: pending, held and cancelled payments count by their final outcome.

use crate::risk::card_testing::{DECLINE, assert_throttled, start_with_limit, submit_from};
use crate::risk::payments::{create_shop_with_rules, format_rule};
use crate::support::*;

/// Returns a card that requires a challenge, and the parameters that 3-D Secure requires.
fn challenged_card() -> Vec<(&'static str, &'static str)> {
    let card = [("card.number", "4200000000000018"), ("shopperResultUrl", "https://shop.example/back")];
    card.into_iter().chain(crate::three_ds::CARDHOLDER_DATA).collect()
}

#[tokio::test]
async fn a_pending_payment_counts_as_what_it_is_in_the_end() -> anyhow::Result<()> {
    for (outcome, let_in) in [("000.100.110", 3), ("100.390.100", 0)] {
        let gateway = start_with_limit("--declines-per-entity", "3")?;
        let shop = gateway.create_merchant()?;
        let mut pending = Vec::new();
        for _ in 0..3 {
            let paid = shop.pay_by_card(&challenged_card()).await?;
            assert_result(&paid, 200, "000.200.000");
            pending.push(paid);
        }
        // A pending payment is counted as declined until its outcome is known.
        assert_throttled(&shop.pay_by_card(&[]).await?);
        for paid in &pending {
            let page = crate::three_ds::redirect_field(paid, "url");
            let (_, html) = crate::three_ds::visit_page(&shop, page).await?;
            let answer = [("returnCode", outcome), ("transaction", crate::three_ds::challenge_transaction(&html))];
            assert_eq!(crate::three_ds::post_to_page(&shop, page, &answer).await?.0, 200);
        }
        // Three approvals weigh less than one decline. The last decline reaches the limit.
        let mut declined = 0;
        while shop.pay_by_card(&[DECLINE]).await?.status == 400 {
            declined += 1;
        }
        assert_eq!(declined, if let_in == 0 { 0 } else { let_in - 1 }, "{outcome}");
    }
    Ok(())
}

#[tokio::test]
async fn a_held_payment_counts_as_what_its_review_made_of_it() -> anyhow::Result<()> {
    let rule = format_rule("large", "amount > 100", "outcome = 'review'");
    for (decision, let_in) in [("approve", 2), ("cancel", 0), ("", 0)] {
        let gateway = start_with_limit("--declines-per-entity", "3")?;
        let shop = create_shop_with_rules(&gateway, &["--review", "hold"], &rule).await?;
        let mut held = Vec::new();
        for _ in 0..3 {
            let paid = shop.pay_by_card(&[("amount", "101.00")]).await?;
            assert_result(&paid, 200, "100.400.500");
            held.push(paid);
        }
        // A held payment is counted as declined until an analyst has decided.
        assert_throttled(&shop.pay_by_card(&[]).await?);
        if decision.is_empty() {
            shop.advance_clock("25h").await?;
        }
        for paid in &held {
            let action = format!("v2/reviews/{}/{decision}", paid.id());
            if !decision.is_empty() {
                assert_result(&shop.post(&action, &[("reason", "7")]).await?, 200, "000.000.100");
            }
            tillgate_tests::poll_until("the review has ended", async || {
                let status = shop.get(&format!("v1/payments/{}", paid.id())).await?;
                Ok((status.result_code() != "100.400.500").then_some(()))
            })
            .await?;
        }
        // Three approvals weigh less than one decline. The last decline reaches the limit.
        let mut declined = 0;
        while shop.pay_by_card(&[DECLINE]).await?.status == 400 {
            declined += 1;
        }
        assert_eq!(declined, let_in, "{decision}");
    }
    Ok(())
}

#[tokio::test]
async fn a_form_whose_shopper_is_at_the_issuers_page_is_no_approval() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-address", "3")?;
    let shop = gateway.create_merchant()?;
    for _ in 0..3 {
        let made = shop.create_checkout(&[]).await?;
        assert_result(&submit_from(&shop, made.id(), "203.0.113.9", &challenged_card()).await?, 200, "000.200.000");
        assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    }
    let made = shop.create_checkout(&[]).await?;
    assert_throttled(&submit_from(&shop, made.id(), "203.0.113.9", &[]).await?);
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_cancels_or_never_comes_back_has_been_declined() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-entity", "2")?;
    let order = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "PAYPAL"),
        ("shopperResultUrl", "https://shop.example/back"),
    ];
    for (word, again) in [("success", 200), ("cancel", 429), ("", 429)] {
        let shop = gateway.create_merchant()?;
        for _ in 0..2 {
            let paid = shop.post("v1/payments", &order).await?;
            assert_result(&paid, 200, "000.200.000");
            if word.is_empty() {
                // The worker ends the payment when it has expired.
                shop.advance_clock("31m").await?;
                tillgate_tests::poll_until("the payment has failed", async || {
                    let status = shop.get(&format!("v1/payments/{}", paid.id())).await?;
                    Ok((status.result_code() == "100.396.103").then_some(()))
                })
                .await?;
            } else {
                let page = crate::three_ds::redirect_field(&paid, "url");
                crate::three_ds::post_to_page(&shop, page, &[("answer", word)]).await?;
            }
        }
        assert_eq!(shop.pay_by_card(&[]).await?.status, again, "{word}");
    }
    Ok(())
}
