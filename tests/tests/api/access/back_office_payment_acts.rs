//! Acts on a payment in the back office: captures, refunds, reversals and inquiries, and attacks on their forms.

use anyhow::Context as _;
use futures_util::future::try_join_all;
use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, Person};
use crate::acquirer::payments::AcquirerScene;

/// A shop, and somebody who runs it.
struct Shop {
    gateway: TestGateway,
    merchant: MerchantClient,
    person: Person,
}

impl Shop {
    async fn open() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&merchant.entity_id)).await?;
        Ok(Self { gateway, merchant, person })
    }

    /// Carries an act out with the form of its page.
    async fn act(&self, payment: &str, act: &str, amount: &str) -> anyhow::Result<Answer> {
        let key = read_key(&self.person, payment, act).await?;
        self.send(payment, act, amount, &key).await
    }

    async fn send(&self, payment: &str, act: &str, amount: &str, key: &str) -> anyhow::Result<Answer> {
        self.person.browser.post(&format!("/payments/{payment}/{act}"), &[("amount", amount), ("key", key)]).await
    }

    /// Returns the follow-up payments of a payment: type, amount and result.
    async fn follow_ups(&self, payment: &str) -> anyhow::Result<Vec<(String, String, String)>> {
        let list = self.merchant.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
        Ok(read_records(&list, payment))
    }
}

/// Returns type, amount and result of the records in the answer of a query, except for one payment.
fn read_records(list: &ApiResponse, except: &str) -> Vec<(String, String, String)> {
    let text = |record: &Value, path: &str| record.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let records = list.json["payments"].as_array().cloned().unwrap_or_default();
    let others = records.iter().filter(|record| record["id"] != except);
    others.map(|record| (text(record, "/paymentType"), text(record, "/amount"), text(record, "/result/code"))).collect()
}

/// Returns the key of the form on the page of an act.
async fn read_key(person: &Person, payment: &str, act: &str) -> anyhow::Result<String> {
    let page = person.browser.get(&format!("/payments/{payment}/{act}")).await?;
    let key = page.between("name=\"key\" value=\"", "\"").context(page.page.clone())?;
    Ok(key.to_owned())
}

/// Asserts that an act has led to the payment, with this notice.
fn assert_done(answer: &Answer, payment: &str, notice: &str) {
    assert_eq!(answer.status, 303, "{}", answer.page);
    assert_eq!(answer.header("location"), format!("/backoffice/payments/{payment}?done={notice}"));
}

#[tokio::test]
async fn a_preauthorisation_is_captured_in_parts_and_a_debit_is_refunded_and_reversed() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let held = shop.merchant.pay_by_card(&[("paymentType", "PA")]).await?.id().to_owned();
    let page = shop.person.browser.get(&format!("/payments/{held}")).await?.page;
    assert!(page.contains("/capture\"") && page.contains("/reversal\"") && !page.contains("/refund\""), "{page}");
    let form = shop.person.browser.get(&format!("/payments/{held}/capture")).await?.page;
    assert!(form.contains("value=\"92.00\"") && form.contains("At most 92.00 EUR."), "{form}");
    assert_done(&shop.act(&held, "capture", "40,50").await?, &held, "capture_approved");
    assert_done(&shop.act(&held, "capture", " 51.5 ").await?, &held, "capture_approved");
    let captured: Vec<String> = shop.follow_ups(&held).await?.into_iter().map(|(_, amount, _)| amount).collect();
    assert_eq!(captured, ["40.50", "51.50"]);

    let paid = shop.merchant.pay_by_card(&[]).await?.id().to_owned();
    assert_done(&shop.act(&paid, "refund", "46").await?, &paid, "refund_approved");
    let page = shop.person.browser.get(&format!("/payments/{paid}?done=refund_approved")).await?.page;
    assert!(page.contains("The refund is approved.") && page.contains("Partly refunded"), "{page}");
    assert!(!page.contains("/reversal\""), "a payment that is refunded in part cannot be reversed: {page}");

    let wrong = shop.merchant.pay_by_card(&[]).await?.id().to_owned();
    assert_done(&shop.act(&wrong, "reversal", "").await?, &wrong, "reversal_approved");
    // The audit log names the user and the address.
    let entries = read_entries(&shop.gateway, "")?;
    let user = Person::find_id(&shop.gateway, &shop.person.mail)?;
    let is_by_user =
        |entry: &&Value| entry["actor"] == format!("user {user}") && entry["details"]["address"] == "127.0.0.1";
    let by_user = entries.iter().filter(is_by_user);
    assert_eq!(by_user.count(), 4);
    Ok(())
}

