//! What a pending payment puts on file: nothing while it waits and nothing when it fails; its registration and its agreement in
//! the moment in which it succeeds.

use tillgate_tests::{Answer, Gateway, Merchant, until};
use tokio::task::JoinSet;

use crate::asynchronous::{BACK, page, pay, press};
use crate::registrations::{accounts, delete, pay_by, read};
use crate::support::*;

const REGISTERING: (&str, &str) = ("createRegistration", "true");
const ACCOUNT: (&str, &str) = ("virtualAccount.accountId", "jane@example.com");
const IBAN: &str = "DE14940593100000012346";
const INITIAL: [(&str, &str); 3] = [
    ("standingInstruction.mode", "INITIAL"),
    ("standingInstruction.type", "UNSCHEDULED"),
    ("standingInstruction.source", "CIT"),
];
const REPEATED: [(&str, &str); 3] = [
    ("standingInstruction.mode", "REPEATED"),
    ("standingInstruction.type", "UNSCHEDULED"),
    ("standingInstruction.source", "MIT"),
];
/// What can be answered on the page, and the HTTP status for the shop afterwards. The last one is no end.
const ANSWERS: [(&str, u16); 4] = [("cancel", 400), ("close", 400), ("later", 200), ("success", 200)];

async fn answer(shop: &Merchant, pending: &Answer, button: &str) -> anyhow::Result<()> {
    let page = press(shop, &page(pending), button).await?;
    assert_eq!(page.status(), 200, "{}", page.text().await?);
    Ok(())
}

async fn payment(shop: &Merchant, id: &str) -> anyhow::Result<Answer> {
    shop.get(&format!("v1/payments/{id}")).await
}

fn registration(answer: &Answer) -> Option<&str> {
    answer.json["registrationId"].as_str()
}

fn initial(answer: &Answer) -> Option<&str> {
    answer.json["standingInstruction"]["initialTransactionId"].as_str()
}

