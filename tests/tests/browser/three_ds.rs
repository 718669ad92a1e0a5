//! 3-D Secure in the form: the invisible method step, the issuer's challenge in place of the form, and the steps after
//! it.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, MerchantSite, Proxy, ProxyFault, run_in_browser, run_in_firefox};

use crate::app_addresses::{APP, NAVIGATIONS, result_address};
use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture, PENDING};

const TARGET: &str = "iframe.wpwl-target";
/// Visa cards of the simulator's directory, by their outcome.
const CHALLENGE: &str = "4200000000000018";
const CHALLENGE_WITH_METHOD: &str = "4200000000000042";
const FRICTIONLESS_WITH_METHOD: &str = "4200000000000091";
/// Enrolled in version 1: the browser posts a form to the issuer's page.
const VERSION_1: &str = "4711100000000000";
const WITHOUT: &str = "4200000000000000";
/// Declined until its cardholder has been authenticated.
const SOFT_DECLINED: &str = "4200000000000083";
/// An unsuccessful answer of the issuer.
const FAILED: &str = "100.390.100";
const CANCELLED: &str = "100.396.101";

/// Creates a fixture with a channel that authenticates if possible, and a checkout with these fields.
async fn fixture_with_three_ds(fields: &[(&str, &str)]) -> anyhow::Result<CheckoutFixture> {
    CheckoutFixture::with_options(&["--3d", "when-enrolled"], fields).await
}

/// Records the callbacks of the merchant's page, and the element in `this`.
const CALLBACKS: &str = "onLoadThreeDIframe() { witness.note('challenge', this.className + ' ' + this.isConnected); },
    onError(error) { witness.note('failed', error.name); },";

/// Fills in the card form with this number.
async fn fill_card_form(browser: &Browser, number: &str) -> anyhow::Result<()> {
    let form = CardForm::wait_until_ready(browser).await?;
    form.enter_number(number).await?;
    form.enter_expiry("05 / 34").await?;
    form.enter_holder("Jane Jones").await?;
    enter_security_code(browser, ".wpwl-container-card iframe.wpwl-control-cvv").await
}

/// Types the code 123 into its frame, and returns to the page.
async fn enter_security_code(browser: &Browser, frame: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let typed = async { anyhow::Ok(browser.query(By::Css("input")).first().await?.send_keys("123").await?) }.await;
    browser.enter_default_frame().await?;
    typed
}

/// Waits for the challenge in place of the form.
async fn wait_for_challenge(browser: &Browser) -> anyhow::Result<()> {
    browser.wait_until(&format!("document.querySelector('.wpwl-challenge > {TARGET}')?.checkVisibility()")).await
}

/// Pays with a card that requires a challenge, and waits until it is shown.
async fn pay_until_challenge(browser: &Browser, number: &str) -> anyhow::Result<()> {
    fill_card_form(browser, number).await?;
    click_element(browser, ".wpwl-button-pay").await?;
    wait_for_challenge(browser).await
}

/// Answers the challenge in the frame that matches `frame`, with the cancel button for [`CANCELLED`], and returns to
/// the page.
async fn answer_challenge(browser: &Browser, frame: &str, code: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let result = async {
        if code == CANCELLED {
            browser.query(By::Css(format!("button[value='{code}']"))).first().await?.click().await?;
        } else {
            browser
                .query(By::Css(format!("select[name=returnCode] option[value='{code}']")))
                .first()
                .await?
                .click()
                .await?;
            browser.query(By::Css("input[type=submit]")).first().await?.click().await?;
        }
        anyhow::Ok(())
    };
    let result = result.await;
    browser.enter_default_frame().await?;
    result
}

/// Returns the box of the element that matches `css`, in pixels of its viewport: left, top, width, height.
async fn element_box(browser: &Browser, css: &str) -> anyhow::Result<[f64; 4]> {
    let measures = format!(
        "(it => [it.left, it.top, it.width, it.height])(document.querySelector(\"{css}\").getBoundingClientRect())"
    );
    Ok(serde_json::from_value(browser.evaluate(&measures).await?)?)
}

#[tokio::test]
async fn after_a_challenge_the_shopper_returns_to_the_app() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[("shopperResultUrl", APP)]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        browser.execute(NAVIGATIONS, vec![]).await?;
        pay_until_challenge(&browser, CHALLENGE).await?;
        answer_challenge(&browser, TARGET, APPROVED).await?;
        assert_eq!(browser.wait_for_observation("left").await?, result_address(stage.checkout.id()));
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

