//! A form that cannot be used: the sentence for the developer, with the line to write, and the shopper's way back.

use thirtyfour::prelude::*;
use tillgate_tests::{Browser, CardForm, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::network::{block_requests, fill_and_pay};

/// Records what the form writes on the console.
const LISTEN: &str = "console.warn = (text) => witness.note('console', text);";
const BACK: &str = ".wpwl-message.wpwl-has-error .wpwl-back";

/// Waits until the console has a sentence with this text.
async fn wait_for_sentence(browser: &Browser, text: &str) -> anyhow::Result<()> {
    let has = serde_json::json!(text);
    let condition = format!("witness.all().some(it => it.kind === 'console' && it.detail.includes({has}))");
    let waited = browser.wait_until(&condition).await;
    if waited.is_err() {
        panic!("no sentence with {text}: {:?}", browser.observed_details("console").await?);
    }
    Ok(())
}

/// Returns the address of the way back, as soon as it is there.
async fn read_way_back(browser: &Browser) -> anyhow::Result<String> {
    let link = browser.query(By::Css(BACK)).and_displayed().first().await?;
    Ok(link.attr("href").await?.unwrap_or_default())
}

#[tokio::test]
async fn a_misspelt_brand_is_named_with_the_nearest_one_and_the_others_pay() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let page = MerchantPage::for_checkout(&stage.checkout).with_brands("VISA MASTR").with_script(LISTEN);
        browser.goto(stage.site.add_page(page)).await?;
        wait_for_sentence(&browser, "data-brands names MASTR, and there is no such brand. The nearest one is MASTER")
            .await?;
        CardForm::wait_until_ready(&browser).await?;
        assert!(!browser.query(By::Css(BACK)).nowait().exists().await?);
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_checkout_that_cannot_be_paid_leads_back_to_the_shop() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let script = format!("{LISTEN} var wpwlOptions = {{ locale: 'de' }};");
        let page = MerchantPage::for_checkout_id("8a02.unknown").with_brands("VISA IDEAL").with_script(&script);
        browser.goto(stage.site.add_page(page)).await?;
        wait_for_sentence(&browser, "This checkout does not exist. checkoutId is 8a02.unknown. Create another").await?;
        assert_eq!(read_way_back(&browser).await?, stage.site.public);
        let link = browser.find(By::Css(BACK)).await?;
        assert_eq!(link.text().await?, "Zurück zum Shop");
        let every = "[...document.querySelectorAll('.wpwl-container')].every(it => it.querySelectorAll('.wpwl-back').length === 1)";
        browser.wait_until(every).await?;
        browser.sweep("message of a checkout that cannot be paid").await?;
        browser.save_screenshot("fault-unknown-checkout").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_address_that_only_the_query_names_is_no_way_back() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let script = format!(
            "{LISTEN} var wpwlOptions = {{ shopperResultUrl: new URLSearchParams(location.search).get('to') || '' }};"
        );
        let address = stage.site.add_page(MerchantPage::for_checkout_id("1.a").with_script(&script));
        for query in ["to=https://evil.example/", "to=https%3A%2F%2Fevil%2Eexample", "to=javascript:alert(1)"] {
            browser.goto(format!("{address}?{query}")).await?;
            wait_for_sentence(&browser, "This checkout does not exist.").await?;
            // There is a page before, so the way back is a button without an address.
            assert_eq!(read_way_back(&browser).await?, "", "{query}");
        }
        browser.goto(format!("{address}?order=1")).await?;
        assert_eq!(read_way_back(&browser).await?, stage.site.public);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_policy_without_the_frames_is_named_at_once_with_its_directive() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.set_policy(
        "default-src 'none'; script-src 'self' {gateway}; style-src {gateway}; frame-src 'self'; img-src data:",
    );
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(LISTEN)).await?;
        let origin = stage.gateway.public_url().trim_end_matches('/').to_owned();
        let expected = format!("The directive frame-src of the page's Content-Security-Policy blocks {origin}");
        wait_for_sentence(&browser, &expected).await?;
        wait_for_sentence(&browser, &format!("Write: frame-src 'self' {origin}")).await?;
        assert_eq!(read_way_back(&browser).await?, stage.site.public);
        browser.save_screenshot("fault-policy").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_policy_without_the_style_is_named_and_the_bare_form_pays() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.set_policy("default-src 'none'; script-src 'self' {gateway}; frame-src {gateway}; img-src data:");
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(LISTEN)).await?;
        wait_for_sentence(&browser, "The directive style-src-elem of the page's Content-Security-Policy blocks")
            .await?;
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_script_without_a_checkout_and_a_page_without_a_form_get_the_line_to_write() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id("").with_script(LISTEN))).await?;
        wait_for_sentence(&browser, "The script's address has no checkoutId, and wpwlOptions no createCheckout.")
            .await?;
        let remove = format!(
            "{LISTEN} document.addEventListener('DOMContentLoaded', () => document.querySelector('form.paymentWidgets').remove());"
        );
        browser.goto(stage.add_page(&remove)).await?;
        wait_for_sentence(&browser, "Write: <form class=\"paymentWidgets\"").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_second_script_in_the_page_is_named_and_the_last_one_pays() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let other =
            format!("<script src=\"{}v1/paymentWidgets.js?checkoutId=1.a\"></script>", stage.gateway.public_url());
        let page = MerchantPage::for_checkout(&stage.checkout).with_markup_before(&other).with_script(LISTEN);
        browser.goto(stage.site.add_page(page)).await?;
        wait_for_sentence(&browser, "The page has several scripts paymentWidgets.js").await?;
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_page_that_keeps_the_sentences_away_gets_one_line_with_their_file() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        block_requests(&browser, &["*://*:*/*fault.js"]).await?;
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id("").with_script(LISTEN))).await?;
        wait_for_sentence(&browser, "/js/fault.js did not load").await?;
        let lines = browser.observed_details("console").await?;
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with(&format!("Tillgate: {}v1/static/", stage.gateway.public_url())), "{lines:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_checkout_of_a_merchant_with_other_origins_names_the_page_that_they_lack() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&["--origin", "https://other.example"], &[]).await?;
    run_in_browser(move |browser| async move {
        // The form waits for its frames for fifteen seconds.
        let impatient = "const wait = window.setTimeout; window.setTimeout = (work, time) => wait(work, time === 15000 ? 500 : time);";
        browser.goto(stage.add_page(&format!("{LISTEN} {impatient}"))).await?;
        let origin = stage.site.public.trim_end_matches('/');
        wait_for_sentence(&browser, &format!("whose origins (entity set --origin) do not name {origin}.")).await?;
        assert_eq!(read_way_back(&browser).await?, stage.site.public);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_without_a_fault_loads_no_script_about_faults() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(LISTEN)).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.evaluate("!!document.querySelector('script[src*=\"fault.js\"]')").await?, false);
        assert_eq!(browser.observed_details("console").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}
