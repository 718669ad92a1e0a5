//! Registrations: creation of stored credentials, payments with them, retention, and deletion.

use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, poll_until};

use crate::support::*;

const CHARGE: [(&str, &str); 3] = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB")];

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

/// Returns status and body of a response without `ndc`, time, ids and `descriptor`, which contains the short id.
fn without_ids(answer: &ApiResponse) -> (u16, String) {
    let (status, mut body) = comparable_response(answer);
    body.remove("id");
    body.remove("registrationId");
    body.remove("descriptor");
    (status, Value::from(body).to_string())
}

/// Numbers with the same first six and last four digits. All pass Luhn's check.
pub const LOOK_ALIKE: [&str; 3] = ["4200000000000000", "4200000000180000", "4200000000260000"];

#[tokio::test]
async fn every_registration_has_an_id_of_its_own_whatever_is_stored_already() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let shopper = [("customer.merchantCustomerId", "1"), ("customer.givenName", "Jane"), ("customer.surname", "J")];
    let at_once: Vec<_> = (0..20)
        .map(|_| {
            let shop = shop.clone();
            tokio::spawn(async move { register_card(&shop, &shopper).await })
        })
        .collect();
    let mut ids = std::collections::HashSet::new();
    for made in at_once {
        let made = made.await??;
        assert_result(&made, 200, "000.100.110");
        assert!(ids.insert(made.id().to_owned()), "{}", made.text);
    }
    // Created by a payment, and by a checkout that only stores.
    let paid = shop.pay_by_card(&merge_fields(&shopper, &[("createRegistration", "true")])).await?;
    assert!(ids.insert(paid.json["registrationId"].as_str().unwrap_or_default().to_owned()), "{}", paid.text);
    let checkout = shop.create_checkout(&merge_fields(&shopper, &[("createRegistration", "true")])).await?;
    assert_result(&shop.submit_card(checkout.id(), &[]).await?, 200, "000.000.100");
    let paid = shop.read_status(checkout.id()).await?;
    assert!(ids.insert(paid.json["registrationId"].as_str().unwrap_or_default().to_owned()), "{}", paid.text);
    let stores = shop.post("v1/checkouts", &merge_fields(&shopper, &[("createRegistration", "true")])).await?;
    let path = format!("v1/checkouts/{}/registration", stores.id());
    assert_result(&shop.post_as_browser(&path, &CARD).await?, 200, "000.000.100");
    let stored = shop.get(&path).await?;
    assert!(ids.insert(stored.id().to_owned()), "{}", stored.text);
    assert_eq!(count_accounts(&gateway)?, 23);
    Ok(())
}

#[tokio::test]
async fn no_answer_tells_a_stored_number_from_one_that_looks_like_it() -> anyhow::Result<()> {
    const MIT: [(&str, &str); 2] = [("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")];
    const INITIAL_ID: &str = "standingInstruction.initialTransactionId";
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--sandbox-any-number"])?;
    let first = [("createRegistration", "true"), ("standingInstruction.mode", "INITIAL")];
    let paid = shop.pay_by_card(&first).await?;
    assert_result(&paid, 200, "000.100.110");
    let initial = paid.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default();
    let token = paid.json["registrationId"].as_str().unwrap_or_default();
    let code = ("card.cvv", "");
    let migration = [
        code,
        ("recurringMigration.paymentType", "DB"),
        ("recurringMigration.amount", "9.90"),
        ("recurringMigration.requestTimestamp", "2025-01-31T12:00:00"),
        (INITIAL_ID, initial),
    ];
    let mut answers: Vec<Vec<(u16, String)>> = Vec::new();
    for number in LOOK_ALIKE {
        let number = ("card.number", number);
        let named =
            shop.bare_request(Method::POST, "v1/registrations").bearer_auth(&shop.token).header("idempotency-key", "k");
        let body = tillgate_tests::encode_form(merge_fields(&CARD, &[number, ("entityId", &shop.entity_id)]));
        let named = named.header("content-type", "application/x-www-form-urlencoded").body(body);
        let answered = [
            register_card(&shop, &[number]).await?,
            register_card(&shop, &merge_fields(&migration, &[number])).await?,
            shop.pay_by_card(&[number]).await?,
            shop.pay_by_card(&[number, ("createRegistration", "true")]).await?,
            shop.pay_by_card(&merge_fields(&MIT, &[number, code, (INITIAL_ID, initial)])).await?,
            pay_by_registration(&shop, token, &[number]).await?,
            pay_by_registration(&shop, token, &merge_fields(&MIT, &[number])).await?,
            shop.post(
                "v1/payments",
                &merge_fields(&CARD, &merge_fields(&CHARGE, &[number, ("registrationId", token)])),
            )
            .await?,
            ApiResponse::read_from(named.send().await?).await?,
        ];
        answers.push(answered.iter().map(without_ids).collect());
    }
    for other in &answers[1..] {
        for (one, other) in answers[0].iter().zip(other) {
            assert_eq!(one, other);
        }
    }
    // The visible parts of the card are compared.
    let other = [("card.number", "4242424242424242"), code, (INITIAL_ID, initial)];
    assert_result(&shop.pay_by_card(&merge_fields(&MIT, &other)).await?, 400, "700.100.710");
    Ok(())
}

#[tokio::test]
async fn nothing_stored_beside_the_data_that_is_shown_tells_that_two_accounts_are_one() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for _ in 0..2 {
        assert_result(&register_card(&shop, &[]).await?, 200, "000.100.110");
    }
    let database = open_database(&gateway)?;
    let mut columns = database.prepare("SELECT name FROM pragma_table_info('registration_account')")?;
    let columns: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    assert!(columns.iter().any(|column| column == "sealed"), "{columns:?}");
    for column in columns.iter().filter(|column| !["entity", "purge_at"].contains(&column.as_str())) {
        let query = format!("SELECT count(DISTINCT {column}) FROM registration_account");
        assert_eq!(database.query_row(&query, [], |row| row.get::<_, u32>(0))?, 2, "{column}");
    }
    Ok(())
}

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
    let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
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
        for file in std::fs::read_dir(gateway.data_folder())? {
            let content = std::fs::read(file?.path())?;
            left |= content.windows(sealed.len()).any(|window| window == sealed);
        }
        Ok((!left).then_some(()))
    })
    .await
}

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
