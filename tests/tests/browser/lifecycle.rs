//! The form in pages that change: unload, load again, move elements.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

#[tokio::test]
async fn unload_removes_everything_and_the_form_can_be_loaded_again() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let second = stage.merchant.create_checkout(&[("amount", "17.00")]).await?;
    run_in_browser(move |browser| async move {
        // `unload` must remove everything that the form adds to the page.
        browser.goto(stage.add_page("var wpwlOptions = { onReady() { witness.note('ready', 1); } };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200000000000000").await?;
        for round in 0..3 {
            browser.execute("wpwl.unload()", vec![]).await?;
            let left = "[...document.querySelectorAll('[class*=wpwl], iframe, .paymentWidgets, .spinner')].map(it => it.outerHTML).join()";
            assert_eq!(browser.evaluate(left).await?, "", "round {round}");
            // Merchants remove these scripts themselves, and then load the form again.
            browser
                .execute("document.querySelectorAll('script[src*=\"paymentWidgets.js\"], script[src*=\"static.min.js\"]').forEach(it => it.remove())", vec![])
                .await?;
            stage.add_form(&browser, second.id(), "VISA, MASTER", "/result?own=2").await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            assert_eq!(form.frame_value(NUMBER_FRAME).await?, "", "nothing of before is left");
            assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-container').length").await?, 1);
        }
        let form = CardForm::wait_until_ready(&browser).await?;
        browser.wait_until(&format!("wpwl.checkout.id === '{}'", second.id())).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(second.id()).await?;
        assert_eq!((status.result_code(), status.json["amount"].as_str()), (APPROVED, Some("17.00")));
        assert_eq!(stage.gateway.submit_count(second.id()), 1, "no listener of an earlier round submits too");
        assert_eq!(stage.submit_count(), 0);
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_that_the_page_adds_later_is_found() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(format!("{}result", stage.site.public)).await?;
        browser.execute("document.body.append(document.createElement('main'))", vec![]).await?;
        stage.add_form(&browser, stage.checkout.id(), "VISA, MASTER", "/result?own=2").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.search.startsWith('?own=2')").await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn on_ready_comes_again_for_forms_that_the_page_adds_later() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = {
        onReady: function (list) { witness.note('ready', list.map(function (it) { return it.containerKey + ':' + it.ccMethods; }).join(' ')); },
        onReadyIframeCommunication: function () { witness.note('frame', this.$iframe[0].name); } };";
    run_in_browser(move |browser| async move {
        browser
            .goto(
                stage
                    .site
                    .add_page(MerchantPage::for_checkout(&stage.checkout).with_brands("VISA").with_script(script)),
            )
            .await?;
        CardForm::wait_until_ready(&browser).await?;
        browser.wait_for_observation("frame").await?;
        // Another card form, then one of each kind, then one without a card.
        for (count, (brands, told)) in
            [("MASTER", "card:MASTER"), ("IDEAL AMEX", "onlineTransfer:IDEAL card:AMEX"), ("EPS", "onlineTransfer:EPS")]
                .into_iter()
                .enumerate()
        {
            stage.add_form(&browser, stage.checkout.id(), brands, "/result").await?;
            browser
                .wait_until(&format!("witness.all().filter(it => it.kind === 'ready').length === {}", count + 2))
                .await?;
            assert_eq!(browser.observed_details("ready").await?.pop().unwrap_or_default(), told);
        }
        assert_eq!(browser.observed_details("ready").await?[0], "card:VISA");
        browser.wait_until("witness.all().filter(it => it.kind === 'frame').length === 6").await?;
        // All forms work, including the last one.
        browser.query(By::Css(".wpwl-button-brand-EPS")).first().await?.click().await?;
        browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn merchants_may_move_groups_and_the_container_when_the_form_is_ready() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onReady() {
        const form = document.querySelector('.wpwl-form-card');
        form.insertBefore(document.querySelector('.wpwl-group-cardHolder'), form.firstChild);
        form.append(document.querySelector('.wpwl-group-submit'));
        document.querySelector('#elsewhere').append(document.querySelector('.wpwl-container-card'));
        witness.note('moved', '');
    } };";
    run_in_browser(move |browser| async move {
        let page = MerchantPage::for_checkout(&stage.checkout)
            .with_script(script)
            .with_markup_after("<section id=\"elsewhere\"></section>");
        browser.goto(stage.site.add_page(page)).await?;
        browser.wait_for_observation("moved").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cardNumberError").await?;
        form.fill_fields().await?;
        form.wait_for_no_hint("cardNumberError").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_that_is_moved_after_typing_says_so_by_its_empty_field_and_still_pays() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        // Moving a frame reloads it, so the browser deletes its text.
        browser
            .execute("const it = document.querySelector('.wpwl-group-cardNumber'); const form = it.parentNode; it.remove(); form.insertBefore(it, form.firstChild)", vec![])
            .await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "");
        form.press_pay_button().await?;
        form.wait_for_hint("cardNumberError").await?;
        assert_eq!(stage.submit_count(), 0);
        form.enter_number("4200000000000000").await?;
        form.wait_for_no_hint("cardNumberError").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_comes_back_from_a_decline_with_the_back_button_finds_a_form_that_pays() -> anyhow::Result<()> {
    let declined = [("customParameters[forceResultCode]", "800.100.151")];
    let stage = CheckoutFixture::with_fields(&declined).await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.pathname === '/result'").await?;
        assert_eq!(stage.read_result_code().await?, "800.100.151");
        let approved = [("customParameters[forceResultCode]", APPROVED)];
        let id = stage.checkout.id();
        stage.merchant.post(&format!("v1/checkouts/{id}"), &approved).await?;

        // The browser may restore the page or load it again.
        browser.back().await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        for frame in [NUMBER_FRAME, CODE_FRAME] {
            form.clear_frame_field(frame).await?;
        }
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.pathname === '/result'").await?;
        assert_eq!(stage.submit_count(), 2);
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_whose_script_does_not_arrive_says_so() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let blocked = serde_json::json!({ "urlPatterns": [{ "urlPattern": "*://*:*/*static.min.js", "block": true }] });
        browser.cdp().send_raw("Network.enable", serde_json::json!({})).await?;
        browser.cdp().send_raw("Network.setBlockedURLs", blocked).await?;
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        browser.goto(stage.add_page(script)).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "WidgetError");
        let message = browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert!(!message.text().await?.is_empty());
        Ok(())
    })
    .await
}
