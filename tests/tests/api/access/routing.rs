//! Routing of a merchant's payments and checkouts to its channels, by brand, currency, priority and test mode.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::access::entities::{Bakery, JCB, MASTER, YEN};
use crate::checkout::frame_document::read_configuration;
use crate::support::*;

#[tokio::test]
async fn a_merchants_payment_goes_to_the_first_channel_that_takes_its_brand_and_currency() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    for (fields, home) in [
        (vec![], "euro"),
        (MASTER.to_vec(), "euro"),
        (YEN.to_vec(), "yen"),
        ([YEN, JCB].concat(), "yen"),
        (vec![("currency", "GBP")], "rest"),
        (vec![("currency", "GBP"), ("testMode", "INTERNAL")], "rest"),
        // Without a brand, it is detected by the number.
        (vec![("paymentBrand", ""), ("card.number", "5454545454545454")], "euro"),
    ] {
        let paid = bakery.merchant.pay_by_card(&fields).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(bakery.channels_reading(&paid).await?, [home], "{fields:?}: {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_declined_payment_belongs_to_the_channel_that_declined_it() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let declined = bakery.merchant.pay_by_card(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_result(&declined, 400, "800.100.151");
    assert_eq!(bakery.channels_reading(&declined).await?, ["euro"]);
    Ok(())
}

#[tokio::test]
async fn priority_stands_above_age_and_age_decides_among_equals() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let channel = |priority: &str| {
        gateway.create_merchant_with(&["--merchant", &merchant.entity_id, "--priority", priority, "--brands", "VISA"])
    };
    let (late, first, second) = (channel("20")?, channel("10")?, channel("10")?);
    let knows = async |channel: &MerchantClient, paid: &ApiResponse| -> anyhow::Result<bool> {
        Ok(channel.get(&format!("v1/payments/{}", paid.id())).await?.status == 200)
    };
    let paid = merchant.pay_by_card(&[]).await?;
    assert!(knows(&first, &paid).await? && !knows(&second, &paid).await? && !knows(&late, &paid).await?);
    gateway.run_command(&["entity", "set", "--entity", &late.entity_id, "--priority", "1"])?;
    poll_until("the server follows", async || {
        let paid = merchant.pay_by_card(&[]).await?;
        Ok(knows(&late, &paid).await?.then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_test_mode_goes_to_a_channel_that_takes_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let inside = gateway.create_merchant_with(&["--merchant", &merchant.entity_id, "--test-modes", "INTERNAL"])?;
    assert_result(&merchant.pay_by_card(&[]).await?, 200, "000.100.110");
    assert_result(&merchant.pay_by_card(&[("testMode", "EXTERNAL")]).await?, 400, "600.200.700");
    assert_result(&inside.pay_by_card(&[("testMode", "EXTERNAL")]).await?, 400, "600.200.700");
    let outside = gateway.create_merchant_with(&["--merchant", &merchant.entity_id, "--test-modes", "EXTERNAL"])?;
    let external = merchant.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    assert_result(&external, 200, "000.100.112");
    assert_eq!(outside.get(&format!("v1/payments/{}", external.id())).await?.id(), external.id());
    Ok(())
}

#[tokio::test]
async fn what_no_channel_offers_is_refused_with_its_code_and_makes_no_payment() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    for (fields, code) in [
        (vec![("currency", "CHF")], "600.200.500"),
        (JCB.to_vec(), "600.200.500"),
        ([YEN, MASTER].concat(), "600.200.500"),
        (vec![("paymentBrand", "PAYPAL"), ("virtualAccount.accountId", "jane")], "600.200.201"),
    ] {
        let refused = bakery.merchant.pay_by_card(&fields).await?;
        assert_result(&refused, 400, code);
        assert!(refused.json["id"].is_null(), "{}", refused.text);
    }
    // A channel that is addressed directly accepts only what it offers.
    assert_result(&bakery.euro.pay_by_card(&YEN).await?, 400, "600.200.500");
    assert_result(&bakery.euro.pay_by_card(&JCB).await?, 400, "600.200.500");
    assert_result(&bakery.euro.pay_by_card(&[]).await?, 200, "000.100.110");
    assert_result(&bakery.merchant.get("v1/query?merchantTransactionId=order-4711").await?, 404, "700.400.580");
    Ok(())
}

#[tokio::test]
async fn a_checkout_is_refused_where_nothing_takes_its_currency_and_offers_the_brands_that_are_left()
-> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let shop = &bakery.merchant;
    assert_result(&shop.create_checkout(&[("currency", "CHF")]).await?, 400, "600.200.500");
    let brands = "VISA+MASTER+JCB+PAYPAL";
    let offered = async |shop: &MerchantClient, fields: &[(&str, &str)]| -> anyhow::Result<Vec<String>> {
        let made = shop.create_checkout(fields).await?;
        let config = read_configuration(shop, made.id(), brands).await?;
        Ok(member_names(&config["brands"]).into_iter().map(str::to_owned).collect())
    };
    assert_eq!(offered(shop, &[]).await?, ["VISA", "MASTER"]);
    assert_eq!(offered(shop, &YEN).await?, ["VISA", "JCB"]);
    assert_eq!(offered(shop, &[("currency", "USD")]).await?, ["VISA"]);
    assert_eq!(offered(&bakery.yen, &YEN).await?, ["VISA", "JCB"]);
    // An update is validated like the checkout itself.
    let made = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    assert_result(&shop.post(&path, &[("currency", "CHF")]).await?, 400, "600.200.500");
    assert_result(&shop.post(&path, &YEN).await?, 200, "000.200.101");
    // The submit of the form is validated in the same way.
    assert_result(&shop.submit_card(made.id(), &MASTER).await?, 400, "600.200.500");
    assert_result(&shop.submit_card(made.id(), &JCB).await?, 200, "000.000.100");
    assert_eq!(bakery.channels_reading(&shop.read_status(made.id()).await?).await?, ["yen"]);
    Ok(())
}
