//! The state of the form that scripts of the page read and add to: hints of the page beside fields, everything that is
//! final before `onReady`, messages for the developer, and the month in which a card expires.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::NUMBER_FRAME;
use tillgate_tests::{Browser, CARD, CardForm, MerchantPage, run_in_browser};

use crate::CheckoutFixture;

/// Puts a hint of the page behind the control that matches `css`, as merchants' own checks do.
async fn insert_hint(browser: &Browser, css: &str) -> anyhow::Result<()> {
    let script = "document.querySelector(arguments[0]).insertAdjacentHTML('afterend',
        '<div class=\"wpwl-hint wpwl-hint-ownError\" data-own>Own</div>')";
    browser.execute(script, vec![json!(css)]).await?;
    Ok(())
}

async fn has_hint(browser: &Browser) -> anyhow::Result<bool> {
    Ok(browser.evaluate("!!document.querySelector('[data-own]')").await? == true)
}

async fn wait_for_no_hint(browser: &Browser, case: &str) -> anyhow::Result<()> {
    browser.wait_until("!document.querySelector('[data-own]')").await.map_err(|error| error.context(case.to_owned()))
}

#[tokio::test]
async fn a_hint_of_the_page_goes_when_our_check_finds_the_field_right_after_it_was_wrong() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let options = "billingAddress: {}, mandatoryBillingFields: { city: true }, allowEmptyCardHolderName: true";
        browser.goto(stage.add_page(&format!("var wpwlOptions = {{ {options} }};"))).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        // Wrong because it is empty, or begun.
        for (css, text) in [(".wpwl-control-expiry", "05 / 34"), (".wpwl-control-city", "Linz")] {
            insert_hint(&browser, css).await?;
            browser.find(By::Css(css)).await?.send_keys(text).await?;
            wait_for_no_hint(&browser, css).await?;
        }
        insert_hint(&browser, NUMBER_FRAME).await?;
        form.enter_number("420000000000000").await?;
        browser.wait_until("witness.all().some(it => /field: card.number;.* known: true/.test(it.detail))").await?;
        assert!(has_hint(&browser).await?, "the number is not complete");
        form.enter_number("0").await?;
        wait_for_no_hint(&browser, "card.number").await?;
        insert_hint(&browser, "iframe.wpwl-control-cvv").await?;
        form.enter_security_code("123").await?;
        wait_for_no_hint(&browser, "card.cvv").await?;
        // Right before as well as after: the page checks these fields itself, and removes its hint itself.
        for (css, text) in [(".wpwl-control-street1", "Töpfergasse 7"), (".wpwl-control-street2", "Top 3")] {
            insert_hint(&browser, css).await?;
            let field = browser.find(By::Css(css)).await?;
            field.send_keys(text).await?;
            field.send_keys(Key::Tab + "").await?;
            browser.wait_until(&format!("document.querySelector('{css}') !== document.activeElement")).await?;
            assert!(has_hint(&browser).await?, "{css}");
            browser.execute("document.querySelector('[data-own]').remove()", vec![]).await?;
        }
        // From wrong to right again.
        form.enter_holder("J").await?;
        insert_hint(&browser, ".wpwl-control-cardHolder").await?;
        form.enter_holder("Jane Jones").await?;
        wait_for_no_hint(&browser, "a holder that was wrong").await
    })
    .await
}

/// Script that describes everything in the forms that merchants read: classes, boxes, brands, visibility.
const SNAPSHOT: &str = "[...document.querySelectorAll('#wpwl-registrations *, .wpwl-container, .wpwl-container *')]
    .filter(it => !it.matches('.wpwl-target, option'))
    .map(it => [it.localName, [...it.classList].filter(name => name !== 'wpwl-focus').join('.'), it.hasAttribute('checked'), it.checked, it.disabled, it.hidden,
        it.style && it.style.display, it.localName === 'select' ? it.value : '', it.getAttribute('lang')].join('|'))";

