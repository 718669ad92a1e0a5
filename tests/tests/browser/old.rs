//! Browsers that are too old for the form: they get a plain one, written by the gateway, and pay with it. Whatever the
//! loader asks an old browser about is taken away before a page's own scripts run, and with it what such a browser lacks.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, DemoShop, Gateway, Page, browse};

use crate::{APPROVED, Stage};

/// Internet Explorer 11 has none of these.
const OLD: &str = "
delete Array.prototype.at;
delete HTMLFormElement.prototype.requestSubmit;
delete Object.fromEntries;
delete Element.prototype.append;
delete Element.prototype.replaceWith;
delete Document.prototype.currentScript;
delete String.prototype.includes;
delete window.CSSStyleSheet;
delete window.ResizeObserver;
delete window.WebAssembly;";

const FRAME: &str = "iframe.wpwl-plain";

async fn make_old(browser: &Browser) -> anyhow::Result<()> {
    browser.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", json!({ "source": OLD })).await?;
    Ok(())
}

async fn enter(browser: &Browser) -> anyhow::Result<()> {
    browser.query(By::Css(FRAME)).first().await?.enter_frame().await?;
    Ok(())
}

async fn fill(browser: &Browser, fields: &[(&str, &str)]) -> anyhow::Result<()> {
    for (name, value) in fields {
        let input = browser.query(By::Css(format!("[name=\"{name}\"]"))).first().await?;
        input.clear().await?;
        input.send_keys(*value).await?;
    }
    Ok(())
}

async fn press(browser: &Browser, form: &str) -> anyhow::Result<()> {
    browser.query(By::Css(format!("#form-{form} button"))).first().await?.click().await?;
    Ok(())
}

/// What browser and merchant's page have to complain about.
async fn assert_silent(browser: &Browser) -> anyhow::Result<()> {
    assert_eq!(browser.seen_of("error").await?, Vec::<String>::new());
    assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
    // A page with a mistake in it has status 400, which this browser writes down.
    let loud: Vec<String> =
        browser.complaints().await?.into_iter().filter(|it| !it.contains("plainForm.html")).collect();
    assert_eq!(loud, Vec::<String>::new(), "the console");
    Ok(())
}

const CARD: [(&str, &str); 4] = [
    ("card.number", "4200 0000 0000 0000"),
    ("card.expiry", "12 / 49"),
    ("card.holder", "Jane Jones"),
    ("card.cvv", "123"),
];

/// A stage whose merchant's server names the page that shoppers come back to. To a page that only a browser has named the
/// plain form leads by a link.
async fn stage_with_result() -> anyhow::Result<Stage> {
    let stage = Stage::new().await?;
    name_result(&stage).await?;
    Ok(stage)
}

async fn name_result(stage: &Stage) -> anyhow::Result<()> {
    let result = format!("{}result?own=1", stage.site.public);
    let path = format!("v1/checkouts/{}", stage.checkout.id());
    let named = stage.merchant.post(&path, &[("shopperResultUrl", &result)]).await?;
    anyhow::ensure!(named.code() == "000.200.101", "{}", named.text);
    Ok(())
}

#[tokio::test]
async fn an_old_browser_pays_in_the_shop_after_a_mistake() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = DemoShop::start(gateway).await?;
    browse(move |browser| async move {
        make_old(&browser).await?;
        browser.resize(360, 800).await?;
        shop.choose(&browser, "?lang=de", "approve").await?;
        enter(&browser).await?;
        assert_eq!(browser.value("document.documentElement.lang").await?, "de");
        assert_eq!(browser.value("document.scripts.length").await?, 0);
        fill(&browser, &CARD).await?;
        fill(&browser, &[("card.number", "4200 0000 0000 0001")]).await?;
        browser.enter_default_frame().await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("old-form").await?;
        enter(&browser).await?;
        press(&browser, "card").await?;
        browser.enter_default_frame().await?;

        // The window shows the form now, with what was typed but number and code.
        browser.until("document.querySelector('#card-cardNumber-error')").await?;
        let said = browser.value("document.querySelector('#card-cardNumber-error').textContent").await?;
        assert_eq!(said, "Bitte prüfen Sie die Kartennummer.");
        let values = "Array.from(document.querySelectorAll('input:not([type=hidden])'), it => it.value).join('|')";
        assert_eq!(browser.value(values).await?, "|12 / 49|Jane Jones|");
        assert_eq!(browser.value("document.activeElement.name").await?, "card.number");
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("old-form-mistake").await?;
        fill(&browser, &CARD).await?;
        press(&browser, "card").await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "paid");
        assert_silent(&browser).await
    })
    .await
}

