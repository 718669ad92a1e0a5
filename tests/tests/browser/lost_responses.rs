//! Submits without a response: the form times out, shows a message, and never pays twice. A shopper whose payment was
//! made is redirected to the result.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, MerchantSite, Proxy, ProxyFault, run_in_browser};

use crate::forms::{click_element, enter_text};
use crate::{APPROVED, CheckoutFixture, PENDING};

/// The hidden frame that sends the submits of forms without a card number.
const RELAY: &str = "iframe[src*='internalRequestIframe.html']";
/// Time-out of the frames for a response, in milliseconds.
const PATIENCE: u64 = 30_000;

/// Creates a fixture whose browsers reach the gateway through a proxy. Its checkout has this order reference.
pub(crate) async fn fixture_behind_proxy(order: &str) -> anyhow::Result<(CheckoutFixture, Proxy)> {
    let fixture = CheckoutFixture::with_fields(&[("merchantTransactionId", order)]).await?;
    let proxy = Proxy::start(fixture.gateway).await?;
    let site = MerchantSite::start_at(&proxy.public).await?;
    Ok((CheckoutFixture { site, ..fixture }, proxy))
}

/// Runs a script in a frame of the gateway, returns to the page, and returns the script's value.
async fn execute_in_frame(browser: &Browser, frame: &str, script: &str) -> anyhow::Result<serde_json::Value> {
    browser.find(By::Css(frame)).await?.enter_frame().await?;
    let result = browser.execute(script, vec![]).await;
    browser.enter_default_frame().await?;
    Ok(result?.json().clone())
}

/// Stops the timers that a frame starts from now on, until the test fires them.
async fn capture_timers(browser: &Browser, frame: &str) -> anyhow::Result<()> {
    let script = "window.due = []; window.setTimeout = (work, time) => void due.push({ work, time })";
    execute_in_frame(browser, frame, script).await.map(drop)
}

/// Fires the last timer of a frame, and asserts that it is the time-out of a response.
async fn fire_timer(browser: &Browser, frame: &str) -> anyhow::Result<()> {
    let time = execute_in_frame(browser, frame, "const { work, time } = due.pop(); work(); return time").await?;
    assert_eq!(time, PATIENCE);
    Ok(())
}

/// Returns the number of payments of an order, or `None` if the query finds none.
pub(crate) async fn count_payments(fixture: &CheckoutFixture, order: &str) -> anyhow::Result<Option<usize>> {
    let found = fixture.merchant.get(&format!("v1/query?merchantTransactionId={order}")).await?;
    Ok(found.json["payments"].as_array().map(Vec::len))
}

