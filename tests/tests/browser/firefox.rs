//! The main way in another browser: the form stands, says what is wrong, and pays, in Firefox.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{DemoShop, Gateway, browse_in_firefox};

use crate::forms::click;
use crate::{APPROVED, Stage};

#[tokio::test]
async fn the_form_says_what_is_wrong_and_pays_in_firefox() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse_in_firefox(move |browser| async move {
        let form = demo.to_checkout(&browser, "?brandDetection=1", "approve").await?;
        form.pay().await?;
        for kind in ["cardNumberError", "expiryMonthError", "cvvError"] {
            assert!(!form.hint(kind).await?.is_empty(), "{kind}");
        }
        browser.until(&format!("document.activeElement === document.querySelector('{NUMBER}')")).await?;

        form.number("5454 5454-5454 5454").await?;
        assert_eq!(form.inner_value(NUMBER).await?, "5454 5454 5454 5454");
        browser.until("document.querySelector('select.wpwl-control-brand').value === 'MASTER'").await?;
        form.expiry("0120").await?;
        form.pay().await?;
        form.hint("expiryYearError").await?;
        form.expiry("05 / 34").await?;
        form.holder("Jane Jones").await?;
        form.code("12a3").await?;
        assert_eq!(form.inner_value(CODE).await?, "123");
        for kind in ["cardNumberError", "expiryMonthError", "expiryYearError", "cvvError"] {
            form.no_hint(kind).await?;
        }

        // The text in the frames looks as the text beside them does.
        let look = "(it => [it.color, it.fontSize, it.fontFamily].join())";
        let outside = browser
            .value(&format!("{look}(getComputedStyle(document.querySelector('.wpwl-control-cardHolder')))"))
            .await?;
        form.find(NUMBER).await?.enter_frame().await?;
        let inside = browser.value(&format!("{look}(getComputedStyle(document.querySelector('input')))")).await?;
        browser.enter_default_frame().await?;
        assert_eq!(inside, outside);

        form.pay().await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "paid");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_a_frame_pays_and_unload_leaves_room_for_another_form_in_firefox() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse_in_firefox(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { locale: 'ar' };")).await?;
        CardForm::ready(&browser).await?;
        assert_eq!(browser.value("document.querySelector('form.wpwl-form').dir").await?, "rtl");
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.value("document.querySelectorAll('[class*=wpwl]').length").await?, 0);
        let again = "const loader = document.querySelector('script[src*=paymentWidgets]');
            const place = document.createElement('form');
            Object.assign(place, { className: 'paymentWidgets', action: '/result?own=2' });
            place.dataset.brands = 'VISA';
            document.querySelector('main').append(place);
            const copy = document.createElement('script');
            copy.src = loader.src;
            loader.replaceWith(copy);";
        browser.execute(again, vec![]).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.code("\u{e007}").await?;
        browser.until("location.pathname === '/result' && location.search.startsWith('?own=2&id=')").await?;
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_is_wrong_is_said_and_can_be_mended_in_arabic_in_firefox() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse_in_firefox(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { locale: 'ar', billingAddress: {}, mandatoryBillingFields: { city: true } };")).await?;
        let form = CardForm::ready(&browser).await?;
        let run = "(it => [it.direction, it.textAlign].join())";
        assert_eq!(browser.value(&format!("{run}(getComputedStyle(document.querySelector('.wpwl-control-expiry')))")).await?, "ltr,end");
        form.find(NUMBER).await?.enter_frame().await?;
        assert_eq!(browser.value(&format!("{run}(getComputedStyle(document.querySelector('input')))")).await?, "ltr,end");
        browser.enter_default_frame().await?;
        // Digits as an Arabic keyboard has them.
        form.number("\u{664}\u{662}\u{660}\u{660} \u{660}\u{660}\u{660}\u{660} \u{660}\u{660}\u{660}\u{660} \u{660}\u{660}\u{660}\u{660}").await?;
        assert_eq!(form.inner_value(NUMBER).await?, "4200 0000 0000 0000");
        form.expiry("05 / 34").await?;
        form.holder("J".repeat(129).as_str()).await?;
        form.code("123").await?;
        form.pay().await?;
        assert!(form.hint("cardHolderError").await?.contains("\u{64a}\u{631}\u{62c}\u{649}"));
        assert!(!form.hint("billingCityError").await?.is_empty());
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("firefox-arabic-error").await?;
        form.holder("Jane Jones").await?;
        form.find(".wpwl-control-city").await?.send_keys("\u{639}\u{645}\u{627}\u{646}").await?;
        form.no_hint("cardHolderError").await?;
        form.no_hint("billingCityError").await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_is_chosen_asked_for_its_code_and_paid_in_firefox() -> anyhow::Result<()> {
    let mut stage = Stage::new().await?;
    let card = |number, holder| {
        [("card.number", number), ("card.holder", holder), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")]
    };
    let mut ids = Vec::new();
    for (brand, number) in [("VISA", "4200000000000000"), ("MASTER", "5454545454545454")] {
        let fields = [&[("paymentBrand", brand)][..], &card(number, "Jane Jones")].concat();
        ids.push(stage.merchant.post("v1/registrations", &fields).await?.id().to_owned());
    }
    let offered = [("registrations[0].id", ids[0].as_str()), ("registrations[1].id", ids[1].as_str())];
    stage.checkout = stage.merchant.checkout(&offered).await?;
    browse_in_firefox(move |browser| async move {
        stage.open(&browser, "VISA", "registrations: { requireCvv: true }").await?;
        let pay = ".wpwl-container-registration .wpwl-button-pay";
        click(&browser, &format!("input[value='{}']", ids[1])).await?;
        click(&browser, pay).await?;
        browser.query(By::Css(".wpwl-container-registration .wpwl-hint-cvvError")).and_displayed().first().await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser
            .query(By::Css(".wpwl-container-registration iframe.wpwl-control-cvv"))
            .first()
            .await?
            .enter_frame()
            .await?;
        browser.query(By::Css("input")).first().await?.send_keys("123").await?;
        browser.enter_default_frame().await?;
        browser.until(&format!("!document.querySelector('{pay}').disabled")).await?;
        click(&browser, pay).await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!((status.code(), status.json["registrationId"].as_str()), (APPROVED, Some(ids[1].as_str())));
        Ok(())
    })
    .await
}
