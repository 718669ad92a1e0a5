//! The main flow in another browser: in Firefox, the form loads, shows errors, and pays.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{TestDemoShop, TestGateway, run_in_firefox};

use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture};

#[tokio::test]
async fn the_form_says_what_is_wrong_and_pays_in_firefox() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_firefox(move |browser| async move {
        let form = demo.open_card_form(&browser, "?brandDetection=1", "approve").await?;
        form.press_pay_button().await?;
        for kind in ["cardNumberError", "expiryMonthError", "cvvError"] {
            assert!(!form.wait_for_hint(kind).await?.is_empty(), "{kind}");
        }
        browser.wait_until(&format!("document.activeElement === document.querySelector('{NUMBER_FRAME}')")).await?;

        form.enter_number("5454 5454-5454 5454").await?;
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "5454 5454 5454 5454");
        browser.wait_until("document.querySelector('select.wpwl-control-brand').value === 'MASTER'").await?;
        form.enter_expiry("0120").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("expiryYearError").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_holder("Jane Jones").await?;
        form.enter_security_code("12a3").await?;
        assert_eq!(form.frame_value(CODE_FRAME).await?, "123");
        for kind in ["cardNumberError", "expiryMonthError", "expiryYearError", "cvvError"] {
            form.wait_for_no_hint(kind).await?;
        }

        // The text in the frames has the same style as the text beside them.
        let look = "(it => [it.color, it.fontSize, it.fontFamily].join())";
        let outside = browser
            .evaluate(&format!("{look}(getComputedStyle(document.querySelector('.wpwl-control-cardHolder')))"))
            .await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        let inside = browser.evaluate(&format!("{look}(getComputedStyle(document.querySelector('input')))")).await?;
        browser.enter_default_frame().await?;
        assert_eq!(inside, outside);

        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_a_frame_pays_and_unload_leaves_room_for_another_form_in_firefox() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_firefox(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { locale: 'ar' };")).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.evaluate("document.querySelector('form.wpwl-form').dir").await?, "rtl");
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('[class*=wpwl]').length").await?, 0);
        let again = "const loader = document.querySelector('script[src*=paymentWidgets]');
            const place = document.createElement('form');
            Object.assign(place, { className: 'paymentWidgets', action: '/result?own=2' });
            place.dataset.brands = 'VISA';
            document.querySelector('main').append(place);
            const copy = document.createElement('script');
            copy.src = loader.src;
            loader.replaceWith(copy);";
        browser.execute(again, vec![]).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.enter_security_code("\u{e007}").await?;
        browser.wait_until("location.pathname === '/result' && location.search.startsWith('?own=2&id=')").await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_is_wrong_is_said_and_can_be_mended_in_arabic_in_firefox() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_firefox(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { locale: 'ar', billingAddress: {}, mandatoryBillingFields: { city: true } };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let run = "(it => [it.direction, it.textAlign].join())";
        assert_eq!(browser.evaluate(&format!("{run}(getComputedStyle(document.querySelector('.wpwl-control-expiry')))")).await?, "ltr,end");
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        assert_eq!(browser.evaluate(&format!("{run}(getComputedStyle(document.querySelector('input')))")).await?, "ltr,end");
        browser.enter_default_frame().await?;
        // Digits of an Arabic keyboard.
        form.enter_number("\u{664}\u{662}\u{660}\u{660} \u{660}\u{660}\u{660}\u{660} \u{660}\u{660}\u{660}\u{660} \u{660}\u{660}\u{660}\u{660}").await?;
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000");
        form.enter_expiry("05 / 34").await?;
        form.enter_holder("J".repeat(129).as_str()).await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        assert!(form.wait_for_hint("cardHolderError").await?.contains("\u{64a}\u{631}\u{62c}\u{649}"));
        assert!(!form.wait_for_hint("billingCityError").await?.is_empty());
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("firefox-arabic-error").await?;
        form.enter_holder("Jane Jones").await?;
        form.find_element(".wpwl-control-city").await?.send_keys("\u{639}\u{645}\u{627}\u{646}").await?;
        form.wait_for_no_hint("cardHolderError").await?;
        form.wait_for_no_hint("billingCityError").await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_is_chosen_asked_for_its_code_and_paid_in_firefox() -> anyhow::Result<()> {
    let mut stage = CheckoutFixture::new().await?;
    let card = |number, holder| {
        [("card.number", number), ("card.holder", holder), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")]
    };
    let mut ids = Vec::new();
    for (brand, number) in [("VISA", "4200000000000000"), ("MASTER", "5454545454545454")] {
        let fields = [&[("paymentBrand", brand)][..], &card(number, "Jane Jones")].concat();
        ids.push(stage.merchant.post("v1/registrations", &fields).await?.id().to_owned());
    }
    let offered = [("registrations[0].id", ids[0].as_str()), ("registrations[1].id", ids[1].as_str())];
    stage.checkout = stage.merchant.create_checkout(&offered).await?;
    run_in_firefox(move |browser| async move {
        stage.open_forms(&browser, "VISA", "registrations: { requireCvv: true }").await?;
        let pay = ".wpwl-container-registration .wpwl-button-pay";
        click_element(&browser, &format!("input[value='{}']", ids[1])).await?;
        click_element(&browser, pay).await?;
        browser.query(By::Css(".wpwl-container-registration .wpwl-hint-cvvError")).and_displayed().first().await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser
            .query(By::Css(".wpwl-container-registration iframe.wpwl-control-cvv"))
            .first()
            .await?
            .enter_frame()
            .await?;
        browser.query(By::Css("input")).first().await?.send_keys("123").await?;
        browser.enter_default_frame().await?;
        browser.wait_until(&format!("!document.querySelector('{pay}').disabled")).await?;
        click_element(&browser, pay).await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!((status.result_code(), status.json["registrationId"].as_str()), (APPROVED, Some(ids[1].as_str())));
        Ok(())
    })
    .await
}
