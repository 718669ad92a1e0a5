//! Refunds that need a second person in the back office, and attacks on the rule.

use anyhow::Context as _;
use futures_util::future::try_join;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, OfficeBrowser, Person};

const UNKNOWN: &str = "8a000000000000000000000000000000";

/// A shop whose refunds above 50 EUR need a second person, with two users who may refund.
struct Shop {
    gateway: TestGateway,
    merchant: MerchantClient,
    asker: Person,
    other: Person,
}

impl Shop {
    async fn open(approval: &str) -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant_with(&["--refund-approval", approval])?;
        let asker = Person::enrol(&gateway, "ask@shop.example", "merchant", Some(&merchant.entity_id)).await?;
        let other = Person::enrol(&gateway, "other@shop.example", "merchant", Some(&merchant.entity_id)).await?;
        Ok(Self { gateway, merchant, asker, other })
    }

    /// Pays 92 EUR. Returns the id of the payment.
    async fn pay(&self, fields: &[(&str, &str)]) -> anyhow::Result<String> {
        Ok(self.merchant.pay_by_card(fields).await?.id().to_owned())
    }

    async fn act(&self, payment: &str, act: &str, amount: &str) -> anyhow::Result<Answer> {
        let page = self.asker.browser.get(&format!("/payments/{payment}/{act}")).await?;
        let key = page.between("name=\"key\" value=\"", "\"").context(page.page.clone())?;
        self.send(payment, act, amount, key).await
    }

    async fn send(&self, payment: &str, act: &str, amount: &str, key: &str) -> anyhow::Result<Answer> {
        self.asker.browser.post(&format!("/payments/{payment}/{act}"), &[("amount", amount), ("key", key)]).await
    }

    /// Asks for a refund that needs a second person. Returns the path of the request.
    async fn ask(&self, payment: &str, amount: &str) -> anyhow::Result<String> {
        read_request(&self.act(payment, "refund", amount).await?)
    }

    /// Returns the amounts of the refunds of a payment that the API lists.
    async fn refunds(&self, payment: &str) -> anyhow::Result<Vec<String>> {
        let list = self.merchant.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
        let records = list.json["payments"].as_array().cloned().unwrap_or_default();
        let is_refund = |record: &&serde_json::Value| {
            ["RF", "RV"].iter().any(|kind| record["paymentType"] == *kind) && record["result"]["code"] == "000.100.110"
        };
        let refunds = records.iter().filter(is_refund);
        Ok(refunds.map(|record| record["amount"].as_str().unwrap_or_default().to_owned()).collect())
    }
}

/// Returns the path of the request to which an answer leads.
pub fn read_request(answer: &Answer) -> anyhow::Result<String> {
    let path = answer.header("location").strip_prefix("/backoffice").context(answer.page.clone())?;
    anyhow::ensure!(
        path.starts_with("/approvals/") && path.ends_with("?done=approval_asked"),
        "{path} {}",
        answer.page
    );
    Ok(path.trim_end_matches("?done=approval_asked").to_owned())
}

async fn approve(browser: &OfficeBrowser, request: &str) -> anyhow::Result<Answer> {
    browser.post(&format!("{request}/approve"), &[]).await
}

