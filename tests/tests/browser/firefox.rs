//! The main way in another browser: the form stands, says what is wrong, and pays, in Firefox.

use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{DemoShop, Gateway, browse_in_firefox};

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
