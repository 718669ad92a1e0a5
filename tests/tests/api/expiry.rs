//! Half an hour: what can be done with a checkout before, and what can still be read after.

use reqwest::Method;
use tillgate_tests::{Answer, Gateway, Merchant};

use crate::frame_document::configuration;
use crate::support::*;

const MINUTE: i64 = 60;

#[tokio::test]
async fn after_half_an_hour_a_checkout_can_be_read_and_no_longer_be_paid() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let decline = [("card.number", "4200000000000001")];
    let (unpaid, paid, declined, young) =
        (shop.checkout(&[]).await?, shop.checkout(&[]).await?, shop.checkout(&[]).await?, shop.checkout(&[]).await?);
    shop.submit(paid.id(), &[]).await?;
    shop.submit(declined.id(), &decline).await?;
    let (was_paid, was_declined) = (shop.status(paid.id()).await?, shop.status(declined.id()).await?);

    let gateway = gateway.restart_after(&[], |data| {
        for id in [unpaid.id(), paid.id(), declined.id()] {
            set_back(data, id, 30 * MINUTE)?;
        }
        set_back(data, young.id(), 29 * MINUTE)
    })?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);

    // Nobody paid: the answer says which case this is, as often as it is asked.
    let status = shop.status(unpaid.id()).await?;
    assert_answer(&status, 400, "900.300.600");
    assert_envelope(&status);
    assert_eq!(status.json["ndc"], unpaid.json["id"]);
    assert!(
        status.json["result"]["description"].as_str().is_some_and(|text| text.contains("expired")),
        "{}",
        status.text
    );
    assert_eq!(outcome(&shop.status(unpaid.id()).await?), outcome(&status));

    // What was decided stays decided.
    assert_eq!(shop.status(paid.id()).await?.text, was_paid.text);
    let still_declined = shop.status(declined.id()).await?;
    assert_eq!(still_declined.json["result"], was_declined.json["result"]);
    assert_eq!(still_declined.json["timestamp"], was_declined.json["timestamp"]);
    // And each of the four cases says which one it is.
    let case = |answer: &Answer| answer.json["checkoutState"].as_str().unwrap_or_default().to_owned();
    assert_eq!(case(&shop.status(young.id()).await?), "OPEN");
    assert_eq!(case(&was_declined), "OPEN");
    assert_eq!(case(&still_declined), "EXPIRED");
    assert_eq!(case(&status), "EXPIRED");
    assert_eq!(case(&was_paid), "PAID");

    for id in [unpaid.id(), declined.id()] {
        let refused = shop.submit(id, &[]).await?;
        assert_answer(&refused, 400, "200.300.404");
        assert!(
            refused.json["result"]["description"].as_str().is_some_and(|text| text.contains("expired")),
            "{}",
            refused.text
        );
        assert_answer(&shop.post(&format!("v1/checkouts/{id}"), &[("amount", "1.00")]).await?, 400, "200.300.404");
        let config = configuration(&shop, id, "VISA").await?;
        assert_eq!(config["error"]["name"], "InvalidCheckoutIdError", "{config}");
    }
    assert_eq!(stored_payments(&gateway, unpaid.id())?.len(), 0);
    assert_eq!(stored_payments(&gateway, declined.id())?.len(), 1);

    // The page still loads its script, so that the form can say what is wrong.
    let script = shop.bare(Method::GET, &format!("v1/paymentWidgets.js?checkoutId={}", unpaid.id())).send().await?;
    assert_eq!(script.status(), 200);

    // A minute before the end there is time.
    assert_answer(&shop.submit(young.id(), &[]).await?, 200, "000.000.100");
    assert_answer(&shop.status(young.id()).await?, 200, "000.100.110");
    Ok(())
}
