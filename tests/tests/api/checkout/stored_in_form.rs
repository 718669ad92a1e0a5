//! Stored accounts in the form: the configuration in its hidden frame, and their deletion by the shopper.

use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::support::*;

const CARD: [(&str, &str); 5] = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000091"),
    ("card.holder", "Rita Relay"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
];

/// Registers an account as the merchant, and returns its id.
async fn store_account(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<String> {
    let stored = shop.post("v1/registrations", fields).await?;
    assert_result(&stored, 200, "000.100.110");
    Ok(stored.id().to_owned())
}

/// Returns the configuration in the document of the hidden frame. Fails if it has none.
async fn read_configuration(shop: &MerchantClient, checkout: &str, brands: &str) -> anyhow::Result<Value> {
    let path = format!("v1/internalRequestIframe.html?checkoutId={checkout}&brands={brands}");
    let document = shop.bare_request(Method::GET, &path).send().await?.text().await?;
    let config = document.split_once(r#"id="tillgate-config">"#).map_or("", |(_, rest)| rest);
    Ok(serde_json::from_str(config.split_once("</script>").map_or("", |(config, _)| config))?)
}

/// Deletes a registration as the shopper's browser does. Returns any response.
async fn delete_registration(shop: &MerchantClient, checkout: &str, registration: &str) -> anyhow::Result<ApiResponse> {
    let path = format!("v1/checkouts/{checkout}/registrations/{registration}");
    ApiResponse::read_from(shop.bare_request(Method::DELETE, &path).send().await?).await
}

#[tokio::test]
async fn the_form_is_told_what_a_shopper_knows_an_account_by_and_nothing_more() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let card =
        store_account(&shop, &[&CARD[..], &[("customer.givenName", "Rita"), ("customer.surname", "Relay")]].concat())
            .await?;
    let account = [("paymentBrand", "AFTERPAY"), ("virtualAccount.accountId", "rita@shop.example")];
    let account = store_account(&shop, &account).await?;
    let bank = [
        ("paymentBrand", "SEPA"),
        ("bankAccount.holder", "Rita Relay"),
        ("bankAccount.iban", "AT611904300234573201"),
        ("bankAccount.bic", "OPSKATWW"),
    ];
    let bank = store_account(&shop, &bank).await?;
    let fields = [
        ("registrations[0].id", card.as_str()),
        ("registrations[1].id", &account),
        ("registrations[2].id", &bank),
        ("overrideHolder", "true"),
    ];
    let made = shop.create_checkout(&fields).await?;
    let config = read_configuration(&shop, made.id(), "IDEAL+SEPA").await?;
    assert_eq!(
        config["registrations"],
        json!([
            { "id": card, "brand": "VISA", "name": "Visa", "kind": "card", "flow": "now", "last4": "0091",
              "holder": "Rita Relay", "expiry": "05/34" },
            { "id": account, "brand": "AFTERPAY", "name": "Afterpay", "kind": "virtual", "flow": "now",
              "email": "rita@shop.example", "holder": null },
            { "id": bank, "brand": "SEPA", "name": "SEPA", "kind": "bank", "flow": "now", "last4": "3201",
              "holder": "Rita Relay" },
        ])
    );
    assert_eq!((&config["overrideHolder"], &config["deletable"]), (&json!(true), &json!(false)));
    assert_eq!(
        config["brands"]["IDEAL"],
        json!({ "kind": "bank", "name": "iDEAL", "flow": "redirect", "form": "onlineTransfer", "fields": [] })
    );
    assert_eq!(
        config["brands"]["SEPA"]["fields"],
        json!(["accountHolder", "accountNumber", "accountBank?", "country?"])
    );
    let plain = shop.create_checkout(&[]).await?;
    assert_eq!(read_configuration(&shop, plain.id(), "IDEAL").await?["registrations"], json!([]));
    Ok(())
}

#[tokio::test]
async fn the_shopper_deletes_what_the_checkout_offers_where_the_merchant_allows_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let [one, two] = [
        store_account(
            &shop,
            &[&CARD[1..], &[("paymentBrand", "VISA"), ("customer.givenName", "Dora"), ("customer.surname", "Delete")]]
                .concat(),
        )
        .await?,
        store_account(
            &shop,
            &[&CARD[1..], &[("paymentBrand", "VISA"), ("customer.givenName", "Dora"), ("customer.surname", "Stay")]]
                .concat(),
        )
        .await?,
    ];
    let strict = shop.create_checkout(&[("registrations[0].id", &one)]).await?;
    let refused = delete_registration(&shop, strict.id(), &one).await?;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert_errors(&refused, &["registrationsDeletable"]);

    let open = shop.create_checkout(&[("registrations[0].id", &one), ("registrationsDeletable", "true")]).await?;
    assert_eq!(read_configuration(&shop, open.id(), "VISA").await?["deletable"], true);
    for (checkout, registration) in [(open.id(), two.as_str()), (open.id(), "nothing"), ("nothing", one.as_str())] {
        assert_eq!(delete_registration(&shop, checkout, registration).await?.status, 404, "{checkout} {registration}");
    }
    assert_result(&delete_registration(&shop, open.id(), &one).await?, 200, "000.000.100");
    assert_eq!(shop.get(&format!("v1/registrations/{one}")).await?.result_code(), "100.150.202");
    assert_eq!(
        read_configuration(&shop, open.id(), "VISA").await?["registrations"],
        json!([]),
        "what is gone is offered no more"
    );
    assert_eq!(delete_registration(&shop, open.id(), &one).await?.result_code(), "100.150.202", "once");
    assert_result(&shop.get(&format!("v1/registrations/{two}")).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_browser_cannot_allow_it_and_a_paid_checkout_deletes_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let card =
        store_account(&shop, &[&CARD[..], &[("customer.givenName", "Pia"), ("customer.surname", "Paid")]].concat())
            .await?;
    let made = shop.create_checkout(&[("registrations[0].id", &card), ("registrationsDeletable", "true")]).await?;
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    assert_eq!(delete_registration(&shop, made.id(), &card).await?.status, 400);
    let made = shop.create_checkout(&[("registrations[0].id", &card)]).await?;
    shop.submit_card(made.id(), &[("registrationsDeletable", "true"), ("card.number", "4200000000000001")]).await?;
    assert_eq!(read_configuration(&shop, made.id(), "VISA").await?["deletable"], false);
    assert_eq!(delete_registration(&shop, made.id(), &card).await?.status, 400);
    Ok(())
}
