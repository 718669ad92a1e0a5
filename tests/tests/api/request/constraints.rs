//! Database constraints: data that the gateway would refuse cannot be written into its tables either.

use reqwest::Method;
use rusqlite::params;
use serde_json::Value;
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};

use crate::support::*;

/// Returns a random number below `below`, which is not 0.
fn random_below(below: usize) -> usize {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    usize::try_from(random % below as u64).unwrap_or_default()
}

/// Opens the gateway's database for writing, as a faulty program would.
fn open_writable_database(gateway: &TestGateway) -> anyhow::Result<Database> {
    Database::open(&gateway.data_folder())
}

/// Writes a follow-up payment of an approved payment `of` into the table `payment_link`.
fn insert_follow_up(
    file: &Database,
    shop: &MerchantClient,
    of: &ApiResponse,
    (id, kind, hundredths, approved): (&str, &str, i64, bool),
) -> rusqlite::Result<usize> {
    file.execute(
        "INSERT INTO payment_link (referenced, id, type, hundredths, approved, entity) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![of.id(), id, kind, hundredths, approved, shop.entity_id],
    )
}

/// Asserts that the database refused a write, for a rule about payments or a duplicate.
#[track_caller]
fn assert_refused(written: rusqlite::Result<usize>) {
    let error = written.expect_err("it was written").to_string();
    assert!(error.contains("payment") || error.contains("UNIQUE") || error.contains("duplicate key"), "{error}");
}

#[tokio::test]
async fn only_preauthorizations_have_increments_and_captures_never_exceed_them() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let file = open_writable_database(&gateway)?;
    let reserved = shop.pay_by_card(&[("paymentType", "PA"), ("amount", "92.00")]).await?;
    let debit = shop.pay_by_card(&[("amount", "92.00")]).await?;
    assert_refused(insert_follow_up(&file, &shop, &debit, ("ff01", "PA", 800, true)));
    assert_refused(insert_follow_up(&file, &shop, &reserved, ("ff02", "PA", -1, true)));
    let fields = [
        ("paymentType", "PA"),
        ("standingInstruction.industryPractice", "INCREMENTAL_AUTH"),
        ("amount", "8.00"),
        ("currency", "EUR"),
    ];
    let raised = shop.post(&format!("v1/payments/{}", reserved.id()), &fields).await?;
    assert_result(&raised, 200, "000.100.110");
    assert_refused(insert_follow_up(&file, &shop, &raised, ("ff03", "PA", 800, true)));
    assert_refused(insert_follow_up(&file, &shop, &raised, ("ff04", "CP", 801, true)));
    // A declined increment raises nothing.
    insert_follow_up(&file, &shop, &reserved, ("ff05", "PA", 800, false))?;
    assert_refused(insert_follow_up(&file, &shop, &reserved, ("ff06", "CP", 10_001, true)));
    insert_follow_up(&file, &shop, &reserved, ("ff07", "CP", 10_000, true))?;
    assert_refused(insert_follow_up(&file, &shop, &reserved, ("ff08", "CP", 1, true)));
    Ok(())
}