#[tokio::test]
async fn a_refund_above_the_limit_runs_when_another_user_approves_it() -> anyhow::Result<()> {
    let shop = Shop::open("50.00 EUR").await?;
    let paid = shop.pay(&[]).await?;
    let request = shop.ask(&paid, "60.00").await?;
    assert_eq!(shop.refunds(&paid).await?, Vec::<String>::new());
    assert!(shop.asker.browser.get("").await?.page.contains("Nothing waits"));
    let home = shop.other.browser.get("").await?.page;
    assert!(home.contains("Refund of 60.00 EUR") && home.contains(&request), "{home}");
    let page = shop.other.browser.get(&request).await?.page;
    for part in ["60.00 EUR", "Robin Quill", "Approve and refund", &format!("/payments/{paid}")] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(shop.other.browser.get("/approvals").await?.page.contains("Refund of 60.00 EUR"));
    // A field of the form changes nothing about what was asked.
    let forged = [("amount", "92.00"), ("payment", UNKNOWN), ("entity", UNKNOWN)];
    let approved = shop.other.browser.post(&format!("{request}/approve"), &forged).await?;
    assert!(approved.header("location").ends_with("?done=approval_approved"), "{}", approved.page);
    assert_eq!(shop.refunds(&paid).await?, ["60.00"]);
    let (asker, other) =
        (Person::find_id(&shop.gateway, &shop.asker.mail)?, Person::find_id(&shop.gateway, &shop.other.mail)?);
    let entries = read_entries(&shop.gateway, "approval approve")?;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["actor"], format!("user {other}"));
    assert_eq!(
        (&entries[0]["details"]["asker"], &entries[0]["details"]["amount"]),
        (&asker.into(), &"60.00 EUR".into())
    );
    let again = approve(&shop.other.browser, &request).await?;
    assert!(again.status == 422 && again.page.contains("000.100.110"), "{}", again.page);
    assert_eq!(shop.refunds(&paid).await?, ["60.00"]);
    Ok(())
}

#[tokio::test]
async fn a_large_refund_cannot_be_split_and_two_at_once_do_not_pass_the_limit_together() -> anyhow::Result<()> {
    let shop = Shop::open("50.00 EUR").await?;
    let paid = shop.pay(&[]).await?;
    assert!(shop.act(&paid, "refund", "30.00").await?.header("location").ends_with("?done=refund_approved"));
    shop.ask(&paid, "30.00").await?;
    assert!(shop.act(&paid, "refund", "20.00").await?.header("location").ends_with("?done=refund_approved"));
    shop.ask(&paid, "0.01").await?;
    assert_eq!(shop.refunds(&paid).await?, ["30.00", "20.00"]);
    let paid = shop.pay(&[]).await?;
    let answers = try_join(shop.act(&paid, "refund", "30.00"), shop.act(&paid, "refund", "30.00")).await?;
    let asked = [&answers.0, &answers.1].iter().filter(|answer| read_request(answer).is_ok()).count();
    assert_eq!((asked, shop.refunds(&paid).await?), (1, vec!["30.00".to_owned()]));
    // Captures of one reservation are one order.
    let held = shop.pay(&[("paymentType", "PA")]).await?;
    let mut captures = Vec::new();
    for _ in 0..2 {
        let fields = [("paymentType", "CP"), ("amount", "40.00"), ("currency", "EUR")];
        captures.push(shop.merchant.post(&format!("v1/payments/{held}"), &fields).await?.id().to_owned());
    }
    assert!(shop.act(&captures[0], "refund", "40.00").await?.header("location").ends_with("?done=refund_approved"));
    shop.ask(&captures[1], "40.00").await?;
    assert_eq!(shop.refunds(&held).await?, ["40.00"]);
    Ok(())
}

