//! A browser on a slow processor: the page and the frames of other sites, which are processes of their own, each slowed
//! down before its first line runs. WebDriver reaches the page alone, so this speaks the DevTools protocol itself.

use anyhow::Context as _;
use serde_json::json;
use thirtyfour::WebDriver;
use tokio::task::JoinHandle;

use crate::devtools::DevTools;

/// The global function by which every document of a slow browser tells the milliseconds of its longest task.
pub(super) const LONGEST: &str = "longestTask";

/// Notes long tasks as they happen: those of the past, browsers have not kept for who asks later. The page brings it along:
/// put in from outside it would run in the page's empty frames too, which are never made ready for scripts otherwise.
pub(super) const WATCH: &str = "{
    let longest = 0;
    const note = entries => entries.forEach(it => longest = Math.max(longest, it.duration));
    const observer = new PerformanceObserver(list => note(list.getEntries()));
    observer.observe({ type: 'longtask' });
    window.longestTask = () => { note(observer.takeRecords()); return longest; };
}";

/// Ends with the slowed-down browser's visit.
#[derive(Debug)]
pub(super) struct Throttle {
    watch: JoinHandle<()>,
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Makes the browser's page, and every frame and worker that it will have, `rate` times slower.
pub(super) async fn throttle(browser: &WebDriver, rate: f64) -> anyhow::Result<Throttle> {
    let mut tools = Tools { line: DevTools::connect(browser).await?, rate };
    let page = tools.line.find_target("page", "").await?.context("the browser has no page")?;
    let session = tools.line.attach(&page).await?;
    tools.slow(&session).await?;
    // The page is slow once it has answered the last of them.
    tools.line.result().await?;
    Ok(Throttle { watch: tokio::spawn(tools.watch()) })
}

/// The browser's tools, and what they do to each target.
struct Tools {
    line: DevTools,
    rate: f64,
}

impl Tools {
    /// Slows down what a session is about and watches it, and has everything that it starts stop and wait for the same.
    async fn slow(&mut self, session: &str) -> anyhow::Result<()> {
        let children = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        self.line.send(Some(session), "Emulation.setCPUThrottlingRate", json!({ "rate": self.rate })).await?;
        self.line.send(Some(session), "Target.setAutoAttach", children).await
    }

    /// A frame of another site that waits for its first line.
    async fn take_up(&mut self, session: &str) -> anyhow::Result<()> {
        self.slow(session).await?;
        self.line.send(Some(session), "Page.enable", json!({})).await?;
        self.line.send(Some(session), "Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await?;
        self.line.send(Some(session), "Runtime.runIfWaitingForDebugger", json!({})).await
    }

    /// Waits for frames to come, until the browser ends.
    async fn watch(mut self) {
        while let Ok(message) = self.line.next_message().await {
            if message["method"] == "Target.attachedToTarget"
                && let Some(session) = message["params"]["sessionId"].as_str()
                && self.take_up(session).await.is_err()
            {
                return;
            }
        }
    }
}
