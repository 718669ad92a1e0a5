//! The issuer's challenge on a phone: it takes the whole screen, names the shop, and gives page and focus back.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::forms::click_element;
use crate::three_ds::{
    CALLBACKS, CHALLENGE, TARGET, answer_challenge, element_box, fill_card_form, fixture_with_three_ds,
    pay_until_challenge,
};
use crate::{APPROVED, CheckoutFixture};

/// Name of the merchant in tests.
const SHOP: &str = "Kiln & Tide";
const BAR: &str = ".wpwl-challenge-bar";
const CANCEL: &str = ".wpwl-challenge-bar .wpwl-button-cancel";

/// Page around the form: text above and below it, and a link that a shopper must not reach.
const AROUND: &str = "<p><a id=elsewhere href=/result>Elsewhere</a></p><p class=tall>More</p>";
const TALL: &str = ".tall { height: 900px; }";

/// Opens a form in a page of this size with these options, and pays until the challenge is shown.
async fn open_challenge(
    stage: &CheckoutFixture,
    browser: &Browser,
    (width, height): (u32, u32),
    options: &str,
) -> anyhow::Result<()> {
    browser.resize_page(width, height).await?;
    let script = format!("var wpwlOptions = {{ {options} {CALLBACKS} }};");
    // A transformed ancestor is the page of what is fixed inside of it.
    let style = "main { transform: translateX(0); padding: 12px; } .wpwl-container { max-width: 20rem !important; }";
    let style = &format!("{TALL} {style}");
    let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_markup_after(AROUND);
    browser.goto(stage.site.add_page(page.with_style(style))).await?;
    pay_until_challenge(browser, CHALLENGE).await
}

/// Asserts that the challenge fills a page of this size: the bar above, the frame below, and nothing cut.
async fn check_whole_page(browser: &Browser, size: (u32, u32)) -> anyhow::Result<()> {
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let bar = element_box(browser, BAR).await?;
    let frame = element_box(browser, TARGET).await?;
    assert_eq!([bar[0], bar[1], bar[2]], [0.0, 0.0, width], "{bar:?}");
    assert_eq!([frame[0], frame[1], frame[2], frame[1] + frame[3]], [0.0, bar[3], width, height], "{frame:?}");
    let cancel = element_box(browser, CANCEL).await?;
    assert!(cancel[0] + cancel[2] <= width && cancel[3] >= 44.0 && cancel[1] + cancel[3] <= bar[3], "{cancel:?}");
    browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
    let inside = browser.evaluate("[innerWidth, document.documentElement.scrollWidth <= innerWidth]").await;
    browser.enter_default_frame().await?;
    assert_eq!(inside?, json!([size.0, true]), "the issuer's page is as wide as the screen, and nothing is cut");
    Ok(())
}

