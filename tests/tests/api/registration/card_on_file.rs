//! Stored credentials: the terms that a cardholder agreed to are enforced for merchant-initiated payments.

use tillgate_tests::{ApiResponse, CARD, Database, MerchantClient, TestGateway};

use crate::support::*;

const CHARGE: [(&str, &str); 3] = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB")];
const INITIAL: [(&str, &str); 2] = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")];
const REPEATED: [(&str, &str); 3] =
    [("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT"), ("card.cvv", "")];
const ID: &str = "standingInstruction.initialTransactionId";
const KIND: &str = "standingInstruction.type";
const EXPIRY: &str = "standingInstruction.expiry";
const FREQUENCY: &str = "standingInstruction.frequency";
const INSTALLMENTS: &str = "standingInstruction.numberOfInstallments";

/// Makes an initial cardholder-initiated payment with these terms, and asserts its approval. Returns the id of the
/// standing instruction.
async fn pay_initial(shop: &MerchantClient, terms: &[(&str, &str)]) -> anyhow::Result<String> {
    let paid = shop.pay_by_card(&[&INITIAL, terms].concat()).await?;
    assert_result(&paid, 200, "000.100.110");
    Ok(initial_transaction_id(&paid).to_owned())
}

fn initial_transaction_id(answer: &ApiResponse) -> &str {
    answer.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default()
}

/// Makes a merchant-initiated payment under the standing instruction `id`. Returns any response.
async fn pay_merchant_initiated(shop: &MerchantClient, id: &str, more: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.pay_by_card(&[&REPEATED, &[(ID, id)][..], more].concat()).await
}

/// Asserts a refusal with 600.200.501 for exactly this parameter.
#[track_caller]
fn assert_terms_violated(answer: &ApiResponse, name: &str) {
    assert_result(answer, 400, "600.200.501");
    assert_eq!(answer.invalid_parameters(), [name], "{}", answer.text);
}

#[tokio::test]
async fn the_first_payment_gives_the_id_that_later_ones_must_send() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = shop.pay_by_card(&INITIAL).await?;
    let id = initial_transaction_id(&paid);
    assert!(has_shape(id, "XXXXXXXXXXXXXXXXXX"), "{}", paid.text);
    assert_eq!(initial_transaction_id(&shop.get(&format!("v1/payments/{}", paid.id())).await?), id);
    let charged = pay_merchant_initiated(&shop, id, &[]).await?;
    assert_result(&charged, 200, "000.100.110");
    assert_eq!(initial_transaction_id(&charged), id);
    let another = shop.pay_by_card(&INITIAL).await?;
    assert_ne!(initial_transaction_id(&another), id);
    Ok(())
}

#[tokio::test]
async fn a_declined_first_payment_agrees_to_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let declined =
        shop.pay_by_card(&[&INITIAL[..], &[("customParameters[forceResultCode]", "800.100.151")]].concat()).await?;
    assert_result(&declined, 400, "800.100.151");
    assert_eq!(initial_transaction_id(&declined), "");
    // A payment without a standing instruction has none in its response.
    assert!(shop.pay_by_card(&[]).await?.json["standingInstruction"].is_null());
    Ok(())
}

