//! Browsers that are too old for the hosted form: they get a plain form from the gateway and pay with it. The tests
//! remove the features that the loader checks, and others that such a browser lacks, before the page's scripts run.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, MerchantPage, TestDemoShop, TestGateway, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// Features that Internet Explorer 11 lacks.
const OLD: &str = "
delete Array.prototype.at;
delete HTMLFormElement.prototype.requestSubmit;
delete Object.fromEntries;
delete Element.prototype.append;
delete Element.prototype.replaceWith;
delete Document.prototype.currentScript;
delete String.prototype.includes;
delete window.CSSStyleSheet;
delete window.ResizeObserver;
delete window.WebAssembly;";

const FRAME: &str = "iframe.wpwl-plain";

/// Removes the features in [`OLD`] from every document that the browser loads from now on.
async fn remove_modern_features(browser: &Browser) -> anyhow::Result<()> {
    browser.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", json!({ "source": OLD })).await?;
    Ok(())
}

/// Waits for the plain form, and switches to its frame.
async fn enter_plain_frame(browser: &Browser) -> anyhow::Result<()> {
    browser.query(By::Css(FRAME)).first().await?.enter_frame().await?;
    Ok(())
}

/// Replaces the values of inputs, by name, in the current frame.
async fn enter_fields(browser: &Browser, fields: &[(&str, &str)]) -> anyhow::Result<()> {
    for (name, value) in fields {
        let input = browser.query(By::Css(format!("[name=\"{name}\"]"))).first().await?;
        input.clear().await?;
        input.send_keys(*value).await?;
    }
    Ok(())
}

/// Presses the button of a form, by its brand, in the current frame.
async fn press_form_button(browser: &Browser, form: &str) -> anyhow::Result<()> {
    browser.query(By::Css(format!("#form-{form} button"))).first().await?.click().await?;
    Ok(())
}

/// Asserts that neither the browser nor the merchant's page reports an error or a violation of its policy. Invalid
/// input in the plain form is no error.
async fn expect_no_errors(browser: &Browser) -> anyhow::Result<()> {
    assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
    assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
    // A form with invalid input has status 400, which the browser logs.
    let warnings: Vec<String> =
        browser.console_warnings().await?.into_iter().filter(|it| !it.contains("plainForm.html")).collect();
    assert_eq!(warnings, Vec::<String>::new(), "the console");
    Ok(())
}

const CARD: [(&str, &str); 4] = [
    ("card.number", "4200 0000 0000 0000"),
    ("card.expiry", "12 / 49"),
    ("card.holder", "Jane Jones"),
    ("card.cvv", "123"),
];

/// Creates a fixture whose merchant's server sets the address for the shopper's return. If only a browser sent the
/// address, the plain form shows a link to it.
async fn fixture_with_result_url() -> anyhow::Result<CheckoutFixture> {
    let fixture = CheckoutFixture::new().await?;
    set_result_url(&fixture).await?;
    Ok(fixture)
}

/// Sets the address for the shopper's return, from the merchant's server.
async fn set_result_url(fixture: &CheckoutFixture) -> anyhow::Result<()> {
    let result = format!("{}result?own=1", fixture.site.public);
    let path = format!("v1/checkouts/{}", fixture.checkout.id());
    let updated = fixture.merchant.post(&path, &[("shopperResultUrl", &result)]).await?;
    anyhow::ensure!(updated.result_code() == "000.200.101", "{}", updated.text);
    Ok(())
}

