//! 3D authentication in the form: the method step that nobody sees, the issuer's challenge in place of the form, and the ways
//! on from there.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, Page, Proxy, Site, Trouble, browse, browse_in_firefox};

use crate::forms::click;
use crate::{APPROVED, PENDING, Stage};

const TARGET: &str = "iframe.wpwl-target";
/// Visa cards of the simulator's directory, by what comes of them.
const CHALLENGE: &str = "4200000000000018";
const CHALLENGE_WITH_METHOD: &str = "4200000000000042";
const FRICTIONLESS_WITH_METHOD: &str = "4200000000000091";
/// Enrolled in version 1: the browser posts itself to the issuer's page.
const VERSION_1: &str = "4711100000000000";
const WITHOUT: &str = "4200000000000000";
/// Declined until its cardholder has been authenticated.
const SOFT_DECLINED: &str = "4200000000000083";
/// An answer of the issuer's that is no success.
const FAILED: &str = "100.390.100";
const CANCELLED: &str = "100.396.101";

/// A checkout of a channel that authenticates whom it can.
async fn stage(fields: &[(&str, &str)]) -> anyhow::Result<Stage> {
    let mut stage = Stage::new().await?;
    stage.merchant = stage.gateway.merchant_with(&["--3d", "when-enrolled"])?;
    stage.checkout = stage.merchant.checkout(&[&[("integrity", "true")], fields].concat()).await?;
    Ok(stage)
}

/// Notes what the merchant's page is told, and whose the callback's `this` is.
const CALLBACKS: &str = "onLoadThreeDIframe() { witness.note('challenge', this.className + ' ' + this.isConnected); },
    onError(error) { witness.note('failed', error.name); },";

async fn fill(browser: &Browser, number: &str) -> anyhow::Result<()> {
    let form = CardForm::ready(browser).await?;
    form.number(number).await?;
    form.expiry("05 / 34").await?;
    form.holder("Jane Jones").await?;
    code(browser, ".wpwl-container-card iframe.wpwl-control-cvv").await
}

/// Types a code into its frame.
async fn code(browser: &Browser, frame: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let typed = async { anyhow::Ok(browser.query(By::Css("input")).first().await?.send_keys("123").await?) }.await;
    browser.enter_default_frame().await?;
    typed
}

/// Waits for the challenge in place of the form.
async fn challenged(browser: &Browser) -> anyhow::Result<()> {
    browser.until(&format!("document.querySelector('.wpwl-challenge > {TARGET}')?.checkVisibility()")).await
}

/// Pays with a card whose issuer asks, and waits for that.
async fn challenge(browser: &Browser, number: &str) -> anyhow::Result<()> {
    fill(browser, number).await?;
    click(browser, ".wpwl-button-pay").await?;
    challenged(browser).await
}

