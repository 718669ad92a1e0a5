//! Registrations of a merchant and its channels: visibility, the channel that is charged, and isolation between sibling
//! channels.

use serde_json::json;
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::access::entities::{Bakery, JCB, MASTER, YEN, with_credentials_of};
use crate::registration::registrations::{
    create_unique_registration, delete_registration, pay_by_registration, read_registration, register_card,
};
use crate::support::*;

const EURO: (&str, &str) = ("currency", "EUR");

async fn extend_registration(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    shop.post(&format!("v1/registrations/{id}/extendlife"), &[]).await
}

/// Pays a checkout with a stored card as the shopper's browser does.
async fn pay_by_click(shop: &MerchantClient, checkout: &str, id: &str) -> anyhow::Result<ApiResponse> {
    shop.post_as_browser(&format!("v1/checkouts/{checkout}/payment"), &[("registrationId", id)]).await
}

/// Asserts that an entity, which accepts this currency, cannot read, charge, extend or delete a registration (404), and
/// cannot offer it in a checkout (400 with 100.150.200).
async fn assert_unknown(shop: &MerchantClient, currency: &str, id: &str) -> anyhow::Result<()> {
    for answer in [
        read_registration(shop, id).await?,
        pay_by_registration(shop, id, &[("currency", currency)]).await?,
        extend_registration(shop, id).await?,
        delete_registration(shop, id).await?,
    ] {
        assert_result(&answer, 404, "200.300.404");
    }
    let offered = shop.create_checkout(&[("registrations[0].id", id), ("currency", currency)]).await?;
    assert_eq!((offered.status, offered.result_code()), (400, "100.150.200"), "{}", offered.text);
    Ok(())
}