#[tokio::test]
async fn an_old_browser_pays_in_the_shop_after_a_mistake() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = TestDemoShop::start(gateway).await?;
    run_in_browser(move |browser| async move {
        remove_modern_features(&browser).await?;
        browser.resize_page(360, 800).await?;
        shop.go_to_checkout(&browser, "?lang=de", "approve").await?;
        enter_plain_frame(&browser).await?;
        assert_eq!(browser.evaluate("document.documentElement.lang").await?, "de");
        assert_eq!(browser.evaluate("document.scripts.length").await?, 0);
        enter_fields(&browser, &CARD).await?;
        enter_fields(&browser, &[("card.number", "4200 0000 0000 0001")]).await?;
        browser.enter_default_frame().await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("old-form").await?;
        enter_plain_frame(&browser).await?;
        press_form_button(&browser, "card").await?;
        browser.enter_default_frame().await?;

        // The window now shows the form with the typed values, except for number and code.
        browser.wait_until("document.querySelector('#card-cardNumber-error')").await?;
        let said = browser.evaluate("document.querySelector('#card-cardNumber-error').textContent").await?;
        assert_eq!(said, "Bitte prüfen Sie die Kartennummer.");
        let values = "Array.from(document.getElementById('card-cardNumber-error').closest('form')
            .querySelectorAll('input:not([type=hidden])'), it => it.value).join('|')";
        assert_eq!(browser.evaluate(values).await?, "|12 / 49|Jane Jones|");
        assert_eq!(browser.evaluate("document.activeElement.name").await?, "card.number");
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("old-form-mistake").await?;
        enter_fields(&browser, &CARD).await?;
        press_form_button(&browser, "card").await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        expect_no_errors(&browser).await
    })
    .await
}

