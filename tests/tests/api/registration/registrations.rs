//! Registrations: creation of stored credentials, payments with them, and deletion.

use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};

use crate::support::*;

pub const CHARGE: [(&str, &str); 3] = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB")];

/// Returns the fields in `defaults` whose names are not in `more`, followed by `more`.
pub fn merge_fields<'a>(defaults: &[(&'a str, &'a str)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let rest = defaults.iter().filter(|(name, _)| !more.iter().any(|(other, _)| name == other));
    rest.chain(more).copied().collect()
}

/// Registers the test card as the merchant. `more` fields are added or replace the defaults. Returns any response.
pub async fn register_card(shop: &MerchantClient, more: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.post("v1/registrations", &merge_fields(&CARD, more)).await
}

/// Pays 12.00 EUR with a registration as the merchant. `more` fields are added or replace the defaults. Returns any
/// response.
pub async fn pay_by_registration(
    shop: &MerchantClient,
    id: &str,
    more: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    shop.post(&format!("v1/registrations/{id}/payments"), &merge_fields(&CHARGE, more)).await
}

/// Deletes a registration as the merchant. Returns any response.
pub async fn delete_registration(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    let path = format!("v1/registrations/{id}?entityId={}", shop.entity_id);
    ApiResponse::read_from(shop.bare_request(Method::DELETE, &path).bearer_auth(&shop.token).send().await?).await
}

/// Reads a registration as the merchant. Returns any response.
pub async fn read_registration(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    shop.get(&format!("v1/registrations/{id}")).await
}

/// Registers the test card for the customer `shopper`, who is another one in each test, and returns its id.
pub async fn create_unique_registration(shop: &MerchantClient, shopper: &str) -> anyhow::Result<String> {
    let customer =
        [("customer.merchantCustomerId", shopper), ("customer.givenName", "Jane"), ("customer.surname", "Jones")];
    let made = register_card(shop, &customer).await?;
    assert_result(&made, 200, "000.100.110");
    Ok(made.id().to_owned())
}

/// Counts the stored accounts of registrations.
pub fn count_accounts(gateway: &TestGateway) -> anyhow::Result<u32> {
    Ok(open_database(gateway)?.query_row("SELECT count(*) FROM registration_account", [], |row| row.get(0))?)
}

#[tokio::test]
async fn a_registration_answers_with_its_id_and_what_may_be_shown_of_the_card() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = register_card(&shop, &[("customParameters[first]", "1"), ("card.holder", "Ann Other")]).await?;
    assert_result(&made, 200, "000.100.110");
    assert_envelope(&made);
    assert!(has_shape(made.id(), &format!("8a{}", "x".repeat(30))), "{}", made.text);
    assert_eq!(member_names(&made.json)[..4], ["id", "paymentType", "paymentBrand", "result"], "{}", made.text);
    assert_eq!((&made.json["paymentType"], &made.json["paymentBrand"]), (&json!("RG"), &json!("VISA")));
    let card = json!({
        "bin": "420000", "last4Digits": "0000", "holder": "Ann Other", "expiryMonth": "05", "expiryYear": "2034",
    });
    assert_eq!(made.json["card"], card);
    assert_eq!(made.json["customParameters"]["first"], "1");
    // Fourteen months after the card's last day.
    assert_eq!(made.json["retainedUntil"], "2035-08-01 00:00:00+0000");
    assert!(made.json["amount"].is_null() && made.json["currency"].is_null(), "{}", made.text);
    let again = read_registration(&shop, made.id()).await?;
    assert_eq!(comparable_response(&again), comparable_response(&made));
    Ok(())
}

#[tokio::test]
async fn a_card_that_is_none_is_not_registered_and_cannot_be_paid_with() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let made = register_card(&shop, &[("card.number", "4200000000000001")]).await?;
    assert_result(&made, 400, "100.100.101");
    assert_eq!(count_accounts(&gateway)?, 0);
    assert_result(&pay_by_registration(&shop, made.id(), &[]).await?, 400, "100.150.203");
    assert_result(&delete_registration(&shop, made.id()).await?, 400, "100.150.203");
    Ok(())
}

#[tokio::test]
async fn a_registration_names_what_is_missing_and_asks_for_no_amount() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_errors(&shop.post("v1/registrations", &[]).await?, &["paymentBrand"]);
    assert_errors(&register_card(&shop, &[("card.expiryYear", "")]).await?, &["card.expiryYear"]);
    assert_errors(
        &register_card(&shop, &[("customer.email", "a@b.de")]).await?,
        &["customer.givenName", "customer.surname"],
    );
    Ok(())
}

