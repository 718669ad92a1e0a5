//! The review queue.

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::{MerchantClient, TestGateway, run_in_browser};

use super::{HOSTILE, become_administrator, check_pages};

/// Creates a merchant whose payments are all held for review.
pub(super) async fn hold_everything(gateway: &TestGateway) -> anyhow::Result<MerchantClient> {
    let merchant = gateway.create_merchant_with(&["--risk", "on", "--review", "hold"])?;
    let rules = "[[rule]]\nname = 'everything'\nwhen = 'amount > 0'\noutcome = 'review'\n";
    let added = merchant.post("v2/risk/rules", &[("rules", rules)]).await?;
    let version = added.json["version"].as_str().context("the version of the rules")?;
    merchant.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?;
    Ok(merchant)
}

/// Creates a merchant whose payments are all held for review, and makes one with both addresses and a note. Returns the
/// payment's id.
async fn hold_payment(gateway: &TestGateway) -> anyhow::Result<String> {
    let merchant = hold_everything(gateway).await?;
    let fields = [
        ("merchantTransactionId", HOSTILE),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("customer.email", "jane@shop.example"),
        ("billing.street1", "Main Street 1"),
        ("billing.city", "Seattle"),
        ("billing.country", "US"),
        ("shipping.street1", "Main Street 1"),
        ("shipping.city", "Lagos"),
        ("shipping.country", "NG"),
    ];
    let id = merchant.pay_by_card(&fields).await?.id().to_owned();
    for number in 0..30 {
        let note = format!("{number} {HOSTILE} {}", "long words ".repeat(60));
        merchant.post(&format!("v2/reviews/{id}/note"), &[("note", &note)]).await?;
        merchant.pay_by_card(&[]).await?;
    }
    Ok(id)
}

#[tokio::test]
async fn the_pages_of_reviews_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let held = hold_payment(&gateway).await?;
    let lists = [
        "/reviews",
        "/reviews?view=mine",
        "/reviews?view=all",
        "/reviews/statistics",
        "/reviews/decisions",
        "/reviews/callbacks",
    ];
    let own = [format!("/reviews/{held}?done=review_approved"), format!("/reviews/decisions?payment={held}")];
    check_pages(gateway, [&lists.map(str::to_owned)[..], &own].concat()).await
}

#[tokio::test]
async fn the_queue_shows_a_new_payment_by_itself_and_leaves_a_part_in_use_alone() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = hold_everything(&gateway).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        for page in ["backoffice", "backoffice/reviews"] {
            browser.goto(format!("{}{page}", gateway.public_url())).await?;
            let held = merchant.pay_by_card(&[]).await?.id().to_owned();
            let link = format!("document.querySelector('main a[href$=\"{held}\"]')");
            assert!(browser.evaluate(&link).await?.is_null(), "{page}");
            // The page is shown again.
            let show = "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))";
            browser.evaluate(show).await?;
            browser.wait_until(&link).await?;
            // Somebody is about to open a payment: the part stays as it is.
            browser.evaluate(&format!("({link}.focus(), window.kept = {link}, 1)")).await?;
            merchant.pay_by_card(&[]).await?;
            let read = "new Promise(done => {
                const observer = new PerformanceObserver(() => { observer.disconnect(); setTimeout(done); });
                observer.observe({ type: 'resource' });
                document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
            })";
            browser.evaluate(read).await?;
            assert_eq!(browser.evaluate("document.activeElement === window.kept").await?, true, "{page}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_analyst_decides_by_keyboard_and_the_next_payment_opens() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let first = hold_payment(&gateway).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        browser.goto(format!("{}backoffice/reviews", gateway.public_url())).await?;
        let press = async |key: &str| browser.action_chain().send_keys(key).perform().await;
        let press_enter = async || browser.action_chain().send_keys(Key::Enter + "").perform().await;
        for key in ["j", "j", "k"] {
            press(key).await?;
        }
        browser.wait_until(&format!("document.activeElement?.href?.endsWith('{first}')")).await?;
        press_enter().await?;
        browser.wait_until(&format!("location.pathname.endsWith('{first}')")).await?;
        // A key opens the form of the cancellation, and decides nothing.
        press("c").await?;
        browser.wait_until("document.activeElement?.id === 'f-reason'").await?;
        browser.evaluate("document.activeElement.blur()").await?;
        press("n").await?;
        browser.wait_until("document.activeElement?.id === 'f-note'").await?;
        // The note has the keys as letters.
        press("a cap jnk").await?;
        let note = browser.evaluate("document.getElementById('f-note').value").await?;
        assert_eq!(note, "a cap jnk");
        browser.evaluate("document.activeElement.blur()").await?;
        press("a").await?;
        browser.wait_until("document.activeElement?.textContent === 'Approve'").await?;
        assert_eq!(browser.evaluate("location.search").await?, "", "the key alone has decided");
        press_enter().await?;
        browser.wait_until(&format!("location.search.startsWith('?previous={first}')")).await?;
        let notice = browser.find(By::Css(".toast p")).await?.text().await?;
        assert_eq!(notice, "You have approved the previous payment.");
        Ok(())
    })
    .await
}
