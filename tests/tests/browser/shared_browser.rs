//! Isolation of tests that share a browser one after another.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, run_in_browser};

use crate::CheckoutFixture;

/// Everything that an earlier test may have left: storage, cookies, history, and properties of the window.
const TRACES: &str = "[document.cookie, localStorage.length, sessionStorage.length, history.length, innerWidth, innerHeight,
    matchMedia('(prefers-color-scheme: dark)').matches, navigator.maxTouchPoints, document.hasFocus(), document.visibilityState]";

/// Leaves as many traces in the browser as possible: storage, history, windows, size, emulation, and a dialog before
/// unloading.
async fn leave_traces(browser: &Browser) -> anyhow::Result<()> {
    let script = "document.cookie = 'kept=1; max-age=1000'; localStorage.kept = 1; sessionStorage.kept = 1;
        history.pushState(null, '', '?kept'); onbeforeunload = () => 'stay';
        window.open('about:blank'); window.open('/result', '_blank', 'popup,width=300,height=300');";
    browser.execute(script, vec![]).await?;
    browser.resize_page(320, 400).await?;
    browser.set_color_scheme("dark").await?;
    browser.cdp().send_raw("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await?;
    browser.cdp().send_raw("Emulation.setCPUThrottlingRate", json!({ "rate": 2 })).await?;
    // After a click, the page is allowed to show the dialog before unloading.
    browser.find(By::Css("h1")).await?.click().await?;
    Ok(())
}

#[tokio::test]
async fn nothing_that_a_test_leaves_in_a_browser_is_there_in_the_next_one() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let address = format!("{}result", stage.site.public);
    let mut first = None;
    for _ in 0..3 {
        let address = address.clone();
        let (tell, told) = std::sync::mpsc::channel::<Value>();
        run_in_browser(move |browser| async move {
            assert_eq!(browser.windows().await?.len(), 1);
            browser.goto(address).await?;
            tell.send(browser.evaluate(TRACES).await?)?;
            leave_traces(&browser).await
        })
        .await?;
        let traces = told.recv()?;
        assert_eq!(*first.get_or_insert_with(|| traces.clone()), traces);
        assert_eq!(traces[0], "", "no cookie");
    }
    Ok(())
}
