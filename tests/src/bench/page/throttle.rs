//! A browser on a slow processor. The page and its cross-site frames, which are separate processes, are slowed down
//! before their first line runs. WebDriver reaches only the page, so this module uses the DevTools protocol.

use anyhow::Context as _;
use serde_json::json;
use thirtyfour::WebDriver;
use tokio::task::JoinHandle;

use crate::devtools::DevTools;

/// Global function that returns the milliseconds of the longest task. Every document of a slow browser has it.
pub(super) const LONGEST: &str = "longestTask";

/// Script that records long tasks as they happen, because browsers do not keep past ones. The page contains it:
/// injected from outside, it would also run in the page's empty frames and so create their script contexts, which are
/// not created otherwise.
pub(super) const WATCH: &str = "{
    let longest = 0;
    const note = entries => entries.forEach(it => longest = Math.max(longest, it.duration));
    const observer = new PerformanceObserver(list => note(list.getEntries()));
    observer.observe({ type: 'longtask' });
    window.longestTask = () => { note(observer.takeRecords()); return longest; };
}";

/// Task that throttles new frames. It is aborted on drop.
#[derive(Debug)]
pub(super) struct Throttle {
    watch: JoinHandle<()>,
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Slows down the browser's page, and every future frame and worker, by the factor `rate`.
pub(super) async fn throttle_browser(browser: &WebDriver, rate: f64) -> anyhow::Result<Throttle> {
    let mut tools = Throttler { devtools: DevTools::connect(browser).await?, rate };
    let page = tools.devtools.find_target("page", "").await?.context("the browser has no page")?;
    let session = tools.devtools.attach_to_target(&page).await?;
    tools.throttle_target(&session).await?;
    // The page is slow once it has answered the last command.
    tools.devtools.read_result().await?;
    Ok(Throttle { watch: tokio::spawn(tools.throttle_new_frames()) })
}

/// A DevTools connection and the throttling rate for each target.
struct Throttler {
    devtools: DevTools,
    rate: f64,
}

impl Throttler {
    /// Slows down and observes a session's target, and makes new child targets pause until they are throttled too.
    async fn throttle_target(&mut self, session: &str) -> anyhow::Result<()> {
        let children = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        self.devtools
            .send_command(Some(session), "Emulation.setCPUThrottlingRate", json!({ "rate": self.rate }))
            .await?;
        self.devtools.send_command(Some(session), "Target.setAutoAttach", children).await
    }

    /// Throttles and resumes a cross-site frame that is paused before its first line.
    async fn throttle_and_resume(&mut self, session: &str) -> anyhow::Result<()> {
        self.throttle_target(session).await?;
        self.devtools.send_command(Some(session), "Page.enable", json!({})).await?;
        self.devtools
            .send_command(Some(session), "Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH }))
            .await?;
        self.devtools.send_command(Some(session), "Runtime.runIfWaitingForDebugger", json!({})).await
    }

    /// Throttles new frames until the browser ends, or does not answer for one of them.
    async fn throttle_new_frames(mut self) {
        while let Ok(message) = self.devtools.next_message().await {
            if message["method"] == "Target.attachedToTarget"
                && let Some(session) = message["params"]["sessionId"].as_str()
                && self.throttle_and_resume(session).await.is_err()
            {
                return;
            }
        }
    }
}
