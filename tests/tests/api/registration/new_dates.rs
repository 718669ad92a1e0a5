//! The new date of a stored card: a payment by registration may bring it, and an approved payment stores it.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::delivery::webhooks::WebhookScene;
use crate::registration::registrations::{pay_by_registration, read_registration, register_card};
use crate::support::*;

const DATE: [(&str, &str); 2] = [("card.expiryMonth", "09"), ("card.expiryYear", "2036")];
const CHARGE_BY_CARD: [(&str, &str); 4] =
    [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "VISA")];

/// Returns month and year of the card in a payment or registration.
fn card_date(json: &Value) -> (Value, Value) {
    (json["card"]["expiryMonth"].clone(), json["card"]["expiryYear"].clone())
}

fn date(month: &str, year: &str) -> (Value, Value) {
    (json!(month), json!(year))
}

/// Registers a card that expires this month, and lets the sandbox's clock pass it. Returns its id.
async fn register_expired_card(shop: &MerchantClient) -> anyhow::Result<String> {
    let now = jiff::Zoned::now();
    let (month, year) = (format!("{:02}", now.month()), now.year().to_string());
    let made = register_card(shop, &[("card.expiryMonth", &month), ("card.expiryYear", &year)]).await?;
    assert_result(&made, 200, "000.100.110");
    shop.advance_clock("960h").await?;
    Ok(made.id().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_payment_stores_the_date_that_it_has_brought() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&["--types", "registration"]).await?;
    let shop = &scene.shop;
    let id = register_expired_card(shop).await?;
    scene.expect_event("REGISTRATION CREATED").await?;
    assert_result(&pay_by_registration(shop, &id, &[]).await?, 400, "100.100.303");
    let paid = pay_by_registration(shop, &id, &DATE).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(card_date(&paid.json), date("09", "2036"));
    let stored = read_registration(shop, &id).await?;
    assert_eq!((card_date(&stored.json), &stored.json["card"]["last4Digits"]), (date("09", "2036"), &json!("0000")));
    assert_eq!(stored.json["retainedUntil"], "2037-12-01 00:00:00+0000", "as if it had been stored with this date");
    assert_eq!(card_date(&scene.expect_event("REGISTRATION UPDATED").await?), date("09", "2036"));
    // The next payment needs no date, and the same date changes nothing.
    assert_eq!(card_date(&pay_by_registration(shop, &id, &[]).await?.json), date("09", "2036"));
    assert_result(&pay_by_registration(shop, &id, &DATE).await?, 200, "000.100.110");
    assert_eq!(comparable_response(&read_registration(shop, &id).await?), comparable_response(&stored));
    // The account that was sealed again is under the seal of the store.
    scene.gateway.run_command(&["verify"])?;
    Ok(())
}

#[tokio::test]
async fn a_declined_payment_leaves_the_stored_date_as_it_is() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[]).await?;
    // The simulator takes the code, and the acquirer's host the amount.
    let declined = [("customParameters[forceResultCode]", "800.100.155"), ("amount", "1000.51")];
    for (mode, declined) in ["INTERNAL", "EXTERNAL"].into_iter().zip(declined) {
        let declined =
            pay_by_registration(&shop, made.id(), &[&DATE[..], &[declined, ("testMode", mode)]].concat()).await?;
        assert_result(&declined, 400, "800.100.155");
        assert_eq!(card_date(&declined.json), date("09", "2036"), "{}", declined.text);
        assert_eq!(card_date(&read_registration(&shop, made.id()).await?.json), date("05", "2034"), "{mode}");
    }
    Ok(())
}

#[tokio::test]
async fn a_date_is_stored_when_an_external_connector_has_approved_the_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[("card.holder", "")]).await?;
    let own = [("testMode", "EXTERNAL"), ("overrideHolder", "true"), ("card.holder", "Ann Other")];
    let paid = pay_by_registration(&shop, made.id(), &[&DATE[..], &own].concat()).await?;
    assert_result(&paid, 200, "000.100.112");
    assert_eq!(paid.json["card"]["holder"], "Ann Other");
    let again = pay_by_registration(&shop, made.id(), &[]).await?;
    assert_eq!(card_date(&again.json), date("09", "2036"));
    assert!(again.json["card"]["holder"].is_null(), "the holder was that of one payment: {}", again.text);
    Ok(())
}

