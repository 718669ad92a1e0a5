//! Lists with numbered pages (`pageNo`) for older clients, in addition to the cursor.

use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};

use crate::support::*;

const DAYS: &str = "date.from=2020-01-01&date.to=2099-12-31";

fn listed_ids(answer: &ApiResponse) -> Vec<String> {
    let payments = answer.json["payments"].as_array().into_iter().flatten();
    payments.filter_map(|payment| payment["id"].as_str().map(str::to_owned)).collect()
}

/// Creates a merchant with seven payments of one order; the first, fourth and seventh are preauthorizations. Also
/// returns their ids, sorted.
async fn create_seven_payments() -> anyhow::Result<(TestGateway, MerchantClient, Vec<String>)> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut ids = Vec::new();
    for number in 0..7 {
        let payment_type = if number % 3 == 0 { "PA" } else { "DB" };
        let fields = [("paymentType", payment_type), ("merchantTransactionId", "order-4711")];
        ids.push(shop.pay_by_card(&fields).await?.id().to_owned());
    }
    ids.sort();
    Ok((gateway, shop, ids))
}

#[tokio::test]
async fn numbered_pages_together_are_the_list_and_each_says_how_many_there_are() -> anyhow::Result<()> {
    let (_gateway, shop, made) = create_seven_payments().await?;
    for path in ["v1/query", "v3/query"] {
        for (limit, pages) in [(1, 7), (3, 3), (7, 1), (100, 1)] {
            let mut seen = Vec::new();
            for number in 1..=pages {
                let page = shop.get(&format!("{path}?{DAYS}&limit={limit}&pageNo={number}")).await?;
                assert_result(&page, 200, "000.000.100");
                assert_eq!(page.json["pages"], pages, "{}", page.text);
                assert!(page.json["cursor"].is_null() && listed_ids(&page).len() <= limit, "{}", page.text);
                seen.extend(listed_ids(&page));
            }
            assert_eq!(seen, made, "{path} {limit}");
        }
    }
    // Without a page number, pages are not counted.
    assert!(shop.get(&format!("v3/query?{DAYS}&limit=3")).await?.json["pages"].is_null());
    Ok(())
}

#[tokio::test]
async fn numbered_pages_count_what_the_filter_leaves_whatever_is_asked_by() -> anyhow::Result<()> {
    let (_gateway, shop, _) = create_seven_payments().await?;
    for query in [DAYS, "merchantTransactionId=order-4711"] {
        let page =
            async |number: u32| shop.get(&format!("v1/query?{query}&paymentTypes=PA&limit=2&pageNo={number}")).await;
        let (first, second) = (page(1).await?, page(2).await?);
        assert_eq!((listed_ids(&first).len(), listed_ids(&second).len()), (2, 1), "{query}");
        assert_eq!((&first.json["pages"], &second.json["pages"]), (&json!(2), &json!(2)), "{query}");
        assert_eq!(second.json["payments"][0]["paymentType"], "PA");
        // A page after the last is empty, which is no error.
        let third = page(3).await?;
        assert_result(&third, 200, "000.000.100");
        assert_eq!((&third.json["payments"], &third.json["pages"]), (&json!([]), &json!(2)), "{query}");
    }
    let none = shop.get(&format!("v1/query?{DAYS}&paymentTypes=RF&pageNo=1")).await?;
    assert_result(&none, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn a_page_has_a_number_or_a_cursor_and_the_number_is_one() -> anyhow::Result<()> {
    let (_gateway, shop, made) = create_seven_payments().await?;
    let both = shop.get(&format!("v1/query?{DAYS}&pageNo=1&cursor={}", made[0])).await?;
    assert_errors(&both, &["pageNo"]);
    for wrong in ["0", "-1", "one", "1.5", "10001"] {
        assert_errors(&shop.get(&format!("v1/query?{DAYS}&pageNo={wrong}")).await?, &["pageNo"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_list_that_is_too_long_to_be_counted_says_so_and_goes_on_by_cursor() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let (entity, id) = (shop.entity_id.clone(), paid.id().to_owned());
    let copies = |data: &std::path::Path, from: u32, to: u32| -> anyhow::Result<()> {
        let database = Database::open(data)?;
        let document: Vec<u8> = database.query_row("SELECT document FROM payment", [], |row| row.get(0))?;
        let mut document: Value = serde_json::from_slice(&document)?;
        database.execute_batch("BEGIN")?;
        for number in from..to {
            let copy = format!("{}{number:012x}", &id[..20]);
            document["id"] = copy.clone().into();
            let row = rusqlite::params![entity, copy, serde_json::to_vec(&document)?];
            database.execute(
                "INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                row,
            )?;
        }
        database.execute_batch("COMMIT")?;
        Ok(())
    };
    // With the first payment, this is the maximum that is counted.
    let gateway = gateway.kill_and_restart_after(&[], |data| copies(data, 0, 9_999))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let last = shop.get(&format!("v1/query?{DAYS}&pageNo=100")).await?;
    assert_result(&last, 200, "000.000.100");
    assert_eq!((listed_ids(&last).len(), &last.json["pages"]), (100, &json!(100)));
    let gateway = gateway.kill_and_restart_after(&[], |data| copies(data, 9_999, 10_000))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_errors(&shop.get(&format!("v1/query?{DAYS}&pageNo=1")).await?, &["pageNo"]);
    let first = shop.get(&format!("v1/query?{DAYS}")).await?;
    assert!(listed_ids(&first).len() == 100 && first.json["cursor"].is_string(), "{}", first.text);
    Ok(())
}
