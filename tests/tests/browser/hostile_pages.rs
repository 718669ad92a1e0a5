//! Scripts of a page that are faulty or hostile: options that cannot be read, built-ins that libraries replace, forged
//! messages, frames that are taken away. The form pays, or says that it cannot.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, Proxy, ProxyFault, run_in_browser};

use crate::forms::click_element;
use crate::lost_responses::{count_payments, fixture_behind_proxy};
use crate::{APPROVED, CheckoutFixture};

/// Fills in the form of the current page, pays, and asserts that the shopper is on the merchant's result page.
async fn pay_and_check(browser: &Browser, fixture: &CheckoutFixture, case: &str) -> anyhow::Result<()> {
    let form = CardForm::wait_until_ready(browser).await.map_err(|error| error.context(case.to_owned()))?;
    form.fill_fields().await?;
    form.press_pay_button().await?;
    browser.query(By::Id("result")).first().await.map_err(|_| anyhow::anyhow!("no result page: {case}"))?;
    assert!(browser.current_url().await?.as_str().starts_with(&fixture.site.public), "{case}");
    assert_eq!((fixture.submit_count(), fixture.read_result_code().await?.as_str()), (1, APPROVED), "{case}");
    Ok(())
}

/// Opens a page for each of these scripts, which run before the loader, and pays on it.
async fn pay_on_pages_with(scripts: &'static [(&'static str, &'static str)]) -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for (case, script) in scripts {
            let fixture = CheckoutFixture::new().await?;
            browser.goto(fixture.add_page(script)).await?;
            pay_and_check(&browser, &fixture, case).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn options_that_cannot_be_read_count_as_missing() -> anyhow::Result<()> {
    pay_on_pages_with(&[
        ("a getter that throws", "var wpwlOptions = { get labels() { throw Error('x'); }, get style() { throw Error('x'); } };"),
        ("a global getter that throws", "Object.defineProperty(window, 'wpwlOptions', { get() { throw Error('x'); } });"),
        ("a proxy that is revoked", "var it = Proxy.revocable({}, {}); it.revoke(); var wpwlOptions = it.proxy;"),
        ("a proxy that is everything", "var it = new Proxy(function () {}, { get: (_, name) => name === 'then' ? undefined : it, apply: () => it });
            var wpwlOptions = { labels: it, style: it, locale: it, spinner: it, iframeStyles: it, registrations: it, brandDetectionPriority: it };"),
        ("a cycle", "var wpwlOptions = {}; for (const name of ['labels', 'iframeStyles', 'registrations', 'spinner', 'errorMessages']) wpwlOptions[name] = wpwlOptions;"),
        ("values of other kinds", "var wpwlOptions = { labels: Symbol(), locale: 10n, style: Symbol(), showLabels: Symbol(), iframeStyles: () => 1, brandDetectionPriority: [Symbol(), 1n, null, {}] };"),
        ("megabytes", "var long = '<b>x</b>'.repeat(200000); var wpwlOptions = { labels: { cardNumber: long }, locale: long, style: long, iframeStyles: { 'card-number-placeholder': { color: long } } };"),
    ])
    .await
}

#[tokio::test]
async fn built_ins_that_libraries_replace_do_no_harm() -> anyhow::Result<()> {
    pay_on_pages_with(&[
        ("Prototype", "Array.prototype.toJSON = String.prototype.toJSON = () => 'x';
            Array.from = (it) => { const list = []; for (let at = 0; at < (it.length || 0); at++) list[at] = it[at]; return list; };
            Array.prototype.find = function (is) { for (const it of this) if (is(it)) return it; };
            Array.prototype.reduce = function (join, first) { return this.length ? this[0] : first; };
            Element.prototype.remove = function () { if (this.parentNode) this.parentNode.removeChild(this); return this; };
            Function.prototype.bind = function (that, ...first) { const it = this; return (...rest) => it.apply(that, first.concat(rest)); };"),
        ("zones", "const NativePromise = Promise, wrap = (it) => Object.assign(Object.create(Zone.prototype), { inner: it });
            function Zone(start) { this.inner = new NativePromise(start); }
            Zone.prototype.then = function (done, failed) { return wrap(this.inner.then(done, failed)); };
            Zone.prototype.catch = function (failed) { return this.then(null, failed); };
            Zone.resolve = (it) => it instanceof Zone ? it : new Zone((done) => done(it));
            Zone.reject = (it) => new Zone((_, failed) => failed(it));
            Zone.race = (all) => wrap(NativePromise.race(all)); Zone.all = (all) => wrap(NativePromise.all(all));
            window.Promise = Zone;
            const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype, wrapped = new WeakMap();
            EventTarget.prototype.addEventListener = function (kind, it, how) {
                wrapped.set(it, wrapped.get(it) || function (event) { return it.handleEvent ? it.handleEvent(event) : it.call(this, event); });
                return add.call(this, kind, wrapped.get(it), how);
            };
            EventTarget.prototype.removeEventListener = function (kind, it, how) { return remove.call(this, kind, wrapped.get(it) || it, how); };"),
        ("a page without requests", "window.fetch = window.XMLHttpRequest = window.WebSocket = undefined; Object.defineProperty(window, 'customElements', { value: undefined });"),
        ("frozen objects", "Object.freeze(Object.prototype); document.createElement = () => { throw Error('x'); };"),
    ])
    .await
}

#[tokio::test]
async fn texts_are_no_markup_and_brands_are_no_properties() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    let script = "const markup = '<img src=x onerror=\"witness.note(1, 2)\"><b>x</b>';
        var wpwlOptions = { labels: { cardNumber: markup, submit: markup }, errorMessages: { cardNumberError: markup, __proto__: { cvvError: markup } } };";
    let page =
        MerchantPage::for_checkout(&fixture.checkout).with_script(script).with_brands("__proto__ VISA constructor");
    run_in_browser(move |browser| async move {
        browser.goto(fixture.site.add_page(page)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.press_pay_button().await?;
        assert!(form.wait_for_hint("cardNumberError").await?.starts_with("<img src=x"));
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-container :is(img, b)').length").await?, 0);
        let brands =
            browser.evaluate("[...document.querySelector('.wpwl-control-brand').options].map(it => it.value)").await?;
        assert_eq!(brands, json!(["VISA"]));
        pay_and_check(&browser, &fixture, "markup").await
    })
    .await
}

#[tokio::test]
async fn an_id_that_no_checkout_can_have_is_told_like_one_that_does_not_exist() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onError(error) { witness.note('failed', error.name); } };";
    run_in_browser(move |browser| async move {
        for id in ["%", "%E0%A4", "..", "%00", "__proto__", "&lt;b>", "8a/registration/../..", &"x".repeat(5000)] {
            browser.goto(fixture.site.add_page(MerchantPage::for_checkout_id(id).with_script(script))).await?;
            let message = browser.query(By::Css(".wpwl-message")).first().await?.text().await?;
            assert!(message.starts_with("This payment can no longer be made."), "{id}: {message}");
            assert_eq!(
                browser.observed_details("failed").await?.last().map(String::as_str),
                Some("InvalidCheckoutIdError")
            );
        }
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn messages_of_windows_that_are_not_the_forms_frames_change_nothing() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(fixture.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        // A frame of the gateway's that the page has added itself, with the form's own nonce.
        let add = format!("const copy = document.createElement('iframe'); copy.id = 'copy';
            copy.src = document.querySelector('{CODE_FRAME}').src; document.body.append(copy); return new URL(copy.src).searchParams.get('form')");
        let nonce = browser.execute(add, vec![]).await?.json().clone();
        form.find_element("#copy").await?.enter_frame().await?;
        form.find_element("input").await?;
        let forge = "const answer = { status: 200, id: '', flow: '', checkoutState: 'PAID', threeDSecure: false, saved: null, description: '', wrong: [],
                redirect: { url: 'https://attacker.example/', method: 'GET', parameters: [], preconditions: [] } };
            for (const field of ['card.number', 'card.cvv']) for (const type of ['ready', 'state', 'enter', 'answer', 'invalid', 'failed', 'blur', 'wallet', 'brands'])
                parent.postMessage({ tillgate: 1, type, field, form: arguments[0], call: 1, answer, empty: false, known: true, valid: true, complete: true, config: { error: 'x' } }, '*');";
        browser.execute(forge, vec![nonce]).await?;
        browser.enter_default_frame().await?;
        // Messages arrive in their order.
        form.wait_for_message_of_code("type: brands").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cardNumberError").await?;
        // The page floods the frames.
        let flood = format!("for (const frame of document.querySelectorAll('{NUMBER_FRAME}, {CODE_FRAME}')) for (let at = 0; at < 1000; at++)
            frame.contentWindow.postMessage({{ tillgate: 1, type: ['focus', 'error', 'brand', 'state'][at % 4], form: at, text: 'x', brand: 'AMEX' }}, '*');");
        browser.execute(flood, vec![]).await?;
        pay_and_check(&browser, &fixture, "forged messages").await
    })
    .await
}

#[tokio::test]
async fn a_frame_that_a_callback_takes_away_is_told_and_nothing_is_sent() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for taken in [NUMBER_FRAME, CODE_FRAME, ".wpwl-form"] {
            let fixture = CheckoutFixture::new().await?;
            let script = format!(
                "var wpwlOptions = {{ onBeforeSubmitCard() {{ document.querySelector('{taken}').remove(); }},
                onError(error) {{ witness.note('failed', error.name); }} }};"
            );
            browser.goto(fixture.add_page(&script)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            let message = browser.query(By::Css(".wpwl-message")).first().await?.text().await?;
            assert!(message.starts_with("The payment form was changed by the page"), "{taken}: {message}");
            assert_eq!(
                browser.observed_details("failed").await?.last().map(String::as_str),
                Some("PciIframeCommunicationError")
            );
            assert_eq!(browser.evaluate("!!document.querySelector('.wpwl-button-busy')").await?, false, "{taken}");
            assert_eq!(fixture.submit_count(), 0, "{taken}");
        }
        Ok(())
    })
    .await
}