#[tokio::test]
async fn another_currency_and_the_reversal_of_a_debit_need_a_second_person_and_a_release_does_not() -> anyhow::Result<()>
{
    let shop = Shop::open("50.00 EUR").await?;
    let dollars = shop.pay(&[("currency", "USD"), ("amount", "5.00")]).await?;
    shop.ask(&dollars, "1.00").await?;
    let debit = shop.pay(&[]).await?;
    let request = read_request(&shop.act(&debit, "reversal", "").await?)?;
    assert_eq!(shop.refunds(&debit).await?, Vec::<String>::new());
    let approved = approve(&shop.other.browser, &request).await?;
    assert!(approved.header("location").ends_with("?done=approval_approved"), "{}", approved.page);
    assert_eq!(shop.refunds(&debit).await?, ["92.00"]);
    let held = shop.pay(&[("paymentType", "PA")]).await?;
    assert!(shop.act(&held, "reversal", "").await?.header("location").ends_with("?done=reversal_approved"));
    // Requests of the API and the channels of the merchant: only the back office asks for a second person.
    let paid = shop.pay(&[]).await?;
    let refund = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR")];
    assert_eq!(shop.merchant.post(&format!("v1/payments/{paid}"), &refund).await?.result_code(), "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_user_who_asked_never_approves_and_a_form_that_is_sent_twice_asks_once() -> anyhow::Result<()> {
    let mut shop = Shop::open("all").await?;
    let paid = shop.pay(&[]).await?;
    let page = shop.asker.browser.get(&format!("/payments/{paid}/refund")).await?;
    let key = page.between("name=\"key\" value=\"", "\"").context("no key")?.to_owned();
    let (one, two) =
        try_join(shop.send(&paid, "refund", "10.00", &key), shop.send(&paid, "refund", "10.00", &key)).await?;
    let request = read_request(&one)?;
    assert_eq!(request, read_request(&two)?);
    assert_eq!(shop.send(&paid, "refund", "11.00", &key).await?.status, 422, "the key stands for 10.00");
    // Another session is the same person.
    let second = OfficeBrowser::new(&shop.gateway);
    shop.asker.sign_in_with(&second).await?;
    for browser in [&shop.asker.browser, &second] {
        let page = browser.get(&request).await?.page;
        assert!(page.contains("Withdraw the request") && !page.contains("/approve\""), "{page}");
        for act in ["approve", "decline"] {
            let refused = browser.post(&format!("{request}/{act}"), &[("reason", "no")]).await?;
            assert!(refused.status == 422 && refused.page.contains("another user has to approve"), "{}", refused.page);
        }
    }
    let refused = shop.other.browser.post(&format!("{request}/withdraw"), &[]).await?;
    assert!(refused.status == 422 && refused.page.contains("only the user who asked"), "{}", refused.page);
    let withdrawn = shop.asker.browser.post(&format!("{request}/withdraw"), &[]).await?;
    assert!(withdrawn.header("location").ends_with("?done=approval_withdrawn"), "{}", withdrawn.page);
    let late = approve(&shop.other.browser, &request).await?;
    assert!(late.status == 422 && late.page.contains("the request was withdrawn"), "{}", late.page);
    assert_eq!(shop.refunds(&paid).await?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn two_approvals_at_once_refund_once_and_a_refusal_needs_its_reason() -> anyhow::Result<()> {
    let shop = Shop::open("all").await?;
    let third = Person::enrol(&shop.gateway, "third@shop.example", "merchant", Some(&shop.merchant.entity_id)).await?;
    let paid = shop.pay(&[]).await?;
    let request = shop.ask(&paid, "10.00").await?;
    let (one, two) = try_join(approve(&shop.other.browser, &request), approve(&third.browser, &request)).await?;
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!((statuses, shop.refunds(&paid).await?), ([303, 422], vec!["10.00".to_owned()]));
    let request = shop.ask(&paid, "11.00").await?;
    let long = "x".repeat(501);
    for reason in ["", " ", &long, "4012888888881881"] {
        let refused = shop.other.browser.post(&format!("{request}/decline"), &[("reason", reason)]).await?;
        assert_eq!(refused.status, 422, "{reason}");
    }
    let hostile = "<img src=x onerror=alert(1)>";
    let declined = shop.other.browser.post(&format!("{request}/decline"), &[("reason", hostile)]).await?;
    assert!(declined.header("location").ends_with("?done=approval_declined"), "{}", declined.page);
    let page = shop.asker.browser.get(&request).await?.page;
    assert!(page.contains("&lt;img src=x") && !page.contains(hostile), "{page}");
    assert_eq!(shop.refunds(&paid).await?, ["10.00"]);
    // An amount that was refunded meanwhile is no longer there, and the outcome says so.
    let request = shop.ask(&paid, "82.00").await?;
    let refund = [("paymentType", "RF"), ("amount", "50.00"), ("currency", "EUR")];
    shop.merchant.post(&format!("v1/payments/{paid}"), &refund).await?;
    let approved = approve(&shop.other.browser, &request).await?;
    assert!(approved.header("location").ends_with("?done=approval_refused"), "{}", approved.page);
    assert_eq!(shop.refunds(&paid).await?, ["10.00", "50.00"]);
    Ok(())
}

#[tokio::test]
async fn a_right_that_has_ended_and_a_stranger_approve_nothing() -> anyhow::Result<()> {
    let shop = Shop::open("all").await?;
    let stranger_shop = shop.gateway.create_merchant()?;
    let stranger =
        Person::enrol(&shop.gateway, "eve@other.example", "merchant", Some(&stranger_shop.entity_id)).await?;
    let viewer = Person::enrol(&shop.gateway, "view@shop.example", "viewer", Some(&shop.merchant.entity_id)).await?;
    let paid = shop.pay(&[]).await?;
    let request = shop.ask(&paid, "10.00").await?;
    let unknown = stranger.browser.get(&format!("/approvals/{UNKNOWN}")).await?;
    assert_eq!(unknown.status, 404);
    let read = stranger.browser.get(&request).await?;
    assert_eq!((read.status, &read.page), (404, &unknown.page));
    assert!(!stranger.browser.get("/approvals").await?.page.contains("10.00"));
    for act in ["approve", "decline", "withdraw"] {
        let answer = stranger.browser.post(&format!("{request}/{act}"), &[("reason", "no")]).await?;
        assert_eq!((answer.status, &answer.page), (404, &unknown.page), "{act}");
        assert_eq!(viewer.browser.post(&format!("{request}/{act}"), &[("reason", "no")]).await?.status, 403, "{act}");
    }
    let role = |mail: &'static str| ["--mail", mail, "--role", "merchant", "--entity", &*shop.merchant.entity_id];
    // The right of the user who approves ends while the form arrives, then that of the user who asked.
    let third = Person::enrol(&shop.gateway, "third@shop.example", "merchant", Some(&shop.merchant.entity_id)).await?;
    let approval = third.browser.begin_form(&format!("{request}/approve"), &[("x", "y")]).await?;
    shop.gateway.run_command(&[&["user", "role", "remove"], &role("third@shop.example")[..]].concat())?;
    assert_eq!(approval.finish().await?, 404);
    shop.gateway.run_command(&[&["user", "role", "remove"], &role("ask@shop.example")[..]].concat())?;
    let refused = approve(&shop.other.browser, &request).await?;
    assert!(refused.status == 422 && refused.page.contains("may not do this any more"), "{}", refused.page);
    assert_eq!(shop.refunds(&paid).await?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_channel_follows_its_merchant_and_only_somebody_above_changes_the_rule() -> anyhow::Result<()> {
    let shop = Shop::open("50.00 EUR").await?;
    let entity = &*shop.merchant.entity_id;
    let channel = shop.gateway.create_merchant_with(&["--merchant", entity])?;
    let paid = channel.pay_by_card(&[]).await?.id().to_owned();
    shop.ask(&paid, "60.00").await?;
    let boss = Person::enrol(&shop.gateway, "boss@shop.example", "administrator", Some(entity)).await?;
    let root = Person::enrol(&shop.gateway, "root@gateway.example", "administrator", None).await?;
    for (person, target, status) in [(&boss, entity, 422), (&boss, &*channel.entity_id, 422), (&root, entity, 303)] {
        let path = format!("/administration/entities/{target}/settings/approvals");
        let sent = person.browser.post(&path, &[("refund-approval", "none"), ("was-refund-approval", "x")]).await?;
        assert_eq!(sent.status, status, "{}", sent.page);
    }
    let root_path = format!("/administration/entities/{entity}/settings/approvals");
    for wrong in ["500", "<b>", "1 EUR, 1 EUR", "1 XYZ"] {
        let sent = root.browser.post(&root_path, &[("refund-approval", wrong)]).await?;
        assert!(sent.status == 422 && !sent.page.contains("<b>"), "{wrong}");
    }
    let shown = shop.gateway.run_command(&["entity", "show", "--entity", entity])?;
    assert!(shown["settings"]["refund_approval"].is_null(), "{shown}");
    Ok(())
}
