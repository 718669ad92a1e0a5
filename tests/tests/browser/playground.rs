//! The playground: a control for every option, the form beside it, and code to copy.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::shop::read_checkout_id;
use tillgate_tests::{Browser, TestDemoShop, TestGateway, run_in_browser};

/// Opens the playground and waits for its form.
async fn open_playground<'a>(demo: &TestDemoShop, browser: &'a Browser, query: &str) -> anyhow::Result<CardForm<'a>> {
    browser.goto(format!("{}playground{query}", demo.public)).await?;
    CardForm::wait_until_ready(browser).await
}

/// Finds an option by the search field and returns its control.
async fn find_control(browser: &Browser, name: &str) -> anyhow::Result<WebElement> {
    let search = browser.find(By::Id("search")).await?;
    search.clear().await?;
    search.send_keys(name).await?;
    Ok(browser.query(By::Css(format!("#groups [name='{name}']"))).and_displayed().first().await?)
}

/// Clicks a value of an option and leaves the control, as a shopper with a pointer does. Typing would select a value
/// with each letter.
async fn choose_value(browser: &Browser, name: &str, value: &str) -> anyhow::Result<()> {
    let list = find_control(browser, name).await?;
    list.find(By::Css(format!("option[value='{value}']"))).await?.click().await?;
    browser.execute("document.activeElement.blur()", vec![]).await?;
    Ok(())
}

