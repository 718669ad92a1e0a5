//! Target windows of pages: `paymentTarget` and `shopperResultTarget`; and pages that may embed the frames.

use serde_json::json;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// The strictest policy that lets the merchant's page show its own pages in frames.
const WITH_FRAMES: &str = "default-src 'none'; script-src 'self' {gateway} 'wasm-unsafe-eval'; \
    style-src 'self' {gateway}; frame-src 'self' {gateway}; img-src 'self' data:; form-action 'self' {gateway}";
const FRAME: &str = r#"<iframe name="mine" title="Mine" src="about:blank"></iframe>"#;

#[tokio::test]
async fn the_result_opens_where_the_merchant_wants_it() -> anyhow::Result<()> {
    let cases = [
        ("paymentTarget: '_top', shopperResultTarget: 'mine'", true),
        ("shopperResultTarget: 'mine'", false),
        ("paymentTarget: '_top'", false),
    ];
    run_in_browser(move |browser| async move {
        for (options, in_frame) in cases {
            let stage = CheckoutFixture::new().await?;
            stage.site.set_policy(WITH_FRAMES);
            let script = format!("var wpwlOptions = {{ {options} }};");
            let page = stage
                .site
                .add_page(MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_markup_after(FRAME));
            browser.goto(&page).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            if in_frame {
                let inside = "document.querySelector('[name=mine]').contentWindow.location";
                browser.wait_until(&format!("{inside}.search.includes('resourcePath=')")).await?;
                assert_eq!(browser.current_url().await?.as_str(), page, "{options}");
            } else {
                browser.wait_until("location.pathname === '/result'").await?;
            }
            assert_eq!(stage.read_result_code().await?, APPROVED, "{options}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_without_a_checkout_pays_no_checkout_of_another_merchants_page() -> anyhow::Result<()> {
    let mut stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { createCheckout: function () { return window.id; },
        onError: function (error) { witness.note('failed', error.message); } };";
    let own = stage.site.public.trim_end_matches('/').to_owned();
    let elsewhere = stage.gateway.create_merchant_with(&["--origin", "https://shop.example"])?;
    let foreign = elsewhere.create_checkout(&[]).await?;
    stage.merchant = stage.gateway.create_merchant_with(&["--origin", &own])?;
    stage.checkout = stage.merchant.create_checkout(&[]).await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id("").with_script(script))).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        browser.execute("window.id = arguments[0]", vec![json!(foreign.id())]).await?;
        form.press_pay_button().await?;
        assert!(browser.wait_for_observation("failed").await?.contains("shopOrigin"));
        assert_eq!(elsewhere.read_status(foreign.id()).await?.result_code(), crate::PENDING, "nobody was charged");
        browser.execute("window.id = arguments[0]", vec![json!(stage.checkout.id())]).await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
