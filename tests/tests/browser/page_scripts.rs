//! Scripts of shops' own pages: options and forms that they set late, other forms with our classes, and the markup that
//! they look for.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture, PENDING};

/// Options that record when the forms are ready.
const READY: &str = "onReady: function (list) { witness.note('ready', list.map(it => it.containerKey + ':' + it.ccMethods).join(' ')); }";

/// Opens a page with this script and these brands.
async fn open_page(fixture: &CheckoutFixture, browser: &Browser, brands: &str, script: &str) -> anyhow::Result<()> {
    let page = MerchantPage::for_checkout(&fixture.checkout).with_brands(brands).with_script(script);
    browser.goto(fixture.site.add_page(page)).await?;
    Ok(())
}

#[tokio::test]
async fn options_may_be_declared_by_let_and_set_when_the_document_is_ready() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let scripts = [
        format!("let wpwlOptions = {{ locale: 'de', {READY} }};"),
        format!("const wpwlOptions = {{ locale: 'de', {READY} }};"),
        format!(
            "document.addEventListener('DOMContentLoaded', () => setTimeout(() => {{ window.wpwlOptions = {{ locale: 'de', {READY} }}; }}));"
        ),
    ];
    run_in_browser(move |browser| async move {
        for script in scripts {
            open_page(&stage, &browser, "VISA", &script).await?;
            browser.wait_for_observation("ready").await?;
            let label = browser.evaluate("document.querySelector('.wpwl-label-cardNumber').textContent").await?;
            assert_eq!(label, "Kartennummer", "{script}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_may_change_its_form_until_its_scripts_have_run() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    // The form is still there for scripts that wait for the document; they name brands, move it, and set its action.
    let script = format!(
        "var wpwlOptions = {{ {READY} }};
         document.addEventListener('DOMContentLoaded', () => setTimeout(() => {{
             const form = document.querySelector('form.paymentWidgets');
             form.dataset.brands = 'MASTER IDEAL';
             form.action = '/result?late=1';
             document.querySelector('#place').append(form);
         }}));"
    );
    run_in_browser(move |browser| async move {
        let page = MerchantPage::for_checkout(&stage.checkout)
            .with_brands("VISA")
            .with_script(&script)
            .with_markup_after("<section id=\"place\"></section>");
        browser.goto(stage.site.add_page(page)).await?;
        assert_eq!(browser.wait_for_observation("ready").await?, "card:MASTER onlineTransfer:IDEAL");
        let places = "[...document.querySelectorAll('.wpwl-container')].map(it => it.parentNode.id).join() + document.querySelectorAll('.paymentWidgets').length";
        assert_eq!(browser.evaluate(places).await?, "place,place0");
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("5454545454545454").await?;
        form.press_pay_button().await?;
        browser.wait_until("location.search.startsWith('?late=1&')").await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_that_a_script_adds_much_later_is_found_without_the_loader() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        open_page(&stage, &browser, "VISA", &format!("var wpwlOptions = {{ {READY} }};")).await?;
        browser.wait_for_observation("ready").await?;
        let add = "const form = document.createElement('form');
            form.className = 'paymentWidgets'; form.action = '/result?second=1'; form.textContent = 'IDEAL';
            const box = document.createElement('div'); box.append(form); document.body.append(box);";
        browser.execute(add, vec![]).await?;
        browser.wait_until("witness.all().filter(it => it.kind === 'ready').length === 2").await?;
        assert_eq!(browser.observed_details("ready").await?[1], "onlineTransfer:IDEAL");
        click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
        browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_target_that_the_page_does_not_have_counts_as_none() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        open_page(
            &stage,
            &browser,
            "VISA",
            "var wpwlOptions = { paymentTarget: 'nobody', shopperResultTarget: 'nobody' };",
        )
        .await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.pathname === '/result'").await?;
        assert_eq!(browser.windows().await?.len(), 1, "no other window was opened");
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_of_the_page_with_our_classes_submits_by_itself() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let own = r#"<form id="own" class="wpwl-form wpwl-form-card" action="/result"><input name="order" value="7"><button>Send</button></form>"#;
    run_in_browser(move |browser| async move {
        let page = MerchantPage::for_checkout(&stage.checkout).with_brands("VISA").with_markup_after(own);
        browser.goto(stage.site.add_page(page)).await?;
        CardForm::wait_until_ready(&browser).await?;
        click_element(&browser, "#own button").await?;
        browser.wait_until("location.search === '?order=7'").await?;
        assert_eq!(stage.read_result_code().await?, PENDING);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn scripts_find_the_markup_that_they_look_for() -> anyhow::Result<()> {
    let mut stage = CheckoutFixture::new().await?;
    let card = [("card.number", "4200000000000000"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let stored = stage.merchant.post("v1/registrations", &[&[("paymentBrand", "VISA")], &card[..]].concat()).await?;
    stage.checkout = stage.merchant.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    run_in_browser(move |browser| async move {
        let script = format!("var wpwlOptions = {{ registrations: {{ hideInitialPaymentForms: true }}, {READY} }};");
        open_page(&stage, &browser, "VISA SEPA IDEAL", &script).await?;
        browser.wait_for_observation("ready").await?;
        for css in [
            "input.wpwl-control-accountNumber.wpwl-control-accountIban[name='bankAccount.iban']",
            "input.wpwl-control-accountBank.wpwl-control-accountBic[name='bankAccount.bic']",
            ".wpwl-group-registration.wpwl-selected input[type=radio][checked]",
            "button[data-action=show-initial-forms][aria-label='Show other payment methods']",
        ] {
            assert!(browser.query(By::Css(css)).nowait().exists().await?, "{css}");
        }
        let button = browser.query(By::Css("button[data-action=show-initial-forms]")).first().await?;
        assert_eq!(button.text().await?, "Show other payment methods");
        let displays = "[...document.querySelectorAll('.wpwl-container')].map(it => it.style.display).join()";
        assert_eq!(browser.evaluate(displays).await?, "block,none,none,none");
        button.click().await?;
        assert_eq!(browser.evaluate(displays).await?, "block,block,block,block");
        // A hint that the page has put behind a field disappears once the field is right.
        let insert = "document.querySelector('.wpwl-control-accountHolder').insertAdjacentHTML('afterend', '<div class=\"wpwl-hint wpwl-hint-accountHolderError\" id=\"mine\">?</div>')";
        browser.execute(insert, vec![]).await?;
        browser.find(By::Css(".wpwl-control-accountHolder")).await?.send_keys("Jane Jones").await?;
        browser.wait_until("!document.querySelector('#mine')").await?;
        // The brand inside of a button that redirects.
        browser.execute("document.querySelector('.wpwl-form-onlineTransfer-IDEAL .wpwl-brand').click()", vec![]).await?;
        browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_exception_of_the_merchant_stops_the_payment_like_a_rejected_promise() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var stops = true; var wpwlOptions = { onBeforeSubmitCard: function () { witness.note('asked', stops); if (stops) missing(); } };";
    run_in_browser(move |browser| async move {
        open_page(&stage, &browser, "VISA", script).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_for_observation("asked").await?;
        browser.wait_until("!document.querySelector('.wpwl-button-busy')").await?;
        assert_eq!(stage.submit_count(), 0);
        browser.execute("stops = false", vec![]).await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_console_stays_silent_when_a_page_moves_the_form() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onReady: function () { document.querySelector('#place').append(document.querySelector('.wpwl-container')); witness.note('moved', 1); } };";
    run_in_browser(move |browser| async move {
        let page = MerchantPage::for_checkout(&stage.checkout)
            .with_brands("VISA MASTER")
            .with_script(script)
            .with_markup_after("<section id=\"place\"></section>");
        browser.goto(stage.site.add_page(page)).await?;
        browser.wait_for_observation("moved").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        assert_eq!(browser.console_warnings().await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_missing_form_and_a_misspelt_brand_are_told_to_the_developer_alone() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.message); } };
        document.addEventListener('DOMContentLoaded', () => { if (window.noForm) document.querySelector('form.paymentWidgets').remove(); });";
    run_in_browser(move |browser| async move {
        for (brands, before, expected) in [
            ("VISSA", "", "none of the brands is offered"),
            ("VISA", "window.noForm = true;", "there is no form.paymentWidgets"),
        ] {
            open_page(&stage, &browser, brands, &format!("{before} {script}")).await?;
            browser
                .wait_until(&format!(
                    "witness.all().some(it => it.kind === 'failed' && it.detail.includes('{expected}'))"
                ))
                .await?;
            let warnings = browser.console_warnings().await?;
            assert!(warnings.iter().any(|it| it.contains(expected)), "{brands}: {warnings:?}");
            let shown = browser.evaluate("document.body.textContent").await?;
            assert!(!shown.to_string().contains("can no longer be made"), "{shown}");
        }
        Ok(())
    })
    .await
}
