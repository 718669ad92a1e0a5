//! Shoppers pay, and the merchant reads the result.

use anyhow::Context;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, PAY_BUTTON};
use tillgate_tests::{TestDemoShop, TestGateway, run_in_desktop_browser, shop};

use crate::forms::{click_element, enter_text};
use crate::{APPROVED, CheckoutFixture};

#[tokio::test]
async fn a_shopper_pays_on_the_demo_shop_and_reads_success() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_desktop_browser(move |browser| async move {
        let form = demo.open_card_form(&browser, "", "approve").await?;
        let id = shop::read_checkout_id(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        let page = browser.find(By::Css("main")).await?.text().await?;
        assert!(page.contains("Visa") && page.contains("0000"), "brand and last digits: {page}");
        assert!(page.contains(APPROVED), "{page}");

        let status = demo.merchant.read_status(&id).await?;
        assert_eq!(status.result_code(), APPROVED);
        assert_eq!(status.json["amount"], "36.50");
        assert_eq!(status.json["card"]["last4Digits"], "0000");
        assert_eq!(status.json["card"]["holder"], "Jane Jones");

        // The result page can be reloaded and shows the same outcome.
        browser.refresh().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_demo_shop_offers_all_ways_to_pay_in_one_choice() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_desktop_browser(move |browser| async move {
        demo.open_card_form(&browser, "", "approve").await?;
        let names = "[...document.querySelectorAll('.wpwl-method-name')].map(it => it.textContent).join()";
        browser.wait_until(&format!("({names}) === 'Card,SEPA Direct Debit,PayPal'")).await?;
        let buttons = "[...document.querySelectorAll('.wpwl-button-pay')].filter(it => it.checkVisibility()).map(it => it.textContent).join()";
        assert_eq!(browser.evaluate(buttons).await?, "Pay €36.50");
        click_element(&browser, "input[value=DIRECTDEBIT_SEPA]").await?;
        assert_eq!(browser.evaluate(buttons).await?, "Pay €36.50");
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        enter_text(&browser, ".wpwl-control-accountNumber", "DE23 1000 0000 1234 5678 90").await?;
        click_element(&browser, ".wpwl-group-mandate input").await?;
        click_element(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        let page = browser.find(By::Css("main")).await?.text().await?;
        assert!(page.contains("Paid with SEPA Direct Debit"), "{page}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_suspicious_order_is_stopped_with_its_reason_and_a_command_that_fits_a_phone() -> anyhow::Result<()> {
    let demo = TestDemoShop::start_with_risk_check(TestGateway::shared(), "decline").await?;
    run_in_desktop_browser(move |browser| async move {
        for (query, title) in [("", "We stopped this order."), ("?lang=de", "Wir haben diese Bestellung angehalten.")] {
            let form = demo.open_card_form(&browser, query, "suspicious").await?;
            let id = shop::read_checkout_id(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            assert_eq!(TestDemoShop::read_outcome(&browser).await?, "declined");
            assert_eq!(demo.merchant.read_status(&id).await?.result_code(), "100.400.141");
            let page = browser.find(By::Css("main")).await?.text().await?;
            assert!(page.contains(title) && page.contains("tillgate risk explain"), "{page}");
            browser.save_screenshot(&format!("result-suspicious{}", query.replace(['?', '='], "-"))).await?;
            browser.resize_page(360, 780).await?;
            assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth").await?, true, "{query}");
            browser.save_screenshot(&format!("result-suspicious-phone{}", query.replace(['?', '='], "-"))).await?;
        }
        browser.find(By::Css(".actions button")).await?.click().await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_held_order_tells_the_shopper_and_its_page_follows_the_decision() -> anyhow::Result<()> {
    let demo = TestDemoShop::start_with_risk_check(TestGateway::shared(), "hold").await?;
    run_in_desktop_browser(move |browser| async move {
        for (query, title, decision, outcome) in [
            ("", "We are looking at this order.", "approve", "paid"),
            ("?lang=de", "Wir sehen uns diese Bestellung an.", "cancel", "declined"),
        ] {
            browser.resize_page(1280, 900).await?;
            let form = demo.open_card_form(&browser, query, "suspicious").await?;
            let id = shop::read_checkout_id(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            assert_eq!(TestDemoShop::read_outcome(&browser).await?, "pending");
            let payment = demo.merchant.read_status(&id).await?;
            assert_eq!(payment.result_code(), "100.400.500");
            let page = browser.find(By::Css("main")).await?.text().await?;
            let approve = format!("tillgate review approve {}", payment.id());
            assert!(page.contains(title) && page.contains("tillgate review list") && page.contains(&approve), "{page}");
            browser.save_screenshot(&format!("result-held{}", query.replace(['?', '='], "-"))).await?;
            browser.resize_page(360, 780).await?;
            assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth").await?, true, "{query}");
            browser.save_screenshot(&format!("result-held-phone{}", query.replace(['?', '='], "-"))).await?;
            let path = format!("v2/reviews/{}/{decision}", payment.id());
            let decided = demo.merchant.post(&path, &[("reason", "1")][..usize::from(decision == "cancel")]).await?;
            assert_eq!(decided.status, 200, "{}", decided.text);
            browser.find(By::Css(".actions a.primary")).await?.click().await?;
            browser.query(By::Css(format!("[data-outcome={outcome}]"))).first().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_decline_is_told_on_the_result_page_and_the_same_checkout_can_be_paid_after_it() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_desktop_browser(move |browser| async move {
        let form = demo.open_card_form(&browser, "", "decline").await?;
        let id = shop::read_checkout_id(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "declined");
        assert_eq!(demo.merchant.read_status(&id).await?.result_code(), "800.100.151");
        browser.save_screenshot("result-declined").await?;

        browser.find(By::Css(".actions button")).await?.click().await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(shop::read_checkout_id(&browser).await?, id, "the checkout stays the same");
        form.fill_fields().await?;
        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        assert_eq!(demo.merchant.read_status(&id).await?.result_code(), APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_merchants_own_page_gets_id_and_resource_path_beside_its_own_query() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_desktop_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        let address = browser.current_url().await?;
        let pairs: Vec<(String, String)> = address.query_pairs().into_owned().collect();
        let id = stage.checkout.id();
        let expected = [("own", "1"), ("id", id), ("resourcePath", &format!("/v1/checkouts/{id}/payment"))];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_result_address_set_by_the_merchants_server_wins_over_the_forms_action() -> anyhow::Result<()> {
    let site = tillgate_tests::MerchantSite::start(TestGateway::shared()).await?;
    let own = format!("{}elsewhere?order=7", site.public);
    let stage = CheckoutFixture::with_fields(&[("shopperResultUrl", &own)]).await?;
    run_in_desktop_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
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
    let stage = CheckoutFixture::new().await?;
    run_in_desktop_browser(move |browser| async move {
        browser
            .goto(stage.add_page("var wpwlOptions = { onBeforeSubmitCard() { witness.note('asked', 1); } };"))
            .await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        let button = form.find_element(PAY_BUTTON).await?;
        browser.action_chain().double_click_element(&button).perform().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.observed_details("asked").await?.len(), 1, "one submit");
        assert_eq!(stage.submit_count(), 1);
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_a_field_of_the_page_or_of_a_frame_submits() -> anyhow::Result<()> {
    let page = CheckoutFixture::new().await?;
    let frame = CheckoutFixture::new().await?;
    run_in_desktop_browser(move |browser| async move {
        browser.goto(page.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.find_element("input.wpwl-control-cardHolder").await?.send_keys(Key::Enter).await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(page.read_result_code().await?, APPROVED);

        browser.goto(frame.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.enter_security_code(&Key::Enter.value().to_string()).await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(frame.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_payment_is_made_with_the_keyboard_alone() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_desktop_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let press = async |keys: &str| browser.action_chain().send_keys(keys).perform().await;
        let tab_to = async |css: &str| {
            for _ in 0..12 {
                let there = format!("document.activeElement.matches({})", serde_json::to_string(css)?);
                if browser.evaluate(&there).await? == true {
                    // A frame has the focus a little after its element in the page: then it says so.
                    let in_frame = "document.activeElement.matches('iframe:not(.wpwl-focus)')";
                    return browser.wait_until(&format!("!{in_frame}")).await;
                }
                browser.execute("window.left = document.activeElement", vec![]).await?;
                press(&Key::Tab.value().to_string()).await?;
                // The focus leaves a frame of another process some time after the key.
                browser.wait_until("document.activeElement !== window.left").await?;
            }
            anyhow::bail!("the tab key does not lead to {css}")
        };
        // Starts at the top of the page and only moves forward.
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
        assert_eq!(stage.read_result_code().await?, APPROVED);
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
        let stage = CheckoutFixture::new().await?;
        run_in_desktop_browser(move |browser| async move {
            browser.goto(stage.add_page("")).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            browser.execute(submit, vec![]).await?;
            browser.query(By::Id("result")).first().await.context(submit)?;
            assert_eq!(stage.read_result_code().await?, APPROVED, "{submit}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn another_brand_and_fields_that_the_merchant_put_in_are_paid_with() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onReady() {
        const more = document.createElement('div');
        more.innerHTML = '<input name=\"customParameters[SHOPPER_gift]\" value=\"yes please\"><input name=\"amount\" value=\"1.00\">';
        const button = document.querySelector('.wpwl-group-submit');
        button.parentNode.insertBefore(more, button);
    } };";
    run_in_desktop_browser(move |browser| async move {
        browser.goto(stage.add_page(script)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("377777777777770").await?;
        form.enter_expiry("12 / 33").await?;
        form.enter_security_code("1234").await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"], "AMEX");
        assert_eq!(status.json["customParameters"]["SHOPPER_gift"], "yes please");
        assert_eq!(status.json["amount"], "92.00", "a browser does not set the price");
        Ok(())
    })
    .await
}