#[tokio::test]
async fn nothing_runs_in_the_plain_form_and_nothing_has_to() -> anyhow::Result<()> {
    let stage = stage_with_result().await?;
    browse(move |browser| async move {
        make_old(&browser).await?;
        browser.goto(stage.page("var wpwlOptions = { locale: 'ar' };")).await?;
        browser.query(By::Css(FRAME)).first().await?;
        assert_eq!(browser.value("typeof wpwl").await?, "undefined");
        browser.resize(360, 900).await?;
        enter(&browser).await?;
        assert_eq!(browser.value("document.documentElement.dir").await?, "rtl");
        browser.enter_default_frame().await?;
        browser.picture("old-form-arabic").await?;
        browser.cdp().send_raw("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
        enter(&browser).await?;
        fill(&browser, &CARD).await?;
        press(&browser, "card").await?;
        browser.cdp().send_raw("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await?;
        browser.enter_default_frame().await?;
        browser.until("location.pathname === '/result'").await?;
        let query = browser.value("location.search").await?;
        let wanted = format!("?own=1&id={0}&resourcePath=%2Fv1%2Fcheckouts%2F{0}%2Fpayment", stage.checkout.id());
        assert_eq!(query, wanted.as_str());
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn after_a_decline_the_old_browser_pays_from_another_account() -> anyhow::Result<()> {
    let stage = stage_with_result().await?;
    browse(move |browser| async move {
        make_old(&browser).await?;
        let page = stage.site.add(Page::of(&stage.checkout).brands("DIRECTDEBIT_SEPA"));
        // The first has no money.
        for (account, code) in [("DE58 1000 0000 0000 0000 51", "800.100.203"), ("DE23100000001234567890", APPROVED)] {
            browser.goto(&page).await?;
            enter(&browser).await?;
            let debit = [
                ("bankAccount.holder", "Jane Jones"),
                ("bankAccount.iban", account),
                ("bankAccount.bic", "MARKDEF1100"),
            ];
            fill(&browser, &debit).await?;
            press(&browser, "DIRECTDEBIT_SEPA").await?;
            browser.enter_default_frame().await?;
            browser.until("location.pathname === '/result'").await?;
            assert_eq!(stage.code().await?, code);
        }
        assert_silent(&browser).await
    })
    .await
}

#[tokio::test]
async fn an_old_browser_goes_to_a_brands_page_and_comes_back() -> anyhow::Result<()> {
    let stage = stage_with_result().await?;
    browse(move |browser| async move {
        make_old(&browser).await?;
        browser.goto(stage.site.add(Page::of(&stage.checkout).brands("VISA IDEAL DIRECTDEBIT_SEPA"))).await?;
        browser.resize(360, 1200).await?;
        browser.query(By::Css(FRAME)).first().await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("old-form-brands").await?;
        enter(&browser).await?;
        // Everything is seen at once.
        assert_eq!(browser.value("document.documentElement.scrollHeight <= innerHeight").await?, true);
        press(&browser, "IDEAL").await?;
        browser.enter_default_frame().await?;
        browser.query(By::Css("button[value=success]")).first().await?.click().await?;
        stage.paid(&browser).await?;
        assert_silent(&browser).await
    })
    .await
}

#[tokio::test]
async fn an_old_browser_pays_with_a_stored_card_and_its_code() -> anyhow::Result<()> {
    let mut stage = stage_with_result().await?;
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", "4200000000000000"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
        ("card.holder", "Jane Jones"),
    ];
    let registration = stage.merchant.post("v1/registrations", &card).await?;
    stage.checkout = stage.merchant.checkout(&[("registrations[0].id", registration.id())]).await?;
    name_result(&stage).await?;
    browse(move |browser| async move {
        make_old(&browser).await?;
        browser.resize(360, 900).await?;
        browser.goto(stage.page("var wpwlOptions = { locale: 'de', registrations: { requireCvv: true } };")).await?;
        browser.query(By::Css(FRAME)).first().await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("old-form-stored").await?;
        enter(&browser).await?;
        press(&browser, "stored").await?;
        browser.enter_default_frame().await?;
        browser.until("document.querySelector('#stored-cvv-error')").await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.query(By::Id("stored-cvv")).first().await?.send_keys("123").await?;
        press(&browser, "stored").await?;
        stage.paid(&browser).await?;
        assert_silent(&browser).await
    })
    .await
}