/// Pays with each of these cards, and asserts that a challenge stands in the place of the form and that this answer to
/// it leads to the result.
async fn check_challenges(cases: &[(&'static str, &'static str)]) -> anyhow::Result<()> {
    for &(number, code) in cases {
        let stage = fixture_with_three_ds(&[]).await?;
        run_in_browser(move |browser| async move {
            stage.open_forms(&browser, "VISA", CALLBACKS).await?;
            let before = element_box(&browser, ".wpwl-container").await?;
            pay_until_challenge(&browser, number).await?;
            assert_eq!(stage.read_result_code().await?, PENDING);
            assert_eq!(browser.evaluate("document.querySelector('.wpwl-form').checkVisibility()").await?, false);
            let frame = element_box(&browser, TARGET).await?;
            assert!((frame[1] - before[1]).abs() < 2.0, "where the form stood: {before:?} {frame:?}");
            // For screen readers, the frame gets the focus and has a title.
            browser.wait_until(&format!("document.activeElement === document.querySelector('{TARGET}')")).await?;
            assert_eq!(
                browser.evaluate(&format!("document.querySelector('{TARGET}').title")).await?,
                "Confirmation by your bank"
            );
            assert_eq!(browser.run_axe().await?, Vec::<String>::new());
            assert_eq!(browser.observed_details("challenge").await?, ["wpwl-target true"]);
            browser.save_screenshot("challenge").await?;
            let already = browser.observed_details("message").await?.len();
            answer_challenge(&browser, TARGET, code).await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(stage.read_result_code().await?, code, "{number}");
            let query = browser.evaluate("location.search").await?;
            let expected = format!("?own=1&id={0}&resourcePath=%2Fv1%2Fcheckouts%2F{0}%2Fpayment", stage.checkout.id());
            assert_eq!(query, expected.as_str());
            // The page learns that the challenge has ended, but not its result: from the target, or from the state of
            // the checkout if that comes first.
            let told = browser.observed_details("message").await?.split_off(already).join(" ");
            let is_told = ["ended", "checkoutState: PAID", "checkoutState: OPEN"].iter().any(|end| told.contains(end));
            assert!(is_told && !told.contains(code), "{told}");
            assert_eq!(browser.observed_details("failed").await?, Vec::<String>::new());
            assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_challenge_of_any_card_stands_in_the_place_of_the_form_and_leads_to_the_result() -> anyhow::Result<()> {
    let numbers = [CHALLENGE, CHALLENGE_WITH_METHOD, SOFT_DECLINED, VERSION_1];
    check_challenges(&numbers.map(|number| (number, APPROVED))).await
}

#[tokio::test]
async fn a_challenge_that_fails_or_is_cancelled_by_the_issuers_page_leads_to_the_result_too() -> anyhow::Result<()> {
    check_challenges(&[(CHALLENGE, FAILED), (CHALLENGE, CANCELLED)]).await
}

#[tokio::test]
async fn a_cardholder_who_is_known_sees_nothing_of_the_authentication() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        fill_card_form(&browser, FRICTIONLESS_WITH_METHOD).await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(browser.observed_details("challenge").await?, Vec::<String>::new());
        assert_eq!(status.json["threeDSecure"]["authenticationStatus"], "Y", "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_method_page_that_does_not_come_is_waited_for_ten_seconds_and_no_longer() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    let proxy = Proxy::start(stage.gateway).await?;
    let stage = CheckoutFixture { site: MerchantSite::start_at(&proxy.public).await?, ..stage };
    run_in_browser(move |browser| async move {
        // The test fires the page's time-out for the method step.
        let options = format!("{CALLBACKS} clock: (() => {{ const slow = window.setTimeout; window.setTimeout = (work, time, ...more) => \
            time === 10000 ? (witness.note('waits', time), window.over = work) : slow.call(window, work, time, ...more); }})()");
        stage.open_forms(&browser, "VISA", &options).await?;
        proxy.schedule_fault("GET", "/method", ProxyFault::RequestDropped);
        fill_card_form(&browser, CHALLENGE_WITH_METHOD).await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        proxy.wait_for_faults(1).await?;
        assert_eq!(browser.wait_for_observation("waits").await?, "10000");
        // Meanwhile the shopper sees the progress indicator.
        assert_eq!(browser.evaluate("!!document.querySelector('.wpwl-button-busy')").await?, true);
        browser.execute("over()", vec![]).await?;
        wait_for_challenge(&browser).await?;
        answer_challenge(&browser, TARGET, APPROVED).await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_cancels_pays_with_the_same_card_or_another() -> anyhow::Result<()> {
    for again in [CHALLENGE, WITHOUT] {
        let stage = fixture_with_three_ds(&[]).await?;
        run_in_browser(move |browser| async move {
            stage.open_forms(&browser, "VISA", CALLBACKS).await?;
            pay_until_challenge(&browser, CHALLENGE).await?;
            click_element(&browser, ".wpwl-button-cancel").await?;
            let notice = browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
            assert!(notice.text().await?.contains("cancelled"), "{}", notice.text().await?);
            browser
                .wait_until("document.activeElement === document.querySelector('.wpwl-button-pay:not(:disabled)')")
                .await?;
            assert_eq!(
                browser.evaluate(&format!("document.querySelector('{TARGET}').checkVisibility()")).await?,
                false
            );
            assert_eq!(
                browser
                    .evaluate("!!document.querySelector('.wpwl-challenge, .wpwl-button-busy, .wpwl-spinner')")
                    .await?,
                false
            );
            assert_eq!(browser.run_axe().await?, Vec::<String>::new());
            browser.save_screenshot("challenge-cancelled").await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            // The typed text is still there.
            if again != CHALLENGE {
                form.clear_frame_field(tillgate_tests::card_form::NUMBER_FRAME).await?;
                form.enter_number(again).await?;
            }
            form.press_pay_button().await?;
            if again == CHALLENGE {
                wait_for_challenge(&browser).await?;
                answer_challenge(&browser, TARGET, APPROVED).await?;
            }
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.read_status(stage.checkout.id()).await?;
            let last = again.get(12..).unwrap_or_default();
            assert_eq!(
                (status.result_code(), status.json["card"]["last4Digits"].as_str()),
                (APPROVED, Some(last)),
                "{}",
                status.text
            );
            assert_eq!(browser.observed_details("failed").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_stored_card_is_challenged_in_its_form() -> anyhow::Result<()> {
    let mut stage = fixture_with_three_ds(&[]).await?;
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", CHALLENGE),
        ("card.holder", "Jane Jones"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let stored = stage.merchant.post("v1/registrations", &card).await?;
    stage.checkout = stage.merchant.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", &format!("{CALLBACKS} registrations: {{ requireCvv: true }}")).await?;
        let target = "iframe.wpwl-target[name=registrations-target]";
        enter_security_code(&browser, ".wpwl-container-registration iframe.wpwl-control-cvv").await?;
        let pay = ".wpwl-container-registration .wpwl-button-pay";
        click_element(&browser, pay).await?;
        wait_for_challenge(&browser).await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("challenge-stored").await?;
        click_element(&browser, ".wpwl-button-cancel").await?;
        browser.wait_until(&format!("document.activeElement === document.querySelector('{pay}')")).await?;
        click_element(&browser, pay).await?;
        wait_for_challenge(&browser).await?;
        // If the shopper continues in another form, there is only one challenge.
        fill_card_form(&browser, CHALLENGE_WITH_METHOD).await?;
        click_element(&browser, ".wpwl-container-card .wpwl-button-pay").await?;
        browser.wait_until("document.querySelector('.wpwl-container-card.wpwl-challenge')").await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-challenge').length").await?, 1);
        browser.wait_until(&format!("document.querySelector('{pay}').checkVisibility()")).await?;
        click_element(&browser, ".wpwl-container-card .wpwl-button-cancel").await?;
        click_element(&browser, pay).await?;
        browser.wait_until("document.querySelector('.wpwl-container-registration.wpwl-challenge')").await?;
        answer_challenge(&browser, target, APPROVED).await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!((status.result_code(), status.json["registrationId"].as_str()), (APPROVED, Some(stored.id())));
        assert_eq!(browser.observed_details("challenge").await?.len(), 4);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_challenge_opens_where_the_merchant_wants_it() -> anyhow::Result<()> {
    let policy = "default-src 'none'; script-src 'self' {gateway} 'wasm-unsafe-eval'; style-src 'self' {gateway}; \
        frame-src 'self' {gateway}; img-src 'self' data:; form-action 'self' {gateway}";
    for (options, in_frame) in [
        ("paymentTarget: '_top'", false),
        ("paymentTarget: 'mine'", true),
        ("paymentTarget: 'mine', shopperResultTarget: 'mine'", true),
    ] {
        let stage = fixture_with_three_ds(&[]).await?;
        stage.site.set_policy(policy);
        run_in_browser(move |browser| async move {
            let script = format!("var wpwlOptions = {{ {options} }};");
            let frame = r#"<iframe name="mine" title="Mine" src="about:blank" width="500" height="600"></iframe>"#;
            browser
                .goto(stage.site.add_page(
                    MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_markup_after(frame),
                ))
                .await?;
            fill_card_form(&browser, CHALLENGE_WITH_METHOD).await?;
            click_element(&browser, ".wpwl-button-pay").await?;
            if in_frame {
                // The form names the pending step, and can cancel it.
                let notice = browser.query(By::Css(".wpwl-message[role=status]")).and_displayed().first().await?;
                assert!(notice.text().await?.contains("Confirmation by your bank"));
                browser.query(By::Css("iframe[name=mine]")).first().await?.enter_frame().await?;
                browser.query(By::Css("select[name=returnCode]")).first().await?;
                browser.execute("window.first = true", vec![]).await?;
                browser.enter_default_frame().await?;
                click_element(&browser, ".wpwl-message .wpwl-button").await?;
                browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
                click_element(&browser, ".wpwl-button-pay").await?;
                browser.query(By::Css("iframe[name=mine]")).first().await?.enter_frame().await?;
                browser.wait_until("!window.first && document.querySelector('input[type=submit]')").await?;
                browser.enter_default_frame().await?;
                answer_challenge(&browser, "iframe[name=mine]", APPROVED).await?;
            } else {
                browser.wait_until("location.pathname.startsWith('/v1/threeDSecure/')").await?;
                browser.query(By::Css("input[type=submit]")).first().await?.click().await?;
            }
            if options.contains("Result") {
                let inside = "document.querySelector('[name=mine]').contentWindow.location";
                browser.wait_until(&format!("{inside}.search.includes('resourcePath=')")).await?;
            } else {
                browser.wait_until("location.pathname === '/result'").await?;
            }
            assert_eq!(stage.read_result_code().await?, APPROVED, "{options}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_challenge_has_the_size_that_the_merchant_wants_or_the_form_has_room_for() -> anyhow::Result<()> {
    for (width, options, size, code) in [
        (1000, "", json!([500, 600]), "03"),
        (320, "locale: 'ar',", json!([250, 400]), "01"),
        (420, "", json!([390, 400]), "02"),
        (1000, "browser: { threeDChallengeWindow: 2 },", json!([390, 400]), "02"),
        (1000, "browser: { threeDChallengeWindow: 5 },", json!([1000, 836]), "05"),
        (1000, "threeDIframeSize: { width: '100%', height: '580px' },", json!([512, 580]), "03"),
        (1000, "threeDIframeSize: { width: 300, height: 450 }, style: 'none',", json!([300, 450]), "04"),
    ] {
        let stage = fixture_with_three_ds(&[]).await?;
        run_in_browser(move |browser| async move {
            browser.resize_page(width, 900).await?;
            stage.open_forms(&browser, "VISA", &format!("{CALLBACKS} {options}")).await?;
            pay_until_challenge(&browser, CHALLENGE).await?;
            let [left, _, wide, high] = element_box(&browser, TARGET).await?;
            assert_eq!(json!([wide.round() as u32, high.round() as u32]), size, "{width} {options}");
            assert!(left >= 0.0 && left + wide <= f64::from(width), "{width} {options}: {left} {wide}");
            assert_eq!(
                browser.evaluate("document.documentElement.scrollWidth <= innerWidth").await?,
                true,
                "{width} {options}"
            );
            let asked =
                browser.evaluate("document.querySelector('[name=\"customer.browser.challengeWindow\"]').value").await?;
            assert_eq!(asked, code, "{width} {options}");
            assert_eq!(browser.run_axe().await?, Vec::<String>::new(), "{width} {options}");
            browser.save_screenshot(&format!("challenge-{width}-{code}")).await?;
            // The cancel button can be clicked in every window size.
            click_element(&browser, ".wpwl-button-cancel").await?;
            browser.wait_until("document.querySelector('.wpwl-button-pay').checkVisibility()").await?;
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_issuer_is_told_of_the_shoppers_browser() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        let seen = browser.evaluate("[navigator.userAgent, screen.width, screen.height, screen.colorDepth, new Date().getTimezoneOffset()].map(String)").await?;
        pay_until_challenge(&browser, CHALLENGE).await?;
        answer_challenge(&browser, TARGET, APPROVED).await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        let told = &status.json["customer"]["browser"];
        let names = ["userAgent", "screenWidth", "screenHeight", "screenColorDepth", "timezone"];
        let told: Vec<Value> = names.iter().map(|name| told[name].clone()).collect();
        assert_eq!(json!(told), seen, "{}", status.text);
        for (name, value) in [("challengeWindow", "03"), ("javaEnabled", "false")] {
            assert_eq!(status.json["customer"]["browser"][name], value, "{}", status.text);
        }
        let accepts = status.json["customer"]["browser"]["acceptHeader"].as_str().unwrap_or_default();
        assert!(!accepts.is_empty(), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_takes_the_form_away_takes_the_challenge_too_and_may_begin_again() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        pay_until_challenge(&browser, CHALLENGE_WITH_METHOD).await?;
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('iframe, [class*=wpwl]').length").await?, 0);
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        // After the return, the shopper can use another card.
        fill_card_form(&browser, WITHOUT).await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_challenge_ends_when_the_page_shows_another_checkout() -> anyhow::Result<()> {
    for options in ["", "paymentTarget: 'mine'"] {
        let stage = fixture_with_three_ds(&[]).await?;
        let second = stage.merchant.create_checkout(&[("amount", "17.00")]).await?;
        run_in_browser(move |browser| async move {
            let script = format!("var wpwlOptions = {{ {options} }};");
            let frame = r#"<iframe name="mine" title="Mine" src="about:blank"></iframe>"#;
            let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_markup_after(frame);
            browser.goto(stage.site.add_page(page)).await?;
            fill_card_form(&browser, CHALLENGE_WITH_METHOD).await?;
            click_element(&browser, ".wpwl-button-pay").await?;
            let shown = if options.is_empty() { TARGET } else { "iframe[name=mine]" };
            browser.query(By::Css(shown)).first().await?.enter_frame().await?;
            browser.query(By::Css("input[type=submit]")).first().await?;
            browser.enter_default_frame().await?;
            // The options are those of the next checkout by the time that the form ends.
            browser.execute("window.wpwlOptions = {}", vec![]).await?;
            let script = format!("{}v1/paymentWidgets.js?checkoutId={}", stage.gateway.public_url(), second.id());
            let insert = "document.body.append(Object.assign(document.createElement('script'), { src: arguments[0] }))";
            browser.execute(insert, vec![json!(script)]).await?;
            browser.wait_until(&format!("window.wpwl && wpwl.checkout && wpwl.checkout.id === '{}'", second.id())).await?;
            fill_card_form(&browser, WITHOUT).await?;
            let own = "[...document.querySelectorAll('iframe')].map(it => it.name === 'mine' ? it.contentDocument.URL : it.src)";
            let frames = browser.evaluate(own).await?.to_string();
            assert!(frames.contains("about:blank") && !frames.contains(stage.checkout.id()), "{frames}");
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(stage.merchant.read_status(second.id()).await?.result_code(), APPROVED);
            assert_eq!(stage.read_result_code().await?, PENDING);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_challenge_is_answered_in_firefox_by_who_pays_in_french() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_firefox(move |browser| async move {
        stage.open_forms(&browser, "VISA", "locale: 'fr'").await?;
        pay_until_challenge(&browser, CHALLENGE_WITH_METHOD).await?;
        browser.wait_until(&format!("document.activeElement === document.querySelector('{TARGET}')")).await?;
        assert_eq!(
            browser.evaluate(&format!("document.querySelector('{TARGET}').title")).await?,
            "Confirmation par votre banque"
        );
        click_element(&browser, ".wpwl-button-cancel").await?;
        assert!(
            browser.query(By::Css(".wpwl-message")).and_displayed().first().await?.text().await?.contains("annulé")
        );
        click_element(&browser, ".wpwl-button-pay").await?;
        wait_for_challenge(&browser).await?;
        answer_challenge(&browser, TARGET, APPROVED).await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