#[tokio::test]
async fn captures_and_refunds_never_exceed_the_payment_whoever_writes_them() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let file = open_writable_database(&gateway)?;
    for (initial, part) in [("PA", "CP"), ("DB", "RF")] {
        let paid = shop.pay_by_card(&[("paymentType", initial), ("amount", "92.00")]).await?;
        assert_result(&paid, 200, "000.100.110");
        let path = format!("v1/payments/{}", paid.id());
        let first = shop.post(&path, &[("paymentType", part), ("amount", "60.00"), ("currency", "EUR")]).await?;
        assert_result(&first, 200, "000.100.110");
        // One minor unit too many, and amounts that only an attacker or a fault would write.
        for amount in [3201, 9201, i64::MAX, -1] {
            assert_refused(insert_follow_up(&file, &shop, &paid, ("ff01", part, amount, true)));
        }
        // A declined payment moves no money, and cannot be changed to exceed the amount later.
        insert_follow_up(&file, &shop, &paid, (&format!("ff{initial}"), part, 9200, false))?;
        assert_refused(file.execute("UPDATE payment_link SET approved = TRUE WHERE referenced = ?1", [paid.id()]));
        assert_refused(file.execute("UPDATE payment_link SET hundredths = 9201 WHERE id = ?1", [first.id()]));
        assert_refused(file.execute("DELETE FROM payment_link WHERE referenced = ?1", [paid.id()]));
        // Exactly the remaining amount is accepted, and nothing after it.
        insert_follow_up(&file, &shop, &paid, (&format!("fe{initial}"), part, 3200, true))?;
        assert_refused(insert_follow_up(&file, &shop, &paid, ("ff02", part, 1, true)));
        assert_refused(insert_follow_up(&file, &shop, &paid, ("ff03", "RV", 9200, true)));
        let standing = shop.get(&path).await?;
        let (used, rest) =
            if initial == "PA" { ("capturedAmount", "CAPTURED") } else { ("refundedAmount", "REFUNDED") };
        assert_eq!(
            (&standing.json[used], &standing.json["state"]),
            (&"92.00".into(), &rest.into()),
            "{}",
            standing.text
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_is_reversed_and_charged_back_once_whoever_writes_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let file = open_writable_database(&gateway)?;
    let paid = shop.pay_by_card(&[]).await?;
    assert_refused(insert_follow_up(&file, &shop, &paid, ("ff01", "DB", 1, true)));
    assert_refused(insert_follow_up(&file, &other, &paid, ("ff01", "RF", 1, true)));
    assert_refused(insert_follow_up(&file, &shop, &paid, ("ff01", "CB", 9201, true)));
    insert_follow_up(&file, &shop, &paid, ("ff01", "CB", 9200, true))?;
    assert_refused(insert_follow_up(&file, &shop, &paid, ("ff02", "CB", 1, true)));
    let paid = shop.pay_by_card(&[]).await?;
    insert_follow_up(&file, &shop, &paid, ("ff01", "RV", 9200, true))?;
    for (kind, amount) in [("RV", 9200), ("RF", 1), ("CP", 1)] {
        assert_refused(insert_follow_up(&file, &shop, &paid, ("ff02", kind, amount, true)));
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_stays_and_its_amount_and_final_result_never_change() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let file = open_writable_database(&gateway)?;
    let paid = shop.pay_by_card(&[]).await?;
    let set = |path: &str, value: &str| {
        let query =
            "UPDATE payment SET document = CAST(json_set(CAST(document AS TEXT), ?2, ?3) AS BLOB) WHERE id = ?1";
        file.execute(query, [paid.id(), path, value])
    };
    assert_refused(set("$.amount[0]", "0.01"));
    assert_refused(set("$.amount[1]", "JPY"));
    assert_refused(set("$.result", "000.200.000"));
    assert_refused(set("$.result", "800.100.151"));
    assert_refused(file.execute("UPDATE payment SET id = 'x' WHERE id = ?1", [paid.id()]));
    assert_refused(file.execute("UPDATE payment SET entity = 'x' WHERE id = ?1", [paid.id()]));
    assert_refused(file.execute("DELETE FROM payment", []));
    // Other properties may be changed.
    assert_eq!(set("$.descriptor", "x")?, 1);
    Ok(())
}

#[tokio::test]
async fn only_a_pending_payment_is_approved_in_part_and_it_keeps_the_requested_amount() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let file = open_writable_database(&gateway)?;
    let paid = shop.pay_by_card(&[]).await?;
    let approve_part = "UPDATE payment SET document = CAST(json_set(CAST(document AS TEXT), '$.requested',
            json_extract(CAST(document AS TEXT), '$.amount'), '$.amount[0]', '1.00', '$.result', ?2) AS BLOB)
        WHERE id = ?1";
    assert_refused(file.execute(approve_part, [paid.id(), "000.100.110"]));
    let pending = shop.pay_by_card(&[("customParameters[forceResultCode]", "000.200.000")]).await?;
    let lower = "UPDATE payment SET document = CAST(json_set(CAST(document AS TEXT), '$.amount[0]', '0.50') AS BLOB)
        WHERE id = ?1";
    assert_refused(file.execute(lower, [pending.id()]));
    assert_eq!(file.execute(approve_part, [pending.id(), "000.100.110"])?, 1);
    assert_refused(file.execute(lower, [pending.id()]));
    Ok(())
}