#[tokio::test]
async fn a_payment_by_registration_uses_the_stored_card_and_names_the_registration() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = create_unique_registration(&shop, "payer").await?;
    let paid = pay_by_registration(&shop, &id, &[("merchantTransactionId", "by-token")]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["registrationId"], id.as_str());
    assert_eq!(paid.json["paymentBrand"], "VISA");
    assert_eq!(paid.json["amount"], "12.00");
    assert_eq!(paid.json["card"]["last4Digits"], "0000");
    assert_eq!(paid.json["merchantTransactionId"], "by-token");
    let again = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(comparable_response(&again), comparable_response(&paid));
    // The stored brand takes precedence over the sent one.
    let paid = pay_by_registration(&shop, &id, &[("paymentBrand", "MASTER")]).await?;
    assert_eq!(paid.json["paymentBrand"], "VISA", "{}", paid.text);
    // An account parameter beside the stored account is refused by name.
    let other = pay_by_registration(&shop, &id, &[("card.number", "5454545454545454")]).await?;
    assert_errors(&other, &["card.number"]);
    assert_errors(&pay_by_registration(&shop, &id, &[("amount", "")]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn an_empty_holder_may_be_overridden_for_one_payment_and_a_stored_one_may_not() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let shopper = [
        ("customer.merchantCustomerId", "no-holder"),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("card.holder", ""),
    ];
    let anonymous = register_card(&shop, &shopper).await?;
    let sent = ("card.holder", "Ann Other");
    let paid = pay_by_registration(&shop, anonymous.id(), &[sent, ("overrideHolder", "true")]).await?;
    assert_eq!(paid.json["card"]["holder"], "Ann Other", "{}", paid.text);
    for more in [&[sent][..], &[sent, ("overrideHolder", "false")], &[("overrideHolder", "true")]] {
        let paid = pay_by_registration(&shop, anonymous.id(), more).await?;
        assert_result(&paid, 200, "000.100.110");
        assert!(paid.json["card"]["holder"].is_null(), "{}", paid.text);
    }
    assert!(read_registration(&shop, anonymous.id()).await?.json["card"]["holder"].is_null());
    let named = create_unique_registration(&shop, "named").await?;
    let paid = pay_by_registration(&shop, &named, &[sent, ("overrideHolder", "true")]).await?;
    assert_eq!(paid.json["card"]["holder"], "Jane Jones", "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn a_payment_that_registers_answers_with_the_registration_and_a_declined_one_does_not() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let registering = ("createRegistration", "true");
    let declined = shop.pay_by_card(&[registering, ("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert!(declined.json["registrationId"].is_null(), "{}", declined.text);
    assert_eq!(count_accounts(&gateway)?, 0);
    let paid = shop.pay_by_card(&[registering]).await?;
    assert_result(&paid, 200, "000.100.110");
    let id = paid.json["registrationId"].as_str().unwrap_or_default().to_owned();
    assert!(has_shape(&id, &format!("8a{}", "x".repeat(30))) && id != paid.id(), "{}", paid.text);
    // The number is stored in one place only.
    let window: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM card", [], |row| row.get(0))?;
    assert_eq!((count_accounts(&gateway)?, window), (1, 0));
    assert_result(&pay_by_registration(&shop, &id, &[]).await?, 200, "000.100.110");
    assert_eq!(read_registration(&shop, &id).await?.json["card"], paid.json["card"]);
    for more in [("createRegistration", "false"), ("createRegistration", "")] {
        assert!(shop.pay_by_card(&[more]).await?.json["registrationId"].is_null());
    }
    Ok(())
}

/// Numbers with the same first six and last four digits. All pass Luhn's check.
pub const LOOK_ALIKE: [&str; 3] = ["4200000000000000", "4200000000180000", "4200000000260000"];

#[tokio::test]
async fn a_deleted_registration_is_gone_for_every_use_and_its_row_too() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let id = create_unique_registration(&shop, "leaver").await?;
    let deleted = delete_registration(&shop, &id).await?;
    assert_result(&deleted, 200, "000.100.110");
    assert_eq!((&deleted.json["paymentType"], &deleted.json["id"]), (&json!("DR"), &json!(id)));
    assert!(deleted.json["card"].is_null() && deleted.json["customer"].is_null(), "{}", deleted.text);
    assert_eq!(count_accounts(&gateway)?, 0);
    let document: Vec<u8> =
        open_database(&gateway)?.query_row("SELECT document FROM registration", [], |row| row.get(0))?;
    let document = String::from_utf8(document)?;
    assert!(!document.contains("Jones") && !document.contains("0000\""), "{document}");
    for answer in [
        read_registration(&shop, &id).await?,
        delete_registration(&shop, &id).await?,
        pay_by_registration(&shop, &id, &[]).await?,
        shop.post(&format!("v1/registrations/{id}/extendlife"), &[]).await?,
    ] {
        assert_result(&answer, 400, "100.150.202");
    }
    let offered = shop.create_checkout(&[("registrations[0].id", &id)]).await?;
    assert_eq!((offered.status, offered.result_code()), (400, "100.150.202"), "{}", offered.text);
    Ok(())
}

#[tokio::test]
async fn a_registration_of_another_merchant_is_as_unknown_as_one_that_never_was() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let id = create_unique_registration(&shop, "mine").await?;
    for id in [id.as_str(), &format!("8a{}", "0".repeat(30)), "x", "%00"] {
        for answer in [
            read_registration(&stranger, id).await?,
            delete_registration(&stranger, id).await?,
            pay_by_registration(&stranger, id, &[]).await?,
            stranger.post(&format!("v1/registrations/{id}/extendlife"), &[]).await?,
        ] {
            assert_result(&answer, 404, "200.300.404");
            assert!(!answer.text.contains("420000"), "{}", answer.text);
        }
    }
    let offered = stranger.create_checkout(&[("registrations[0].id", &id)]).await?;
    assert_eq!((offered.status, offered.result_code()), (400, "100.150.200"), "{}", offered.text);
    assert_eq!(parameter_error(&offered, "registrations[0].id")["value"], id.as_str());
    assert_result(&read_registration(&shop, &id).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn every_type_that_begins_a_payment_goes_with_a_registration_and_none_that_follows_one() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = create_unique_registration(&shop, "every-type").await?;
    let follow = async |payment: &str, kind: &str| {
        let money = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", kind)];
        shop.post(&format!("v1/payments/{payment}"), if kind == "RV" { &money[2..] } else { &money }).await
    };
    for (kind, then) in [("PA", "CP"), ("DB", "RF"), ("CD", "RV"), ("PA.CP", "RF")] {
        let paid = pay_by_registration(&shop, &id, &[("paymentType", kind)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!((&paid.json["paymentType"], &paid.json["registrationId"]), (&kind.into(), &id.as_str().into()));
        assert_result(&follow(paid.id(), then).await?, 200, "000.100.110");
    }
    for kind in ["CP", "RV", "RF", "CB"] {
        let refused = pay_by_registration(&shop, &id, &[("paymentType", kind)]).await?;
        assert_eq!(refused.status, 400, "{kind}: {}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_idempotency_key_replays_a_registration_and_a_payment_by_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let named = async |path: &str, fields: &[(&str, &str)], key: &str| -> anyhow::Result<ApiResponse> {
        let entity = [("entityId", shop.entity_id.as_str())];
        let body = tillgate_tests::encode_form(entity.iter().chain(fields).copied());
        let request = shop.bare_request(Method::POST, path).bearer_auth(&shop.token).header("idempotency-key", key);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        ApiResponse::read_from(request.send().await?).await
    };
    let card = merge_fields(&CARD, &[("card.holder", "Key Holder")]);
    let made = named("v1/registrations", &card, "registration-1").await?;
    assert_result(&made, 200, "000.100.110");
    assert_eq!(named("v1/registrations", &card, "registration-1").await?.text, made.text);
    let path = format!("v1/registrations/{}/payments", made.id());
    let paid = named(&path, &CHARGE, "charge-1").await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(named(&path, &CHARGE, "charge-1").await?.text, paid.text);
    assert_ne!(named(&path, &CHARGE, "charge-2").await?.id(), paid.id());
    Ok(())
}

#[tokio::test]
async fn a_live_entity_without_an_acquirer_registers_nothing() -> anyhow::Result<()> {
    let made = register_card(&live_shop(), &[]).await?;
    assert_result(&made, 400, "600.200.201");
    let json: &Value = &made.json;
    assert_eq!(json["card"]["last4Digits"], "0000", "{}", made.text);
    Ok(())
}
