//! Card on file: what a cardholder agreed to, and that a merchant who charges alone keeps to it.

use tillgate_tests::{Answer, CARD, Gateway, Merchant};

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

/// The cardholder agrees to these terms with a payment. Returns the id of the agreement.
async fn agree(shop: &Merchant, terms: &[(&str, &str)]) -> anyhow::Result<String> {
    let paid = shop.pay(&[&INITIAL, terms].concat()).await?;
    assert_answer(&paid, 200, "000.100.110");
    Ok(initial(&paid).to_owned())
}

fn initial(answer: &Answer) -> &str {
    answer.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default()
}

/// The merchant charges the card alone.
async fn charge(shop: &Merchant, id: &str, more: &[(&str, &str)]) -> anyhow::Result<Answer> {
    shop.pay(&[&REPEATED, &[(ID, id)][..], more].concat()).await
}

#[track_caller]
fn assert_not_agreed(answer: &Answer, name: &str) {
    assert_answer(answer, 400, "600.200.501");
    assert_eq!(answer.errors(), [name], "{}", answer.text);
}

#[tokio::test]
async fn the_first_payment_gives_the_id_that_later_ones_must_send() -> anyhow::Result<()> {
    let shop = shop();
    let paid = shop.pay(&INITIAL).await?;
    let id = initial(&paid);
    assert!(has_shape(id, "XXXXXXXXXXXXXXXXXX"), "{}", paid.text);
    assert_eq!(initial(&shop.get(&format!("v1/payments/{}", paid.id())).await?), id);
    let charged = charge(&shop, id, &[]).await?;
    assert_answer(&charged, 200, "000.100.110");
    assert_eq!(initial(&charged), id);
    let another = shop.pay(&INITIAL).await?;
    assert_ne!(initial(&another), id);
    Ok(())
}

#[tokio::test]
async fn a_declined_first_payment_agrees_to_nothing() -> anyhow::Result<()> {
    let shop = shop();
    let declined = shop.pay(&[&INITIAL[..], &[("customParameters[forceResultCode]", "800.100.151")]].concat()).await?;
    assert_answer(&declined, 400, "800.100.151");
    assert_eq!(initial(&declined), "");
    // Neither does a payment that says nothing of an agreement.
    assert!(shop.pay(&[]).await?.json["standingInstruction"].is_null());
    Ok(())
}

