//! Concurrent requests to one checkout charge it only once.

use std::sync::Arc;

use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::support::*;

const POSTS: usize = 50;

/// Sends fifty submits to one checkout that start together, and returns all responses. `card` selects the number for
/// each.
async fn submit_concurrently(
    shop: &MerchantClient,
    id: &str,
    card: fn(usize) -> &'static str,
) -> anyhow::Result<Vec<ApiResponse>> {
    let start = Arc::new(Barrier::new(POSTS));
    let mut posts = JoinSet::new();
    for index in 0..POSTS {
        // Separate clients, so that the fifty requests use fifty connections.
        let shop = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        let (id, start) = (id.to_owned(), Arc::clone(&start));
        posts.spawn(async move {
            start.wait().await;
            shop.submit_card(&id, &[("card.number", card(index)), ("paymentBrand", "VISA")]).await
        });
    }
    posts.join_all().await.into_iter().collect()
}

fn approved_payments(payments: &[Value]) -> Vec<&Value> {
    payments.iter().filter(|payment| payment["result"] == "000.100.110").collect()
}

#[tokio::test]
async fn fifty_posts_at_once_make_one_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    for answer in submit_concurrently(&shop, made.id(), |_| "4200000000000000").await? {
        assert_result(&answer, 200, "000.000.100");
    }
    let payments = stored_payments(TestGateway::shared(), made.id())?;
    assert_eq!(payments.len(), 1);
    assert_eq!(shop.read_status(made.id()).await?.json["id"], payments[0]["id"]);
    let database = open_database(TestGateway::shared())?;
    let cards: u32 =
        database.query_row("SELECT count(*) FROM card WHERE payment = ?1", [payments[0]["id"].as_str()], |row| {
            row.get(0)
        })?;
    assert_eq!(cards, 1);
    Ok(())
}

#[tokio::test]
async fn of_good_and_bad_cards_at_once_one_good_one_pays_and_nothing_comes_after_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let card = |index: usize| if index.is_multiple_of(2) { "4200000000000001" } else { "4242424242424242" };
    for answer in submit_concurrently(&shop, made.id(), card).await? {
        assert_result(&answer, 200, "000.000.100");
    }
    let payments = stored_payments(TestGateway::shared(), made.id())?;
    let paid = approved_payments(&payments);
    assert_eq!(paid.len(), 1, "{payments:?}");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["id"], paid[0]["id"]);
    Ok(())
}

#[tokio::test]
async fn a_price_that_changes_while_fifty_pay_is_charged_as_one_of_the_two() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for _ in 0..5 {
        let made = shop.create_checkout(&[]).await?;
        let path = format!("v1/checkouts/{}", made.id());
        let change = [("amount", "50.00")];
        let (posts, update) =
            tokio::join!(submit_concurrently(&shop, made.id(), |_| "4200000000000000"), shop.post(&path, &change));
        posts?;
        let update = update?;
        let status = shop.read_status(made.id()).await?;
        // If the update was accepted, the new price was charged; if it was refused, the old price had already been
        // paid.
        let expected = if update.result_code() == "000.200.101" { "50.00" } else { "92.00" };
        assert_eq!(status.json["amount"], expected, "{} {}", update.text, status.text);
        assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_hangs_up_is_charged_once_at_most() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let (host, body) = (shop.base.trim_start_matches("http://").trim_end_matches('/'), encode_form(CARD));
    let request = format!(
        "POST /v1/checkouts/{}/payment HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
        made.id(),
        body.len()
    );
    for _ in 0..10 {
        // The request arrives completely, but the client is gone before the response.
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all(request.as_bytes()).await?;
        drop(connection);
    }
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 1);
    Ok(())
}
