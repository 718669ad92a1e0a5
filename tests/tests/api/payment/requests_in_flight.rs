//! Repeated requests with an `Idempotency-Key` while the first one is in flight.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::payment::idempotency::{assert_replay, count_payments, debit_fields, pay_with_key};
use crate::service::resilience::{PATIENT, lock_database};
use crate::support::*;

#[tokio::test]
async fn a_twin_that_comes_while_the_first_is_under_way_is_told_so() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&PATIENT)?;
    let shop = gateway.create_merchant()?;
    let other = lock_database(&gateway)?;
    let mut twins = JoinSet::new();
    for _ in 0..2 {
        let shop = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        twins.spawn(async move { pay_with_key(&shop, "twin").await });
    }
    // The write lock is held: one request waits for it, and the other is answered anyway.
    let second = twins.join_next().await.expect("there are two")??;
    assert_result(&second, 409, "800.600.100");
    assert_eq!(second.headers["retry-after"], "1");
    assert!(twins.try_join_next().is_none(), "paid without a commit");
    drop(other);
    let first = twins.join_next().await.expect("there is one left")??;
    assert_result(&first, 200, "000.100.110");
    assert_replay(&pay_with_key(&shop, "twin").await?, &first);
    assert_eq!(count_payments(&gateway, &shop)?, 1);
    Ok(())
}

#[tokio::test]
async fn fifty_twins_at_once_make_one_payment() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let mut twins = JoinSet::new();
    for _ in 0..50 {
        let shop = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        twins.spawn(async move { pay_with_key(&shop, "fifty").await });
    }
    let answers: Vec<ApiResponse> = twins.join_all().await.into_iter().collect::<Result<_, _>>()?;
    let (paid, told): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(!paid.is_empty());
    for answer in &paid {
        assert_eq!(answer.text, paid[0].text);
    }
    assert_eq!(paid.iter().filter(|answer| !answer.headers.contains_key("idempotent-replayed")).count(), 1);
    for answer in told {
        assert_result(answer, 409, "800.600.100");
    }
    assert_eq!(count_payments(gateway, &shop)?, 1);
    Ok(())
}

#[tokio::test]
async fn a_merchant_who_hangs_up_and_sends_again_pays_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&PATIENT)?;
    let shop = gateway.create_merchant()?;
    let entity = [("entityId", shop.entity_id.as_str())];
    let body = encode_form(entity.into_iter().chain(debit_fields("92.00")));
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let other = lock_database(&gateway)?;
    for _ in 0..5 {
        // The request arrives completely, but the client is gone before the response.
        let request = format!(
            "POST /v1/payments HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: gone\r\n\
             Content-Length: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
            shop.token,
            body.len()
        );
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all(request.as_bytes()).await?;
        drop(connection);
    }
    drop(other);
    let answer = poll_until("an answer", async || {
        let answer = pay_with_key(&shop, "gone").await?;
        Ok((answer.status != 409).then_some(answer))
    })
    .await?;
    assert_result(&answer, 200, "000.100.110");
    assert_eq!(count_payments(&gateway, &shop)?, 1);
    Ok(())
}
