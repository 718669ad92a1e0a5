//! Shoppers pay, and the merchant reads how it went.

use anyhow::Context;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, PAY};
use tillgate_tests::{DemoShop, Gateway, browse, shop};

use crate::{APPROVED, Stage};

#[tokio::test]
async fn a_shopper_pays_on_the_demo_shop_and_reads_success() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        let form = demo.to_checkout(&browser, "", "approve").await?;
        let id = shop::checkout_id(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "paid");
        let page = browser.find(By::Css("main")).await?.text().await?;
        assert!(page.contains("VISA") && page.contains("0000"), "brand and last digits: {page}");
        assert!(page.contains(APPROVED), "{page}");

        let status = demo.merchant.status(&id).await?;
        assert_eq!(status.code(), APPROVED);
        assert_eq!(status.json["amount"], "36.50");
        assert_eq!(status.json["card"]["last4Digits"], "0000");
        assert_eq!(status.json["card"]["holder"], "Jane Jones");

        // The address of the result can be loaded again, and says the same.
        browser.refresh().await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "paid");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_decline_is_told_on_the_result_page_and_the_same_checkout_can_be_paid_after_it() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        let form = demo.to_checkout(&browser, "", "decline").await?;
        let id = shop::checkout_id(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "declined");
        assert_eq!(demo.merchant.status(&id).await?.code(), "800.100.151");
        browser.picture("result-declined").await?;

        browser.find(By::Css(".actions button")).await?.click().await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(shop::checkout_id(&browser).await?, id, "the checkout stays the same");
        form.fill().await?;
        form.pay().await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "paid");
        assert_eq!(demo.merchant.status(&id).await?.code(), APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_merchants_own_page_gets_id_and_resource_path_beside_its_own_query() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        let address = browser.current_url().await?;
        let pairs: Vec<(String, String)> = address.query_pairs().into_owned().collect();
        let id = stage.checkout.id();
        let expected = [("own", "1"), ("id", id), ("resourcePath", &format!("/v1/checkouts/{id}/payment"))];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_result_address_set_by_the_merchants_server_wins_over_the_forms_action() -> anyhow::Result<()> {
    let site = tillgate_tests::Site::start(Gateway::shared()).await?;
    let own = format!("{}elsewhere?order=7", site.public);
    let stage = Stage::with(&[("shopperResultUrl", &own)]).await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        let address = browser.current_url().await?;
        assert!(address.as_str().starts_with(&own), "{address}");
        assert!(address.as_str().contains("resourcePath="), "{address}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_double_click_makes_exactly_one_payment() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { onBeforeSubmitCard() { witness.note('asked', 1); } };")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        let button = form.find(PAY).await?;
        browser.action_chain().double_click_element(&button).perform().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.seen_of("asked").await?.len(), 1, "one submit");
        assert_eq!(stage.submits(), 1);
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_a_field_of_the_page_or_of_a_frame_submits() -> anyhow::Result<()> {
    let page = Stage::new().await?;
    let frame = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(page.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.find("input.wpwl-control-cardHolder").await?.send_keys(Key::Enter).await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(page.code().await?, APPROVED);

        browser.goto(frame.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.code(&Key::Enter.value().to_string()).await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(frame.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_payment_is_made_with_the_keyboard_alone() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        CardForm::ready(&browser).await?;
        let press = async |keys: &str| browser.action_chain().send_keys(keys).perform().await;
        let tab_to = async |css: &str| {
            for _ in 0..12 {
                let there = format!("document.activeElement.matches({})", serde_json::to_string(css)?);
                if browser.value(&there).await? == true {
                    return Ok(());
                }
                press(&Key::Tab.value().to_string()).await?;
            }
            anyhow::bail!("the tab key does not lead to {css}")
        };
        // From the top of the page, forward only.
        tab_to(".wpwl-control-brand").await?;
        tab_to(".wpwl-control-cardNumber").await?;
        press("4200000000000000").await?;
        tab_to(".wpwl-control-expiry").await?;
        press("0534").await?;
        tab_to(".wpwl-control-cardHolder").await?;
        press("Jane Jones").await?;
        tab_to(".wpwl-control-cvv").await?;
        press("123").await?;
        tab_to(".wpwl-button-pay").await?;
        press(&Key::Enter.value().to_string()).await?;
        browser.query(By::Id("result")).first().await.context("the result page")?;
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_native_ways_to_submit_that_shops_use_all_pay() -> anyhow::Result<()> {
    for submit in [
        "document.querySelector('.wpwl-button-pay').click()",
        "document.querySelector('.wpwl-form-card').requestSubmit()",
        "document.querySelector('.wpwl-form-card').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))",
        "wpwl.executePayment('wpwl-container-card')",
        "wpwl.executePayment('wpwl-container.wpwl-container-card')",
    ] {
        let stage = Stage::new().await?;
        browse(move |browser| async move {
            browser.goto(stage.page("")).await?;
            let form = CardForm::ready(&browser).await?;
            form.fill().await?;
            form.code_is_known().await?;
            browser.execute(submit, vec![]).await?;
            browser.query(By::Id("result")).first().await.context(submit)?;
            assert_eq!(stage.code().await?, APPROVED, "{submit}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn another_brand_and_fields_that_the_merchant_put_in_are_paid_with() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = { onReady() {
        const more = document.createElement('div');
        more.innerHTML = '<input name=\"customParameters[SHOPPER_gift]\" value=\"yes please\"><input name=\"amount\" value=\"1.00\">';
        const button = document.querySelector('.wpwl-group-submit');
        button.parentNode.insertBefore(more, button);
    } };";
    browse(move |browser| async move {
        browser.goto(stage.page(script)).await?;
        let form = CardForm::ready(&browser).await?;
        form.brand("AMEX").await?;
        form.number("377777777777770").await?;
        form.expiry("12 / 33").await?;
        form.code("1234").await?;
        form.pay().await?;
        let status = stage.paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"], "AMEX");
        assert_eq!(status.json["customParameters"]["SHOPPER_gift"], "yes please");
        assert_eq!(status.json["amount"], "92.00", "a browser does not set the price");
        Ok(())
    })
    .await
}
