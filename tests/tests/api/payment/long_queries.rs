//! Queries that read many payments: each merchant has a limited share of them, and other requests are not delayed.

use std::path::Path;

use reqwest::Method;
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};
use tokio::task::JoinSet;

use crate::support::*;

const DAYS: &str = "date.from=2020-01-01&date.to=2099-12-31";
/// Maximum size of a list with numbered pages.
const PAYMENTS: u32 = 10_000;
/// A query that reads all payments and finds at most one.
const LONG: &str = "v1/query?date.from=2020-01-01&date.to=2099-12-31&paymentTypes=CB&pageNo=1";

/// Copies the one payment of each entity in a store until each has this number. Every third copy is a
/// preauthorization.
fn copy_payments(data: &Path, payments: u32) -> anyhow::Result<()> {
    let database = Database::open(data)?;
    let copied = database.execute(
        "WITH RECURSIVE copy(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number + 1 < ?1),
            new AS (SELECT entity, number, document, substr(id, 1, 20) || '000000' || (100000 + number) AS id
                FROM payment CROSS JOIN copy)
        INSERT INTO payment (entity, id, document) SELECT entity, id, CAST(json_set(json_set(CAST(document AS TEXT),
            '$.id', id), '$.payment_type', CASE WHEN number % 3 = 0 THEN 'PA' ELSE 'DB' END) AS BLOB) FROM new",
        [payments],
    )?;
    assert_eq!(copied % (payments as usize - 1), 0, "of each payment");
    Ok(())
}