#[tokio::test]
async fn on_a_phone_the_challenge_fills_the_screen_below_a_bar_with_the_shops_name_and_a_way_back() -> anyhow::Result<()>
{
    let phones = [
        ((320, 568), "", "light"),
        ((360, 640), "", "light"),
        ((360, 640), "locale: 'ar',", "dark"),
        ((640, 360), "", "light"),
    ];
    for (size, options, scheme) in phones {
        let stage = fixture_with_three_ds(&[]).await?;
        run_in_browser(move |browser| async move {
            browser.set_color_scheme(scheme).await?;
            open_challenge(&stage, &browser, size, options).await?;
            check_whole_page(&browser, size).await?;
            let bar = browser.query(By::Css(".wpwl-challenge-shop")).first().await?.text().await?;
            assert_eq!(bar, SHOP, "the gateway's name of the shop, not a text of the page");
            assert_eq!(browser.run_axe().await?, Vec::<String>::new());
            browser.save_screenshot(&format!("challenge-phone-{}-{scheme}", size.0)).await?;
            answer_challenge(&browser, TARGET, APPROVED).await?;
            let status = stage.wait_until_paid(&browser).await?;
            assert_eq!(status.json["customer"]["browser"]["challengeWindow"], "05", "{}", status.text);
            assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_page_below_is_inert_and_does_not_scroll_and_is_as_before_after_a_cancellation() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_browser(move |browser| async move {
        let before = "[...document.querySelectorAll('main, .wpwl-container, .wpwl-target, a')].map(it =>
            [it.inert, it.role, it.popover, getComputedStyle(it).position, getComputedStyle(it).maxWidth].join())
            .concat(getComputedStyle(document.documentElement).overflow)";
        browser.resize_page(360, 640).await?;
        let page = MerchantPage::for_checkout(&stage.checkout).with_markup_after(AROUND).with_style(TALL);
        browser.goto(stage.site.add_page(page.with_script(&format!("var wpwlOptions = {{ {CALLBACKS} }};")))).await?;
        pay_until_challenge(&browser, CHALLENGE).await?;
        click_element(&browser, CANCEL).await?;
        browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
        let usual = browser.evaluate(before).await?;

        click_element(&browser, ".wpwl-button-pay").await?;
        browser.wait_until("document.querySelector('.wpwl-challenge-whole')").await?;
        assert_eq!(browser.evaluate("!!document.querySelector('#elsewhere').closest('[inert]')").await?, true);
        browser.execute("scrollTo(0, 400); document.querySelector('#elsewhere').focus()", vec![]).await?;
        assert_eq!(browser.evaluate("document.activeElement.id").await?, "", "what is inert takes no focus");
        check_whole_page(&browser, (360, 640)).await?;
        browser.execute("scrollTo(0, 0)", vec![]).await?;
        click_element(&browser, CANCEL).await?;
        browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
        assert_eq!(browser.evaluate(before).await?, usual);
        assert_eq!(browser.evaluate("document.querySelector('[inert], .wpwl-challenge-bar')").await?, json!(null));

        let form = CardForm::wait_until_ready(&browser).await?;
        form.press_pay_button().await?;
        browser.wait_until("document.querySelector('.wpwl-challenge-whole')").await?;
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate("document.querySelector('[inert]')").await?, json!(null), "after the forms' end");
        let scrolls = "getComputedStyle(document.documentElement).overflow";
        assert_eq!(browser.evaluate(scrolls).await?, "visible");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_focus_goes_into_the_challenge_and_comes_back_to_where_it_was() -> anyhow::Result<()> {
    for (width, field) in [(360, "[name='card.holder']"), (1000, "[name='card.holder']"), (360, ".wpwl-button-pay")] {
        let stage = fixture_with_three_ds(&[]).await?;
        run_in_browser(move |browser| async move {
            browser.resize_page(width, 700).await?;
            stage.open_forms(&browser, "VISA", CALLBACKS).await?;
            fill_card_form(&browser, CHALLENGE).await?;
            browser.query(By::Css(field)).first().await?.send_keys(Key::Enter + "").await?;
            browser.wait_until(&format!("document.activeElement === document.querySelector('{TARGET}')")).await?;
            // A slow processor: every change of the form is rendered a task later.
            browser.execute("let time = Date.now(); Date.now = () => time += 20", vec![]).await?;
            // The key reaches the page from the bar, and from the gateway's own page in the frame.
            browser.execute(format!("document.querySelector('{CANCEL}').focus()"), vec![]).await?;
            browser.query(By::Css(CANCEL)).first().await?.send_keys(Key::Escape + "").await?;
            browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
            browser.wait_until(&format!("document.activeElement === document.querySelector(\"{field}\")")).await?;
            browser.query(By::Css(field)).first().await?.send_keys(Key::Enter + "").await?;
            browser.wait_until("document.querySelector('.wpwl-challenge')").await?;
            browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
            let pressed = async {
                browser.query(By::Css("select")).first().await?.focus().await?;
                browser.query(By::Css("select")).first().await?.send_keys(Key::Escape + "").await
            };
            let pressed = pressed.await;
            browser.enter_default_frame().await?;
            pressed?;
            browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
            browser.wait_until(&format!("document.activeElement === document.querySelector(\"{field}\")")).await?;
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_page_that_takes_everything_away_from_the_bar_still_leaves_the_issuers_page_and_no_words_of_its_own()
-> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_browser(move |browser| async move {
        // Rules of the page, and texts under the names that the form might read.
        let options = "shop: 'Your bank', labels: { shop: 'Your bank' }, ";
        let script = format!("var wpwlOptions = {{ {options} {CALLBACKS} }};");
        let style = ".wpwl-target, .wpwl-challenge-bar { position: static !important; width: 50px !important; }
            .wpwl-container { opacity: 0.1 !important; transform: scale(0.1) !important; }";
        browser.resize_page(360, 640).await?;
        let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_style(style);
        browser.goto(stage.site.add_page(page)).await?;
        pay_until_challenge(&browser, CHALLENGE).await?;
        check_whole_page(&browser, (360, 640)).await?;
        let bar = browser.query(By::Css(BAR)).first().await?.text().await?;
        assert!(!bar.contains("Your bank") && bar.contains(SHOP), "{bar}");
        Ok(())
    })
    .await
}
