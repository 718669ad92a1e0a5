//! axe-core checks of the shop, the form and its frames in all of their states. No findings are allowed.

use tillgate_tests::{Browser, TestDemoShop, TestGateway, run_in_browser};

/// Runs axe-core on the page, and asserts that it has no findings. `place` is shown in failures.
async fn expect_no_findings(browser: &Browser, place: &str) -> anyhow::Result<()> {
    let found = browser.run_axe().await?;
    assert!(found.is_empty(), "{place}:\n{}", found.join("\n"));
    Ok(())
}

#[tokio::test]
async fn axe_finds_nothing_on_the_way_through_the_shop() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for (scheme, query) in [("light", ""), ("dark", "?lang=de&dark=1")] {
            browser.set_color_scheme(scheme).await?;
            browser.goto(format!("{}{query}", demo.public)).await?;
            expect_no_findings(&browser, "product").await?;
            let form = demo.open_card_form(&browser, query, "approve").await?;
            browser.sweep("card form in the demo shop, empty").await?;
            form.press_pay_button().await?;
            form.wait_for_hint("cvvError").await?;
            browser.sweep("card form in the demo shop, with errors").await?;
            form.fill_fields().await?;
            form.wait_for_no_hint("cvvError").await?;
            browser.sweep("card form in the demo shop, filled in").await?;
            form.press_pay_button().await?;
            assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
            expect_no_findings(&browser, "result").await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn axe_finds_nothing_in_the_plain_and_the_bare_form() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for query in ["?style=plain", "?style=none", "?brandDetection=1"] {
            let form = demo.open_card_form(&browser, query, "decline").await?;
            form.press_pay_button().await?;
            form.wait_for_hint("cvvError").await?;
            expect_no_findings(&browser, query).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn axe_finds_nothing_on_a_decline_on_a_held_order_and_where_nothing_is() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    let checked = TestDemoShop::start_with_risk_check(TestGateway::shared(), "hold").await?;
    run_in_browser(move |browser| async move {
        let form = demo.open_card_form(&browser, "", "decline").await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "declined");
        expect_no_findings(&browser, "declined").await?;
        let form = checked.open_card_form(&browser, "", "suspicious").await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        assert_eq!(TestDemoShop::read_outcome(&browser).await?, "pending");
        expect_no_findings(&browser, "held by the risk check").await?;
        browser.goto(format!("{}nowhere", demo.public)).await?;
        expect_no_findings(&browser, "not found").await?;
        Ok(())
    })
    .await
}