/// Starts a gateway with two merchants that have this number of payments each, and returns all three.
async fn start_gateway_with(payments: u32) -> anyhow::Result<(TestGateway, MerchantClient, MerchantClient)> {
    let gateway = TestGateway::start()?;
    let merchants = [gateway.create_merchant()?, gateway.create_merchant()?];
    for merchant in &merchants {
        assert_result(&merchant.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    let gateway = gateway.kill_and_restart_after(&[], |data| copy_payments(data, payments))?;
    let [one, other] =
        merchants.map(|merchant| MerchantClient::new(gateway.base_url(), merchant.entity_id, merchant.token));
    Ok((gateway, one, other))
}

/// Sends the long query this number of times concurrently, each on its own connection. Returns the tasks.
fn spawn_queries(shop: &MerchantClient, count: usize) -> JoinSet<anyhow::Result<ApiResponse>> {
    let mut queries = JoinSet::new();
    for _ in 0..count {
        let shop = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        queries.spawn(async move { shop.get(LONG).await });
    }
    queries
}

#[tokio::test]
async fn a_merchant_with_too_many_long_queries_is_asked_to_wait_and_nobody_else_is() -> anyhow::Result<()> {
    let (_gateway, greedy, modest) = start_gateway_with(PAYMENTS).await?;
    let mut asked = spawn_queries(&greedy, 200);
    // After the first response, the queries are being processed.
    let mut answers = vec![asked.join_next().await.transpose()?.transpose()?];
    for _ in 0..3 {
        assert_result(&modest.pay_by_card(&[]).await?, 200, "000.100.110");
        let paid = greedy.pay_by_card(&[("merchantTransactionId", "order-4711")]).await?;
        assert_result(&paid, 200, "000.100.110");
        // Reads by id or reference are no long queries, also for the merchant that is limited.
        assert_result(&greedy.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.100.110");
        assert_result(&greedy.get(&format!("v1/query/{}", paid.id())).await?, 200, "000.100.110");
        assert_result(&greedy.get("v1/query?merchantTransactionId=order-4711").await?, 200, "000.000.100");
        let found = modest.get(&format!("v1/query?{DAYS}&limit=1&pageNo=1")).await?;
        assert!(found.status == 200 || found.invalid_parameters() == ["pageNo"], "{}", found.text);
    }
    while let Some(answer) = asked.join_next().await {
        answers.push(Some(answer??));
    }
    let mut refused = 0;
    for answer in answers.iter().flatten() {
        if answer.status == 429 {
            assert_result(answer, 429, "800.120.100");
            assert!(answer.headers["retry-after"].to_str()?.parse::<u32>()? >= 1);
            refused += 1;
        } else {
            // The list has more payments than are counted, or nothing was found.
            assert!(matches!(answer.result_code(), "700.400.580" | "200.300.404"), "{}", answer.text);
        }
    }
    assert!(refused > 0, "a merchant has a share only");
    assert!(refused < answers.len(), "a share is not nothing");
    Ok(())
}

#[tokio::test]
async fn clients_that_leave_take_no_turn_of_those_who_stay() -> anyhow::Result<()> {
    let (_gateway, shop, _) = start_gateway_with(PAYMENTS).await?;
    for _ in 0..5 {
        let asked = spawn_queries(&shop, 30);
        tokio::task::yield_now().await;
        drop(asked);
    }
    // More clients have left than may wait.
    assert_result(&shop.get(LONG).await?, 404, "700.400.580");
    Ok(())
}

/// Asks for a page of payments, as `query` narrows the list.
async fn read_page(shop: &MerchantClient, query: &str) -> anyhow::Result<ApiResponse> {
    let page = shop.get(&format!("v1/query?{DAYS}&limit=100&{query}")).await?;
    assert_result(&page, 200, "000.000.100");
    Ok(page)
}

/// Returns the ids of a page's payments.
fn ids(page: &ApiResponse) -> Vec<String> {
    let payments = page.json["payments"].as_array().into_iter().flatten();
    payments.filter_map(|payment| payment["id"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn numbered_pages_are_counted_exactly() -> anyhow::Result<()> {
    let (_gateway, shop, _) = start_gateway_with(PAYMENTS).await?;
    // 3333 of the copies are preauthorizations.
    for (filter, pages, last) in
        [("", 100, 100), ("&paymentTypes=PA", 34, 33), ("&paymentTypes=DB&paymentMethods=CC", 67, 67)]
    {
        let end = read_page(&shop, &format!("pageNo={pages}{filter}")).await?;
        assert_eq!((end.json["pages"].as_u64(), ids(&end).len()), (Some(pages), last), "{filter}");
    }
    assert_result(&shop.get(&format!("v1/query?{DAYS}&paymentMethods=DD&pageNo=1")).await?, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn numbered_pages_and_the_cursor_return_the_same_list_with_each_payment_once() -> anyhow::Result<()> {
    // 333 of the copies are preauthorizations.
    let (_gateway, shop, _) = start_gateway_with(1_000).await?;
    let mut numbered = Vec::new();
    for number in 1..=4 {
        numbered.extend(ids(&read_page(&shop, &format!("paymentTypes=PA&pageNo={number}")).await?));
    }
    let mut followed = Vec::new();
    let mut cursor = String::new();
    loop {
        let next = read_page(&shop, &format!("paymentTypes=PA{cursor}")).await?;
        followed.extend(ids(&next));
        let Some(at) = next.json["cursor"].as_str() else { break };
        cursor = format!("&cursor={at}");
    }
    assert_eq!(numbered.len(), 333);
    assert_eq!(numbered, followed);
    assert!(numbered.is_sorted());
    Ok(())
}

#[tokio::test]
async fn a_reference_with_many_payments_is_found_whole() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let reference = ("merchantTransactionId", "order-of-many");
    let first = shop.pay_by_card(&[reference, ("paymentType", "PA")]).await?;
    let mut made = vec![first.id().to_owned()];
    for _ in 0..12 {
        made.push(shop.pay_by_card(&[reference]).await?.id().to_owned());
        let fields = [("paymentType", "CP"), ("amount", "1.00"), ("currency", "EUR")];
        made.push(shop.post(&format!("v1/payments/{}", first.id()), &fields).await?.id().to_owned());
        let list = shop.get("v1/query?merchantTransactionId=order-of-many").await?;
        assert_result(&list, 200, "000.000.100");
        let found = list.json["payments"].as_array().map_or(0, Vec::len);
        assert_eq!(found, made.len(), "{}", list.text);
    }
    let path = format!("v1/query/{}?includeLinkedTransactions=true&entityId={}", first.id(), shop.entity_id);
    let linked =
        ApiResponse::read_from(shop.bare_request(Method::GET, &path).bearer_auth(&shop.token).send().await?).await?;
    assert_eq!(linked.json["payments"].as_array().map_or(0, Vec::len), 13, "{}", linked.text);
    Ok(())
}
