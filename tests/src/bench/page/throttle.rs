//! A browser on a slow processor: the page and the frames of other sites, which are processes of their own, each slowed
//! down before its first line runs. WebDriver reaches the page alone, so this speaks the DevTools protocol itself.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use thirtyfour::WebDriver;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long the browser may take over one answer.
const PATIENCE: Duration = Duration::from_secs(10);

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
    let options = browser.capabilities().get("goog:chromeOptions").cloned().unwrap_or_default();
    let address = options["debuggerAddress"].as_str().context("the browser names no address for its tools")?;
    let version = reqwest::get(format!("http://{address}/json/version")).await?.bytes().await?;
    let version: Value = serde_json::from_slice(&version)?;
    let line = version["webSocketDebuggerUrl"].as_str().context("the browser offers no line to its tools")?;
    let (stream, _) = connect_async(line).await?;
    let mut tools = Tools { stream, rate, calls: 0 };
    let targets = tools.ask("Target.getTargets", json!({})).await?;
    let page = targets["targetInfos"].as_array().into_iter().flatten().find(|target| target["type"] == "page");
    let page = page.context("the browser has no page")?["targetId"].clone();
    let attached = tools.ask("Target.attachToTarget", json!({ "targetId": page, "flatten": true })).await?;
    let session = attached["sessionId"].as_str().context("the page cannot be reached")?.to_owned();
    tools.slow(&session).await?;
    // The page is slow once it has answered the last of them.
    tools.answered().await?;
    Ok(Throttle { watch: tokio::spawn(tools.watch()) })
}

/// A line to the browser's tools.
struct Tools {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    rate: f64,
    calls: u64,
}

impl Tools {
    async fn say(&mut self, session: Option<&str>, method: &str, parameters: Value) -> anyhow::Result<()> {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = session {
            call["sessionId"] = session.into();
        }
        Ok(self.stream.send(Message::text(call.to_string())).await?)
    }

    async fn ask(&mut self, method: &str, parameters: Value) -> anyhow::Result<Value> {
        self.say(None, method, parameters).await?;
        self.answered().await
    }

    /// The answer to the latest call.
    async fn answered(&mut self) -> anyhow::Result<Value> {
        loop {
            let message = timeout(PATIENCE, self.hear()).await.context("the browser's tools are silent")??;
            if message["id"] == self.calls {
                ensure!(message["error"].is_null(), "the browser's tools: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    async fn hear(&mut self) -> anyhow::Result<Value> {
        while let Some(message) = self.stream.next().await {
            if let Message::Text(text) = message? {
                return Ok(serde_json::from_str(&text)?);
            }
        }
        bail!("the browser's tools have hung up")
    }

    /// Slows down what a session is about and watches it, and has everything that it starts stop and wait for the same.
    async fn slow(&mut self, session: &str) -> anyhow::Result<()> {
        let children = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        self.say(Some(session), "Emulation.setCPUThrottlingRate", json!({ "rate": self.rate })).await?;
        self.say(Some(session), "Target.setAutoAttach", children).await
    }

    /// A frame of another site that waits for its first line.
    async fn take_up(&mut self, session: &str) -> anyhow::Result<()> {
        self.slow(session).await?;
        self.say(Some(session), "Page.enable", json!({})).await?;
        self.say(Some(session), "Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await?;
        self.say(Some(session), "Runtime.runIfWaitingForDebugger", json!({})).await
    }

    /// Waits for frames to come, until the browser ends.
    async fn watch(mut self) {
        while let Ok(message) = self.hear().await {
            if message["method"] == "Target.attachedToTarget"
                && let Some(session) = message["params"]["sessionId"].as_str()
                && self.take_up(session).await.is_err()
            {
                return;
            }
        }
    }
}
