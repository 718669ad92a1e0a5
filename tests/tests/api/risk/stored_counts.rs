//! Stored counts of the card-testing limits: they survive a crash, and empty ones are deleted.

use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::risk::card_testing::{DECLINE, assert_throttled, limit_arguments, start_with_limit};
use crate::support::*;

/// Counts the velocity counters in the store.
fn count_velocity_rows(gateway: &TestGateway) -> anyhow::Result<u32> {
    Ok(open_database(gateway)?.query_row("SELECT count(*) FROM velocity", [], |row| row.get(0))?)
}

#[tokio::test]
async fn every_cap_survives_a_power_cut() -> anyhow::Result<()> {
    for (option, cap) in [
        ("--declines-per-address", "3"),
        ("--declines-per-bin", "3"),
        ("--declines-per-entity", "3"),
        ("--alike-numbers", "3"),
    ] {
        let gateway = start_with_limit(option, cap)?;
        let shop = gateway.create_merchant_with(&["--sandbox-any-number"])?;
        let address = ("customer.ip", "2001:db8::1");
        for number in ["4200000000180001", "4200000000260001", "4200000000340001"] {
            assert_result(&shop.pay_by_card(&[("card.number", number), address]).await?, 400, "100.100.101");
        }
        let last = ("card.number", "4200000000420001");
        assert_throttled(&shop.pay_by_card(&[last, address]).await?);
        // Whatever was counted before these declines is stored together with them.
        let other = gateway.create_merchant_with(&["--sandbox-any-number"])?;
        for number in ["5200000000180001", "5200000000260001"] {
            let card = [("card.number", number), ("paymentBrand", "MASTER"), ("customer.ip", "192.0.2.7")];
            assert_eq!(other.pay_by_card(&card).await?.status, 400);
        }
        let rows = if option == "--declines-per-address" { 3 } else { 1 };
        tillgate_tests::poll_until("the counts are stored", async || {
            Ok((count_velocity_rows(&gateway)? > rows).then_some(()))
        })
        .await?;
        let gateway = gateway.kill_and_restart(&limit_arguments(option, cap))?;
        let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
        assert_throttled(&shop.pay_by_card(&[last, address]).await?);
    }
    Ok(())
}

#[tokio::test]
async fn a_count_that_is_empty_is_deleted_and_holds_nothing_but_a_hash() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-entity", "1")?;
    let shop = gateway.create_merchant()?;
    assert_result(&shop.pay_by_card(&[DECLINE]).await?, 400, "100.100.101");
    tillgate_tests::poll_until("the count is stored", async || Ok((count_velocity_rows(&gateway)? == 1).then_some(())))
        .await?;
    let gateway = gateway.kill_and_restart_after(&limit_arguments("--declines-per-entity", "1"), |data| {
        let database = Database::open(data)?;
        let (kind, name): (u8, Vec<u8>) =
            database.query_row("SELECT kind, name FROM velocity", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        assert_eq!((kind, name.len()), (3, 16));
        // Sets the end of the counting period into the past.
        assert_eq!(database.execute("UPDATE velocity SET until = 1", [])?, 1);
        Ok(())
    })?;
    tillgate_tests::poll_until("the table is empty again", async || {
        Ok((count_velocity_rows(&gateway)? == 0).then_some(()))
    })
    .await?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.pay_by_card(&[DECLINE]).await?, 400, "100.100.101");
    assert_throttled(&shop.pay_by_card(&[DECLINE]).await?);
    Ok(())
}
