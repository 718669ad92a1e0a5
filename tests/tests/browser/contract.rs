//! The merchant's callbacks: their order, `this` values and arguments, and the effects of their return values.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME, PAY_BUTTON};
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::forms::enter_text;
use crate::{APPROVED, CheckoutFixture};

/// Records every call with the content of `this` and the arguments.
const NOTING: &str = "
    function list(it) {
        return it && it[0] ? [it[0].nodeName + '.' + (it[0].getAttribute('name') || ''), it.length, typeof it.find, typeof it.val, it.height() > 0].join(' ') : '';
    }
    var wpwlOptions = { brandDetection: true, brandDetectionType: 'binlist', mine: 'kept' };
    ['onReady', 'onReadyIframeCommunication', 'onFocusIframeCommunication', 'onBlurIframeCommunication', 'onBlurCardNumber',
     'onBlurSecurityCode', 'onBlurCardHolder', 'onBlurExpiryDate', 'onChangeBrand', 'onDetectBrand', 'onDetectBin',
     'onBeforeSubmitCard', 'onBeforeSubmitCardPromise', 'onAfterSubmit', 'onError'].forEach(function (name) {
        wpwlOptions[name] = function (first) {
            if (this.mine !== 'kept') witness.note('strange', name);
            var given = [].map.call(arguments, function (it) {
                return it && it.$iframe ? 'frame ' + list(it.$iframe) : it instanceof Event ? it.type + ' ' + it.target.nodeName : JSON.stringify(it);
            });
            witness.note(name, (list(this.$iframe) || list(this.$form)) + ' | ' + given.join(', '));
        };
    });";