/// Answers the challenge in the frame that `frame` finds.
async fn answer(browser: &Browser, frame: &str, code: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let answered = async {
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
    let answered = answered.await;
    browser.enter_default_frame().await?;
    answered
}

/// The measures of what `css` finds: left, top, width, height.
async fn box_of(browser: &Browser, css: &str) -> anyhow::Result<[f64; 4]> {
    let measures = format!(
        "(it => [it.left, it.top, it.width, it.height])(document.querySelector(\"{css}\").getBoundingClientRect())"
    );
    Ok(serde_json::from_value(browser.value(&measures).await?)?)
}

#[tokio::test]
async fn a_challenge_stands_in_the_place_of_the_form_and_leads_to_the_result_however_it_ends() -> anyhow::Result<()> {
    for (number, code) in [
        (CHALLENGE, APPROVED),
        (CHALLENGE_WITH_METHOD, APPROVED),
        (SOFT_DECLINED, APPROVED),
        (VERSION_1, APPROVED),
        (CHALLENGE, FAILED),
        (CHALLENGE, CANCELLED),
    ] {
        let stage = stage(&[]).await?;
        browse(move |browser| async move {
            stage.open(&browser, "VISA", CALLBACKS).await?;
            let before = box_of(&browser, ".wpwl-container").await?;
            challenge(&browser, number).await?;
            assert_eq!(stage.code().await?, PENDING);
            assert_eq!(browser.value("document.querySelector('.wpwl-form').checkVisibility()").await?, false);
            let frame = box_of(&browser, TARGET).await?;
            assert!((frame[1] - before[1]).abs() < 2.0, "where the form stood: {before:?} {frame:?}");
            // Whoever does not see it is taken there, and told what it is.
            browser.until(&format!("document.activeElement === document.querySelector('{TARGET}')")).await?;
            assert_eq!(
                browser.value(&format!("document.querySelector('{TARGET}').title")).await?,
                "Confirmation by your bank"
            );
            assert_eq!(browser.axe().await?, Vec::<String>::new());
            assert_eq!(browser.seen_of("challenge").await?, ["wpwl-target true"]);
            browser.picture("challenge").await?;
            let already = browser.seen_of("message").await?.len();
            answer(&browser, TARGET, code).await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(stage.code().await?, code, "{number}");
            let query = browser.value("location.search").await?;
            let expected = format!("?own=1&id={0}&resourcePath=%2Fv1%2Fcheckouts%2F{0}%2Fpayment", stage.checkout.id());
            assert_eq!(query, expected.as_str());
            // The page is told that it is over, and not how.
            let told = browser.seen_of("message").await?.split_off(already).join(" ");
            assert!(told.contains("ended") && !told.contains(code), "{told}");
            assert_eq!(browser.seen_of("failed").await?, Vec::<String>::new());
            assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_cardholder_who_is_known_sees_nothing_of_the_authentication() -> anyhow::Result<()> {
    let stage = stage(&[]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA", CALLBACKS).await?;
        fill(&browser, FRICTIONLESS_WITH_METHOD).await?;
        click(&browser, ".wpwl-button-pay").await?;
        let status = stage.paid(&browser).await?;
        assert_eq!(browser.seen_of("challenge").await?, Vec::<String>::new());
        assert_eq!(status.json["threeDSecure"]["authenticationStatus"], "Y", "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_method_page_that_does_not_come_is_waited_for_ten_seconds_and_no_longer() -> anyhow::Result<()> {
    let stage = stage(&[]).await?;
    let proxy = Proxy::before(stage.gateway).await?;
    let stage = Stage { site: Site::start_at(&proxy.public).await?, ..stage };
    browse(move |browser| async move {
        // The clock of the page goes at the test's word.
        let options = format!("{CALLBACKS} clock: (() => {{ const slow = window.setTimeout; window.setTimeout = (work, time, ...more) => \
            time === 10000 ? (witness.note('waits', time), window.over = work) : slow.call(window, work, time, ...more); }})()");
        stage.open(&browser, "VISA", &options).await?;
        proxy.trouble("GET", "/method", Trouble::Swallowed);
        fill(&browser, CHALLENGE_WITH_METHOD).await?;
        click(&browser, ".wpwl-button-pay").await?;
        proxy.until_met(1).await?;
        assert_eq!(browser.until_seen("waits").await?, "10000");
        // Meanwhile the shopper sees that it goes on.
        assert_eq!(browser.value("!!document.querySelector('.wpwl-button-busy')").await?, true);
        browser.execute("over()", vec![]).await?;
        challenged(&browser).await?;
        answer(&browser, TARGET, APPROVED).await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_cancels_pays_with_the_same_card_or_another() -> anyhow::Result<()> {
    for again in [CHALLENGE, WITHOUT] {
        let stage = stage(&[]).await?;
        browse(move |browser| async move {
            stage.open(&browser, "VISA", CALLBACKS).await?;
            challenge(&browser, CHALLENGE).await?;
            click(&browser, ".wpwl-button-cancel").await?;
            let notice = browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
            assert!(notice.text().await?.contains("cancelled"), "{}", notice.text().await?);
            browser
                .until("document.activeElement === document.querySelector('.wpwl-button-pay:not(:disabled)')")
                .await?;
            assert_eq!(browser.value(&format!("document.querySelector('{TARGET}').checkVisibility()")).await?, false);
            assert_eq!(
                browser.value("!!document.querySelector('.wpwl-challenge, .wpwl-button-busy, .wpwl-spinner')").await?,
                false
            );
            assert_eq!(browser.axe().await?, Vec::<String>::new());
            browser.picture("challenge-cancelled").await?;
            let form = CardForm::ready(&browser).await?;
            // What was typed is still there.
            if again != CHALLENGE {
                form.empty(tillgate_tests::card_form::NUMBER).await?;
                form.number(again).await?;
            }
            form.pay().await?;
            if again == CHALLENGE {
                challenged(&browser).await?;
                answer(&browser, TARGET, APPROVED).await?;
            }
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.status(stage.checkout.id()).await?;
            let last = again.get(12..).unwrap_or_default();
            assert_eq!(
                (status.code(), status.json["card"]["last4Digits"].as_str()),
                (APPROVED, Some(last)),
                "{}",
                status.text
            );
            assert_eq!(browser.seen_of("failed").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_stored_card_is_challenged_in_its_form() -> anyhow::Result<()> {
    let mut stage = stage(&[]).await?;
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", CHALLENGE),
        ("card.holder", "Jane Jones"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let stored = stage.merchant.post("v1/registrations", &card).await?;
    stage.checkout = stage.merchant.checkout(&[("registrations[0].id", stored.id())]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA", &format!("{CALLBACKS} registrations: {{ requireCvv: true }}")).await?;
        let target = "iframe.wpwl-target[name=registrations-target]";
        code(&browser, ".wpwl-container-registration iframe.wpwl-control-cvv").await?;
        let pay = ".wpwl-container-registration .wpwl-button-pay";
        click(&browser, pay).await?;
        challenged(&browser).await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("challenge-stored").await?;
        click(&browser, ".wpwl-button-cancel").await?;
        browser.until(&format!("document.activeElement === document.querySelector('{pay}')")).await?;
        click(&browser, pay).await?;
        challenged(&browser).await?;
        // Who goes on in another form meanwhile has one challenge to answer.
        fill(&browser, CHALLENGE_WITH_METHOD).await?;
        click(&browser, ".wpwl-container-card .wpwl-button-pay").await?;
        browser.until("document.querySelector('.wpwl-container-card.wpwl-challenge')").await?;
        assert_eq!(browser.value("document.querySelectorAll('.wpwl-challenge').length").await?, 1);
        browser.until(&format!("document.querySelector('{pay}').checkVisibility()")).await?;
        click(&browser, ".wpwl-container-card .wpwl-button-cancel").await?;
        click(&browser, pay).await?;
        browser.until("document.querySelector('.wpwl-container-registration.wpwl-challenge')").await?;
        answer(&browser, target, APPROVED).await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!((status.code(), status.json["registrationId"].as_str()), (APPROVED, Some(stored.id())));
        assert_eq!(browser.seen_of("challenge").await?.len(), 4);
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
        let stage = stage(&[]).await?;
        stage.site.set_policy(policy);
        browse(move |browser| async move {
            let script = format!("var wpwlOptions = {{ {options} }};");
            let frame = r#"<iframe name="mine" title="Mine" src="about:blank" width="500" height="600"></iframe>"#;
            browser.goto(stage.site.add(Page::of(&stage.checkout).script(&script).after(frame))).await?;
            fill(&browser, CHALLENGE_WITH_METHOD).await?;
            click(&browser, ".wpwl-button-pay").await?;
            if in_frame {
                // The form says what it waits for, and lets go of it.
                let notice = browser.query(By::Css(".wpwl-message[role=status]")).and_displayed().first().await?;
                assert!(notice.text().await?.contains("Confirmation by your bank"));
                browser.query(By::Css("iframe[name=mine]")).first().await?.enter_frame().await?;
                browser.query(By::Css("select[name=returnCode]")).first().await?;
                browser.execute("window.first = true", vec![]).await?;
                browser.enter_default_frame().await?;
                click(&browser, ".wpwl-message .wpwl-button").await?;
                browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
                click(&browser, ".wpwl-button-pay").await?;
                browser.query(By::Css("iframe[name=mine]")).first().await?.enter_frame().await?;
                browser.until("!window.first && document.querySelector('input[type=submit]')").await?;
                browser.enter_default_frame().await?;
                answer(&browser, "iframe[name=mine]", APPROVED).await?;
            } else {
                browser.until("location.pathname.startsWith('/v1/threeDSecure/')").await?;
                browser.query(By::Css("input[type=submit]")).first().await?.click().await?;
            }
            if options.contains("Result") {
                let inside = "document.querySelector('[name=mine]').contentWindow.location";
                browser.until(&format!("{inside}.search.includes('resourcePath=')")).await?;
            } else {
                browser.until("location.pathname === '/result'").await?;
            }
            assert_eq!(stage.code().await?, APPROVED, "{options}");
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
        let stage = stage(&[]).await?;
        browse(move |browser| async move {
            browser.resize(width, 900).await?;
            stage.open(&browser, "VISA", &format!("{CALLBACKS} {options}")).await?;
            challenge(&browser, CHALLENGE).await?;
            let [left, _, wide, high] = box_of(&browser, TARGET).await?;
            assert_eq!(json!([wide.round() as u32, high.round() as u32]), size, "{width} {options}");
            assert!(left >= 0.0 && left + wide <= f64::from(width), "{width} {options}: {left} {wide}");
            assert_eq!(
                browser.value("document.documentElement.scrollWidth <= innerWidth").await?,
                true,
                "{width} {options}"
            );
            let asked =
                browser.value("document.querySelector('[name=\"customer.browser.challengeWindow\"]').value").await?;
            assert_eq!(asked, code, "{width} {options}");
            assert_eq!(browser.axe().await?, Vec::<String>::new(), "{width} {options}");
            browser.picture(&format!("challenge-{width}-{code}")).await?;
            // Whatever the size, the way back can be hit.
            click(&browser, ".wpwl-button-cancel").await?;
            browser.until("document.querySelector('.wpwl-button-pay').checkVisibility()").await?;
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_issuer_is_told_of_the_shoppers_browser() -> anyhow::Result<()> {
    let stage = stage(&[]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA", CALLBACKS).await?;
        let seen = browser.value("[navigator.userAgent, screen.width, screen.height, screen.colorDepth, new Date().getTimezoneOffset()].map(String)").await?;
        challenge(&browser, CHALLENGE).await?;
        answer(&browser, TARGET, APPROVED).await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
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
    let stage = stage(&[]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA", CALLBACKS).await?;
        challenge(&browser, CHALLENGE_WITH_METHOD).await?;
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.value("document.querySelectorAll('iframe, [class*=wpwl]').length").await?, 0);
        stage.open(&browser, "VISA", CALLBACKS).await?;
        // The shopper who comes back may take another card.
        fill(&browser, WITHOUT).await?;
        click(&browser, ".wpwl-button-pay").await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_challenge_is_answered_in_firefox_by_who_pays_in_french() -> anyhow::Result<()> {
    let stage = stage(&[]).await?;
    browse_in_firefox(move |browser| async move {
        stage.open(&browser, "VISA", "locale: 'fr'").await?;
        challenge(&browser, CHALLENGE_WITH_METHOD).await?;
        browser.until(&format!("document.activeElement === document.querySelector('{TARGET}')")).await?;
        assert_eq!(
            browser.value(&format!("document.querySelector('{TARGET}').title")).await?,
            "Confirmation par votre banque"
        );
        click(&browser, ".wpwl-button-cancel").await?;
        assert!(
            browser.query(By::Css(".wpwl-message")).and_displayed().first().await?.text().await?.contains("annulé")
        );
        click(&browser, ".wpwl-button-pay").await?;
        challenged(&browser).await?;
        answer(&browser, TARGET, APPROVED).await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}
