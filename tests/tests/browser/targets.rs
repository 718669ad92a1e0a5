//! Target windows of pages: `paymentTarget` and `shopperResultTarget`; and pages that may embed the frames.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture};

/// The strictest policy that lets the merchant's page show its own pages in frames.
const WITH_FRAMES: &str = "default-src 'none'; script-src 'self' {gateway} 'wasm-unsafe-eval'; \
    style-src 'self' {gateway}; frame-src 'self' {gateway}; img-src 'self' data:; form-action 'self' {gateway}";
const FRAME: &str = r#"<iframe name="mine" title="Mine" src="about:blank"></iframe>"#;

#[tokio::test]
async fn the_result_opens_where_the_merchant_wants_it() -> anyhow::Result<()> {
    let cases = [
        ("paymentTarget: '_top', shopperResultTarget: 'mine'", true),
        ("shopperResultTarget: 'mine'", false),
        ("paymentTarget: '_top'", false),
    ];
    run_in_browser(move |browser| async move {
        for (options, in_frame) in cases {
            let stage = CheckoutFixture::new().await?;
            stage.site.set_policy(WITH_FRAMES);
            let script = format!("var wpwlOptions = {{ {options} }};");
            let page = stage
                .site
                .add_page(MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_markup_after(FRAME));
            browser.goto(&page).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            if in_frame {
                let inside = "document.querySelector('[name=mine]').contentWindow.location";
                browser.wait_until(&format!("{inside}.search.includes('resourcePath=')")).await?;
                assert_eq!(browser.current_url().await?.as_str(), page, "{options}");
            } else {
                browser.wait_until("location.pathname === '/result'").await?;
            }
            assert_eq!(stage.read_result_code().await?, APPROVED, "{options}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_without_a_checkout_pays_no_checkout_of_another_merchants_page() -> anyhow::Result<()> {
    let mut stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { createCheckout: function () { return window.id; },
        onError: function (error) { witness.note('failed', error.message); } };";
    let own = stage.site.public.trim_end_matches('/').to_owned();
    let elsewhere = stage.gateway.create_merchant_with(&["--origin", "https://shop.example"])?;
    let foreign = elsewhere.create_checkout(&[]).await?;
    stage.merchant = stage.gateway.create_merchant_with(&["--origin", &own])?;
    stage.checkout = stage.merchant.create_checkout(&[]).await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id("").with_script(script))).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        browser.execute("window.id = arguments[0]", vec![json!(foreign.id())]).await?;
        form.press_pay_button().await?;
        assert!(browser.wait_for_observation("failed").await?.contains("shopOrigin"));
        assert_eq!(elsewhere.read_status(foreign.id()).await?.result_code(), crate::PENDING, "nobody was charged");
        browser.execute("window.id = arguments[0]", vec![json!(stage.checkout.id())]).await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

/// Script that returns the place in which the result page has arrived: `top`, or the name of a frame of the shop. The
/// form's page is in the frame `holder`, with a frame `inner` of its own; the frame `mine` is beside it.
const ARRIVAL: &str = "(() => {
    const inside = it => { try { return Array.from({ length: it.length }, (_, at) => it[at]); } catch { return []; } };
    const all = [top, ...inside(top).flatMap(it => [it, ...inside(it)])];
    for (const it of all) try {
        if (it.location.search.includes('resourcePath=')) return it === top ? 'top' : it.name;
    } catch {}
    return ''; })()";

/// Enters the frame in which the issuer's challenge is shown, wherever it is.
async fn enter_challenge(browser: &Browser) -> anyhow::Result<()> {
    let paths: [&[&str]; 4] =
        [&[], &["[name=holder]"], &["[name=holder]", "[name=inner]"], &["[name=holder]", "iframe.wpwl-target"]];
    tillgate_tests::poll_until("a challenge", async || {
        for path in paths {
            browser.enter_default_frame().await?;
            let mut is_there = true;
            for frame in path {
                let found = browser.query(By::Css(*frame)).nowait().all_from_selector().await.unwrap_or_default();
                is_there = match found.into_iter().next() {
                    Some(frame) => frame.enter_frame().await.is_ok(),
                    None => false,
                };
                if !is_there {
                    break;
                }
            }
            let select = "!!document.querySelector('select[name=returnCode]')";
            if is_there && browser.evaluate(select).await.is_ok_and(|found| found == true) {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await
}

/// Pays a new checkout in a form that is in a frame of the shop with this attribute, and returns the place in which the
/// result arrives.
async fn pay_in_holder(
    stage: &CheckoutFixture,
    browser: &Browser,
    (options, attribute): (&str, &str),
    number: &str,
) -> anyhow::Result<String> {
    let result = format!("{}result", stage.site.public);
    let checkout = stage.merchant.create_checkout(&[("shopperResultUrl", &result)]).await?;
    let inner = r#"<iframe name="inner" title="Inner" src="about:blank"></iframe>"#;
    let script = format!("var wpwlOptions = {{ {options} }};");
    let page = MerchantPage::for_checkout(&checkout).with_script(&script).with_markup_after(inner);
    let page = stage.site.add_page(page);
    browser.goto(format!("{}shop", stage.site.public)).await?;
    let frames = format!(
        r#"<iframe name="holder" title="Form" src="{page}" width="700" height="560" {attribute}></iframe>
        <iframe name="mine" title="Mine" src="about:blank"></iframe>"#
    );
    browser.execute("document.body.innerHTML = arguments[0]", vec![json!(frames)]).await?;
    browser.query(By::Css("[name=holder]")).first().await?.enter_frame().await?;
    fill_in_holder(browser, number).await?;
    if number != WITHOUT_CHALLENGE {
        enter_challenge(browser).await?;
        click_element(browser, &format!("select[name=returnCode] option[value='{APPROVED}']")).await?;
        click_element(browser, "input[type=submit]").await?;
    }
    browser.enter_default_frame().await?;
    browser.wait_until(ARRIVAL).await.map_err(|error| error.context(format!("{options} {number}")))?;
    let status = stage.merchant.read_status(checkout.id()).await?;
    assert_eq!(status.result_code(), APPROVED, "{options} {number}");
    Ok(browser.evaluate(ARRIVAL).await?.as_str().unwrap_or_default().to_owned())
}

/// Fills in the form inside the frame `holder`, and presses its button.
async fn fill_in_holder(browser: &Browser, number: &str) -> anyhow::Result<()> {
    browser.wait_until("document.querySelector('.wpwl-form-card .wpwl-live')").await?;
    browser.wait_until("document.querySelector('.wpwl-container:not([aria-busy])')").await?;
    for (frame, text) in [("iframe.wpwl-control-cardNumber", number), ("iframe.wpwl-control-cvv", "123")] {
        browser.query(By::Css(frame)).first().await?.enter_frame().await?;
        browser.query(By::Css("input")).first().await?.send_keys(text).await?;
        browser.enter_parent_frame().await?;
    }
    for (css, text) in [(".wpwl-control-expiry", "0534"), (".wpwl-control-cardHolder", "Jane Jones")] {
        browser.query(By::Css(css)).first().await?.send_keys(text).await?;
    }
    click_element(browser, ".wpwl-button-pay").await
}

/// A card without a challenge.
const WITHOUT_CHALLENGE: &str = "4200000000000000";

/// Options with which the page in the frame `holder` pays inside of that frame, each with the place in which its result
/// arrives.
const IN_FRAME: [(&str, &str); 7] = [
    ("", "top"),
    ("paymentTarget: 'holder'", "top"),
    ("paymentTarget: 'holder', shopperResultTarget: 'holder'", "holder"),
    ("paymentTarget: '_self', shopperResultTarget: '_self'", "holder"),
    ("paymentTarget: 'holder', shopperResultTarget: '_parent'", "top"),
    ("paymentTarget: 'holder', shopperResultTarget: 'inner'", "inner"),
    ("paymentTarget: 'holder', shopperResultTarget: 'mine'", "mine"),
];

/// Options with which it pays in the whole window or in the frame `inner`.
const ELSEWHERE: [(&str, &str); 8] = [
    ("paymentTarget: '_top'", "top"),
    ("paymentTarget: '_top', shopperResultTarget: 'holder'", "holder"),
    ("paymentTarget: '_top', shopperResultTarget: 'inner'", "inner"),
    ("paymentTarget: '_top', shopperResultTarget: 'mine'", "mine"),
    ("paymentTarget: 'inner'", "top"),
    ("paymentTarget: 'inner', shopperResultTarget: 'inner'", "inner"),
    ("paymentTarget: 'inner', shopperResultTarget: 'holder'", "holder"),
    ("paymentTarget: 'inner', shopperResultTarget: 'mine'", "mine"),
];

/// Pays with a card with each of the options, and asserts that each result arrives in its place.
async fn check_arrivals(number: &'static str, arrivals: &'static [(&str, &str)]) -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&["--3d", "when-enrolled"], &[]).await?;
    stage.site.set_policy(WITH_FRAMES);
    run_in_browser(move |browser| async move {
        for (options, expected) in arrivals {
            assert_eq!(pay_in_holder(&stage, &browser, (options, ""), number).await?, *expected, "{options} {number}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_that_may_not_navigate_the_tab_goes_on_itself_with_a_challenge_and_without() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&["--3d", "when-enrolled"], &[]).await?;
    stage.site.set_policy(WITH_FRAMES);
    run_in_browser(move |browser| async move {
        let sandbox = r#"sandbox="allow-scripts allow-same-origin allow-forms""#;
        for options in ["", "paymentTarget: '_top'", "paymentTarget: '_self'"] {
            for number in [WITHOUT_CHALLENGE, "4200000000000018", "4200000000000042"] {
                let arrived = pay_in_holder(&stage, &browser, (options, sandbox), number).await?;
                assert_eq!(arrived, "holder", "{options} {number}");
            }
        }
        Ok(())
    })
    .await
}

/// The tests of each kind of card.
mod arrivals {
    use super::{ELSEWHERE, IN_FRAME, WITHOUT_CHALLENGE, check_arrivals};

    const CHALLENGE: &str = "4200000000000018";
    /// The challenge comes after the issuer's method page.
    const CHALLENGE_WITH_METHOD: &str = "4200000000000042";
    /// The challenge is one of version 1, to which the browser posts a form.
    const VERSION_1: &str = "4711100000000000";

    #[tokio::test]
    async fn the_result_of_a_payment_in_its_frame_arrives_at_its_target() -> anyhow::Result<()> {
        check_arrivals(WITHOUT_CHALLENGE, &IN_FRAME).await
    }

    #[tokio::test]
    async fn the_result_of_a_payment_elsewhere_arrives_at_its_target() -> anyhow::Result<()> {
        check_arrivals(WITHOUT_CHALLENGE, &ELSEWHERE).await
    }

    #[tokio::test]
    async fn after_a_challenge_in_its_frame_the_result_arrives_as_without_one() -> anyhow::Result<()> {
        check_arrivals(CHALLENGE, &IN_FRAME).await
    }

    #[tokio::test]
    async fn after_a_challenge_elsewhere_the_result_arrives_as_without_one() -> anyhow::Result<()> {
        check_arrivals(CHALLENGE, &ELSEWHERE).await
    }

    #[tokio::test]
    async fn after_a_method_page_and_a_challenge_in_its_frame_the_result_arrives_as_without() -> anyhow::Result<()> {
        check_arrivals(CHALLENGE_WITH_METHOD, &IN_FRAME).await
    }

    #[tokio::test]
    async fn after_a_method_page_and_a_challenge_elsewhere_the_result_arrives_as_without() -> anyhow::Result<()> {
        check_arrivals(CHALLENGE_WITH_METHOD, &ELSEWHERE).await
    }

    #[tokio::test]
    async fn after_a_posted_challenge_in_its_frame_the_result_arrives_as_without_one() -> anyhow::Result<()> {
        check_arrivals(VERSION_1, &IN_FRAME).await
    }

    #[tokio::test]
    async fn after_a_posted_challenge_elsewhere_the_result_arrives_as_without_one() -> anyhow::Result<()> {
        check_arrivals(VERSION_1, &ELSEWHERE).await
    }
}