#[tokio::test]
async fn a_standing_instruction_may_begin_with_the_new_date() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[]).await?;
    let instruction = |mode, source| {
        let of = |name, value| (name, value);
        [
            of("standingInstruction.mode", mode),
            of("standingInstruction.source", source),
            of("standingInstruction.type", "UNSCHEDULED"),
        ]
    };
    let first = [&DATE[..], &instruction("INITIAL", "CIT"), &[("card.cvv", "123")]].concat();
    let paid = pay_by_registration(&shop, made.id(), &first).await?;
    assert_result(&paid, 200, "000.100.110");
    let repeated = pay_by_registration(&shop, made.id(), &instruction("REPEATED", "MIT")).await?;
    assert_result(&repeated, 200, "000.100.110");
    assert_eq!(card_date(&repeated.json), date("09", "2036"));
    // A merchant learns the date from the issuer's updates as well, while the shopper is absent.
    let updated = [&instruction("REPEATED", "MIT")[..], &[DATE[0], ("card.expiryYear", "2038")]].concat();
    assert_result(&pay_by_registration(&shop, made.id(), &updated).await?, 200, "000.100.110");
    assert_eq!(card_date(&read_registration(&shop, made.id()).await?.json), date("09", "2038"));
    Ok(())
}

#[tokio::test]
async fn a_date_that_cannot_be_is_refused_by_name() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[]).await?;
    let (month, year) = ("card.expiryMonth", "card.expiryYear");
    for (sent, names) in [
        (&[(month, "13"), (year, "2036")][..], &[month][..]),
        (&[(month, "01"), (year, "2020")], &[month]),
        (&[(month, "09")], &[year]),
        (&[(year, "2036")], &[month]),
        (&[(month, "09"), (year, "2036"), ("card.number", "4200000000000000")], &["card.number"]),
    ] {
        assert_errors(&pay_by_registration(&shop, made.id(), sent).await?, names);
    }
    // Without a registration, a date belongs to a number.
    let alone = [&CHARGE_BY_CARD[..], &DATE].concat();
    assert_errors(&shop.post("v1/payments", &alone).await?, &["card.number"]);
    assert_eq!(card_date(&read_registration(&shop, made.id()).await?.json), date("05", "2034"));
    Ok(())
}

#[tokio::test]
async fn only_the_owner_of_a_stored_card_brings_its_date_and_no_other_account_has_one() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[]).await?;
    let stranger = TestGateway::shared().create_merchant()?;
    assert_eq!(pay_by_registration(&stranger, made.id(), &DATE).await?.status, 404);
    let checkout = stranger.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/payment", checkout.id());
    let refused = stranger.post_as_browser(&path, &[&DATE[..], &[("registrationId", made.id())]].concat()).await?;
    assert_result(&refused, 400, "100.150.200");
    assert_eq!(card_date(&read_registration(&shop, made.id()).await?.json), date("05", "2034"));
    let account = [
        ("paymentBrand", "SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
        ("bankAccount.bic", "MARKDEF1100"),
    ];
    let debit = shop.post("v1/registrations", &account).await?;
    let refused = pay_by_registration(&shop, debit.id(), &DATE).await?;
    assert_errors(&refused, &["card.expiryMonth", "card.expiryYear"]);
    Ok(())
}

#[tokio::test]
async fn a_browser_does_not_change_the_date_of_a_card_that_is_valid() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let stored = register_card(&shop, &[]).await?;
    let made = shop.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let sent = [&DATE[..], &[("registrationId", stored.id())]].concat();
    assert_result(&shop.post_as_browser(&path, &sent).await?, 200, "000.000.100");
    assert_eq!(card_date(&shop.read_status(made.id()).await?.json), date("05", "2034"));
    assert_eq!(card_date(&read_registration(&shop, stored.id()).await?.json), date("05", "2034"));
    Ok(())
}

#[tokio::test]
async fn a_credit_shows_nothing_about_a_date_and_stores_none() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[]).await?;
    let paid = pay_by_registration(&shop, made.id(), &[&DATE[..], &[("paymentType", "CD")]].concat()).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(card_date(&read_registration(&shop, made.id()).await?.json), date("05", "2034"));
    Ok(())
}

#[tokio::test]
async fn a_shopper_brings_the_new_date_of_a_card_that_the_checkout_offers() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let id = register_expired_card(&shop).await?;
    let made = shop.create_checkout(&[("registrations[0].id", &id)]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let chosen = [("registrationId", id.as_str())];
    let past = [&chosen[..], &[("card.expiryMonth", "01"), ("card.expiryYear", "2024")]].concat();
    assert_errors(&shop.post_as_browser(&path, &past).await?, &["card.expiryMonth"]);
    assert_result(&shop.post_as_browser(&path, &[&chosen[..], &DATE].concat()).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!((card_date(&status.json), &status.json["registrationId"]), (date("09", "2036"), &json!(id)));
    assert_eq!(card_date(&read_registration(&shop, &id).await?.json), date("09", "2036"));
    Ok(())
}
