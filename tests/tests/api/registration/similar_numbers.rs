//! Registrations of equal and of similar card numbers, which no response and no stored data can tell apart.

use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, TestGateway};

use crate::registration::registrations::{
    CHARGE, LOOK_ALIKE, count_accounts, merge_fields, pay_by_registration, register_card,
};
use crate::support::*;

/// Returns status and body of a response without `ndc`, time, ids and `descriptor`, which contains the short id.
fn without_ids(answer: &ApiResponse) -> (u16, String) {
    let (status, mut body) = comparable_response(answer);
    body.remove("id");
    body.remove("registrationId");
    body.remove("descriptor");
    (status, Value::from(body).to_string())
}

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
