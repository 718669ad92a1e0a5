//! Stored credentials of a pending payment: nothing is stored while it is pending or if it fails. Its registration and
//! its standing instruction are created when it succeeds.

use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway, poll_until};
use tokio::task::JoinSet;

use crate::payment::asynchronous::{BACK, pay_by_brand, press_button, redirect_url};
use crate::registration::registrations::{count_accounts, delete_registration, pay_by_registration, read_registration};
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
/// Answers on the page, with the HTTP status for the shop afterwards. After `later`, the payment is still pending.
const ANSWERS: [(&str, u16); 4] = [("cancel", 400), ("close", 400), ("later", 200), ("success", 200)];

/// Presses a button on the page of a pending payment, and asserts that the page accepts it.
async fn answer_page(shop: &MerchantClient, pending: &ApiResponse, button: &str) -> anyhow::Result<()> {
    let page = press_button(shop, &redirect_url(pending), button).await?;
    assert_eq!(page.status(), 200, "{}", page.text().await?);
    Ok(())
}

async fn read_payment(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    shop.get(&format!("v1/payments/{id}")).await
}

fn registration_id(answer: &ApiResponse) -> Option<&str> {
    answer.json["registrationId"].as_str()
}

fn initial_transaction_id(answer: &ApiResponse) -> Option<&str> {
    answer.json["standingInstruction"]["initialTransactionId"].as_str()
}

