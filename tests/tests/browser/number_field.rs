//! The brands in the field of the card number: marks in place of a list, where the number tells the brand.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::run_in_browser;

use crate::CheckoutFixture;

/// Codes of the brands whose marks stand in the field of the number.
const MARKS: &str = "[...document.querySelectorAll('.wpwl-wrapper-cardNumber .wpwl-brand')]
    .filter(it => it.checkVisibility()).map(it => /wpwl-brand-([A-Z]+)/.exec(it.className)[1]).join(' ')";
/// True if the list of brands is visible.
const LIST: &str = "document.querySelector('.wpwl-control-brand').checkVisibility()";

#[tokio::test]
async fn the_marks_of_the_offered_brands_give_way_to_that_of_the_number() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER AMEX", "").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        browser.wait_until(&format!("({MARKS}) === 'VISA MASTER AMEX'")).await?;
        assert_eq!(browser.evaluate(LIST).await?, false);
        form.enter_number("5454545454545454").await?;
        browser.wait_until(&format!("({MARKS}) === 'MASTER'")).await?;
        // The text of the number ends before the mark.
        let room = "(it => it.getBoundingClientRect().right - parseFloat(getComputedStyle(it).paddingRight)
            - document.querySelector('.wpwl-brands').getBoundingClientRect().left)(document.querySelector('[name=\"card.number\"]'))";
        assert!(browser.evaluate(room).await?.as_f64().is_some_and(|overlap| overlap <= 0.0));
        form.clear_frame_field(tillgate_tests::card_form::NUMBER_FRAME).await?;
        browser.wait_until(&format!("({MARKS}) === 'VISA MASTER AMEX'")).await?;
        form.enter_number("377777777777770").await?;
        form.enter_expiry("12 / 33").await?;
        form.enter_security_code("1234").await?;
        form.press_pay_button().await?;
        assert_eq!(stage.wait_until_paid(&browser).await?.json["paymentBrand"], "AMEX");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_list_of_brands_is_there_where_only_it_tells_the_brand_or_the_merchant_wants_it() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (brands, options, has_list) in [
            ("VISA MASTER", "", false),
            ("VISA", "", false),
            ("VISA MASTER", "style: 'logos'", false),
            // Cards of this brand are issued on the ranges of others.
            ("VISA AXESS", "", true),
            ("AIRPLUS VISA", "", true),
            ("VISA MASTER", "brandList: true", true),
            ("VISA MASTER", "style: 'plain'", true),
            ("VISA MASTER", "style: 'none'", true),
        ] {
            stage.open_forms(&browser, brands, options).await?;
            if options.contains("logos") {
                browser.query(By::Css(".wpwl-logo")).first().await?.click().await?;
            }
            let marks = if has_list { "" } else { brands };
            browser.wait_until(&format!("({MARKS}) === '{marks}' && ({LIST}) === {has_list}")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn options_that_come_late_and_scripts_that_choose_in_the_hidden_list_count() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let script = "addEventListener('DOMContentLoaded', () => { window.wpwlOptions = { brandList: true }; });";
        browser.goto(stage.add_page(script)).await?;
        CardForm::wait_until_ready(&browser).await?;
        browser.wait_until(LIST).await?;
        // Plug-ins choose the brand of the shop's own list in ours, which they hide.
        stage.open_forms(&browser, "VISA MASTER AMEX", "onChangeBrand: it => witness.note('brand', it)").await?;
        browser
            .execute(
                "const list = document.querySelector('.wpwl-control-brand');
                 list.value = 'AMEX'; list.dispatchEvent(new Event('change', { bubbles: true }));",
                vec![],
            )
            .await?;
        browser.wait_until("witness.all().some(it => it.kind === 'brand' && it.detail === 'AMEX')").await?;
        assert_eq!(browser.evaluate("document.querySelector('.wpwl-control-brand').value").await?, json!("AMEX"));
        Ok(())
    })
    .await
}
