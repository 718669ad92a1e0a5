//! Queries: a merchant finds its payments by id, by the descriptor on the statement, by its own reference and by day.

use serde_json::Value;
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};

use crate::payment::asynchronous::{pay_by_brand, press_button};
use crate::support::*;

/// Returns the ids of a list, in its order.
fn listed_ids(answer: &ApiResponse) -> Vec<&str> {
    let payments = answer.json["payments"].as_array();
    payments.into_iter().flatten().filter_map(|payment| payment["id"].as_str()).collect()
}

/// Returns the payment with this id in a list. Panics if there is none.
fn listed_payment<'a>(answer: &'a ApiResponse, id: &str) -> &'a Value {
    let payments = answer.json["payments"].as_array();
    match payments.into_iter().flatten().find(|payment| payment["id"] == id) {
        Some(entry) => entry,
        None => panic!("no {id} in {}", answer.text),
    }
}

/// Returns a reference that no other test uses.
fn unique_reference(name: &str) -> String {
    format!("{name}-{}", unique_suffix())
}

/// Returns the nanoseconds since 1970.
fn unique_suffix() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map(|time| time.as_nanos()).unwrap_or_default()
}

/// Returns a day in UTC as `yyyy-mm-dd`, `offset` days after today.
fn day_from_today(offset: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * offset)).strftime("%Y-%m-%d").to_string()
}

