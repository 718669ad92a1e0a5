//! Brands whose page opens in a popup: payment, cancellation, a closed popup, and the form's reaction.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, run_in_browser};

use crate::forms::click_element;
use crate::network::fill_and_pay;
use crate::{APPROVED, CheckoutFixture};

const OPTIONS: &str = "onLightboxCancel: function () { witness.note('cancelled', ''); }";
const WAITS: &str = "!!document.querySelector('.wpwl-container-virtualAccount-PAYPAL > .wpwl-message')";

/// Presses the brand's button, waits for the new window and switches to it. Returns the shop's window.
pub async fn open_popup(browser: &Browser) -> anyhow::Result<WindowHandle> {
    let shop = browser.window().await?;
    let before = browser.windows().await?;
    click_element(browser, ".wpwl-button-brand-PAYPAL").await?;
    let found = tillgate_tests::poll_until("a window of the brand", async || {
        Ok(browser.windows().await?.into_iter().find(|window| !before.contains(window)))
    });
    browser.switch_to_window(found.await?).await?;
    browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
    Ok(shop)
}

#[tokio::test]
async fn what_is_paid_in_the_window_takes_the_shop_on() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "PAYPAL VISA", OPTIONS).await?;
        let shop = open_popup(&browser).await?;
        let brand = browser.window().await?;
        browser.switch_to_window(shop.clone()).await?;
        browser.wait_until(WAITS).await?;
        browser.save_screenshot("popup-waiting").await?;
        browser.switch_to_window(brand).await?;
        click_element(&browser, "button[value=success]").await?;
        browser.switch_to_window(shop).await?;
        browser.query(By::Id("result")).first().await?;
        let address = browser.current_url().await?;
        assert!(address.query().unwrap_or_default().contains("resourcePath=%2Fv1%2Fcheckouts%2F"), "{address}");
        assert_eq!(stage.read_result_code().await?, APPROVED);
        assert!(browser.observed_details("cancelled").await?.is_empty());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn after_a_cancelled_or_closed_window_the_shopper_goes_on_with_another_brand() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "PAYPAL VISA", OPTIONS).await?;
        // Cancelled on the brand's page.
        let shop = open_popup(&browser).await?;
        click_element(&browser, "button[value=cancel]").await?;
        browser.switch_to_window(shop).await?;
        browser.wait_until("witness.all().filter(it => it.kind === 'cancelled').length === 1").await?;
        browser.wait_until(&format!("!{WAITS}")).await?;
        // The shopper closes the popup and then clicks in the shop's page.
        let shop = open_popup(&browser).await?;
        browser.close_window().await?;
        browser.switch_to_window(shop).await?;
        browser.wait_until(WAITS).await?;
        click_element(&browser, "h1").await?;
        browser.wait_until("witness.all().filter(it => it.kind === 'cancelled').length === 2").await?;
        // Cancelled in the form.
        let shop = open_popup(&browser).await?;
        browser.switch_to_window(shop).await?;
        click_element(&browser, ".wpwl-container-virtualAccount-PAYPAL > .wpwl-message button:last-of-type").await?;
        browser.wait_until("witness.all().filter(it => it.kind === 'cancelled').length === 3").await?;

        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("VISA"), "{}", status.text);
        Ok(())
    })
    .await
}

/// Keeps from the form that its page is in front again.
const SILENT: &str = "addEventListener('focus', event => event.stopImmediatePropagation(), true)";

#[tokio::test]
async fn a_closed_window_is_noticed_although_it_had_cut_itself_off_and_the_shopper_does_nothing() -> anyhow::Result<()>
{
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "PAYPAL VISA", OPTIONS).await?;
        browser.execute(SILENT, vec![]).await?;
        let shop = open_popup(&browser).await?;
        // A page that loads again was not left.
        browser.refresh().await?;
        let brand = browser.window().await?;
        browser.switch_to_window(shop.clone()).await?;
        browser.wait_until(WAITS).await?;
        let asked = "witness.all().filter(it => it.detail.includes('checkoutState: ')).length";
        let before = browser.evaluate(asked).await?.as_u64().unwrap_or_default();
        browser.wait_until(&format!("{asked} > {before} + 3")).await?;
        assert!(browser.observed_details("cancelled").await?.is_empty());
        browser.switch_to_window(brand).await?;
        browser.close_window().await?;
        browser.switch_to_window(shop).await?;
        browser.wait_for_observation("cancelled").await?;
        browser.wait_until(&format!("!{WAITS}")).await?;
        browser.wait_until("document.activeElement.matches('.wpwl-button-brand-PAYPAL')").await?;
        Ok(())
    })
    .await
}

/// Replaces the windows that the page opens by one that says of itself what the test wants, and never shows a page.
const FALSE_WINDOW: &str = "window.brand = { closed: false, name: 'brand', focus() {}, close() { this.closed = true; } };
    const place = {}; let looks = 0;
    Object.defineProperty(place, 'href', { set() { brand.closed = brand.cutsOff; }, get() { looks++; throw new Error('another origin'); } });
    Object.defineProperty(brand, 'location', { get: () => place });
    window.looks = () => looks; window.open = () => brand;";

