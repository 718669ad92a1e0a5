//! 3-D Secure in the form: the invisible method step, the issuer's challenge in place of the form, and the steps after
//! it.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantSite, Proxy, ProxyFault, run_in_browser, run_in_firefox};

use crate::app_addresses::{APP, NAVIGATIONS, result_address};
use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture, PENDING};

pub const TARGET: &str = "iframe.wpwl-target";
/// Visa cards of the simulator's directory, by their outcome.
pub const CHALLENGE: &str = "4200000000000018";
pub const CHALLENGE_WITH_METHOD: &str = "4200000000000042";
const FRICTIONLESS_WITH_METHOD: &str = "4200000000000091";
/// Enrolled in version 1: the browser posts a form to the issuer's page.
const VERSION_1: &str = "4711100000000000";
pub const WITHOUT: &str = "4200000000000000";
/// Declined until its cardholder has been authenticated.
const SOFT_DECLINED: &str = "4200000000000083";
/// An unsuccessful answer of the issuer.
pub const FAILED: &str = "100.390.100";
const CANCELLED: &str = "100.396.101";

/// Creates a fixture with a channel that authenticates if possible, and a checkout with these fields.
pub async fn fixture_with_three_ds(fields: &[(&str, &str)]) -> anyhow::Result<CheckoutFixture> {
    CheckoutFixture::with_options(&["--3d", "when-enrolled"], fields).await
}

/// Records the callbacks of the merchant's page, and the element in `this`.
pub const CALLBACKS: &str =
    "onLoadThreeDIframe() { witness.note('challenge', this.className + ' ' + this.isConnected); },
    onError(error) { witness.note('failed', error.name); },";

/// Fills in the card form with this number.
pub async fn fill_card_form(browser: &Browser, number: &str) -> anyhow::Result<()> {
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
pub async fn pay_until_challenge(browser: &Browser, number: &str) -> anyhow::Result<()> {
    fill_card_form(browser, number).await?;
    click_element(browser, ".wpwl-button-pay").await?;
    wait_for_challenge(browser).await
}

/// Answers the challenge in the frame that matches `frame`, with the cancel button for [`CANCELLED`], and returns to
/// the page.
pub async fn answer_challenge(browser: &Browser, frame: &str, code: &str) -> anyhow::Result<()> {
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
pub async fn element_box(browser: &Browser, css: &str) -> anyhow::Result<[f64; 4]> {
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
            // The issuer may ask for a passkey, on whichever origin its page is.
            let allowed = browser.evaluate(&format!("document.querySelector('{TARGET}').allow")).await?;
            assert!(allowed.as_str().unwrap_or_default().contains("publickey-credentials-get *"), "{allowed}");
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
