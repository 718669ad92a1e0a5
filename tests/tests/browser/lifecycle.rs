//! The form in pages that come and go: unload, load again, move things about.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{Page, browse};

use crate::{APPROVED, Stage};

#[tokio::test]
async fn unload_removes_everything_and_the_form_can_be_loaded_again() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let second = stage.merchant.checkout(&[("amount", "17.00")]).await?;
    browse(move |browser| async move {
        // Whatever the form adds to the page is compared with the page before.
        browser.goto(stage.page("var wpwlOptions = { onReady() { witness.note('ready', 1); } };")).await?;
        let form = CardForm::ready(&browser).await?;
        form.number("4200000000000000").await?;
        for round in 0..3 {
            browser.execute("wpwl.unload()", vec![]).await?;
            let left = "[...document.querySelectorAll('[class*=wpwl], iframe, .paymentWidgets, .spinner')].map(it => it.outerHTML).join()";
            assert_eq!(browser.value(left).await?, "", "round {round}");
            // Merchants delete these themselves, and then load again.
            browser
                .execute("document.querySelectorAll('script[src*=\"paymentWidgets.js\"], script[src*=\"static.min.js\"]').forEach(it => it.remove())", vec![])
                .await?;
            stage.add_form(&browser, second.id(), "VISA, MASTER", "/result?own=2").await?;
            let form = CardForm::ready(&browser).await?;
            assert_eq!(form.inner_value(NUMBER).await?, "", "nothing of before is left");
            assert_eq!(browser.value("document.querySelectorAll('.wpwl-container').length").await?, 1);
        }
        let form = CardForm::ready(&browser).await?;
        browser.until(&format!("wpwl.checkout.id === '{}'", second.id())).await?;
        form.fill().await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(second.id()).await?;
        assert_eq!((status.code(), status.json["amount"].as_str()), (APPROVED, Some("17.00")));
        assert_eq!(stage.gateway.submits(second.id()), 1, "no listener of an earlier round submits too");
        assert_eq!(stage.submits(), 0);
        assert_eq!(browser.seen_of("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_that_the_page_adds_later_is_found() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(format!("{}result", stage.site.public)).await?;
        browser.execute("document.body.append(document.createElement('main'))", vec![]).await?;
        stage.add_form(&browser, stage.checkout.id(), "VISA, MASTER", "/result?own=2").await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        browser.until("location.search.startsWith('?own=2')").await?;
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn on_ready_comes_again_for_forms_that_the_page_adds_later() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = {
        onReady: function (list) { witness.note('ready', list.map(function (it) { return it.containerKey + ':' + it.ccMethods; }).join(' ')); },
        onReadyIframeCommunication: function () { witness.note('frame', this.$iframe[0].name); } };";
    browse(move |browser| async move {
        browser.goto(stage.site.add(Page::of(&stage.checkout).brands("VISA").script(script))).await?;
        CardForm::ready(&browser).await?;
        browser.until_seen("frame").await?;
        // Another form of cards, then one of each kind, then one of no card.
        for (count, (brands, told)) in
            [("MASTER", "card:MASTER"), ("IDEAL AMEX", "onlineTransfer:IDEAL card:AMEX"), ("EPS", "onlineTransfer:EPS")]
                .into_iter()
                .enumerate()
        {
            stage.add_form(&browser, stage.checkout.id(), brands, "/result").await?;
            browser.until(&format!("witness.all().filter(it => it.kind === 'ready').length === {}", count + 2)).await?;
            assert_eq!(browser.seen_of("ready").await?.pop().unwrap_or_default(), told);
        }
        assert_eq!(browser.seen_of("ready").await?[0], "card:VISA");
        browser.until("witness.all().filter(it => it.kind === 'frame').length === 6").await?;
        // All of them work: the last one too.
        browser.query(By::Css(".wpwl-button-brand-EPS")).first().await?.click().await?;
        browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn merchants_may_move_groups_and_the_container_when_the_form_is_ready() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = { onReady() {
        const form = document.querySelector('.wpwl-form-card');
        form.insertBefore(document.querySelector('.wpwl-group-cardHolder'), form.firstChild);
        form.append(document.querySelector('.wpwl-group-submit'));
        document.querySelector('#elsewhere').append(document.querySelector('.wpwl-container-card'));
        witness.note('moved', '');
    } };";
    browse(move |browser| async move {
        let page = Page::of(&stage.checkout).script(script).after("<section id=\"elsewhere\"></section>");
        browser.goto(stage.site.add(page)).await?;
        browser.until_seen("moved").await?;
        let form = CardForm::ready(&browser).await?;
        form.pay().await?;
        form.hint("cardNumberError").await?;
        form.fill().await?;
        form.no_hint("cardNumberError").await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_that_is_moved_after_typing_says_so_by_its_empty_field_and_still_pays() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        // Moving a frame reloads it: what was typed is gone, whatever the form does.
        browser
            .execute("const it = document.querySelector('.wpwl-group-cardNumber'); const form = it.parentNode; it.remove(); form.insertBefore(it, form.firstChild)", vec![])
            .await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(form.inner_value(NUMBER).await?, "");
        form.pay().await?;
        form.hint("cardNumberError").await?;
        assert_eq!(stage.submits(), 0);
        form.number("4200000000000000").await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_comes_back_from_a_decline_with_the_back_button_finds_a_form_that_pays() -> anyhow::Result<()> {
    let declined = [("customParameters[forceResultCode]", "800.100.151")];
    let stage = Stage::with(&declined).await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        browser.until("location.pathname === '/result'").await?;
        assert_eq!(stage.code().await?, "800.100.151");
        let approved = [("customParameters[forceResultCode]", APPROVED)];
        let id = stage.checkout.id();
        stage.merchant.post(&format!("v1/checkouts/{id}"), &approved).await?;

        // Whether the browser kept the page as it was or loads it anew is the browser's affair.
        browser.back().await?;
        let form = CardForm::ready(&browser).await?;
        for frame in [NUMBER, CODE] {
            form.empty(frame).await?;
        }
        form.fill().await?;
        form.pay().await?;
        browser.until("location.pathname === '/result'").await?;
        assert_eq!(stage.submits(), 2);
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_whose_script_does_not_arrive_says_so() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let blocked = serde_json::json!({ "urlPatterns": [{ "urlPattern": "*://*:*/*static.min.js", "block": true }] });
        browser.cdp().send_raw("Network.enable", serde_json::json!({})).await?;
        browser.cdp().send_raw("Network.setBlockedURLs", blocked).await?;
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        browser.goto(stage.page(script)).await?;
        assert_eq!(browser.until_seen("failed").await?, "WidgetError");
        let message = browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert!(!message.text().await?.is_empty());
        Ok(())
    })
    .await
}
