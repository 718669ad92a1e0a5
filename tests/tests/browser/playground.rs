//! The playground: every option as a control, the form beside it, and what a developer takes along.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER};
use tillgate_tests::shop::checkout_id;
use tillgate_tests::{Browser, DemoShop, Gateway, browse};

/// Opens the playground and waits for its form.
async fn open<'a>(demo: &DemoShop, browser: &'a Browser, query: &str) -> anyhow::Result<CardForm<'a>> {
    browser.goto(format!("{}playground{query}", demo.public)).await?;
    CardForm::ready(browser).await
}

/// Finds an option by the search field and gives back its control.
async fn control(browser: &Browser, name: &str) -> anyhow::Result<WebElement> {
    let search = browser.find(By::Id("search")).await?;
    search.clear().await?;
    search.send_keys(name).await?;
    Ok(browser.query(By::Css(format!("#groups [name='{name}']"))).and_displayed().first().await?)
}

/// Chooses a value of an option and leaves the control, as a shopper with a pointer does: typed letters would be a choice each.
async fn choose(browser: &Browser, name: &str, value: &str) -> anyhow::Result<()> {
    let list = control(browser, name).await?;
    list.find(By::Css(format!("option[value='{value}']"))).await?.click().await?;
    browser.execute("document.activeElement.blur()", vec![]).await?;
    Ok(())
}

async fn text(browser: &Browser, id: &str) -> anyhow::Result<String> {
    let text = browser.value(&format!("document.getElementById('{id}').textContent")).await?;
    Ok(text.as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_change_brings_a_new_form_with_a_new_checkout_and_stands_in_snippet_and_address() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        open(&demo, &browser, "").await?;
        let first = checkout_id(&browser).await?;
        choose(&browser, "style", "plain").await?;
        browser.until("document.querySelector('link[href$=\"/plain.css\"]')").await?;
        CardForm::ready(&browser).await?;
        assert_ne!(checkout_id(&browser).await?, first, "a checkout of its own");
        assert_eq!(browser.value("document.querySelectorAll('.wpwl-container').length").await?, 1);

        control(&browser, "showLabels").await?.click().await?;
        browser.until("document.querySelector('.wpwl-container:not([aria-busy]) .wpwl-label[hidden]')").await?;
        control(&browser, "labels").await?.send_keys("submit = Order & pay").await?;
        browser.execute("document.activeElement.blur()", vec![]).await?;
        browser.until("document.querySelector('.wpwl-button-pay')?.textContent.includes('Order & pay')").await?;

        let snippet = text(&browser, "snippet").await?;
        for part in
            ["style: \"plain\",", "showLabels: false,", "submit: \"Order & pay\",", "data-brands=\"VISA MASTER AMEX\""]
        {
            assert!(snippet.contains(part), "{part} in {snippet}");
        }
        let curl = text(&browser, "curl").await?;
        assert!(curl.contains("-d amount=92.00 \\\n") && curl.contains("-d paymentType=DB"), "{curl}");
        assert!(!curl.contains(&demo.merchant.token), "the token stays with the shop");

        // Whoever gets the address sees the same.
        let address = browser.current_url().await?.to_string();
        assert!(address.ends_with("?style=plain&labels=submit+%3D+Order+%26+pay&showLabels=false"), "{address}");
        browser.goto("about:blank").await?;
        browser.goto(address).await?;
        CardForm::ready(&browser).await?;
        assert_eq!(text(&browser, "snippet").await?, snippet);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn callbacks_are_logged_and_the_result_is_shown_where_the_payment_began() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        let form = open(&demo, &browser, "?amount=5.00&brandDetection=true&onBeforeSubmitCard=stop").await?;
        let logged = async |what: &str| {
            browser.until(&format!("document.getElementById('log').textContent.includes({what:?})")).await
        };
        logged("onReady [{\"containerKey\":\"card\"").await?;
        form.fill().await?;
        logged("onBlurCardNumber true").await?;
        form.pay().await?;
        logged("onBeforeSubmitCard [submit event]").await?;
        let stopped = checkout_id(&browser).await?;
        assert_eq!(Gateway::shared().submits(&stopped), 0, "it was told to stop");

        choose(&browser, "onBeforeSubmitCard", "go on").await?;
        browser.until("!location.search.includes('onBeforeSubmitCard')").await?;
        // The form of before stands until the new one's checkout is there.
        browser
            .until(&format!("!document.querySelector('script[src*=\"paymentWidgets.js\"]').src.includes('{stopped}')"))
            .await?;
        let form = CardForm::ready(&browser).await?;
        browser.until("document.getElementById('snippet').textContent.includes('brandDetection: true')").await?;
        form.fill().await?;
        form.pay().await?;
        browser.until("document.querySelector('#result:not([hidden])')").await?;
        let result = browser.value("document.querySelector('#result pre').textContent").await?;
        let result = result.as_str().unwrap_or_default();
        assert!(result.contains("\"code\": \"000.100.110\"") && result.contains("\"amount\": \"5.00\""), "{result}");
        browser.until("location.search === '?amount=5.00&brandDetection=true'").await
    })
    .await
}

#[tokio::test]
async fn the_checkout_can_be_made_at_the_click() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        let form = open(&demo, &browser, "?createCheckout=true&amount=7.00").await?;
        assert_eq!(browser.value("wpwl.checkout.id").await?, "");
        let snippet = text(&browser, "snippet").await?;
        assert!(snippet.contains("async createCheckout({ brand })") && !snippet.contains("checkoutId"), "{snippet}");
        form.fill().await?;
        form.pay().await?;
        browser.until("document.querySelector('#result:not([hidden])')").await?;
        let result = browser.value("document.querySelector('#result pre').textContent").await?;
        assert!(result.as_str().unwrap_or_default().contains("\"amount\": \"7.00\""), "{result}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn nothing_of_it_is_out_of_reach_too_wide_or_against_the_policy() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for (width, query) in [(1280, ""), (320, "?dark+page=true&--wpwl-accent=%23ffcc00&labels=none")] {
            browser.resize(width, 900).await?;
            open(&demo, &browser, query).await?;
            browser
                .execute("document.querySelectorAll('#groups details').forEach(it => it.open = true)", vec![])
                .await?;
            let wide = browser.value("document.documentElement.scrollWidth - innerWidth").await?;
            assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{wide} pixels too wide at {width}");
            let found = browser.axe().await?;
            assert!(found.is_empty(), "{width}:\n{}", found.join("\n"));
        }
        let accent = "getComputedStyle(document.querySelector('.wpwl-button-pay')).backgroundColor";
        assert_eq!(browser.value(accent).await?, "rgb(255, 204, 0)");
        let wrong = browser.find(By::Css("[name=labels]")).await?;
        assert_eq!(wrong.attr("aria-invalid").await?.as_deref(), Some("true"), "that was no pair");
        assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
        assert_eq!(browser.complaints().await?, Vec::<String>::new());
        CardForm::ready(&browser).await?.find(NUMBER).await?;
        Ok(())
    })
    .await
}
