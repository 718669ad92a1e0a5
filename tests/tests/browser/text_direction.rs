//! Words of the form in a page of another language: they run in the direction of their script, and screen readers read
//! them in their language, wherever in the page they stand.

use thirtyfour::prelude::*;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::forms::click_element;
use crate::network::{HELD, block_requests};
use crate::one_click::fixture_with_stored_accounts;
use crate::popups::open_popup;
use crate::state_pictures::State;
use crate::three_ds::{CHALLENGE, fixture_with_three_ds, pay_until_challenge};

/// Every text with Arabic letters that a shopper sees and that runs from left to right or is no Arabic to a screen
/// reader, and `nothing Arabic` if there is none at all.
const STRAY: &str = r"(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), stray = [];
    let count = 0;
    while (texts.nextNode()) {
        const text = texts.currentNode.data.trim(), it = texts.currentNode.parentElement;
        if (!/\p{Script=Arabic}/u.test(text) || !it.checkVisibility()) continue;
        count++;
        const said = getComputedStyle(it).direction + ' ' + it.closest('[lang]')?.lang;
        if (said !== 'rtl ar') stray.push(said + ': ' + it.className + ' ' + text);
    }
    return count ? stray : ['nothing Arabic'];
})()";

async fn assert_none_stray(browser: &Browser, state: &str) -> anyhow::Result<()> {
    assert_eq!(browser.evaluate(STRAY).await?, serde_json::json!([]), "{state}");
    Ok(())
}

#[tokio::test]
async fn arabic_words_run_from_the_right_in_every_state_of_the_form() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[("registrationsDeletable", "true")]).await?;
    run_in_browser(move |browser| async move {
        for state in State::ALL {
            let page = MerchantPage::for_checkout(&stage.checkout).with_brands(state.brands());
            let page = page.with_script(&format!("var wpwlOptions = {};", state.options("ar")));
            browser.goto(stage.site.add_page(page)).await?;
            browser
                .wait_until("document.querySelector('.wpwl-button') && !document.querySelector('.wpwl-loading')")
                .await?;
            state.reach(&browser).await?;
            assert_none_stray(&browser, &format!("{state:?}")).await?;
        }
        // The question whether a stored card is to be removed.
        stage.open_forms(&browser, "VISA", "locale: 'ar'").await?;
        click_element(&browser, ".wpwl-button-delete").await?;
        assert_none_stray(&browser, "removal").await
    })
    .await
}

#[tokio::test]
async fn arabic_words_run_from_the_right_where_something_takes_the_place_of_the_form() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    let message = "[...document.querySelectorAll('.wpwl-message')].some(it => it.checkVisibility())";
    run_in_browser(move |browser| async move {
        // A copy of the form, which the page has made.
        stage.open_forms(&browser, "VISA", "locale: 'ar'").await?;
        let copy = "const form = document.querySelector('.wpwl-form'); const copy = form.cloneNode(true);
            form.parentElement.parentElement.append(copy); copy.requestSubmit();";
        browser.execute(copy, vec![]).await?;
        browser.wait_until(message).await?;
        assert_none_stray(&browser, "copy").await?;

        // A file that does not come.
        block_requests(&browser, &["*://*:*/*static.min.js"]).await?;
        browser.goto(stage.add_page(&format!("{HELD} wpwlOptions.locale = 'ar';"))).await?;
        for _ in 0..2 {
            browser.wait_until("held.length").await?;
            browser.execute("again()", vec![]).await?;
        }
        browser.query(By::Css(".wpwl-button-retry")).and_displayed().first().await?;
        assert_none_stray(&browser, "failure").await?;
        block_requests(&browser, &[]).await?;

        // A brand that nobody offers.
        let page = MerchantPage::for_checkout(&stage.checkout).with_brands("VISSA");
        browser.goto(stage.site.add_page(page.with_script("var wpwlOptions = { locale: 'ar' };"))).await?;
        browser.wait_until(message).await?;
        assert_none_stray(&browser, "nothing offered").await?;

        // A window of another payment method.
        stage.open_forms(&browser, "PAYPAL VISA", "locale: 'ar'").await?;
        let shop = open_popup(&browser).await?;
        browser.close_window().await?;
        browser.switch_to_window(shop).await?;
        browser.wait_until(message).await?;
        assert_none_stray(&browser, "window").await?;

        // The issuer's challenge, with the shop's bar.
        stage.open_forms(&browser, "VISA", "locale: 'ar'").await?;
        pay_until_challenge(&browser, CHALLENGE).await?;
        assert_none_stray(&browser, "challenge").await
    })
    .await
}

#[tokio::test]
async fn an_arabic_message_in_place_of_a_paid_checkout_runs_from_the_right() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.merchant.submit_card(stage.checkout.id(), &[]).await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { locale: 'ar' };")).await?;
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_none_stray(&browser, "paid").await
    })
    .await
}
