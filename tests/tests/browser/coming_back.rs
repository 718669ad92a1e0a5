//! Shoppers who come back: with the browser's button, in a second tab, after the half hour.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{Browser, Gateway, Merchant, Proxy, Site, browse, set_back};

use crate::forms::{click, fill};
use crate::{APPROVED, Stage};

const MESSAGE: &str = ".wpwl-container > .wpwl-message.wpwl-has-error";

const OPTIONS: &str = "onError(error) { witness.note('failed', error.name); }";

/// What the form says instead of being one.
async fn notice(browser: &Browser) -> anyhow::Result<String> {
    Ok(browser.query(By::Css(MESSAGE)).and_displayed().first().await?.text().await?)
}

#[tokio::test]
async fn who_has_paid_and_goes_back_reads_that_it_is_paid() -> anyhow::Result<()> {
    for (brand, locale, said) in [("VISA", "en", "has already been made"), ("SEPA", "de", "bereits erfolgt")] {
        let stage = Stage::new().await?;
        browse(move |browser| async move {
            // A page that the browser may not keep is fetched anew.
            stage.open(&browser, brand, &format!("locale: '{locale}', {OPTIONS}")).await?;
            pay(&browser, brand).await?;
            stage.paid(&browser).await?;
            browser.back().await?;
            browser.refresh().await?;
            let said_here = notice(&browser).await?;
            assert!(said_here.contains(said), "{said_here}");
            assert!(!said_here.contains("start again"), "who starts again pays again: {said_here}");
            assert_eq!(browser.until_seen("failed").await?, "InvalidCheckoutIdError");
            assert_eq!(browser.value("document.querySelectorAll('.wpwl-button-pay').length === 0 || document.querySelector('.wpwl-form').hidden").await?, true);
            assert_eq!(stage.submits(), 1);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

async fn pay(browser: &Browser, brand: &str) -> anyhow::Result<()> {
    if brand == "VISA" {
        let form = CardForm::ready(browser).await?;
        form.fill().await?;
    } else {
        fill(browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        fill(browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
        fill(browser, ".wpwl-control-accountBank", "MARKDEF1100").await?;
    }
    click(browser, ".wpwl-button-pay").await
}

#[tokio::test]
async fn a_page_that_the_browser_has_kept_is_usable_and_does_not_pay_again() -> anyhow::Result<()> {
    for brand in ["VISA", "SEPA"] {
        let stage = Stage::new().await?;
        browse(move |browser| async move {
            stage.open(&browser, brand, OPTIONS).await?;
            browser
                .execute("addEventListener('pageshow', ({ persisted }) => witness.note('kept', persisted))", vec![])
                .await?;
            pay(&browser, brand).await?;
            browser.query(By::Id("result")).first().await?;
            browser.back().await?;
            assert_eq!(browser.until_seen("kept").await?, "true");
            browser.until("!document.querySelector('.wpwl-button-busy, .wpwl-spinner')").await?;
            browser.until("[...document.querySelectorAll('.wpwl-live')].every(it => it.textContent === '')").await?;
            click(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!((stage.submits(), stage.code().await?.as_str()), (2, APPROVED));
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn who_goes_back_from_a_brands_page_takes_another_brand() -> anyhow::Result<()> {
    for anew in [false, true] {
        let stage = Stage::new().await?;
        browse(move |browser| async move {
            stage.open(&browser, "IDEAL VISA", OPTIONS).await?;
            click(&browser, ".wpwl-button-brand-IDEAL").await?;
            browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
            browser.back().await?;
            if anew {
                browser.refresh().await?;
            }
            // The same brand leads to the same page.
            browser.query(By::Css(".wpwl-button-brand-IDEAL:not(.wpwl-button-busy)")).and_displayed().first().await?;
            click(&browser, ".wpwl-button-brand-IDEAL").await?;
            browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
            browser.back().await?;
            if anew {
                browser.refresh().await?;
            }
            let form = CardForm::ready(&browser).await?;
            for frame in [NUMBER, CODE] {
                form.empty(frame).await?;
            }
            form.fill().await?;
            form.pay().await?;
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.status(stage.checkout.id()).await?;
            assert_eq!(
                (status.code(), status.json["paymentBrand"].as_str()),
                (APPROVED, Some("VISA")),
                "{}",
                status.text
            );
            assert_eq!(browser.seen_of("failed").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn of_two_tabs_with_the_same_checkout_one_pays_and_the_other_leads_to_its_result() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let page = stage.page(&format!("var wpwlOptions = {{ {OPTIONS} }};"));
        browser.goto(&page).await?;
        let first = browser.window().await?;
        CardForm::ready(&browser).await?.fill().await?;
        let second = browser.new_tab().await?;
        browser.switch_to_window(second.clone()).await?;
        browser.goto(&page).await?;
        let form = CardForm::ready(&browser).await?;
        form.number("4200000000000042").await?;
        form.expiry("05 / 34").await?;
        form.code("123").await?;

        browser.switch_to_window(first).await?;
        CardForm::ready(&browser).await?.pay().await?;
        browser.query(By::Id("result")).first().await?;
        let paid = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!((paid.code(), paid.json["card"]["last4Digits"].as_str()), (APPROVED, Some("0000")));

        // Another card is not charged: the shopper gets to the page that says how it went.
        browser.switch_to_window(second).await?;
        CardForm::ready(&browser).await?.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert!(browser.current_url().await?.query().unwrap_or_default().contains(stage.checkout.id()));
        assert_eq!(stage.merchant.status(stage.checkout.id()).await?.text, paid.text);
        // Loaded again, the form says so itself.
        browser.goto(&page).await?;
        assert!(notice(&browser).await?.contains("already been made"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_checkout_that_expires_while_the_shopper_types_says_so_in_the_shoppers_language() -> anyhow::Result<()> {
    for (brand, locale, said) in [("VISA", "de", "nicht mehr möglich"), ("SEPA", "fr", "ne peut plus")] {
        let gateway = Gateway::start()?;
        let proxy = Proxy::before(&gateway).await?;
        let site = Site::start_at(&proxy.public).await?;
        let merchant = gateway.merchant()?;
        let checkout = merchant.checkout(&[]).await?;
        browse(move |browser| async move {
            let script = format!("var wpwlOptions = {{ locale: '{locale}', {OPTIONS} }};");
            browser.goto(site.add(tillgate_tests::Page::of(&checkout).brands(brand).script(&script))).await?;
            if brand == "VISA" {
                CardForm::ready(&browser).await?.number("42000000").await?;
            } else {
                fill(&browser, ".wpwl-control-accountHolder", "Jane").await?;
            }
            let gateway = gateway.restart_after(&[], |data| set_back(data, checkout.id(), 30 * 60))?;
            proxy.stand_before(&gateway)?;
            if brand == "VISA" {
                CardForm::ready(&browser).await?.empty(NUMBER).await?;
            }
            pay(&browser, brand).await?;
            let text = notice(&browser).await?;
            assert!(text.contains(said), "{text}");
            assert_eq!(browser.until_seen("failed").await?, "InvalidCheckoutIdError");
            let merchant = Merchant::new(gateway.base(), merchant.entity_id, merchant.token);
            assert_eq!(merchant.status(checkout.id()).await?.json["checkoutState"], "EXPIRED");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
