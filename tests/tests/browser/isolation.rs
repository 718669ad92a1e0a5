//! Pages that are isolated from other origins (`Cross-Origin-Embedder-Policy` and `-Opener-Policy`): the form, its
//! files, and the pages of issuers and wallets in its frames load there, and it pays.

use thirtyfour::prelude::*;
use tillgate_tests::{Browser, CardForm, MerchantPage, run_in_desktop_browser};

use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture};

/// The policies by which a page isolates itself.
const EMBEDDER_POLICIES: [&str; 2] = ["require-corp", "credentialless"];
/// The strictest policy that lets the page show the brands' marks, too.
const WITH_IMAGES: &str = "default-src 'none'; script-src 'self' {gateway} 'wasm-unsafe-eval'; \
    style-src 'self' {gateway}; frame-src {gateway}; img-src 'self' data: {gateway}; form-action 'self' {gateway}";

/// Creates a fixture with isolated pages. Its channel authenticates cardholders, and has a key for wallets.
async fn isolated_fixture(embedder: &str) -> anyhow::Result<CheckoutFixture> {
    let mut fixture = CheckoutFixture::new().await?;
    fixture.merchant = fixture.gateway.create_merchant_with(&["--3d", "when-enrolled"])?;
    fixture.gateway.run_command(&["wallet-key", "create", "--entity", &fixture.merchant.entity_id])?;
    fixture.checkout = fixture.merchant.create_checkout(&[]).await?;
    fixture.site.isolate(embedder);
    fixture.site.set_policy(WITH_IMAGES);
    Ok(fixture)
}

/// Opens the page of a fixture, and asserts that the browser isolates it.
async fn open_isolated_page(
    browser: &Browser,
    fixture: &CheckoutFixture,
    brands: &str,
    options: &str,
) -> anyhow::Result<()> {
    let script = format!("var wpwlOptions = {{ {options} }};");
    let mark =
        format!("<img id=\"mark\" alt=\"\" src=\"{}v1/paymentWidgets/img/brand.png\">", fixture.gateway.public_url());
    let page = MerchantPage::for_checkout(&fixture.checkout)
        .with_script(&script)
        .with_brands(brands)
        .with_markup_before(&mark);
    browser.goto(fixture.site.add_page(page)).await?;
    assert_eq!(browser.evaluate("crossOriginIsolated").await?, true);
    Ok(())
}

/// Types into the field of a frame.
async fn type_into(browser: &Browser, frame: &str, text: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    browser.query(By::Css("input")).first().await?.send_keys(text).await?;
    Ok(browser.enter_default_frame().await?)
}

/// Answers the challenge that is shown in place of the form.
async fn answer_challenge(browser: &Browser) -> anyhow::Result<()> {
    const TARGET: &str = "iframe.wpwl-target";
    browser.wait_until(&format!("document.querySelector('.wpwl-challenge > {TARGET}')?.checkVisibility()")).await?;
    browser.save_screenshot("isolated-challenge").await?;
    browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
    click_element(browser, &format!("select[name=returnCode] option[value='{APPROVED}']")).await?;
    click_element(browser, "input[type=submit]").await?;
    Ok(browser.enter_default_frame().await?)
}

#[tokio::test]
async fn a_card_pays_in_an_isolated_page_with_a_challenge() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        for embedder in EMBEDDER_POLICIES {
            // Number and code in frames, and then every field of the card; with the issuer's method page.
            for options in ["locale: 'de'", "enableSAQACompliance: true, style: 'plain'"] {
                let fixture = isolated_fixture(embedder).await?;
                open_isolated_page(&browser, &fixture, "VISA", options).await?;
                let form = CardForm::wait_until_ready(&browser).await?;
                assert_eq!(browser.evaluate("document.querySelector('#mark').naturalWidth > 0").await?, true);
                form.enter_number("4200000000000042").await?;
                form.enter_security_code("123").await?;
                if options.starts_with("enable") {
                    type_into(&browser, "iframe[name='card.expiry']", "0534").await?;
                    type_into(&browser, "iframe[name='card.holder']", "Jane Jones").await?;
                } else {
                    form.enter_expiry("05 / 34").await?;
                    form.enter_holder("Jane Jones").await?;
                }
                browser.save_screenshot(&format!("isolated-{embedder}")).await?;
                form.press_pay_button().await?;
                answer_challenge(&browser).await?;
                fixture.wait_until_paid(&browser).await?;
                assert_eq!(browser.console_warnings().await?, Vec::<String>::new(), "{embedder} {options}");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn wallets_and_brands_pay_in_an_isolated_page() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        for embedder in EMBEDDER_POLICIES {
            let fixture = isolated_fixture(embedder).await?;
            open_isolated_page(&browser, &fixture, "APPLEPAY", "").await?;
            click_element(&browser, ".wpwl-button-brand-APPLEPAY").await?;
            browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?.enter_frame().await?;
            click_element(&browser, "button[value='0']").await?;
            browser.enter_default_frame().await?;
            fixture.wait_until_paid(&browser).await?;
            // The brand's page in the whole tab, and back.
            let fixture = isolated_fixture(embedder).await?;
            open_isolated_page(&browser, &fixture, "IDEAL", "").await?;
            click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
            click_element(&browser, "button[value='success']").await?;
            fixture.wait_until_paid(&browser).await?;
        }
        Ok(())
    })
    .await
}