#[tokio::test]
async fn a_channels_registration_is_seen_by_the_channel_and_its_merchant_and_by_no_sibling() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let stranger = bakery.gateway.create_merchant()?;
    let id = create_unique_registration(&bakery.euro, "of-the-channel").await?;
    let seen = read_registration(&bakery.euro, &id).await?;
    assert_result(&seen, 200, "000.100.110");
    for other in [&bakery.merchant, &with_credentials_of(&bakery.euro, &bakery.merchant)] {
        assert_eq!(comparable_response(&read_registration(other, &id).await?), comparable_response(&seen));
    }
    let yen = with_credentials_of(&bakery.yen, &bakery.merchant);
    for (other, currency) in [(&bakery.yen, "JPY"), (&bakery.rest, "GBP"), (&stranger, "EUR"), (&yen, "JPY")] {
        assert_unknown(other, currency, &id).await?;
    }
    assert_result(&read_registration(&bakery.euro, &id).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_merchants_registration_is_the_merchants_and_no_channels() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let id = create_unique_registration(&bakery.merchant, "of-the-merchant").await?;
    assert_result(&read_registration(&bakery.merchant, &id).await?, 200, "000.100.110");
    for (channel, currency) in [(&bakery.euro, "EUR"), (&bakery.yen, "JPY"), (&bakery.rest, "GBP")] {
        assert_unknown(channel, currency, &id).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_merchants_registration_is_paid_into_the_channel_that_takes_the_payment() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let id = create_unique_registration(&bakery.merchant, "dispatched").await?;
    for (currency, home) in [("EUR", "euro"), ("JPY", "yen"), ("GBP", "rest")] {
        let paid = pay_by_registration(&bakery.merchant, &id, &[("currency", currency)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["registrationId"], id.as_str());
        assert_eq!(bakery.channels_reading(&paid).await?, [home], "{currency}");
    }
    let refused = pay_by_registration(&bakery.merchant, &id, &[("currency", "CHF")]).await?;
    assert_result(&refused, 400, "600.200.500");
    assert!(refused.json["id"].is_null(), "{}", refused.text);
    Ok(())
}

#[tokio::test]
async fn a_channels_registration_is_paid_into_that_channel_also_where_its_merchant_asks() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let id = create_unique_registration(&bakery.rest, "stays").await?;
    // Another channel accepts euro, but the account is not transferred to it.
    assert_result(&pay_by_registration(&bakery.merchant, &id, &[EURO]).await?, 400, "600.200.500");
    for shop in [&bakery.merchant, &bakery.rest] {
        let paid = pay_by_registration(shop, &id, &[("currency", "GBP")]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(bakery.channels_reading(&paid).await?, ["rest"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_is_dispatched_registers_its_card_with_the_merchant_that_asked() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let paid = bakery.merchant.pay_by_card(&[&[("createRegistration", "true")], &YEN[..]].concat()).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(bakery.channels_reading(&paid).await?, ["yen"]);
    let id = paid.json["registrationId"].as_str().unwrap_or_default();
    assert_result(&read_registration(&bakery.merchant, id).await?, 200, "000.100.110");
    assert_unknown(&bakery.yen, "JPY", id).await?;
    // The registration belongs to the merchant, so any of its channels can be paid with it.
    assert_eq!(bakery.channels_reading(&pay_by_registration(&bakery.merchant, id, &[EURO]).await?).await?, ["euro"]);
    // A registration that the channel itself creates belongs to the channel.
    let own = bakery.yen.pay_by_card(&[&[("createRegistration", "true")], &YEN[..]].concat()).await?;
    let id = own.json["registrationId"].as_str().unwrap_or_default();
    for shop in [&bakery.yen, &bakery.merchant] {
        assert_result(&read_registration(shop, id).await?, 200, "000.100.110");
    }
    assert_unknown(&bakery.euro, "EUR", id).await
}

#[tokio::test]
async fn what_no_channel_takes_is_not_registered_with_the_merchant() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    assert_result(&register_card(&bakery.merchant, &MASTER).await?, 200, "000.100.110");
    assert_result(&register_card(&bakery.euro, &JCB).await?, 400, "600.200.500");
    let paypal = [("paymentBrand", "PAYPAL"), ("virtualAccount.accountId", "jane")];
    for shop in [&bakery.merchant, &bakery.yen] {
        let refused = shop.post("v1/registrations", &paypal).await?;
        assert_result(&refused, 400, "600.200.201");
        assert!(refused.json["id"].is_null(), "{}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_merchant_keeps_for_longer_and_deletes_what_its_channels_hold() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let id = create_unique_registration(&bakery.euro, "kept").await?;
    let extended = extend_registration(&bakery.merchant, &id).await?;
    assert_result(&extended, 200, "000.100.110");
    assert_eq!((&extended.json["paymentType"], extended.id()), (&json!("TE"), id.as_str()));
    let deleted = delete_registration(&bakery.merchant, &id).await?;
    assert_result(&deleted, 200, "000.100.110");
    for shop in [&bakery.merchant, &bakery.euro] {
        assert_result(&read_registration(shop, &id).await?, 400, "100.150.202");
        assert_result(&pay_by_registration(shop, &id, &[EURO]).await?, 400, "100.150.202");
        assert_result(&delete_registration(shop, &id).await?, 400, "100.150.202");
    }
    Ok(())
}

#[tokio::test]
async fn a_merchants_queries_find_payments_by_registration_of_all_its_channels() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let order = ("merchantTransactionId", "order-4711");
    let (of_merchant, of_channel) =
        (create_unique_registration(&bakery.merchant, "a").await?, create_unique_registration(&bakery.yen, "b").await?);
    let euro = pay_by_registration(&bakery.merchant, &of_merchant, &[order, EURO]).await?;
    let yen = pay_by_registration(&bakery.yen, &of_channel, &[order, ("currency", "JPY")]).await?;
    let found = async |shop: &MerchantClient, query: &str| -> anyhow::Result<Vec<String>> {
        let answer = shop.get(&format!("v1/query?{query}")).await?;
        let payments = answer.json["payments"].as_array().into_iter().flatten();
        Ok(payments.filter_map(|payment| Some(payment["registrationId"].as_str()?.to_owned())).collect())
    };
    for query in ["merchantTransactionId=order-4711", "date.from=2020-01-01&date.to=2099-12-31"] {
        assert_eq!(found(&bakery.merchant, query).await?, [of_merchant.clone(), of_channel.clone()], "{query}");
        assert_eq!(found(&bakery.euro, query).await?, [of_merchant.as_str()], "{query}");
        assert_eq!(found(&bakery.yen, query).await?, [of_channel.as_str()], "{query}");
        assert!(found(&bakery.rest, query).await?.is_empty(), "{query}");
    }
    for id in [euro.id(), yen.id()] {
        assert_eq!(bakery.merchant.get(&format!("v1/query/{id}")).await?.id(), id);
    }
    Ok(())
}

#[tokio::test]
async fn a_merchants_checkout_offers_its_own_registrations_and_those_of_its_channels() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let (of_merchant, of_channel) = (
        create_unique_registration(&bakery.merchant, "m").await?,
        create_unique_registration(&bakery.rest, "c").await?,
    );
    let list = [
        ("registrations[0].id", of_merchant.as_str()),
        ("registrations[1].id", of_channel.as_str()),
        ("currency", "GBP"),
    ];
    for (chosen, home) in [(&of_merchant, "rest"), (&of_channel, "rest")] {
        let made = bakery.merchant.create_checkout(&list).await?;
        assert_result(&made, 200, "000.200.100");
        assert_result(&pay_by_click(&bakery.merchant, made.id(), chosen).await?, 200, "000.000.100");
        let status = bakery.merchant.read_status(made.id()).await?;
        assert_result(&status, 200, "000.100.110");
        assert_eq!(status.json["registrationId"], chosen.as_str());
        assert_eq!(bakery.channels_reading(&status).await?, [home]);
    }
    // In euro, the merchant's registration is routed to another channel, and the channel's registration is refused.
    let made = bakery.merchant.create_checkout(&[list[0], list[1]]).await?;
    assert_result(&pay_by_click(&bakery.merchant, made.id(), &of_channel).await?, 400, "600.200.500");
    assert_result(&pay_by_click(&bakery.merchant, made.id(), &of_merchant).await?, 200, "000.000.100");
    assert_eq!(bakery.channels_reading(&bakery.merchant.read_status(made.id()).await?).await?, ["euro"]);
    // A channel's checkout accepts only the channel's own registrations, also when the merchant updates it.
    let made = bakery.rest.create_checkout(&[list[1], list[2]]).await?;
    assert_result(&made, 200, "000.200.100");
    let path = format!("v1/checkouts/{}", made.id());
    let refused = bakery.merchant.post(&path, &[list[0]]).await?;
    assert_eq!((refused.status, refused.result_code()), (400, "100.150.200"), "{}", refused.text);
    Ok(())
}

#[tokio::test]
async fn a_merchants_tokenisation_checkout_registers_with_the_merchant() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let opened = bakery.merchant.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    let path = format!("v1/checkouts/{}/registration", opened.id());
    assert_result(&bakery.merchant.post_as_browser(&path, &tillgate_tests::CARD).await?, 200, "000.000.100");
    let status = bakery.merchant.get(&path).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(
        bakery.channels_reading(&pay_by_registration(&bakery.merchant, status.id(), &[EURO]).await?).await?,
        ["euro"]
    );
    assert_result(&bakery.euro.get(&path).await?, 404, "200.300.404");
    assert_unknown(&bakery.euro, "EUR", status.id()).await?;
    // The merchant can also read a registration of its channel.
    let opened = bakery.euro.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    let path = format!("v1/checkouts/{}/registration", opened.id());
    bakery.euro.post_as_browser(&path, &tillgate_tests::CARD).await?;
    let status = bakery.merchant.get(&path).await?;
    assert_result(&status, 200, "000.100.110");
    assert_result(&read_registration(&bakery.merchant, status.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_a_cardholder_agreed_with_a_channel_is_charged_by_the_merchant_and_counted_once() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let agreed = [
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.type", "INSTALLMENT"),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.numberOfInstallments", "3"),
    ];
    let made = register_card(&bakery.euro, &agreed).await?;
    assert_result(&made, 200, "000.100.110");
    let charge = [
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.type", "INSTALLMENT"),
        ("standingInstruction.source", "MIT"),
        EURO,
    ];
    for shop in [&bakery.euro, &bakery.merchant, &bakery.euro] {
        let paid = pay_by_registration(shop, made.id(), &charge).await?;
        assert_result(&paid, 200, "000.100.110");
    }
    for shop in [&bakery.euro, &bakery.merchant] {
        assert_result(&pay_by_registration(shop, made.id(), &charge).await?, 400, "600.200.501");
    }
    Ok(())
}
