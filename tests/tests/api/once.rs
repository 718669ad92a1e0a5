//! One checkout, one charge: whatever is posted at the same moment.

use std::sync::Arc;

use serde_json::Value;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, form};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::support::*;

const POSTS: usize = 50;

/// Fifty submits that start together; `card` chooses the number of each.
async fn submit_together(shop: &Merchant, id: &str, card: fn(usize) -> &'static str) -> anyhow::Result<Vec<Answer>> {
    let start = Arc::new(Barrier::new(POSTS));
    let mut posts = JoinSet::new();
    for index in 0..POSTS {
        // A client of its own: fifty connections, not one after the other.
        let shop = Merchant::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        let (id, start) = (id.to_owned(), Arc::clone(&start));
        posts.spawn(async move {
            start.wait().await;
            shop.submit(&id, &[("card.number", card(index)), ("paymentBrand", "VISA")]).await
        });
    }
    posts.join_all().await.into_iter().collect()
}

fn approved(payments: &[Value]) -> Vec<&Value> {
    payments.iter().filter(|payment| payment["result"] == "000.100.110").collect()
}

#[tokio::test]
async fn fifty_posts_at_once_make_one_payment() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    for answer in submit_together(&shop, made.id(), |_| "4200000000000000").await? {
        assert_answer(&answer, 200, "000.000.100");
    }
    let payments = stored_payments(Gateway::shared(), made.id())?;
    assert_eq!(payments.len(), 1);
    assert_eq!(shop.status(made.id()).await?.json["id"], payments[0]["id"]);
    let database = database(Gateway::shared())?;
    let cards: u32 =
        database.query_row("SELECT count(*) FROM card WHERE payment = ?1", [payments[0]["id"].as_str()], |row| {
            row.get(0)
        })?;
    assert_eq!(cards, 1);
    Ok(())
}

#[tokio::test]
async fn of_good_and_bad_cards_at_once_one_good_one_pays_and_nothing_comes_after_it() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    let card = |index: usize| if index.is_multiple_of(2) { "4200000000000001" } else { "4242424242424242" };
    for answer in submit_together(&shop, made.id(), card).await? {
        assert_answer(&answer, 200, "000.000.100");
    }
    let payments = stored_payments(Gateway::shared(), made.id())?;
    let paid = approved(&payments);
    assert_eq!(paid.len(), 1, "{payments:?}");
    let status = shop.status(made.id()).await?;
    assert_answer(&status, 200, "000.100.110");
    assert_eq!(status.json["id"], paid[0]["id"]);
    Ok(())
}

#[tokio::test]
async fn a_price_that_changes_while_fifty_pay_is_charged_as_one_of_the_two() -> anyhow::Result<()> {
    let shop = shop();
    for _ in 0..5 {
        let made = shop.checkout(&[]).await?;
        let path = format!("v1/checkouts/{}", made.id());
        let change = [("amount", "50.00")];
        let (posts, update) =
            tokio::join!(submit_together(&shop, made.id(), |_| "4200000000000000"), shop.post(&path, &change));
        posts?;
        let update = update?;
        let status = shop.status(made.id()).await?;
        // Accepted means charged so, refused means that the old price was paid already.
        let expected = if update.code() == "000.200.101" { "50.00" } else { "92.00" };
        assert_eq!(status.json["amount"], expected, "{} {}", update.text, status.text);
        assert_eq!(stored_payments(Gateway::shared(), made.id())?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_hangs_up_is_charged_once_at_most() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    let (host, body) = (shop.base.trim_start_matches("http://").trim_end_matches('/'), form(CARD));
    let request = format!(
        "POST /v1/checkouts/{}/payment HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
        made.id(),
        body.len()
    );
    for _ in 0..10 {
        // The whole request arrives; the answer finds nobody.
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all(request.as_bytes()).await?;
        drop(connection);
    }
    assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    assert_eq!(stored_payments(Gateway::shared(), made.id())?.len(), 1);
    Ok(())
}