#[tokio::test]
async fn a_payment_is_found_by_its_id_as_its_own_status_shows_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let declined = shop.pay_by_card(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    for paid in [shop.pay_by_card(&[("merchantTransactionId", "order-4711")]).await?, declined] {
        for path in ["v1/query", "v3/query"] {
            let found = shop.get(&format!("{path}/{}", paid.id())).await?;
            assert_eq!(comparable_response(&found), comparable_response(&paid));
            assert_envelope(&found);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_is_found_by_the_number_on_the_shoppers_statement() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = shop.pay_by_card(&[]).await?;
    let short = paid.json["descriptor"].as_str().and_then(|text| text.get(..14)).unwrap_or_default().to_owned();
    let found = shop.get(&format!("v1/query/{short}")).await?;
    assert_eq!(found.json["id"], paid.json["id"], "{}", found.text);
    let listed = shop.get(&format!("v1/query?shortId={short}")).await?;
    assert_result(&listed, 200, "000.000.100");
    assert!(listed_ids(&listed).contains(&paid.id()), "{}", listed.text);
    let today = format!("v1/query?shortId={short}&date.from={}&date.to={}", day_from_today(-1), day_from_today(0));
    assert!(listed_ids(&shop.get(&today).await?).contains(&paid.id()));
    let long_ago = format!("v1/query?shortId={short}&date.from=2001-01-01&date.to=2001-01-02");
    assert_result(&shop.get(&long_ago).await?, 404, "700.400.580");
    assert_result(&other_shop().get(&format!("v1/query/{short}")).await?, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn an_id_that_is_none_or_another_merchants_is_a_transaction_that_nobody_knows() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let paid = shop.pay_by_card(&[]).await?;
    let never = stranger.get(&format!("v1/query/8a{}", "0".repeat(30))).await?;
    assert_result(&never, 404, "700.400.580");
    for id in [paid.id(), "x", "1234.5678.9012", "9999.9999.9999", "1.2.3", "%00"] {
        assert_eq!(
            comparable_response(&stranger.get(&format!("v1/query/{id}")).await?),
            comparable_response(&never),
            "{id}"
        );
        let linked = stranger.get(&format!("v1/query/{id}?includeLinkedTransactions=true")).await?;
        assert_eq!(comparable_response(&linked), comparable_response(&never), "{id}");
    }
    Ok(())
}

#[tokio::test]
async fn a_merchants_reference_finds_every_payment_that_carries_it_in_the_order_of_time() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let order = unique_reference("order");
    let declined = shop
        .pay_by_card(&[("merchantTransactionId", &order), ("customParameters[forceResultCode]", "800.100.151")])
        .await?;
    let paid = shop.pay_by_card(&[("merchantTransactionId", &order)]).await?;
    shop.pay_by_card(&[("merchantTransactionId", &unique_reference("another"))]).await?;
    let found = shop.get(&format!("v1/query?merchantTransactionId={order}")).await?;
    assert_result(&found, 200, "000.000.100");
    assert_envelope(&found);
    assert_eq!(listed_ids(&found), [declined.id(), paid.id()]);
    let (first, second) = (listed_payment(&found, declined.id()), listed_payment(&found, paid.id()));
    assert_eq!(first["result"]["code"], "800.100.151");
    assert!(first["amount"].is_null() && first["currency"].is_null(), "a decline moved nothing: {first}");
    assert_eq!((&second["amount"], &second["result"]["code"]), (&"92.00".into(), &"000.100.110".into()));
    assert_eq!(second["merchantTransactionId"], order);
    assert_eq!(second["timestamp"], paid.json["timestamp"]);
    assert!(found.json["cursor"].is_null(), "{}", found.text);
    Ok(())
}

#[tokio::test]
async fn a_checkouts_payment_is_found_by_the_reference_that_the_checkout_was_given() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let order = unique_reference("checkout");
    let made = shop.create_checkout(&[("merchantTransactionId", &order)]).await?;
    assert_result(&shop.get(&format!("v1/query?merchantTransactionId={order}")).await?, 404, "700.400.580");
    shop.submit_card(made.id(), &[]).await?;
    let found = shop.get(&format!("v1/query?merchantTransactionId={order}")).await?;
    assert_eq!(listed_ids(&found), [shop.read_status(made.id()).await?.id()]);
    Ok(())
}

#[tokio::test]
async fn a_reference_is_its_own_merchants_and_found_to_the_letter() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let order = unique_reference("Order");
    shop.pay_by_card(&[("merchantTransactionId", &order)]).await?;
    for asked in [order.to_lowercase(), format!("{order}0"), "%25order%25-".to_owned()] {
        let found = shop.get(&format!("v1/query?merchantTransactionId={asked}")).await?;
        assert_result(&found, 404, "700.400.580");
    }
    assert_result(&stranger.get(&format!("v1/query?merchantTransactionId={order}")).await?, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn types_and_methods_leave_out_what_is_not_asked_for() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let order = unique_reference("filter");
    let field = ("merchantTransactionId", order.as_str());
    let reserved = shop.pay_by_card(&[field, ("paymentType", "PA")]).await?;
    let maestro = [field, ("paymentBrand", "MAESTRO"), ("card.number", "6799851000000032")];
    let debit_card = shop.pay_by_card(&maestro).await?;
    assert_result(&debit_card, 200, "000.100.110");
    for (filter, expected) in [
        ("paymentTypes=PA", vec![reserved.id()]),
        ("paymentTypes=PA,DB", vec![reserved.id(), debit_card.id()]),
        ("paymentTypes=PA%2CDB&paymentMethods=DC", vec![debit_card.id()]),
        ("paymentMethods=CC", vec![reserved.id()]),
        ("paymentMethods=CC,DC", vec![reserved.id(), debit_card.id()]),
    ] {
        let found = shop.get(&format!("v1/query?merchantTransactionId={order}&{filter}")).await?;
        assert_eq!(listed_ids(&found), expected, "{filter}: {}", found.text);
    }
    let none = shop.get(&format!("v1/query?merchantTransactionId={order}&paymentTypes=RF")).await?;
    assert_result(&none, 404, "700.400.580");
    assert_result(&shop.get(&format!("v1/query/{}?paymentTypes=DB", reserved.id())).await?, 404, "700.400.580");
    assert_eq!(shop.get(&format!("v1/query/{}?paymentTypes=PA", reserved.id())).await?.id(), reserved.id());
    Ok(())
}

#[tokio::test]
async fn a_filter_with_types_and_methods_of_other_gateways_finds_what_the_rest_of_it_names() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let order = unique_reference("foreign-filter");
    let paid = shop.pay_by_card(&[("merchantTransactionId", &order), ("paymentType", "PA")]).await?;
    for filter in ["paymentTypes=PA,RB,XX", "paymentTypes=RB,PA", "paymentMethods=card,CC", "paymentMethods=CC,,x"] {
        let found = shop.get(&format!("v1/query?merchantTransactionId={order}&{filter}")).await?;
        assert_eq!(listed_ids(&found), [paid.id()], "{filter}: {}", found.text);
    }
    for nothing in ["paymentTypes=XX", "paymentMethods=card"] {
        let none = shop.get(&format!("v1/query?merchantTransactionId={order}&{nothing}")).await?;
        assert_result(&none, 404, "700.400.580");
    }
    Ok(())
}

