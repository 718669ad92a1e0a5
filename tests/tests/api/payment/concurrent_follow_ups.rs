//! Follow-up payments at the same time: together they never exceed the first payment.

use std::sync::Arc;

use tillgate_tests::{ApiResponse, TestGateway};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::payment::follow_ups::{assert_declined, capture_or_refund, pay_successfully, reverse_payment};
use crate::support::*;

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
        "SELECT count(*), CAST(sum(CASE WHEN approved THEN hundredths ELSE 0 END) AS BIGINT) FROM payment_link WHERE referenced = ?1 AND type = 'RF'",
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