#[tokio::test]
async fn a_checkout_has_one_payment_whoever_writes_it_and_is_free_again_after_a_decline() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let file = open_writable_database(&gateway)?;
    let holder = |checkout: &str| {
        let query = "SELECT payment FROM checkout_payment WHERE checkout = ?1";
        file.prepare(query)?.query_map([checkout], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
    };
    let made = shop.create_checkout(&[]).await?;
    // The first attempt is declined, the second is approved.
    shop.submit_card(made.id(), &[("customParameters[forceResultCode]", "800.100.151")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    let held = holder(made.id())?;
    assert_eq!(held.len(), 1);
    let stored = stored_payments(&gateway, made.id())?;
    let paid: Vec<&Value> = stored.iter().filter(|payment| payment["result"] == "000.100.110").collect();
    assert_eq!(paid.len(), 1);
    assert_eq!(paid[0]["id"], held[0].as_str());
    let insert = "INSERT INTO checkout_payment (checkout, payment) VALUES (?1, ?2)";
    assert_refused(file.execute(insert, [made.id(), "8a"]));
    assert_refused(file.execute("UPDATE checkout_payment SET payment = '8a' WHERE checkout = ?1", [made.id()]));
    // If the file contradicts the gateway, the second payment is refused and nothing of it is written.
    let made = shop.create_checkout(&[]).await?;
    file.execute(insert, [made.id(), "8a"])?;
    let answer = shop.submit_card(made.id(), &[]).await?;
    assert_result(&answer, 500, "999.999.999");
    assert!(stored_payments(&gateway, made.id())?.is_empty());
    assert_eq!(shop.read_status(made.id()).await?.json["checkoutState"], "OPEN");
    gateway.wait_for_log("a checkout has a second pending or approved payment").await
}

#[tokio::test]
async fn any_order_of_follow_up_payments_that_the_gateway_takes_fits_the_constraints() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for _ in 0..12 {
        let initial = ["PA", "DB", "PA.CP", "CD"][random_below(4)];
        let mut ids = vec![shop.pay_by_card(&[("paymentType", initial), ("amount", "10.00")]).await?.id().to_owned()];
        for _ in 0..10 {
            let of = ids[random_below(ids.len())].clone();
            let amount = ["0.01", "3.33", "5.00", "10.00", "10.01"][random_below(5)];
            let kind = ["CP", "RF", "RV", "CB"][random_below(4)];
            let path = format!("v1/payments/{of}");
            let followed = shop.post(&path, &[("paymentType", kind), ("amount", amount), ("currency", "EUR")]).await?;
            // A domain rule refuses before a constraint does.
            assert!(followed.status < 500, "{kind} {amount}: {}", followed.text);
            if followed.status == 200 {
                ids.push(followed.id().to_owned());
            }
        }
    }
    let faults: u32 = open_database(&gateway)?.query_row(
        "SELECT count(*) FROM payment_link_fault JOIN payment_link USING (referenced, id) WHERE approved",
        [],
        |row| row.get(0),
    )?;
    assert_eq!(faults, 0);
    assert_eq!(ApiResponse::read_from(shop.bare_request(Method::GET, "health").send().await?).await?.status, 200);
    Ok(())
}
