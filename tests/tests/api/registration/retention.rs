//! The retention of registrations: extensions, and the deletion of the account at its end.

use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway, poll_until};

use crate::registration::registrations::{
    count_accounts, create_unique_registration, pay_by_registration, read_registration, register_card,
};
use crate::support::*;

#[tokio::test]
async fn an_extension_keeps_a_token_for_at_most_two_more_years() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let extend =
        async |id: &str, fields: &[(&str, &str)]| shop.post(&format!("v1/registrations/{id}/extendlife"), fields).await;
    // This card's retention would end within two years.
    let soon = (jiff::Zoned::now().year() + 1).to_string();
    let made = register_card(&shop, &[("card.expiryMonth", "01"), ("card.expiryYear", &soon)]).await?;
    assert_result(&made, 200, "000.100.110");
    let until = |answer: &ApiResponse| answer.json["retainedUntil"].as_str().unwrap_or_default().to_owned();
    let extended = extend(made.id(), &[]).await?;
    assert_result(&extended, 200, "000.100.110");
    assert_eq!(extended.json["paymentType"], "TE");
    assert!(until(&extended) >= until(&made), "{} {}", until(&made), until(&extended));
    assert_eq!(until(&read_registration(&shop, made.id()).await?), until(&extended));
    // A shorter duration than the current one changes nothing. A duration of more than two years is refused.
    let shorter = extend(made.id(), &[("job.durationNumber", "1"), ("job.durationUnit", "DAY")]).await?;
    assert_eq!(until(&shorter), until(&extended));
    let longer = extend(made.id(), &[("job.durationNumber", "25"), ("job.durationUnit", "MONTH")]).await?;
    assert_errors(&longer, &["job.durationNumber"]);
    Ok(())
}

/// Ends the retention of the only registration, in the store of a stopped gateway. Fails unless there is exactly one.
fn end_retention(data: &std::path::Path) -> anyhow::Result<()> {
    let database = Database::open(data)?;
    let past = "2020-01-01T00:00:00Z";
    let changed = database.execute(
        "UPDATE registration SET document = CAST(json_set(CAST(document AS TEXT), '$.retained_until', ?1) AS BLOB)",
        [past],
    )?;
    database.execute("UPDATE registration_account SET purge_at = 1577836800000", [])?;
    anyhow::ensure!(changed == 1, "{changed} registrations");
    Ok(())
}

#[tokio::test]
async fn a_token_ends_with_its_retention_and_its_account_is_deleted() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let id = create_unique_registration(&shop, "old").await?;
    let sealed: Vec<u8> =
        open_database(&gateway)?.query_row("SELECT sealed FROM registration_account", [], |row| row.get(0))?;
    let gateway = gateway.kill_and_restart_after(&[], end_retention)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&pay_by_registration(&shop, &id, &[]).await?, 400, "100.150.206");
    assert_result(&read_registration(&shop, &id).await?, 400, "100.150.206");
    poll_until("the account is deleted", async || Ok((count_accounts(&gateway)? == 0).then_some(()))).await?;
    assert_result(&pay_by_registration(&shop, &id, &[]).await?, 400, "100.150.206");
    poll_until("its bytes are overwritten", async || {
        let mut left = false;
        for content in gateway.read_data_files()? {
            left |= content.windows(sealed.len()).any(|window| window == sealed);
        }
        Ok((!left).then_some(()))
    })
    .await
}
