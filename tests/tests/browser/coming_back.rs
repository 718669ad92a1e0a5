//! Shoppers who return to the form: with the browser's back button, in a second tab, after the expiry.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{
    Browser, MerchantClient, MerchantSite, Proxy, TestGateway, backdate_checkout, run_in_browser,
    run_in_desktop_browser,
};

use crate::forms::{click_element, enter_text};
use crate::{APPROVED, CheckoutFixture};

const MESSAGE: &str = ".wpwl-container > .wpwl-message.wpwl-has-error";

const OPTIONS: &str = "onError(error) { witness.note('failed', error.name); }";

/// Returns the message that the form shows instead of its fields.
async fn read_message(browser: &Browser) -> anyhow::Result<String> {
    Ok(browser.query(By::Css(MESSAGE)).and_displayed().first().await?.text().await?)
}

#[tokio::test]
async fn who_has_paid_and_goes_back_reads_that_it_is_paid() -> anyhow::Result<()> {
    for (brand, locale, said) in [("VISA", "en", "has already been made"), ("SEPA", "de", "bereits erfolgt")] {
        let stage = CheckoutFixture::new().await?;
        run_in_browser(move |browser| async move {
            // The refresh below loads the page again, as if the browser had not kept it.
            stage.open_forms(&browser, brand, &format!("locale: '{locale}', {OPTIONS}")).await?;
            pay_by_brand(&browser, brand).await?;
            stage.wait_until_paid(&browser).await?;
            browser.back().await?;
            browser.refresh().await?;
            let said_here = read_message(&browser).await?;
            assert!(said_here.contains(said), "{said_here}");
            assert!(!said_here.contains("start again"), "who starts again pays again: {said_here}");
            assert_eq!(browser.wait_for_observation("failed").await?, "InvalidCheckoutIdError");
            assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-button-pay').length === 0 || document.querySelector('.wpwl-form').hidden").await?, true);
            assert_eq!(stage.submit_count(), 1);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Fills in the card form if the brand is VISA, otherwise the form of a direct debit, and presses the button.
async fn pay_by_brand(browser: &Browser, brand: &str) -> anyhow::Result<()> {
    if brand == "VISA" {
        let form = CardForm::wait_until_ready(browser).await?;
        form.fill_fields().await?;
    } else {
        enter_text(browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        enter_text(browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
    }
    click_element(browser, ".wpwl-button-pay").await
}

#[tokio::test]
async fn a_page_that_the_browser_has_kept_is_usable_and_does_not_pay_again() -> anyhow::Result<()> {
    for brand in ["VISA", "SEPA"] {
        let stage = CheckoutFixture::new().await?;
        run_in_desktop_browser(move |browser| async move {
            stage.open_forms(&browser, brand, OPTIONS).await?;
            browser
                .execute("addEventListener('pageshow', ({ persisted }) => witness.note('kept', persisted))", vec![])
                .await?;
            pay_by_brand(&browser, brand).await?;
            browser.query(By::Id("result")).first().await?;
            browser.back().await?;
            assert_eq!(browser.wait_for_observation("kept").await?, "true");
            browser.wait_until("!document.querySelector('.wpwl-button-busy, .wpwl-spinner')").await?;
            browser
                .wait_until("[...document.querySelectorAll('.wpwl-live')].every(it => it.textContent === '')")
                .await?;
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (2, APPROVED));
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn who_goes_back_from_a_brands_page_takes_another_brand() -> anyhow::Result<()> {
    for anew in [false, true] {
        let stage = CheckoutFixture::new().await?;
        run_in_browser(move |browser| async move {
            stage.open_forms(&browser, "IDEAL VISA", OPTIONS).await?;
            click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
            browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
            browser.back().await?;
            if anew {
                browser.refresh().await?;
            }
            // The same brand redirects to the same page.
            browser.query(By::Css(".wpwl-button-brand-IDEAL:not(.wpwl-button-busy)")).and_displayed().first().await?;
            click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
            browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
            browser.back().await?;
            if anew {
                browser.refresh().await?;
            }
            let form = CardForm::wait_until_ready(&browser).await?;
            for frame in [NUMBER_FRAME, CODE_FRAME] {
                form.clear_frame_field(frame).await?;
            }
            form.fill_fields().await?;
            form.press_pay_button().await?;
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.read_status(stage.checkout.id()).await?;
            assert_eq!(
                (status.result_code(), status.json["paymentBrand"].as_str()),
                (APPROVED, Some("VISA")),
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
async fn of_two_tabs_with_the_same_checkout_one_pays_and_the_other_leads_to_its_result() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let page = stage.add_page(&format!("var wpwlOptions = {{ {OPTIONS} }};"));
        browser.goto(&page).await?;
        let first = browser.window().await?;
        CardForm::wait_until_ready(&browser).await?.fill_fields().await?;
        let second = browser.new_tab().await?;
        browser.switch_to_window(second.clone()).await?;
        browser.goto(&page).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200000000000042").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;

        browser.switch_to_window(first).await?;
        CardForm::wait_until_ready(&browser).await?.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        let paid = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!((paid.result_code(), paid.json["card"]["last4Digits"].as_str()), (APPROVED, Some("0000")));

        // The other card is not charged. The shopper is redirected to the result page.
        browser.switch_to_window(second).await?;
        CardForm::wait_until_ready(&browser).await?.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert!(browser.current_url().await?.query().unwrap_or_default().contains(stage.checkout.id()));
        assert_eq!(stage.merchant.read_status(stage.checkout.id()).await?.text, paid.text);
        // When it is loaded again, the form shows this itself.
        browser.goto(&page).await?;
        assert!(read_message(&browser).await?.contains("already been made"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_checkout_that_expires_while_the_shopper_types_says_so_in_the_shoppers_language() -> anyhow::Result<()> {
    for (brand, locale, said) in [("VISA", "de", "nicht mehr möglich"), ("SEPA", "fr", "ne peut plus")] {
        let gateway = TestGateway::start()?;
        let proxy = Proxy::start(&gateway).await?;
        let site = MerchantSite::start_at(&proxy.public).await?;
        let merchant = gateway.create_merchant()?;
        let checkout = merchant.create_checkout(&[]).await?;
        run_in_browser(move |browser| async move {
            let script = format!("var wpwlOptions = {{ locale: '{locale}', {OPTIONS} }};");
            browser
                .goto(site.add_page(
                    tillgate_tests::MerchantPage::for_checkout(&checkout).with_brands(brand).with_script(&script),
                ))
                .await?;
            if brand == "VISA" {
                CardForm::wait_until_ready(&browser).await?.enter_number("42000000").await?;
            } else {
                enter_text(&browser, ".wpwl-control-accountHolder", "Jane").await?;
            }
            let gateway =
                gateway.kill_and_restart_after(&[], |data| backdate_checkout(data, checkout.id(), 30 * 60))?;
            proxy.forward_to(&gateway)?;
            if brand == "VISA" {
                CardForm::wait_until_ready(&browser).await?.clear_frame_field(NUMBER_FRAME).await?;
            }
            pay_by_brand(&browser, brand).await?;
            let text = read_message(&browser).await?;
            assert!(text.contains(said), "{text}");
            assert_eq!(browser.wait_for_observation("failed").await?, "InvalidCheckoutIdError");
            let merchant = MerchantClient::new(gateway.base_url(), merchant.entity_id, merchant.token);
            assert_eq!(merchant.read_status(checkout.id()).await?.json["checkoutState"], "EXPIRED");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
