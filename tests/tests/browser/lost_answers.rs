//! A submit whose answer does not come: the form gives up in time, says so, and never pays twice; a shopper who has paid
//! all the same gets to the result.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER};
use tillgate_tests::{Browser, Page, Proxy, Site, Trouble, browse};

use crate::forms::{click, fill};
use crate::{APPROVED, PENDING, Stage};

/// The hidden frame that sends what forms without a card number post.
const RELAY: &str = "iframe[src*='internalRequestIframe.html']";
/// How long the frames wait for an answer, in milliseconds.
const PATIENCE: u64 = 30_000;

/// A stage whose shoppers come through a proxy, with an order of its own.
async fn behind_a_proxy(order: &str) -> anyhow::Result<(Stage, Proxy)> {
    let stage = Stage::with(&[("merchantTransactionId", order)]).await?;
    let proxy = Proxy::before(stage.gateway).await?;
    let site = Site::start_at(&proxy.public).await?;
    Ok((Stage { site, ..stage }, proxy))
}

/// Runs a script in a frame of ours.
async fn within(browser: &Browser, frame: &str, script: &str) -> anyhow::Result<serde_json::Value> {
    browser.find(By::Css(frame)).await?.enter_frame().await?;
    let answer = browser.execute(script, vec![]).await;
    browser.enter_default_frame().await?;
    Ok(answer?.json().clone())
}

/// From now on no time passes for a frame but at the test's word.
async fn stop_the_clock(browser: &Browser, frame: &str) -> anyhow::Result<()> {
    let script = "window.due = []; window.setTimeout = (work, time) => void due.push({ work, time })";
    within(browser, frame, script).await.map(drop)
}

/// Lets the time pass that the frame waits for now.
async fn let_it_pass(browser: &Browser, frame: &str) -> anyhow::Result<()> {
    let waited = within(browser, frame, "const { work, time } = due.pop(); work(); return time").await?;
    assert_eq!(waited, PATIENCE);
    Ok(())
}

/// How many payments there are for an order.
async fn payments(stage: &Stage, order: &str) -> anyhow::Result<Option<usize>> {
    let found = stage.merchant.get(&format!("v1/query?merchantTransactionId={order}")).await?;
    Ok(found.json["payments"].as_array().map(Vec::len))
}