/// Returns the text of the element with this id, visible or not.
async fn read_text(browser: &Browser, id: &str) -> anyhow::Result<String> {
    let text = browser.evaluate(&format!("document.getElementById('{id}').textContent")).await?;
    Ok(text.as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_change_brings_a_new_form_with_a_new_checkout_and_stands_in_snippet_and_address() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        open_playground(&demo, &browser, "").await?;
        let first = read_checkout_id(&browser).await?;
        choose_value(&browser, "style", "plain").await?;
        browser.wait_until("document.querySelector('link[href$=\"/plain.css\"]')").await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_ne!(read_checkout_id(&browser).await?, first, "a checkout of its own");
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-container-card').length").await?, 1);

        find_control(&browser, "showLabels").await?.click().await?;
        browser.wait_until("document.querySelector('.wpwl-container:not([aria-busy]) .wpwl-label[hidden]')").await?;
        find_control(&browser, "labels").await?.send_keys("submit = Order & pay").await?;
        browser.execute("document.activeElement.blur()", vec![]).await?;
        browser.wait_until("document.querySelector('.wpwl-button-pay')?.textContent.includes('Order & pay')").await?;

        let snippet = read_text(&browser, "snippet").await?;
        for part in [
            "style: \"plain\",",
            "showLabels: false,",
            "submit: \"Order & pay\",",
            "methodLayout: \"accordion\",",
            "data-brands=\"VISA MASTER AMEX DIRECTDEBIT_SEPA PAYPAL\"",
        ] {
            assert!(snippet.contains(part), "{part} in {snippet}");
        }
        for (kind, part) in [("react", "checkoutId={checkoutId}\n"), ("vue", ":checkout-id=\"checkoutId\"\n")] {
            browser.find(By::Css(format!("#made-with option[value={kind}]"))).await?.click().await?;
            let text = read_text(&browser, "snippet").await?;
            let import = format!("import {{ PaymentWidgets }} from \"@tillgate/payment-widgets/{kind}\";");
            for part in [
                &import,
                part,
                "brands=\"VISA MASTER AMEX DIRECTDEBIT_SEPA PAYPAL\"",
                "const options = {",
                "style: \"plain\",",
            ] {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
        browser.find(By::Css("#made-with option[value=script]")).await?.click().await?;
        assert_eq!(read_text(&browser, "snippet").await?, snippet);
        let curl = read_text(&browser, "curl").await?;
        assert!(curl.contains("-d amount=92.00 \\\n") && curl.contains("-d paymentType=DB"), "{curl}");
        assert!(!curl.contains(&demo.merchant.token), "the token stays with the shop");

        // The address reproduces the same state.
        let address = browser.current_url().await?.to_string();
        assert!(address.ends_with("?style=plain&labels=submit+%3D+Order+%26+pay&showLabels=false"), "{address}");
        browser.goto("about:blank").await?;
        browser.goto(address).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(read_text(&browser, "snippet").await?, snippet);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn callbacks_are_logged_and_the_result_is_shown_where_the_payment_began() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        let form = open_playground(&demo, &browser, "?amount=5.00&brandDetection=true&onBeforeSubmitCard=stop").await?;
        let logged = async |what: &str| {
            browser.wait_until(&format!("document.getElementById('log').textContent.includes({what:?})")).await
        };
        logged("onReady [{\"containerKey\":\"card\"").await?;
        form.fill_fields().await?;
        logged("onBlurCardNumber true").await?;
        form.press_pay_button().await?;
        logged("onBeforeSubmitCard [submit event]").await?;
        let stopped = read_checkout_id(&browser).await?;
        assert_eq!(TestGateway::shared().submit_count(&stopped), 0, "it was told to stop");

        choose_value(&browser, "onBeforeSubmitCard", "go on").await?;
        browser.wait_until("!location.search.includes('onBeforeSubmitCard')").await?;
        // The previous form remains until the checkout of the new one exists.
        browser
            .wait_until(&format!(
                "!document.querySelector('script[src*=\"paymentWidgets.js\"]').src.includes('{stopped}')"
            ))
            .await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        browser.wait_until("document.getElementById('snippet').textContent.includes('brandDetection: true')").await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("document.querySelector('#result:not([hidden])')").await?;
        let result = browser.evaluate("document.querySelector('#result pre').textContent").await?;
        let result = result.as_str().unwrap_or_default();
        assert!(result.contains("\"code\": \"000.100.110\"") && result.contains("\"amount\": \"5.00\""), "{result}");
        browser.wait_until("location.search === '?amount=5.00&brandDetection=true'").await
    })
    .await
}

#[tokio::test]
async fn the_checkout_can_be_made_at_the_click() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        let form = open_playground(&demo, &browser, "?createCheckout=true&amount=7.00").await?;
        assert_eq!(browser.evaluate("wpwl.checkout.id").await?, "");
        let snippet = read_text(&browser, "snippet").await?;
        assert!(snippet.contains("async createCheckout({ brand })") && !snippet.contains("checkoutId"), "{snippet}");
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("document.querySelector('#result:not([hidden])')").await?;
        let result = browser.evaluate("document.querySelector('#result pre').textContent").await?;
        assert!(result.as_str().unwrap_or_default().contains("\"amount\": \"7.00\""), "{result}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn nothing_of_it_is_out_of_reach_too_wide_or_against_the_policy() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for (width, query) in [(1280, ""), (320, "?dark+page=true&--wpwl-accent=%23ffcc00&labels=none")] {
            browser.resize_page(width, 900).await?;
            open_playground(&demo, &browser, query).await?;
            browser
                .execute("document.querySelectorAll('#groups details').forEach(it => it.open = true)", vec![])
                .await?;
            let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth").await?;
            assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{wide} pixels too wide at {width}");
            let found = browser.run_axe().await?;
            assert!(found.is_empty(), "{width}:\n{}", found.join("\n"));
        }
        let accent = "getComputedStyle(document.querySelector('.wpwl-button-pay')).backgroundColor";
        assert_eq!(browser.evaluate(accent).await?, "rgb(255, 204, 0)");
        let wrong = browser.find(By::Css("[name=labels]")).await?;
        assert_eq!(wrong.attr("aria-invalid").await?.as_deref(), Some("true"), "that was no pair");
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        assert_eq!(browser.console_warnings().await?, Vec::<String>::new());
        CardForm::wait_until_ready(&browser).await?.find_element(NUMBER_FRAME).await?;
        Ok(())
    })
    .await
}