#[tokio::test]
async fn a_charge_without_an_initial_transaction_or_with_an_unknown_one_is_refused() -> anyhow::Result<()> {
    let (shop, stranger) = (shop(), other_shop());
    assert_errors(&shop.pay(&REPEATED).await?, &[ID]);
    let id = agree(&shop, &[]).await?;
    let unknown = charge(&shop, "0123456789ABCDEF01", &[]).await?;
    assert_answer(&unknown, 400, "700.100.100");
    assert_eq!(error(&unknown, ID)["value"], "0123456789ABCDEF01");
    // Another merchant's is as unknown as none.
    assert_answer(&charge(&stranger, &id, &[]).await?, 400, "700.100.100");
    assert_answer(&charge(&shop, &id, &[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_was_agreed_for_one_card_cannot_be_charged_to_another() -> anyhow::Result<()> {
    let shop = shop();
    let id = agree(&shop, &[]).await?;
    let other = [("card.number", "5454545454545454"), ("paymentBrand", "MASTER")];
    assert_answer(&charge(&shop, &id, &other).await?, 400, "700.100.710");
    // A renewed card of the same number is the same account.
    assert_answer(&charge(&shop, &id, &[("card.expiryYear", "2038")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn no_more_installments_are_charged_than_were_agreed_also_by_fifty_at_once() -> anyhow::Result<()> {
    let shop = shop();
    let id = agree(&shop, &[(KIND, "INSTALLMENT"), (INSTALLMENTS, "5")]).await?;
    // A charge that is declined is none.
    let declined = charge(&shop, &id, &[("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_answer(&declined, 400, "800.100.151");
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (shop, id) = (shop.clone(), id.clone());
            tokio::spawn(async move { charge(&shop, &id, &[]).await })
        })
        .collect();
    let mut approved = 0;
    for task in tasks {
        let answer = task.await??;
        if answer.status == 200 {
            approved += 1;
        } else {
            assert_not_agreed(&answer, INSTALLMENTS);
        }
    }
    // The first payment was the first installment.
    assert_eq!(approved, 4);
    // Nor can the merchant say afterwards that there were more.
    assert_not_agreed(&charge(&shop, &id, &[(INSTALLMENTS, "99")]).await?, INSTALLMENTS);
    Ok(())
}

#[tokio::test]
async fn a_charge_too_soon_is_refused_and_the_refused_one_is_not_stored() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let id = agree(&shop, &[(KIND, "RECURRING"), (FREQUENCY, "28")]).await?;
    assert_not_agreed(&charge(&shop, &id, &[]).await?, FREQUENCY);
    let payments: u32 = database(&gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
    assert_eq!(payments, 1);
    // Four weeks later.
    let gateway = gateway.restart_after(&[], |data| change_chain(data, "$.latest", days_from_now(-28)?))?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&charge(&shop, &id, &[]).await?, 200, "000.100.110");
    assert_not_agreed(&charge(&shop, &id, &[]).await?, FREQUENCY);
    Ok(())
}

#[tokio::test]
async fn nothing_is_charged_after_the_expiry() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let (yesterday, tomorrow) = (days_from_now(-1)?, days_from_now(1)?);
    let late = shop.pay(&[&INITIAL[..], &[(EXPIRY, yesterday.as_str())]].concat()).await?;
    assert_not_agreed(&late, EXPIRY);
    let id = agree(&shop, &[(KIND, "RECURRING"), (EXPIRY, &tomorrow)]).await?;
    assert_answer(&charge(&shop, &id, &[]).await?, 200, "000.100.110");
    let gateway = gateway.restart_after(&[], |data| change_chain(data, "$.terms.expiry", yesterday))?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_not_agreed(&charge(&shop, &id, &[(EXPIRY, &tomorrow)]).await?, EXPIRY);
    Ok(())
}

#[tokio::test]
async fn a_registration_remembers_what_was_agreed_and_deleting_it_ends_that() -> anyhow::Result<()> {
    let shop = shop();
    let first = [&INITIAL[..], &[("createRegistration", "true"), ("card.holder", "File Keeper")]].concat();
    let paid = shop.pay(&first).await?;
    let (id, token) = (initial(&paid).to_owned(), paid.json["registrationId"].as_str().unwrap_or_default());
    let path = format!("v1/registrations/{token}/payments");
    let repeated = [&CHARGE[..], &REPEATED[..2]].concat();
    // The merchant need not repeat the id, and may.
    for more in [&[][..], &[(ID, id.as_str())]] {
        let charged = shop.post(&path, &[&repeated[..], more].concat()).await?;
        assert_answer(&charged, 200, "000.100.110");
        assert_eq!(initial(&charged), id);
    }
    let code = [&repeated[..], &[("card.cvv", "123")]].concat();
    assert_errors(&shop.post(&path, &code).await?, &["card.cvv"]);
    // With the shopper there, nothing of an agreement is asked for.
    let click = [&CHARGE[..], &[("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "CIT")]];
    assert_answer(&shop.post(&path, &click.concat()).await?, 200, "000.100.110");
    // A new agreement takes the place of the earlier one.
    let anew = [&CHARGE[..], &INITIAL[..], &[("card.cvv", "123"), (KIND, "INSTALLMENT"), (INSTALLMENTS, "1")]].concat();
    let anew = shop.post(&path, &anew).await?;
    assert_answer(&anew, 200, "000.100.110");
    assert_ne!(initial(&anew), id);
    assert_not_agreed(&shop.post(&path, &repeated).await?, INSTALLMENTS);
    assert_answer(&charge(&shop, &id, &[]).await?, 200, "000.100.110");

    let gone = format!("v1/registrations/{token}?entityId={}", shop.entity_id);
    let gone = Answer::read(shop.bare(reqwest::Method::DELETE, &gone).bearer_auth(&shop.token).send().await?).await?;
    assert_answer(&gone, 200, "000.100.110");
    assert_answer(&charge(&shop, &id, &[]).await?, 400, "700.100.100");
    Ok(())
}

#[tokio::test]
async fn an_agreement_may_come_with_a_registration_alone() -> anyhow::Result<()> {
    let shop = shop();
    let terms = [(KIND, "INSTALLMENT"), (INSTALLMENTS, "1"), ("card.holder", "Instalment Payer")];
    let kept = CARD.iter().filter(|(name, _)| *name != "card.holder").copied();
    let fields: Vec<_> = kept.chain(INITIAL).chain(terms).collect();
    let made = shop.post("v1/registrations", &fields).await?;
    assert_answer(&made, 200, "000.100.110");
    assert!(!initial(&made).is_empty(), "{}", made.text);
    let path = format!("v1/registrations/{}/payments", made.id());
    let repeated = [&CHARGE[..], &REPEATED[..2]].concat();
    assert_answer(&shop.post(&path, &repeated).await?, 200, "000.100.110");
    assert_not_agreed(&shop.post(&path, &repeated).await?, INSTALLMENTS);
    Ok(())
}

#[tokio::test]
async fn a_registration_from_another_system_brings_its_initial_transaction_along() -> anyhow::Result<()> {
    let shop = shop();
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
    assert_answer(&made, 200, "000.100.110");
    assert_eq!(initial(&made), "OLD-SYSTEM-4711");
    assert_eq!(made.json["recurringMigration"]["amount"], "9.90");
    let path = format!("v1/registrations/{}/payments", made.id());
    let repeated = [&CHARGE[..], &REPEATED[..2]].concat();
    let charged = shop.post(&path, &repeated).await?;
    assert_answer(&charged, 200, "000.100.110");
    assert_eq!(initial(&charged), "OLD-SYSTEM-4711");
    assert_not_agreed(&shop.post(&path, &repeated).await?, FREQUENCY);
    // Sent again, it is another registration of the same agreement, and what was charged meanwhile counts.
    let again = shop.post("v1/registrations", &fields).await?;
    assert_ne!(again.id(), made.id());
    assert_eq!(initial(&again), "OLD-SYSTEM-4711");
    let by_new = format!("v1/registrations/{}/payments", again.id());
    for path in [&path, &by_new] {
        assert_not_agreed(&shop.post(path, &repeated).await?, FREQUENCY);
    }
    // The same transaction cannot be another card's as well.
    let other: Vec<_> = fields
        .iter()
        .map(|(name, value)| match *name {
            "card.number" => (*name, "5454545454545454"),
            "paymentBrand" => (*name, "MASTER"),
            _ => (*name, *value),
        })
        .collect();
    assert_answer(&shop.post("v1/registrations", &other).await?, 400, "700.100.710");
    let without: Vec<_> = fields.iter().filter(|(name, _)| !name.ends_with("TxId1")).copied().collect();
    assert_errors(&shop.post("v1/registrations", &without).await?, &["recurringMigration.connectorTxId1"]);
    Ok(())
}

fn days_from_now(days: i64) -> anyhow::Result<String> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    Ok(today.checked_add(jiff::Span::new().days(days))?.to_string())
}

/// Changes a text in the only chain of a gateway that does not run.
fn change_chain(data: &std::path::Path, path: &str, text: String) -> anyhow::Result<()> {
    let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
    let changed = database.execute(
        "UPDATE standing_instruction SET document = CAST(json_set(CAST(document AS TEXT), ?1, ?2) AS BLOB)",
        [path, &text],
    )?;
    anyhow::ensure!(changed == 1, "{changed} chains");
    Ok(())
}