#[tokio::test]
async fn a_payment_whose_answer_is_lost_is_made_once_and_leads_to_its_result() -> anyhow::Result<()> {
    for (order, brand, trouble) in [
        ("lost-card", "VISA", Trouble::Unanswered),
        ("broken-card", "VISA", Trouble::BrokenOff),
        ("late-card", "VISA", Trouble::TimedOut),
        ("lost-debit", "SEPA", Trouble::Unanswered),
        ("late-debit", "SEPA", Trouble::TimedOut),
        ("lost-transfer", "IDEAL", Trouble::Unanswered),
    ] {
        let (stage, proxy) = behind_a_proxy(order).await?;
        browse(move |browser| async move {
            stage.open(&browser, brand, "onError(error) { witness.note('failed', error.name); }").await?;
            let frame = if brand == "VISA" { NUMBER } else { RELAY };
            match brand {
                "VISA" => CardForm::ready(&browser).await?.fill().await?,
                "SEPA" => {
                    fill(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                    fill(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
                    fill(&browser, ".wpwl-control-accountBank", "MARKDEF1100").await?;
                }
                _ => {}
            }
            stop_the_clock(&browser, frame).await?;
            proxy.trouble("POST", "/payment", trouble);
            click(&browser, ".wpwl-button[type=submit]").await?;
            proxy.until_met(1).await?;
            if trouble == Trouble::Unanswered {
                let_it_pass(&browser, frame).await?;
            }
            if brand == "IDEAL" {
                browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
                assert_eq!(stage.code().await?, PENDING, "{order}");
            } else {
                browser.query(By::Id("result")).first().await?;
                assert_eq!(stage.code().await?, APPROVED, "{order}");
            }
            assert_eq!((stage.submits(), payments(&stage, order).await?), (2, Some(1)), "{order}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_submit_that_nobody_answers_is_given_up_and_the_button_lives_again() -> anyhow::Result<()> {
    // The whole line is dead, or what was sent alone is lost.
    for (order, brand, dead) in
        [("dead-card", "VISA", true), ("gone-card", "VISA", false), ("dead-debit", "SEPA", true)]
    {
        let (stage, proxy) = behind_a_proxy(order).await?;
        browse(move |browser| async move {
            stage.open(&browser, brand, "locale: 'fr', onError(error) { witness.note('failed', error.name); }").await?;
            let frame = if brand == "VISA" { NUMBER } else { RELAY };
            if brand == "VISA" {
                CardForm::ready(&browser).await?.fill().await?;
            } else {
                fill(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                fill(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
                fill(&browser, ".wpwl-control-accountBank", "MARKDEF1100").await?;
            }
            stop_the_clock(&browser, frame).await?;
            proxy.trouble("POST", "/payment", Trouble::Swallowed);
            if dead {
                proxy.trouble("GET", "/state", Trouble::Swallowed);
            }
            click(&browser, ".wpwl-button-pay").await?;
            proxy.until_met(1).await?;
            browser.query(By::Css(".wpwl-button-busy + .wpwl-spinner")).first().await?;
            assert_eq!(browser.seen_of("failed").await?, Vec::<String>::new());
            let_it_pass(&browser, frame).await?;
            if dead {
                proxy.until_met(2).await?;
                let_it_pass(&browser, frame).await?;
            }
            assert_eq!(browser.until_seen("failed").await?, "PciIframeSubmitError");
            let notice =
                browser.query(By::Css(".wpwl-message.wpwl-has-error[role=alert]")).and_displayed().first().await?;
            // Only where the gateway can be asked is it known that nothing has been paid.
            let known = if dead { "l’on ne sait pas" } else { "n’a pas pu être envoyé" };
            let text = notice.text().await?;
            assert!(text.contains(known) && text.contains("réessayer"), "{order}: {text}");
            browser
                .until("!document.querySelector('.wpwl-button-busy, .wpwl-spinner, .wpwl-button-pay:disabled')")
                .await?;
            assert_eq!((stage.submits(), stage.code().await?.as_str()), (0, PENDING), "{order}");
            // Nothing has to be typed again.
            click(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(stage.code().await?, APPROVED, "{order}");
            assert_eq!((stage.submits(), payments(&stage, order).await?), (1, Some(1)), "{order}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_frame_whose_checks_do_not_come_is_not_waited_for_for_ever_either() -> anyhow::Result<()> {
    let (stage, proxy) = behind_a_proxy("no-checks").await?;
    browse(move |browser| async move {
        // Both frames ask for it.
        for _ in 0..2 {
            proxy.trouble("GET", "/frame/frame.js", Trouble::BrokenOff);
        }
        stage.open(&browser, "VISA", "onError(error) { witness.note('failed', error.name); }").await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        proxy.until_met(1).await?;
        proxy.heal();
        stop_the_clock(&browser, NUMBER).await?;
        proxy.trouble("GET", "/frame/frame.js", Trouble::Swallowed);
        form.pay().await?;
        let_it_pass(&browser, NUMBER).await?;
        assert_eq!(browser.until_seen("failed").await?, "PciIframeSubmitError");
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_eq!(stage.submits(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_is_asked_for_no_other_checkout_while_nobody_knows_whether_the_last_was_paid() -> anyhow::Result<()> {
    let (stage, proxy) = behind_a_proxy("made-late").await?;
    browse(move |browser| async move {
        let script = format!(
            "var wpwlOptions = {{ createCheckout() {{ witness.note('made', ''); return '{}'; }}, onError(error) {{ witness.note('failed', error.name); }} }};",
            stage.checkout.id()
        );
        browser.goto(stage.site.add(Page::for_id("").script(&script))).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        stop_the_clock(&browser, NUMBER).await?;
        proxy.trouble("POST", "/payment", Trouble::Swallowed);
        proxy.trouble("GET", "/state", Trouble::Swallowed);
        form.pay().await?;
        for met in [1, 2] {
            proxy.until_met(met).await?;
            let_it_pass(&browser, NUMBER).await?;
        }
        assert_eq!(browser.until_seen("failed").await?, "PciIframeSubmitError");
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.seen_of("made").await?.len(), 1);
        assert_eq!(payments(&stage, "made-late").await?, Some(1));
        Ok(())
    })
    .await
}
