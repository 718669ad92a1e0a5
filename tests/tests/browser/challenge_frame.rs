//! The frame of the issuer's challenge: its place and size, and its end with the form or the checkout.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::forms::click_element;
use crate::three_ds::{
    CALLBACKS, CHALLENGE, CHALLENGE_WITH_METHOD, TARGET, WITHOUT, answer_challenge, element_box, fill_card_form,
    fixture_with_three_ds, pay_until_challenge,
};
use crate::{APPROVED, PENDING};

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
        (320, "locale: 'ar',", json!([320, 844]), "05"),
        (420, "", json!([420, 844]), "05"),
        (420, "browser: { threeDChallengeWindow: 1 },", json!([250, 400]), "01"),
        (1000, "browser: { threeDChallengeWindow: 2 },", json!([390, 400]), "02"),
        (1000, "browser: { threeDChallengeWindow: 5 },", json!([1000, 844]), "05"),
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
