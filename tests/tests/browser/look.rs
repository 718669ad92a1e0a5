//! The look that an operator has chosen for a channel: in the form of a shop, and in the preview of the back office.

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, TestGateway, poll_until, run_in_browser};

use crate::CheckoutFixture;
use crate::back_office::become_administrator;

/// Options of a channel with a look.
const LOOK: [&str; 10] = [
    "--form-accent",
    "#6d3a97",
    "--form-error",
    "#7a0019",
    "--form-height",
    "60px",
    "--form-radius",
    "0",
    "--form-gap",
    "2rem",
];
/// The colour of the button in [`LOOK`], as browsers compute it.
const PURPLE: &str = "rgb(109, 58, 151)";

/// Returns a computed property of the first element that matches.
async fn computed(browser: &Browser, css: &str, property: &str) -> anyhow::Result<String> {
    let value = browser.evaluate(&format!("getComputedStyle(document.querySelector('{css}')).{property}")).await?;
    Ok(value.as_str().with_context(|| format!("{css} {property}: {value}"))?.to_owned())
}

#[tokio::test]
async fn the_form_has_the_look_of_its_channel() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&LOOK, &[]).await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        for (css, property, expected) in [
            (".wpwl-button-pay", "backgroundColor", PURPLE),
            (".wpwl-button-pay", "color", "rgb(255, 255, 255)"),
            (".wpwl-button-pay", "height", "60px"),
            (".wpwl-control-expiry", "borderTopLeftRadius", "0px"),
            (".wpwl-form", "rowGap", "32px"),
        ] {
            assert_eq!(computed(&browser, css, property).await?, expected, "{css} {property}");
        }
        let height = browser.evaluate(&format!("document.querySelector('{NUMBER_FRAME}').offsetHeight")).await?;
        assert_eq!(height, 60);
        form.press_pay_button().await?;
        form.wait_for_hint("cardNumberError").await?;
        assert_eq!(computed(&browser, ".wpwl-hint", "color").await?, "rgb(122, 0, 25)");
        // The page's policy is as strict as the form permits.
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        // The rules go with the form.
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate("document.adoptedStyleSheets.length").await?, 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_page_wins_over_the_look_and_other_channels_have_none() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&LOOK, &[]).await?;
    let other = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let sheet = ".wpwl-container { --wpwl-accent: #1d6b45; } .wpwl-button { border-radius: 9px; }";
        let page = MerchantPage::for_checkout(&stage.checkout).with_style(sheet);
        browser.goto(stage.site.add_page(page)).await?;
        CardForm::wait_until_ready(&browser).await?;
        for (property, expected) in
            [("backgroundColor", "rgb(29, 107, 69)"), ("borderTopLeftRadius", "9px"), ("height", "60px")]
        {
            assert_eq!(computed(&browser, ".wpwl-button-pay", property).await?, expected, "{property}");
        }
        browser.goto(other.add_page("")).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(computed(&browser, ".wpwl-button-pay", "backgroundColor").await?, "rgb(36, 86, 214)");
        assert_eq!(computed(&browser, ".wpwl-button-pay", "height").await?, "48px");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_look_applies_on_dark_pages_and_to_every_kind_of_form() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&LOOK, &[]).await?;
    run_in_browser(move |browser| async move {
        let dark = "main { color: #e8ecf3; background: #10151f; }";
        let page = MerchantPage::for_checkout(&stage.checkout).with_style(dark);
        browser.goto(stage.site.add_page(page.clone())).await?;
        CardForm::wait_until_ready(&browser).await?;
        browser.wait_until("!!document.querySelector('.wpwl-dark')").await?;
        assert_eq!(computed(&browser, ".wpwl-button-pay", "backgroundColor").await?, PURPLE);
        assert_eq!(computed(&browser, ".wpwl-button-pay", "color").await?, "rgb(255, 255, 255)");
        // A form without a card number is described by the relay frame alone.
        browser.goto(stage.site.add_page(page.with_brands("PAYPAL"))).await?;
        browser.query(By::Css(".wpwl-button-brand")).first().await.context("the button of the brand")?;
        assert_eq!(computed(&browser, ".wpwl-button-brand", "backgroundColor").await?, PURPLE);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_look_ends_with_its_checkout() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&LOOK, &[]).await?;
    let other = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(computed(&browser, ".wpwl-button-pay", "backgroundColor").await?, PURPLE);
        stage.add_form(&browser, other.checkout.id(), "VISA", "/result").await?;
        let colour = "getComputedStyle(document.querySelector('.wpwl-button-pay') ?? document.body).backgroundColor";
        browser.wait_until(&format!("{colour} === 'rgb(36, 86, 214)'")).await?;
        assert_eq!(browser.evaluate("document.adoptedStyleSheets.length").await?, 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_preview_follows_the_fields_and_the_picker() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        let address = format!("{}backoffice/administration/entities/{}/look", gateway.public_url(), merchant.entity_id);
        browser.goto(&address).await?;
        let steps = browser.evaluate("history.length").await?;
        let wait_for = async |css: &str, property: &str, expected: &str| {
            let style = format!("getComputedStyle(document.querySelector('{css}')).{property}");
            poll_until(&format!("the preview has {expected}"), async || {
                browser.find(By::Id("preview")).await?.enter_frame().await?;
                // The frame may be loading.
                let value = browser.evaluate(&style).await.ok();
                browser.enter_default_frame().await?;
                Ok(value.filter(|value| value == expected).map(drop))
            })
            .await
        };
        wait_for(".light .wpwl-button", "backgroundColor", "rgb(36, 86, 214)").await?;
        wait_for(".dark .wpwl-button", "backgroundColor", "rgb(157, 184, 255)").await?;
        browser.find(By::Id("f-form-accent")).await?.send_keys("#6d3a97").await?;
        browser.find(By::Id("f-form-height")).await?.send_keys("60px").await?;
        wait_for(".light .wpwl-button", "backgroundColor", PURPLE).await?;
        wait_for(".dark .wpwl-button", "height", "60px").await?;
        browser.save_screenshot("back-office-look").await?;
        let picker = "document.querySelector('[data-field=f-form-accent]')";
        assert_eq!(browser.evaluate(&format!("{picker}.value")).await?, "#6d3a97");
        let pick =
            format!("{picker}.value = '#1d6b45'; {picker}.dispatchEvent(new Event('input', {{ bubbles: true }}))");
        browser.execute(pick, vec![]).await?;
        wait_for(".light .wpwl-button", "backgroundColor", "rgb(29, 107, 69)").await?;
        assert_eq!(browser.evaluate("document.getElementById('f-form-accent').value").await?, "#1d6b45");
        // The preview adds no step to the way back, and nothing was saved.
        assert_eq!(browser.evaluate("history.length").await?, steps);
        let stored = gateway.run_command(&["entity", "show", "--entity", &merchant.entity_id])?;
        assert!(stored["look"].is_null(), "{stored}");
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}