#[tokio::test]
async fn everything_that_scripts_read_is_final_before_on_ready() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for options in [
            "style: 'card'",
            "style: 'plain', brandDetection: true, showCVVHint: true, locale: 'ar'",
            "registrations: { requireCvv: true, hideInitialPaymentForms: true }, billingAddress: { country: 'AT' }",
        ] {
            let mut stage = CheckoutFixture::new().await?;
            let stored = stage.merchant.post("v1/registrations", &CARD).await?;
            let fields = [("registrations[0].id", stored.id())];
            stage.checkout = stage.merchant.create_checkout(&fields).await?;
            let script = format!(
                "var wpwlOptions = {{ {options}, onReady() {{ if (!window.told) {{ window.told = {SNAPSHOT};
                    // A task later everything that was still to come has come.
                    const channel = new MessageChannel();
                    channel.port1.onmessage = () => requestAnimationFrame(() => setTimeout(() => (window.later = {SNAPSHOT})));
                    channel.port2.postMessage(1); }} }} }};"
            );
            let page = MerchantPage::for_checkout(&stage.checkout)
                .with_script(&script)
                .with_brands("VISA MASTER STC_PAY SEPA")
                .with_style("body { background: #222; color: #eee }");
            browser.goto(stage.site.add_page(page)).await?;
            browser.wait_until("window.later").await?;
            let told = browser.evaluate("told").await?;
            let text = told.to_string();
            assert!(text.contains("wpwl-brand-VISA") && text.contains("select|wpwl-control.wpwl-control-brand"), "{text}");
            assert!(text.contains("wpwl-selected") && text.contains("input||true|true"), "{options}: {text}");
            assert_eq!(told, browser.evaluate("later").await?, "{options}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_sandbox_names_on_the_console_what_a_browser_may_not_set() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        let inputs = "for (const name of ['amount', 'customer.merchantCustomerId', 'customParameters[SHOPPER_note]', 'testMode'])
            document.querySelector('.wpwl-form').insertAdjacentHTML('beforeend', `<input type=hidden name=\"${name}\" value=\"a@b.example\">`)";
        browser.execute(inputs, vec![]).await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        let log = browser.get_log("browser").await?;
        let told: Vec<&String> =
            log.iter().map(|entry| &entry.message).filter(|message| message.contains("may not set")).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("Tillgate: amount, testMode, customer.merchantCustomerId: ignored"), "{told:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_without_ignored_fields_says_nothing_on_the_console() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        let log = browser.get_log("browser").await?;
        assert!(log.iter().all(|entry| !entry.message.contains("Tillgate")), "{log:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_is_valid_until_its_month_has_ended_everywhere() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (moment, is_valid) in
            [("2026-12-01T02:00:00Z", true), ("2026-12-01T11:59:59Z", true), ("2026-12-01T12:00:00Z", false)]
        {
            let clock = format!("{{ const now = Date.parse('{moment}'); Date.now = () => now; }}");
            for options in ["", "enableSAQACompliance: true"] {
                browser.goto(stage.add_page(&format!("{clock} var wpwlOptions = {{ {options} }};"))).await?;
                CardForm::wait_until_ready(&browser).await?;
                if options.is_empty() {
                    browser.find(By::Css(".wpwl-control-expiry")).await?.send_keys("1126").await?;
                } else {
                    browser.query(By::Css("iframe[name='card.expiry']")).first().await?.enter_frame().await?;
                    let fixed = format!(
                        "const Real = Date; Date = class extends Real {{ constructor() {{ super('{moment}'); }} }};"
                    );
                    browser.execute(fixed, vec![]).await?;
                    browser.query(By::Css("input")).first().await?.send_keys("1126").await?;
                    browser.enter_default_frame().await?;
                }
                let hint = "document.querySelector('.wpwl-hint-expiryYearError')";
                let reported = match options.is_empty() {
                    true => "document.querySelector('.wpwl-control-expiry').value === '11 / 26'".to_owned(),
                    false => format!(
                        "witness.all().some(it => /field: card.expiry;.* valid: true; past: {}/.test(it.detail))",
                        !is_valid
                    ),
                };
                browser.wait_until(&reported).await.map_err(|error| error.context(format!("{moment} {options}")))?;
                if is_valid {
                    assert_eq!(browser.evaluate(hint).await?, Value::Null, "{moment} {options}");
                } else {
                    browser.wait_until(hint).await?;
                }
                browser.execute("sessionStorage.clear()", vec![]).await?;
            }
        }
        Ok(())
    })
    .await
}