#[tokio::test]
async fn a_form_that_is_sent_twenty_times_at_once_refunds_once() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let paid = shop.merchant.pay_by_card(&[]).await?.id().to_owned();
    let key = read_key(&shop.person, &paid, "refund").await?;
    let answers = try_join_all((0..20).map(|_| shop.send(&paid, "refund", "10.00", &key))).await?;
    for answer in &answers {
        assert_done(answer, &paid, "refund_approved");
    }
    assert_eq!(shop.follow_ups(&paid).await?.len(), 1);
    // The key stands for these values only, and a new form refunds again.
    let changed = shop.send(&paid, "refund", "11.00", &key).await?;
    assert_eq!(changed.status, 422);
    assert!(changed.page.contains("sent with other values"), "{}", changed.page);
    assert_done(&shop.act(&paid, "refund", "10.00").await?, &paid, "refund_approved");
    assert_eq!(shop.follow_ups(&paid).await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_wrong_amount_or_key_changes_nothing_and_the_form_keeps_what_was_typed() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let paid = shop.merchant.pay_by_card(&[]).await?.id().to_owned();
    for amount in ["", "x", "-1", "1.234", "1e3", "<b>", "99999999999999", "٣"] {
        let refused = shop.act(&paid, "refund", amount).await?;
        assert_eq!(refused.status, 422, "{amount}");
        assert!(refused.page.contains("Type an amount in EUR"), "{amount} {}", refused.page);
        assert!(!refused.page.contains("value=\"<b>\""), "{}", refused.page);
    }
    for key in ["", "office-", "8a", &"a".repeat(400)] {
        let refused = shop.send(&paid, "refund", "1.00", key).await?;
        assert_eq!(refused.status, 422, "{key}");
        assert!(refused.page.contains("This form is too old") && refused.page.contains("value=\"1.00\""));
    }
    assert!(shop.follow_ups(&paid).await?.is_empty());
    // More than there is changes nothing either.
    for amount in ["92.01", "0", "9999999999"] {
        let refused = shop.act(&paid, "refund", amount).await?;
        assert_eq!(refused.status, 422, "{amount} {}", refused.page);
        assert!(refused.page.contains("at most 92.00 EUR and more than zero"), "{amount} {}", refused.page);
    }
    assert!(shop.follow_ups(&paid).await?.is_empty());
    let yen = shop.merchant.pay_by_card(&[("amount", "9200"), ("currency", "JPY")]).await?.id().to_owned();
    let parts = shop.act(&yen, "refund", "10.50").await?;
    assert_eq!(parts.status, 422, "{}", parts.page);
    assert!(parts.page.contains("Type an amount in JPY"), "{}", parts.page);
    assert_done(&shop.act(&yen, "refund", "9200").await?, &yen, "refund_approved");
    Ok(())
}

#[tokio::test]
async fn payments_of_other_tenants_and_other_acts_do_not_exist() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let other = shop.gateway.create_merchant()?;
    let foreign = other.pay_by_card(&[("paymentType", "PA")]).await?.id().to_owned();
    let own = shop.merchant.pay_by_card(&[]).await?.id().to_owned();
    let key = read_key(&shop.person, &own, "refund").await?;
    let unknown = "8a000000000000000000000000000000";
    for (payment, act) in [
        (&*foreign, "capture"),
        (&*foreign, "refund"),
        (&*foreign, "reversal"),
        (&*foreign, "inquiry"),
        (unknown, "refund"),
        (&*own, "chargeback"),
        (&*own, "none"),
        ("..", "refund"),
    ] {
        let path = format!("/payments/{payment}/{act}");
        let sent = shop.send(payment, act, "1.00", &key).await?;
        assert_eq!(sent.status, 404, "{path} {}", sent.page);
        if act != "inquiry" {
            assert_eq!(shop.person.browser.get(&path).await?.status, 404, "{path}");
        }
    }
    for payment in [&foreign, &own] {
        let list = other.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
        assert!(read_records(&list, payment).is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn a_right_or_a_session_that_ends_while_a_refund_arrives_moves_no_money() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let second = Person::enrol(&shop.gateway, "kim@shop.example", "merchant", Some(&shop.merchant.entity_id)).await?;
    let paid = shop.merchant.pay_by_card(&[]).await?.id().to_owned();
    let path = format!("/payments/{paid}/refund");
    let mut forms = Vec::new();
    for person in [&shop.person, &second] {
        let key = read_key(person, &paid, "refund").await?;
        forms.push(person.browser.begin_form(&path, &[("amount", "1.00"), ("key", &key)]).await?);
    }
    let lost = ["--mail", &*shop.person.mail, "--role", "merchant", "--entity", &shop.merchant.entity_id];
    shop.gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    second.browser.post("/sign-out", &[]).await?;
    for form in forms {
        assert_eq!(form.finish().await?, 404);
    }
    assert!(shop.follow_ups(&paid).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_acquirer_is_asked_for_an_unknown_outcome() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &[]).await?;
    let entity = Some(&*scene.shop.entity_id);
    let person = Person::enrol(&scene.gateway, "robin@shop.example", "merchant", entity).await?;
    // The answer is cut off, and so are those to all inquiries of the first host.
    scene.host.schedule_fault("inquire", "cut", 1000).await?;
    let made = scene.pay_by_card("2000.03", &[]).await?;
    assert_eq!(made.result_code(), "000.200.000");
    let (page, inquiry) = (format!("/payments/{}", made.id()), format!("/payments/{}/inquiry", made.id()));
    let shown = person.browser.get(&page).await?.page;
    assert!(shown.contains("Ask the acquirer"), "{shown}");
    assert_done(&person.browser.post(&inquiry, &[]).await?, made.id(), "inquiry_open");
    let scene = scene.restart_host()?;
    poll_until("the acquirer answers", async || {
        let asked = person.browser.post(&inquiry, &[]).await?;
        Ok(asked.header("location").ends_with("inquiry_known").then_some(()))
    })
    .await?;
    assert_ne!(scene.shop.read_status(made.id()).await?.result_code(), "000.200.000");
    let shown = person.browser.get(&page).await?.page;
    assert!(!shown.contains("Ask the acquirer"), "{shown}");
    scene.reconcile().await
}