fn count(gateway: &Gateway, table: &str) -> anyhow::Result<u32> {
    Ok(database(gateway)?.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
}

/// The merchant charges the account at the provider alone.
async fn charge(shop: &Merchant, initial: &str) -> anyhow::Result<Answer> {
    let order = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL"), ACCOUNT];
    let chain = [("standingInstruction.initialTransactionId", initial)];
    shop.post("v1/payments", &[&order[..], &REPEATED, &chain].concat()).await
}

/// The id that the agreement of a payment has, or would have.
fn would_be_initial(payment: &str) -> String {
    payment[14..].to_uppercase()
}

#[tokio::test]
async fn a_payment_registers_its_account_in_the_moment_in_which_it_succeeds_and_never_otherwise() -> anyhow::Result<()>
{
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let mut kept = 0;
    for (brand, account) in
        [("PAYPAL", &[ACCOUNT][..]), ("GIROPAY", &[("bankAccount.iban", IBAN), ("bankAccount.bic", "TESTDETT421")])]
    {
        for (button, status) in ANSWERS {
            let pending = pay(&shop, brand, &[&[REGISTERING], account].concat()).await?;
            assert_eq!((registration(&pending), accounts(&gateway)?), (None, kept));
            answer(&shop, &pending, button).await?;
            let told = payment(&shop, pending.id()).await?;
            assert_eq!(told.status, status, "{}", told.text);
            if button != "success" {
                assert_eq!((registration(&told), accounts(&gateway)?), (None, kept), "{button}");
                // What could still become a registration waits; of what has failed nothing is left.
                assert_eq!(count(&gateway, "promise")?, u32::from(button == "later"));
                if button == "later" {
                    answer(&shop, &pending, "cancel").await?;
                }
                continue;
            }
            kept += 1;
            let id = registration(&told).unwrap_or_default();
            // The account is kept there and nowhere else.
            let sealed = (accounts(&gateway)?, count(&gateway, "promise")?, count(&gateway, "card")?);
            assert_eq!(sealed, (kept, 0, 0), "{}", told.text);
            let stored = read(&shop, id).await?;
            assert_answer(&stored, 200, "000.100.110");
            assert_eq!(stored.json["paymentBrand"], brand);
            for group in ["virtualAccount", "bankAccount"] {
                assert_eq!(stored.json[group], told.json[group]);
            }
            // It is paid with, where the shopper confirms again, and deleted, as any other.
            let again = pay_by(&shop, id, &[BACK]).await?;
            assert_answer(&again, 200, "000.200.000");
            assert_eq!(registration(&again), Some(id));
            answer(&shop, &pending, "success").await?;
            assert_eq!(accounts(&gateway)?, kept);
            answer(&shop, &again, "cancel").await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn in_a_checkout_the_status_names_the_registration_once_the_payment_has_succeeded() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let allowed = [("registrationsCreatable", "true")];
    for (by_merchant, by_shopper) in [(&[REGISTERING][..], &[][..]), (&allowed, &[("createRegistration", "on")])] {
        let made = shop.checkout(&[&[BACK], by_merchant].concat()).await?;
        let fields = [&[("paymentBrand", "PAYPAL"), ACCOUNT], by_shopper].concat();
        let path = format!("v1/checkouts/{}/payment", made.id());
        let cancelled = shop.post_as_browser(&path, &fields).await?;
        answer(&shop, &cancelled, "cancel").await?;
        assert_eq!(registration(&shop.status(made.id()).await?), None);
        let pending = shop.post_as_browser(&path, &fields).await?;
        assert_answer(&pending, 200, "000.200.000");
        assert_eq!(registration(&shop.status(made.id()).await?), None);
        answer(&shop, &pending, "success").await?;
        let told = shop.status(made.id()).await?;
        assert_answer(&told, 200, "000.100.110");
        assert_answer(&read(&shop, registration(&told).unwrap_or_default()).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_was_abandoned_puts_nothing_on_file_when_it_succeeds_late() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let made = shop.checkout(&[&[BACK, REGISTERING], &INITIAL[..]].concat()).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let abandoned = shop.post_as_browser(&path, &[("paymentBrand", "PAYPAL"), ACCOUNT]).await?;
    let first = shop.status(made.id()).await?.id().to_owned();
    assert_eq!(count(&gateway, "promise")?, 1);
    assert_answer(&shop.post_as_browser(&path, &[("paymentBrand", "ALIPAY")]).await?, 200, "000.200.000");
    answer(&shop, &abandoned, "success").await?;
    let reversed = payment(&shop, &first).await?;
    assert_eq!(reversed.json["state"], "REVERSED", "{}", reversed.text);
    assert_eq!((registration(&reversed), initial(&reversed)), (None, None), "{}", reversed.text);
    assert_eq!((accounts(&gateway)?, count(&gateway, "standing_instruction")?), (0, 0));
    // What is left waits for the other brand: an agreement, but no account.
    let account: Option<Vec<u8>> = database(&gateway)?.query_row("SELECT sealed FROM promise", [], |row| row.get(0))?;
    assert_eq!(account, None);
    Ok(())
}

#[tokio::test]
async fn an_agreement_stands_from_the_moment_in_which_its_first_payment_succeeds() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    for (button, status) in ANSWERS {
        let pending = pay(&shop, "PAYPAL", &[&[ACCOUNT], &INITIAL[..]].concat()).await?;
        let id = would_be_initial(pending.id());
        assert_eq!(initial(&pending), None, "{}", pending.text);
        assert_answer(&charge(&shop, &id).await?, 400, "700.100.100");
        answer(&shop, &pending, button).await?;
        let told = payment(&shop, pending.id()).await?;
        assert_eq!(told.status, status, "{}", told.text);
        let agreed = button == "success";
        assert_eq!(initial(&told), agreed.then_some(id.as_str()), "{}", told.text);
        let (status, code) = if agreed { (200, "000.100.110") } else { (400, "700.100.100") };
        assert_answer(&charge(&shop, &id).await?, status, code);
    }
    Ok(())
}

#[tokio::test]
async fn a_charge_by_the_merchant_counts_while_it_is_pending_and_no_longer_when_it_has_failed() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let account = [("bankAccount.iban", IBAN), ("bankAccount.bic", "TESTDETT421")];
    let terms = [
        ("standingInstruction.type", "INSTALLMENT"),
        ("standingInstruction.numberOfInstallments", "2"),
        ("standingInstruction.expiry", "2999-12-31"),
    ];
    let order = [&account[..], &terms].concat();
    let first = pay(&shop, "GIROPAY", &[&order[..], &[INITIAL[0], INITIAL[2]]].concat()).await?;
    answer(&shop, &first, "success").await?;
    let id = would_be_initial(first.id());
    let chain = ("standingInstruction.initialTransactionId", id.as_str());
    let repeated = [&order[..], &[REPEATED[0], REPEATED[2], chain]].concat();
    let basic = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "GIROPAY"), BACK];
    let twin = [&basic[..], &repeated].concat();
    for (button, status) in ANSWERS {
        let pending = pay(&shop, "GIROPAY", &repeated).await?;
        assert_answer(&shop.post("v1/payments", &twin).await?, 400, "600.200.501");
        answer(&shop, &pending, button).await?;
        assert_eq!(payment(&shop, pending.id()).await?.status, status);
        if button == "later" {
            answer(&shop, &pending, "cancel").await?;
        }
        if button == "success" {
            assert_answer(&shop.post("v1/payments", &twin).await?, 400, "600.200.501");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_account_that_the_brand_alone_knows_is_not_registered_whatever_else_is_sent() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let made = shop.checkout(&[BACK, REGISTERING]).await?;
    // The form's card fields come along.
    let pending = shop.submit(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    answer(&shop, &pending, "success").await?;
    let told = shop.status(made.id()).await?;
    assert_answer(&told, 200, "000.100.110");
    assert_eq!(registration(&told), None, "{}", told.text);
    Ok(())
}

#[tokio::test]
async fn an_agreement_with_a_new_registration_is_charged_by_the_registration() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let pending = pay(&shop, "PAYPAL", &[&[ACCOUNT, REGISTERING], &INITIAL[..]].concat()).await?;
    answer(&shop, &pending, "success").await?;
    let told = payment(&shop, pending.id()).await?;
    let charged = pay_by(&shop, registration(&told).unwrap_or_default(), &REPEATED).await?;
    assert_answer(&charged, 200, "000.100.110");
    assert_eq!(initial(&charged), initial(&told));
    assert!(initial(&told).is_some(), "{}", told.text);
    Ok(())
}

#[tokio::test]
async fn an_agreement_whose_registration_is_deleted_meanwhile_does_not_come_to_be() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let stored = shop.post("v1/registrations", &[("paymentBrand", "PAYPAL"), ACCOUNT]).await?;
    for deleted in [false, true] {
        let pending = pay_by(&shop, stored.id(), &[&[BACK], &INITIAL[..]].concat()).await?;
        assert_answer(&pending, 200, "000.200.000");
        if deleted {
            assert_answer(&delete(&shop, stored.id()).await?, 200, "000.100.110");
        }
        answer(&shop, &pending, "success").await?;
        let told = payment(&shop, pending.id()).await?;
        assert_answer(&told, 200, "000.100.110");
        assert_eq!(registration(&told), Some(stored.id()));
        assert_eq!(initial(&told).is_some(), !deleted, "{}", told.text);
        let charged = charge(&shop, &would_be_initial(pending.id())).await?;
        assert_answer(&charged, if deleted { 400 } else { 200 }, if deleted { "700.100.100" } else { "000.100.110" });
    }
    Ok(())
}

#[tokio::test]
async fn one_account_in_twenty_payments_that_succeed_at_once_gets_twenty_ids() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let mut shoppers = JoinSet::new();
    for _ in 0..20 {
        let pending = pay(&shop, "PAYPAL", &[REGISTERING, ACCOUNT]).await?;
        let shop = shop.clone();
        shoppers.spawn(async move {
            answer(&shop, &pending, "success").await?;
            let told = payment(&shop, pending.id()).await?;
            anyhow::Ok(registration(&told).map(str::to_owned))
        });
    }
    let ids: std::collections::HashSet<_> = shoppers.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    assert!(ids.len() == 20 && !ids.contains(&None), "{ids:?}");
    assert_eq!(accounts(&gateway)?, 20);
    Ok(())
}

#[tokio::test]
async fn a_channels_payment_registers_later_with_the_merchant_that_asked() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let merchant = gateway.merchant()?;
    let channel = gateway.merchant_with(&["--merchant", &merchant.entity_id])?;
    let pending = pay(&merchant, "PAYPAL", &[&[REGISTERING, ACCOUNT], &INITIAL[..]].concat()).await?;
    answer(&merchant, &pending, "success").await?;
    let told = payment(&channel, pending.id()).await?;
    let id = registration(&told).unwrap_or_default();
    assert_answer(&read(&merchant, id).await?, 200, "000.100.110");
    assert_eq!(read(&channel, id).await?.status, 404);
    assert_answer(&pay_by(&merchant, id, &REPEATED).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_waits_survives_a_power_cut_sealed_and_is_forgotten_after_a_month() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let account = [REGISTERING, ("bankAccount.iban", IBAN), ("bankAccount.bic", "TESTDETT421")];
    let order = [&account[..], &INITIAL].concat();
    let pending = [pay(&shop, "GIROPAY", &order).await?, pay(&shop, "GIROPAY", &order).await?];
    let sealed: Vec<u8> = database(&gateway)?.query_row("SELECT sealed FROM promise LIMIT 1", [], |row| row.get(0))?;
    for part in [IBAN, "0000012346"] {
        assert!(!String::from_utf8_lossy(&sealed).contains(part) && !gateway.log().contains(part));
    }
    let holds = |gateway: &Gateway, what: &[u8]| -> anyhow::Result<bool> {
        for file in std::fs::read_dir(gateway.data())? {
            if std::fs::read(file?.path())?.windows(what.len()).any(|window| window == what) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    assert!(holds(&gateway, &sealed)? && !holds(&gateway, IBAN.as_bytes())?);
    let late = pending[1].id();
    let gateway = gateway.restart_after(&[], |data| {
        // As if the month were over for one of the two.
        let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
        let (until, now): (i64, i64) =
            database.query_row("SELECT until, unixepoch() * 1000 FROM promise WHERE payment = ?1", [late], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        anyhow::ensure!((29..=30).contains(&((until - now) / 86_400_000)), "{until}");
        database.execute("UPDATE promise SET until = 0 WHERE payment = ?1", [late])?;
        Ok(())
    })?;
    let shop = Merchant { base: gateway.base(), ..shop };
    until("what waited for too long is forgotten", async || Ok((count(&gateway, "promise")? == 1).then_some(())))
        .await?;
    for (pending, registers) in pending.iter().zip([true, false]) {
        let page = page(pending);
        let own = page.rsplit('/').next().unwrap_or_default();
        let pressed = press(&shop, &format!("{}v1/simulator/{own}", shop.base), "success").await?;
        assert_eq!(pressed.status(), 200);
        let told = payment(&shop, pending.id()).await?;
        assert_answer(&told, 200, "000.100.110");
        assert_eq!(registration(&told).is_some(), registers, "{}", told.text);
        assert_eq!(initial(&told).is_some(), registers, "{}", told.text);
    }
    assert_eq!((accounts(&gateway)?, count(&gateway, "promise")?), (1, 0));
    Ok(())
}
