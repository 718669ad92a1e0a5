//! Registrations in checkouts: created with a payment or without one, and paid with by one click.

use serde_json::{Value, json};
use tillgate_tests::{CARD, TestGateway};

use crate::registration::registrations::{
    count_accounts, create_unique_registration, delete_registration, merge_fields, pay_by_registration,
    read_registration, register_card,
};
use crate::support::*;

#[tokio::test]
async fn a_tokenisation_checkout_stores_the_card_and_charges_nobody() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let opened = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    assert_result(&opened, 200, "000.200.100");
    let path = format!("v1/checkouts/{}/registration", opened.id());
    assert_result(&shop.get(&path).await?, 200, "000.200.000");
    // A submit of a payment is refused here.
    assert_result(&shop.submit_card(opened.id(), &[]).await?, 404, "200.300.404");

    let rejected = shop.post_as_browser(&path, &merge_fields(&CARD, &[("card.expiryYear", "2001")])).await?;
    assert_result(&rejected, 200, "000.000.100");
    assert_result(&shop.get(&path).await?, 400, "100.100.303");
    // After a rejected card, the checkout accepts another.
    let submitted = shop.post_as_browser(&path, &CARD).await?;
    assert_result(&submitted, 200, "000.000.100");
    assert_eq!(submitted.json["resourcePath"], format!("/{path}"));
    let status = shop.get(&path).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!((&status.json["paymentType"], &status.json["ndc"]), (&json!("RG"), &json!(opened.id())));
    assert_eq!(status.json["card"]["last4Digits"], "0000");
    assert!(stored_payments(&gateway, opened.id())?.is_empty());
    assert_result(&pay_by_registration(&shop, status.id(), &[]).await?, 200, "000.100.110");
    // A repeated submit stores nothing.
    assert_result(
        &shop.post_as_browser(&path, &merge_fields(&CARD, &[("card.holder", "Ann")])).await?,
        200,
        "000.000.100",
    );
    assert_eq!(comparable_response(&shop.get(&path).await?), comparable_response(&status));
    assert_eq!(count_accounts(&gateway)?, 1);
    // Another merchant, and a checkout that is for a payment.
    assert_result(&gateway.create_merchant()?.get(&path).await?, 404, "200.300.404");
    let payment = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/registration", payment.id());
    assert_result(&shop.get(&path).await?, 404, "200.300.404");
    assert_result(&shop.post_as_browser(&path, &CARD).await?, 404, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_ticks_the_box_is_registered_with_the_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("registrationsCreatable", "true")]).await?;
    shop.submit_card(made.id(), &[("createRegistration", "on"), ("card.holder", "Box Ticker")]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    let id = status.json["registrationId"].as_str().unwrap_or_default();
    assert_eq!(read_registration(&shop, id).await?.json["card"]["holder"], "Box Ticker");
    // The merchant's refusal takes precedence over the shopper's check box.
    let made = shop.create_checkout(&[("registrationsCreatable", "true"), ("createRegistration", "false")]).await?;
    shop.submit_card(made.id(), &[("createRegistration", "on")]).await?;
    assert!(shop.read_status(made.id()).await?.json["registrationId"].is_null());
    Ok(())
}

#[tokio::test]
async fn one_click_pays_with_a_registration_of_the_checkout_and_with_no_other() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (offered, kept_back) =
        (create_unique_registration(&shop, "one-click").await?, create_unique_registration(&shop, "kept-back").await?);
    let click = [
        ("registrations[0].id", offered.as_str()),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.type", "UNSCHEDULED"),
    ];
    let made = shop.create_checkout(&click).await?;
    assert_result(&made, 200, "000.200.100");
    let path = format!("v1/checkouts/{}/payment", made.id());
    for id in [kept_back.as_str(), &format!("8a{}", "0".repeat(30))] {
        let refused = shop.post_as_browser(&path, &[("registrationId", id)]).await?;
        assert_eq!((refused.status, refused.result_code()), (400, "100.150.200"), "{}", refused.text);
    }
    let both = [("registrationId", offered.as_str()), ("card.cvv", "123")];
    assert_result(&shop.post_as_browser(&path, &both).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["registrationId"], offered.as_str());
    assert_eq!(status.json["card"]["holder"], "Jane Jones");
    assert_eq!(status.json["amount"], "92.00");
    Ok(())
}

#[tokio::test]
async fn in_a_checkout_an_empty_holder_may_be_overridden_when_the_checkout_or_its_update_says_so() -> anyhow::Result<()>
{
    let shop = sandbox_shop();
    let anonymous = register_card(&shop, &[("card.holder", "")]).await?;
    let overrides = ("overrideHolder", "true");
    for (created, updated, holder) in [
        (&[overrides][..], &[][..], Value::from("Ann Other")),
        (&[], &[overrides], "Ann Other".into()),
        (&[], &[("merchantTransactionId", "order-4711")], Value::Null),
    ] {
        let offered = [("registrations[0].id", anonymous.id())];
        let made = shop.create_checkout(&[&offered[..], created].concat()).await?;
        if !updated.is_empty() {
            assert_result(&shop.post(&format!("v1/checkouts/{}", made.id()), updated).await?, 200, "000.200.101");
        }
        let path = format!("v1/checkouts/{}/payment", made.id());
        let clicked = [("registrationId", anonymous.id()), ("card.cvv", "123"), ("card.holder", "Ann Other")];
        assert_result(&shop.post_as_browser(&path, &clicked).await?, 200, "000.000.100");
        assert_eq!(shop.read_status(made.id()).await?.json["card"]["holder"], holder);
    }
    assert!(read_registration(&shop, anonymous.id()).await?.json["card"]["holder"].is_null());
    Ok(())
}

#[tokio::test]
async fn a_registration_deleted_while_its_checkout_is_open_cannot_be_paid_with() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = create_unique_registration(&shop, "vanishing").await?;
    let made = shop.create_checkout(&[("registrations[0].id", &id)]).await?;
    assert_result(&delete_registration(&shop, &id).await?, 200, "000.100.110");
    let path = format!("v1/checkouts/{}/payment", made.id());
    let refused = shop.post_as_browser(&path, &[("registrationId", &id)]).await?;
    assert_eq!((refused.status, refused.result_code()), (400, "100.150.202"), "{}", refused.text);
    assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    Ok(())
}