#[tokio::test]
async fn a_range_of_days_is_read_page_by_page_and_nothing_comes_twice_or_not_at_all() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(shop.pay_by_card(&[]).await?.id().to_owned());
    }
    made.sort();
    let range = format!("date.from={}&date.to={}", day_from_today(-1), day_from_today(1));
    let whole = shop.get(&format!("v1/query?{range}")).await?;
    assert_result(&whole, 200, "000.000.100");
    assert_eq!(listed_ids(&whole), made);
    assert!(whole.json["cursor"].is_null(), "{}", whole.text);
    for limit in [1, 3, 7] {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = shop.get(&format!("v1/query?{range}&limit={limit}{cursor}")).await?;
            assert_result(&page, 200, "000.000.100");
            assert!(listed_ids(&page).len() <= limit, "{}", page.text);
            seen.extend(listed_ids(&page).into_iter().map(str::to_owned));
            pages += 1;
            match page.json["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!((seen, pages), (made.clone(), made.len().div_ceil(limit)), "limit {limit}");
    }
    // A cursor at the last payment is valid, because the list may grow.
    let end = shop.get(&format!("v1/query?{range}&cursor={}", made[6])).await?;
    assert_result(&end, 200, "000.000.100");
    assert_eq!(end.json["payments"], serde_json::json!([]));
    let later = format!("v1/query?date.from={}&date.to={}", day_from_today(1), day_from_today(2));
    assert_result(&shop.get(&later).await?, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn a_range_that_holds_more_than_a_request_reads_is_answered_in_parts() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let (count, entity) = (2500, shop.entity_id.clone());
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        // Copies of the payment under other ids of the same day. All but one are debits.
        let database = Database::open(data)?;
        let document: Vec<u8> = database.query_row("SELECT document FROM payment", [], |row| row.get(0))?;
        let document: Value = serde_json::from_slice(&document)?;
        let start = paid.id().get(..20).unwrap_or_default();
        database.execute_batch("BEGIN")?;
        for number in 0..count {
            let mut copy = document.clone();
            let id = format!("{start}{number:012x}");
            copy["id"] = id.clone().into();
            if number == count - 1 {
                copy["payment_type"] = "PA".into();
            }
            let row = rusqlite::params![entity, id, serde_json::to_vec(&copy)?];
            database.execute(
                "INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                row,
            )?;
        }
        database.execute_batch("COMMIT")?;
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let range = format!("date.from={}&date.to={}&paymentTypes=PA", day_from_today(-1), day_from_today(1));
    let (mut found, mut cursor, mut requests) = (0, String::new(), 0);
    loop {
        let page = shop.get(&format!("v1/query?{range}{cursor}")).await?;
        assert_result(&page, 200, "000.000.100");
        found += listed_ids(&page).len();
        requests += 1;
        match page.json["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((found, requests), (1, 3));
    Ok(())
}

#[tokio::test]
async fn a_query_names_what_is_missing_or_wrong() -> anyhow::Result<()> {
    let shop = strict_shop();
    for (query, name) in [
        ("", "merchantTransactionId"),
        ("date.from=2026-11-21", "date.to"),
        ("date.to=2026-11-21", "date.from"),
        ("date.from=2026-11-21&date.to=2026-11-20", "date.to"),
        ("date.from=yesterday&date.to=2026-11-20", "date.from"),
        ("date.from=2026-02-29&date.to=2026-11-20", "date.from"),
        ("merchantTransactionId=short", "merchantTransactionId"),
        ("merchantTransactionId=order-4711&limit=0", "limit"),
        ("merchantTransactionId=order-4711&limit=101", "limit"),
        ("merchantTransactionId=order-4711&limit=-1", "limit"),
        ("merchantTransactionId=order-4711&cursor=x", "cursor"),
        ("merchantTransactionId=order-4711&includeLinkedTransactions=yes", "includeLinkedTransactions"),
        ("shortId=12345678901234567", "shortId"),
        ("merchantTransactionId=order-4711&nonsense=1", "nonsense"),
    ] {
        assert_errors(&shop.get(&format!("v1/query?{query}")).await?, &[name]);
    }
    let query = "includeLinkedTransactions=yes";
    assert_errors(&shop.get(&format!("v1/query/8a{}?{query}", "0".repeat(30))).await?, &["includeLinkedTransactions"]);
    Ok(())
}

/// Creates a preauthorization of 92.00 EUR with two captures (60.00 and 32.00), and a refund of 10.00 of the first
/// capture. Returns their ids in this order.
async fn create_linked_payments(shop: &MerchantClient, order: &str) -> anyhow::Result<[String; 4]> {
    let reserved = shop.pay_by_card(&[("paymentType", "PA"), ("merchantTransactionId", order)]).await?;
    let follow = async |id: &str, payment_type: &str, amount: &str| -> anyhow::Result<String> {
        let fields = [("paymentType", payment_type), ("amount", amount), ("currency", "EUR")];
        let followed = shop.post(&format!("v1/payments/{id}"), &fields).await?;
        assert_result(&followed, 200, "000.100.110");
        Ok(followed.id().to_owned())
    };
    let first = follow(reserved.id(), "CP", "60.00").await?;
    let second = follow(reserved.id(), "CP", "32.00").await?;
    let refund = follow(&first, "RF", "10.00").await?;
    Ok([reserved.id().to_owned(), first, second, refund])
}

#[tokio::test]
async fn what_belongs_together_is_found_from_every_end_of_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let chain = create_linked_payments(&shop, &unique_reference("chain")).await?;
    let [reserved, first, _, refund] = &chain;
    for id in &chain {
        for path in ["v1/query", "v3/query"] {
            let linked = shop.get(&format!("{path}/{id}?includeLinkedTransactions=true")).await?;
            assert_result(&linked, 200, "000.000.100");
            assert_eq!(listed_ids(&linked), chain);
            assert!(listed_payment(&linked, reserved)["referencedId"].is_null(), "{}", linked.text);
            assert_eq!(listed_payment(&linked, first)["referencedId"], reserved.as_str());
            let refunded = listed_payment(&linked, refund);
            assert_eq!(refunded["paymentType"], "RF");
            assert_eq!(refunded["referencedId"], first.as_str());
            assert_eq!(refunded["amount"], "10.00");
        }
        // Without the parameter, linked payments are omitted.
        for query in ["", "?includeLinkedTransactions=false"] {
            let alone = shop.get(&format!("v1/query/{id}{query}")).await?;
            assert_eq!((alone.id(), alone.json["payments"].is_null()), (id.as_str(), true), "{}", alone.text);
        }
    }
    let query = format!("v1/query/{refund}?includeLinkedTransactions=true&paymentTypes=PA,RF");
    assert_eq!(listed_ids(&shop.get(&query).await?), [reserved, refund]);
    let query = format!("v1/query/{refund}?includeLinkedTransactions=true&paymentMethods=DC");
    assert_result(&shop.get(&query).await?, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn a_reference_leads_to_the_refunds_of_its_payment_as_well() -> anyhow::Result<()> {
    let (shop, order) = (sandbox_shop(), unique_reference("refund"));
    let chain = create_linked_payments(&shop, &order).await?;
    let found = shop.get(&format!("v1/query?merchantTransactionId={order}")).await?;
    assert_result(&found, 200, "000.000.100");
    assert_eq!(listed_ids(&found), chain);
    let refunds = shop.get(&format!("v1/query?merchantTransactionId={order}&paymentTypes=RF")).await?;
    assert_eq!(listed_ids(&refunds), [&chain[3]]);
    assert_eq!(listed_payment(&refunds, &chain[3])["referencedId"], chain[1].as_str());
    Ok(())
}

#[tokio::test]
async fn a_query_asked_again_is_answered_alike_until_something_has_changed_and_then_tells_it() -> anyhow::Result<()> {
    let (shop, order) = (sandbox_shop(), unique_reference("again"));
    let whole = format!("v1/query?merchantTransactionId={order}");
    let debits = format!("{whole}&paymentTypes=DB");
    let ask = async |query: &str, expected: &[&str]| -> anyhow::Result<ApiResponse> {
        let answer = shop.get(query).await?;
        assert_eq!(listed_ids(&answer), expected, "{}", answer.text);
        // The time and the number of a response are new if it was not cached.
        assert_eq!(shop.get(query).await?.json["payments"], answer.json["payments"], "nothing has changed since");
        Ok(answer)
    };
    assert_result(&shop.get(&whole).await?, 404, "700.400.580");
    let paid = shop.pay_by_card(&[("merchantTransactionId", &order)]).await?;
    ask(&whole, &[paid.id()]).await?;
    ask(&debits, &[paid.id()]).await?;
    // Follow-up payments have no reference of their own, and are returned although the query asks for other types.
    let follow = async |id: &str, kind: &str, amount: &str| -> anyhow::Result<String> {
        let fields = [("paymentType", kind), ("amount", amount), ("currency", "EUR")];
        Ok(shop.post(&format!("v1/payments/{id}"), &fields).await?.id().to_owned())
    };
    let refund = follow(paid.id(), "RF", "10.00").await?;
    ask(&whole, &[paid.id(), &refund]).await?;
    ask(&debits, &[paid.id()]).await?;
    let rest = follow(paid.id(), "RF", "82.00").await?;
    ask(&whole, &[paid.id(), &refund, &rest]).await?;
    // Another payment of the same order, whose outcome comes later.
    let wallet = pay_by_brand(&shop, "PAYPAL", &[("merchantTransactionId", &order)]).await?;
    let found = ask(&debits, &[paid.id(), wallet.id()]).await?;
    assert_eq!(listed_payment(&found, wallet.id())["result"]["code"], "000.200.000");
    press_button(&shop, wallet.json["redirect"]["url"].as_str().unwrap_or_default(), "success").await?;
    let found = ask(&debits, &[paid.id(), wallet.id()]).await?;
    assert_eq!(listed_payment(&found, wallet.id())["result"]["code"], "000.100.110");
    assert_result(&other_shop().get(&whole).await?, 404, "700.400.580");
    Ok(())
}
