//! Expiry after half an hour: allowed operations before it, and readable results after it.

use reqwest::Method;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::checkout::frame_document::read_configuration;
use crate::support::*;

const MINUTE: i64 = 60;

#[tokio::test]
async fn after_half_an_hour_a_checkout_can_be_read_and_no_longer_be_paid() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let decline = [("card.number", "4200000000000001")];
    let (unpaid, paid, declined, young) = (
        shop.create_checkout(&[]).await?,
        shop.create_checkout(&[]).await?,
        shop.create_checkout(&[]).await?,
        shop.create_checkout(&[]).await?,
    );
    shop.submit_card(paid.id(), &[]).await?;
    shop.submit_card(declined.id(), &decline).await?;
    let (was_paid, was_declined) = (shop.read_status(paid.id()).await?, shop.read_status(declined.id()).await?);

    let gateway = gateway.kill_and_restart_after(&[], |data| {
        for id in [unpaid.id(), paid.id(), declined.id()] {
            backdate_checkout(data, id, 30 * MINUTE)?;
        }
        backdate_checkout(data, young.id(), 29 * MINUTE)
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);

    // An expired checkout without a payment has its own result code, which every read returns.
    let status = shop.read_status(unpaid.id()).await?;
    assert_result(&status, 400, "900.300.600");
    assert_envelope(&status);
    assert_eq!(status.json["ndc"], unpaid.json["id"]);
    assert!(
        status.json["result"]["description"].as_str().is_some_and(|text| text.contains("expired")),
        "{}",
        status.text
    );
    assert_eq!(comparable_response(&shop.read_status(unpaid.id()).await?), comparable_response(&status));

    // Outcomes do not change.
    assert_eq!(shop.read_status(paid.id()).await?.text, was_paid.text);
    let still_declined = shop.read_status(declined.id()).await?;
    assert_eq!(still_declined.json["result"], was_declined.json["result"]);
    assert_eq!(still_declined.json["timestamp"], was_declined.json["timestamp"]);
    // Each response contains the state of the checkout.
    let case = |answer: &ApiResponse| answer.json["checkoutState"].as_str().unwrap_or_default().to_owned();
    assert_eq!(case(&shop.read_status(young.id()).await?), "OPEN");
    assert_eq!(case(&was_declined), "OPEN");
    assert_eq!(case(&still_declined), "EXPIRED");
    assert_eq!(case(&status), "EXPIRED");
    assert_eq!(case(&was_paid), "PAID");

    for id in [unpaid.id(), declined.id()] {
        let refused = shop.submit_card(id, &[]).await?;
        assert_result(&refused, 400, "200.300.404");
        assert!(
            refused.json["result"]["description"].as_str().is_some_and(|text| text.contains("expired")),
            "{}",
            refused.text
        );
        assert_result(&shop.post(&format!("v1/checkouts/{id}"), &[("amount", "1.00")]).await?, 400, "200.300.404");
        let config = read_configuration(&shop, id, "VISA").await?;
        assert_eq!(config["error"]["name"], "InvalidCheckoutIdError", "{config}");
    }
    assert_eq!(stored_payments(&gateway, unpaid.id())?.len(), 0);
    assert_eq!(stored_payments(&gateway, declined.id())?.len(), 1);

    // The page still loads its script, so that the form can show the error.
    let script =
        shop.bare_request(Method::GET, &format!("v1/paymentWidgets.js?checkoutId={}", unpaid.id())).send().await?;
    assert_eq!(script.status(), 200);

    // One minute before the expiry, a payment is accepted.
    assert_result(&shop.submit_card(young.id(), &[]).await?, 200, "000.000.100");
    assert_result(&shop.read_status(young.id()).await?, 200, "000.100.110");
    Ok(())
}