#[tokio::test]
async fn every_callback_is_called_with_its_this_and_its_arguments() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(NOTING)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("5454545454545454").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_holder("Jane Jones").await?;
        form.enter_security_code("123").await?;
        form.find_element("input.wpwl-control-cardHolder").await?.click().await?;
        browser.wait_until("witness.all().some(it => it.kind === 'onBlurSecurityCode')").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;

        let (number, code) =
            ("IFRAME.card.number 1 function function true", "IFRAME.card.cvv 1 function function true");
        let this = "FORM. 1 function function true";
        let expected = [
            ("onReady", vec![r#" | [{"containerKey":"card","ccMethods":["VISA","MASTER","AMEX"]}]"#.to_owned()]),
            (
                "onReadyIframeCommunication",
                vec![format!("{number} | frame {number}"), format!("{code} | frame {code}")],
            ),
            (
                "onFocusIframeCommunication",
                vec![format!("{number} | frame {number}"), format!("{code} | frame {code}")],
            ),
            ("onBlurIframeCommunication", vec![format!("{number} | frame {number}"), format!("{code} | frame {code}")]),
            ("onBlurCardNumber", vec![format!("{this} | true")]),
            ("onBlurExpiryDate", vec![format!("{this} | true")]),
            ("onBlurSecurityCode", vec![format!("{this} | true")]),
            ("onDetectBrand", vec![format!(r#"{this} | ["MASTER"], "MASTER", "wpwl-container-card""#)]),
            ("onChangeBrand", vec![format!(r#"{this} | "MASTER""#)]),
            ("onDetectBin", vec![format!(r#"{this} | {{"brands":["MASTER"],"activeBrand":"MASTER"}}"#)]),
            ("onBeforeSubmitCard", vec![format!("{this} | submit FORM")]),
            ("onBeforeSubmitCardPromise", vec![format!("{this} | submit FORM")]),
            ("onAfterSubmit", vec![format!("{this} | ")]),
            ("onError", vec![]),
            ("strange", vec![]),
        ];
        for (name, calls) in expected {
            assert_eq!(browser.observed_details(name).await?, calls, "{name}");
        }
        let holder = browser.observed_details("onBlurCardHolder").await?;
        assert_eq!(holder.first(), Some(&format!("{this} | true")));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn whatever_says_no_stops_the_payment_and_the_form_can_be_sent_afterwards() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let noes = [
        ("onBeforeSubmitCard", "return false"),
        ("onBeforeSubmitCard", "return Promise.resolve(false)"),
        ("onBeforeSubmitCard", "return Promise.reject(new Error('no'))"),
        ("onBeforeSubmitCard", "event.preventDefault()"),
        ("onBeforeSubmitCard", "return jQuery.Deferred().reject('no').promise()"),
        ("onBeforeSubmitCard", "return jQuery.Deferred().resolve(false).promise()"),
        ("onBeforeSubmitCardPromise", "return Promise.reject()"),
        ("onBeforeSubmitCardPromise", "return jQuery.Deferred().reject()"),
    ];
    run_in_browser(move |browser| async move {
        let page = MerchantPage::for_checkout(&stage.checkout)
            .with_script("var wpwlOptions = {};")
            .with_markup_after(r#"<script src="/jquery.js"></script>"#);
        browser.goto(stage.site.add_page(page)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        for (asked, (name, answer)) in noes.into_iter().enumerate() {
            // The callback is looked up at the call. It did not exist when the form was created.
            let script = format!(
                "window.wpwlOptions = {{ {name}: function (event) {{ witness.note('asked', 1);
                   witness.note('jQuery', this.$form.jquery + ' ' + this.$form.find('select').val()); {answer} }} }}"
            );
            browser.execute(script, vec![]).await?;
            form.press_pay_button().await?;
            browser
                .wait_until(&format!("witness.all().filter(it => it.kind === 'asked').length === {}", asked + 1))
                .await?;
            browser
                .wait_until(&format!("!document.querySelector('{PAY_BUTTON}').matches('.wpwl-button-busy')"))
                .await?;
            assert_eq!(stage.submit_count(), 0, "{name}: {answer}");
        }
        assert!(
            browser.wait_for_observation("jQuery").await?.ends_with(" VISA"),
            "where there is jQuery, this.$form is its object"
        );
        browser
            .execute("wpwlOptions = { onBeforeSubmitCard() { return jQuery.Deferred().resolve() } }", vec![])
            .await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (1, APPROVED));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn each_kind_of_form_asks_its_own_callback() -> anyhow::Result<()> {
    let mut stage = CheckoutFixture::new().await?;
    let card = [("card.number", "4200000000000000"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let stored = stage.merchant.post("v1/registrations", &[&[("paymentBrand", "VISA")], &card[..]].concat()).await?;
    stage.checkout = stage.merchant.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    // A form, the callback that it asks, and an option that is set before.
    let kinds = [
        (".wpwl-form-card", "onBeforeSubmitCard", ""),
        (".wpwl-form-registrations", "onBeforeSubmitOneClickCard", ""),
        (".wpwl-form-directDebit", "onBeforeSubmitDirectDebit", ""),
        (".wpwl-form-onlineTransfer-IDEAL", "onBeforeSubmitOnlineTransfer", ""),
        (".wpwl-form-virtualAccount-PAYPAL", "onBeforeSubmitVirtualAccount", ""),
        (
            ".wpwl-form-virtualAccount-PAYPAL",
            "onBeforeSubmitInlineVirtualAccount",
            "wpwlOptions.inlineFlow = ['PAYPAL'];",
        ),
        (".wpwl-form-prepayment-PREPAYMENT", "onBeforeSubmitPrepayment", ""),
    ];
    run_in_browser(move |browser| async move {
        let names = kinds.map(|(_, name, _)| format!("'{name}'")).join(",");
        let script = format!(
            "var wpwlOptions = {{ onReady() {{ witness.note('ready', 1); }} }};
             [{names}].forEach(function (name) {{
                 wpwlOptions[name] = function () {{ witness.note('asked', name); }};
                 wpwlOptions[name + 'Promise'] = function () {{ witness.note('asked', name + 'Promise'); return Promise.reject(); }};
             }});"
        );
        let page = MerchantPage::for_checkout(&stage.checkout)
            .with_brands("VISA SEPA IDEAL PAYPAL PREPAYMENT")
            .with_script(&script);
        browser.goto(stage.site.add_page(page)).await?;
        browser.wait_for_observation("ready").await?;
        CardForm::wait_until_ready(&browser).await?.fill_fields().await?;
        for (name, value) in [("accountHolder", "Jane Jones"), ("accountNumber", "DE23100000001234567890")] {
            enter_text(&browser, &format!(".wpwl-form-directDebit .wpwl-control-{name}"), value).await?;
        }
        for (number, (form, name, before)) in kinds.into_iter().enumerate() {
            browser.execute(format!("{before} document.querySelector('{form} [name=pay]').click()"), vec![]).await?;
            browser.wait_until(&format!("witness.all().filter(it => it.kind === 'asked').length === {}", 2 * number + 2)).await?;
            let asked = browser.observed_details("asked").await?;
            assert_eq!(asked[2 * number..], [name.to_owned(), format!("{name}Promise")]);
            browser.wait_until("!document.querySelector('.wpwl-button-busy')").await?;
        }
        assert_eq!(stage.submit_count(), 0, "every one of them was stopped");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_checkout_can_be_made_at_the_click() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let id = stage.checkout.id().to_owned();
    // Return values of merchants, with the expected error, or none if the value is an id.
    let answers = [
        ("Promise.reject(new Error('sold out'))".to_owned(), "createCheckout: sold out"),
        ("undefined".to_owned(), "createCheckout: it gave no checkout id"),
        ("'<none>'".to_owned(), "createCheckout: it gave no checkout id"),
        (format!("({{ then: function (done) {{ setTimeout(done, 1, '{id}') }} }})"), ""),
    ];
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = {
            createCheckout: function (about) { witness.note('made for', JSON.stringify(about)); return eval(window.answer); },
            onError: function (error) { witness.note('failed', [error.name, error.message, error.brand, error.event].join(' / ')); } };";
        // The policy forbids `eval`, so the return value comes from a function.
        let script = script.replace("eval(window.answer)", "window.answer()");
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id("").with_script(&script).with_brands("VISA MASTER"))).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        for (answer, message) in answers {
            browser.execute(format!("window.answer = function () {{ return {answer} }}"), vec![]).await?;
            form.press_pay_button().await?;
            if message.is_empty() {
                continue;
            }
            let noted = format!("WidgetError / {message} / VISA / submit");
            browser.wait_until(&format!("witness.all().some(it => it.detail === {})", json!(noted))).await?;
            let shown = browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
            assert!(!shown.text().await?.is_empty());
        }
        browser.query(By::Id("result")).first().await?;
        assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (1, APPROVED));
        assert_eq!(browser.observed_details("made for").await?, [r#"{"brand":"VISA"}"#; 4]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_of_another_version_is_refused_and_other_origins_are_not_heard() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name + ': ' + error.message); } };";
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(script)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let nonce = browser
            .evaluate(&format!("new URL(document.querySelector('{NUMBER_FRAME}').src).searchParams.get('form')"))
            .await?;
        // Sent by the page itself. Messages of a frame are accepted from the frame's origin only.
        let forged = json!({ "tillgate": 1, "type": "state", "field": "card.number", "form": nonce,
            "empty": false, "known": true, "valid": true, "complete": true });
        browser.execute("postMessage(arguments[0], '*')", vec![forged]).await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser.execute("parent.postMessage({ tillgate: 2, type: 'ready' }, '*')", vec![]).await?;
        browser.enter_default_frame().await?;
        let failed = browser.wait_for_observation("failed").await?;
        assert_eq!(failed, "PciIframeCommunicationError: a frame speaks version 2 of the protocol, not 1");
        form.press_pay_button().await?;
        form.wait_for_hint("cardNumberError").await?;

        // A frame ignores messages of a page with another protocol version.
        form.find_element(CODE_FRAME).await?.enter_frame().await?;
        browser
            .execute(
                "window.before = document.title; window.heard = 0; addEventListener('message', () => heard++)",
                vec![],
            )
            .await?;
        browser.enter_default_frame().await?;
        let other = json!({ "tillgate": 2, "type": "options", "form": nonce, "label": "Other", "style": {} });
        browser
            .execute(
                format!("document.querySelector('{CODE_FRAME}').contentWindow.postMessage(arguments[0], '*')"),
                vec![other],
            )
            .await?;
        form.find_element(CODE_FRAME).await?.enter_frame().await?;
        browser.wait_until("window.heard > 0").await?;
        assert_eq!(browser.evaluate("document.title === window.before").await?, true);
        browser.enter_default_frame().await?;
        Ok(())
    })
    .await
}