fn count_rows(gateway: &TestGateway, table: &str) -> anyhow::Result<u32> {
    Ok(open_database(gateway)?.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
}

/// Makes a merchant-initiated payment of 12.00 EUR with the account at the provider, under the standing instruction
/// `initial`. Returns any response.
async fn pay_merchant_initiated(shop: &MerchantClient, initial: &str) -> anyhow::Result<ApiResponse> {
    let order = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL"), ACCOUNT];
    let instruction = [("standingInstruction.initialTransactionId", initial)];
    shop.post("v1/payments", &[&order[..], &REPEATED, &instruction].concat()).await
}

/// Returns the id that the standing instruction of a payment has, or would have: the end of the payment's id in upper
/// case.
fn expected_initial_id(payment: &str) -> String {
    payment[14..].to_uppercase()
}

#[tokio::test]
async fn a_payment_registers_its_account_in_the_moment_in_which_it_succeeds_and_never_otherwise() -> anyhow::Result<()>
{
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut kept = 0;
    for (brand, account) in
        [("PAYPAL", &[ACCOUNT][..]), ("GIROPAY", &[("bankAccount.iban", IBAN), ("bankAccount.bic", "TESTDETT421")])]
    {
        for (button, status) in ANSWERS {
            let pending = pay_by_brand(&shop, brand, &[&[REGISTERING], account].concat()).await?;
            assert_eq!((registration_id(&pending), count_accounts(&gateway)?), (None, kept));
            answer_page(&shop, &pending, button).await?;
            let told = read_payment(&shop, pending.id()).await?;
            assert_eq!(told.status, status, "{}", told.text);
            if button != "success" {
                assert_eq!((registration_id(&told), count_accounts(&gateway)?), (None, kept), "{button}");
                // Only a pending payment has deferred effects. Nothing is left of a failed one.
                assert_eq!(count_rows(&gateway, "promise")?, u32::from(button == "later"));
                if button == "later" {
                    answer_page(&shop, &pending, "cancel").await?;
                }
                continue;
            }
            kept += 1;
            let id = registration_id(&told).unwrap_or_default();
            // The account is stored in the registration only.
            let sealed = (count_accounts(&gateway)?, count_rows(&gateway, "promise")?, count_rows(&gateway, "card")?);
            assert_eq!(sealed, (kept, 0, 0), "{}", told.text);
            let stored = read_registration(&shop, id).await?;
            assert_result(&stored, 200, "000.100.110");
            assert_eq!(stored.json["paymentBrand"], brand);
            for group in ["virtualAccount", "bankAccount"] {
                assert_eq!(stored.json[group], told.json[group]);
            }
            // The registration can be used for payments, which the shopper confirms again, and deleted like any other.
            let again = pay_by_registration(&shop, id, &[BACK]).await?;
            assert_result(&again, 200, "000.200.000");
            assert_eq!(registration_id(&again), Some(id));
            answer_page(&shop, &pending, "success").await?;
            assert_eq!(count_accounts(&gateway)?, kept);
            answer_page(&shop, &again, "cancel").await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn in_a_checkout_the_status_names_the_registration_once_the_payment_has_succeeded() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let allowed = [("registrationsCreatable", "true")];
    for (by_merchant, by_shopper) in [(&[REGISTERING][..], &[][..]), (&allowed, &[("createRegistration", "on")])] {
        let made = shop.create_checkout(&[&[BACK], by_merchant].concat()).await?;
        let fields = [&[("paymentBrand", "PAYPAL"), ACCOUNT], by_shopper].concat();
        let path = format!("v1/checkouts/{}/payment", made.id());
        let cancelled = shop.post_as_browser(&path, &fields).await?;
        answer_page(&shop, &cancelled, "cancel").await?;
        assert_eq!(registration_id(&shop.read_status(made.id()).await?), None);
        let pending = shop.post_as_browser(&path, &fields).await?;
        assert_result(&pending, 200, "000.200.000");
        assert_eq!(registration_id(&shop.read_status(made.id()).await?), None);
        answer_page(&shop, &pending, "success").await?;
        let told = shop.read_status(made.id()).await?;
        assert_result(&told, 200, "000.100.110");
        assert_result(&read_registration(&shop, registration_id(&told).unwrap_or_default()).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_was_abandoned_puts_nothing_on_file_when_it_succeeds_late() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[&[BACK, REGISTERING], &INITIAL[..]].concat()).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let abandoned = shop.post_as_browser(&path, &[("paymentBrand", "PAYPAL"), ACCOUNT]).await?;
    let first = shop.read_status(made.id()).await?.id().to_owned();
    assert_eq!(count_rows(&gateway, "promise")?, 1);
    assert_result(&shop.post_as_browser(&path, &[("paymentBrand", "ALIPAY")]).await?, 200, "000.200.000");
    answer_page(&shop, &abandoned, "success").await?;
    let reversed = read_payment(&shop, &first).await?;
    assert_eq!(reversed.json["state"], "REVERSED", "{}", reversed.text);
    assert_eq!((registration_id(&reversed), initial_transaction_id(&reversed)), (None, None), "{}", reversed.text);
    assert_eq!((count_accounts(&gateway)?, count_rows(&gateway, "standing_instruction")?), (0, 0));
    // The other brand's deferred effects remain: a standing instruction, but no account.
    let account: Option<Vec<u8>> =
        open_database(&gateway)?.query_row("SELECT sealed FROM promise", [], |row| row.get(0))?;
    assert_eq!(account, None);
    Ok(())
}

#[tokio::test]
async fn an_agreement_stands_from_the_moment_in_which_its_first_payment_succeeds() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    for (button, status) in ANSWERS {
        let pending = pay_by_brand(&shop, "PAYPAL", &[&[ACCOUNT], &INITIAL[..]].concat()).await?;
        let id = expected_initial_id(pending.id());
        assert_eq!(initial_transaction_id(&pending), None, "{}", pending.text);
        assert_result(&pay_merchant_initiated(&shop, &id).await?, 400, "700.100.100");
        answer_page(&shop, &pending, button).await?;
        let told = read_payment(&shop, pending.id()).await?;
        assert_eq!(told.status, status, "{}", told.text);
        let agreed = button == "success";
        assert_eq!(initial_transaction_id(&told), agreed.then_some(id.as_str()), "{}", told.text);
        let (status, code) = if agreed { (200, "000.100.110") } else { (400, "700.100.100") };
        assert_result(&pay_merchant_initiated(&shop, &id).await?, status, code);
    }
    Ok(())
}

#[tokio::test]
async fn a_charge_by_the_merchant_counts_while_it_is_pending_and_no_longer_when_it_has_failed() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let account = [("bankAccount.iban", IBAN), ("bankAccount.bic", "TESTDETT421")];
    let terms = [
        ("standingInstruction.type", "INSTALLMENT"),
        ("standingInstruction.numberOfInstallments", "2"),
        ("standingInstruction.expiry", "2999-12-31"),
    ];
    let order = [&account[..], &terms].concat();
    let first = pay_by_brand(&shop, "GIROPAY", &[&order[..], &[INITIAL[0], INITIAL[2]]].concat()).await?;
    answer_page(&shop, &first, "success").await?;
    let id = expected_initial_id(first.id());
    let chain = ("standingInstruction.initialTransactionId", id.as_str());
    let repeated = [&order[..], &[REPEATED[0], REPEATED[2], chain]].concat();
    let basic = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "GIROPAY"), BACK];
    let twin = [&basic[..], &repeated].concat();
    for (button, status) in ANSWERS {
        let pending = pay_by_brand(&shop, "GIROPAY", &repeated).await?;
        assert_result(&shop.post("v1/payments", &twin).await?, 400, "600.200.501");
        answer_page(&shop, &pending, button).await?;
        assert_eq!(read_payment(&shop, pending.id()).await?.status, status);
        if button == "later" {
            answer_page(&shop, &pending, "cancel").await?;
        }
        if button == "success" {
            assert_result(&shop.post("v1/payments", &twin).await?, 400, "600.200.501");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_account_that_the_brand_alone_knows_is_not_registered_whatever_else_is_sent() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let made = shop.create_checkout(&[BACK, REGISTERING]).await?;
    // The submit contains the form's card fields too.
    let pending = shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    answer_page(&shop, &pending, "success").await?;
    let told = shop.read_status(made.id()).await?;
    assert_result(&told, 200, "000.100.110");
    assert_eq!(registration_id(&told), None, "{}", told.text);
    Ok(())
}

#[tokio::test]
async fn an_agreement_with_a_new_registration_is_charged_by_the_registration() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let pending = pay_by_brand(&shop, "PAYPAL", &[&[ACCOUNT, REGISTERING], &INITIAL[..]].concat()).await?;
    answer_page(&shop, &pending, "success").await?;
    let told = read_payment(&shop, pending.id()).await?;
    let charged = pay_by_registration(&shop, registration_id(&told).unwrap_or_default(), &REPEATED).await?;
    assert_result(&charged, 200, "000.100.110");
    assert_eq!(initial_transaction_id(&charged), initial_transaction_id(&told));
    assert!(initial_transaction_id(&told).is_some(), "{}", told.text);
    Ok(())
}

#[tokio::test]
async fn an_agreement_whose_registration_is_deleted_meanwhile_does_not_come_to_be() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let stored = shop.post("v1/registrations", &[("paymentBrand", "PAYPAL"), ACCOUNT]).await?;
    for deleted in [false, true] {
        let pending = pay_by_registration(&shop, stored.id(), &[&[BACK], &INITIAL[..]].concat()).await?;
        assert_result(&pending, 200, "000.200.000");
        if deleted {
            assert_result(&delete_registration(&shop, stored.id()).await?, 200, "000.100.110");
        }
        answer_page(&shop, &pending, "success").await?;
        let told = read_payment(&shop, pending.id()).await?;
        assert_result(&told, 200, "000.100.110");
        assert_eq!(registration_id(&told), Some(stored.id()));
        assert_eq!(initial_transaction_id(&told).is_some(), !deleted, "{}", told.text);
        let charged = pay_merchant_initiated(&shop, &expected_initial_id(pending.id())).await?;
        assert_result(&charged, if deleted { 400 } else { 200 }, if deleted { "700.100.100" } else { "000.100.110" });
    }
    Ok(())
}