#[tokio::test]
async fn a_charge_without_an_initial_transaction_or_with_an_unknown_one_is_refused() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    assert_errors(&shop.pay_by_card(&REPEATED).await?, &[ID]);
    let id = pay_initial(&shop, &[]).await?;
    let unknown = pay_merchant_initiated(&shop, "0123456789ABCDEF01", &[]).await?;
    assert_result(&unknown, 400, "700.100.100");
    assert_eq!(parameter_error(&unknown, ID)["value"], "0123456789ABCDEF01");
    // A standing instruction of another merchant is treated as unknown.
    assert_result(&pay_merchant_initiated(&stranger, &id, &[]).await?, 400, "700.100.100");
    assert_result(&pay_merchant_initiated(&shop, &id, &[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_was_agreed_for_one_card_cannot_be_charged_to_another() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_initial(&shop, &[]).await?;
    let other = [("card.number", "5454545454545454"), ("paymentBrand", "MASTER")];
    assert_result(&pay_merchant_initiated(&shop, &id, &other).await?, 400, "700.100.710");
    // A renewed card with the same number is the same account.
    assert_result(&pay_merchant_initiated(&shop, &id, &[("card.expiryYear", "2038")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn no_more_installments_are_charged_than_were_agreed_also_by_fifty_at_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let id = pay_initial(&shop, &[(KIND, "INSTALLMENT"), (INSTALLMENTS, "5")]).await?;
    // A declined charge is not counted.
    let declined = pay_merchant_initiated(&shop, &id, &[("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_result(&declined, 400, "800.100.151");
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (shop, id) = (shop.clone(), id.clone());
            tokio::spawn(async move { pay_merchant_initiated(&shop, &id, &[]).await })
        })
        .collect();
    let mut approved = 0;
    for task in tasks {
        let answer = task.await??;
        if answer.status == 200 {
            approved += 1;
        } else {
            assert_terms_violated(&answer, INSTALLMENTS);
        }
    }
    // The first payment was the first installment.
    assert_eq!(approved, 4);
    // The merchant cannot increase the number of installments afterwards.
    assert_terms_violated(&pay_merchant_initiated(&shop, &id, &[(INSTALLMENTS, "99")]).await?, INSTALLMENTS);
    Ok(())
}

#[tokio::test]
async fn a_charge_too_soon_is_refused_and_the_refused_one_is_not_stored() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let id = pay_initial(&shop, &[(KIND, "RECURRING"), (FREQUENCY, "28")]).await?;
    assert_terms_violated(&pay_merchant_initiated(&shop, &id, &[]).await?, FREQUENCY);
    let payments: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
    assert_eq!(payments, 1);
    // Moves the latest charge four weeks back.
    let gateway =
        gateway.kill_and_restart_after(&[], |data| change_instruction(data, "$.latest", days_from_now(-28)?))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&pay_merchant_initiated(&shop, &id, &[]).await?, 200, "000.100.110");
    assert_terms_violated(&pay_merchant_initiated(&shop, &id, &[]).await?, FREQUENCY);
    Ok(())
}

#[tokio::test]
async fn nothing_is_charged_after_the_expiry() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (yesterday, tomorrow) = (days_from_now(-1)?, days_from_now(1)?);
    let late = shop.pay_by_card(&[&INITIAL[..], &[(EXPIRY, yesterday.as_str())]].concat()).await?;
    assert_terms_violated(&late, EXPIRY);
    let id = pay_initial(&shop, &[(KIND, "RECURRING"), (EXPIRY, &tomorrow)]).await?;
    assert_result(&pay_merchant_initiated(&shop, &id, &[]).await?, 200, "000.100.110");
    let gateway = gateway.kill_and_restart_after(&[], |data| change_instruction(data, "$.terms.expiry", yesterday))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_terms_violated(&pay_merchant_initiated(&shop, &id, &[(EXPIRY, &tomorrow)]).await?, EXPIRY);
    Ok(())
}

#[tokio::test]
async fn a_registration_remembers_what_was_agreed_and_deleting_it_ends_that() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let first = [&INITIAL[..], &[("createRegistration", "true"), ("card.holder", "File Keeper")]].concat();
    let paid = shop.pay_by_card(&first).await?;
    let (id, token) =
        (initial_transaction_id(&paid).to_owned(), paid.json["registrationId"].as_str().unwrap_or_default());
    let path = format!("v1/registrations/{token}/payments");
    let repeated = [&CHARGE[..], &REPEATED[..2]].concat();
    // The id may be repeated, but need not be.
    for more in [&[][..], &[(ID, id.as_str())]] {
        let charged = shop.post(&path, &[&repeated[..], more].concat()).await?;
        assert_result(&charged, 200, "000.100.110");
        assert_eq!(initial_transaction_id(&charged), id);
    }
    let code = [&repeated[..], &[("card.cvv", "123")]].concat();
    assert_errors(&shop.post(&path, &code).await?, &["card.cvv"]);
    // A cardholder-initiated payment is not checked against the terms.
    let click = [&CHARGE[..], &[("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "CIT")]];
    assert_result(&shop.post(&path, &click.concat()).await?, 200, "000.100.110");
    // A new standing instruction replaces the earlier one.
    let anew = [&CHARGE[..], &INITIAL[..], &[("card.cvv", "123"), (KIND, "INSTALLMENT"), (INSTALLMENTS, "1")]].concat();
    let anew = shop.post(&path, &anew).await?;
    assert_result(&anew, 200, "000.100.110");
    assert_ne!(initial_transaction_id(&anew), id);
    assert_terms_violated(&shop.post(&path, &repeated).await?, INSTALLMENTS);
    assert_result(&pay_merchant_initiated(&shop, &id, &[]).await?, 200, "000.100.110");

    let gone = format!("v1/registrations/{token}?entityId={}", shop.entity_id);
    let gone = ApiResponse::read_from(
        shop.bare_request(reqwest::Method::DELETE, &gone).bearer_auth(&shop.token).send().await?,
    )
    .await?;
    assert_result(&gone, 200, "000.100.110");
    assert_result(&pay_merchant_initiated(&shop, &id, &[]).await?, 400, "700.100.100");
    Ok(())
}

#[tokio::test]
async fn an_agreement_may_come_with_a_registration_alone() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let terms = [(KIND, "INSTALLMENT"), (INSTALLMENTS, "1"), ("card.holder", "Instalment Payer")];
    let kept = CARD.iter().filter(|(name, _)| *name != "card.holder").copied();
    let fields: Vec<_> = kept.chain(INITIAL).chain(terms).collect();
    let made = shop.post("v1/registrations", &fields).await?;
    assert_result(&made, 200, "000.100.110");
    assert!(!initial_transaction_id(&made).is_empty(), "{}", made.text);
    let path = format!("v1/registrations/{}/payments", made.id());
    let repeated = [&CHARGE[..], &REPEATED[..2]].concat();
    assert_result(&shop.post(&path, &repeated).await?, 200, "000.100.110");
    assert_terms_violated(&shop.post(&path, &repeated).await?, INSTALLMENTS);
    Ok(())
}

#[tokio::test]
async fn a_registration_from_another_system_brings_its_initial_transaction_along() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let usual = CARD.iter().filter(|(name, _)| !matches!(*name, "card.cvv" | "card.holder")).copied();
    let fields: Vec<_> = usual
        .chain([
            ("card.holder", "Old Customer"),
            ("recurringMigration.paymentType", "DB"),
            ("recurringMigration.amount", "9.90"),
            ("recurringMigration.requestTimestamp", "2025-01-31T12:00:00"),
            ("recurringMigration.connectorTxId1", "OLD-SYSTEM-4711"),
            (FREQUENCY, "30"),
        ])
        .collect();
    let made = shop.post("v1/registrations", &fields).await?;
    assert_result(&made, 200, "000.100.110");
    assert_eq!(initial_transaction_id(&made), "OLD-SYSTEM-4711");
    assert_eq!(made.json["recurringMigration"]["amount"], "9.90");
    let path = format!("v1/registrations/{}/payments", made.id());
    let repeated = [&CHARGE[..], &REPEATED[..2]].concat();
    let charged = shop.post(&path, &repeated).await?;
    assert_result(&charged, 200, "000.100.110");
    assert_eq!(initial_transaction_id(&charged), "OLD-SYSTEM-4711");
    assert_terms_violated(&shop.post(&path, &repeated).await?, FREQUENCY);
    // The same request creates another registration of the same standing instruction, and the charges made meanwhile
    // are counted.
    let again = shop.post("v1/registrations", &fields).await?;
    assert_ne!(again.id(), made.id());
    assert_eq!(initial_transaction_id(&again), "OLD-SYSTEM-4711");
    let by_new = format!("v1/registrations/{}/payments", again.id());
    for path in [&path, &by_new] {
        assert_terms_violated(&shop.post(path, &repeated).await?, FREQUENCY);
    }
    // The same transaction id cannot belong to another card as well.
    let other: Vec<_> = fields
        .iter()
        .map(|(name, value)| match *name {
            "card.number" => (*name, "5454545454545454"),
            "paymentBrand" => (*name, "MASTER"),
            _ => (*name, *value),
        })
        .collect();
    assert_result(&shop.post("v1/registrations", &other).await?, 400, "700.100.710");
    let without: Vec<_> = fields.iter().filter(|(name, _)| !name.ends_with("TxId1")).copied().collect();
    assert_errors(&shop.post("v1/registrations", &without).await?, &["recurringMigration.connectorTxId1"]);
    Ok(())
}

/// Returns the date in UTC that is `days` days from today, as `yyyy-MM-dd`.
fn days_from_now(days: i64) -> anyhow::Result<String> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    Ok(today.checked_add(jiff::Span::new().days(days))?.to_string())
}

/// Sets the text at a JSON path in the only standing instruction of a stopped gateway. Fails unless there is exactly
/// one.
fn change_instruction(data: &std::path::Path, path: &str, text: String) -> anyhow::Result<()> {
    let database = Database::open(data)?;
    let changed = database.execute(
        "UPDATE standing_instruction SET document = CAST(json_set(CAST(document AS TEXT), ?1, ?2) AS BLOB)",
        [path, &text],
    )?;
    anyhow::ensure!(changed == 1, "{changed} standing instructions");
    Ok(())
}