#[tokio::test]
async fn a_payment_whose_answer_is_lost_is_made_once_and_leads_to_its_result() -> anyhow::Result<()> {
    for (order, brand, trouble) in [
        ("lost-card", "VISA", ProxyFault::ResponseDropped),
        ("broken-card", "VISA", ProxyFault::ResponseTruncated),
        ("late-card", "VISA", ProxyFault::GatewayTimeout),
        ("lost-debit", "SEPA", ProxyFault::ResponseDropped),
        ("late-debit", "SEPA", ProxyFault::GatewayTimeout),
        ("lost-transfer", "IDEAL", ProxyFault::ResponseDropped),
    ] {
        let (stage, proxy) = fixture_behind_proxy(order).await?;
        run_in_browser(move |browser| async move {
            stage.open_forms(&browser, brand, "onError(error) { witness.note('failed', error.name); }").await?;
            let frame = if brand == "VISA" { NUMBER_FRAME } else { RELAY };
            match brand {
                "VISA" => CardForm::wait_until_ready(&browser).await?.fill_fields().await?,
                "SEPA" => {
                    enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                    enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
                }
                _ => {}
            }
            capture_timers(&browser, frame).await?;
            proxy.schedule_fault("POST", "/payment", trouble);
            click_element(&browser, ".wpwl-button[type=submit]").await?;
            proxy.wait_for_faults(1).await?;
            if trouble == ProxyFault::ResponseDropped {
                fire_timer(&browser, frame).await?;
            }
            if brand == "IDEAL" {
                browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
                assert_eq!(stage.read_result_code().await?, PENDING, "{order}");
            } else {
                browser.query(By::Id("result")).first().await?;
                assert_eq!(stage.read_result_code().await?, APPROVED, "{order}");
            }
            assert_eq!((stage.submit_count(), count_payments(&stage, order).await?), (2, Some(1)), "{order}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_submit_that_nobody_answers_is_given_up_and_the_button_lives_again() -> anyhow::Result<()> {
    // Either all requests are lost, or only the submit.
    for (order, brand, dead) in
        [("dead-card", "VISA", true), ("gone-card", "VISA", false), ("dead-debit", "SEPA", true)]
    {
        let (stage, proxy) = fixture_behind_proxy(order).await?;
        run_in_browser(move |browser| async move {
            stage
                .open_forms(&browser, brand, "locale: 'fr', onError(error) { witness.note('failed', error.name); }")
                .await?;
            let frame = if brand == "VISA" { NUMBER_FRAME } else { RELAY };
            if brand == "VISA" {
                CardForm::wait_until_ready(&browser).await?.fill_fields().await?;
            } else {
                enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
            }
            capture_timers(&browser, frame).await?;
            proxy.schedule_fault("POST", "/payment", ProxyFault::RequestDropped);
            if dead {
                proxy.schedule_fault("GET", "/state", ProxyFault::RequestDropped);
            }
            click_element(&browser, ".wpwl-button-pay").await?;
            proxy.wait_for_faults(1).await?;
            browser.query(By::Css(".wpwl-button-busy + .wpwl-spinner")).first().await?;
            assert_eq!(browser.observed_details("failed").await?, Vec::<String>::new());
            fire_timer(&browser, frame).await?;
            if dead {
                proxy.wait_for_faults(2).await?;
                fire_timer(&browser, frame).await?;
            }
            assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeSubmitError");
            let notice =
                browser.query(By::Css(".wpwl-message.wpwl-has-error[role=alert]")).and_displayed().first().await?;
            // Only if the gateway answers the status request, the form knows that nothing was paid.
            let known = if dead { "l’on ne sait pas" } else { "n’a pas pu être envoyé" };
            let text = notice.text().await?;
            assert!(text.contains(known) && text.contains("réessayer"), "{order}: {text}");
            browser
                .wait_until("!document.querySelector('.wpwl-button-busy, .wpwl-spinner, .wpwl-button-pay:disabled')")
                .await?;
            assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (0, PENDING), "{order}");
            // The input is kept.
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(stage.read_result_code().await?, APPROVED, "{order}");
            assert_eq!((stage.submit_count(), count_payments(&stage, order).await?), (1, Some(1)), "{order}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_frame_whose_checks_do_not_come_is_not_waited_for_for_ever_either() -> anyhow::Result<()> {
    let (stage, proxy) = fixture_behind_proxy("no-checks").await?;
    run_in_browser(move |browser| async move {
        // Both frames request the file.
        for _ in 0..2 {
            proxy.schedule_fault("GET", "/frame/frame.js", ProxyFault::ResponseTruncated);
        }
        stage.open_forms(&browser, "VISA", "onError(error) { witness.note('failed', error.name); }").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        proxy.wait_for_faults(1).await?;
        proxy.clear_faults();
        capture_timers(&browser, NUMBER_FRAME).await?;
        proxy.schedule_fault("GET", "/frame/frame.js", ProxyFault::RequestDropped);
        form.press_pay_button().await?;
        fire_timer(&browser, NUMBER_FRAME).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeSubmitError");
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_is_asked_for_no_other_checkout_while_nobody_knows_whether_the_last_was_paid() -> anyhow::Result<()> {
    let (stage, proxy) = fixture_behind_proxy("made-late").await?;
    run_in_browser(move |browser| async move {
        let script = format!(
            "var wpwlOptions = {{ createCheckout() {{ witness.note('made', ''); return '{}'; }}, onError(error) {{ witness.note('failed', error.name); }} }};",
            stage.checkout.id()
        );
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id("").with_script(&script))).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        capture_timers(&browser, NUMBER_FRAME).await?;
        proxy.schedule_fault("POST", "/payment", ProxyFault::RequestDropped);
        proxy.schedule_fault("GET", "/state", ProxyFault::RequestDropped);
        form.press_pay_button().await?;
        for met in [1, 2] {
            proxy.wait_for_faults(met).await?;
            fire_timer(&browser, NUMBER_FRAME).await?;
        }
        assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeSubmitError");
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.observed_details("made").await?.len(), 1);
        assert_eq!(count_payments(&stage, "made-late").await?, Some(1));
        Ok(())
    })
    .await
}
