//! Stored accounts and schedules.

use tillgate_tests::{CARD, MerchantClient, TestGateway, poll_until};

use super::check_pages;

/// Stores a card with a hostile holder, pays with it and charges it by schedules. Returns the pages about it.
async fn make_customers(merchant: &MerchantClient) -> anyhow::Result<Vec<String>> {
    let agreement = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")];
    let markup = "<img src=x onerror=alert(1)>";
    let fields = [("card.holder", markup), ("customer.givenName", "Jane"), ("customer.surname", "Jones")];
    let card: Vec<_> = CARD.iter().filter(|(name, _)| *name != "card.holder").copied().collect();
    let stored = merchant.post("v1/registrations", &[&card, &agreement[..], &fields].concat()).await?;
    anyhow::ensure!(stored.status == 200, "{}", stored.text);
    let registration = stored.id().to_owned();
    let charge = [("amount", "12.00"), ("currency", "EUR")];
    let daily = [("paymentType", "SD"), ("registrationId", &*registration), ("job.hour", "06,18")];
    let busy = merchant.post("scheduling/v1/schedules", &[&charge[..], &daily].concat()).await?;
    anyhow::ensure!(busy.status == 200, "{}", busy.text);
    let busy = busy.id().to_owned();
    merchant.advance_clock("24h").await?;
    poll_until("the schedule runs", async || {
        let read = merchant.get(&format!("scheduling/v1/schedules/{busy}")).await?;
        Ok(read.json["runs"].as_array().is_some_and(|runs| !runs.is_empty()).then_some(()))
    })
    .await?;
    let mut last = String::new();
    for number in 0..55 {
        let pay = [&[("paymentType", "DB")], &charge[..]].concat();
        merchant.post(&format!("v1/registrations/{registration}/payments"), &pay).await?;
        merchant.post("v1/registrations", &CARD).await?;
        let name = format!("{number} {markup}");
        let times = if number % 2 == 0 { ("job.hour", "06,18") } else { ("job.expression", "0 0 9 ? * 6#3") };
        let job = [("paymentType", "SD"), ("registrationId", &*registration), ("job.name", &*name), times];
        last = merchant.post("scheduling/v1/schedules", &[&charge[..], &job].concat()).await?.id().to_owned();
    }
    Ok(vec![
        "/customers/registrations".to_owned(),
        "/customers/registrations?entity=x".to_owned(),
        format!("/customers/registrations/{registration}"),
        "/customers/schedules".to_owned(),
        "/customers/schedules?state=ended".to_owned(),
        format!("/customers/schedules/{last}"),
        format!("/customers/schedules/{busy}"),
    ])
}

#[tokio::test]
async fn the_pages_of_customers_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let pages = make_customers(&merchant).await?;
    check_pages(gateway, pages).await
}
