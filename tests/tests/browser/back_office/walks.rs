//! The morning walk of each role, by keyboard alone: Tab moves, Enter opens. Each is made in Chromium and in Firefox.
//! Changes are read back by the API or the command line.

use anyhow::Context as _;
use serde_json::Value;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, MerchantClient, TestGateway, run_in_browser, run_in_firefox};

use super::reviews::hold_everything;
use super::{become_administrator, become_user};

/// Maximum number of steps by Tab to a control of a page.
const MAX_STEPS: usize = 120;
/// A VISA number whose payments are declined.
const DECLINED_CARD: &str = "4200000000005512";
/// Expression of the text by which a person knows the focused control: its own, or that of its label.
const FOCUSED_TEXT: &str = "(control => (control?.labels?.[0] ?? control)?.textContent.trim() ?? '')\
                            (document.activeElement)";

/// Makes a walk in Chromium, and again in Firefox with a gateway of its own.
async fn walk_in_each_browser<Fut>(walk: impl Fn(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    run_in_browser(&walk).await?;
    run_in_firefox(&walk).await
}

/// Presses keys in the focused control.
async fn press(browser: &Browser, keys: impl Into<TypingData>) -> anyhow::Result<()> {
    // Keys that are sent to an element do not leave the parts of a date in Firefox.
    Ok(browser.action_chain().send_keys(keys).perform().await?)
}

/// Presses a key to which the page's script answers, once the script has run.
async fn press_shortcut(browser: &Browser, key: impl Into<TypingData>) -> anyhow::Result<()> {
    browser.wait_until("document.readyState === 'complete'").await?;
    press(browser, key).await
}

/// Presses Tab until the control with this text has the focus.
async fn tab_to(browser: &Browser, text: &str) -> anyhow::Result<()> {
    let mut passed = Vec::new();
    for _ in 0..MAX_STEPS {
        press(browser, Key::Tab + "").await?;
        let focused = browser.evaluate(FOCUSED_TEXT).await?;
        if focused == text {
            return Ok(());
        }
        passed.push(focused.as_str().unwrap_or_default().to_owned());
    }
    anyhow::bail!("no control {text} among {passed:?}")
}

/// Moves to a link or button by Tab, presses Enter, and waits until the page has this heading.
async fn open(browser: &Browser, text: &str, heading: &str) -> anyhow::Result<()> {
    tab_to(browser, text).await?;
    press(browser, Key::Enter + "").await?;
    wait_for_heading(browser, heading).await
}

async fn wait_for_heading(browser: &Browser, heading: &str) -> anyhow::Result<()> {
    let wanted = serde_json::to_string(heading)?;
    browser.wait_until(&format!("document.querySelector('h1')?.textContent.trim().startsWith({wanted})")).await
}

/// Moves to a field by Tab, and replaces its value.
async fn fill(browser: &Browser, label: &str, value: &str) -> anyhow::Result<()> {
    tab_to(browser, label).await?;
    // The element lets go of the key Control afterwards.
    browser.active_element().await?.send_keys(Key::Control + "a").await?;
    press(browser, value).await
}

/// Returns the text of the page.
async fn page_text(browser: &Browser) -> anyhow::Result<String> {
    Ok(browser.find(By::Id("main")).await?.text().await?)
}

/// Returns type and amount of the follow-up payments of a payment.
async fn follow_ups(merchant: &MerchantClient, payment: &str) -> anyhow::Result<Vec<(Value, Value)>> {
    let list = merchant.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
    let records = list.json["payments"].as_array().cloned().unwrap_or_default();
    let others = records.iter().filter(|record| record["id"] != payment);
    Ok(others.map(|record| (record["paymentType"].clone(), record["amount"].clone())).collect())
}

/// Finds a declined payment by its last digits, and reads the reason.
async fn look_up_decline(browser: &Browser) -> anyhow::Result<()> {
    press_shortcut(browser, "/").await?;
    browser.wait_until("document.activeElement?.id === 'search'").await?;
    press(browser, "5512" + Key::Enter).await?;
    wait_for_heading(browser, "Payments").await?;
    let link = browser.find(By::Css("tbody th a")).await?.text().await?;
    tab_to(browser, link.lines().next().unwrap_or_default().trim()).await?;
    press(browser, Key::Enter + "").await?;
    browser.wait_until("location.pathname.includes('/payments/')").await?;
    let text = page_text(browser).await?;
    assert!(text.contains("Declined:") && text.contains("800.100."), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_merchant_sees_why_a_payment_was_declined_and_refunds_half_of_another() -> anyhow::Result<()> {
    walk_in_each_browser(async |browser| {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        let paid = merchant.pay_by_card(&[]).await?.id().to_owned();
        merchant.pay_by_card(&[("card.number", DECLINED_CARD)]).await?;
        become_user(&gateway, &browser, "merchant", &merchant.entity_id).await?;
        look_up_decline(&browser).await?;
        press_shortcut(&browser, "/").await?;
        press(&browser, paid.as_str() + Key::Enter).await?;
        browser.wait_until(&format!("location.pathname.endsWith('{paid}')")).await?;
        open(&browser, "Refund", "Refund").await?;
        fill(&browser, "Amount in EUR", "46.00").await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until("location.search === '?done=refund_approved'").await?;
        assert!(page_text(&browser).await?.contains("Refund: 46.00 EUR"));
        assert_eq!(follow_ups(&merchant, &paid).await?, [("RF".into(), "46.00".into())]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_accountant_opens_the_dispute_whose_time_ends_first_and_accepts_it() -> anyhow::Result<()> {
    walk_in_each_browser(async |browser| {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        let paid = merchant.pay_by_card(&[]).await?.id().to_owned();
        let reason = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
        merchant.post(&format!("v1/payments/{paid}"), &reason).await?;
        let list = merchant.get("v1/disputes").await?;
        let dispute = list.json["disputes"][0]["id"].as_str().context("no dispute")?.to_owned();
        become_user(&gateway, &browser, "accountant", &merchant.entity_id).await?;
        let work = browser.find(By::Css(".tasks a")).await?.text().await?;
        assert!(work.starts_with("Dispute over"), "{work}");
        tab_to(&browser, &work).await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until(&format!("location.pathname.endsWith('{dispute}')")).await?;
        tab_to(&browser, "Accept the dispute").await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until("location.hash === '#accept'").await?;
        tab_to(&browser, "Accept the dispute").await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until("location.search.startsWith('?done=')").await?;
        let read = merchant.get(&format!("v1/disputes/{dispute}")).await?;
        assert_eq!(read.json["stage"], "ACCEPTED", "{}", read.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_analyst_opens_the_most_urgent_review_cancels_it_and_lists_the_card() -> anyhow::Result<()> {
    walk_in_each_browser(async |browser| {
        let gateway = TestGateway::start()?;
        let merchant = hold_everything(&gateway).await?;
        let [first, second] = [merchant.pay_by_card(&[]).await?, merchant.pay_by_card(&[]).await?];
        become_user(&gateway, &browser, "analyst", &merchant.entity_id).await?;
        open(&browser, "Reviews", "Reviews").await?;
        // The keys lead to the payment whose time ends first, and to its cancellation.
        press_shortcut(&browser, "j").await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until(&format!("location.pathname.endsWith('{}')", first.id())).await?;
        press_shortcut(&browser, "c").await?;
        browser.wait_until("document.activeElement?.id === 'f-reason'").await?;
        press(&browser, "7").await?;
        fill(&browser, "Note", "stolen card").await?;
        tab_to(&browser, "Card 0000").await?;
        press(&browser, " ").await?;
        tab_to(&browser, "Cancel the payment").await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until(&format!("location.pathname.endsWith('{}')", second.id())).await?;
        let told = browser.find(By::Css(".toast")).await?.text().await?;
        assert!(told.contains("cancelled") && told.contains("on the list"), "{told}");
        let read = merchant.get(&format!("v2/reviews/{}", first.id())).await?;
        assert_eq!(read.json["review"]["state"], "cancelled", "{}", read.text);
        let entries = merchant.get("v2/risk/lists?key=card").await?;
        assert_eq!(entries.json["entries"][0]["list"], "deny", "{}", entries.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_developer_creates_a_webhook_and_copies_its_key() -> anyhow::Result<()> {
    walk_in_each_browser(async |browser| {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        become_user(&gateway, &browser, "developer", &merchant.entity_id).await?;
        open(&browser, "Deliveries", "Deliveries").await?;
        open(&browser, "New webhook", "New webhook").await?;
        fill(&browser, "Address", "https://shop.example/hook").await?;
        tab_to(&browser, "Create the webhook").await?;
        press(&browser, Key::Enter + "").await?;
        browser.query(By::Css("[data-copy]")).first().await.context("the key")?;
        let hooks = gateway.run_command(&["webhook", "list", "--entity", &merchant.entity_id])?;
        assert_eq!(hooks[0]["url"], "https://shop.example/hook", "{hooks}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_viewer_sees_a_payment_and_no_button_that_changes_it() -> anyhow::Result<()> {
    walk_in_each_browser(async |browser| {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        merchant.pay_by_card(&[("card.number", DECLINED_CARD)]).await?;
        let paid = merchant.pay_by_card(&[]).await?.id().to_owned();
        become_user(&gateway, &browser, "viewer", &merchant.entity_id).await?;
        look_up_decline(&browser).await?;
        browser.goto(format!("{}backoffice/payments/{paid}", gateway.public_url())).await?;
        let controls = "document.querySelectorAll('main form, main .actions a').length";
        assert_eq!(browser.evaluate(controls).await?, 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_administrator_makes_a_token_and_pays_with_it() -> anyhow::Result<()> {
    walk_in_each_browser(async |browser| {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        become_administrator(&gateway, &browser).await?;
        let account = format!("{}backoffice/administration/entities/{}", gateway.public_url(), merchant.entity_id);
        browser.goto(account).await?;
        fill(&browser, "Purpose", "web shop").await?;
        tab_to(&browser, "Create access token").await?;
        press(&browser, Key::Enter + "").await?;
        browser.wait_until("document.querySelector('#token code')").await?;
        let token = browser.find(By::Css("#token code")).await?.text().await?;
        let client = MerchantClient::new(gateway.base_url(), merchant.entity_id.clone(), token);
        tillgate_tests::poll_until("the gateway has read the token", async || {
            let paid = client.pay_by_card(&[]).await?;
            Ok((paid.status == 200).then_some(()))
        })
        .await
    })
    .await
}