#[tokio::test]
async fn one_account_in_twenty_payments_that_succeed_at_once_gets_twenty_ids() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut shoppers = JoinSet::new();
    for _ in 0..20 {
        let pending = pay_by_brand(&shop, "PAYPAL", &[REGISTERING, ACCOUNT]).await?;
        let shop = shop.clone();
        shoppers.spawn(async move {
            answer_page(&shop, &pending, "success").await?;
            let told = read_payment(&shop, pending.id()).await?;
            anyhow::Ok(registration_id(&told).map(str::to_owned))
        });
    }
    let ids: std::collections::HashSet<_> = shoppers.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    assert!(ids.len() == 20 && !ids.contains(&None), "{ids:?}");
    assert_eq!(count_accounts(&gateway)?, 20);
    Ok(())
}

#[tokio::test]
async fn a_channels_payment_registers_later_with_the_merchant_that_asked() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let merchant = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    let pending = pay_by_brand(&merchant, "PAYPAL", &[&[REGISTERING, ACCOUNT], &INITIAL[..]].concat()).await?;
    answer_page(&merchant, &pending, "success").await?;
    let told = read_payment(&channel, pending.id()).await?;
    let id = registration_id(&told).unwrap_or_default();
    assert_result(&read_registration(&merchant, id).await?, 200, "000.100.110");
    assert_eq!(read_registration(&channel, id).await?.status, 404);
    assert_result(&pay_by_registration(&merchant, id, &REPEATED).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_waits_survives_a_power_cut_sealed_and_is_forgotten_after_a_month() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let account = [REGISTERING, ("bankAccount.iban", IBAN), ("bankAccount.bic", "TESTDETT421")];
    let order = [&account[..], &INITIAL].concat();
    let pending = [pay_by_brand(&shop, "GIROPAY", &order).await?, pay_by_brand(&shop, "GIROPAY", &order).await?];
    let sealed: Vec<u8> =
        open_database(&gateway)?.query_row("SELECT sealed FROM promise LIMIT 1", [], |row| row.get(0))?;
    for part in [IBAN, "0000012346"] {
        assert!(!String::from_utf8_lossy(&sealed).contains(part) && !gateway.read_log().contains(part));
    }
    let holds = |gateway: &TestGateway, what: &[u8]| -> anyhow::Result<bool> {
        let contains = |content: &Vec<u8>| content.windows(what.len()).any(|window| window == what);
        Ok(gateway.read_data_files()?.iter().any(contains))
    };
    assert!(holds(&gateway, &sealed)? && !holds(&gateway, IBAN.as_bytes())?);
    let late = pending[1].id();
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        // Expires the deferred effects of one of the two payments.
        let database = Database::open(data)?;
        let (until, now): (i64, i64) =
            database.query_row("SELECT until, unixepoch() * 1000 FROM promise WHERE payment = ?1", [late], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        anyhow::ensure!((29..=30).contains(&((until - now) / 86_400_000)), "{until}");
        database.execute("UPDATE promise SET until = 0 WHERE payment = ?1", [late])?;
        Ok(())
    })?;
    let shop = MerchantClient { base: gateway.base_url(), ..shop };
    poll_until("what waited for too long is forgotten", async || {
        Ok((count_rows(&gateway, "promise")? == 1).then_some(()))
    })
    .await?;
    for (pending, registers) in pending.iter().zip([true, false]) {
        let page = redirect_url(pending);
        let own = page.rsplit('/').next().unwrap_or_default();
        let pressed = press_button(&shop, &format!("{}v1/simulator/{own}", shop.base), "success").await?;
        assert_eq!(pressed.status(), 200);
        let told = read_payment(&shop, pending.id()).await?;
        assert_result(&told, 200, "000.100.110");
        assert_eq!(registration_id(&told).is_some(), registers, "{}", told.text);
        assert_eq!(initial_transaction_id(&told).is_some(), registers, "{}", told.text);
    }
    assert_eq!((count_accounts(&gateway)?, count_rows(&gateway, "promise")?), (1, 0));
    Ok(())
}
