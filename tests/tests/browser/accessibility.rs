//! axe-core finds nothing: not in the shop, not in the form, not in its frames, in no state of them.

use tillgate_tests::{Browser, DemoShop, Gateway, browse};

async fn expect_nothing(browser: &Browser, place: &str) -> anyhow::Result<()> {
    let found = browser.axe().await?;
    assert!(found.is_empty(), "{place}:\n{}", found.join("\n"));
    Ok(())
}

#[tokio::test]
async fn axe_finds_nothing_on_the_way_through_the_shop() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for (scheme, query) in [("light", ""), ("dark", "?lang=de&dark=1")] {
            browser.prefer(scheme).await?;
            browser.goto(format!("{}{query}", demo.public)).await?;
            expect_nothing(&browser, "product").await?;
            let form = demo.to_checkout(&browser, query, "approve").await?;
            expect_nothing(&browser, &format!("form, empty, {scheme}")).await?;
            form.pay().await?;
            form.hint("cvvError").await?;
            expect_nothing(&browser, &format!("form, with errors, {scheme}")).await?;
            form.fill().await?;
            form.no_hint("cvvError").await?;
            expect_nothing(&browser, &format!("form, filled, {scheme}")).await?;
            form.pay().await?;
            assert_eq!(DemoShop::outcome(&browser).await?, "paid");
            expect_nothing(&browser, "result").await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn axe_finds_nothing_in_the_plain_and_the_bare_form() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for query in ["?style=plain", "?style=none", "?brandDetection=1"] {
            let form = demo.to_checkout(&browser, query, "decline").await?;
            form.pay().await?;
            form.hint("cvvError").await?;
            expect_nothing(&browser, query).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn axe_finds_nothing_on_a_decline_and_where_nothing_is() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        let form = demo.to_checkout(&browser, "", "decline").await?;
        form.fill().await?;
        form.pay().await?;
        assert_eq!(DemoShop::outcome(&browser).await?, "declined");
        expect_nothing(&browser, "declined").await?;
        browser.goto(format!("{}nowhere", demo.public)).await?;
        expect_nothing(&browser, "not found").await?;
        Ok(())
    })
    .await
}