/// Fills in the card form of a page, pays, and runs a script once the request to pay has met a fault.
async fn pay_and_disturb(
    browser: &Browser,
    fixture: &CheckoutFixture,
    proxy: &Proxy,
    fault: ProxyFault,
    script: &str,
) -> anyhow::Result<()> {
    browser
        .goto(fixture.add_page("var wpwlOptions = { onError(error) { witness.note('failed', error.name); } };"))
        .await?;
    let form = CardForm::wait_until_ready(browser).await?;
    form.fill_fields().await?;
    proxy.schedule_fault("POST", "/payment", fault);
    form.press_pay_button().await?;
    proxy.wait_for_faults(1).await?;
    browser.execute(format!("const frame = document.querySelector('{NUMBER_FRAME}'); {script}"), vec![]).await?;
    Ok(())
}

#[tokio::test]
async fn a_number_frame_that_goes_after_the_payment_leads_to_the_result_and_nobody_pays_twice() -> anyhow::Result<()> {
    for (order, script) in [
        ("frame-removed", "frame.remove()"),
        ("frame-reloaded", "frame.src += ''"),
        ("frame-moved", "const group = frame.closest('.wpwl-group'); group.parentNode.append(group)"),
        ("frame-foreign", "frame.src = 'about:blank'"),
        ("form-removed", "document.querySelector('.wpwl-container').remove()"),
    ] {
        let (fixture, proxy) = fixture_behind_proxy(order).await?;
        run_in_browser(move |browser| async move {
            pay_and_disturb(&browser, &fixture, &proxy, ProxyFault::ResponseDropped, script).await?;
            let result = browser.query(By::Id("result")).first().await;
            result.map_err(|_| anyhow::anyhow!("no result page: {order}"))?;
            assert_eq!(fixture.read_result_code().await?, APPROVED, "{order}");
            assert_eq!((fixture.submit_count(), count_payments(&fixture, order).await?), (1, Some(1)), "{order}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_number_frame_that_goes_with_an_unpaid_request_is_told_and_the_button_lives_again() -> anyhow::Result<()> {
    for (order, script, is_usable) in
        [("unpaid-removed", "frame.remove()", false), ("unpaid-reloaded", "frame.src += ''", true)]
    {
        let (fixture, proxy) = fixture_behind_proxy(order).await?;
        run_in_browser(move |browser| async move {
            pay_and_disturb(&browser, &fixture, &proxy, ProxyFault::RequestDropped, script).await?;
            assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeSubmitError", "{order}");
            let message = browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
            let text = message.text().await?;
            assert!(text.contains("it is not known whether") && text.contains("charged only once"), "{order}: {text}");
            browser.wait_until("!document.querySelector('.wpwl-button-busy, .wpwl-button-pay:disabled')").await?;
            let form = CardForm::in_page(&browser);
            if is_usable {
                form.enter_number("4200000000000000").await?;
            }
            form.press_pay_button().await?;
            if is_usable {
                browser.query(By::Id("result")).first().await?;
                assert_eq!(fixture.read_result_code().await?, APPROVED, "{order}");
                assert_eq!((fixture.submit_count(), count_payments(&fixture, order).await?), (1, Some(1)), "{order}");
            } else {
                browser
                    .wait_until("/changed by the page/.test(document.querySelector('.wpwl-message').textContent)")
                    .await?;
                assert_eq!((fixture.submit_count(), count_payments(&fixture, order).await?), (0, None), "{order}");
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_relay_frame_that_the_page_takes_away_comes_again() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    let page = MerchantPage::for_checkout(&fixture.checkout).with_brands("IDEAL");
    run_in_browser(move |browser| async move {
        browser.goto(fixture.site.add_page(page)).await?;
        let button = browser.query(By::Css(".wpwl-button-brand-IDEAL")).first().await?;
        browser.execute("document.querySelector('iframe[src*=internalRequestIframe]').remove()", vec![]).await?;
        button.click().await?;
        browser.wait_until(&format!("location.href.startsWith('{}')", fixture.gateway.public_url())).await?;
        assert_eq!(fixture.submit_count(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_relay_frame_that_goes_with_a_request_is_told_and_the_button_lives_again() -> anyhow::Result<()> {
    for (order, script) in [("relay-removed", "relay.remove()"), ("relay-reloaded", "relay.src += ''")] {
        let (fixture, proxy) = fixture_behind_proxy(order).await?;
        run_in_browser(move |browser| async move {
            fixture.open_forms(&browser, "IDEAL", "onError(error) { witness.note('failed', error.name); }").await?;
            proxy.schedule_fault("POST", "/payment", ProxyFault::RequestDropped);
            click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
            proxy.wait_for_faults(1).await?;
            let relay = "const relay = document.querySelector('iframe[src*=internalRequestIframe]');";
            browser.execute(format!("{relay} {script}"), vec![]).await?;
            assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeSubmitError", "{order}");
            browser.wait_until("!document.querySelector('.wpwl-button-busy')").await?;
            click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
            browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
            assert_eq!((fixture.submit_count(), count_payments(&fixture, order).await?), (1, Some(1)), "{order}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn of_two_loaders_in_a_page_the_last_one_has_the_form() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for is_same in [true, false] {
            let (fixture, other) = (CheckoutFixture::new().await?, CheckoutFixture::new().await?);
            let last = if is_same { &fixture } else { &other };
            let script = format!(
                r#"<script src="{}v1/paymentWidgets.js?checkoutId={}"></script>"#,
                fixture.gateway.public_url(),
                last.checkout.id()
            );
            let page = MerchantPage::for_checkout(&fixture.checkout).with_markup_after(&script);
            browser.goto(fixture.site.add_page(page)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            assert_eq!(
                browser.evaluate("document.querySelectorAll('.wpwl-container, form.paymentWidgets').length").await?,
                1
            );
            form.fill_fields().await?;
            form.press_pay_button().await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!((last.submit_count(), last.read_result_code().await?.as_str()), (1, APPROVED), "{is_same}");
        }
        Ok(())
    })
    .await
}