#[tokio::test]
async fn a_window_that_has_kept_its_link_is_over_as_soon_as_it_is_closed() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "PAYPAL VISA", OPTIONS).await?;
        browser.execute(SILENT, vec![]).await?;
        browser.execute(FALSE_WINDOW, vec![]).await?;
        click_element(&browser, ".wpwl-button-brand-PAYPAL").await?;
        browser.wait_until(WAITS).await?;
        browser.wait_until("looks() > 3").await?;
        assert!(browser.observed_details("cancelled").await?.is_empty());
        browser.execute("brand.closed = true", vec![]).await?;
        browser.wait_for_observation("cancelled").await?;
        assert_eq!(browser.observed_details("cancelled").await?.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_window_that_looks_closed_from_the_beginning_is_over_once_the_shopper_is_back_in_the_page()
-> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "PAYPAL VISA", OPTIONS).await?;
        browser.execute(FALSE_WINDOW, vec![]).await?;
        browser.execute("brand.cutsOff = true", vec![]).await?;
        click_element(&browser, ".wpwl-button-brand-PAYPAL").await?;
        browser.wait_until(WAITS).await?;
        let asked = "witness.all().filter(it => it.detail.includes('checkoutState: PENDING')).length";
        browser.wait_until(&format!("{asked} > 4")).await?;
        assert!(browser.observed_details("cancelled").await?.is_empty());
        click_element(&browser, "h1").await?;
        browser.wait_for_observation("cancelled").await?;
        // The other way to pay is not held up.
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn escape_cancels_a_brands_page_inside_the_form_from_the_page_and_from_the_frame() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "PAYPAL EPS", &format!("{OPTIONS}, inlineFlow: ['PAYPAL']")).await?;
        for in_frame in [false, true] {
            click_element(&browser, ".wpwl-button-brand-PAYPAL").await?;
            let frame = browser.query(By::Css(".wpwl-container-virtualAccount-PAYPAL > iframe.wpwl-target"));
            frame.and_displayed().first().await?.enter_frame().await?;
            let button = browser.query(By::Css("button[value=success]")).first().await?;
            if in_frame {
                button.send_keys(Key::Escape + "").await?;
            }
            browser.enter_default_frame().await?;
            if !in_frame {
                let cancel = ".wpwl-container-virtualAccount-PAYPAL > .wpwl-message button:last-of-type";
                browser.query(By::Css(cancel)).first().await?.send_keys(Key::Escape + "").await?;
            }
            let count =
                format!("witness.all().filter(it => it.kind === 'cancelled').length === {}", 1 + u8::from(in_frame));
            browser.wait_until(&count).await?;
            browser.wait_until("document.activeElement.matches('.wpwl-button-brand-PAYPAL')").await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn where_no_window_may_open_the_brand_takes_the_tab_and_a_merchant_who_stops_it_leaves_none() -> anyhow::Result<()>
{
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage
            .open_forms(
                &browser,
                "PAYPAL",
                "onBeforeSubmitVirtualAccount: function () { return Promise.resolve(window.goOn || false); }",
            )
            .await?;
        click_element(&browser, ".wpwl-button-brand-PAYPAL").await?;
        browser.wait_until("!document.querySelector('.wpwl-button-busy')").await?;
        tillgate_tests::poll_until("one window", async || Ok((browser.windows().await?.len() == 1).then_some(())))
            .await?;
        assert_eq!(stage.submit_count(), 0);
        browser.execute("window.goOn = true; window.open = () => null", vec![]).await?;
        click_element(&browser, ".wpwl-button-brand-PAYPAL").await?;
        browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
        click_element(&browser, "button[value=success]").await?;
        tillgate_tests::poll_until("paid", async || Ok((stage.read_result_code().await? == APPROVED).then_some(())))
            .await
    })
    .await
}

#[tokio::test]
async fn a_brands_page_opens_inside_the_form_where_the_merchant_wants_that() -> anyhow::Result<()> {
    let cases = [
        ("KLARNA_INVOICE", "virtualAccount", "onBeforeSubmitInlineVirtualAccount"),
        ("PAYPAL", "virtualAccount", "onBeforeSubmitInlineVirtualAccount"),
        ("IDEAL", "onlineTransfer", "onBeforeSubmitOnlineTransfer"),
    ];
    run_in_browser(move |browser| async move {
        for (brand, kind, callback) in cases {
            let stage = CheckoutFixture::new().await?;
            let options =
                format!("{OPTIONS}, inlineFlow: ['{brand}'], {callback}: function () {{ witness.note('asked', 1); }}");
            stage.open_forms(&browser, &format!("{brand} EPS"), &options).await?;
            let container = format!(".wpwl-container-{kind}-{brand}");
            let press = async |value: &str| {
                click_element(&browser, &format!(".wpwl-button-brand-{brand}")).await?;
                let frame = browser.query(By::Css(format!("{container} > iframe.wpwl-target"))).and_displayed();
                frame.first().await?.enter_frame().await?;
                let pressed = click_element(&browser, &format!("button[value={value}]")).await;
                browser.enter_default_frame().await?;
                pressed
            };
            press("cancel").await?;
            browser.wait_for_observation("cancelled").await?;
            browser.wait_until(&format!("document.querySelector('{container} > iframe.wpwl-target').hidden")).await?;
            press("success").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(browser.observed_details("asked").await?.len(), 2, "{brand}");
            assert_eq!(
                (browser.windows().await?.len(), stage.read_result_code().await?.as_str()),
                (1, APPROVED),
                "{brand}"
            );
        }
        Ok(())
    })
    .await
}
