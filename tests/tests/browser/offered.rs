//! What a page asks for and the channel does not offer: the rest is shown, and whoever made the page is told, once.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, Page, browse};

use crate::Stage;
use crate::forms::click;

/// A stage whose channel offers these brands alone.
async fn offering(brands: &str) -> anyhow::Result<Stage> {
    let mut stage = Stage::new().await?;
    stage.merchant = stage.gateway.merchant_with(&["--brands", brands])?;
    stage.checkout = stage.merchant.checkout(&[]).await?;
    Ok(stage)
}

/// The containers that a shopper sees.
async fn shown(browser: &Browser) -> anyhow::Result<String> {
    let seen = "[...document.querySelectorAll('.wpwl-container')].filter(it => it.checkVisibility()).map(it => it.classList[1]).join(' ')";
    Ok(browser.value(seen).await?.as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_is_offered_is_shown_and_the_rest_is_named_on_the_console() -> anyhow::Result<()> {
    // The channel's brands, the page's, the containers, and what the console names.
    let cases = [
        ("IDEAL,VISA", "SEPA IDEAL VISA AMEX", "onlineTransfer-IDEAL card", vec!["AMEX", "SEPA"]),
        ("IDEAL,SEPA", "VISA MASTER IDEAL SEPA", "onlineTransfer-IDEAL directDebit", vec!["VISA, MASTER"]),
        ("VISA", "IDEAL PAYPAL VISA", "card", vec!["IDEAL, PAYPAL"]),
        ("VISA", "VISA MASTER", "card", vec!["MASTER"]),
        ("VISA,IDEAL", "VISA IDEAL", "card onlineTransfer-IDEAL", vec![]),
    ];
    browse(move |browser| async move {
        for (offered, asked, expected, missing) in cases {
            let stage = offering(offered).await?;
            stage.open(&browser, asked, "onError: function (error) { witness.note('failed', error.message); }").await?;
            let containers: Vec<String> = expected.split(' ').map(|name| format!("wpwl-container-{name}")).collect();
            assert_eq!(shown(&browser).await?, containers.join(" "), "{offered} / {asked}");
            let mut complaints = browser.complaints().await?;
            complaints.sort();
            assert_eq!(complaints.len(), missing.len(), "{asked}: {complaints:?}");
            for (complaint, brands) in complaints.iter().zip(missing) {
                assert!(complaint.contains(&format!("Tillgate: {brands}: not offered")), "{complaint}");
            }
            assert_eq!(browser.seen_of("failed").await?, Vec::<String>::new(), "{asked}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_brand_beside_cards_that_are_not_offered_can_be_paid_with() -> anyhow::Result<()> {
    let stage = offering("IDEAL").await?;
    browse(move |browser| async move {
        let ready = stage.open(&browser, "VISA IDEAL", "").await?;
        assert_eq!(ready, r#"[{"containerKey":"onlineTransfer","ccMethods":["IDEAL"]}]"#);
        click(&browser, ".wpwl-button-brand-IDEAL").await?;
        click(&browser, "button[value=success]").await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_can_be_paid_with_where_no_new_one_is_offered() -> anyhow::Result<()> {
    let mut stage = offering("VISA").await?;
    let card = [("card.number", "4200000000000000"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let stored = stage.merchant.post("v1/registrations", &[&[("paymentBrand", "VISA")], &card[..]].concat()).await?;
    stage.checkout = stage.merchant.checkout(&[("registrations[0].id", stored.id())]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "AMEX", "").await?;
        assert_eq!(shown(&browser).await?, "wpwl-container-registration");
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_of_which_nothing_is_offered_says_so() -> anyhow::Result<()> {
    let stage = offering("VISA").await?;
    browse(move |browser| async move {
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        for brands in ["AMEX", "IDEAL", "AMEX IDEAL"] {
            browser.goto(stage.site.add(Page::of(&stage.checkout).brands(brands).script(script))).await?;
            let message = browser.query(By::Css(".wpwl-container > .wpwl-message.wpwl-has-error")).and_displayed();
            assert!(!message.first().await?.text().await?.is_empty(), "{brands}");
        }
        assert_eq!(browser.seen_of("failed").await?, ["WidgetError"; 3]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_empty_holder_is_a_fault_where_the_merchant_wants_a_name() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA", "allowEmptyCardHolderName: false").await?;
        let form = CardForm::ready(&browser).await?;
        form.number("4200000000000000").await?;
        form.expiry("05 / 34").await?;
        form.code("123").await?;
        form.pay().await?;
        form.hint("cardHolderError").await?;
        assert_eq!(stage.submits(), 0);
        form.holder("Jane Jones").await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}