#[tokio::test]
async fn nothing_runs_in_the_plain_form_and_nothing_has_to() -> anyhow::Result<()> {
    let stage = fixture_with_result_url().await?;
    run_in_browser(move |browser| async move {
        remove_modern_features(&browser).await?;
        browser.goto(stage.add_page("var wpwlOptions = { locale: 'ar' };")).await?;
        browser.query(By::Css(FRAME)).first().await?;
        assert_eq!(browser.evaluate("typeof wpwl").await?, "undefined");
        browser.resize_page(360, 900).await?;
        enter_plain_frame(&browser).await?;
        assert_eq!(browser.evaluate("document.documentElement.dir").await?, "rtl");
        browser.enter_default_frame().await?;
        browser.save_screenshot("old-form-arabic").await?;
        browser.cdp().send_raw("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
        enter_plain_frame(&browser).await?;
        enter_fields(&browser, &CARD).await?;
        press_form_button(&browser, "card").await?;
        browser.cdp().send_raw("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await?;
        browser.enter_default_frame().await?;
        browser.wait_until("location.pathname === '/result'").await?;
        let query = browser.evaluate("location.search").await?;
        let wanted = format!("?own=1&id={0}&resourcePath=%2Fv1%2Fcheckouts%2F{0}%2Fpayment", stage.checkout.id());
        assert_eq!(query, wanted.as_str());
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn after_a_decline_the_old_browser_pays_from_another_account() -> anyhow::Result<()> {
    let stage = fixture_with_result_url().await?;
    run_in_browser(move |browser| async move {
        remove_modern_features(&browser).await?;
        let page = stage.site.add_page(MerchantPage::for_checkout(&stage.checkout).with_brands("DIRECTDEBIT_SEPA"));
        // The first account has insufficient funds.
        for (account, code) in [("DE58 1000 0000 0000 0000 51", "800.100.203"), ("DE23100000001234567890", APPROVED)] {
            browser.goto(&page).await?;
            enter_plain_frame(&browser).await?;
            let debit = [
                ("bankAccount.holder", "Jane Jones"),
                ("bankAccount.iban", account),
                ("bankAccount.bic", "MARKDEF1100"),
            ];
            enter_fields(&browser, &debit).await?;
            press_form_button(&browser, "DIRECTDEBIT_SEPA").await?;
            browser.enter_default_frame().await?;
            browser.wait_until("location.pathname === '/result'").await?;
            assert_eq!(stage.read_result_code().await?, code);
        }
        expect_no_errors(&browser).await
    })
    .await
}

#[tokio::test]
async fn an_old_browser_goes_to_a_brands_page_and_comes_back() -> anyhow::Result<()> {
    let stage = fixture_with_result_url().await?;
    run_in_browser(move |browser| async move {
        remove_modern_features(&browser).await?;
        browser
            .goto(
                stage
                    .site
                    .add_page(MerchantPage::for_checkout(&stage.checkout).with_brands("VISA IDEAL DIRECTDEBIT_SEPA")),
            )
            .await?;
        browser.resize_page(360, 1200).await?;
        browser.query(By::Css(FRAME)).first().await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("old-form-brands").await?;
        enter_plain_frame(&browser).await?;
        // The form fits into the window without scrolling.
        assert_eq!(browser.evaluate("document.documentElement.scrollHeight <= innerHeight").await?, true);
        press_form_button(&browser, "IDEAL").await?;
        browser.enter_default_frame().await?;
        browser.query(By::Css("button[value=success]")).first().await?.click().await?;
        stage.wait_until_paid(&browser).await?;
        expect_no_errors(&browser).await
    })
    .await
}

#[tokio::test]
async fn an_old_browser_pays_with_a_stored_card_and_its_code() -> anyhow::Result<()> {
    let mut stage = fixture_with_result_url().await?;
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", "4200000000000000"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
        ("card.holder", "Jane Jones"),
    ];
    let registration = stage.merchant.post("v1/registrations", &card).await?;
    stage.checkout = stage.merchant.create_checkout(&[("registrations[0].id", registration.id())]).await?;
    set_result_url(&stage).await?;
    run_in_browser(move |browser| async move {
        remove_modern_features(&browser).await?;
        browser.resize_page(360, 900).await?;
        browser
            .goto(stage.add_page("var wpwlOptions = { locale: 'de', registrations: { requireCvv: true } };"))
            .await?;
        browser.query(By::Css(FRAME)).first().await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("old-form-stored").await?;
        enter_plain_frame(&browser).await?;
        press_form_button(&browser, "stored").await?;
        browser.enter_default_frame().await?;
        browser.wait_until("document.querySelector('#stored-cvv-error')").await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.query(By::Id("stored-cvv")).first().await?.send_keys("123").await?;
        press_form_button(&browser, "stored").await?;
        stage.wait_until_paid(&browser).await?;
        expect_no_errors(&browser).await
    })
    .await
}

#[tokio::test]
async fn an_old_browser_shows_the_checkout_whose_script_came_last() -> anyhow::Result<()> {
    let fixture = fixture_with_result_url().await?;
    let result = format!("{}result?own=1", fixture.site.public);
    let second = fixture.merchant.create_checkout(&[("amount", "17.00"), ("shopperResultUrl", &result)]).await?;
    run_in_browser(move |browser| async move {
        remove_modern_features(&browser).await?;
        let page = fixture.site.add_page(MerchantPage::for_checkout(&fixture.checkout).with_brands("VISA"));
        browser.goto(page).await?;
        enter_plain_frame(&browser).await?;
        enter_fields(&browser, &CARD).await?;
        browser.enter_default_frame().await?;
        // The frame of the first checkout leaves at once, and not only when the second script has come.
        let script = format!("{}v1/paymentWidgets.js?checkoutId={}", fixture.gateway.public_url(), second.id());
        let insert = "const [src, done] = arguments;
            document.body.appendChild(Object.assign(document.createElement('script'), { src }));
            Promise.resolve().then(() => done(document.querySelectorAll('iframe').length))";
        assert_eq!(browser.execute_async(insert, vec![json!(script)]).await?.json(), &json!(0));
        let own = format!(
            "Array.from(document.querySelectorAll('iframe'), it => it.src.indexOf('{}') > 0).join() === 'true'",
            second.id()
        );
        browser.wait_until(&own).await?;
        enter_plain_frame(&browser).await?;
        enter_fields(&browser, &CARD).await?;
        press_form_button(&browser, "card").await?;
        browser.enter_default_frame().await?;
        browser.wait_until("location.pathname === '/result'").await?;
        assert_eq!(fixture.gateway.submit_count(fixture.checkout.id()), 0);
        let status = fixture.merchant.read_status(second.id()).await?;
        assert_eq!((status.result_code(), status.json["amount"].as_str()), (APPROVED, Some("17.00")));
        Ok(())
    })
    .await
}
